// SPDX-License-Identifier: Apache-2.0
/** Reloading: no request is dropped, visitors keep their decision, keys are read again, nothing grows. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { shown, withKeyFile } from '../headers/token.mjs';
import { exchange, linesOf, requestBytes } from '../headers/wire.mjs';
import { temporaryDir, waitFor } from '../stack.mjs';
import { ask } from '../headers/load.mjs';
import { long, makeFiles, startModule } from './nginx.mjs';

const keyFile = `${temporaryDir('reload')}/token.key`;
/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;

before(async () => {
  fs.writeFileSync(keyFile, `${'f'.repeat(64)}\n`);
  nginx = await startModule({
    main: 'worker_processes 2;',
    conf: ({ port }) => `server { listen 127.0.0.1:${port}; root ${makeFiles()};
      fleetprof on; fleetprof_sample 1/20 key=$arg_visitor; timing_allow_origin https://a.example;
      fleetprof_types text/html; fleetprof_policy js-profiling js-profiling-mode=lazy;
      fleetprof_site shop; fleetprof_token_key ${keyFile}; keepalive_requests 10000; }`,
  });
});
after(() => nginx?.stop());

/** The worker processes, the leaving ones too. */
const workers = () => fs.readFileSync(`/proc/${nginx.pid}/task/${nginx.pid}/children`, 'utf8').trim().split(' ');

/** Reloads, and waits until none of the old workers is left. */
async function reload() {
  const old = workers();
  process.kill(nginx.pid, 'SIGHUP');
  await waitFor(() => {
    const now = workers();
    return now.length === 2 && now.every((pid) => !old.includes(pid));
  }, { what: 'new workers', intervalMs: 5 });
}

test('no request is dropped while the configuration is reloaded', async () => {
  let reloading = true;
  let answers = 0;
  const asking = Array.from({ length: 4 }, async () => {
    while (reloading) {
      const response = await exchange(nginx.port, requestBytes({ host: 'any', path: '/page.html?visitor=1' }));
      assert.equal(response.status, 200);
      assert.equal(linesOf(response, 'document-policy').length, 1);
      answers++;
    }
  });
  for (let i = 0; i < 5; i++) await reload();
  reloading = false;
  await Promise.all(asking);
  assert.ok(answers > 20, `${answers} answers`);
});

test('visitors keep their lot', async () => {
  const paths = Array.from({ length: 2000 }, (_, i) => `/page.html?visitor=${i}`);
  const lots = async () => (await ask(nginx.port, 'any', paths)).map(({ yes }) => yes);
  const first = await lots();
  await reload();
  assert.deepEqual(await lots(), first);
});

test('a new key signs after a reload', async () => {
  const paths = Array.from({ length: 100 }, (_, i) => `/page.html?visitor=${i}`);
  const sampled = paths[(await ask(nginx.port, 'any', paths)).findIndex(({ yes }) => yes)];
  const token = async () => linesOf(await exchange(nginx.port, requestBytes({ host: 'any', path: sampled })), 'server-timing')
    .map(shown);
  assert.match((await token())[0], /^fleetprof;desc="v1\./);
  fs.copyFileSync(withKeyFile('KEY_FILE'), keyFile);
  await reload();
  assert.deepEqual(await token(), ['fleetprof;desc="<shop 50000>"']);
});

const resident = () => Number(/^VmRSS:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${nginx.pid}/status`, 'utf8'))?.[1]);

test('a thousand reloads don\'t make the master grow', { skip: !long }, async () => {
  for (let i = 0; i < 100; i++) await reload();
  const warm = resident();
  for (let i = 0; i < 900; i++) await reload();
  const grown = resident() - warm;
  assert.ok(grown <= 256, `${warm} kB after 100 reloads, ${grown} kB more after 1,000`);
});
