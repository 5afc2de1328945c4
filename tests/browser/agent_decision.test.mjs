// SPDX-License-Identifier: Apache-2.0
/**
 * The agent profiles only where the server decided so, and not again when a cache repeats that decision: in real
 * Chromium, with a check of the console and the Reporting API.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { waitFor } from '../behaviour/stack.mjs';
import { busy, decision, outcome, signedYes, startSite, statusOf, tag, unsignedYes } from './agent_site.mjs';
import { launchChromium } from './chromium.mjs';

/** @typedef {import('playwright-core').Page} Page */

const day = 86_400;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;
/** @type {import('./agent_site.mjs').Site} */
let secureSite;
/** @type {import('playwright-core').BrowserContext} one visitor: a browser's storage and caches */
let visitor;
/** @type {string[]} everything on the visitor's consoles */
let lines;

before(async () => {
  browser = await launchChromium([
    '--host-resolver-rules=MAP site.test 127.0.0.1', '--ignore-certificate-errors', '--short-reporting-delay',
  ], { whole: true });
  site = await startSite();
  secureSite = await startSite({ secure: true });
});

after(async () => {
  await browser?.close();
  site?.close();
  secureSite?.close();
});

beforeEach(async () => {
  site.reset();
  secureSite.reset();
  site.pages['/page'] = secureSite.pages['/page'] = `${tag()}<script>${busy} busy(50)</script>`;
  visitor = await browser.newContext({ ignoreHTTPSErrors: true });
  lines = [];
});

afterEach(() => visitor.close());

async function newTab() {
  const page = await visitor.newPage();
  page.on('pageerror', (error) => lines.push(String(error)));
  page.on('console', (message) => lines.push(message.text()));
  return page;
}

/**
 * Loads a page and waits until its agent has finished.
 * @param {Page} page
 * @param {string} [url]
 */
async function visit(page, url = `${site.origin}/page`) {
  await page.goto(url);
  await outcome(page);
}

/** Opens a page in a tab of its own and gives the agent's status. @param {string} [url] */
async function statusAt(url) {
  const page = await newTab();
  await visit(page, url);
  return statusOf(page);
}

// ---- Silence ----

/** Keeps the types of all reports, those from before the observer too. */
const observeReports = `<script>
  globalThis.reports = [];
  new ReportingObserver((list) => reports.push(...list.map(({ type }) => type)), { buffered: true }).observe();
</script>`;

const violation = 'Document policy violation: js-profiling is not allowed in this document.';

/**
 * Violates the policy in a page and waits for the report: earlier reports have arrived by then.
 * @param {Page} page
 * @returns {Promise<string[]>} all reports
 */
async function violate(page) {
  return page.evaluate(async () => {
    const { Profiler, reports } = /** @type {any} */ (globalThis);
    const before = reports.length;
    try { new Profiler({ sampleInterval: 10, maxBufferSize: 10 }); } catch { /* as expected */ }
    while (reports.length === before) await new Promise((resolve) => { setTimeout(resolve, 10); });
    return reports;
  });
}

test('an unsampled page load is silent: no console line, no violation report, nothing stored', async () => {
  site.sampled = false;
  site.pages['/page'] = observeReports + tag();
  const page = await newTab();
  await visit(page);
  assert.equal(await statusOf(page), 'not-sampled');
  assert.deepEqual(lines, []);
  assert.deepEqual(await violate(page), ['document-policy-violation'], "the test's own alone");
  assert.deepEqual(lines, [violation], "the test's own alone");
  assert.deepEqual(site.uploads, []);
  assert.equal(await page.evaluate(() => localStorage.length), 0);
});

test('a try that is refused costs a console line and a violation report', async () => {
  site.headers['/page'] = () => ({ 'Document-Policy': '', 'Server-Timing': '' });
  site.pages['/page'] = observeReports + tag({ policy: 'try' });
  const page = await newTab();
  await visit(page);
  assert.equal(await statusOf(page), 'forbidden');
  assert.deepEqual(lines, [violation]);
  assert.deepEqual(await violate(page), Array(2).fill('document-policy-violation'));
});

