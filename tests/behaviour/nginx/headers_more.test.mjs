// SPDX-License-Identifier: Apache-2.0
/** headers-more beside us, loaded before and after: what it sets is merged, what it clears stays away. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { html, no, yes } from '../headers/cases/words.mjs';
import { exchange, linesOf, requestBytes, startUpstream } from '../headers/wire.mjs';
import { headersMore, makeFiles, moduleFile, startModule } from './nginx.mjs';

const a = 'https://a.example';
const b = 'https://b.example';

/** @type {[name: string, directives: string, policy: string[], origins?: string[], status?: number][]} */
const cases = [
  ['what_it_sets_is_merged', 'more_set_headers "Document-Policy: a"', [`a, ${yes}`]],
  ['what_it_sets_can_have_the_word', 'more_set_headers "Document-Policy: js-profiling=?0"', [no]],
  ['what_it_replaces_is_gone', 'proxy_pass UPSTREAM; more_set_headers "Document-Policy: a"', [`a, ${yes}`], ['null']],
  ['what_it_clears_is_not_merged', 'proxy_pass UPSTREAM; more_clear_headers Document-Policy', [yes], ['null']],
  ['what_it_clears_by_pattern_is_not_merged', 'proxy_pass UPSTREAM; more_clear_headers "Document-*"', [yes], ['null']],
  ['what_add_header_adds_and_it_clears', 'add_header Document-Policy x; more_clear_headers Document-Policy', [`x, ${yes}`]],
  ['origins_are_merged', `more_set_headers "Timing-Allow-Origin: ${b}"; timing_allow_origin ${a}`, [yes], [`${b}, ${a}`]],
  ['cleared_origins_are_not_merged',
    `proxy_pass UPSTREAM; more_clear_headers Timing-Allow-Origin; timing_allow_origin ${a}`, [`up, ${yes}`], [a]],
  ['a_shared_page_made_private', 'proxy_pass UPSTREAM/shared; more_set_headers "Cache-Control: private"', [yes]],
  ['a_page_made_shared', 'more_set_headers "Cache-Control: public"', [no]],
  ['a_type_that_it_sets', 'default_type text/plain; return 200 x; more_set_headers "Content-Type: text/html"', [yes]],
  ['unrelated_fields', 'more_set_headers "X-Other: 1"; more_clear_headers Server', [yes]],
  ['an_error_page', 'return 404; more_set_headers -s 404 "Document-Policy: a"', ['a'], [], 404],
];

/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;
before(async () => {
  upstream = await startUpstream(({ path }) => ({ fields: [html, ...(path.startsWith('/shared')
    ? [/** @type {[string, string]} */ (['Cache-Control', 'public'])]
    : /** @type {[string, string][]} */ ([['Document-Policy', 'up'], ['Timing-Allow-Origin', 'null']]))] }));
});
after(() => upstream?.stop());

for (const [order, modules] of /** @type {[string, string[]][]} */ (
  [['loaded before us', [headersMore, moduleFile]], ['loaded after us', [moduleFile, headersMore]]])) {
  describe(`headers-more ${order}`, () => {
    /** @type {Awaited<ReturnType<typeof startModule>>} */
    let nginx;
    before(async () => {
      const root = makeFiles();
      nginx = await startModule({
        modules,
        conf: ({ port }) => cases.map(([name, directives]) => `server { listen 127.0.0.1:${port}; server_name ${name};
          root ${root}; fleetprof on; fleetprof_sample 100%; location / { ${
  directives.replace('UPSTREAM', `http://127.0.0.1:${upstream.port}`)}; } }`).join('\n'),
      });
    });
    after(() => nginx?.stop());

    for (const [name, , policy, origins = [], status = 200] of cases) {
      test(name, async () => {
        const response = await exchange(nginx.port, requestBytes({ host: name }));
        assert.equal(response.status, status);
        assert.deepEqual(linesOf(response, 'document-policy'), policy);
        assert.deepEqual(linesOf(response, 'timing-allow-origin'), origins);
      });
    }
  });
}
