// SPDX-License-Identifier: Apache-2.0
/**
 * Vitals, interactions, long animation frames, resources and coverage, from HTTP to SQL: what each counts, and which
 * samples its windows own.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { frameKey, sumsOf, toMicroseconds } from './oracle.mjs';
import { repository, startCollector, startStack, waitFor } from './stack.mjs';

const real = JSON.parse(fs.readFileSync(path.join(repository, 'tests/data/perf-coi-trace.json'), 'utf8'));
const trace = real.trace ?? real;

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => {
  stack = await startStack({
    config: {
      ceilings: { timing_names: 100 },
      sites: ['shop', 'flooded', 'flooded-too', 'flooded-thrice'].map((name) => ({ name, key: `pk_${name}`, routes: ['/product/:id'] })),
    },
  });
});
after(() => stack?.stop());

let releases = 0;
/** Uploads, and returns the release under which it is in SQL. @param {any} envelope @param {string} [site] */
async function upload(envelope, site = 'shop') {
  const release = envelope.release ?? `r${++releases}`;
  const id = randomUUID();
  const body = JSON.stringify({ version: 1, id, release, ...envelope });
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_${site}`, { method: 'POST', body });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await stack.sql(
    `select 1 from fleetprof.upload_log where upload_id = '${id}'`)).length > 0, { what: 'upload in SQL' });
  return release;
}

/** The timings of a release, as [kind, name, source, function, count, sum]. @param {string} release
 * @param {string} [kinds] a pattern */
const timingsOf = async (release, kinds = '%') => (await stack.sql(`
  select kind, name, source, function, sum(count)::int as count, sum(sum_us) as sum
  from fleetprof_data.timing_fact join fleetprof_data.timing using (timing_id)
  join fleetprof_data.segment using (segment_id)
  where release = '${release}' and kind::text like '${kinds}'
  group by 1, 2, 3, 4 order by kind, name collate "C", source collate "C"`))
  .map((row) => [row.kind, row.name, row.source, row.function, row.count, row.sum]);

const interaction = (/** @type {number} */ start, /** @type {number} */ duration, /** @type {object} */ more) =>
  ({ type: 'pointer', start, processingStart: start + 1, processingEnd: start + 3, duration, ...more });

test('each member is counted under its kind', async () => {
  const release = await upload({
    coverage: 'quota',
    vitals: [{ name: 'LCP', value: 1000 }, { name: 'LCP', value: 5000, navigationType: 'back-forward-cache' },
      { name: 'CLS', value: 0.2 }, { name: 'TTFB', value: 300, server: 120, cache: 'MISS', id: 'v5-1' }],
    interactions: [interaction(10, 40, { target: 'ul > li:nth-child(3) > button#buy-77.css-1dbjc4n' })],
    responses: [{ type: 'pointer', start: 10, duration: 700, target: 'ul > li:nth-child(3) > button#buy-77.css-1dbjc4n' }],
    frames: [{ start: 0, duration: 100, blocking: 30, scripts: [
      { invoker: 'BUTTON#buy-77.onclick', url: 'https://shop.example/app.js?v=1', function: 'buy', start: 5, duration: 60, forced: 4 },
      { invoker: 'Window.setTimeout', url: 'https://shop.example/product/7', start: 65, duration: 30 }] }],
    resources: [{ host: 'CDN.example', kind: 'script', duration: [10, 20], bytes: 900 }, { host: 'ads.example', kind: 'img', opaque: true }],
    page: { url: 'https://shop.example/product/7' },
  });
  assert.deepEqual(await timingsOf(release), [
    ['vital', 'CLS', '', '', 1, 200_000],
    ['vital', 'LCP', '', '', 2, 6_000_000],
    ['vital', 'TTFB', '', '', 1, 300_000],
    ['vital_good', 'LCP', '', '', 1, 0],
    ['vital_good', 'TTFB', '', '', 1, 0],
    ['vital_poor', 'LCP', '', '', 1, 0],
    ['window', '(LCP) good', '', '', 1, 1_000_000],
    ['window', '(TTFB) good', '', '', 1, 300_000],
    ['window', '(interaction)', '', '', 1, 40_000],
    ['window', '(interaction) pointer ul>li:nth-child(*)>button#buy-*.css-*', '', '', 1, 40_000],
    ['window', '(lcp)', '', '', 1, 1_000_000],
    ['window', '(long frame)', '', '', 1, 100_000],
    ['window', '(response)', '', '', 1, 700_000],
    ['window', '(response) ul>li:nth-child(*)>button#buy-*.css-*', '', '', 1, 700_000],
    ['interaction', 'pointer', 'ul>li:nth-child(*)>button#buy-*.css-*', '', 1, 40_000],
    ['input_delay', 'pointer', 'ul>li:nth-child(*)>button#buy-*.css-*', '', 1, 1000],
    ['processing', 'pointer', 'ul>li:nth-child(*)>button#buy-*.css-*', '', 1, 2000],
    ['frame_script', 'BUTTON#buy-*.onclick', 'https://shop.example/app.js', 'buy', 1, 60_000],
    ['frame_script', 'Window.setTimeout', 'https://shop.example/product/:id', '', 1, 30_000],
    ['blocking', 'BUTTON#buy-*.onclick', 'https://shop.example/app.js', 'buy', 1, 20_000],
    ['blocking', 'Window.setTimeout', 'https://shop.example/product/:id', '', 1, 10_000],
    ['forced_layout', 'BUTTON#buy-*.onclick', 'https://shop.example/app.js', 'buy', 1, 4000],
    ['resource', 'cdn.example', 'script', '', 2, 30_000],
    ['resource_bytes', 'ads.example', 'img', '', 1, 0],
    ['resource_bytes', 'cdn.example', 'script', '', 2, 900],
    ['resource_opaque', 'ads.example', 'img', '', 1, 0],
    ['coverage', 'quota', '', '', 1, 0],
    ['page_host', 'shop.example', '', '', 1, 0],
    ['ttfb', 'MISS', '', '', 1, 300_000],
    ['ttfb_server', 'MISS', '', '', 1, 120_000],
    ['response', 'pointer', 'ul>li:nth-child(*)>button#buy-*.css-*', '', 1, 700_000],
  ]);
  const listed = await stack.sql(`select name from fleetprof.timings('shop', release => '${release}')
    union all select name from fleetprof.timing_hourly where release = '${release}'`);
  assert.deepEqual(listed, [], 'lists of marks and measures have none of these');
});

test('the same facts as entries are the same timings', async () => {
  const entries = [
    { entryType: 'largest-contentful-paint', startTime: 1000, size: 7 },
    { entryType: 'event', name: 'click', startTime: 10, processingStart: 11, processingEnd: 13, duration: 40, interactionId: 9, target: '#a' },
    { entryType: 'event', name: 'pointerup', startTime: 10, processingStart: 11, processingEnd: 13, duration: 32, interactionId: 9 },
    { entryType: 'long-animation-frame', startTime: 0, duration: 100, blockingDuration: 30, scripts: [
      { invoker: 'A#b.onclick', sourceURL: 'https://shop.example/app.js', sourceFunctionName: 'f', startTime: 5, duration: 60,
        forcedStyleAndLayoutDuration: 4 }] },
    { entryType: 'resource', name: 'https://cdn.example/a.js?u=1', initiatorType: 'script', duration: 10, requestStart: 1,
      responseStart: 2, transferSize: 900 },
  ];
  const members = {
    vitals: [{ name: 'LCP', value: 1000 }],
    interactions: [{ type: 'click', start: 10, processingStart: 11, processingEnd: 13, duration: 40, target: '#a' }],
    frames: [{ start: 0, duration: 100, blocking: 30, scripts: [
      { invoker: 'A#b.onclick', url: 'https://shop.example/app.js', function: 'f', start: 5, duration: 60, forced: 4 }] }],
    resources: [{ host: 'https://cdn.example/a.js', kind: 'script', duration: 10, bytes: 900 }],
  };
  const asEntries = await timingsOf(await upload({ entries }));
  assert.deepEqual(asEntries, await timingsOf(await upload(members)));
  assert.ok(asEntries.length > 9);
});

/** A click on a phone: three events of one frame. */
const clickEntries = [
  { name: 'pointerdown', startTime: 1000, processingStart: 1002, processingEnd: 1002.1, target: '#buy' },
  { name: 'pointerup', startTime: 1000.8, processingStart: 1002.5, processingEnd: 1002.6 },
  { name: 'click', startTime: 1000.8, processingStart: 1003.2, processingEnd: 1153.4 },
].map((entry) => ({ entryType: 'event', duration: 168, interactionId: 9, ...entry }));

test('entries of one frame are one interaction, with the time of all its handlers', async () => {
  const release = await upload({ entries: clickEntries, vitals: [{ name: 'INP', value: 168 }] });
  const [row, ...others] = await stack.sql(`select * from fleetprof.interactions('shop', release => '${release}')`);
  assert.deepEqual(others, []);
  assert.deepEqual([row.type, row.target, Number(row.count), row.max_ms], ['click', '#buy', 1, 168.8]);
  const near = (/** @type {number} */ share, /** @type {number} */ ms) => assert.ok(Math.abs(share - ms / 168.8) < 1e-6, JSON.stringify(row));
  near(row.input_delay_share, 2);
  near(row.processing_share, 151.4);
  near(row.presentation_share, 15.4);
  const windows = await timingsOf(release, 'window');
  assert.deepEqual(windows.find(([, name]) => name === '(INP) good'), ['window', '(INP) good', '', '', 1, 168_800],
    'the INP is that of the longest event, and finds its interaction');
});

/** The entries are Chromium's, of a click whose handler calls alert(). */
test('a handler that ends after its frame is clipped to it, and the rest of the upload counts', async () => {
  const release = await upload({
    marks: [{ name: 'ready', entryType: 'mark', startTime: 5 }],
    entries: [
      { name: 'pointerdown', entryType: 'event', startTime: 429.79999999701977, processingStart: 433.8999999985099, processingEnd: 434.3999999985099 },
      { name: 'pointerdown', entryType: 'first-input', startTime: 429.79999999701977, processingStart: 433.8999999985099,
        processingEnd: 434.3999999985099 },
      { name: 'pointerup', entryType: 'event', startTime: 429.8999999985099, processingStart: 435, processingEnd: 435.1000000014901 },
      { name: 'click', entryType: 'event', startTime: 429.8999999985099, processingStart: 435.1000000014901, processingEnd: 945.6999999955297 },
    ].map((entry) => ({ ...entry, duration: 64, interactionId: 6338, cancelable: true, navigationId: 2834 })),
  });
  assert.deepEqual((await timingsOf(release, 'mark')).map(([, name]) => name), ['ready']);
  assert.deepEqual(await timingsOf(release, 'interaction'), [['interaction', 'click', '', '', 1, 64_100]]);
  assert.deepEqual(await timingsOf(release, 'processing'), [['processing', 'click', '', '', 1, 60_000]]);
});

test('a page rendered in advance is measured from when it was shown, whatever the order of entries', async () => {
  const shown = { entryType: 'navigation', responseStart: 40, activationStart: 5000 };
  const paints = [
    { entryType: 'paint', name: 'first-paint', startTime: 5080 },
    { entryType: 'paint', name: 'first-contentful-paint', startTime: 5090 },
    { entryType: 'largest-contentful-paint', startTime: 5200 },
  ];
  for (const entries of [[shown, ...paints], [...paints, shown]]) {
    const release = await upload({ entries });
    assert.deepEqual(await timingsOf(release, 'vital'), [
      ['vital', 'FCP', '', '', 1, 90_000], ['vital', 'LCP', '', '', 1, 200_000], ['vital', 'TTFB', '', '', 1, 0]]);
    const windows = await timingsOf(release, 'window');
    assert.deepEqual(windows.find(([, name]) => name === '(lcp)')?.[5], 200_000);
    assert.deepEqual(windows.find(([, name]) => name === '(blocking)')?.[5], 80_000);
    const { id: _, ...part } = partOf(4000, 6000, { load: randomUUID(), release: `${release} profiled` });
    assert.deepEqual(await insideOf(await upload({ ...part, entries }), '(lcp)'), [200, 100], 'of the samples since then');
  }
});

test('windows own the samples of a real trace, to the microsecond', async () => {
  const times = trace.samples.map((/** @type {{ timestamp: number }} */ sample) => sample.timestamp);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const at = (/** @type {number} */ share) => first + (last - first) * share;
  const length = (last - first) / 5;
  const interactions = [0.1, 0.2, 0.6].map((share) => interaction(at(share), length, { target: '#buy' }));
  const release = await upload({
    trace, interactions, responses: [{ type: 'pointer', target: '#search', start: at(0.25), duration: 2.5 * length }],
    vitals: [{ name: 'INP', value: 501, start: at(0.4), duration: length }, { name: 'LCP', value: at(0.5) }],
    frames: [{ start: at(0.3), duration: length }],
  });
  /** @type {Record<string, [number, number][]>} starts and durations */
  const windows = {
    '(interaction)': interactions.map(({ start, duration }) => [start, duration]),
    '(interaction) pointer #buy': interactions.map(({ start, duration }) => [start, duration]),
    '(response)': [[at(0.25), 2.5 * length]],
    '(response) #search': [[at(0.25), 2.5 * length]],
    '(long frame)': [[at(0.3), length]],
    '(INP) poor': [[at(0.4), length]],
    '(lcp)': [[0, at(0.5)]],
  };
  for (const [name, list] of Object.entries(windows)) {
    const inside = list.map(([start, duration]) =>
      ({ from: toMicroseconds(start), to: toMicroseconds(start) + toMicroseconds(duration) }));
    const expected = sumsOf(trace, undefined, { inside });
    const rows = await stack.sql(
      `select * from fleetprof.measure_hotspots('${name}', 'shop', release => '${release}', top => null)`);
    const us = (/** @type {number} */ ms) => Math.round(ms * 1000);
    const actual = rows.map((row) => [
      frameKey({ ...row, function: row.function === '(anonymous)' ? '' : row.function, column: row.column_number, resource: row.resource ?? '' }),
      us(row.self_ms), us(row.total_ms), row.samples]);
    const wanted = [...expected.frames].map(([key, frame]) => [key, frame.self_us, frame.total_us, frame.samples]);
    assert.ok(wanted.length > 0, name);
    assert.deepEqual(actual.sort(), wanted.sort(), name);
    const self = rows.reduce((sum, row) => sum + us(row.self_ms), 0);
    assert.equal(self + expected.unattributed_us, expected.profiled_us, `${name}: self + unattributed = profiled`);
  }
});

test('page loads without a trace are not in the means of functions', async () => {
  const small = { resources: [], frames: [{ name: 'f', line: 1, column: 1 }], stacks: [{ frameId: 0 }],
    samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 0 }] };
  const release = 'means';
  const load = randomUUID();
  await upload({ release, load, vitals: [{ name: 'LCP', value: 5 }] });
  await upload({ release, load, part: 1, trace: small });
  await upload({ release, vitals: [{ name: 'LCP', value: 5 }] });
  await upload({ release, coverage: 'no-policy' });
  await upload({ release, load: randomUUID(), coverage: 'unsupported', vitals: [{ name: 'LCP', value: 5 }] });
  const [row] = await stack.sql(`select self_ms, self_ms_per_load, load_share from fleetprof.hotspots('shop', release => 'means')`);
  assert.deepEqual(row, { self_ms: 20, self_ms_per_load: 20, load_share: 1 });
  assert.deepEqual(await timingsOf(release, 'coverage'), [['coverage', 'no-policy', '', '', 1, 0], ['coverage', 'unsupported', '', '', 1, 0]]);
});

/** A part of a page load: a sample every 10 ms from `from` up to `to`, every second one of f. @param {number} from @param {number} to
 * @param {object} [more] */
const partOf = (from, to, more) => ({
  id: randomUUID(), version: 1, start: from, duration: to - from, sampleInterval: 10, part: from / 1000, ...more,
  trace: { resources: ['https://shop.example/a.js'], frames: [{ name: 'f', resourceId: 0, line: 1, column: 1 }], stacks: [{ frameId: 0 }],
    samples: Array.from({ length: (to - from) / 10 }, (_, i) => ({ timestamp: from + 10 * i + 5, ...i % 2 && { stackId: 0 } })) },
});

/** All orders of some numbers. @param {number[]} numbers @returns {number[][]} */
const ordersOf = (numbers) => (numbers.length < 2 ? [numbers]
  : numbers.flatMap((first) => ordersOf(numbers.filter((one) => one !== first)).map((rest) => [first, ...rest])));

/** Length of a window, and its page loads. @param {string} release @param {string} window */
async function lengthOf(release, window) {
  const [row] = await stack.sql(`select sum(window_us) / 1000.0 as length, sum(loads) as loads from fleetprof_data.measure_fact
    join fleetprof_data.timing using (timing_id) join fleetprof_data.segment using (segment_id)
    where release = '${release}' and name = '${window}'`);
  return [Number(row.length), Number(row.loads)];
}

/** Profiled and self time of f inside a window, ms. @param {string} release @param {string} window */
async function insideOf(release, window) {
  const [row] = await stack.sql(`select sum(profiled_us) / 1000.0 as profiled, sum(profiled_us - unattributed_us) / 1000.0 as attributed,
      (select sum(self_ms) from fleetprof.measure_hotspots('${window}', 'shop', release => '${release}')) as self
    from fleetprof_data.measure_fact join fleetprof_data.timing using (timing_id) join fleetprof_data.segment using (segment_id)
    where release = '${release}' and name = '${window}'`);
  assert.equal(Number(row.attributed), row.self, `${release} ${window}: self + unattributed = profiled`);
  return [Number(row.profiled), row.self];
}

/** @param {any} envelope @param {string} url of a collector */
const post = (envelope, url = stack.collector.url) =>
  fetch(`${url}/v1/ingest/pk_shop`, { method: 'POST', body: JSON.stringify(envelope) });

/** @param {string} release @param {number} count of its uploads */
const untilCounted = (release, count) => waitFor(async () => (await stack.sql(
  `select 1 from fleetprof.upload_log where release = '${release}'`)).length === count, { what: `${count} uploads of ${release}` });

const joined = async () => (await stack.collector.metrics()).fleetprof_load_parts_joined_total;

test('a page load with a trace is profiled, whatever reason it gives for having none', async () => {
  for (const samples of [trace.samples, []]) {
    const release = await upload({ trace: { ...trace, samples }, coverage: 'quota' });
    const [row] = await stack.sql(`select * from fleetprof.coverage('shop', release => '${release}')`);
    assert.deepEqual([Number(row.loads), Number(row.profiled), row.quota], [1, 1, null]);
  }
});

test('a page load whose agent stopped early is profiled, and counts once as overload', async () => {
  const load = randomUUID();
  const release = await upload({ load, part: 0, trace });
  await upload({ load, part: 1, release, trace, coverage: 'overload' });
  await untilCounted(release, 2);
  const [row] = await stack.sql(`select * from fleetprof.coverage('shop', release => '${release}')`);
  assert.deepEqual([row.loads, row.profiled, row.overload].map(Number), [1, 1, 1]);
  assert.equal(row.quota, null);
  const log = await stack.sql(`select coverage from fleetprof.upload_log where release = '${release}' order by part`);
  assert.deepEqual(log.map(({ coverage }) => coverage), ['', 'overload']);
});

test('windows reach across the parts of a page load, in any order of arrival, and retries count once', async () => {
  const make = (/** @type {string} */ release) => {
    const same = { release, load: randomUUID() };
    return [
      partOf(0, 1000, same), partOf(1000, 2000, same), partOf(2000, 3000, same),
      { id: randomUUID(), version: 1, start: 3000, duration: 0, ...same, interactions: [interaction(900, 1300, { target: '#buy' })],
        vitals: [{ name: 'LCP', value: 1500 }, { name: 'INP', value: 1300 }] },
    ];
  };
  for (const order of ordersOf([0, 1, 2, 3])) {
    const release = `order ${order.join('')}`;
    const parts = make(release);
    const before = await joined();
    for (const index of order) {
      assert.equal((await post(parts[index])).status, 204);
      assert.equal((await post(parts[index])).status, 204, 'a retry');
    }
    await untilCounted(release, 4);
    assert.deepEqual(await insideOf(release, '(interaction)'), [1300, 650], release);
    assert.deepEqual(await insideOf(release, '(INP) poor'), [1300, 650], release);
    assert.deepEqual(await insideOf(release, '(lcp)'), [1500, 750], release);
    assert.deepEqual(await lengthOf(release, '(interaction)'), [1300, 1], release);
    assert.deepEqual(await lengthOf(release, '(lcp)'), [1500, 1], release);
    const [{ per_load: perLoad }] = await stack.sql(`select self_ms_per_load as per_load
      from fleetprof.measure_hotspots('(interaction)', 'shop', release => '${release}')`);
    assert.equal(perLoad, 650, release);
    assert.deepEqual(await timingsOf(release, 'interaction'), [['interaction', 'pointer', '#buy', '', 1, 1_300_000]]);
    assert.ok(await joined() >= before + 3);
    const [row] = await stack.sql(`select self_ms, self_ms_per_load, uploads from fleetprof.hotspots('shop', release => '${release}')`);
    assert.deepEqual(row, { self_ms: 1500, self_ms_per_load: 1500, uploads: 3 }, 'joined samples count once as a whole');
  }
  const parts = make('at once');
  const replies = await Promise.all([...parts, ...parts].map((part) => post(part)));
  assert.ok(replies.every(({ status }) => status === 204));
  await untilCounted('at once', 4);
  assert.deepEqual(await insideOf('at once', '(interaction)'), [1300, 650]);
  assert.deepEqual(await insideOf('at once', '(lcp)'), [1500, 750]);
  assert.deepEqual(await lengthOf('at once', '(lcp)'), [1500, 1]);
});

test('time without a stack in long frames and handlers is hidden, by script, whatever part brings the frames', async () => {
  for (const order of [[0, 1], [1, 0]]) {
    const same = { release: `hidden ${order.join('')}`, load: randomUUID(), page: { url: 'https://www.shop.example/cart' } };
    const parts = [partOf(0, 1000, same), {
      id: randomUUID(), version: 1, start: 1000, duration: 0, ...same,
      frames: [{ start: 100, duration: 300, scripts: [
        { url: 'https://tag.example.net/tag.js', start: 100, duration: 100 }, { url: 'https://shop.example/a.js', start: 200, duration: 60 },
        { url: 'https://www.shop.example/own.js', start: 260, duration: 40 }] }],
      interactions: [interaction(350, 300, { processingStart: 380, processingEnd: 500 })],
    }];
    for (const index of order) assert.equal((await post(parts[index])).status, 204);
    await untilCounted(same.release, 2);
    const markers = await stack.sql(`select marker, self_ms from fleetprof.markers('shop', release => '${same.release}') order by marker`);
    assert.deepEqual(markers, [{ marker: '(hidden)', self_ms: 200 }, { marker: '(none)', self_ms: 500 },
      { marker: '(unattributed)', self_ms: 300 }], same.release);
    const rows = await stack.sql(`select host, script, hidden_ms_per_load, remedy
      from fleetprof.blind_time('shop', release => '${same.release}') order by hidden_ms desc, script`);
    assert.deepEqual(rows.map(({ host, script, hidden_ms_per_load: ms, remedy }) => [host, script, ms, remedy]), [
      [null, null, 100, 'V8 does not show this'],
      ['tag.example.net', 'https://tag.example.net/tag.js', 50, 'crossorigin'],
      // Functions of a.js have stacks.
      ['shop.example', 'https://shop.example/a.js', 30, 'V8 does not show this'],
      ['www.shop.example', 'https://www.shop.example/own.js', 20, 'V8 does not show this'],
    ], same.release);
  }
});

test('parts of refused forms, of other loads and of other collectors are not joined', async () => {
  const same = { release: 'apart', load: randomUUID() };
  const form = new FormData();
  form.append('a', JSON.stringify(partOf(0, 1000, same)));
  form.append('b', '{"version":1,"vitals":7}');
  assert.equal((await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', body: form })).status, 422);
  const late = { vitals: [{ name: 'LCP', value: 3000 }], release: 'apart' };
  assert.equal((await post(partOf(2000, 3000, { ...late, load: same.load }))).status, 204);
  assert.equal((await post(partOf(0, 1000, { release: 'apart', load: randomUUID() }))).status, 204);
  await untilCounted('apart', 2);
  assert.deepEqual(await insideOf('apart', '(lcp)'), [1000, 500]);
  const { database, sites } = stack.collector.config;
  const other = await startCollector({ config: { database, sites } });
  try {
    assert.equal((await post(partOf(1000, 2000, { ...late, vitals: [], load: same.load }), other.url)).status, 204);
    await untilCounted('apart', 3);
    assert.deepEqual(await insideOf('apart', '(lcp)'), [1000, 500]);
  } finally {
    await other.stop();
  }
});

/** A number in letters: digits are templated. @param {number} i */
const word = (i) => [...i.toString(8)].map((digit) => 'abcdefgh'[Number(digit)]).join('');

test('ten thousand targets are counted, under their ceiling', async () => {
  const interactions = Array.from({ length: 10_000 }, (_, i) => interaction(i, 8, { target: `#go-${word(i)}x` }));
  const release = await upload({ interactions }, 'flooded');
  const rows = await timingsOf(release, 'interaction');
  assert.equal(rows.reduce((sum, row) => sum + row[4], 0), 10_000);
  assert.equal(rows.length, 101, 'a hundred names, and (overflow)');
  assert.deepEqual(rows.find((row) => row[1] === '(overflow)'), ['interaction', '(overflow)', '', '', 9900, 9900 * 8000]);
  const windows = await timingsOf(release, 'window');
  assert.deepEqual(windows.find((row) => row[1] === '(interaction) (overflow)')?.[4], 9900);
});

