// SPDX-License-Identifier: Apache-2.0
/**
 * The agent as a guest: what pages have put in the place of the browser's functions does not see it.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { repository, waitFor } from '../behaviour/stack.mjs';
import { startSite, tag } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';

const zone = fs.readFileSync(path.join(repository, 'node_modules/zone.js/bundles/zone.umd.js'));

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;
/** @type {import('playwright-core').BrowserContext[]} */
let open = [];

before(async () => {
  browser = await launchChromium();
  site = await startSite();
});

after(async () => {
  await browser?.close();
  site?.close();
});

beforeEach(() => {
  site.reset();
  site.files['/zone.js'] = () => ({ type: 'text/javascript', body: zone });
});

afterEach(async () => {
  await Promise.all(open.map((context) => context.close()));
  open = [];
});

/** @param {string} html */
async function visit(html) {
  site.pages['/page'] = html;
  const { page, complaints } = await openTab(browser);
  open.push(page.context());
  await page.goto(`${site.origin}/page`);
  return { page, complaints };
}

/** A tag without an early end, whose parts are short. @param {string} file */
const longTag = (file) => tag({ 'part-length': 500 }).replace(' data-after-load="0"', '').replace('/agent/fleetprof.js', `/agent/${file}`);

/** Works as Angular does: it detects changes when a zone of its own has no task left. */
const angular = `<script>
  window.sources = [];
  window.inner = Zone.current.fork({
    name: 'angular',
    onInvokeTask(delegate, current, target, task, self, given) { sources.push(task.source); return delegate.invokeTask(target, task, self, given); },
    onHasTask(delegate, current, target, state) { if (state.change === 'microTask') sources.push('microTask'); delegate.hasTask(target, state); },
  });
</script>`;

for (const [order, head] of /** @type {[string, (file: string) => string][]} */ ([
  ['before zone.js', (file) => `${longTag(file)}<script src="/zone.js"></script>${angular}`],
  ['after zone.js', (file) => `<script src="/zone.js"></script>${longTag(file)}${angular}`],
  ['in a zone', (file) => `<script src="/zone.js"></script>${angular}<script src="/agent/${file}"></script>
    <script>inner.run(() => fleetprof.start({ endpoint: '/v1/ingest/pk_shop', partLength: 500 }));</script>`],
])) {
  for (const file of ['fleetprof.js', 'fleetprof.vitals.js']) {
    test(`${file}, started ${order}, runs no task of a zone, whatever a router or the page calls in it`, async () => {
      const { page } = await visit(`${head(file)}<body>x`);
      await waitFor(() => site.uploads.length > 0, { what: 'first part' });
      const before = site.uploads.length;
      await page.evaluate(() => /** @type {any} */ (globalThis).inner.run(() => {
        history.pushState({}, '', '/view2');
        /** @type {any} */ (globalThis).fleetprof.start().setRoute('/second');
      }));
      await waitFor(() => site.uploads.length > before + 2, { what: 'parts of the second view' });
      // The page's own work there counts.
      await page.evaluate(() => /** @type {any} */ (globalThis).inner.run(() => { setTimeout(() => {}); }));
      await waitFor(() => page.evaluate(() => /** @type {any} */ (globalThis).sources.length > 0), { what: 'task of the page' });
      assert.deepEqual(await page.evaluate(() => /** @type {any} */ (globalThis).sources), ['setTimeout']);
      assert.ok(site.uploads.some(({ envelope }) => envelope.page.route === '/second'));
    });
  }
}

for (const file of ['fleetprof.js', 'fleetprof.vitals.js']) {
  test(`${file}: with hash routes, the path behind # is the page's`, async () => {
    const { page } = await visit(`${longTag(file).replace(' src', ' data-hash-routes src')}<script>location.hash = '#/product/7?a=b';</script>`);
    await waitFor(() => site.uploads.some(({ envelope }) => envelope.page.url.endsWith('/product/7')), { what: 'first view' });
    await page.evaluate(() => { location.hash = '#!/cart'; });
    await waitFor(() => site.uploads.some(({ envelope }) => envelope.page.url === `${site.origin}/cart`), { what: 'second view' });
    await page.evaluate(() => { location.hash = '#top'; });
    await waitFor(() => site.uploads.at(-1)?.envelope.page.url === `${site.origin}/page`, { what: 'fragment without a path' });
  });
}

test('a site behind HTTP authentication gets its uploads with the password', async () => {
  const context = await browser.newContext({ httpCredentials: { username: 'me', password: 'secret' } });
  site.replies = [{ status: 401, headers: { 'WWW-Authenticate': 'Basic realm="staging"' } }];
  open.push(context);
  site.pages['/page'] = longTag('fleetprof.js');
  await (await context.newPage()).goto(`${site.origin}/page`);
  await waitFor(() => site.uploads.length > 1, { what: 'parts' });
  assert.match(site.uploads[1].headers.authorization ?? '', /^Basic /);
  assert.equal(site.uploads[1].envelope.part, 0, 'the part that was refused first');
});

test('a fetch that a library has replaced, before or after, is not the one that sends', async () => {
  const traced = `<script>
    const { fetch: inside } = window;
    window.fetch = Object.assign((url, options) => inside(url, { ...options, headers: { ...options?.headers, traceparent: '00-1-2-01' } }), { __sentry_original__: inside });
  </script>`;
  for (const html of [`${traced}${longTag('fleetprof.js')}`, `${longTag('fleetprof.js')}${traced}`]) {
    site.reset();
    await visit(html);
    await waitFor(() => site.uploads.length > 1, { what: 'parts' });
    assert.ok(site.uploads.every(({ headers }) => headers.traceparent === undefined));
  }
});

for (const file of ['fleetprof.js', 'fleetprof.vitals.js']) {
  test(`${file}: a sendBeacon that a library has replaced is not the one that sends`, async () => {
    const { page } = await visit(`${longTag(file)}<script>navigator.sendBeacon = () => true;</script>`);
    site.pages['/next'] = 'next';
    await waitFor(() => site.uploads.length > 0, { what: 'first part' });
    await page.evaluate(() => {
      performance.mark('late');
      location.href = '/next';
    });
    await waitFor(() => site.uploads.some(({ envelope: { marks } }) => marks?.some((/** @type {{ name: string }} */ { name }) => name === 'late')),
      { what: 'the mark made last' });
  });
}
