// SPDX-License-Identifier: Apache-2.0
/** The lines that doctor gives undo the mistake, written as they are into a server before the application. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { doctor } from './doctor_site.mjs';
import { html, yes } from './headers/cases/words.mjs';
import { exchange, linesOf, requestBytes, startUpstream } from './headers/wire.mjs';
import { startHttpd } from './httpd/httpd.mjs';
import { startModule } from './nginx/nginx.mjs';

/**
 * @typedef {object} Mistake
 * @property {[name: string, value: string][]} sent by the application
 * @property {string} name of the field that is looked at
 * @property {(string | RegExp)[]} lines of it that the browser then gets
 */

/** By the finding. @type {Record<string, Mistake>} */
const mistakes = {
  'policy-broken': { sent: [['Document-Policy', 'a,']], name: 'document-policy', lines: [yes] },
  'policy-type': { sent: [['Document-Policy', 'js-profiling=1']], name: 'document-policy', lines: [yes] },
  'policy-conflict': { sent: [['Document-Policy', 'js-profiling']], name: 'server-timing', lines: [/^fleetprof;desc="1\./] },
  'page-cacheable': {
    sent: [['Cache-Control', 'public, max-age=600'], ['CDN-Cache-Control', 'max-age=60']], name: 'document-policy', lines: [yes],
  },
  'page-no-store': { sent: [['Cache-Control', 'no-store']], name: 'cache-control', lines: ['private, no-cache'] },
  'csp-script': {
    sent: [['Content-Security-Policy', 'script-src https://cdn.example']],
    name: 'content-security-policy', lines: [/script-src 'self'/],
  },
  'csp-connect': {
    sent: [['Content-Security-Policy', "default-src 'none'; connect-src https://api.example"]],
    name: 'content-security-policy', lines: [/connect-src 'self'/],
  },
  'csp-sandbox': {
    sent: [['Content-Security-Policy', 'sandbox allow-scripts']],
    name: 'content-security-policy', lines: [/sandbox allow-scripts allow-same-origin/],
  },
};

/** @type {{ id: string, nginx: string, httpd: string }[]} */
const findings = (await doctor(['--list'])).findings.filter((/** @type {{ id: string }} */ { id }) => mistakes[id]);

/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;
before(async () => {
  upstream = await startUpstream(({ path }) => ({ fields: [html, ...mistakes[path.slice(1)].sent] }));
});
after(() => upstream?.stop());

const servers = {
  nginx: () => startModule({
    conf: ({ port }) => findings.map(({ id, nginx }) => `server { listen 127.0.0.1:${port}; server_name ${id};
      location / {
        fleetprof on; fleetprof_sample 100%;
        proxy_pass http://127.0.0.1:${upstream.port};
        ${nginx}
      } }`).join('\n'),
  }),
  httpd: () => startHttpd({
    conf: ({ port }) => findings.map(({ id, httpd }) => `<VirtualHost *:${port}>
      ServerName ${id}
      FleetProf on
      FleetProfSample 100%
      ProxyPass / http://127.0.0.1:${upstream.port}/
      <Location />
      ${httpd}
      </Location>
      </VirtualHost>`).join('\n'),
  }),
};

test('each mistake is a finding', () => {
  assert.deepEqual(findings.map(({ id }) => id).sort(), Object.keys(mistakes).sort());
});

for (const [kind, start] of Object.entries(servers)) {
  describe(kind, () => {
    /** @type {Awaited<ReturnType<typeof start>>} */
    let server;
    before(async () => { server = await start(); });
    after(() => server?.stop());

    for (const [id, { name, lines }] of Object.entries(mistakes)) {
      test(`the lines for ${id} undo it`, async () => {
        const response = await exchange(server.port, requestBytes({ host: id, path: `/${id}` }));
        const given = linesOf(response, name);
        assert.equal(given.length, lines.length, given.join(' | '));
        for (const [i, line] of lines.entries()) {
          if (typeof line === 'string') assert.equal(given[i], line);
          else assert.match(given[i], line);
        }
        // The application's other permissions stay; in nginx, a person has to write it.
        if (kind === 'httpd' && id.startsWith('csp-')) {
          const [[, policy]] = mistakes[id].sent;
          for (const word of policy.split(/[ ;]+/)) assert.ok(given[0].includes(word), word);
        }
      });
    }
  });
}
