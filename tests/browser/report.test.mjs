// SPDX-License-Identifier: Apache-2.0
/**
 * The web report in real Chromium, on what a real collector, PostgreSQL and `fleetprof serve` give: numbers on screen are
 * SQL's, the keyboard reaches everything, addresses restore what was seen, hostile names do nothing, trouble is said in words.
 * FLEETPROF_SCREENSHOTS names a folder for the manual's pictures, FLEETPROF_NARROW one for those of a narrow screen.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { binDir, freePort, run, startPostgres, startProcess, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { stepBack } from '../behaviour/step.mjs';
import { launchChromium } from './chromium.mjs';
import { hostileNames, startFleet } from './report_fleet.mjs';

/** @typedef {import('playwright-core').Page} Page */

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const period = "since => now() - interval '2d'";

/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {string} */
let origin;
/** @type {import('../behaviour/stack.mjs').Server} */
let server;
/** @type {Page} */
let page;
/** Everything that the page complains about, violations of its policy included. @type {string[]} */
let complaints;

/** @param {string} conninfo @param {string[]} [options] */
async function serve(conninfo, options = []) {
  const port = await freePort();
  const process = startProcess('fleetprof serve', [path.join(binDir, 'fleetprof'), 'serve', '--listen', `127.0.0.1:${port}`, '-d', conninfo, ...options]);
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${url}/`)).ok, { what: 'fleetprof serve' });
  return { process, url };
}

before(async () => {
  stack = await startFleet({ sessions: true });
  ({ process: server, url: origin } = await serve(stack.postgres.conninfo('fleetprof_reader')));
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await stack?.stop();
});

/** @param {import('playwright-core').BrowserContextOptions} [options] */
async function newPage(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const made = await context.newPage();
  /** @type {string[]} */
  const heard = [];
  made.on('pageerror', (error) => heard.push(String(error)));
  made.on('console', (message) => { if (['error', 'warning'].includes(message.type())) heard.push(message.text()); });
  made.on('dialog', (dialog) => { heard.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  return { page: made, complaints: heard };
}

beforeEach(async () => {
  await page?.context().close();
  ({ page, complaints } = await newPage());
});

/** Waits until the view is drawn that the address names. @param {Page} [of] */
const ready = (of = page) => of.waitForSelector('main[data-ready]', { timeout: 60_000 });

/**
 * Waits until the address begins so and its view is drawn. Playwright's waitForFunction would need eval, which the page's
 * policy refuses.
 * @param {string} begin path and query
 */
const arrived = (begin, of = page) => of.waitForSelector(`main[data-ready^="${begin}"]`, { timeout: 60_000 });

/** @param {string} address */
async function open(address) {
  await page.goto(origin + address);
  await ready();
}

/** Presses keys one after the other, and waits until the view is drawn. @param {...string} keys */
async function press(...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await ready();
}

/** The browser closes a dialog some time after the key; until then, keys are the dialog's. */
async function closeDialog() {
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
}

/**
 * The rows of the first table of the view by column: names and numbers. What is drawn later has no place here.
 * @returns {Promise<Record<string, any>[]>}
 */
const screenRows = () => page.evaluate(() => {
  const table = /** @type {HTMLTableElement} */ ([...document.querySelectorAll('main table')].pop());
  const names = [...table.querySelectorAll('thead button')].map((button) => button.id.replace('sort-', ''));
  return [...table.querySelectorAll('tbody tr')].map((row) => Object.fromEntries(names.map((name, i) => {
    const { value } = /** @type {HTMLElement} */ (row.children[i]).dataset;
    return [name, value === undefined ? row.children[i].textContent : Number(value)];
  })));
});

const text = (/** @type {string} */ selector) => page.locator(selector).innerText();

/** @param {string} select what follows it */
const sql = (select) => stack.sql(`select ${select}`, 'fleetprof_reader');

/** @param {Record<string, any>[]} rows @param {string[]} names */
const picked = (rows, names) => rows.map((row) => names.map((name) => row[name]));

// ---- numbers ----

test("no list has functions of fleetprof's own agent; a note says what they took", async () => {
  for (const [view, said] of /** @type {[string, RegExp][]} */ ([
    ['timing/work?since=3d', /own agent took [\d.]+ ms per page load inside it; its functions are not listed\./],
    ['vital/INP?since=3d', /own agent took [\d.]+ ms per page load where it was poor, and 0 ms where it was good;/],
    ['compare?before=1&after=2', /own agent took ([\d.]+) ms per page load before, and \1 ms after;/],
  ])) {
    await open(`/lab/${view}`);
    await page.locator('main table').last().locator('tbody tr').first().waitFor();
    const listed = await page.locator('main table').last().innerText();
    assert.match(listed, /slow/, view);
    assert.doesNotMatch(listed, /encode/, view);
    assert.match(await text('main'), said, view);
  }
});

test('timings say what page loads left out, and nothing where that is nothing', async () => {
  await open('/lab/timings?since=2d');
  assert.match(await text('main'), /\b2 of 2 page loads \(100 %\) left something out: 2,400 measures \(in 2\), the end of the profile \(in 2\)\./);
  await open('/shop/timings?since=2d');
  assert.doesNotMatch(await text('main'), /left something out/);
});

/** View, SQL of its last table, the columns to compare. @type {[string, string, string[]][]} */
const tables = [
  ['/', '* from fleetprof.sites() order by loads desc', ['loads', 'uploads', 'profiled_ms']],
  ['/shop/functions?since=2d', `* from fleetprof.hotspots('shop', ${period}, top => 500) order by self_ms_per_load desc`,
    ['self_ms_per_load', 'total_ms_per_load', 'busy_share', 'load_share', 'samples', 'uploads']],
  ['/shop/functions?since=2d&route=%2Fcart&sort=-samples', `* from fleetprof.hotspots('shop', ${period}, route => '/cart', top => 500) order by samples desc`, ['samples']],
  ['/shop/compare?before=2.2.9&after=2.3.0', "* from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 500) where not is_agent",
    ['before_self_ms', 'after_self_ms', 'own_change', 'before_uploads', 'after_uploads', 'samples']],
  ['/shop/compare?before=2.2.9&after=2.3.0&by=package', "* from fleetprof.compare_costs('package', 'shop', '2.2.9', '2.3.0', top => 500)", ['before_self_ms', 'after_self_ms', 'own_change', 'before_uploads', 'after_uploads']],
  ['/shop/compare?before=2.2.9&after=2.3.0&by=device', "* from fleetprof.compare_costs('device', 'shop', '2.2.9', '2.3.0', top => 500)", ['before_self_ms', 'after_self_ms', 'own_change', 'before_uploads', 'after_uploads']],
  ['/shop/compare?before=2.2.9&after=2.3.0&by=timings', "* from fleetprof.compare_timings('shop', '2.2.9', '2.3.0')", ['percentile', 'before_ms', 'after_ms', 'change', 'before_count', 'after_count']],
  ['/shop/compare?before=2.2.9&after=2.3.0&by=vitals', "* from fleetprof.compare_vitals('shop', '2.2.9', '2.3.0')", ['percentile', 'before_value', 'after_value', 'change', 'before_count', 'after_count']],
  ['/shop/compare?before=2.2.9&after=2.3.0&by=parts', "part, ms::float8 as ms, share::float8 as share from fleetprof.change_parts('shop', '2.2.9', '2.3.0')", ['ms', 'share']],
  ['/shop/timings?since=2d', `* from fleetprof.timings('shop', ${period})`, ['count', 'p50_ms', 'p75_ms', 'p95_ms', 'p99_ms', 'min_ms', 'max_ms', 'mean_ms', 'left_out']],
  ['/lab/timings?since=2d', `* from fleetprof.timings('lab', ${period})`, ['count', 'left_out']],
  ['/shop/timing/respond?since=2d', `* from fleetprof.measure_hotspots('respond', 'shop', ${period}, top => 200) where not is_agent order by self_ms_per_load desc`, ['self_ms_per_load', 'total_ms_per_load', 'samples']],
  ['/shop/vitals?since=2d', `* from fleetprof.vitals('shop', ${period})`, ['count', 'p50', 'p75', 'p95', 'good_share', 'poor_share']],
  ['/lab/vitals?since=2d', `* from fleetprof.ttfb_parts('lab', ${period})`, ['count', 'p75_ms', 'mean_ms', 'server_ms', 'network_ms', 'server_share']],
  ['/shop/vital/INP?since=2d', `* from fleetprof.vital_hotspots('INP', 'shop', ${period}, top => 200) where not is_agent order by self_ms_per_load desc`,
    ['self_ms_per_load', 'good_self_ms_per_load', 'samples', 'uploads', 'good_uploads']],
  ['/shop/interactions?since=2d', `* from fleetprof.interactions('shop', ${period}) order by total_ms desc`, ['count', 'p75_ms', 'p98_ms', 'total_ms', 'processing_share']],
  ['/shop/interactions?since=2d&by=route', `* from fleetprof.interactions_by('route', 'shop', ${period}) order by total_ms desc`, ['count', 'p75_ms', 'p98_ms', 'total_ms', 'processing_share']],
  ['/shop/long-frames?since=2d', `* from fleetprof.long_frames('shop', ${period}) order by blocking_ms desc`, ['count', 'total_ms', 'blocking_ms', 'forced_reflow_ms']],
  ['/shop/where?since=2d&by=device', `* from fleetprof.cost_by('device', 'shop', ${period}) order by self_ms desc`, ['self_ms', 'share', 'samples', 'uploads']],
  ['/shop/where?since=2d', `name, cost.self_ms, samples, uploads, requests, p75_ms, bytes, opaque_share from fleetprof.cost_by('host', 'shop', ${period}) as cost
    left join fleetprof.third_parties('shop', ${period}) as party on host = name order by cost.self_ms desc`, ['self_ms', 'samples', 'uploads', 'requests', 'p75_ms', 'bytes', 'opaque_share']],
];

/** Returns the kept session with most events, or of a release. @param {string} condition */
const keptSession = async (condition) => (await sql(`session_id::text as id from fleetprof.sessions where site = 'kept' and ${condition} order by events desc, content_bytes`)).map(({ id }) => id);

for (const [address, query, names] of tables) {
  test(`the numbers of ${address} are SQL's`, async () => {
    await open(address);
    const known = (/** @type {any[]} */ cells) => cells.map((cell) => (typeof cell === 'string' || cell === undefined ? null : cell));
    const expected = picked(await sql(query), names);
    assert.ok(expected.length > 0);
    const shown = picked(await screenRows(), names).map(known);
    // Equal rows may change places.
    assert.deepEqual([...shown].sort(), [...expected].sort());
    assert.deepEqual(shown.map(([first]) => first), expected.map(([first]) => first), 'in the same order');
    assert.deepEqual(complaints, []);
  });
}

