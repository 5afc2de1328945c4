// SPDX-License-Identifier: Apache-2.0
/** Graceful reloads: no request is dropped, visitors keep their decision, keys are read again, nothing grows. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { ask } from '../headers/load.mjs';
import { shown, withKeyFile } from '../headers/token.mjs';
import { exchange, linesOf, requestBytes } from '../headers/wire.mjs';
import { long, makeFiles } from '../nginx/nginx.mjs';
import { temporaryDir, waitFor } from '../stack.mjs';
import { startHttpd } from './httpd.mjs';

const keyFile = `${temporaryDir('reload')}/token.key`;
/** @type {Awaited<ReturnType<typeof startHttpd>>} */
let httpd;

before(async () => {
  fs.writeFileSync(keyFile, `${'f'.repeat(64)}\n`, { mode: 0o600 });
  httpd = await startHttpd({
    conf: () => `ThreadsPerChild 8\nMaxKeepAliveRequests 0\nDocumentRoot ${makeFiles()}
      SetEnvIfExpr "%{QUERY_STRING} =~ /visitor=(.*)/" VISITOR=$1
      FleetProf on\nFleetProfSample 1/20 key=%{reqenv:VISITOR}\nFleetProfTypes text/html
      FleetProfPolicy js-profiling js-profiling-mode=lazy\nTimingAllowOrigin https://a.example
      FleetProfSite shop\nFleetProfTokenKey ${keyFile}`,
  });
});
after(() => httpd?.stop());

let reloads = 0;

/** The child processes, the leaving ones too. */
const children = () => fs.readFileSync(`/proc/${httpd.server.pid}/task/${httpd.server.pid}/children`, 'utf8').trim().split(' ');

/** Reloads, and waits until none of the old children is left. */
async function replaceChildren() {
  const old = children();
  await reload();
  await waitFor(() => !children().some((pid) => old.includes(pid)), { what: 'new children' });
}

/** Reloads, and waits until the new configuration is read. */
async function reload() {
  const generations = () => httpd.errorLog().split('configured -- resuming normal operations').length - 1;
  const before_ = generations();
  process.kill(httpd.server.pid, 'SIGUSR1');
  await waitFor(() => generations() > before_, { what: 'new configuration', intervalMs: 10 });
  if (++reloads % 50 === 0) fs.truncateSync(`${httpd.dir}/error.log`);
}

test('no request is dropped while the configuration is reloaded', async () => {
  let reloading = true;
  let answers = 0;
  const asking = Array.from({ length: 4 }, async () => {
    while (reloading) {
      const response = await exchange(httpd.port, requestBytes({ host: 'any', path: '/page.html?visitor=1' }));
      assert.equal(response.status, 200);
      assert.equal(linesOf(response, 'document-policy').length, 1);
      answers++;
    }
  });
  for (let i = 0; i < (long ? 50 : 3); i++) {
    await reload();
    const wanted = answers + 10;
    await waitFor(() => answers >= wanted, { what: 'answers after a reload' });
  }
  reloading = false;
  await Promise.all(asking);
});

test('visitors keep their lot', async () => {
  const paths = Array.from({ length: 2000 }, (_, i) => `/page.html?visitor=${i}`);
  const lots = async () => (await ask(httpd.port, 'any', paths)).map(({ yes }) => yes);
  await replaceChildren();
  const first = await lots();
  await replaceChildren();
  assert.deepEqual(await lots(), first);
});

test('a new key signs after a reload', async () => {
  const paths = Array.from({ length: 100 }, (_, i) => `/page.html?visitor=${i}`);
  const sampled = paths[(await ask(httpd.port, 'any', paths)).findIndex(({ yes }) => yes)];
  const token = async () => linesOf(await exchange(httpd.port, requestBytes({ host: 'any', path: sampled })), 'server-timing')
    .map(shown);
  assert.match((await token())[0], /^fleetprof;desc="v1\./);
  fs.copyFileSync(withKeyFile('KEY_FILE'), keyFile);
  await replaceChildren();
  assert.deepEqual(await token(), ['fleetprof;desc="<shop 50000>"']);
});

const resident = () => Number(/^VmRSS:\s+(\d+) kB/m.exec(
  fs.readFileSync(`/proc/${httpd.server.pid}/status`, 'utf8'))?.[1]);

test('a thousand reloads don\'t make the parent grow', { skip: !long }, async () => {
  for (let i = 0; i < 100; i++) await reload();
  const warm = resident();
  for (let i = 0; i < 900; i++) await reload();
  const grown = resident() - warm;
  assert.ok(grown <= 256, `${warm} kB after 100 reloads, ${grown} kB more after 1,000`);
});
