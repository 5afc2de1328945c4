// SPDX-License-Identifier: Apache-2.0
/**
 * Kinds of navigation in real Chromium: the vitals build says which each vital and each interaction belongs to, and those of
 * a soft navigation have the route that it led to.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';

import { repository, waitFor } from '../behaviour/stack.mjs';
import { busy, startSite, tag } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;

before(async () => {
  browser = await launchChromium([], { whole: true, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  site = await startSite();
});

after(async () => {
  await browser?.close();
  site?.close();
});

beforeEach(() => site.reset());

/** web-vitals itself, which tells the page its values, beside the agent. */
const witness = () => fs.readFileSync(path.join(repository, 'node_modules/web-vitals/dist/web-vitals.attribution.iife.js'), 'utf8');

/**
 * An application of two views: a click works, waits as for a server, goes on by pushState, and shows a large text; a later
 * click only works; and the view shifts.
 */
const application = `<style>button { display: block; width: 200px; height: 60px; } h1 { font-size: 60px; }</style>
  <script src="/witness.js"></script>
  <script>${busy}
    globalThis.seen = {};
    const note = (metric) => { seen[metric.id] = { name: metric.name, value: metric.value, type: metric.navigationType, url: metric.navigationURL }; };
    for (const name of ['onLCP', 'onINP', 'onCLS']) webVitals[name](note, { reportSoftNavs: true });
    globalThis.painted = 0;
    new PerformanceObserver((list) => { painted += list.getEntries().filter(({ name }) => name === 'click').length; }).observe({ type: 'event', durationThreshold: 40 });
    globalThis.soft = 0;
    new PerformanceObserver((list) => { soft += list.getEntries().length; }).observe({ type: 'soft-navigation' });
    function show(state) { // as the browser does, which keeps the tabs of a debugger visible
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
      Object.defineProperty(document, 'hidden', { value: state === 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }
    function go(to) {
      busy(60);
      setTimeout(() => {
        busy(150);
        history.pushState(null, '', to);
        globalThis.fleetprof?.start().setRoute(to.replace(/[0-9]+/, ':id').split('?')[0]);
        document.querySelector('main').innerHTML = '<h1>' + ('The view of ' + to + ' ').repeat(20) + '</h1>';
      }, 100);
    }
    function shift() {
      return new Promise((resolve) => {
        new PerformanceObserver(resolve).observe({ type: 'layout-shift' });
        setTimeout(() => { document.querySelector('#gap').style.height = 150 + 'px'; }, 600); // not by the click
      });
    }
  </script>
  <button id="go" onclick="go('/list/7')">Go</button><button id="work" onclick="busy(120)">Work</button><button id="query" onclick="go(location.pathname + '?page=2')">Next page</button>
  <div id="gap"></div><main>A text of the first view</main>`;

/** @param {string} [more] */
async function openApplication(more = '') {
  const body = witness();
  site.files['/witness.js'] = () => ({ type: 'text/javascript', body });
  site.pages['/page'] = `${tag({ route: '/home' }, 'fleetprof.vitals.js').replace(' data-after-load="0"', '')}${application}${more}`;
  const { page, complaints } = await openTab(browser);
  await page.goto(`${site.origin}/page`);
  await page.evaluate(() => new Promise((resolve) => {
    new PerformanceObserver(resolve).observe({ type: 'largest-contentful-paint', buffered: true });
  }));
  /** Clicks as a visitor does, and waits for the paint. */
  const click = async (/** @type {string} */ selector) => {
    const before = await page.evaluate('painted');
    const { x, y } = await page.evaluate((name) => /** @type {Element} */ (document.querySelector(name)).getBoundingClientRect(), selector);
    await page.mouse.click(x + 20, y + 20);
    await page.waitForFunction(`painted > ${before}`);
  };
  return {
    page, complaints, click,
    navigate: async (/** @type {string} */ selector) => {
      const before = await page.evaluate('soft');
      await click(selector);
      await page.waitForFunction(`soft > ${before}`);
    },
    /** Once web-vitals has read its entries, which it does when idle: it reports what it has read when the page is hidden. */
    show: (/** @type {'visible' | 'hidden'} */ state) => page.evaluate(`new Promise((resolve) => { requestIdleCallback(resolve, { timeout: 2000 }); })
      .then(() => show('${state}'))`),
  };
}

