// SPDX-License-Identifier: Apache-2.0
/** From a slow page to the function: envelopes with vitals, over HTTP, to SQL's functions and the command line. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { dimensions } from '../../tools/filters.mjs';
import { binDir, run, startStack, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const safari = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15';
const script = 'https://static.shop.example/app.js';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {NodeJS.ProcessEnv} */
let env;

/**
 * A profile of 2 s, one sample in the middle of every 10 ms. The interaction at 1,000 ms takes `clickMs`: `addToCart` runs in all of it, and
 * in a slow one `sortReviews` on top of it after 50 ms. Before it, `boot` runs for 600 ms.
 * @param {number} clickMs
 */
function profile(clickMs) {
  const samples = [];
  for (let timestamp = 5; timestamp < 2000; timestamp += 10) {
    const into = timestamp - 1000;
    const inClick = into >= 0 && into < clickMs;
    const stackId = inClick ? (into >= 50 ? 3 : 2) : timestamp < 600 ? 1 : undefined;
    samples.push(stackId === undefined ? { timestamp } : { timestamp, stackId });
  }
  return {
    resources: ['https://www.shop.example/product/7', script],
    frames: [{ name: '', resourceId: 0, line: 12, column: 3 }, { name: 'boot', resourceId: 1, line: 9, column: 1 },
      { name: 'addToCart', resourceId: 1, line: 310, column: 9 }, { name: 'sortReviews', resourceId: 1, line: 388, column: 12 }],
    stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }, { frameId: 2 }, { frameId: 3, parentId: 2 }],
    samples,
  };
}

/** Returns the upload of one page load. @param {{ route: string, clickMs: number, lcp: number }} page */
const page = ({ route, clickMs, lcp }) => ({
  version: 1,
  page: { url: `https://www.shop.example${route}` },
  release: '2026.11.2',
  sampleInterval: 10,
  vitals: [
    { name: 'LCP', value: lcp, navigationType: 'navigate' },
    { name: 'INP', value: clickMs, target: 'button.add-to-cart', start: 1000, duration: clickMs },
    { name: 'CLS', value: 0.05 },
    { name: 'TTFB', value: 200, server: Math.min(240, lcp / 16), cache: lcp > 1000 ? 'MISS' : 'HIT' },
  ],
  interactions: [{ type: 'pointer', start: 1000, processingStart: 1000 + clickMs / 8, processingEnd: 1000 + clickMs / 2, duration: clickMs,
    target: 'button.add-to-cart' }],
  responses: [{ type: 'pointer', start: 1000, duration: 2 * clickMs, target: 'button.add-to-cart' }],
  frames: [{ start: 1000, duration: clickMs, blocking: clickMs - 50, scripts: [{ invoker: 'BUTTON.onclick', invokerType: 'event-listener',
    url: script, function: 'addToCart', position: 310, start: 1000, duration: clickMs / 2, forced: 20 }] }],
  resources: [
    { host: 'static.shop.example', kind: 'script', count: 2, duration: [40, 60], bytes: 90_000, opaque: 0 },
    { host: 'fonts.example', kind: 'css', count: 3, duration: [], bytes: 0, opaque: 3 },
  ],
});

let sent = 0;
/** @param {object} envelope @param {string} browser */
async function upload(envelope, browser) {
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, {
    method: 'POST', headers: { 'user-agent': browser }, body: JSON.stringify(envelope),
  });
  assert.equal(reply.status, 204, await reply.text());
  sent++;
}

/** @param {string} query below `select` */
const ask = (query) => stack.sql(`select ${query}`);

/** @param {string[]} args @returns {Promise<any[]>} */
async function json(...args) {
  const { code, stdout, stderr } = await run([program, ...args, '--json'], { env });
  assert.deepEqual([code, stderr], [0, '']);
  return JSON.parse(stdout);
}

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/product/:id', '/cart'] }] } });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') };
  const product = { route: '/product/7', lcp: 4500 };
  const cart = { route: '/cart', lcp: 1200 };
  // Profiled: two page loads with a slow click, one with a fast one. Not profiled: the vitals alone.
  for (const clickMs of [600, 600, 80]) await upload({ ...page({ ...product, clickMs }), trace: profile(clickMs) }, chrome);
  for (const clickMs of [560, 560]) await upload({ ...page({ ...product, clickMs }), coverage: 'unsupported' }, safari);
  for (const clickMs of [80, 240]) await upload(page({ ...cart, clickMs }), chrome);
  await upload({ version: 1, page: { url: 'https://www.shop.example/cart' }, release: '2026.11.2', coverage: 'no-policy' }, chrome);
  await waitFor(async () => (await ask('count(*) as n from fleetprof.upload_log'))[0].n === sent, { what: `${sent} uploads in SQL` });
});
after(async () => { await stack?.stop(); });