test('the endpoint for reports hears of a refused try, and of no unsampled page load', async () => {
  const reporting = {
    'Reporting-Endpoints': `default="${secureSite.origin}/reports"`,
    'Document-Policy': 'js-profiling=?0;report-to=default',
  };
  secureSite.pages['/silent'] = secureSite.pages['/page'];
  secureSite.headers['/silent'] = () => ({ ...reporting, ...decision('0') });
  secureSite.pages['/loud'] = tag({ policy: 'try' });
  secureSite.headers['/loud'] = () => ({ ...reporting, 'Server-Timing': '' });
  await statusAt(`${secureSite.origin}/silent`);
  await statusAt(`${secureSite.origin}/loud`);
  await waitFor(() => secureSite.reports.some((report) => report.includes('/loud')), { what: 'report' });
  assert.ok(secureSite.reports.every((report) => !report.includes('/silent')), secureSite.reports.join('\n'));
});

test('without a decision nothing is tried, not even where the policy would allow it', async () => {
  site.headers['/page'] = () => ({ 'Server-Timing': 'db;dur=1' });
  assert.equal(await statusAt(), 'no-decision');
  assert.deepEqual(site.uploads, []);
  assert.deepEqual(lines, []);
});

test('a try profiles where another server sets the policy, and obeys a decision all the same', async () => {
  site.pages['/page'] = tag({ policy: 'try' });
  site.headers['/page'] = () => ({ 'Server-Timing': '' });
  assert.equal(await statusAt(), 'sent');
  site.headers['/page'] = () => decision('0');
  assert.equal(await statusAt(), 'not-sampled');
  assert.deepEqual(lines, []);
});

test('a decision in another form than the documented ones is none', async () => {
  const fresh = unsignedYes();
  for (const text of ['', '1', 'yes', fresh.slice(0, -1), `2.${fresh}`, `w1.${fresh}`, `${fresh} `, 'v1.first']) {
    site.headers['/page'] = () => decision(text);
    assert.equal(await statusAt(), 'no-decision', text);
  }
  site.headers['/page'] = () => ({ 'Server-Timing': 'fleetprof' });
  assert.equal(await statusAt(), 'no-decision', 'no description');
  assert.deepEqual(site.uploads, []);
});

test('a decision with arms is obeyed and sent on, of a sampled page load and of any other', async () => {
  const token = signedYes().replace(/^v1\.(.*?\.my\.shop)\.500/, 'v2.$1.chat=off,hero=B-1.500');
  site.headers['/page'] = () => decision(token);
  assert.equal(await statusAt(), 'sent');
  assert.deepEqual(new Set(site.uploads.map(({ envelope }) => envelope.token)), new Set([token]));
  site.uploads = [];
  const unsampled = token.replace('.500.', '.0.');
  site.pages['/unsampled'] = tag({ coverage: 'all' });
  site.headers['/unsampled'] = () => decision(`0.${unsampled}`);
  assert.equal(await statusAt(`${site.origin}/unsampled`), 'not-sampled');
  await waitFor(() => site.uploads.length > 0, { what: 'coverage' });
  assert.deepEqual(site.uploads.map(({ envelope }) => [envelope.token, envelope.coverage, envelope.trace]), [[unsampled, 'not-sampled', undefined]]);
});

test('the decision is there before the rest of a slow page, over HTTP/1.1 and HTTP/2', async () => {
  for (const each of [site, secureSite]) {
    each.slow = true;
    assert.equal(await statusAt(`${each.origin}/page`), 'sent');
    assert.equal(each.uploads.length, 1);
  }
});

test('a page over plain http is profiled like any other', async () => {
  const url = `${site.origin.replace('127.0.0.1', 'site.test')}/page`;
  const page = await newTab();
  await visit(page, url);
  assert.equal(await page.evaluate(() => isSecureContext), false);
  assert.equal(await statusOf(page), 'sent');
  site.sampled = false;
  assert.equal(await statusAt(url), 'not-sampled');
  assert.deepEqual(lines, []);
});