test('coverage says how many page loads were profiled', async () => {
  await open('/shop/coverage?since=2d');
  const [all] = await sql(`* from fleetprof.coverage('shop', ${period})`);
  assert.deepEqual((await screenRows()).slice(0, 2).map(({ loads }) => loads), [all.profiled, all.no_policy ?? '–']);
});

test('coverage lists hangs and crashes where browsers report some', async () => {
  await open('/bundled/coverage?since=2d');
  assert.equal(await page.locator('[data-hangs]').count(), 0);
  const crash = { type: 'crash', age: 1, url: 'https://bundled.example/', user_agent: '', body: {} };
  const stackText = '\n    at <b>spin (https://bundled.example/app.js:12:3)\n    at main (https://bundled.example/app.js:1:1)';
  const reply = await fetch(`${stack.collector.url}/v1/reports/pk_bundled`, { method: 'POST', headers: { 'Content-Type': 'application/reports+json' },
    body: JSON.stringify([{ ...crash, body: { reason: 'unresponsive', stack: stackText } }, crash, crash]) });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await sql("count(*) as count from fleetprof.hangs('bundled')"))[0].count > 0, { what: 'the reports in SQL' });
  await open('/bundled/coverage?since=2d');
  const [{ loads }] = await sql("loads::int from fleetprof.hangs('bundled', since => now() - interval '2 days')");
  assert.match(await text('[data-hangs]'), new RegExp(`^Browsers report 3 documents that hung or crashed, ${(300_000 / loads).toLocaleString('en')} per 100,000 page loads`));
  assert.deepEqual(await page.locator('[data-hangs] li').allInnerTexts(),
    ['2 crash', '1 unresponsive in <b>spin (https://bundled.example/app.js:12), called by main']);
});

test('the flame graph: functions, selection and whole agree with SQL', async () => {
  await open('/shop?since=2d');
  const perLoad = new Map((await sql(`function, sum(self_ms_per_load) as self from fleetprof.hotspots('shop', ${period}, top => null) where function in ('sortReviews', 'hashCanvas', 'appendChild') group by 1`))
    .map((row) => [row.function, row.self]));
  const rows = await screenRows();
  for (const [name, wanted] of perLoad) {
    const row = rows.find((each) => each.function.startsWith(name));
    assert.ok(row && Math.abs(row.self_ms_per_load - wanted) < 1e-6, `${name}: ${row?.self_ms_per_load}, not ${wanted}`);
  }
  const [{ loads }] = await sql(`sum(loads) as loads from fleetprof.summary('shop', ${period})`);
  assert.match(await text('footer'), new RegExp(`^${loads} page loads · ${loads} uploads`));
  const [{ total }] = await sql(`total_ms_per_load as total from fleetprof.flamegraph('shop', ${period}) where level = 0`);
  await page.focus('.icicle canvas');
  await press('ArrowDown');
  const first = await page.locator('[role=treeitem]').first().innerText();
  assert.match(first, new RegExp(`\\(all\\)\\s+${total.toFixed(0)} ms`));
  assert.match(await text('.details'), /^boot\n/);
});

test('an inverted flame graph has the same own times: in the table, the legend and of what is selected', async () => {
  const wanted = new Map((await sql(`function, sum(self_ms_per_load) as self from fleetprof.hotspots('shop', ${period}, top => null) where function in ('boot', 'JSON.parse', 'hashCanvas') group by 1`))
    .map((row) => [row.function, row.self]));
  await open('/shop?since=2d');
  const legend = await text('.legend');
  await open('/shop?since=2d&inverted=1');
  const rows = await screenRows();
  for (const [name, self] of wanted) assert.ok(Math.abs(rows.find((each) => each.function.startsWith(name))?.self_ms_per_load - self) < 1e-6, name);
  assert.equal(await text('.legend'), legend);
  await page.focus('.icicle canvas');
  await press('ArrowDown');
  assert.match(await text('.details'), new RegExp(`^hashCanvas\n[\\s\\S]*Self here\n${wanted.get('hashCanvas').toFixed(1)} ms`));
  await press('ArrowDown');
  assert.match(await text('.details'), /^collectSignals\n[\s\S]*Self here\n0 ms/);
});

