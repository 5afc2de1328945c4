/**
 * What arrives of a page load, by how the page ends, compared with what the page knows of itself: when profiling began,
 * when the page was hidden, and when it ended. `FLEETPROF_LONG=1` repeats each ending 20 times. A table is printed.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { waitFor } from '../behaviour/stack.mjs';
import { decision, startSite, tag } from './agent_site.mjs';
import { launchChromium, openHideableTab } from './chromium.mjs';

/**
 * @typedef {import('playwright-core').Page} Page
 * @typedef {import('playwright-core').Browser} Browser
 *
 * @typedef {object} Ending
 * @property {string} name
 * @property {number} [stayMs] how long the visitor stays; 1500
 * @property {boolean} [kept] in the browser with a back/forward cache
 * @property {boolean} [hangs] its load event never comes
 * @property {(page: Page) => Promise<unknown>} [end] none: the tab is hidden
 */

const elsewhere = '/elsewhere';

/** @param {string} href */
const go = (href) => (/** @type {Page} */ page) => page.evaluate((to) => { location.href = to; }, href);

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
  { name: 'reloads', end: (page) => {
    site.headers[new URL(page.url()).pathname] = () => decision('0');
    return page.reload();
  } },
  { name: 'closes the tab', end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'closes the tab, not asked before', end: (page) => page.close() },
  { name: 'closes the tab after 0.8 s', stayMs: 800, end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'closes the tab during load', hangs: true, end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'leaves by a link during load', hangs: true, end: (page) => page.click('a') },
  { name: 'closes the tab in a long task', end: async (page) => {
    await page.evaluate('setTimeout(work, 0, 150)');
    await page.close({ runBeforeUnload: true });
  } },
];

const repeats = process.env.FLEETPROF_LONG === '1' ? 20 : 1;
const atOnce = 2;
/**
 * What a profiler holds at the very end nobody can ask for. Where the page's own timers come late, for want of a
 * processor, a slice ends late and is handed over late.
 */
const graceMs = ({ late = 0 }) => 100 + 2 * late;
/** With timers so late, losses are not judged. */
const starvedMs = 500;

/** Tells the server at each moment at which the page could end what it knows. */
const script = `
  const truth = { path: location.pathname + location.search, began: performance.now(), status: fleetprof.start().status };
  const turns = [];
  let due = performance.now();
  const tell = (what) => {
    const at = performance.now();
    const late = Math.max(0, at - due, ...turns.filter(([time]) => time > at - 1000).map(([, ms]) => ms));
    navigator.sendBeacon('/reports', JSON.stringify({ ...truth, what, at, late }));
  };
  addEventListener('visibilitychange', () => tell(document.visibilityState));
  addEventListener('load', () => tell('load'));
  function work(ms) { const end = performance.now() + ms; while (performance.now() < end) workOn(end); }
  function workOn(end) { let sum = 0; while (performance.now() < end && sum < 1e4) sum += Math.sqrt(sum + 1); return sum; }
  function turn() {
    const now = performance.now();
    turns.push([now, Math.max(0, now - due)]);
    work(6);
    due = performance.now() + 12;
    setTimeout(turn, 12);
  }
  turn();`;

/** @type {Browser} */
let browser;
/** @type {Browser} */
let keeping;
/** @type {import('./agent_site.mjs').Site} */
let site;

