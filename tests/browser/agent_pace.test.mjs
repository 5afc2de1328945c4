// SPDX-License-Identifier: Apache-2.0
/**
 * How long the agent's slices are: long while nothing suggests that the page ends, short when something does; and what
 * it does on a device that it takes too much of.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { waitFor } from '../behaviour/stack.mjs';
import { busy, startSite, tag } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;
/** @type {import('playwright-core').BrowserContext[]} */
let open = [];
/** @type {import('node:child_process').ChildProcess[]} */
let loops = [];

before(async () => {
  browser = await launchChromium();
  site = await startSite();
});

after(async () => {
  await browser?.close();
  site?.close();
});

beforeEach(() => site.reset());

afterEach(async () => {
  await Promise.all(loops.map((loop) => {
    loop.kill('SIGKILL');
    return once(loop, 'exit');
  }));
  loops = [];
  await Promise.all(open.map((context) => context.close()));
  open = [];
});

/** Notes when profilers start, and how long the page waits for them. */
const watched = `<script>
  globalThis.starts = [];
  globalThis.profilerMs = [];
  const timed = (act) => {
    const start = performance.now();
    try { return act(); } finally { profilerMs.push([start, performance.now() - start]); }
  };
  globalThis.Profiler = class extends Profiler {
    constructor(options) { starts.push(performance.now()); timed(() => super(options)); }
    stop() { return timed(() => super.stop()); }
  };
  ${busy}
  setInterval(busy, 20, 6);
</script>`;

const longTag = (/** @type {Record<string, string>} */ data = {}) => tag(data).replace(' data-after-load="0"', '');

/** @param {string} html */
async function visit(html) {
  site.pages['/page'] = html;
  const { page, complaints } = await openTab(browser);
  open.push(page.context());
  await page.goto(`${site.origin}/page`);
  return { page, complaints };
}

/** The lengths of the slices that have ended. @param {import('playwright-core').Page} page @returns {Promise<number[]>} */
const slicesOf = (page) => page.evaluate('starts.slice(1).map((start, i) => start - starts[i])');

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** A sign brings slices of 50 ms. Long ones have 500 ms, or fewer where a busy page makes a slice too large. */
const shortMs = 250;

/** Waits until slices are long. @param {import('playwright-core').Page} page */
const untilLong = (page) => waitFor(async () => ((await slicesOf(page)).at(-1) ?? 0) > 400, { what: 'a long slice' });

test('slices get longer while nothing suggests that the page ends', async () => {
  const { page } = await visit(`${watched}${longTag()}`);
  await untilLong(page);
  const slices = await slicesOf(page);
  assert.ok(median(slices.slice(0, 5)) < shortMs, `${slices}`);
  assert.ok(slices.length < 45, `${slices.length} slices`);
});

const link = '<a id="link" href="/elsewhere" onclick="event.preventDefault()"><b>elsewhere</b></a>';
const form = '<form onsubmit="event.preventDefault()"><input id="field"></form>';

/** @type {[string, (page: import('playwright-core').Page) => Promise<unknown>][]} */
const signs = [
  ['the pointer leaves the page', async (page) => {
    await page.mouse.move(100, 100);
    await page.mouse.move(100, -10);
  }],
  ['a link is pressed', async (page) => {
    await page.hover('b');
    await page.mouse.down();
  }],
  ['a link is pressed by a key', (page) => page.press('#link', 'Enter')],
  ['a link in a shadow tree is pressed', (page) => page.click('#inside')],
  ['a form is sent', (page) => page.press('#field', 'Enter')],
  ['a script begins to leave, which something stops', (page) => page.evaluate(`
    navigation.addEventListener('navigate', (event) => event.preventDefault(), { once: true });
    location.href = '/elsewhere'`)],
];

/** The slices that follow the one that ends with the sign. @param {(page: import('playwright-core').Page) => Promise<unknown>} act */
async function slicesAfter(act) {
  const { page, complaints } = await visit(`${watched}${longTag()}${link}${form}<p id="host"></p><script>
    host.attachShadow({ mode: 'open' }).innerHTML = '<a id="inside" href="/elsewhere" onclick="event.preventDefault()">inside</a>';
  </script>`);
  await untilLong(page);
  const count = (await slicesOf(page)).length;
  await act(page);
  await waitFor(async () => (await slicesOf(page)).length >= count + 6, { what: 'slices' });
  const later = (await slicesOf(page)).slice(count + 1, count + 6);
  assert.deepEqual(complaints, []);
  await untilLong(page);
  return later;
}

for (const [name, act] of signs) {
  test(`a slice ends at once and short ones follow when ${name}`, { timeout: 240_000 }, async () => {
    // On a busy machine the agent may take too much of the main thread: then its slices stay long, or profiling ends.
    const outcomes = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const later = await slicesAfter(act).catch((error) => error);
      if (Array.isArray(later) && median(later) < shortMs) return;
      outcomes.push(later);
    }
    assert.fail(outcomes.join('; '));
  });
}

test('no slice ends because of a button, or a link inside of the page', async () => {
  const { page } = await visit(`${watched}${longTag()}<button>buy</button><div id="stay">stay</div>`);
  await untilLong(page);
  const count = (await slicesOf(page)).length;
  await page.click('button');
  await page.evaluate("history.replaceState(null, '', '#stay')");
  await waitFor(async () => (await slicesOf(page)).length >= count + 3, { what: 'slices' });
  const later = (await slicesOf(page)).slice(count);
  assert.ok(Math.min(...later) > shortMs, `${later}`);
});