test('a function: its own view says what SQL says of callers and callees', async () => {
  const [{ key }] = await sql("function_key as key from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
  await open(`/shop/function/${key}?since=2d`);
  assert.equal(await text('h2.name'), 'sortReviews');
  const callees = await sql(`total_ms, share from fleetprof.callees(null, 'shop', ${period}, key => '${key}')`);
  assert.deepEqual(picked(await screenRows(), ['share', 'total_ms']), picked(callees, ['share', 'total_ms']));
  const [{ self, total }] = await sql(`sum(self_ms) as self, sum(total_ms) as total from fleetprof.hotspots('shop', ${period}, top => null) where function = 'sortReviews'`);
  assert.deepEqual(await page.locator('.facts [data-value]').evaluateAll((cells) => cells.map((cell) => Number(/** @type {HTMLElement} */ (cell).dataset.value))), [self, total]);
  assert.deepEqual(complaints, []);
});

test('a function has its own numbers where the graph leaves places out', async () => {
  await page.route('**/api/v1/flamegraph_columns?**', (route) => route.continue({ url: route.request().url().replace(/max_nodes=\d+/, () => 'max_nodes=12') }));
  for (const [marker, filter] of [['', ''], ['&marker=%28none%29', ", marker => '(none)'"]]) {
    const [row] = await sql(`function_key as key, self_ms, total_ms, samples from fleetprof.hotspots('shop', ${period}${filter}) where function = 'updateTotals'`);
    await open(`/shop/function/${row.key}?since=2d${marker}`);
    assert.deepEqual(await page.locator('.facts [data-value]').evaluateAll((cells) => cells.map((cell) => Number(/** @type {HTMLElement} */ (cell).dataset.value))), [row.self_ms, row.total_ms]);
    if (!marker) assert.match(await text('.facts'), new RegExp(`Samples\n${row.samples.toLocaleString('en-US')}\n`));
  }
  assert.match(await text('main'), /The graphs leave out .* % of the time\./);
});

test('a function that is too small for the graph has its numbers, callers and trend', async () => {
  const [row] = await sql(`function_key as key, self_ms, total_ms from fleetprof.hotspots('shop', ${period}) where function = 'updateTotals'`);
  await page.route('**/api/v1/flamegraph_columns?**', (route) => route.continue({ url: route.request().url().replace(/max_nodes=\d+/, () => 'max_nodes=2') }));
  await open(`/shop/function/${row.key}?since=2d`);
  assert.deepEqual(await page.locator('.facts [data-value]').evaluateAll((cells) => cells.map((cell) => Number(/** @type {HTMLElement} */ (cell).dataset.value))), [row.self_ms, row.total_ms]);
  assert.match(await text('main'), /checkout/);
  assert.equal(await page.locator('.trend').count(), 1);
  assert.deepEqual(complaints, []);
});

test('a trend with a step says since when, by a mark and in words, and one without says nothing', async () => {
  const sentence = /Higher by 50 % since \S+ \S+ UTC \(between [^)]+\), release 2 began \S+ \S+\.$/;
  const [{ key }] = await sql("function_key as key from fleetprof.hotspots('stepped', since => now() - interval '7d') where function = 'slow'");
  const [point] = await sql(`begins, nearest_release from fleetprof.change_point('function', '${key}', 'stepped', since => now() - interval '7d')`);
  assert.equal(Date.parse(point.begins), Math.floor(Date.now() / 3_600_000 - stepBack) * 3_600_000);
  /** @type {string[]} */
  const asked = [];
  page.on('request', (request) => { if (request.url().includes('/api/v1/change_point?')) asked.push(request.url()); });
  /** The darkest line of the chart: how far to the right it is, as a share of the width. */
  const markAt = () => page.locator('.trend canvas').last().evaluate((element) => {
    const canvas = /** @type {HTMLCanvasElement} */ (element);
    const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(0, 30, canvas.width, 150);
    const colour = getComputedStyle(canvas).getPropertyValue('--text').match(/[0-9a-f]{2}/g)?.map((part) => parseInt(part, 16)) ?? [];
    const has = (/** @type {number} */ x) => Array.from({ length: 150 }, (_, y) => 4 * (y * canvas.width + x)).filter((at) => colour.every((part, i) => data[at + i] === part)).length > 100;
    const found = Array.from({ length: canvas.width }, (_, x) => x).filter(has);
    return found.length === 0 ? null : found[0] / canvas.width;
  });
  for (const address of [`function/${key}`, 'timing/work', 'vital/INP']) {
    asked.length = 0;
    await open(`/stepped/${address}?since=7d`);
    assert.equal(asked.length, 1, address);
    assert.match(await text('.since'), sentence, address);
    assert.match(await page.locator('.trend').last().getAttribute('aria-label') ?? '', /\. Higher by 50 % since .* began .*\. The table below has the values\.$/, address);
    const at = await markAt();
    assert.ok(at !== null && at > 0.45 && at < 0.6, `${address}: ${at}`);
  }
  await page.route('**/api/v1/change_point?**', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', json: { title: 'The query took too long' } }));
  await open(`/stepped/function/${key}?since=8d`);
  assert.match(await text('main'), /^A part of this view is missing: The query took too long\./);
  assert.equal(await page.locator('.since').count(), 0);
  await page.unroute('**/api/v1/change_point?**');
  await open('/shop/vital/LCP?since=2d');
  assert.equal(await page.locator('.since').count(), 0);
  assert.equal(await markAt(), null);
});

test('what a filter by marker leaves as it is says so', async () => {
  const [{ key }] = await sql(`function_key as key from fleetprof.hotspots('shop', ${period}) where function = 'updateTotals'`);
  for (const [address, parts] of [[`function/${key}`, 'the trend, where it runs and the measures'], ['vital/INP', 'values, the trend and for whom'], ['timing/respond', 'values and the trend']]) {
    for (const [filter, times] of /** @type {[string, number][]} */ ([['marker=%28none%29', 1], ['exclude_marker=gc', 1], ['route=%2Fcart', 0]])) {
      await open(`/shop/${address}?since=2d&${filter}`);
      assert.equal(await page.locator('main .note', { hasText: `The filter marker does not apply to ${parts}.` }).count(), times, `${address} ${filter}`);
    }
  }
});

test('kept sessions: a list, and one as a timeline, a tree and a graph', async () => {
  await open('/kept/sessions');
  const listed = await sql("events, content_bytes from fleetprof.sessions where site = 'kept' order by received desc");
  assert.deepEqual((await screenRows()).map(({ events }) => events), listed.map(({ events }) => events));
  const [dump] = await keptSession("format = 'speed-tracer' and route = '/cart'");
  await open(`/kept/session/${dump}?show=network_resources`);
  const requests = await sql(`total_ms, bytes from fleetprof.network_resources(${dump})`);
  assert.deepEqual(picked(await screenRows(), ['total_ms', 'bytes']), picked(requests, ['total_ms', 'bytes']));
  const top = await sql(`type from fleetprof.get_events(${dump}, 1) where parent_id is null order by start_ms, id`);
  assert.deepEqual(await page.locator('[role=treeitem][aria-level="2"] .name').allInnerTexts(), top.map(({ type }) => type));
  // The canvas: arrows walk, Enter zooms, and the graph below sums what is in view.
  await page.locator('.tabs a', { hasText: 'Events' }).click();
  await ready();
  await page.locator('[role=treeitem] .name', { hasText: 'PARSE_HTML' }).click();
  await ready();
  assert.equal(await text('.details h2'), 'PARSE_HTML');
  await page.focus('#timeline');
  await press('ArrowDown');
  assert.equal(await text('.details h2'), 'EVAL_SCRIPT');
  await press('ArrowUp', 'Enter');
  const [parsed] = await sql(`start_ms, end_ms from fleetprof.get_events(${dump}, 1) where type = 'PARSE_HTML'`);
  const { searchParams } = new URL(page.url());
  assert.deepEqual([Number(searchParams.get('from')), Number(searchParams.get('to'))], [parsed.start_ms, parsed.end_ms]);
  await page.locator('.icicle canvas').nth(1).focus();
  await press('ArrowDown');
  assert.match(await text('[role=status][aria-live]'), /^PARSE_HTML · 30.0 ms in all, 10.0 ms itself · 100 %/);
  await page.click('#whole');
  await ready();
  assert.equal(new URL(page.url()).searchParams.get('from'), null);
  assert.deepEqual(complaints, []);
});

test('a kept trace shows its stacks over time, with marks and interactions', async () => {
  const [trace] = await keptSession("format = 'self-profile' and release = '2.3.0'");
  await open(`/kept/session/${trace}`);
  assert.deepEqual(await page.locator('.tabs').first().locator('a').allInnerTexts(), ['Marks and measures', 'Interactions', 'Long frames', 'Layout, garbage collection and the like', 'Stacks']);
  await page.focus('#timeline');
  await press('ArrowRight', 'ArrowRight', 'ArrowRight');
  assert.equal(await text('.details h2'), 'respond');
  await press('ArrowDown');
  assert.match(await text('.details h2'), /^pointer button\.more-reviews/);
  await page.locator('.tabs a', { hasText: 'Stacks' }).click();
  await ready();
  const { rows: [[, , , content]] } = await (await fetch(`${origin}/api/v1/session_content?session_id=${trace}`)).json();
  const { samples } = JSON.parse(content).trace;
  const attributed = samples.filter((/** @type {any} */ sample) => sample.stackId !== undefined).length * 10;
  assert.match(await page.locator('.icicle canvas').nth(1).evaluate(() => document.querySelector('h2.part')?.textContent ?? ''), /^Stacks from 0 µs to /);
  await page.locator('.icicle canvas').nth(1).focus();
  await press('ArrowDown', 'ArrowUp');
  assert.match(await text('[role=status][aria-live]'), new RegExp(`^\\(all\\) · ${attributed} ms in all`));
  assert.deepEqual(complaints, []);
});

test('a session with more events than an answer has: the rest is asked for by time', async () => {
  const [dump] = await keptSession("format = 'speed-tracer' and events > 300");
  await page.route('**/api/v1/get_events?**', async (route) => {
    const body = await (await route.fetch()).json();
    await route.fulfill({ json: { ...body, rows: body.rows.slice(0, 50), truncated: body.rows.length > 50 } });
  });
  await open(`/kept/session/${dump}?from=0&to=40`);
  assert.match(await text('main'), /the first 50 are here/);
  await page.click('text=Ask for those in view');
  await ready();
  assert.match(page.url(), /part=0\.\.40/);
  assert.doesNotMatch(await text('main'), /are here/);
  await page.click('#no-part');
  await ready();
  assert.match(await text('main'), /the first 50 are here/);
});

test('functions and packages have their trends in the table, asked for in view', async () => {
  /** @type {string[]} */
  const asked = [];
  page.on('request', (request) => { if (request.url().includes('/api/v1/trend?')) asked.push(request.url()); });
  for (const [address, by, name] of [['/shop/functions?since=2d', 'function', 'function'], ['/shop/where?by=package&since=2d', 'package', 'name']]) {
    await open(address);
    const spark = page.locator('tbody tr').first().locator('.spark');
    const key = await spark.getAttribute('data-key');
    const label = await spark.locator('canvas').getAttribute('aria-label');
    const rows = await sql(`value_ms from fleetprof.trend('${by}', '${key?.replaceAll("'", "''")}', 'hour', 'shop', since => now() - interval '2 days') order by bucket`);
    const values = rows.map(({ value_ms: value }) => value);
    assert.ok(values.length > 2);
    assert.match(label ?? '', new RegExp(`^From .* to .* ms per page load, at most .*, in ${values.length} hours$`));
    const [first, last, most] = (label ?? '').replaceAll(',', '').match(/[\d.]+/g)?.map(Number) ?? [];
    for (const [shown, value] of [[first, values[0]], [last, values[values.length - 1]], [most, Math.max(...values)]]) assert.ok(Math.abs(shown - value) <= 0.05 * value + 0.01, `${shown} for ${value} of ${key}`);
    const before = asked.length;
    await page.locator(`#sort-${name}`).click();
    await ready();
    await page.locator(by === 'function' ? '#sort-self_ms_per_load' : '#sort-self_ms').click();
    await ready();
    assert.equal(await page.locator('tbody tr').first().locator('.spark canvas').getAttribute('aria-label'), label);
    assert.equal(asked.filter((url) => url === asked[0]).length, 1, 'sorting asks nothing again');
    assert.ok(before >= 1);
  }
  assert.ok(asked.every((url) => url.includes('step=hour')));
  asked.length = 0;
  await open('/shop/where?by=package&since=30d');
  await page.locator('.spark canvas').first().waitFor();
  assert.ok(asked.length > 0 && asked.every((url) => url.includes('step=day')));
  await open('/shop/functions?since=2d&marker=gc');
  assert.equal(await page.locator('th.picture').count(), 0, 'a trend has no marker');
  assert.deepEqual(complaints, []);
});

test('a value with a percent sign is filtered by itself, whoever chooses it', async () => {
  await open('/hostile/where?since=2d&by=route');
  await page.locator('main table a', { hasText: /^%00$/ }).click();
  await arrived('/hostile/flame?');
  assert.match(page.url(), /[?&]route=%5C%2500(&|$)/);
  assert.equal(await text('#filter-route'), 'route: %00');
  const loads = async () => (await sql("sum(loads)::int as loads from fleetprof.summary('hostile', now() - interval '2 days', route => '\\%00')"))[0].loads;
  assert.equal(await loads(), 1);
  await open('/hostile/flame?since=2d');
  await page.click('#filter-route');
  await page.fill('#panel-route input', '%2e');
  await page.locator('#panel-route .value').first().click();
  await page.waitForURL(/[?&]route=%5C%252e%5C%252e%5C%252f(&|$)/);
  assert.equal(await text('#filter-route'), 'route: %2e%2e%2f');
  await page.click('#filter-route');
  assert.equal(await page.locator('#panel-route [aria-pressed=true]').count(), 1);
});

test('functions have the verdict on what changed since the release before, asked for once', async () => {
  const verdicts = (/** @type {string} */ more) => sql(`function_key, verdict, change from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', since => now() - interval '2 days', top => 500${more})`);
  const shown = () => page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => /** @type {[string, string]} */ ([
    row.querySelector('a')?.getAttribute('href')?.match(/\/function\/(-?\d+)/)?.[1] ?? '', row.querySelector('.badge')?.textContent ?? ''])));
  let asked = 0;
  page.on('request', (request) => { if (request.url().includes('/api/v1/compare_releases?')) asked += 1; });
  for (const [filter, more] of [['', ''], ['&release=2.3.0', ''], ['&route=%2Fcart', ", route => '/cart'"]]) {
    await open(`/shop/functions?since=2d${filter}`);
    await page.locator('.note', { hasText: 'Changes are those of 2.3.0 against 2.2.9' }).waitFor();
    const known = new Map((await verdicts(more)).map((row) => [row.function_key, row]));
    const badges = await shown();
    assert.ok(badges.some(([, badge]) => badge), filter);
    for (const [key, badge] of badges) {
      const row = known.get(key);
      assert.equal(badge.replace(/^[^a-z]*/, '').replace(/ [+−±].*/, ''), row?.verdict ?? '', `${key} with ${filter || 'no filter'}`);
      const amount = Number(badge.match(/([+−][\d.]+) %/)?.[1].replace('−', '-') ?? NaN) / 100;
      if (['slower', 'faster'].includes(row?.verdict) && row?.change < 8) assert.ok(Math.abs(amount - row?.change) <= 0.006, `${badge} for ${row?.change}`);
    }
    if (!filter) {
      assert.ok(badges.some(([, badge]) => badge.startsWith('▲ slower +')));
      await page.locator('#sort-function').click();
      await ready();
      assert.deepEqual(new Map(await shown()), new Map(badges));
      assert.equal(asked, 1, 'sorting asks nothing again');
    }
  }
  await page.getByRole('link', { name: 'Compare them' }).click();
  await arrived('/shop/compare?');
  assert.match(page.url(), /after=2\.3\.0&before=2\.2\.9/);
  assert.match(page.url(), /route=%2Fcart/);
  const [{ release: first }] = await sql("release from fleetprof.releases('shop', since => now() - interval '2 days') where release <> '' order by first_hour");
  await open(`/shop/functions?since=2d&release=${first}`);
  await page.locator('.note', { hasText: 'this period has no release with one before it' }).waitFor();
  for (const address of ['/shop/functions?since=2d&marker=gc', '/-/functions?since=2d']) {
    await open(address);
    assert.doesNotMatch(await text('main'), /since the release before/i);
  }
  assert.deepEqual(complaints, []);
  /** @type {() => void} */
  let answer = () => {};
  const searched = new Promise((resolve) => { answer = () => resolve(undefined); });
  await page.route('**/api/v1/compare_releases?**', async (route) => { await searched; await route.continue(); });
  await open('/shop/functions?since=2d');
  await page.fill('#search', 'sortReviews');
  await ready();
  answer();
  await page.locator('tbody .badge', { hasText: 'slower' }).waitFor();
  await page.unrouteAll();
  await page.route('**/api/v1/compare_releases?**', (route) => route.fulfill({ status: 503, json: { title: 'The question took too long.' } }));
  await open('/shop/functions?since=2d');
  await page.locator('.note', { hasText: 'Changes are missing: The question took too long.' }).waitFor();
});

