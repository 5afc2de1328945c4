// SPDX-License-Identifier: Apache-2.0
/**
 * The whole road of a crash: nginx names the endpoint in a sampled page, Chromium's renderer really ends, Chromium
 * reports it over https, and SQL has it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { freePort, runOrThrow, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;

const html = '<!doctype html><title>shop</title><script>function eat() { const all = []; for (;;) all.push(new Array(1e6).fill({})); }</script>';

before(async () => {
  const dir = temporaryDir('certificate');
  await runOrThrow(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-keyout', `${dir}/key.pem`, '-out', `${dir}/certificate.pem`]);
  const secure = await freePort();
  url = `https://localhost:${secure}`;
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', origins: [url], routes: ['/product/:id'] }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        listen 127.0.0.1:${secure} ssl;
        ssl_certificate ${dir}/certificate.pem;
        ssl_certificate_key ${dir}/key.pem;
        default_type text/html;
        fleetprof_reports /v1/reports/pk_shop;
        location /product/ { fleetprof on; fleetprof_sample 100%; return 200 '${html}'; }
        location /unsampled/ { fleetprof on; fleetprof_sample 0%; return 200 '${html}'; }
        location /v1/ { proxy_pass ${ingest}; }
      }`,
  });
  browser = await launchChromium(['--short-reporting-delay', '--ignore-certificate-errors', '--js-flags=--max-old-space-size=40'], { whole: true });
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/**
 * Opens a page and ends its renderer.
 * @param {string} at @param {(page: import('playwright-core').Page) => Promise<unknown>} end
 */
async function crash(at, end) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  await page.goto(url + at);
  const crashed = page.waitForEvent('crash');
  end(page).catch(() => {});
  await crashed;
  return () => context.close();
}

const hangs = () => stack.sql('select reason, function, count::int, hidden::int, in_frames::int, loads from fleetprof.hangs(\'shop\', route => \'/product/:id\', browser => \'Chrome\') order by reason');
const command = (/** @type {import('playwright-core').Page} */ page) => page.context().newCDPSession(page).then((session) => session.send('Page.crash'));

test('Chromium reports a crash and an end of memory, but not of an unsampled page', async () => {
  const closing = [
    await crash('/unsampled/', command),
    await crash('/product/1?token=secret', command),
    await crash('/product/2', (page) => page.evaluate('eat()')),
  ];
  await waitFor(async () => (await hangs()).length === 2, { what: 'two reports' });
  for (const close of closing) await close();
  const none = { function: null, hidden: 0, in_frames: 0, loads: null };
  assert.deepEqual(await hangs(), [{ reason: 'crash', count: 1, ...none }, { reason: 'oom', count: 1, ...none }]);
  assert.deepEqual(await stack.sql("select sum(count)::int as count from fleetprof.hangs('shop')"), [{ count: 2 }]);
});
