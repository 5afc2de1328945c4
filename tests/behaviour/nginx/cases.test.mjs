// SPDX-License-Identifier: Apache-2.0
/** The cases of headers/cases.mjs, and those that only nginx has, against one real nginx. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { cases as neutralCases } from '../headers/cases.mjs';
import { assertExpected } from '../headers/check.mjs';
import { withKeyFile } from '../headers/token.mjs';
import { exchange, requestBytes, startUpstream } from '../headers/wire.mjs';
import { waitFor } from '../stack.mjs';
import { makeFiles, startModule } from './nginx.mjs';
import { httpBlock, nginxCases } from './nginx_cases.mjs';

/**
 * @typedef {import('../headers/cases.mjs').Case} Case
 * @typedef {import('./nginx_cases.mjs').NginxCase} NginxCase
 */

/** @type {NginxCase[]} */
const cases = [...neutralCases, ...nginxCases];
const hostOf = (/** @type {NginxCase} */ wanted) => `c${cases.indexOf(wanted)}.test`;
const directives = (/** @type {string[] | undefined} */ settings) => (settings ?? []).map((line) => `${withKeyFile(line)};\n`).join('');

const files = makeFiles();
/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;

/** One virtual host for each case. */
function serverBlock(/** @type {NginxCase} */ c, /** @type {{ port: number, dir: string }} */ given) {
  const proxy = `proxy_pass http://127.0.0.1:${upstream.port};`;
  const root = `root ${files};`;
  const locations = c.nginx?.({ ...given, files, proxy, root })
    ?? `location / {\n${directives(c.place)}${c.answer ? proxy : root}\n}\n`;
  return `server {
listen 127.0.0.1:${given.port};
server_name ${hostOf(c)};
access_log ${given.dir}/access.log variables;
proxy_set_header X-Case ${cases.indexOf(c)};
${directives(c.server)}${locations}}\n`;
}

before(async () => {
  upstream = await startUpstream(({ name, path, revalidates }) => {
    const c = cases[Number(name)];
    return c?.answers?.[path] ?? (revalidates && c?.revalidated ? c.revalidated : c?.answer);
  });
  nginx = await startModule({
    conf: (given) => httpBlock({ ...given, files }) + cases.map((c) => serverBlock(c, given)).join(''),
  });
});

after(async () => {
  upstream?.stop();
  await nginx?.stop();
});

describe('response headers', () => {
  for (const c of cases) {
    test(c.name, async () => {
      const host = hostOf(c);
      if (c.first) await exchange(nginx.port, requestBytes({ ...c.first, host }));
      const response = await exchange(nginx.port, c.bytes?.(host) ?? requestBytes({ ...c, host }));
      assertExpected(response, c);
    });
  }

  test('the variables say what became of each request', async () => {
    const wrong = () => {
      // The last line of a host is that of the outermost tier and of the last request.
      const told = new Map(nginx.variables().map(([host, ...values]) => [host, values]));
      return cases.filter((c) => c.log && String(told.get(hostOf(c))) !== String(c.log))
        .map((c) => [c.name, told.get(hostOf(c))]);
    };
    await waitFor(() => wrong().length === 0, { timeoutMs: 2000 }).catch(() => {});
    assert.deepEqual(wrong(), []);
  });
});