test('a comparison begins with a sentence', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  const [row] = await sql("* from fleetprof.compare_summary('shop', '2.2.9', '2.3.0')");
  assert.match(await text('.verdict'), /^1 function is slower in 2\.3\.0 than in 2\.2\.9: sortReviews, \+\d+ % \(\+\d+ % … \+\d+ %\)\.$/);
  assert.match(await text('.summary'), new RegExp(`2.3.0 against 2.2.9: ${row.slower} slower, ${row.faster} faster, .*${row.unchanged} without a change`));
  assert.match(await text('.summary'), new RegExp(`${row.too_few} with too few uploads or too little time to tell`));
  assert.equal((await screenRows())[0].verdict, '▲ slower');
});

test('a comparison begins with the latest two releases, and says that their own hours count', async () => {
  await open('/shop/flame');
  await press('g', 'c');
  await arrived('/shop/compare?after=2.3.0');
  assert.equal(new URL(page.url()).search, '?after=2.3.0&before=2.2.9');
  assert.equal((await screenRows())[0].verdict, '▲ slower');
  assert.deepEqual([await text('#filter-period'), await page.getAttribute('#filter-period', 'class')], ['First 48 h of the release', null]);
  assert.doesNotMatch(await text('footer'), /page load/);
  await page.click('#filter-period');
  await page.click('text=Last day');
  await arrived('/shop/compare?since=1d');
  assert.deepEqual([await text('#filter-period'), await page.getAttribute('#filter-period', 'class')], ['Last day', 'on']);
  assert.match(await text('footer'), /page load/);
  await page.goBack();
  await page.goBack();
  await arrived('/shop/flame');
  assert.deepEqual(complaints, []);
});

test('a comparison of several sites waits for two sides, as releases of two do not follow each other', async () => {
  await open('/-/compare?since=2d');
  assert.match(await page.locator('main p.empty').innerText(), /^Releases of several sites do not follow each other\. Choose two releases/);
  assert.deepEqual(complaints, []);
});

test('the strip above a comparison shows the hours of both sides', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  const [{ before, after, loads }] = await sql(`to_char(lower(before_hours) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as before,
    to_char(upper(after_hours) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as after,
    (select sum(h.loads) from fleetprof.summary('shop', since => lower(before_hours), until => upper(after_hours)) h)::int as loads
    from fleetprof.compare_summary('shop', '2.2.9', '2.3.0')`);
  const label = await page.getAttribute('.strip', 'aria-label') ?? '';
  assert.ok(label.includes(`${loads.toLocaleString('en-US')} from ${before} to `), label);
  assert.match(label, /Releases: .*2\.2\.9 from .*2\.3\.0 from/);
  assert.match(label, new RegExp(`Compared: ${before} – .* and .* – ${after}\\.$`));
});

test('a comparison with a side without uploads says so, and nothing else', async () => {
  for (const [query, sentence] of [['before=2.2.9&after=2.3.0&since=3h', /^There is nothing to compare: 2\.2\.9 has no uploads in this period\. Choose a longer one/],
    ['before=9&after=2.3.0', /^There is nothing to compare: 9 has no uploads that match\./], ['before=8&after=9', /8 and 9 have no uploads/]]) {
    await open(`/shop/compare?${query}`);
    assert.match(await text('.verdict'), /** @type {RegExp} */ (sentence), String(query));
    assert.doesNotMatch(await text('main'), /missing|slower|–\.|Placebo/);
    assert.equal(await page.locator('main form').count(), 1);
  }
  // Both answers that SQL may give: nulls, or 0 uploads and an obstacle.
  for (const [obstacle, uploads, hours] of [[null, null, null], ['early', 0, [null, null]]]) {
    await page.route('**/api/v1/compare_summary?**', async (route) => {
      const body = await (await route.fetch()).json();
      const changes = /** @type {Record<string, unknown>} */ ({ obstacle, before_uploads: uploads, before_hours: hours, slower: 0 });
      const cells = body.rows[0].map((/** @type {unknown} */ cell, /** @type {number} */ i) => (body.columns[i].name in changes ? changes[body.columns[i].name] : cell));
      await route.fulfill({ json: { ...body, rows: [cells] } });
    });
    await open('/shop/compare?before=2.2.9&after=2.3.0');
    assert.match(await text('.verdict'), /2\.2\.9 has no uploads/);
    assert.match(await text('.summary'), /before: 0 uploads\. /);
    await page.unroute('**/api/v1/compare_summary?**');
  }
  assert.deepEqual(complaints, []);
});

test('a comparison of periods offers the releases of both, and begins its sentence with a capital', async () => {
  await open('/shop/compare?since=6h&before_since=26h&before_until=20h');
  for (const side of ['before', 'after']) {
    assert.deepEqual((await page.locator(`#choose-${side} option`).allInnerTexts()).map((each) => each.trim()), ['(all)', '2.2.9', '2.3.0']);
  }
  assert.match(await text('.verdict'), /^The later period against the earlier period: /);
  await open('/shop/compare?since=26h&before_since=6h&until=20h&before_until=1h');
  assert.equal(await page.locator('#choose-before option').count(), 3);
});

test('a comparison without a placebo test says why', async () => {
  await page.route('**/api/v1/compare_summary?**', async (route) => {
    const body = await (await route.fetch()).json();
    const cells = body.rows[0].map((/** @type {unknown} */ cell, /** @type {number} */ i) => (/^placebo/.test(body.columns[i].name) ? 0 : cell));
    await route.fulfill({ json: { ...body, rows: [cells] } });
  });
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  assert.match(await text('.summary'), /The placebo test was not possible: the earlier side is too small\./);
  assert.doesNotMatch(await text('.summary'), /0 of 0/);
});

