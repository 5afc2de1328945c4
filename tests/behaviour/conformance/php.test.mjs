// SPDX-License-Identifier: Apache-2.0
/** The integration for PHP keeps the contract. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { freePort, repository, startProcess, temporaryDir, untilReady } from '../stack.mjs';
import { testServers } from './contract.mjs';

const skip = !fs.existsSync('/usr/bin/php') && 'PHP is not installed';

/** @param {string} [page] */
async function start(page = path.join(repository, 'tests/behaviour/conformance/application.php')) {
  const port = await freePort();
  const server = startProcess('php', ['/usr/bin/php', '-S', `127.0.0.1:${port}`, page], { deathSignal: 'SIGTERM' });
  await untilReady(server, () => fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false));
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop('SIGTERM') };
}

testServers([{ name: 'PHP', skip, start: () => start() }]);

test('PHP samples nothing with a first key that it cannot use, and skips comments before it', { skip }, async () => {
  const key = 'ab'.repeat(32);
  const [directory, no] = [temporaryDir('php'), ['js-profiling=?0', 'fleetprof;desc="0"', '"v1"']];
  const page = path.join(directory, 'page.php');
  for (const [content, expected] of /** @type {[string | undefined, any[]][]} */ ([[`abc\n${key}\n`, no], [`${'a'.repeat(258)}\n`, no], [undefined, no],
    [`# the first key signs\n\n ${key}\r\n`, ['js-profiling, js-profiling-mode=lazy', 'fleetprof;desc="v1.', null]]])) {
    const keys = path.join(directory, 'token.key');
    if (content === undefined) fs.rmSync(keys);
    else fs.writeFileSync(keys, content);
    fs.writeFileSync(page, `<?php const FLEETPROF_RATE = 1, FLEETPROF_SITE = 'shop', FLEETPROF_TOKEN_KEY = '${keys}';
      require '${repository}/integrations/php/fleetprof.php'; header('Content-Type: text/html'); header('ETag: "v1"'); ini_set('display_errors', 'off');`);
    const server = await start(page);
    try {
      const { headers } = await fetch(server.url);
      const timing = String(headers.get('server-timing'));
      assert.deepEqual([headers.get('document-policy'), timing.slice(0, 19), headers.get('etag')], expected, content);
    } finally {
      await server.stop();
    }
  }
});
