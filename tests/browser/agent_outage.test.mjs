// SPDX-License-Identifier: Apache-2.0
/**
 * A collector behind nginx that is down for a while: a page that stays open delivers its upload, once.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { repository, startCollector, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { outcome, statusOf, tag } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';

const keyFile = path.join(temporaryDir('key'), 'token.key');

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {import('../behaviour/stack.mjs').Collector | undefined} the one after the outage */
let restarted;

before(async () => {
  fs.writeFileSync(keyFile, crypto.randomBytes(32).toString('hex'));
  stack = await startStack({
    config: { sites: [{ name: 'demo', key: 'pk_test', require_token: true, token_keys: [keyFile] }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        default_type text/html;
        location / {
          fleetprof on; fleetprof_sample 100%; fleetprof_site demo; fleetprof_token_key ${keyFile};
          return 200 '<!doctype html><link rel="icon" href="data:,">${tag()}';
        }
        location = /long { # until the test ends it
          fleetprof on; fleetprof_sample 100%; fleetprof_site demo; fleetprof_token_key ${keyFile};
          return 200 '<!doctype html><link rel="icon" href="data:,">${tag({ 'after-load': 60_000 })}';
        }
        location /agent/ { alias ${repository}/agent/dist/; }
        # Without an origin, which nobody knows before there is a port.
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await restarted?.stop();
  await stack?.stop();
});

test('an upload outlasts a restart of the collector behind a proxy', async () => {
  await stack.collector.stop();
  const { page } = await openTab(browser);
  /** @type {number[]} */
  const answers = [];
  page.on('response', (response) => {
    if (response.url().includes('/v1/ingest/')) answers.push(response.status());
  });
  await page.goto(/** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url);
  await waitFor(() => answers.length >= 2, { what: 'two attempts' });
  assert.equal(await statusOf(page), 'sending');
  restarted = await startCollector({ config: stack.collector.config });
  await waitFor(async () => await statusOf(page) === 'sent', { what: 'accepted upload' });
  assert.deepEqual([...new Set(answers)], [502, 204]);
  await waitFor(async () => (await stack.sql('select 1 from fleetprof.upload_log')).length === 1, { what: 'upload in SQL' });
});

test('an upload outlasts more failed attempts than a page makes, while the browser is offline', async () => {
  const { page } = await openTab(browser);
  let attempts = 0;
  page.on('requestfailed', (request) => { attempts += Number(request.url().includes('/v1/ingest/')); });
  const uploads = async () => (await stack.sql('select 1 from fleetprof.upload_log')).length;
  const before = await uploads();
  // The pauses between attempts, which add up to a minute and more, last a hundredth of that.
  await page.addInitScript(() => {
    const real = setTimeout;
    Object.assign(globalThis, { setTimeout: (/** @type {() => void} */ then, /** @type {number} */ ms) => real(then, ms >= 1000 && !navigator.onLine ? ms / 100 : ms) });
  });
  await page.goto(`${/** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url}/long`);
  await page.context().setOffline(true);
  const sent = outcome(page);
  await waitFor(() => attempts >= 20, { what: 'attempts' });
  assert.equal(await statusOf(page), 'sending');
  assert.equal(await uploads(), before);
  await page.context().setOffline(false);
  assert.equal(await sent, true);
  await waitFor(async () => await uploads() === before + 1, { what: 'upload in SQL' });
});