/** Members of all envelopes, with the route and the path of each. @param {string} member @returns {any[]} */
const all = (member) => site.uploads.flatMap(({ envelope }) => [envelope, ...envelope.views ?? []])
  .flatMap(({ page, [member]: list = [] }) => list.map((/** @type {object} */ each) => ({
    ...each, route: page.route, path: new URL(page.url).pathname })));

test('vitals of a soft navigation have the route that it led to, and the values of web-vitals', async () => {
  const { page, complaints, click, navigate, show } = await openApplication();
  await click('#work');
  await navigate('#go');
  await click('#work');
  await page.evaluate('shift()');
  await show('hidden');
  const seen = /** @type {any[]} */ (Object.values(await page.evaluate('seen')));
  await page.goto('about:blank');
  await waitFor(() => all('vitals').filter(({ navigationType }) => navigationType === 'soft-navigation').length >= 3, { what: 'vitals of the soft navigation' });
  assert.deepEqual(complaints, []);
  for (const [type, route, at] of [['navigate', '/home', '/page'], ['soft-navigation', '/list/:id', '/list/7']]) {
    for (const name of ['LCP', 'INP', 'CLS']) {
      const own = all('vitals').filter((vital) => vital.name === name && vital.navigationType === type);
      const expected = seen.filter((vital) => vital.name === name && vital.type === type);
      assert.equal(expected.length, 1, `${name} ${type} of web-vitals: ${JSON.stringify(seen)}`);
      assert.deepEqual([...new Set(own.map(({ id }) => id))].length, 1, `${name} ${type}: ${JSON.stringify(all('vitals'))}`);
      const { value, ...last } = own[own.length - 1];
      assert.ok(Math.abs(value - expected[0].value) <= expected[0].value / 20, `${name} ${type}: ${value}, not ${expected[0].value}`);
      assert.deepEqual([last.route, last.path], [route, at], `${name} ${type}`);
    }
  }
  const [lcp] = all('vitals').filter(({ name, navigationType }) => name === 'LCP' && navigationType === 'soft-navigation');
  assert.ok(lcp.value >= 310, `a click, 60 + 100 + 150 ms, and the paint: ${lcp.value}`);
  assert.match(lcp.target, /h1$/);
  assert.equal(lcp.duration, lcp.value);
  const [cls] = all('vitals').filter(({ name, navigationType }) => name === 'CLS' && navigationType === 'soft-navigation');
  assert.ok(cls.value > 0);
  assert.equal(all('vitals').filter(({ name, navigationType }) => navigationType === 'soft-navigation' && !['LCP', 'INP', 'CLS'].includes(name)).length, 0);
  // The click that navigates is one of the view in which it was made.
  assert.deepEqual(all('interactions').map(({ target, route, navigationType }) => [target, route, navigationType]).sort(), [
    ['button#go', '/home', 'navigate'], ['button#work', '/home', 'navigate'], ['button#work', '/list/:id', 'soft-navigation']]);
});