test('a browser that hides Server-Timing is left alone, unless the policy is to try', async () => {
  await visitor.addInitScript('delete PerformanceResourceTiming.prototype.serverTiming');
  assert.equal(await statusAt(), 'no-decision');
  site.pages['/try'] = tag({ policy: 'try' });
  assert.equal(await statusAt(`${site.origin}/try`), 'sent');
});

// ---- The token ----

test('sends the signed decision that the page came with, among other entries', async () => {
  const token = signedYes();
  site.headers['/page'] = () => ({
    'Server-Timing': ['db;dur=12;desc="fleetprof"', `fleetprof;desc="${token}"`, 'cache;desc="0"'],
  });
  assert.equal(await statusAt(), 'sent');
  assert.equal(site.uploads[0].envelope.token, token);
});

test('sends no token when the decision is not signed', async () => {
  assert.equal(await statusAt(), 'sent');
  assert.ok(!('token' in site.uploads[0].envelope));
});

test("a 304 replaces a stored page's decision", async () => {
  const page = await newTab();
  await visit(page);
  site.sampled = false;
  await visit(page);
  assert.equal(await statusOf(page), 'not-sampled');
  assert.equal(site.revalidations, 1);
  site.sampled = true;
  await visit(page);
  assert.equal(await statusOf(page), 'sent');
  assert.equal(site.uploads.length, 2);
});

// ---- No visitor stays sampled ----

test("a page out of a service worker's cache is profiled once, in all tabs, and not after reloads", async () => {
  const body = `
    addEventListener('install', (event) => {
      skipWaiting();
      event.waitUntil(caches.open('pages').then((cache) => cache.add('/page')));
    });
    addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    addEventListener('fetch', (event) => event.respondWith(
      caches.match(event.request).then((stored) => stored ?? fetch(event.request))));`;
  site.files['/worker.js'] = () => ({ type: 'text/javascript', body });
  site.pages['/first'] = '<script>navigator.serviceWorker.register("/worker.js")</script>';
  const page = await newTab();
  await page.goto(`${site.origin}/first`);
  await page.evaluate(() => navigator.serviceWorker.ready);
  site.sampled = false;
  const asked = site.paths.filter((path) => path === '/page').length;
  await visit(page);
  assert.equal(await statusOf(page), 'sent');
  await visit(page);
  assert.equal(await statusOf(page), 'stale');
  await page.reload();
  assert.equal(await statusOf(page), 'stale');
  assert.equal(await statusAt(), 'stale', 'in another tab');
  assert.equal(site.paths.filter((path) => path === '/page').length, asked, 'the cache answered');
  assert.equal(site.uploads.length, 1);
  await page.evaluate(() => caches.delete('pages'));
  await visit(page);
  assert.equal(await statusOf(page), 'not-sampled');
  assert.deepEqual(lines, []);
});

test('a service worker that asks the network first brings each new decision', async () => {
  const body = "addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));";
  site.files['/worker.js'] = () => ({ type: 'text/javascript', body });
  site.pages['/first'] = '<script>navigator.serviceWorker.register("/worker.js")</script>';
  const page = await newTab();
  await page.goto(`${site.origin}/first`);
  await page.evaluate(() => navigator.serviceWorker.ready);
  for (const sampled of [true, true, false, true]) {
    site.sampled = sampled;
    await visit(page);
    assert.ok(await page.evaluate(() => navigator.serviceWorker.controller), 'goes through the service worker');
    assert.equal(await statusOf(page), sampled ? 'sent' : 'not-sampled');
  }
  assert.deepEqual(lines, []);
});

test("a page out of the browser's cache is profiled once", async () => {
  site.headers['/page'] = () => ({ 'Cache-Control': 'private, max-age=600' });
  assert.equal(await statusAt(), 'sent');
  assert.equal(await statusAt(), 'stale', 'in another tab');
  assert.equal(site.paths.filter((path) => path === '/page').length, 1, 'the cache answered');
  const page = await newTab();
  await visit(page);
  await page.reload();
  await outcome(page);
  assert.equal(await statusOf(page), 'sent', 'a reload asks the server, which decides again');
  assert.equal(site.uploads.length, 2);
});

