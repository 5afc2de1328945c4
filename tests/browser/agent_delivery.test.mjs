// SPDX-License-Identifier: Apache-2.0
/**
 * The part of a page load that arrives, by how the page ends, compared with the page's own record: when profiling began,
 * when the page was hidden, and when it ended. `FLEETPROF_LONG=1` repeats each ending 20 times. A table is printed.
 */
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { waitFor } from '../behaviour/stack.mjs';
import { decision, startSite, tag } from './agent_site.mjs';
import { launchChromium, openHideableTab } from './chromium.mjs';
import { delivery, isHere, judge, witness } from './witness.mjs';

/**
 * @typedef {import('playwright-core').Page} Page
 * @typedef {import('playwright-core').Browser} Browser
 *
 * @typedef {object} Ending
 * @property {string} name
 * @property {number} [stayMs] how long the visitor stays; 1500
 * @property {boolean} [kept] in the browser with a back/forward cache
 * @property {boolean} [hangs] its load event never comes
 * @property {keyof typeof workers} [worker] the service worker that controls it
 * @property {(page: Page) => Promise<unknown>} [end] none: the tab is hidden
 */

const elsewhere = '/elsewhere';

/** @param {string} href */
const go = (href) => (/** @type {Page} */ page) => page.evaluate((to) => { location.href = to; }, href);

/** @type {Ending['end']} */
const reload = (page) => {
  site.headers[new URL(page.url()).pathname] = () => decision('0');
  return page.reload();
};

/** Scripts of service workers, by the folder that they control. */
const workers = {
  '/worker/': "addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));",
  '/routed/': `addEventListener('install', (event) => event.addRoutes({
      condition: { urlPattern: '/v1/ingest/*' }, source: 'network' }));
    addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));`,
};

/** A stay after which slices are long. */
const longMs = 9000;

/** @type {Ending[]} */
const endings = [
  { name: 'stays, profiling is stopped', end: (page) => page.evaluate('tell("stopped"), fleetprof.start().stop()') },
  { name: 'turns to another tab' },
  { name: 'leaves by a link', end: (page) => page.click('a') },
  { name: 'leaves by a link to a slow page', end: go('/slow') },
  { name: 'leaves by a link, page kept alive', kept: true, end: (page) => page.click('a') },
  { name: 'types an address', end: (page) => page.goto(new URL(elsewhere, page.url()).href) },
  { name: 'goes back', end: (page) => page.goBack() },
  { name: 'goes back, page kept alive', kept: true, end: (page) => page.goBack({ waitUntil: 'commit' }) },
  { name: 'reloads', end: reload },
  { name: 'closes the tab', end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'closes the tab, not asked before', end: (page) => page.close() },
  { name: 'closes the tab after 0.8 s', stayMs: 800, end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'closes the tab during load', hangs: true, end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'leaves by a link during load', hangs: true, end: (page) => page.click('a') },
  { name: 'closes the tab in a long task', end: async (page) => {
    await page.evaluate('setTimeout(work, 0, 150)');
    await page.close({ runBeforeUnload: true });
  } },
  { name: 'leaves by a link after 9 s', stayMs: longMs, end: (page) => page.click('a') },
  { name: 'leaves by a script after 9 s', stayMs: longMs, end: go(elsewhere) },
  { name: 'types an address after 9 s', stayMs: longMs, end: (page) => page.goto(new URL(elsewhere, page.url()).href) },
  { name: 'goes back after 9 s', stayMs: longMs, end: (page) => page.goBack() },
  { name: 'reloads after 9 s', stayMs: longMs, end: reload },
  { name: 'closes the tab after 9 s', stayMs: longMs, end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'closes the tab after 9 s, not asked before', stayMs: longMs, end: (page) => page.close() },
  { name: 'service worker: leaves by a link', worker: '/worker/', end: (page) => page.click('a') },
  { name: 'service worker: reloads', worker: '/worker/', end: reload },
  { name: 'service worker with a route: leaves by a link', worker: '/routed/', end: (page) => page.click('a') },
  { name: 'service worker with a route: reloads', worker: '/routed/', end: reload },
];

