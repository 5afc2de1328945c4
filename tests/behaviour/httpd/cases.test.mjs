// SPDX-License-Identifier: Apache-2.0
/** The cases of headers/cases.mjs, and those that only httpd has, against one real httpd of each kind. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { cases as neutralCases } from '../headers/cases.mjs';
import { assertExpected } from '../headers/check.mjs';
import { exchange, requestBytes, startUpstream } from '../headers/wire.mjs';
import { makeFiles } from '../nginx/nginx.mjs';
import { waitFor } from '../stack.mjs';
import { directives } from './directives.mjs';
import { startHttpd } from './httpd.mjs';
import { addFiles, before as configurationBefore, httpdCases } from './httpd_cases.mjs';

/** @typedef {import('./httpd_cases.mjs').HttpdCase} HttpdCase */

/** @type {HttpdCase[]} */
const cases = [...neutralCases.map((c) => ({ ...c, ...c.httpd })), ...httpdCases];
const hostOf = (/** @type {HttpdCase} */ wanted) => `c${cases.indexOf(wanted)}.test`;

const files = makeFiles();
addFiles(files);

/** One virtual host for each case. */
function virtualHost(/** @type {HttpdCase} */ c, /** @type {{ port: number, dir: string, upstream: number }} */ given) {
  const proxy = `ProxyPass / http://127.0.0.1:${given.upstream}/`;
  const lines = c.vhost?.({ ...given, files, proxy })
    ?? `${directives(c.server)}<Location />\n${directives(c.place)}</Location>\n${c.answer ? proxy : ''}`;
  return `<VirtualHost 127.0.0.1:${given.port}>
ServerName ${hostOf(c)}
CustomLog ${given.dir}/access.log variables
RequestHeader set X-Case ${cases.indexOf(c)}
DocumentRoot ${files}
${lines}
</VirtualHost>\n`;
}

for (const mpm of ['event', 'prefork']) {
  describe(`response headers, ${mpm}`, () => {
    /** @type {Awaited<ReturnType<typeof startHttpd>>} */
    let httpd;
    /** @type {Awaited<ReturnType<typeof startUpstream>>} */
    let upstream;

    before(async () => {
      const answered = new Set();
      upstream = await startUpstream(({ name, path, revalidates, sampled }) => {
        const c = cases[Number(name)];
        if (c?.first && answered.has(c)) return undefined;
        answered.add(c);
        return c?.answers?.[sampled ?? path] ?? (revalidates && c?.revalidated ? c.revalidated : c?.answer);
      });
      httpd = await startHttpd({
        mpm,
        modules: ['cache', 'cache_disk', 'deflate', 'expires', 'filter', 'include', 'negotiation', 'rewrite', 'alias'],
        conf: (given) => {
          for (const name of ['cache', 'lock']) fs.mkdirSync(`${given.dir}/${name}`, { mode: 0o777 });
          for (const name of ['cache', 'lock']) fs.chmodSync(`${given.dir}/${name}`, 0o777);
          return configurationBefore({ ...given, files })
            + cases.map((c) => virtualHost(c, { ...given, upstream: upstream.port })).join('');
        },
      });
    });

    after(async () => {
      upstream?.stop();
      await httpd?.stop();
    });

    for (const c of cases) {
      test(c.name, async () => {
        const host = hostOf(c);
        if (c.first) await exchange(httpd.port, requestBytes({ ...c.first, host }));
        const response = await exchange(httpd.port, c.bytes?.(host) ?? requestBytes({ ...c, host }));
        assertExpected(response, c);
      });
    }

    test('the variables say what became of each request', async () => {
      /** A variable that is not set is empty on nginx; where the module is off, httpd sets none. */
      const said = (/** @type {string[]} */ values) => {
        const [sampled, rate, reason] = values.map((value) => (value === '-' ? '' : value));
        return [sampled, rate, reason || 'off'];
      };
      const wrong = () => {
        // A host of two tiers has two lines, in any order.
        const lines = httpd.variables().map(([host, ...values]) => `${host} ${said(values)}`);
        return cases.filter((c) => c.log && !lines.includes(`${hostOf(c)} ${c.log}`))
          .map((c) => [c.name, lines.filter((line) => line.startsWith(`${hostOf(c)} `))]);
      };
      await waitFor(() => wrong().length === 0, { timeoutMs: 2000 }).catch(() => {});
      assert.deepEqual(wrong(), []);
    });
  });
}