test('a page that one goes back to is profiled once', async () => {
  site.pages['/other'] = 'other';
  const page = await newTab();
  await visit(page);
  await page.goto(`${site.origin}/other`);
  await page.goBack();
  assert.equal(await statusOf(page), 'stale');
  assert.equal(site.paths.filter((path) => path === '/page').length, 1, 'the cache answered');
  assert.equal(site.uploads.length, 1);
});

test('a page that comes back alive is not profiled again', async () => {
  // Playwright turns the back/forward cache off.
  const alive = await launchChromium([], { whole: true, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  try {
    site.pages['/page'] += `<script>
      addEventListener('pageshow', ({ persisted }) => { globalThis.persisted = persisted; });
    </script>`;
    site.pages['/other'] = 'other';
    const page = await (await alive.newContext()).newPage();
    await visit(page);
    await page.goto(`${site.origin}/other`);
    await page.goBack({ waitUntil: 'commit' }); // there is no second load event
    await page.waitForFunction('persisted');
    await outcome(page);
    assert.equal(await statusOf(page), 'sent');
    assert.equal(site.uploads.length, 1);
  } finally {
    await alive.close();
  }
});

test('each new decision of the server counts', async () => {
  for (let i = 0; i < 3; i++) assert.equal(await statusAt(), 'sent');
  assert.equal(site.uploads.length, 3);
});

test('a clock that is wrong by a day changes nothing; a decision of the day before that is old', async () => {
  const now = Math.floor(Date.now() / 1000);
  const expected = /** @type {const} */ ([[-1, 'sent'], [1, 'sent'], [400, 'sent'], [-3, 'stale']]);
  for (const [days, status] of expected) {
    site.headers['/page'] = () => decision(unsignedYes(now + days * day));
    assert.equal(await statusAt(), status, `${days} days`);
  }
});

test('where storage is blocked it still profiles', async () => {
  // An opaque origin, whose localStorage throws.
  site.headers['/page'] = () => ({ 'Content-Security-Policy': 'sandbox allow-scripts' });
  const page = await newTab();
  await visit(page);
  assert.equal(await page.evaluate(() => { try { return Boolean(localStorage); } catch { return 'blocked'; } }), 'blocked');
  assert.equal(await statusOf(page), 'sent');
  assert.deepEqual(lines, []);
});

test('where storage is full it still profiles, and knows what it used before that', async () => {
  const page = await newTab();
  const yes = unsignedYes();
  site.headers['/page'] = () => decision(yes);
  await visit(page);
  await page.evaluate(() => {
    for (let size = 2 ** 22; size >= 1; size /= 2) {
      try {
        for (let i = 0; i < 10; i++) localStorage.setItem(`${size} ${i}`, 'x'.repeat(size));
      } catch { /* full for this size */ }
    }
  });
  await visit(page);
  assert.equal(await statusOf(page), 'stale');
  site.headers['/page'] = () => decision(unsignedYes());
  await visit(page);
  assert.equal(await statusOf(page), 'sent');
  assert.deepEqual(lines, []);
});

test('keeps little: a few characters of each of the last 200 decisions', async () => {
  const page = await newTab();
  const yes = unsignedYes();
  const nonce = yes.split('.')[2];
  site.headers['/page'] = () => decision(yes);
  await visit(page);
  assert.deepEqual(await page.evaluate(() => ({ ...localStorage })), { 'fleetprof.used': nonce.slice(0, 4) });
  await page.evaluate(() => {
    localStorage.setItem('fleetprof.used', Array.from({ length: 5000 }, (_, i) => i + 10_000).join(' '));
  });
  await visit(page);
  const kept = await page.evaluate(() => localStorage.getItem('fleetprof.used') ?? '');
  assert.equal(kept.split(' ').length, 200);
  assert.ok(kept.startsWith(`${nonce.slice(0, 4)} 10000 10001 `), kept);
});
