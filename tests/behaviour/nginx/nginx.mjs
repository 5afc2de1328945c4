// SPDX-License-Identifier: Apache-2.0
/** nginx with the module, for the tests of this folder: what goes into http { … }, and its logs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { fileTime } from '../headers/cases/words.mjs';
import { freePort, modulesDir, startNginx, temporaryDir } from '../stack.mjs';

export const moduleFile = path.join(modulesDir, 'ngx_http_fleetprof_module.so');

/** Debian's headers-more; the tests of this folder need it (tools/deps check). */
export const headersMore = '/usr/lib/nginx/modules/ngx_http_headers_more_filter_module.so';

/** `./check --long` and the like: what takes minutes. */
export const long = process.env.FLEETPROF_LONG === '1';

/** The address sanitizer's library that the module needs, if it was built so. */
const sanitizer = () => /=> (\S*libasan\S*)/.exec(execFileSync('ldd', [moduleFile], { encoding: 'utf8' }))?.[1];
export const isSanitized = () => sanitizer() !== undefined;

/** A module with sanitizers in it needs their library first in the process. */
export function preloadSanitizer() {
  const asan = sanitizer();
  if (!asan) return;
  process.env.LD_PRELOAD = asan;
  // nginx does not free its configuration at exit.
  process.env.ASAN_OPTIONS = 'detect_leaks=0';
  process.env.UBSAN_OPTIONS = 'print_stacktrace=1:halt_on_error=1';
}

/**
 * A folder with the files that the cases ask for.
 * @returns {string}
 */
export function makeFiles() {
  const root = temporaryDir('files');
  fs.chmodSync(root, 0o755);
  const files = {
    'page.html': '<!doctype html><title>page</title>',
    'index.html': '<!doctype html><title>index</title>',
    'parts.html': 'before<!--# include virtual="/part.html" -->after',
    'part.html': 'part',
    'app.js': '0',
    'pixel.gif': 'GIF89a',
  };
  const time = new Date(fileTime);
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(root, name), text);
    fs.utimesSync(path.join(root, name), time, time);
  }
  return root;
}

/**
 * With FLEETPROF_VALGRIND set, nginx is started under valgrind, which writes into the folder what it finds.
 * @param {string} dir
 */
function watchMemory(dir) {
  if (!process.env.FLEETPROF_VALGRIND) return;
  fs.writeFileSync(`${dir}/nginx`, `#!/bin/sh
exec valgrind --quiet --trace-children=yes --log-file=${dir}/valgrind.%p /usr/sbin/nginx "$@"\n`, { mode: 0o755 });
  process.env.PATH = `${dir}:${process.env.PATH}`;
}

/** Returns valgrind's findings, in all processes. */
const memoryErrors = (/** @type {string} */ dir) => fs.readdirSync(dir).filter((name) => name.startsWith('valgrind.'))
  .map((name) => fs.readFileSync(`${dir}/${name}`, 'utf8')).join('');

/**
 * Starts nginx; `stop` fails the test when a log has anything in it that says nginx was unwell.
 * @param {{ conf: (given: { port: number, dir: string }) => string, port?: number, main?: string,
 *   modules?: string[] }} options
 *   conf: what stands in http { … }; dir is a folder that nginx may write to; main: what stands before
 *   events; modules: all that is to be loaded, in this order
 */
export async function startModule({ conf, port, main, modules }) {
  preloadSanitizer();
  const dir = temporaryDir('nginx-logs');
  fs.chmodSync(dir, 0o755);
  watchMemory(dir);
  const listen = port ?? await freePort();
  const nginx = await startNginx({
    main,
    modules,
    port: listen,
    conf: `server_names_hash_bucket_size 128;
error_log ${dir}/error.log info;
log_format variables '$host|$fleetprof_sampled|$fleetprof_rate|$fleetprof_reason';
${conf({ port: listen, dir })}`,
  });
  const errorLog = () => fs.readFileSync(`${dir}/error.log`, 'utf8') + nginx.server.output();
  return {
    port: listen,
    dir,
    /** The master process. */
    pid: nginx.server.pid,
    errorLog,
    /** Reads the access log: [host, sampled, rate, reason] of each request. */
    variables: () => fs.readFileSync(`${dir}/access.log`, 'utf8').split('\n').slice(0, -1)
      .map((line) => line.split('|')),
    stop: async () => {
      await nginx.stop();
      assert.doesNotMatch(errorLog(), /\[(alert|crit|emerg)\]|runtime error|AddressSanitizer/);
      assert.equal(memoryErrors(dir), '');
    },
  };
}
