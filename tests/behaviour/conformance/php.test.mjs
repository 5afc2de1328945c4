// SPDX-License-Identifier: Apache-2.0
/** The integration for PHP keeps the contract. */
import fs from 'node:fs';
import path from 'node:path';

import { freePort, repository, startProcess, untilReady } from '../stack.mjs';
import { testServers } from './contract.mjs';

async function start() {
  const port = await freePort();
  const server = startProcess('php', ['/usr/bin/php', '-S', `127.0.0.1:${port}`, path.join(repository, 'tests/behaviour/conformance/application.php')], { deathSignal: 'SIGTERM' });
  await untilReady(server, () => fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false));
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop('SIGTERM') };
}

testServers([{ name: 'PHP', skip: !fs.existsSync('/usr/bin/php') && 'PHP is not installed', start }]);
