// SPDX-License-Identifier: Apache-2.0
/**
 * A page token's whole road: nginx signs a sampled page, the agent carries the token, the collector
 * demands it, and SQL has the rate.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { repository, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';

const keyFile = path.join(temporaryDir('key'), 'token.key');

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;

const html = `<!doctype html><link rel="icon" href="data:,">
  <script src="/agent/fleetprof.js" data-endpoint="/v1/ingest/pk_demo" data-after-load="0"></script>`;

before(async () => {
  fs.writeFileSync(keyFile, crypto.randomBytes(32).toString('hex'));
  const site = { name: 'demo', key: 'pk_demo', require_token: true, token_keys: [keyFile], token_uploads: 1 };
  stack = await startStack({
    config: { sites: [site] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        default_type text/html;
        location /signed { fleetprof on; fleetprof_sample 100%; fleetprof_site demo; fleetprof_token_key ${keyFile}; return 200 '${html}'; }
        location /unsigned { fleetprof on; fleetprof_sample 100%; return 200 '${html}'; }
        location /agent/ { alias ${repository}/agent/dist/; }
        # Without an origin, which nobody knows before there is a port.
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  url = /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url;
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Loads a page and gives the status of its upload. @param {string} at */
async function upload(at) {
  const { page } = await openTab(browser);
  const reply = page.waitForResponse((response) => response.url().includes('/v1/ingest/'));
  await page.goto(url + at);
  return (await reply).status();
}

test('a signed page uploads where tokens are demanded, an unsigned one does not', async () => {
  assert.equal(await upload('/signed'), 204);
  assert.equal(await upload('/signed'), 204, 'each load has a token of its own');
  assert.equal(await upload('/unsigned'), 403);
  const counted = async () => (await stack.sql('select 1 from fleetprof.upload_log')).length;
  await waitFor(async () => await counted() === 2, { what: 'uploads in SQL' });
  assert.deepEqual(await stack.sql('select route, sample_rate from fleetprof.segment'),
    [{ route: '/signed', sample_rate: 1 }]);
});
