// SPDX-License-Identifier: Apache-2.0
/**
 * The lines that `data-debug` writes to the console of real Chromium: every possible problem has a line that names it.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { decision, outcome, startSite, statusOf, tag, unsignedYes } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;

before(async () => {
  browser = await launchChromium();
  site = await startSite();
});

after(async () => {
  await browser?.close();
  site?.close();
});

beforeEach(() => site.reset());

/**
 * Loads a page until its agent is through.
 * @param {string} html
 * @param {{ init?: string, headers?: Record<string, string> }} [options] init: script that runs before all others
 * @returns {Promise<{ lines: string[], status: string, detail: string }>} lines: the agent's own, without its name
 */
async function debugLines(html, { init, headers = {} } = {}) {
  site.pages['/page'] = html;
  site.headers['/page'] = () => headers;
  const { page } = await openTab(browser);
  /** @type {string[]} */
  const lines = [];
  page.on('console', (message) => {
    if (message.type() !== 'info') return;
    assert.match(message.text(), /^fleetprof: [^\n]+$/);
    lines.push(message.text().slice('fleetprof: '.length));
  });
  if (init) await page.addInitScript(init);
  await page.goto(`${site.origin}/page`);
  await outcome(page);
  const detail = await page.evaluate(() => /** @type {any} */ (globalThis).fleetprof.start().detail);
  const result = { lines, status: await statusOf(page), detail };
  await page.context().close();
  return result;
}

const debugTag = (/** @type {Record<string, string | number>} */ data = {}) => tag({ debug: '', ...data }, 'fleetprof.debug.js');

/** Shortens all waits, so that all attempts end soon. */
const noWaits = 'const { setTimeout: inTime } = globalThis; globalThis.setTimeout = (callback) => inTime(callback);';

test('says each step of a page load that is sent', async () => {
  const { lines, status, detail } = await debugLines(debugTag());
  assert.match(lines.pop() ?? '', /^sent \(\d\.\d KB, 204\)$/);
  assert.deepEqual(lines, ['profiling', 'profiling has ended']);
  assert.equal(status, 'sent');
  assert.match(detail, /^sent /);
});

test('says why a page load is not profiled', async () => {
  const old = unsignedYes(Math.floor(Date.now() / 1000) - 100 * 3600);
  for (const [headers, status, line] of /** @type {[Record<string, string>, string, RegExp][]} */ ([
    [decision('0'), 'not-sampled', /^the server did not pick this page load$/],
    [{ 'Server-Timing': '' }, 'no-decision', /^no Server-Timing entry fleetprof: .*data-policy="try"$/],
    [decision('maybe'), 'no-decision', /^the server's decision is in no known form: maybe$/],
    [decision(old), 'stale', /^out of a cache: the decision is 100 h old$/],
    [{ 'Document-Policy': '' }, 'forbidden', /^the browser refused to profile: NotAllowedError: .*disabled by Document Policy/],
  ])) {
    const result = await debugLines(debugTag(), { headers });
    assert.match(result.lines[0], line);
    assert.equal(result.lines.length, 1);
    assert.equal(result.status, status);
  }
});

test('says that the browser has no Profiler', async () => {
  const { lines, status } = await debugLines(debugTag(), { init: 'delete globalThis.Profiler' });
  assert.deepEqual(lines, ['this browser has no Profiler']);
  assert.equal(status, 'unsupported');
});

test('names attributes and options that nothing reads', async () => {
  const misspelt = '<script src="/agent/fleetprof.debug.js" data-endpiont="/v1/" data-after-laod="0" data-debug></script>';
  assert.equal((await debugLines(misspelt)).lines[0],
    'no data-endpoint among endpiont,afterLaod,debug: waiting for fleetprof.start({ endpoint: … })');
  const called = `<script src="/agent/fleetprof.debug.js"></script>
    <script>fleetprof.start({ endpoint: '/v1/ingest/pk_test', relase: 'r', debug: true, afterLoad: 0 })</script>`;
  assert.equal((await debugLines(called)).lines[0], 'unknown option relase (data-relase)');
});

test('says that the page has turned profiling off', async () => {
  const { lines, status } = await debugLines(debugTag({ profile: 'false' }));
  assert.deepEqual(lines, ['the page has turned profiling off']);
  assert.equal(status, 'disabled');
});

test('says that the share of page loads with vitals is not a number', async () => {
  for (const share of ['50%', '', 'true']) {
    const { lines } = await debugLines(tag({ debug: '', 'vitals-sample': share }, 'fleetprof.vitals.js'));
    assert.equal(lines[0], `vitalsSample (data-vitals-sample) is not a number from 0 to 1: ${share}`);
  }
  const { lines } = await debugLines(tag({ debug: '', 'vitals-sample': '0.5' }, 'fleetprof.vitals.js'));
  assert.equal(lines[0], 'profiling');
});

test('says that there is no endpoint', async () => {
  const { lines, status } = await debugLines(`<script src="/agent/fleetprof.debug.js"></script>
    <script>fleetprof.start({ debug: true })</script>`);
  assert.deepEqual(lines, ['no endpoint (data-endpoint) to send to']);
  assert.equal(status, 'no-endpoint');
});

test("says what a collector's refusal is about", async () => {
  site.replies = [{
    status: 403,
    headers: { 'Content-Type': 'application/problem+json' },
    body: JSON.stringify({ title: 'Forbidden', detail: 'the origin is not on the list of this site' }),
  }];
  const { lines, status } = await debugLines(debugTag());
  assert.equal(lines.pop(), 'not accepted after 1 of 6 attempts: 403 the origin is not on the list of this site');
  assert.equal(status, 'failed');
});

test("says once that a reply is not a collector's", async () => {
  site.replies = [{ status: 200, headers: { 'Content-Type': 'text/html' }, body: '<h1>My shop</h1>' }];
  const { lines } = await debugLines(debugTag());
  assert.deepEqual(lines.slice(2), ['not accepted after 1 of 6 attempts: 200, but a collector answers 204']);
  site.replies = [{ status: 302, headers: { Location: '/page' } }];
  assert.deepEqual((await debugLines(debugTag())).lines.slice(2), [
    `not accepted after 1 of 6 attempts: 200 from ${site.origin}/page, but a collector answers 204`,
  ]);
});

test('says that it comes back, and when', async () => {
  site.replies = [{ status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>Bad Gateway</h1>' }, 'hang up'];
  const { lines } = await debugLines(debugTag(), { init: noWaits });
  assert.match(lines[2], /^502; again in [23] s$/);
  assert.match(lines[3], /^no answer from \/v1\/ingest\/pk_test \(network, .*\): TypeError: Failed to fetch; again in [456] s$/);
  assert.match(lines[4], /^sent /);
});

test('says that it gives up', async () => {
  site.replies = Array(6).fill({ status: 504 });
  const { lines } = await debugLines(debugTag(), { init: noWaits });
  assert.equal(lines.pop(), 'not accepted after 6 of 6 attempts: 504');
});

test('writes nothing without it, or where it is false, whatever goes wrong', async () => {
  site.replies = [{ status: 200 }, { status: 403 }];
  for (const data of /** @type {Record<string, string>[]} */ ([{}, { debug: 'false' }])) {
    const { lines, status } = await debugLines(tag({ ...data, relase: 'r' }, 'fleetprof.debug.js'));
    assert.deepEqual(lines, []);
    assert.equal(status, 'failed');
  }
  assert.deepEqual((await debugLines('<script src="/agent/fleetprof.debug.js" data-endpiont="x"></script>')).lines, []);
});