test('so are responses to ten thousand targets', async () => {
  const responses = Array.from({ length: 10_000 }, (_, i) => ({ type: 'pointer', start: 10 * i, duration: 100, target: `#to-${word(i)}x` }));
  const release = await upload({ responses }, 'flooded-too');
  const rows = await timingsOf(release, 'response');
  assert.equal(rows.reduce((sum, row) => sum + row[4], 0), 10_000);
  assert.equal(rows.length, 101, 'a hundred names, and (overflow)');
  assert.equal((await timingsOf(release, 'window')).length, 101, 'a window of each name, and of all');
});

test('so are resources of ten thousand hosts', async () => {
  const resources = Array.from({ length: 10_000 }, (_, i) => ({ host: `${word(i)}x.example`, kind: 'script', count: 1, duration: [5], bytes: 3, opaque: 0 }));
  const release = await upload({ resources }, 'flooded-thrice');
  const rows = await timingsOf(release, 'resource');
  assert.equal(rows.reduce((sum, row) => sum + row[4], 0), 10_000);
  assert.equal(rows.length, 101, 'a hundred names, and (overflow)');
});

test('a share of the server that is much longer than the whole is of an earlier response, except of a page rendered in advance', async () => {
  const ttfb = (/** @type {number} */ value, /** @type {number | null} */ server, /** @type {string} */ cache, navigationType = 'reload') =>
    ({ name: 'TTFB', value, server, cache, navigationType });
  const release = await upload({ vitals: [ttfb(14, 205, 'STALE'), ttfb(200, 249, 'SLOW'), ttfb(0, 205, 'EARLY', 'prerender'), ttfb(20, null, 'NONE')] });
  assert.deepEqual(await timingsOf(release, 'ttfb_server'), [['ttfb_server', 'EARLY', '', '', 1, 0], ['ttfb_server', 'SLOW', '', '', 1, 200_000]]);
  assert.deepEqual((await timingsOf(release, 'ttfb')).map((row) => row[1]), ['EARLY', 'SLOW']);
});