test('a page load that is not sampled has no listener of the agent', async () => {
  const html = `<script>
    const heard = [];
    const { addEventListener } = EventTarget.prototype;
    EventTarget.prototype.addEventListener = function listen(type, ...given) { heard.push(type); return addEventListener.call(this, type, ...given); };
  </script>${longTag()}`;
  const { page } = await visit(html);
  assert.ok((await page.evaluate('heard')).includes('beforeunload'), 'of a sampled one it is seen');
  site.sampled = false;
  const { page: other } = await visit(html);
  const left = await other.evaluate("heard.filter((type) => ['mousedown', 'click', 'submit', 'mouseleave', 'navigate', 'beforeunload'].includes(type))");
  assert.deepEqual(left, []);
});

// ---- Busy devices ----

test('on a device that it takes too much of, the agent stops, says so once, and keeps what it has', { timeout: 120_000 }, async () => {
  const { page, complaints } = await visit(`${watched}${longTag({ debug: '' })}`);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: 100 });
  const isSaid = () => site.uploads.some(({ envelope }) => envelope.coverage === 'overload');
  await waitFor(isSaid, { what: 'overload', timeoutMs: 90_000 });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  const envelopes = site.uploads.map(({ envelope }) => envelope);
  const [said] = envelopes.filter(({ coverage }) => coverage);
  assert.deepEqual([said.truncated, said.leftOut], [true, [{ what: 'overload', count: 0 }]]);
  assert.ok(said.trace);
  assert.ok(envelopes.flatMap(({ trace }) => trace.samples).length > 50, 'what was profiled until then is sent');
  await waitFor(async () => (await page.evaluate('fleetprof.start().status')) === 'sent', { what: 'end' });
  const started = await page.evaluate('starts.length');
  await page.evaluate("performance.mark('late'); new Promise((resolve) => setTimeout(resolve, 300))");
  assert.equal(await page.evaluate('starts.length'), started, 'no profiler any more');
  await page.goto('about:blank');
  await waitFor(() => site.uploads.some(({ envelope }) => envelope.marks?.some((/** @type {any} */ { name }) => name === 'late')), { what: 'late mark' });
  assert.equal(site.uploads.filter(({ envelope }) => envelope.coverage).length, 1);
  assert.deepEqual(complaints, []);
});

test('beside busy processes, starts and ends of profilers take at most 3 % of the time, or the agent stops', { timeout: 120_000 }, async () => {
  const { page } = await visit(`${watched}${longTag()}`);
  // In sessions of their own, each gets as much of the processors as the browser.
  loops = Array.from({ length: 8 }, () => spawn('/bin/sh', ['-c', 'while :; do :; done'], { detached: true, stdio: 'ignore' }));
  const from = await page.evaluate('performance.now()');
  const judge = () => page.evaluate(([from, settleMs, ms]) => {
    const since = from + settleMs;
    const { starts, profilerMs } = /** @type {any} */ (globalThis);
    const last = starts.at(-1);
    const own = profilerMs.filter((/** @type {number[]} */ [at]) => at > since).reduce((/** @type {number} */ sum, /** @type {number[]} */ [, took]) => sum + took, 0);
    return { isOver: last - since > ms || /** @type {any} */ (globalThis).fleetprof.start().status !== 'profiling', share: own / (last - since) };
  }, [from, 10_000, 10_000]);
  await waitFor(async () => (await judge()).isOver, { what: '20 s beside busy processes', timeoutMs: 100_000 });
  const { share } = await judge();
  const isSaid = site.uploads.some(({ envelope }) => envelope.coverage === 'overload');
  assert.ok(isSaid || share <= 0.03, `${share}`);
});

test('time of observers of vitals also counts', { timeout: 120_000 }, async () => {
  // Only the agent reads this of a script of a long frame.
  await visit(`<script>${busy}
    Object.defineProperty(PerformanceScriptTiming.prototype, 'invoker', { get() { busy(60); return 'slow'; } });
    setInterval(busy, 250, 60);
  </script>${longTag().replace('fleetprof.js', 'fleetprof.vitals.js')}`);
  await waitFor(() => site.uploads.some(({ envelope }) => envelope.coverage === 'overload'), { what: 'overload', timeoutMs: 90_000 });
});

// ---- Service workers ----

test('a page that a service worker controls sends its first part early; others do not', { timeout: 60_000 }, async () => {
  site.files['/worker.js'] = () => ({ type: 'text/javascript', body: "addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));" });
  const { page } = await visit(longTag());
  await page.evaluate("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)");
  assert.equal(site.uploads.length, 0);
  await page.goto('about:blank');
  site.reset();
  site.pages['/page'] = longTag();
  await page.goto(`${site.origin}/page`);
  await waitFor(() => site.uploads.length >= 2, { what: 'two parts' });
  const [first, second] = site.uploads.map(({ envelope }) => envelope);
  assert.ok(first.duration < 2000, `the load event comes before 2 s: ${first.duration}`);
  assert.ok(second.duration >= 3000 && second.duration < 10_000, `${second.duration}`);
});