test('page loads without a release are compared with those of a release', async () => {
  const body = { version: 1, page: { url: 'https://quiet.example/' }, sampleInterval: 10, trace: { resources: [], frames: [{ name: 'start' }], stacks: [{ frameId: 0 }], samples: [{ timestamp: 1, stackId: 0 }] } };
  for (const release of [undefined, ' r2']) {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_quiet`, { method: 'POST', body: JSON.stringify({ ...body, release }) });
    assert.equal(reply.status, 204, await reply.text());
  }
  await waitFor(async () => (await sql("count(*) from fleetprof.releases('quiet', now() - interval '2d')"))[0].count === 2, { what: 'the uploads' });
  await open('/quiet/compare');
  const choices = await page.locator('#choose-before option').allInnerTexts();
  assert.deepEqual(choices.map((each) => each.trim()), ['(all)', '(none)', 'r2']);
  await page.selectOption('#choose-before', { label: '(none)' });
  await page.selectOption('#choose-after', { index: 2 });
  await page.click('#compare-them');
  await arrived('/quiet/compare?after=');
  assert.equal(new URL(page.url()).search, '?after=+r2&before=');
  assert.match(await text('.verdict'), /^ ?r2 against \(none\): It is too early to tell/);
  assert.match(await text('.summary'), /before: 1 upload, .* after: 1 upload,/);
  assert.deepEqual(await page.locator('form select').evaluateAll((all) => all.map((each) => /** @type {HTMLSelectElement} */ (each).selectedOptions[0]?.text)), ['(none)', 'r2', '(release or period)']);
  await page.selectOption('#choose-before', { label: '(all)' });
  await page.fill('#choose-before_since', '3d');
  assert.deepEqual(complaints, []);
  await page.click('#compare-them');
  await arrived('/quiet/compare?after=+r2&before_since=3d');
});

test('a bad time leaves the form of a comparison where it is', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await page.fill('#choose-before_since', 'nonsense');
  await press('Enter');
  await arrived('/shop/compare?after=2.3.0&before=2.2.9&before_since=nonsense');
  assert.match(await text('main .failure'), /before_since/);
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'choose-before_since');
  await page.fill('#choose-before_since', '');
  await press('Enter');
  await arrived('/shop/compare?after=2.3.0&before=2.2.9');
  assert.equal(await page.locator('main .failure').count(), 0);
});

test('hosts have a party and their responses; a guess is called one', async () => {
  await open('/shop/where?since=2d');
  assert.deepEqual((await screenRows()).map(({ name, party }) => [name, party]).filter(([name]) => name.endsWith('.example')).sort(), [['cdn.tracker.example', 'third'], ['static.shop.example', 'first']]);
  for (const by of ['party', 'entity', 'package']) {
    await page.click(`.tabs >> text="${by}"`);
    await arrived(`/shop/where?since=2d&by=${by}`);
    assert.ok((await screenRows()).length > 0, by);
  }
  await open('/shop/flame?since=2d');
  assert.doesNotMatch(await text('.legend'), /guessed/);
  await page.route('**/api/v1/third_parties?**', async (route) => {
    const body = await (await route.fetch()).json();
    await route.fulfill({ json: { ...body, rows: body.rows.map((/** @type {unknown[]} */ [host, , ...others]) => [host, null, ...others]) } });
  });
  await open('/shop/flame?since=2d');
  assert.match(await text('.legend'), /own scripts \(guessed: those of static\.shop\.example; set sites\[\]\.origins\)/);
  assert.deepEqual(complaints, []);
});

// ---- keys ----

test('every view is reached by the keyboard, and has a heading', async () => {
  await open('/shop?since=2d');
  for (const [key, heading] of Object.entries({ n: 'shop Functions', c: 'shop Compare', t: 'shop Timings', v: 'shop Vitals', i: 'shop Interactions', w: 'shop Where the time goes', o: 'shop Coverage', k: 'shop Sessions', f: 'shop Flame graph', s: 'Sites' })) {
    await press('g', key);
    assert.equal(await text('h1'), heading);
    assert.equal(await page.title(), `${heading.replace('shop ', 'shop: ')} – fleetprof`);
  }
  // Tab and Enter lead from the list of sites to a function.
  await page.focus('main a');
  await press('Enter');
  await arrived('/shop');
  assert.equal(await text('h1'), 'shop Flame graph');
  assert.deepEqual(complaints, []);
});

test('the keys of the flame graph', async () => {
  await open('/shop?since=2d');
  const at = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
  const selected = () => page.locator('.details h2').innerText();
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'ArrowDown');
  assert.equal(await selected(), 'performWork');
  assert.match(await text('[role=status][aria-live]'), /^performWork · .* ms per page load in all/);
  await press('ArrowRight');
  assert.equal(await selected(), 'readState');
  await press('ArrowLeft', 'ArrowUp');
  assert.equal(await selected(), 'boot');
  await press('ArrowRight', 'Enter');
  assert.ok((await at()).root, 'zoomed in');
  assert.match(await text('.crumbs'), /\(anonymous\)/);
  await press('Backspace');
  assert.equal((await at()).root, undefined);
  await press('Home', 'ArrowDown', 'o');
  assert.match(await text('.chips'), /focus: boot/);
  await page.click('.chips button');
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'x');
  assert.match(await text('.chips'), /hidden: boot/);
  await press('ArrowDown');
  assert.equal(await selected(), 'performWork', 'it stands where its caller was');
  await page.click('.chips button');
  await press('r');
  assert.equal(await page.getAttribute('#recursion', 'aria-pressed'), 'true');
  await press('r', 'i');
  assert.equal((await at()).inverted, '1');
  await page.focus('.icicle canvas');
  await press('ArrowDown');
  assert.equal(await selected(), 'hashCanvas', 'the function with the most self time');
  await press('i', '/');
  await page.keyboard.type('fuzzy');
  assert.match(await text('.tools .found'), /^2 places, [\d.]+ % of the time/);
  await press('Enter');
  await page.focus('.icicle canvas');
  await press('n');
  assert.equal(await selected(), 'fuzzyMatch');
  const first = (await at()).sel;
  await press('n');
  assert.notEqual((await at()).sel, first);
  await press('N', 'm');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'do-zoom');
  await page.focus('.icicle canvas');
  await press('c');
  await arrived('/shop/function/');
  assert.equal(await text('h2.name'), 'fuzzyMatch');
  assert.deepEqual(complaints, []);
});

test('a key that only selects draws no graph again, and keeps the lines of the call tree', async () => {
  await page.addInitScript(() => {
    const { fillRect } = CanvasRenderingContext2D.prototype;
    /** @param {number} x @param {number} y @param {number} w @param {number} h */
    CanvasRenderingContext2D.prototype.fillRect = function draw(x, y, w, h) {
      document.documentElement.dataset.boxes = String(Number(document.documentElement.dataset.boxes ?? 0) + 1);
      fillRect.call(this, x, y, w, h);
    };
  });
  const boxes = () => page.evaluate(() => Number(document.documentElement.dataset.boxes));
  await open('/shop?since=2d');
  await page.focus('.icicle canvas');
  await press('ArrowDown');
  assert.ok(await boxes() > 0);
  const first = await page.locator('.calltree [data-node="0"]').elementHandle();
  const before = await boxes();
  await press('ArrowDown', 'ArrowRight', 'ArrowUp');
  assert.equal(await boxes(), before);
  assert.ok(await first?.evaluate((element) => element.isConnected));
  assert.equal(await page.locator('.calltree [aria-selected="true"]').count(), 1);
  const selected = await page.locator('.icicle .mark.selected').boundingBox();
  const picture = await page.locator('.icicle canvas').boundingBox();
  assert.ok(selected && picture && selected.height === 18 && selected.width > 3);
  assert.ok(selected.x >= picture.x && selected.y > picture.y && selected.x + selected.width <= picture.x + picture.width, 'the mark lies on the graph');
  await press('d');
  assert.notEqual(await boxes(), before, 'other colours are drawn');
  assert.deepEqual(complaints, []);
});

test('keys of every view: the list, SQL, the command, dark, releases', async () => {
  await open('/shop/functions?since=2d');
  await press('?');
  assert.match(await text('dialog'), /Keys[\s\S]*callers and callees/);
  await closeDialog();
  await press('q');
  assert.match(await text('dialog'), /select \* from fleetprof\.hotspots\(.*site => 'shop'/);
  await closeDialog();
  await page.click('#show-command');
  assert.match(await text('dialog'), /fleetprof top .*--site shop/);
  await closeDialog();
  await press('d');
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
  await press(']');
  assert.match(page.url(), /release=2\.2\.9/);
  await press(']');
  assert.match(page.url(), /release=2\.3\.0/);
  await press('[');
  assert.match(page.url(), /release=2\.2\.9/);
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await press(']');
  assert.doesNotMatch(page.url(), /release=/, 'a comparison has two releases of its own');
  assert.deepEqual(complaints, []);
});

test('the call tree is walked by the keyboard, bound to the same selection', async () => {
  await open('/shop?since=2d');
  await page.focus('[role=treeitem]');
  await press('ArrowRight', 'ArrowRight', 'ArrowDown');
  assert.equal(await page.locator('.details h2').innerText(), 'renderRoot');
  const item = page.locator('[role=treeitem][aria-selected=true]');
  assert.deepEqual([await item.getAttribute('aria-level'), await item.getAttribute('aria-posinset')], ['4', '1']);
  await press('ArrowLeft');
  assert.equal(await page.locator('.details h2').innerText(), 'performWork');
  await press('Enter');
  assert.match(page.url(), /root=[0-9a-f]{16}/);
  assert.deepEqual(complaints, []);
});

// ---- filters ----

test('a filter is chosen from values with their uploads, and taken away', async () => {
  await open('/shop/functions?since=2d');
  await page.focus('#filter-route');
  await press('Enter');
  await page.waitForSelector('.value');
  const shown = await page.locator('.value').evaluateAll((buttons) => buttons.map((each) => /** @type {HTMLElement} */ (each).innerText.split('\n')));
  const values = await sql(`value, uploads from fleetprof.field_values('route', 'shop', ${period})`);
  assert.deepEqual(shown.map(([name, figures]) => [name, Number(figures.split(' ·')[0])]), picked(values, ['value', 'uploads']));
  await page.keyboard.type('cart');
  await press('ArrowDown', 'Enter');
  assert.match(page.url(), /route=%2Fcart/);
  assert.match(await text('footer'), new RegExp(`${values.find(({ value }) => value === '/cart').uploads} uploads`));
  await page.click('#remove-route');
  await ready();
  assert.doesNotMatch(page.url(), /route/);
  await page.click('#filter-period');
  await page.click('text=Last 7 days');
  await ready();
  assert.match(page.url(), /since=7d/);
  assert.deepEqual(complaints, []);
});

test('a filter panel closes when the focus leaves it', async () => {
  await open('/shop/functions?since=2d');
  await page.focus('#filter-thread');
  await press('Enter');
  await page.waitForSelector('.value');
  for (let i = 0; i < 30 && await page.evaluate(() => document.activeElement?.closest('.popover') !== null); i++) await page.keyboard.press('Tab');
  assert.equal(await page.locator('.panel[role=dialog]').count(), 0);
  assert.equal(await page.getAttribute('#filter-thread', 'aria-expanded'), 'false');
});

test('few uploads are called an anecdote', async () => {
  await open('/hostile?since=2d');
  assert.match(await text('.anecdote'), new RegExp(`Only ${hostileNames.length} uploads match`));
  await open('/shop?since=2d');
  assert.equal(await page.isVisible('.anecdote'), false);
});

test('a day whose hours are gone is no hour with the page loads of a day', async () => {
  await page.route('**/api/v1/summary?**', async (route) => {
    const body = await (await route.fetch()).json();
    const place = (/** @type {string} */ name) => body.columns.findIndex((/** @type {any} */ column) => column.name === name);
    const day = [...body.rows[0]];
    day[place('bucket')] = `${new Date(Date.parse(day[place('bucket')]) - 20 * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
    day[place('loads')] = 240;
    day[place('hours')] = 24;
    await route.fulfill({ json: { ...body, rows: [day, ...body.rows] } });
  });
  await open('/shop/functions?since=30d');
  const [{ loads, most }] = await sql(`sum(loads) as loads, max(loads) as most from fleetprof.summary('shop', ${period})`);
  const label = await page.getAttribute('.strip', 'aria-label') ?? '';
  assert.ok(label.includes(`: ${(loads + 240).toLocaleString('en-US')} from `) && label.includes(`at most ${most} in an hour`), label);
  const { x, y, width } = await page.locator('.strip canvas').boundingBox() ?? assert.fail();
  for (const hour of [1, 23]) {
    // The day lies at the left end of 20 days and more.
    await page.mouse.move(x + 50 + ((width - 58) * hour) / (21 * 24), y + 40);
    assert.match(await page.getAttribute('.strip canvas', 'title') ?? '', /^\S+ UTC: 240 page loads in the day$/);
  }
});

test('dragging over the strip chooses a period', async () => {
  await open('/shop?since=2d');
  const box = await page.locator('.strip canvas').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 25, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/since=2\d{3}-.*until=2/);
  await ready();
  const { searchParams } = new URL(page.url());
  const hours = (Date.parse(searchParams.get('until') ?? '') - Date.parse(searchParams.get('since') ?? '')) / 3_600_000;
  assert.ok(hours >= 4 && hours <= 12, `${hours} hours`);
});

