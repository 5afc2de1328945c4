// SPDX-License-Identifier: Apache-2.0
/** The built module: its place among nginx's filters, and the symbols that other modules see. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';

import { repository } from '../stack.mjs';
import { moduleFile } from './nginx.mjs';

/** Runs the module's `config` as nginx's configure does, up to the list of filters. */
function filtersAfterConfig(/** @type {'ADDON' | 'DYNAMIC'} */ link) {
  return execFileSync('sh', ['-c', `
    HTTP_FILTER_MODULES="ngx_http_write_filter_module ngx_http_userid_filter_module ngx_http_headers_filter_module"
    ngx_module_link=${link}
    ngx_addon_dir="$1"
    . "$1/config"
    printf '%s|%s' "$HTTP_FILTER_MODULES" "$ngx_http_fleetprof_module_ORDER"`, 'sh', path.join(repository, 'ngx_module')],
  { cwd: '/usr/share/nginx/src', encoding: 'utf8' }).split('|').map((list) => list.trim().split(/\s+/).join(' '));
}

test('linked into nginx, the filter comes right before the headers filter', () => {
  const [filters] = filtersAfterConfig('ADDON');
  assert.equal(filters, 'ngx_http_write_filter_module ngx_http_userid_filter_module ngx_http_fleetprof_module '
    + 'ngx_http_headers_filter_module');
});

test('loaded, it asks for that place', () => {
  const [, order] = filtersAfterConfig('DYNAMIC');
  assert.equal(order, 'ngx_http_fleetprof_module ngx_http_headers_filter_module');
});

test('other modules see the module and none of its functions', () => {
  const symbols = execFileSync('nm', ['-D', '--defined-only', moduleFile], { encoding: 'utf8' });
  const ours = symbols.split('\n').map((line) => line.split(' ')[2]).filter((name) => /fleetprof/.test(name ?? ''));
  assert.deepEqual(ours.filter((name) => !/odr_asan/.test(name)), ['ngx_http_fleetprof_module']);
});