/** At most 1.6 % off. @param {number} value @param {number} wanted */
const close = (value, wanted) => assert.ok(Math.abs(value / wanted - 1) <= 0.016, `${value}, not ${wanted}`);

test('vitals: counts, percentiles and ratings of all page loads, profiled or not', async () => {
  const rows = await json('vitals');
  assert.deepEqual(rows.map(({ name, unit, count }) => [name, unit, count]),
    [['LCP', 'ms', 7], ['INP', 'ms', 7], ['CLS', 'score x 1000', 7], ['TTFB', 'ms', 7]]);
  const [lcp, inp, cls] = rows;
  close(lcp.p50, 4500);
  close(inp.p75, 600);
  close(cls.p50, 50);
  assert.deepEqual([inp.good_share, inp.needs_improvement_share, inp.poor_share], [2 / 7, 1 / 7, 4 / 7]);
  assert.deepEqual([cls.good_share, cls.poor_share], [1, 0]);
});

test('vitals by route and by browser: which page, for whom', async () => {
  const routes = (await json('vitals', '--by', 'route')).filter(({ name }) => name === 'INP');
  assert.deepEqual(routes.map(({ value, count, poor_share: poor }) => [value, count, poor]), [['/product/:id', 5, 0.8], ['/cart', 2, 0]]);
  const browsers = (await json('vitals', '--by', 'browser', '--route', '/product/:id')).filter(({ name }) => name === 'LCP');
  assert.deepEqual(browsers.map(({ value, count, poor_share: poor }) => [value, count, poor]), [['Chrome', 3, 1], ['Safari', 2, 1]]);
  const { code, stderr } = await run([program, 'vitals', '--by', 'page'], { env });
  assert.equal(code, 2);
  assert.match(stderr, /error: no dimension is named "page"\n/);
  assert.ok(stderr.includes(`hint: Dimensions are ${[...dimensions, 'navigation', 'custom.NAME'].join(', ')}.\n`), stderr);
});

test('vital_hotspots names the function inside slow interactions, and what it costs in fast ones', async () => {
  const rows = await ask(`function, line, self_ms, uploads, self_ms_per_load, good_self_ms, good_uploads, good_self_ms_per_load
    from fleetprof.vital_hotspots('INP', 'shop', route => '/product/:id')`);
  assert.deepEqual(rows, [
    { function: 'sortReviews', line: 388, self_ms: 1100, uploads: 2, self_ms_per_load: 550, good_self_ms: 30, good_uploads: 1, good_self_ms_per_load: 30 },
    { function: 'addToCart', line: 310, self_ms: 100, uploads: 2, self_ms_per_load: 50, good_self_ms: 50, good_uploads: 1, good_self_ms_per_load: 50 },
  ]);
});

test('windows are measures: of interactions, of one target, of long frames, of LCP', async () => {
  const inside = async (/** @type {string} */ name) => (await json('top', '--measure', name)).map((row) => [row.function, row.self_ms]);
  const clicks = [['sortReviews', 1130], ['addToCart', 150]];
  assert.deepEqual(await inside('(interaction)'), clicks);
  assert.deepEqual(await inside('(interaction) pointer button.add-to-cart'), clicks);
  assert.deepEqual(await inside('(response) button.add-to-cart'), clicks);
  assert.deepEqual(await inside('(long frame)'), clicks);
  assert.deepEqual((await inside('(lcp)'))[0], ['boot', 1800]);
});

test('interactions: how long, and where the time goes', async () => {
  const [row, ...others] = await json('interactions', '--route', '/product/:id');
  assert.deepEqual(others, []);
  assert.deepEqual([row.target, row.type, row.count, row.max_ms, row.total_ms], ['button.add-to-cart', 'pointer', 5, 600, 2400]);
  assert.deepEqual([row.input_delay_share, row.processing_share, row.presentation_share], [0.125, 0.375, 0.5]);
  close(row.p98_ms, 600);
  assert.equal(row.responses, 5);
  close(row.response_p98_ms, 1200);
});