test('packages are folded, by the choice and by the key', async () => {
  await open('/bundled?since=3d');
  const graph = async () => (await page.locator('.tree-box').innerText()).replace(/\s+/g, ' ');
  const places = () => page.locator('.side-table tbody tr').evaluateAll((rows) => rows.map((row) => row.querySelector('a')?.textContent));
  assert.deepEqual((await places()).sort(), ['Gallery', 'beginWork', 'commitRoot', 'render', 'start']);
  await page.selectOption('#fold', 'package');
  await ready();
  assert.deepEqual((await places()).sort(), ['(react-dom)', 'Gallery', 'start']);
  assert.match(await page.locator('.legend').innerText(), /packages and ignored code/);
  assert.equal(new URL(page.url()).searchParams.get('fold'), 'package');
  const whole = await graph();
  await page.selectOption('#fold', 'caller');
  await ready();
  assert.deepEqual((await places()).sort(), ['Gallery', 'start']);
  await page.focus('.icicle canvas');
  await press('p', 'p');
  assert.equal(new URL(page.url()).searchParams.get('fold'), 'package');
  assert.equal(await graph(), whole);
  assert.equal(await page.inputValue('#fold'), 'package');
  const { page: saved } = await newPage();
  const file = path.join(temporaryDir('report'), 'report.html');
  fs.writeFileSync(file, await exported('#export-file'));
  await saved.goto(pathToFileURL(file).href);
  await ready(saved);
  assert.equal(await saved.inputValue('#fold'), 'package');
  assert.ok(await saved.isDisabled('#fold'), 'a saved file has one answer');
  await saved.focus('.icicle canvas');
  await saved.keyboard.press('p');
  await ready(saved);
  assert.equal((await saved.locator('.tree-box').innerText()).replace(/\s+/g, ' '), whole);
  await saved.keyboard.press('g');
  await saved.keyboard.press('n');
  await ready(saved);
  await saved.keyboard.press('g');
  await saved.keyboard.press('f');
  await ready(saved);
  assert.equal((await saved.locator('.tree-box').innerText()).replace(/\s+/g, ' '), whole, 'after another view');
  await saved.context().close();
});

// ---- addresses ----

/** Returns what is visible, pictures included. */
const seen = () => page.evaluate(() => JSON.stringify([document.title, /** @type {HTMLElement} */ (document.querySelector('main')).innerText, document.querySelector('.filters')?.textContent,
  [...document.querySelectorAll('main .icicle canvas')].map((canvas) => /** @type {HTMLCanvasElement} */ (canvas).toDataURL()),
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('main .icicle .mark'))].map(({ hidden, style }) => !hidden && style.cssText)]));

test('Back, a reload and a copied link show what was seen', async () => {
  let seed = 4;
  const draw = (/** @type {number} */ most) => { seed = (seed * 16_807) % 2_147_483_647; return seed % most; };
  const steps = [
    () => press('g', 'n'), () => press('g', 'f'), () => press('g', 'c'), () => press('g', 't'), () => press('g', 'w'),
    async () => {
      if (await page.locator('.icicle canvas').count() === 0) return;
      await page.locator('.icicle canvas').first().focus();
      await press('ArrowDown', 'ArrowDown');
      walked.pop(); // a selection takes the place of the one before
      await note();
      await page.locator('.icicle canvas').first().focus();
      await press('Enter');
    },
    async () => { if (await page.locator('#inverted').count() > 0) await press('i'); },
    async () => { if (await page.locator('#sort-samples').count() > 0) { await page.locator('#sort-samples').first().click(); await ready(); } },
    async () => { if (await page.locator('main tbody a[href*="/function/"]').count() > 0) { await page.locator('main tbody a[href*="/function/"]').first().click(); await ready(); } },
    () => press(']'),
  ];
  await open('/shop?since=2d');
  /** @type {{ url: string, sight: string }[]} */
  const walked = [];
  const note = async () => {
    await page.evaluate(() => { /** @type {HTMLElement | null} */ (document.activeElement)?.blur(); });
    await page.mouse.move(2, 2);
    const url = page.url();
    if (walked[walked.length - 1]?.url === url) walked.pop();
    walked.push({ url, sight: await seen() });
  };
  await note();
  for (let i = 0; i < 14; i += 1) {
    await steps[draw(steps.length)]();
    await note();
  }
  assert.ok(walked.length >= 7, `${walked.length} states`);
  await page.reload();
  await ready();
  assert.equal(await seen(), walked[walked.length - 1].sight, 'after a reload');
  const visits = await page.evaluate(() => history.length);
  for (let back = 2; back <= walked.length; back += 1) {
    const { url, sight } = walked[walked.length - back];
    await page.goBack();
    await waitFor(async () => page.url() === url && await seen() === sight, { what: `what was seen at ${url}` });
  }
  assert.ok(visits > 0);
  const { page: other } = await newPage();
  const { url, sight } = walked[Math.floor(walked.length / 2)];
  await page.goto(url);
  await ready();
  assert.equal(await seen(), sight, 'in a new tab');
  await other.context().close();
  assert.deepEqual(complaints, []);
});