const repeats = process.env.FLEETPROF_LONG === '1' ? 20 : 1;
const atOnce = 2;
/** How often a visit is made whose page the browser ends without a word to it, as it does on a busy machine: it tells nothing. */
const attempts = 3;
/** @type {Browser} */
let browser;
/** @type {Browser} */
let keeping;
/** @type {import('./agent_site.mjs').Site} */
let site;

before(async () => {
  [site, browser, keeping] = await Promise.all([
    startSite(), launchChromium([], { whole: true }), launchChromium([], { whole: true, ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  ]);
  site.delays['/slow'] = 1200;
  site.pages['/slow'] = site.pages[elsewhere] = '<title>elsewhere</title>';
  for (const [folder, script] of Object.entries(workers)) {
    site.pages[folder] = '<title>registers</title>';
    site.files[`${folder}worker.js`] = () => ({ type: 'text/javascript', body: script });
  }
});

after(async () => {
  await Promise.all([browser?.close(), keeping?.close()]);
  site?.close();
});

/** Returns the reports of a page. @param {string} path @returns {import('./witness.mjs').Report[]} */
const told = (path) => site.reports.map((report) => JSON.parse(report)).filter(({ url }) => new URL(url).pathname === path);

/** @param {string} path */
const partsOf = (path) => site.uploads.map(({ envelope }) => envelope).filter(({ page }) => new URL(page.url).pathname === path);

/**
 * Visits a page until it ends.
 * @param {Ending} ending @param {string} path
 * @returns {Promise<() => Promise<unknown>>} closes what is left of it
 */
async function visit({ end, kept, hangs, worker, stayMs = 1500 }, path) {
  site.pages[path] = `${tag({ 'after-load': '' }).replace(' data-after-load=""', '')}<script>${witness('/reports')}</script>
    <a href="${elsewhere}">elsewhere</a>${hangs ? '<img src="/never">' : ''}`;
  // The page alone decides whether it can be kept.
  site.headers[path] = () => ({ 'Cache-Control': kept ? 'no-cache' : 'no-store' });
  if (!end) {
    const tab = await openHideableTab(browser, site.origin + path);
    await waitFor(() => told(path).length > 0, { what: 'load' });
    await delay(stayMs);
    await tab.switchAway();
    return tab.close;
  }
  const context = await (kept ? keeping : browser).newContext();
  const page = await context.newPage();
  if (worker) await register(page, worker);
  await page.goto(site.origin + elsewhere);
  await page.goto(site.origin + path, { waitUntil: hangs ? 'commit' : 'load' });
  await page.evaluate((ms) => new Promise((resolve) => { setTimeout(resolve, ms); }), stayMs);
  await end(page);
  return () => context.close();
}

/** Installs a service worker, and waits until it controls what is loaded next. @param {Page} page @param {string} folder */
async function register(page, folder) {
  await page.goto(site.origin + folder);
  await page.evaluate(async (script) => {
    await navigator.serviceWorker.register(script);
    await navigator.serviceWorker.ready;
  }, `${folder}worker.js`);
}

/** @param {string} path */
const deliveryOf = (path) => delivery(told(path), partsOf(path));

test('of what a page recorded until 100 ms before its end, 99 % arrive, whatever ends it', { timeout: 1_200_000 }, async () => {
  const visits = Array.from({ length: repeats }, (_, i) => endings.map((ending, j) => ({ ending, path: `${ending.worker ?? '/'}visit/${j}/${i}` }))).flat();
  /** @type {(() => Promise<unknown>)[]} */
  const open = [];
  let waiting = [...visits];
  for (let attempt = 1; attempt <= attempts && waiting.length > 0; attempt += 1) {
    await Promise.all(Array.from({ length: atOnce }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        next.path += `/${attempt}`;
        open.push(await visit(next.ending, next.path));
      }
    }));
    // A kept or hidden page is still there to be told apart; the others have told all by now.
    await waitFor(() => visits.every(({ path }) => isHere(deliveryOf(path))), { what: 'parts', timeoutMs: 5000 }).catch(() => {});
    waiting = visits.filter(({ path }) => !deliveryOf(path).wasTold);
  }
  await Promise.all(open.map((close) => close().catch(() => {})));

  judge(endings.map(({ name }, j) => [
    name, visits.filter(({ ending }) => ending === endings[j]).map(({ path }) => deliveryOf(path)),
  ]));
});