test('what is wrong is refused with its place, and nothing of it is stored', async () => {
  /** @type {[string, any][]} */
  const bad = [
    ['/vitals/1/name', { vitals: [{ name: 'LCP', value: 1 }, { name: 'FID', value: 1 }] }],
    ['/vitals/0/value', { vitals: [{ name: 'LCP', value: -1 }] }],
    ['/vitals/0/server', { vitals: [{ name: 'TTFB', value: 1, server: -1 }] }],
    ['/vitals/0/server', { vitals: [{ name: 'TTFB', value: 1, server: '1' }] }],
    ['/vitals/0/cache', { vitals: [{ name: 'TTFB', value: 1, cache: 7 }] }],
    ['/vitals/0/duration', { vitals: [{ name: 'CLS', value: 1, start: 9, duration: -1 }] }],
    ['/interactions/0/processingEnd', { interactions: [{ type: 'k', start: 1, processingStart: 5, processingEnd: 4, duration: 8 }] }],
    ['/responses/0/duration', { responses: [{ type: 'k', start: 1, duration: '8' }] }],
    ['/frames/0/scripts/0/duration', { frames: [{ start: 1, duration: 50, scripts: [{ start: 2, duration: 90 }] }] }],
    ['/resources/0', { resources: [{ host: 'a' }] }],
    ['/start', { start: 'now', coverage: 'quota' }],
    ['/entries/0/startTime', { entries: [{ entryType: 'longtask', startTime: -1, duration: 60 }] }],
  ];
  for (const [pointer, members] of bad) {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, {
      method: 'POST', body: JSON.stringify({ version: 1, release: 'refused', ...members }) });
    const problem = await reply.json();
    assert.deepEqual([reply.status, problem.pointer], [422, pointer], JSON.stringify(problem));
    assert.ok(problem.detail.length > 10);
  }
  const text = `{"version":1,"release":"refused","vitals":[{"name":"LCP","value":1e999}]}`;
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', body: text });
  assert.equal(reply.status, 400, 'a number beyond a double');
  const release = await upload({ coverage: 'quota' });
  assert.equal((await timingsOf(release)).length, 1);
  assert.deepEqual(await timingsOf('refused'), []);
});