test('an axis of time says that it is UTC, as the period does', async () => {
  /** Counts colours left of the times below a chart. @param {string} chart @param {number} [place] */
  const besideTimes = (chart, place = 0) => page.locator(`${chart} canvas`).nth(place).evaluate((element) => {
    const canvas = /** @type {HTMLCanvasElement} */ (element);
    return new Set(new Uint32Array(/** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(0, canvas.height - 11, 48, 11).data.buffer)).size;
  });
  await open('/shop/vital/INP?since=2d');
  assert.ok(await besideTimes('.strip') > 1, 'the strip');
  assert.ok(await besideTimes('.trend', 1) > 1, 'the trend');
  assert.equal(await besideTimes('.trend'), 1, 'a histogram has no times');
  await page.click('#filter-period');
  assert.match(await text('.panel .note'), /UTC/);
});

test('times without an offset are UTC in every time zone', async () => {
  const [{ hour }] = await sql("to_char(now() at time zone 'UTC' - interval '10h', 'YYYY-MM-DD HH24:00') as hour");
  const other = await newPage({ timezoneId: 'America/New_York', permissions: ['clipboard-read', 'clipboard-write'] });
  await other.page.goto(`${origin}/shop/functions?since=${hour.replace(' ', 'T')}`);
  await ready(other.page);
  assert.equal(await other.page.locator('#filter-period').innerText(), `${hour} – now`);
  await other.page.keyboard.press('l');
  await waitFor(async () => (await other.page.evaluate(() => navigator.clipboard.readText())).includes(`since=${encodeURIComponent(hour.replace(' ', 'T'))}%3A00.000Z`), { what: 'the copied time' });
  await other.page.context().close();
});

test('a copied link has absolute times', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await open('/shop/functions?since=2d&theme=dark&sort=-samples');
  await press('l');
  assert.equal(await page.locator('.told').innerText(), 'Copied.');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /\/shop\/functions\?since=2\d{3}-\d\d-\d\dT[^&]*&until=2[^&]*&sort=-samples$/);
  const rows = await screenRows();
  await page.goto(copied);
  await ready();
  assert.deepEqual(await screenRows(), rows);
});

test('a place that is not there any more is called so, for who looks and who listens', async () => {
  await open('/shop?since=2d&root=0123456789abcdef');
  assert.equal(await text('.crumbs'), 'The place that this address zooms to is not in this selection.');
  assert.match(await text('[aria-live]'), /is not in this selection/);
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'Enter');
  assert.match(await text('.crumbs'), /^\(all\)\s+boot$/);
});

test('a title says what the view is of', async () => {
  const [{ key }] = await sql(`function_key as key from fleetprof.hotspots('shop', ${period}) where function = 'sortReviews'`);
  for (const [address, title] of [['/', 'Sites – fleetprof'], ['/shop/functions?since=2d', 'shop: Functions – fleetprof'], [`/shop/function/${key}?since=2d`, 'shop: Function sortReviews – fleetprof'],
    ['/shop/vital/INP?since=2d', 'shop: Vital INP – fleetprof'], ['/shop/timing/respond?since=2d', 'shop: Timing respond – fleetprof'], ['/-/flame?since=2d', 'all sites: Flame graph – fleetprof']]) {
    await open(address);
    assert.equal(await page.title(), title);
  }
});

// ---- export ----

/** @param {string} button */
async function exported(button) {
  await page.click('#export');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  return fs.readFileSync(/** @type {string} */ (await download.path()));
}

test('exports have the rows in view, and nothing that a spreadsheet would run', async () => {
  await open('/shop/functions?since=2d&q=sort');
  const rows = JSON.parse((await exported('#export-json')).toString());
  assert.deepEqual([...new Set(rows.map((/** @type {any} */ row) => row.function))], ['sortReviews']);
  await open('/hostile/functions?since=2d');
  const csv = (await exported('#export-csv')).toString();
  assert.match(csv, /^function_key,function,resource,line|^function,resource,line/);
  assert.match(csv, /,?'=1\+1,/);
  assert.match(csv, /"'=HYPERLINK\(""http/);
  for (const line of csv.split('\r\n').slice(1)) assert.doesNotMatch(line.replace(/^-?\d+,/, ''), /^"?[=@\t]/);
});

test('a file of all sites says so in its name', async () => {
  await open('/-/flame?since=2d');
  await page.click('#export');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#export-folded')]);
  assert.equal(download.suggestedFilename(), 'fleetprof-all-sites.folded.txt');
});

test('the graph in view is exported for other tools', async () => {
  await open('/shop?since=2d');
  const stacks = (await sql(`folded as line from fleetprof.folded('shop', ${period})`)).map(({ line }) => line);
  const total = stacks.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  const folded = (await exported('#export-folded')).toString().trimEnd().split('\n');
  // Places of one function are one in the graph: two releases have anonymous functions at two.
  const plain = (/** @type {string[]} */ lines) => [...new Set(lines.map((line) => line.replace(/ https:[^; ]+/g, '').replace(/ \d+$/, '')))].sort();
  assert.deepEqual(plain(folded), plain(stacks));
  assert.equal(folded.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0), total);
  const speedscope = JSON.parse((await exported('#export-speedscope')).toString());
  const [profile] = speedscope.profiles;
  assert.deepEqual([profile.endValue, profile.weights.reduce((/** @type {number} */ sum, /** @type {number} */ us) => sum + us)], [total, total]);
  assert.deepEqual(profile.samples.map((/** @type {number[]} */ stack) => stack.map((frame) => speedscope.shared.frames[frame].name).join(';')).sort().filter((/** @type {string} */ path, /** @type {number} */ i, /** @type {string[]} */ all) => path !== all[i - 1]), plain(folded));
  const chrome = JSON.parse((await exported('#export-chrome')).toString());
  assert.deepEqual([chrome.endTime, chrome.timeDeltas.length], [total, chrome.samples.length]);
  const byId = new Map(chrome.nodes.map((/** @type {any} */ node) => [node.id, node]));
  for (const { children } of chrome.nodes) for (const child of children) assert.ok(byId.has(child));
  const pprof = await exported('#export-pprof');
  assert.ok(pprof.includes('sortReviews') && pprof.includes('microseconds'));
  // The export has what is in view.
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'x');
  assert.doesNotMatch((await exported('#export-folded')).toString(), /(^|;)boot[; ]/m);
  assert.deepEqual(complaints, []);
});

// ---- hostile names ----

test('hostile names are text on every view, and do nothing', async () => {
  /** @type {string[]} */
  const requests = [];
  page.on('request', (request) => { if (!request.url().startsWith(origin)) requests.push(request.url()); });
  const key = (await sql(`function_key as key from fleetprof.compare_releases('hostile', null, null, before_since => now() - interval '3 days', before_until => now() - interval '2 days', since => now() - interval '2 days')
    where function like '<img%'`))[0]?.key;
  const measure = hostileNames[0];
  for (const view of ['flame?since=2d', 'flame?since=2d&inverted=1', 'functions?since=2d', `timing/${encodeURIComponent(measure)}?since=2d`, 'timings?since=2d', 'vitals?since=2d', 'vital/INP?since=2d&by=variant', 'interactions?since=2d',
    'long-frames?since=2d', 'where?since=2d&by=resource', 'where?since=2d&by=host', 'where?since=2d&by=release', 'compare?since=2d', 'coverage?since=2d', `flame?since=2d&q=${encodeURIComponent('<script>')}&root=%3Cscript%3E&sel=x&hide=%22%3E&focus=%3C`,
    ...key ? [`function/${key}?since=2d`] : []]) {
    await open(`/hostile/${view}`);
    assert.equal(await page.locator('main .failure, main .warning').count(), 0, `${view}: ${await text('main')}`);
    const odd = await page.evaluate(() => [...document.querySelectorAll('main script, main img, main svg, main iframe, main [onerror], main [onload], a[href^="javascript:" i], a[href^="data:" i]')].map((element) => element.outerHTML));
    assert.deepEqual(odd, [], view);
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /[\u0000-\u0008\u000b\u001b\u202a-\u202e\u2066-\u2069\u009b]/, view);
  }
  for (const id of await keptSession('true')) {
    await open(`/kept/session/${id}`);
    const count = await page.locator('.tabs a').count();
    for (let i = 0; i < count; i += 1) {
      await page.locator('.tabs a').nth(i).click();
      await ready();
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /[\u0000-\u0008\u000b\u001b\u202a-\u202e\u2066-\u2069\u009b]/);
    }
    assert.equal(await page.locator('main .failure, main .warning').count(), 0, await text('main'));
    for (const item of (await page.locator('[role=treeitem]').all()).slice(0, 20)) await item.click();
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('main script, main img, main svg, main iframe, main [onerror], a[href^="javascript:" i], a[href^="data:" i]')].map((element) => element.outerHTML)), []);
  }
  await open('/hostile/functions?since=2d');
  const names = await page.locator('main .function > :first-child').allInnerTexts();
  for (const wanted of ['<script>alert(1)</script>', '\\u{202e}gnissim\\u{202c}', "Robert'); drop table students;--", '__proto__', '日本語']) assert.ok(names.includes(wanted), `${wanted} in ${names.length} names`);
  for (const field of ['route', 'release', 'variant']) {
    await page.click(`#filter-${field}`);
    await page.waitForSelector('.value');
    await page.keyboard.press('Escape');
  }
  for (const address of ['/%3Cscript%3Ealert(1)%3C%2Fscript%3E/flame', '/shop/%3Cimg%20src=x%20onerror=alert(1)%3E', '/shop/function/%22%3E%3Csvg%20onload=alert(1)%3E', '/shop/timing/javascript:alert(1)', '/%E0%A4%A/flame', `/shop/flame?${'q='.padEnd(6000, 'x')}`]) await open(address);
  assert.deepEqual(requests, []);
  // The browser itself notes the answers that are errors.
  assert.deepEqual(complaints.filter((complaint) => !complaint.startsWith('Failed to load resource')), []);
});

// ---- access ----

const everyView = ['/', '/shop?since=2d', '/shop/functions?since=2d', '/shop/compare?before=2.2.9&after=2.3.0', '/shop/timings?since=2d', '/shop/timing/respond?since=2d', '/shop/vitals?since=2d', '/shop/vital/INP?since=2d',
  '/shop/interactions?since=2d', '/shop/long-frames?since=2d', '/shop/where?since=2d', '/shop/coverage?since=2d'];

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`axe finds nothing on any view, ${colorScheme}`, async () => {
    await page.context().close();
    // The page's own policy would refuse axe's script.
    ({ page, complaints } = await newPage({ colorScheme, bypassCSP: true, reducedMotion: 'reduce' }));
    const [{ key }] = await sql("function_key as key from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
    const kept = [...await keptSession("format = 'opera-scope'"), ...await keptSession("format <> 'opera-scope'")];
    for (const address of [...everyView, `/shop/function/${key}?since=2d`, '/kept/sessions', ...kept.map((id) => `/kept/session/${id}`)]) {
      await open(address);
      if (address === '/shop?since=2d') {
        await page.focus('.icicle canvas');
        await press('ArrowDown', 'ArrowDown');
        await page.click('#filter-route');
        await page.waitForSelector('.value');
      }
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => (await /** @type {any} */ (globalThis).axe.run()).violations
        .map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? node.failureSummary}`).join(' | ')}`));
      assert.deepEqual(violations, [], address);
    }
    await press('?');
    assert.deepEqual(await page.evaluate(async () => (await /** @type {any} */ (globalThis).axe.run('dialog')).violations.map((/** @type {any} */ { id }) => id)), []);
  });
}

