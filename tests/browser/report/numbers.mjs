// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: numbers on screen are SQL's, in lists, graphs, functions and their trends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { envelope, send } from '../../behaviour/collector_client.mjs';
import { waitFor } from '../../behaviour/stack.mjs';
import { stepBack } from '../../behaviour/step.mjs';
import { arrived, complaints, open, page, period, picked, press, ready, screenRows, sql, stack, text } from './page.mjs';

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
  ['/?sort=-loads', '* from fleetprof.sites() order by loads desc', ['loads', 'uploads', 'profiled_ms']],
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

test('coverage lists hangs, crashes and broken policies where browsers report some', async () => {
  await open('/bundled/coverage?since=2d');
  assert.equal(await page.locator('[data-hangs], [data-violations]').count(), 0);
  const crash = { type: 'crash', age: 1, url: 'https://bundled.example/', user_agent: '', body: {} };
  const stackText = '\n    at <b>spin\u202e (https://bundled.example/app\u202e.js:12:3)\n    at main\u202e (https://bundled.example/app.js:1:1)';
  const reply = await fetch(`${stack.collector.url}/v1/reports/pk_bundled`, { method: 'POST', headers: { 'Content-Type': 'application/reports+json' },
    body: JSON.stringify([{ ...crash, body: { reason: 'unresponsive', stack: stackText } }, crash, crash,
      { ...crash, type: 'document-policy-violation', body: { policyId: 'js-profiling\u202e' } }]) });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await sql("count(*) as count from fleetprof.hangs('bundled')"))[0].count > 0, { what: 'the reports in SQL' });
  await open('/bundled/coverage?since=2d');
  const [{ loads }] = await sql("loads::int from fleetprof.hangs('bundled', since => now() - interval '2 days')");
  assert.match(await text('[data-hangs]'), new RegExp(`^Browsers report 3 documents that hung or crashed, ${(300_000 / loads).toLocaleString('en')} per 100,000 page loads`));
  assert.deepEqual(await page.locator('[data-hangs] li').allInnerTexts(),
    ['2 crash', '1 unresponsive in <b>spin\\u{202e} (https://bundled.example/app\\u{202e}.js:12), called by main\\u{202e}']);
  assert.equal(await text('[data-violations]'), 'Browsers report documents that broke their policy: 1 js-profiling\\u{202e}.');
});

test('coverage says what profiling costs where page loads say what the server drew', async () => {
  await open('/bundled/coverage?since=2d');
  assert.doesNotMatch(await text('main'), /What profiling costs/);
  for (const [drawn, value] of /** @type {[boolean, number][]} */ ([[false, 1000], [false, 1100], [false, 1200], [true, 1500], [true, 1600], [true, 1700]])) {
    const reply = await send(`${stack.collector.url}/v1/ingest/pk_bundled`, { body: envelope({ trace: undefined, drawn, vitals: [{ name: 'LCP', value, navigationType: 'navigate' }] }) });
    assert.equal(reply.status, 204, reply.body);
  }
  const ask = () => sql("* from fleetprof.profiling_cost('bundled', since => now() - interval '2 days')");
  await waitFor(async () => (await ask())[0]?.drawn_count === 3 && (await ask())[0].other_count === 3, { what: 'all page loads in SQL' });
  await open('/bundled/coverage?since=2d');
  const shown = (await screenRows()).slice(-2);
  assert.deepEqual(shown.map(({ name, other_count: others, drawn_count: drawn }) => [name, others, drawn]), [['LCP, p50', 3, 3], ['LCP, p75', 3, 3]]);
  assert.match(await text('main'), /What profiling costs visitors[\s\S]*early/);
});

test('the flame graph: functions, selection and whole agree with SQL', async () => {
  await open('/shop/flame?since=2d');
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
  await open('/shop/flame?since=2d');
  const legend = await text('.legend');
  await open('/shop/flame?since=2d&inverted=1');
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

test('a function says whose it is, what the latest release did to it, who calls it, and has its name in the address', async () => {
  const [{ key, verdict, before, after }] = await sql("function_key as key, verdict, before_self_ms as before, after_self_ms as after from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
  await open(`/shop/function/${key}?since=2d`);
  const facts = await text('.facts');
  assert.equal(verdict, 'slower');
  assert.match(facts, /Whose\s+own scripts · static\.shop\.example/);
  assert.match(facts, /Latest release\n▲ slower in 2\.3\.0: [\d.]+ → [\d.]+ ms per page load, \+\d+ % \(.*\) since 2\.2\.9\. Compare/);
  assert.ok(after > before);
  assert.match(facts, /Called by\nReviews [\d.]+ %/);
  assert.ok(await page.locator('.facts').evaluate((element) => element.getBoundingClientRect().bottom < innerHeight), 'callers are on the first screen');
  const [{ ms, share }] = await sql(`self_ms_per_load as ms, load_share as share from fleetprof.hotspots('shop', ${period}, top => 500) where function_key = '${key}'`);
  const self = () => page.locator('.facts [data-value]').first().innerText();
  const shown = async () => Number(/^[\d.]+/.exec(await self())?.[0]);
  assert.ok(Math.abs(await shown() - ms) < 0.01 * ms);
  await page.click('main .tabs >> text=per page load that runs it');
  await ready();
  assert.match(await self(), /ms per page load that runs it/);
  assert.ok(Math.abs(await shown() - ms / share) < 0.01 * ms / share);
  assert.equal(new URL(page.url()).pathname, `/shop/function/sortReviews~${key}`);
  await page.reload();
  await ready();
  assert.match(await self(), /ms per page load that runs it/);
  assert.equal(await text('h2.name'), 'sortReviews');
  await page.click('.facts a >> text=Compare');
  await arrived('/shop/compare?');
  assert.deepEqual(complaints, []);
});

test('a function has its own numbers where the graph leaves places out', async () => {
  await page.route('**/api/v1/flamegraph_columns?**', (route) => route.continue({ url: route.request().url().replace(/max_nodes=\d+/, () => 'max_nodes=24') }));
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
  for (const [address, parts] of [[`function/${key}`, 'the trend, where it runs and the measures'], ['vital/INP', 'values, the trend and the breakdown'], ['timing/respond', 'values and the trend']]) {
    for (const [filter, times] of /** @type {[string, number][]} */ ([['marker=%28none%29', 1], ['exclude_marker=gc', 1], ['route=%2Fcart', 0]])) {
      await open(`/shop/${address}?since=2d&${filter}`);
      assert.equal(await page.locator('main .note', { hasText: `The filter marker does not apply to ${parts}.` }).count(), times, `${address} ${filter}`);
    }
  }
});