test('ttfb: the parts make the mean, by cache and by route', async () => {
  const rows = await json('ttfb', '--by', 'route');
  assert.ok(rows.length > 1);
  for (const row of rows) {
    assert.equal(row.mean_ms, 200);
    assert.equal(row.server_ms + row.network_ms, row.mean_ms);
    assert.equal(row.server_share, row.server_ms / 200);
  }
  const all = await json('ttfb');
  const count = (/** @type {any[]} */ some) => some.reduce((sum, row) => sum + row.count, 0);
  assert.equal(count(all), count(rows));
});

test('long frames: scripts, with their part of the blocking time', async () => {
  const [row, ...others] = await json('long-frames', '--route', '/product/:id');
  assert.deepEqual(others, []);
  assert.deepEqual([row.invoker, row.script, row.function, row.count], ['BUTTON.onclick', script, 'addToCart', 5]);
  assert.deepEqual([row.total_ms, row.blocking_ms, row.forced_layout_ms], [1200, 2150, 100]);
});

test('third parties: script time and responses by host', async () => {
  const rows = await json('third-parties');
  for (const row of rows) if (row.p75_ms !== null) close(row.p75_ms, 60);
  assert.deepEqual(rows.map(({ host, party, self_ms: self, requests, bytes, opaque_share: opaque }) => [host, party, self, requests, bytes, opaque]), [
    ['static.shop.example', 'first', 3080, 14, 630_000, 0],
    ['www.shop.example', 'first', 0, 0, null, null],
    ['fonts.example', 'third', null, 21, null, 1],
  ]);
});

test('the host of the page is known without a profile', async () => {
  const rows = await json('third-parties', '--route', '/cart');
  assert.deepEqual(rows.map(({ host, party, self_ms: self }) => [host, party, self]),
    [['static.shop.example', 'first', null], ['fonts.example', 'third', null]]);
});

test('coverage: profiled page loads, and why others are not', async () => {
  assert.deepEqual(await json('coverage'), [{
    loads: 6, profiled: 3, no_policy: 1, unsupported: 2, quota: 0, disabled: 0, not_sampled: null, overload: null, sampled: null, delivered: null,
    estimated_loads: null, seen_share: 1,
  }]);
});

test('page loads without a profile do not dilute means per page load', async () => {
  const [row] = await ask("total_ms_per_load, load_share from fleetprof.hotspots('shop') where function = 'boot'");
  assert.deepEqual([row.total_ms_per_load, row.load_share], [600, 1]);
});

test('for people: a table, and below it what the numbers are', async () => {
  for (const [args, heading, footer] of /** @type {[string[], RegExp, RegExp][]} */ ([
    [['vitals'], /^VITAL UNIT +COUNT +P50 +P75 +P95 GOOD % NEEDS IMPROVEMENT % POOR % P75 AT LEAST P75 AT MOST FLAGGED$/m, /Percentiles are in UNIT/],
    [['vitals', '--by', 'route'], /^VALUE +VITAL UNIT/m, /Percentiles are in UNIT/],
    [['ttfb'], /^CACHE +LOADS +P75 MS MEAN MS SERVER MS NETWORK MS SERVER %$/m, /add up to MEAN MS/],
    [['interactions'], /^TARGET +TYPE +COUNT +P75 MS/m, /Shares are of TOTAL MS/],
    [['long-frames'], /^INVOKER +FUNCTION +SCRIPT +COUNT/m, /A row without names is of frames without scripts/],
    [['third-parties'], /^HOST +PARTY +SELF MS/m, /Opaque responses lack Timing-Allow-Origin/],
    [['coverage'], /^LOADS PROFILED NO POLICY/m, /An empty cell is not known/],
  ])) {
    const { code, stdout, stderr } = await run([program, ...args], { env });
    assert.equal(code, 0, stderr);
    assert.match(stdout.replaceAll('\t', ' '), heading);
    assert.match(stderr, footer);
  }
});

test('an answer is empty for a reason: nothing matches, or page loads that match have nothing of it', async () => {
  for (const command of ['vitals', 'ttfb', 'interactions', 'long-frames', 'third-parties', 'coverage']) {
    const { code, stdout, stderr } = await run([program, command, '--release', 'nope'], { env });
    assert.deepEqual([code, stdout], [0, ''], command);
    assert.match(stderr, /nothing was counted for the release "nope" of site "shop"\n/);
  }
  const window = await run([program, 'top', '--measure', '(INP) poor', '--since', '2020-01-01', '--until', '2020-01-02'], { env });
  assert.match(window.stderr, /^fleetprof: nothing matches\n/, 'a window has a name that is known');
  const { stderr } = await run([program, 'timings'], { env });
  assert.equal(stderr, 'fleetprof: the page loads that match have no marks or measures\n');
});