for (const colorScheme of /** @type {('light' | 'dark')[]} */ (process.env.FLEETPROF_NARROW ? ['light', 'dark'] : ['light'])) {
  test(`no view is wider than a telephone, ${colorScheme}`, async () => {
    await page.context().close();
    ({ page, complaints } = await newPage({ colorScheme, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true }));
    const [{ key }] = await sql("function_key as key from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
    const kept = [...await keptSession("format = 'opera-scope'"), ...await keptSession("format <> 'opera-scope'")];
    const pictures = process.env.FLEETPROF_NARROW;
    for (const [i, address] of [...everyView, `/shop/function/${key}?since=2d`, '/shop/flame?since=nonsense', '/hostile/functions?since=2d', '/hostile/compare?since=2d', '/kept/sessions', ...kept.map((id) => `/kept/session/${id}`)].entries()) {
      await open(address);
      if (pictures) await page.screenshot({ path: path.join(pictures, `${colorScheme}-${i}${address.replace(/[^a-z]+/g, '-')}.png`), fullPage: true });
      assert.deepEqual(await outOfSight(), [], address);
    }
    await open('/shop?since=2d');
    for (const menu of ['#filter-route', '#filter-period', '#export', '#keys']) {
      await page.click(menu);
      await page.waitForSelector('.panel:visible, dialog[open]');
      if (pictures) await page.screenshot({ path: path.join(pictures, `${colorScheme}-open-${menu.slice(1)}.png`) });
      assert.deepEqual(await outOfSight(), [], menu);
      await page.keyboard.press('Escape');
    }
  });
}

/** Returns the elements that reach out of the window, and are not in a box that scrolls. */
const outOfSight = () => page.evaluate(() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = (/** @type {Element | null} */ element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const found = [...document.body.querySelectorAll('*')].filter((element) => {
    const { left, right, width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && (right > wide + 1 || left < -1) && !scrolls(element.parentElement) && !element.matches('.skip, .unseen, .unseen *');
  }).map((element) => `${element.tagName} ${element.id || element.className} ${Math.round(element.getBoundingClientRect().left)}–${Math.round(element.getBoundingClientRect().right)}`);
  return document.documentElement.scrollWidth > wide ? [`the page is ${document.documentElement.scrollWidth} wide`, ...found.slice(0, 8)] : found.slice(0, 8);
});

// ---- trouble ----

test('a slow database, and one that goes away in mid-answer, are said so', async () => {
  const { process: hasty, url } = await serve(`${stack.postgres.conninfo('fleetprof_reader')} application_name=hasty`, ['--statement-timeout', '2']);
  const lock = stack.execute("set application_name = 'lock'; begin; lock table fleetprof_data.segment; select pg_sleep(120)").catch(() => {});
  const busy = (/** @type {string} */ name, /** @type {string} */ event) => waitFor(async () =>
    (await stack.sql(`select from pg_stat_activity where application_name = '${name}' and ${event}`)).length, { what: name });
  try {
    await busy('lock', "wait_event = 'PgSleep'");
    await page.goto(`${url}/shop/functions?since=2d`);
    await ready();
    assert.match(await text('main .failure'), /longer than the report's server waits|locked/);
    const gone = page.goto(`${origin}/shop/functions?since=2d`);
    await busy('fleetprof serve', "state = 'active' and wait_event_type = 'Lock'");
    await stack.postgres.stop('SIGQUIT');
    await gone;
    await ready();
    assert.match(await text('main .failure'), /database (went away|is stopping|cannot be reached|is busy)/);
  } finally {
    await stack.postgres.start();
    await lock;
    await hasty.stop();
  }
});

test('a database of another version, and one without data, are said so', async () => {
  const name = "name = 'functions/hotspots.sql'";
  const [{ version }] = await stack.sql(`select version from fleetprof.schema_version where ${name}`);
  await stack.execute(`update fleetprof.schema_version set checksum = 'x' || checksum, version = '9.9.9' where ${name}`);
  const { process: other, url } = await serve(stack.postgres.conninfo('fleetprof_reader'));
  await page.goto(`${url}/shop`);
  await ready();
  assert.match(await text('main .failure'), /another version of fleetprof/);
  await other.stop();
  await stack.execute(`update fleetprof.schema_version set checksum = substr(checksum, 2), version = '${version}' where ${name}`);
  const empty = await startPostgres();
  const { code, stderr } = await run([path.join(binDir, 'fleetprof'), 'migrate', '--database', empty.conninfo()]);
  assert.equal(code, 0, stderr);
  const { process: bare, url: blank } = await serve(empty.conninfo('fleetprof_reader'));
  for (const address of ['/', '/shop', '/shop/functions']) {
    await page.goto(blank + address);
    await ready();
    assert.match(await text('main .empty'), /\.$/, address);
  }
  await bare.stop();
  await empty.stop();
});

test('an answer without rows says why, in a sentence', async () => {
  for (const view of ['flame', 'functions', 'compare', 'timings', 'timing/x', 'vitals', 'interactions', 'long-frames', 'where', 'coverage', 'function/123', 'sessions', 'session/123']) {
    await open(`/nobody/${view}`);
    assert.match(await text('main .empty'), /\.$/, view);
  }
  assert.deepEqual(complaints, []);
});

test('what cannot be meant is said in the words of the server', async () => {
  await open('/shop/flame?since=nonsense');
  assert.match(await text('main .failure'), /since/);
  await open('/shop/nowhere');
  assert.match(await text('main .failure'), /There is no view “nowhere”\./);
  await open('/shop/constructor');
  assert.match(await text('main .failure'), /There is no view “constructor”\./);
  await open('/shpo/flame');
  assert.match(await text('.anecdote'), /No upload of a site “shpo” is in the database\./);
  await open('/shop/flame?route=%2Fnowhere');
  assert.equal(await page.isVisible('.anecdote'), false);
  await open('/shop/flame?since=1h&until=2d');
  assert.match(await text('main .failure'), /later than/);
});

test('a database that goes away is said so, and comes back', async () => {
  await stack.postgres.stop('SIGQUIT');
  await open('/shop/functions?since=2d');
  assert.match(await text('main .failure h2'), /\.$/);
  await stack.postgres.start();
  await waitFor(async () => {
    await page.click('#again');
    await ready();
    return await page.locator('main table').count() > 0;
  }, { what: 'an answer after the database is back' });
});

test('a server that goes away, and an answer that is cut, end in sentences', async () => {
  await open('/shop/coverage?since=2d');
  await page.route('**/api/v1/timings?**', (route) => route.fulfill({ contentType: 'application/json', body: '{"columns":[{"na' }));
  await press('g', 't');
  assert.match(await text('main .failure'), /cannot be read[\s\S]*cut this one/);
  await page.route('**/api/v1/vitals?**', (route) => route.abort());
  await press('g', 'v');
  assert.match(await text('main .failure'), /did not answer in full/);
  await page.route('**/api/v1/flamegraph_columns?**', (route) => route.fulfill({ contentType: 'application/json', body: '{"tree":{"frames":{},"level":[0,2],"frame":[-1,-1],"self":[0,0],"total":[1,1],"samples":[1,1]}}' }));
  await press('g', 'f');
  assert.match(await text('main .failure'), /cannot show this answer[\s\S]*not in order/);
});

test('a part that fails is called missing, and is not in a saved file', async () => {
  const refuse = (/** @type {import('playwright-core').Route} */ route) => route.fulfill({ status: 503, contentType: 'application/problem+json', json: { title: 'The query took too long', detail: 'Ask for less.' } });
  await page.route('**/api/v1/histogram?**', refuse);
  await open('/shop/vital/LCP?since=2d');
  assert.match(await text('main'), /^A part of this view is missing: The query took too long\. Ask for less\./);
  assert.match(await text('main'), /This part is missing\./);
  assert.doesNotMatch(await text('main'), /no value of 0 or more/);
  const file = path.join(temporaryDir('report'), 'report.html');
  fs.writeFileSync(file, await exported('#export-file'));
  const { page: saved } = await newPage();
  await saved.goto(pathToFileURL(file).href);
  await ready(saved);
  assert.match(await saved.locator('main').innerText(), /A part of this view is missing: This saved report does not contain this\./);
  await saved.context().close();
  await page.route('**/api/v1/vital_hotspots?**', refuse);
  await page.click('#export');
  await page.click('#export-file');
  assert.match(await text('dialog'), /The view is not saved[\s\S]*The query took too long\. Ask for less\./);
});

test('a database without the schema is said so', async () => {
  const empty = startProcess('fleetprof serve', [path.join(binDir, 'fleetprof'), 'serve', '--listen', `127.0.0.1:${await freePort()}`, '-d', stack.postgres.conninfo('postgres', 'postgres'), '--allow-writer']);
  const url = await waitFor(() => /http:\/\/127\.0\.0\.1:\d+/.exec(empty.output())?.[0] ?? (empty.running() ? '' : 'ended'), { what: 'an address' });
  if (url !== 'ended') {
    await page.goto(`${url}/shop`);
    await ready();
    assert.match(await text('main .failure'), /schema|migrate/i);
    await empty.stop();
  } else {
    assert.match(empty.output(), /schema|migrate/i);
  }
});

// ---- one file ----

test('a view that is saved as a file opens from disk and asks nobody', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  // The file answers for the table in view.
  await page.locator('.tabs a:not([aria-current])').evaluateAll((all) => all.forEach((each) => each.remove()));
  const sight = await text('main');
  const hours = await page.getAttribute('.strip', 'aria-label');
  const file = path.join(temporaryDir('report'), 'report.html');
  fs.writeFileSync(file, await exported('#export-file'));
  const { page: saved, complaints: heard } = await newPage();
  /** @type {string[]} */
  const requests = [];
  saved.on('request', (request) => { if (!/^(data|file):/.test(request.url())) requests.push(request.url()); });
  await saved.goto(pathToFileURL(file).href);
  await ready(saved);
  assert.equal(await saved.locator('main').innerText(), sight, 'it begins with the comparison');
  assert.equal(await saved.getAttribute('.strip', 'aria-label'), hours);
  await saved.keyboard.press('g');
  await saved.keyboard.press('f');
  await ready(saved);
  assert.match(saved.url(), /report\.html#\/shop\/flame$/);
  assert.match(await saved.locator('main .failure').innerText(), /does not contain this/);
  await saved.goBack();
  await arrived('/shop/compare', saved);
  assert.equal(await saved.locator('main').innerText(), sight);
  assert.deepEqual([requests, heard], [[], []]);
  await saved.context().close();
});

test('a saved view offers no choice that it has no answer for', async () => {
  const file = path.join(temporaryDir('report'), 'report.html');
  const groups = '.tabs a';
  for (const [view, kept] of [['where?since=2d&by=browser', 'browser'], ['vital/INP?since=2d&by=device', 'device']]) {
    await open(`/shop/${view}`);
    assert.ok(await page.locator(groups).count() > 5);
    fs.writeFileSync(file, await exported('#export-file'));
    const { page: saved } = await newPage();
    await saved.goto(pathToFileURL(file).href);
    await ready(saved);
    assert.deepEqual((await saved.locator(groups).allInnerTexts()).filter((text) => !['hours', 'days'].includes(text)), [kept]);
    await saved.context().close();
  }
});

// ---- pictures ----

test('the pictures of the manual', { skip: !process.env.FLEETPROF_SCREENSHOTS && 'FLEETPROF_SCREENSHOTS is not set' }, async () => {
  const folder = path.resolve(process.env.FLEETPROF_SCREENSHOTS ?? '');
  await page.setViewportSize({ width: 1180, height: 720 });
  await open('/shop?since=2d');
  await page.focus('.icicle canvas');
  for (let i = 0; i < 8; i += 1) await press('ArrowDown');
  await page.screenshot({ path: path.join(folder, 'report-flame.png') });
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await page.screenshot({ path: path.join(folder, 'report-compare.png') });
});