test('a soft navigation that changes the query only is one, in the same view', async () => {
  const { page, click, navigate, show } = await openApplication();
  await navigate('#query');
  await click('#work');
  await navigate('#go');
  await show('hidden');
  await page.goto('about:blank');
  const lcps = () => all('vitals').filter(({ name, navigationType }) => name === 'LCP' && navigationType === 'soft-navigation');
  await waitFor(() => lcps().length === 2, { what: 'two soft navigations' });
  assert.deepEqual(lcps().map(({ path: at }) => at).sort(), ['/list/7', '/page']);
  assert.deepEqual(all('interactions').map(({ target, path: at, navigationType }) => [target, at, navigationType]).sort(), [
    ['button#go', '/page', 'soft-navigation'], ['button#query', '/page', 'navigate'], ['button#work', '/page', 'soft-navigation']]);
  const inps = all('vitals').filter(({ name }) => name === 'INP');
  assert.equal(new Set(inps.map(({ id }) => id)).size, inps.length, JSON.stringify(inps));
  assert.ok(inps.some(({ navigationType }) => navigationType === 'navigate'), 'the INP before a soft navigation is not lost');
});

test('the vitals of 26 soft navigations all arrive, and the limit of a page holds for more', { timeout: 180_000 }, async () => {
  const { page, navigate, show } = await openApplication(`<button id="next" style="position: fixed; top: 0; right: 0" onclick="next()">Next</button><script>
    globalThis.number = 0;
    function next() { busy(50); history.pushState(null, '', '/list/' + ++number); document.querySelector('main').innerHTML = '<h1>' + ('View ' + number + ' ').repeat(40) + '</h1>'; }
  </script>`);
  for (let i = 0; i < 38; i++) await navigate('#next');
  await show('hidden');
  const seen = /** @type {Record<string, any>} */ (await page.evaluate('seen'));
  await page.goto('about:blank');
  const ids = () => new Set(all('vitals').map(({ id }) => id)).size;
  await waitFor(() => ids() === 100, { what: 'the first 100 vitals', timeoutMs: 20_000 }).catch(() => {});
  const leftOut = site.uploads.flatMap(({ envelope }) => envelope.leftOut ?? []).map(({ what }) => what);
  assert.deepEqual([ids(), site.uploads.length <= 32, leftOut.includes('vital'), leftOut.includes('upload')], [100, true, true, false]);
  const sent = new Set(all('vitals').map(({ name, path: at }) => `${name} ${at}`));
  const early = Object.values(seen).map(({ name, url }) => `${name} ${new URL(url).pathname}`).filter((name) => Number(name.split('/')[2] ?? 0) < 27);
  assert.ok(early.length > 75, `${early}`);
  assert.deepEqual(early.filter((name) => !sent.has(name)), []);
});

test('a page that is reloaded, one that one goes back to, and one that comes back alive', async () => {
  site.pages['/other'] = 'other';
  const { page, click } = await openApplication('<script>addEventListener("pageshow", ({ persisted }) => { globalThis.persisted = persisted; });</script>');
  const kinds = (/** @type {string} */ member, /** @type {string} */ type) => all(member).filter(({ navigationType }) => navigationType === type);
  await page.reload();
  await click('#work');
  await page.goto(`${site.origin}/other`);
  await waitFor(() => kinds('interactions', 'reload').length === 1 && kinds('vitals', 'reload').length >= 4, { what: 'vitals of the reload' });
  await page.goBack({ waitUntil: 'commit' });
  await page.waitForFunction('persisted');
  await click('#work');
  await page.goto(`${site.origin}/other`);
  await waitFor(() => kinds('interactions', 'back-forward-cache').length === 1 && kinds('vitals', 'back-forward-cache').some(({ name }) => name === 'INP'), { what: 'vitals of the page that came back' });
  assert.ok(all('interactions').every(({ target, route }) => target === 'button#work' && route === '/home'));
  await page.context().close();

  const cold = await launchChromium();
  try {
    const next = await (await cold.newContext()).newPage();
    await next.goto(`${site.origin}/page`);
    await next.goto(`${site.origin}/other`);
    await next.goBack();
    await next.waitForFunction('globalThis.webVitals');
    await next.goto('about:blank');
    await waitFor(() => kinds('vitals', 'back-forward').some(({ name }) => name === 'TTFB'), { what: 'vitals of the page that one went back to' });
  } finally {
    await cold.close();
  }
});
