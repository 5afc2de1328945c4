// SPDX-License-Identifier: Apache-2.0
/** A page that nginx's cache revalidates by itself: upstream's 304 has no policy, the page has one. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { html, no, yes } from '../headers/cases/words.mjs';
import { exchange, linesOf, requestBytes, startUpstream } from '../headers/wire.mjs';
import { waitFor } from '../stack.mjs';
import { startModule } from './nginx.mjs';

/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;
let upstreamIsWell = true;

before(async () => {
  upstream = await startUpstream(({ revalidates }) => {
    if (!upstreamIsWell) return { status: 503 };
    return revalidates ? { status: 304 } : { fields: [html, ['Document-Policy', 'a'], ['ETag', '"v1"']] };
  });
  nginx = await startModule({
    conf: ({ port, dir }) => `proxy_cache_path ${dir}/cache keys_zone=pages:1m;
      server { listen 127.0.0.1:${port}; fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor;
        location / { proxy_pass http://127.0.0.1:${upstream.port}; proxy_cache pages; proxy_cache_valid 200 1s;
          proxy_cache_revalidate on; proxy_cache_use_stale http_503; add_header X-Cache $upstream_cache_status; } }`,
  });
});
after(async () => { upstream?.stop(); await nginx?.stop(); });

/** Asks until the cache has the page in that state. */
async function pageThatIs(/** @type {string} */ state, /** @type {string} */ visitor) {
  const bytes = requestBytes({ host: 'any', path: `/${visitor}`, ask: [['Cookie', `visitor=${visitor}`]] });
  let response = await exchange(nginx.port, bytes);
  await waitFor(async () => {
    if (linesOf(response, 'x-cache')[0] === state) return true;
    response = await exchange(nginx.port, bytes);
    return false;
  }, { what: `page that is ${state}`, intervalMs: 100 });
  return response;
}

for (const [visitor, said] of [['visitor-1', yes], ['0123456789abcdef', no]]) {
  test(`what nginx revalidated is merged with the page's own policy: ${said}`, async () => {
    upstreamIsWell = true;
    await pageThatIs('HIT', visitor);
    const response = await pageThatIs('REVALIDATED', visitor);
    assert.deepEqual(linesOf(response, 'document-policy'), [`a, ${said}`]);
    assert.deepEqual(linesOf(response, 'etag'), said === yes ? [] : ['"v1"']);
  });

  test(`a stale page is merged: ${said}`, async () => {
    upstreamIsWell = true;
    await pageThatIs('HIT', visitor);
    upstreamIsWell = false;
    const response = await pageThatIs('STALE', visitor);
    assert.deepEqual(linesOf(response, 'document-policy'), [`a, ${said}`]);
    assert.deepEqual(linesOf(response, 'etag'), said === yes ? [] : ['"v1"']);
  });
}
