// SPDX-License-Identifier: Apache-2.0
/** The integration for HAProxy keeps the contract. */
import fs from 'node:fs';
import path from 'node:path';

import { servers } from '../../../conformance/application.mjs';
import { freePort, repository, startProcess, temporaryDir, untilReady } from '../stack.mjs';
import { keyFile, testServers } from './contract.mjs';

const integrations = path.join(repository, 'integrations');

/** @param {string} application */
async function start(application) {
  const port = await freePort();
  const file = `${temporaryDir('haproxy')}/haproxy.cfg`;
  const rules = Object.entries(servers).flatMap(([name, setting]) => (setting
    ? [`http-request lua.fleetprof ${parseFloat(setting.rate) / 100} ${setting.key ? 'shop' : '-'} if { path_beg /${name}/ }`] : []));
  fs.writeFileSync(file, `global
  tune.http.maxhdr 256
  lua-prepend-path ${integrations}/lua/?.lua
  setenv FLEETPROF_TOKEN_KEY ${keyFile}
  lua-load-per-thread ${integrations}/haproxy/fleetprof.lua
defaults
  mode http
  timeout connect 10s
  timeout client 60s
  timeout server 60s
frontend site
  bind 127.0.0.1:${port}
  ${rules.join('\n  ')}
  http-response lua.fleetprof
  default_backend application
backend application
  server application ${new URL(application).host}
`);
  const server = startProcess('haproxy', ['/usr/sbin/haproxy', '-db', '-f', file], { deathSignal: 'SIGTERM' });
  await untilReady(server, () => fetch(`http://127.0.0.1:${port}/`).then(() => true, () => false));
  return { url: `http://127.0.0.1:${port}`, stop: () => server.stop('SIGTERM') };
}

testServers([{ name: 'HAProxy', skip: !fs.existsSync('/usr/sbin/haproxy') && 'HAProxy is not installed', start }]);
