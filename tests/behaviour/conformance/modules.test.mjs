// SPDX-License-Identifier: Apache-2.0
/** Both server modules keep the contract that every integration keeps. */
import fs from 'node:fs';
import path from 'node:path';

import { servers } from '../../../conformance/application.mjs';
import { directives } from '../httpd/directives.mjs';
import { moduleFile as httpdModule, startHttpd } from '../httpd/httpd.mjs';
import { moduleFile as nginxModule, startModule } from '../nginx/nginx.mjs';
import { keyFile, testServers } from './contract.mjs';

/** Each part of the server, with its directives as nginx writes them. */
const parts = Object.entries(servers).map(([name, setting]) => ({ name, lines: setting
  ? ['fleetprof on', `fleetprof_sample ${setting.rate}`, ...setting.key ? ['fleetprof_site shop', `fleetprof_token_key ${keyFile}`] : []] : [] }));

/** @param {string} application */
async function startNginx(application) {
  const { port, stop } = await startModule({ conf: (given) => `
proxy_buffer_size 16k;
proxy_buffers 4 16k;
server {
  listen 127.0.0.1:${given.port};
  ${parts.map(({ name, lines }) => `location /${name}/ { ${lines.map((line) => `${line};`).join(' ')} proxy_pass ${application}; }`).join('\n  ')}
}` });
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** @param {string} application */
async function startApache(application) {
  const { port, stop } = await startHttpd({ conf: () => `
ProxyPass / ${application}/
${parts.map(({ name, lines }) => `<Location /${name}/>\n${directives(lines)}</Location>`).join('\n')}` });
  return { url: `http://127.0.0.1:${port}`, stop };
}

const absent = (/** @type {string} */ file) => !fs.existsSync(file) && `${path.basename(file)} is not built`;

testServers([
  { name: 'nginx', skip: absent(nginxModule), start: startNginx },
  { name: 'httpd', skip: absent(httpdModule), start: startApache },
]);
