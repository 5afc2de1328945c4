// SPDX-License-Identifier: Apache-2.0
/** A page that mod_cache revalidates by itself: upstream's 304 has no policy, the page has one. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { fileTime, html, no, yes } from '../headers/cases/words.mjs';
import { exchange, linesOf, requestBytes, startUpstream } from '../headers/wire.mjs';
import { waitFor } from '../stack.mjs';
import { startHttpd } from './httpd.mjs';

describe('mod_cache', { concurrency: true }, () => {
  for (const quick of ['on', 'off']) {
    describe(`quick handler ${quick}`, { concurrency: false }, () => {
      /** @type {Awaited<ReturnType<typeof startHttpd>>} */
      let httpd;
      /** @type {Awaited<ReturnType<typeof startUpstream>>} */
      let upstream;
      let upstreamIsWell = true;

      before(async () => {
        upstream = await startUpstream(({ revalidates }) => {
          if (!upstreamIsWell) return { status: 503 };
          return revalidates ? { status: 304, fields: [['ETag', '"v1"']] } : {
            fields: [html, ['Document-Policy', 'a'], ['ETag', '"v1"'], ['Last-Modified', fileTime]] };
        });
        httpd = await startHttpd({
          modules: ['cache', 'cache_disk'],
          conf: ({ dir }) => {
            fs.mkdirSync(`${dir}/cache`);
            fs.chmodSync(`${dir}/cache`, 0o777);
            return `CacheRoot ${dir}/cache\nCacheEnable disk /\nCacheQuickHandler ${quick}\nCacheHeader on
              CacheDefaultExpire 1\nCacheMaxExpire 1
              SetEnvIf Cookie visitor=([^;]+) VISITOR=$1
              FleetProf on\nFleetProfSample 1/2 key=%{reqenv:VISITOR}\nProxyPass / http://127.0.0.1:${upstream.port}/`;
          },
        });
      });
      after(async () => { upstream?.stop(); await httpd?.stop(); });

      /** Asks until the cache says so of the page. */
      async function pageThatIs(/** @type {string} */ state, /** @type {string} */ visitor) {
        const bytes = requestBytes({ host: 'any', path: `/${visitor}`, ask: [['Cookie', `visitor=${visitor}`]] });
        let response = await exchange(httpd.port, bytes);
        await waitFor(async () => {
          if (linesOf(response, 'x-cache')[0]?.startsWith(state)) return true;
          response = await exchange(httpd.port, bytes);
          return false;
        }, { what: `page that is a ${state}`, intervalMs: 100 });
        return response;
      }

      for (const [visitor, said] of [['visitor-1', yes], ['0123456789abcdef', no]]) {
        test(`what mod_cache revalidated is merged with the page's own policy: ${said}`, async () => {
          upstreamIsWell = true;
          await pageThatIs('HIT', visitor);
          const response = await pageThatIs('REVALIDATE', visitor);
          assert.equal(response.status, 200);
          assert.deepEqual(linesOf(response, 'document-policy'), [`a, ${said}`]);
          assert.deepEqual(linesOf(response, 'etag'), said === yes ? [] : ['"v1"']);
        });

        test(`a stale page is merged: ${said}`, async () => {
          upstreamIsWell = true;
          await pageThatIs('HIT', visitor);
          upstreamIsWell = false;
          const stale = await waitFor(async () => {
            const response = await exchange(httpd.port,
              requestBytes({ host: 'any', path: `/${visitor}`, ask: [['Cookie', `visitor=${visitor}`]] }));
            return linesOf(response, 'warning').length > 0 && response;
          }, { what: 'stale page', intervalMs: 100 });
          assert.deepEqual(linesOf(stale, 'document-policy'), [`a, ${said}`]);
          assert.deepEqual(linesOf(stale, 'etag'), said === yes ? [] : ['"v1"']);
        });
      }
    });
  }
});
