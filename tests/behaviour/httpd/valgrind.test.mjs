// SPDX-License-Identifier: Apache-2.0
/** Every case once more with httpd under valgrind. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { long } from '../nginx/nginx.mjs';
import { sanitizerEnvironment } from './httpd.mjs';

const isSanitized = 'LD_PRELOAD' in sanitizerEnvironment();

test('valgrind has nothing to say', { skip: !long || isSanitized }, () => {
  const files = ['cases', 'cache_expiry', 'http2'].map((name) => fileURLToPath(
    new URL(`${name}.test.mjs`, import.meta.url)));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', ...files],
    { env: { ...env, FLEETPROF_VALGRIND: '1' }, encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(status, 0, stdout.slice(-8192));
  assert.match(stdout, /^# pass [1-9]\d{2}/m);
});
