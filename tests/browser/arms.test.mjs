// SPDX-License-Identifier: Apache-2.0
/**
 * An arm's whole road: nginx draws it, the page differs by it, the token proves it for sampled and unsampled page loads,
 * and SQL compares what the arms cost.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { repository, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';

const keyFile = path.join(temporaryDir('key'), 'token.key');
const tagMs = 300;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;

// The tag holds up the paint. The page claims another arm, which must not count.
const html = `<!doctype html><link rel="icon" href="data:,">
  <script>var arm = "$fleetprof_arm_tag"; if (arm === "on") for (const end = performance.now() + ${tagMs}; performance.now() < end;);</script>
  <h1>Shop</h1>
  <script src="/agent/fleetprof.vitals.js" data-endpoint="/v1/ingest/pk_demo" data-variant="tag=off"></script>`;

before(async () => {
  fs.writeFileSync(keyFile, crypto.randomBytes(32).toString('hex'));
  stack = await startStack({
    config: { sites: [{ name: 'demo', key: 'pk_demo', require_token: true, token_keys: [keyFile] }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        default_type text/html;
        location /page { fleetprof on; fleetprof_sample 50%; fleetprof_site demo; fleetprof_token_key ${keyFile};
          fleetprof_arms tag=on:1,off:1; return 200 '${html}'; }
        location /agent/ { alias ${repository}/agent/dist/; }
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

test('the variant of each page load is the arm that its page had, and the tag is found', async () => {
  /** @type {Record<string, number>} */
  const loads = { on: 0, off: 0 };
  const { page } = await openTab(browser);
  for (let i = 0; i < 40 && (i < 12 || loads.on < 3 || loads.off < 3); i++) {
    await page.goto(`${url}/page`);
    const arm = await page.evaluate('arm');
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve, 100)); }));
    await page.goto('about:blank');
    loads[arm] += 1;
  }
  const counted = async () => Object.fromEntries((await stack.sql(`select variant, count::integer, p75
    from (values ('tag=on,tag:off'), ('tag=off,tag:off')) as variants (variant), fleetprof.vitals('demo', variant => variants.variant)
    where name = 'FCP'`)).map(({ variant, count, p75 }) => [variant, { count, p75 }]));
  const arms = await waitFor(async () => {
    const now = await counted();
    return now['tag=on,tag:off']?.count === loads.on && now['tag=off,tag:off']?.count === loads.off && now;
  }, { what: `${JSON.stringify(loads)} in SQL` });
  assert.ok(arms['tag=on,tag:off'].p75 > arms['tag=off,tag:off'].p75 + tagMs / 2, JSON.stringify(arms));
  assert.deepEqual((await stack.sql('select distinct variant from fleetprof.segment order by 1')).map(({ variant }) => variant),
    ['tag=off,tag:off', 'tag=on,tag:off']);
});