before(async () => {
  [site, browser, keeping] = await Promise.all([
    startSite(), launchChromium(), launchChromium([], { ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
  ]);
  site.delays['/slow'] = 1200;
  site.pages['/slow'] = site.pages[elsewhere] = '<title>elsewhere</title>';
});

after(async () => {
  await Promise.all([browser?.close(), keeping?.close()]);
  site?.close();
});

/** @param {string} path @returns {{ path: string, began: number, status: string, what: string, at: number, late: number }[]} */
const told = (path) => site.reports.map((report) => JSON.parse(report)).filter((report) => report.path === path);

/** @param {string} path */
const partsOf = (path) => site.uploads.map(({ envelope }) => envelope).filter(({ page }) => new URL(page.url).pathname === path);

/**
 * Visits a page until it ends.
 * @param {Ending} ending @param {string} path
 * @returns {Promise<() => Promise<unknown>>} closes what is left of it
 */
async function visit({ end, kept, hangs, stayMs = 1500 }, path) {
  site.pages[path] = `${tag({ 'after-load': '' }).replace(' data-after-load=""', '')}<script>${script}</script>
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
  await page.goto(site.origin + elsewhere);
  await page.goto(site.origin + path, { waitUntil: hangs ? 'commit' : 'load' });
  await page.evaluate((ms) => new Promise((resolve) => { setTimeout(resolve, ms); }), stayMs);
  await end(page);
  return () => context.close();
}

/**
 * Compares the parts of a load with what its page told.
 * @param {string} path
 */
function compare(path) {
  const reports = told(path);
  const parts = partsOf(path).sort((a, b) => a.start - b.start);
  const ids = parts.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'an id twice');
  assert.ok(new Set(parts.map(({ load }) => load)).size <= 1, 'two loads');
  const samples = parts.flatMap(({ trace }) => trace?.samples ?? []);
  for (const { trace, start, duration } of parts) {
    assert.ok(trace.samples.every((/** @type {any} */ { timestamp }) => timestamp >= start && timestamp < start + duration),
      'a sample outside its part');
  }
  const ended = reports.find(({ what }) => what !== 'load');
  const end = ended?.at ?? Math.max(0, ...parts.map(({ start, duration }) => start + duration));
  const began = reports[0]?.began ?? 0;
  let covered = 0;
  let last = began;
  for (const { start, duration } of parts) {
    assert.ok(start >= last || last === began, 'parts overlap');
    const [from, to] = [Math.max(last, start), Math.min(end, start + duration)];
    if (to > from) covered += to - from;
    last = Math.max(last, to);
  }
  const wanted = Math.max(0, end - graceMs(ended ?? {}) - began);
  return { wanted, covered: Math.min(wanted, covered), wasTold: ended !== undefined, parts: parts.length, samples: samples.length,
    late: ended?.late ?? 0 };
}

test('of what a page recorded until 100 ms before its end, 99 % arrive, whatever ends it', { timeout: 1_200_000 }, async () => {
  const visits = Array.from({ length: repeats }, (_, i) => endings.map((ending, j) => ({ ending, path: `/visit/${j}/${i}` }))).flat();
  const waiting = [...visits];
  /** @type {(() => Promise<unknown>)[]} */
  const open = [];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) open.push(await visit(next.ending, next.path));
  }));
  // A kept or hidden page is still there to be told apart; the others have told all by now.
  const isHere = (/** @type {string} */ path) => { const { wanted, covered } = compare(path); return covered >= wanted * 0.99; };
  await waitFor(() => visits.every(({ path }) => isHere(path)), { what: 'parts', timeoutMs: 5000 }).catch(() => {});
  await Promise.all(open.map((close) => close().catch(() => {})));

  console.log('| the visitor … | page loads | arrived | starved | recorded ms | arrived ms | share | samples | uploads |\n'
    + '|---|---|---|---|---|---|---|---|---|');
  /** @type {string[]} */
  const lost = [];
  const all = { loads: 0, arrived: 0, wanted: 0, covered: 0 };
  for (const [j, { name }] of endings.entries()) {
    const rows = visits.filter(({ path }) => path.startsWith(`/visit/${j}/`)).map(({ path }) => compare(path));
    const judged = rows.filter(({ late }) => late < starvedMs);
    const sum = (/** @type {(row: ReturnType<typeof compare>) => number} */ of) => judged.reduce((total, row) => total + of(row), 0);
    const [wanted, covered] = [sum((row) => row.wanted), sum((row) => row.covered)];
    const arrived = rows.filter(({ parts, wasTold }) => parts > 0 || !wasTold).length; // else the browser ended it unasked
    const share = wanted > 0 ? covered / wanted : 1;
    console.log(`| ${[name, rows.length, arrived, rows.length - judged.length, wanted.toFixed(0), covered.toFixed(0),
      `${(share * 100).toFixed(1)} %`, sum(({ samples }) => samples), sum(({ parts }) => parts)].join(' | ')} |`);
    if (share < 0.95) lost.push(`${name}: ${(share * 100).toFixed(1)} %`);
    for (const [key, value] of Object.entries({ loads: rows.length, arrived, wanted, covered })) all[/** @type {keyof typeof all} */ (key)] += value;
  }
  console.log(`| all | ${all.loads} | ${all.arrived} | | ${all.wanted.toFixed(0)} | ${all.covered.toFixed(0)} | ${
    ((all.covered / all.wanted) * 100).toFixed(2)} % | | |`);
  assert.deepEqual(lost, []);
  assert.ok(!(all.covered < all.wanted * 0.99), `${all.covered} ms of ${all.wanted} ms`);
  assert.ok(all.arrived >= all.loads * 0.99, `${all.arrived} of ${all.loads} page loads`);
});