test("a part that its page's beforeSend has emptied is taken, and profiles nothing", async () => {
  const load = randomUUID();
  const release = await upload({ load, part: 0, start: 0, duration: 100, sampleInterval: 10, trace });
  await upload({ release, load, part: 1, start: 100, duration: 100, sampleInterval: 10, marks: [], measures: [] });
  await upload({ release, load: randomUUID(), part: 0, start: 0, duration: 100, marks: [], measures: [] });
  const [{ loads, profiled }] = await stack.sql(`select loads, profiled from fleetprof.coverage('shop', release => '${release}')`);
  assert.deepEqual([Number(loads), Number(profiled)], [1, 1]);
  assert.deepEqual(await timingsOf(release, 'mark'), []);
});

test('a page of a blob has no route, and its host is nobody', async () => {
  const url = 'https://shop.examplehttps://shop.example/0f0f0f0f-1111-2222-3333-444444444444';
  const release = await upload({ page: { url }, trace, entries: [
    { entryType: 'resource', name: 'data:image/gif;base64,AAAA', initiatorType: 'img', duration: 1 },
    { entryType: 'resource', name: 'blob:https://shop.example/1f1f', initiatorType: 'fetch', duration: 1 },
    { entryType: 'resource', name: 'https://cdn.example/a.js', initiatorType: 'script', duration: 5 },
  ] });
  assert.deepEqual(await stack.sql(`select distinct route from fleetprof.segment where release = '${release}'`), [{ route: '' }]);
  assert.deepEqual((await timingsOf(release)).filter(([kind]) => /resource|page/.test(kind)).map(([, name]) => name),
    ['cdn.example', 'cdn.example']);
});
