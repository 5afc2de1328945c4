/** The cases of headers/cases.mjs, and those that only httpd has, against one real httpd. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { cases as neutralCases } from '../headers/cases.mjs';
import { exchange, linesOf, requestBytes, startUpstream } from '../headers/wire.mjs';
import { makeFiles } from '../nginx/nginx.mjs';
import { waitFor } from '../stack.mjs';
import { directives } from './directives.mjs';
import { startHttpd } from './httpd.mjs';

/** @typedef {import('../headers/cases.mjs').Case} Case */

/** @type {Case[]} */
const cases = [...neutralCases.map((c) => ({ ...c, ...c.httpd }))];
const hostOf = (/** @type {Case} */ wanted) => `c${cases.indexOf(wanted)}.test`;

const files = makeFiles();
/** @type {Awaited<ReturnType<typeof startHttpd>>} */
let httpd;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;

/** One virtual host for each case. */
function virtualHost(/** @type {Case} */ c, /** @type {{ port: number, dir: string }} */ given) {
  const proxy = `ProxyPass / http://127.0.0.1:${upstream.port}/`;
  return `<VirtualHost 127.0.0.1:${given.port}>
ServerName ${hostOf(c)}
CustomLog ${given.dir}/access.log variables
RequestHeader set X-Case ${cases.indexOf(c)}
DocumentRoot ${files}
${directives(c.server)}<Location />
${directives(c.place)}</Location>
${c.answer ? proxy : ''}
</VirtualHost>\n`;
}

before(async () => {
  upstream = await startUpstream(({ name, revalidates }) => {
    const c = cases[Number(name)];
    return revalidates && c?.revalidated ? c.revalidated : c?.answer;
  });
  httpd = await startHttpd({ conf: (given) => cases.map((c) => virtualHost(c, given)).join('') });
});

after(async () => {
  upstream?.stop();
  await httpd?.stop();
});

describe('response headers', () => {
  for (const c of cases) {
    test(c.name, async () => {
      const host = hostOf(c);
      const response = await exchange(httpd.port, requestBytes({ ...c, host }));
      assert.equal(response.status, c.status ?? 200);
      assert.deepEqual(linesOf(response, 'document-policy'), c.policy ?? []);
      assert.deepEqual(linesOf(response, 'timing-allow-origin'), c.origins ?? []);
      for (const [name, lines] of Object.entries(c.fields ?? {})) {
        assert.deepEqual(linesOf(response, name), lines, name);
      }
    });
  }

  test('the variables say what became of each request', async () => {
    /** A variable that is not set is empty on nginx; where the module is off, httpd sets none. */
    const said = (/** @type {string[]} */ values) => {
      const [sampled, rate, reason] = values.map((value) => (value === '-' ? '' : value));
      return [sampled, rate, reason || 'off'];
    };
    const wrong = () => {
      const told = new Map(httpd.variables().map(([host, ...values]) => [host, said(values)]));
      return cases.filter((c) => c.log && String(told.get(hostOf(c))) !== String(c.log))
        .map((c) => [c.name, told.get(hostOf(c))]);
    };
    await waitFor(() => wrong().length === 0, { timeoutMs: 2000 }).catch(() => {});
    assert.deepEqual(wrong(), []);
  });
});
