// SPDX-License-Identifier: Apache-2.0
/**
 * User Timing against the samples of the same upload: what ran inside a measure is in SQL, to the microsecond.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { seededRandom } from '../chaos/random.mjs';
import { frameKey, sumsOf, toMicroseconds } from './oracle.mjs';
import { binDir, repository, run, startCollector, startStack, waitFor } from './stack.mjs';

/** @param {string} name */
const read = (name) => JSON.parse(fs.readFileSync(path.join(repository, 'tests/data', name), 'utf8'));
const trace = read('perf-coi-trace.json').trace ?? read('perf-coi-trace.json');
/** @type {{ name: string, startTime: number, duration: number }[]} */
const measures = read('perf-coi-measures-tojson.json');

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => {
  stack = await startStack({
    config: {
      sites: [{ name: 'demo', key: 'pk_demo', timing_names: ['fetch-:id'] }],
      privacy: { detail_keys: ['status', 'cached'] },
    },
  });
});
after(() => stack?.stop());

/** @param {Record<string, unknown>} envelope @param {import('./stack.mjs').Collector} [collector] */
async function upload(envelope, collector = stack.collector) {
  const reply = await fetch(`${collector.url}/v1/ingest/pk_demo`, { method: 'POST', body: JSON.stringify(envelope) });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await stack.sql(
    `select 1 from fleetprof.upload_log where release = '${envelope.release}'`)).length > 0, { what: 'upload in SQL' });
}

/** The windows of a name. @param {string} name @param {typeof measures} list */
function insideOf(name, list) {
  return { inside: list.filter((measure) => measure.name === name).map((measure) => {
    const from = toMicroseconds(measure.startTime);
    return { from, to: from + toMicroseconds(measure.duration) };
  }) };
}

/** Compares what a name owns in SQL with what it must own: frames, shares and sums. Returns the number of frames.
 * @param {string} release @param {string} name @param {import('./oracle.mjs').Sums} expected */
async function assertMeasured(release, name, expected) {
  const rows = await stack.sql(
    `select * from fleetprof.measure_hotspots('${name}', 'demo', release => '${release}', top => null)`);
  return assertRows(rows, `${release}: ${name}`, expected);
}

/** @param {any[]} rows of measure_hotspots @param {string} what @param {import('./oracle.mjs').Sums} expected */
function assertRows(rows, what, expected) {
  const us = (/** @type {number} */ ms) => Math.round(ms * 1000);
  const actual = rows.map((row) => [
    frameKey({ ...row, function: row.function === '(anonymous)' ? '' : row.function, column: row.column_number,
      resource: row.resource ?? '' }),
    us(row.self_ms), us(row.total_ms), row.samples]);
  const wanted = [...expected.frames].map(([key, frame]) => [key, frame.self_us, frame.total_us, frame.samples]);
  assert.deepEqual(actual.sort(), wanted.sort(), what);
  for (const row of rows) {
    assert.ok(Math.abs(row.self_share - us(row.self_ms) / expected.profiled_us) < 1e-9, `${what}: share of ${row.function}`);
    assert.equal(row.uploads, 1, `${what}: uploads with ${row.function}`);
  }
  const self = rows.reduce((sum, row) => sum + us(row.self_ms), 0);
  assert.equal(self + expected.unattributed_us, expected.profiled_us, `${what}: self + unattributed = profiled`);
  return rows.length;
}

/** Measures of a few names around a trace: their edges are at samples, a microsecond off, or at any time.
 * @param {any} profile a ProfilerTrace @param {import('../chaos/random.mjs').Random} random */
function randomMeasures(profile, random) {
  /** @type {number[]} */
  const times = profile.samples.map((/** @type {{ timestamp: number }} */ sample) => sample.timestamp);
  const first = Math.min(...times);
  const span = Math.max(...times) - first + 1;
  const time = () => (random.chance(0.6) ? random.pick(times) + random.pick([0, 0, -0.001, 0.001])
    : first + (random.share() * 1.4 - 0.2) * span);
  return Array.from({ length: 12 }, () => {
    const [from, to] = [time(), time()];
    const startTime = random.chance(0.9) ? Math.min(from, to) : Math.max(from, to);
    const duration = random.chance(0.1) ? 0 : from + to - 2 * startTime;
    return { name: `m${random.below(6)}`, entryType: 'measure', startTime, duration };
  });
}

/** The rows of all names in one query, and the totals per name.
 * @param {string} release @param {any} profile @param {number | undefined} sampleInterval @param {typeof measures} list */
async function assertAllMeasured(release, profile, sampleInterval, list) {
  const names = [...new Set(list.map(({ name }) => name))];
  const rows = await stack.sql(`select name, hotspot.* from unnest(array['${names.join("','")}']) as name,
    lateral fleetprof.measure_hotspots(name, 'demo', release => '${release}', top => null) as hotspot`);
  const wholes = await stack.sql(`select name, samples, unattributed_samples, profiled_us, unattributed_us, window_us, loads
    from fleetprof_data.measure_fact join fleetprof_data.timing using (timing_id) join fleetprof_data.segment using (segment_id)
    where release = '${release}'`);
  let found = 0;
  for (const name of names) {
    const expected = sumsOf(profile, sampleInterval, insideOf(name, list));
    found += assertRows(rows.filter((row) => row.name === name), `${release}: ${name}`, expected);
    const { samples, unattributed_samples, profiled_us, unattributed_us, unseen_us } = expected;
    const whole = { name, samples, unattributed_samples, profiled_us, unattributed_us, window_us: profiled_us + unseen_us,
      loads: profiled_us > 0 ? 1 : 0 };
    assert.deepEqual(wholes.filter((row) => row.name === name), whole.window_us > 0 ? [whole] : [], `${release}: ${name}`);
  }
  return found;
}

/** A small trace with every oddity: ties, disorder, recursion, markers, samples without a stack. @param
 * {import('../chaos/random.mjs').Random} random */
function randomTrace(random) {
  const some = (/** @type {number} */ limit) => 1 + random.below(limit);
  const frames = Array.from({ length: some(6) }, (_, i) => ({ name: random.pick(['f', 'g', '', 'Profiler', 'stop']),
    ...random.chance(0.5) && { resourceId: 0, line: i, column: 1 } }));
  const stacks = Array.from({ length: some(12) }, (_, i) => ({ frameId: random.below(frames.length),
    ...i > 0 && random.chance(0.8) && { parentId: random.below(i) } }));
  const samples = Array.from({ length: some(40) }, () => ({ timestamp: random.below(300_000) / random.pick([1, 1000]),
    ...random.chance(0.7) && { stackId: random.below(stacks.length) },
    ...random.chance(0.3) && { marker: random.pick(['script', 'gc', 'style', 'layout', 'paint', 'later']) } }));
  return { resources: ['https://shop.example/a.js'], frames, stacks, samples };
}

test('a real page\'s measures own the samples of its trace', async () => {
  await upload({ release: 'real', trace, measures });
  let found = 0;
  for (const name of new Set(measures.map((measure) => measure.name))) {
    found += await assertMeasured('real', name, sumsOf(trace, undefined, insideOf(name, measures)));
  }
  assert.ok(found > 0, 'the recorded page worked inside its measures');
});

test('nested, overlapping and repeated measures of a real trace each own theirs', async () => {
  const times = trace.samples.map((/** @type {{ timestamp: number }} */ sample) => sample.timestamp);
  const first = Math.min(...times);
  const span = Math.max(...times) - first;
  const part = (/** @type {string} */ name, /** @type {number} */ from, /** @type {number} */ to) =>
    ({ name, entryType: 'measure', startTime: first + from * span, duration: (to - from) * span });
  const made = [part('all', 0, 1), part('half', 0, 0.5), part('inner', 0.2, 0.4), part('across', 0.3, 0.8),
    part('twice', 0.1, 0.5), part('twice', 0.4, 0.6), part('twice', 0.9, 1), part('none', 2, 3), part('back', 0.5, 0.4)];
  await upload({ release: 'made', trace, measures: made });
  for (const name of ['all', 'half', 'inner', 'across', 'twice', 'none', 'back']) {
    await assertMeasured('made', name, sumsOf(trace, undefined, insideOf(name, made)));
  }
  const { stdout } = await run([path.join(binDir, 'fleetprof'), 'top', '--measure', 'half', '--release', 'made', '--json', '--top', '1000'],
    { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') } });
  const rows = await stack.sql(`select function from fleetprof.measure_hotspots('half', 'demo', release => 'made', top => 1000)`);
  assert.deepEqual(JSON.parse(stdout).map((/** @type {any} */ row) => row.function), rows.map((row) => row.function));
});

test('random measures of every real trace own theirs', async () => {
  const random = seededRandom(5);
  const files = fs.readdirSync(path.join(repository, 'tests/data')).filter((name) => name.endsWith('.json'));
  let found = 0;
  for (const file of files) {
    const recorded = read(file);
    const profile = recorded.trace ?? recorded;
    if (!profile.samples?.length) continue;
    const list = randomMeasures(profile, random);
    await upload({ release: file, trace: profile, measures: random.shuffled(list) });
    found += await assertAllMeasured(file, profile, undefined, list);
  }
  assert.ok(found > 500, `only ${found} frames inside measures`);
});

test('random measures of random traces own theirs', async () => {
  let found = 0;
  for (let seed = 1; seed <= 25; seed++) {
    const random = seededRandom(seed);
    const profile = randomTrace(random);
    const list = randomMeasures(profile, random);
    const sampleInterval = random.chance(0.5) ? 1 + random.below(20) : undefined;
    await upload({ release: `random ${seed}`, trace: profile, sampleInterval, entries: list });
    found += await assertAllMeasured(`random ${seed}`, profile, sampleInterval, list);
  }
  assert.ok(found > 100, `only ${found} frames inside measures`);
});

test('more measures than an upload may join are counted', async () => {
  const many = Array.from({ length: 100 }, (_, i) =>
    ({ name: `m${i}`, entryType: 'measure', startTime: 0, duration: 1e6 }));
  await upload({ release: 'many', trace, measures: many });
  const [{ joined }] = await stack.sql(`select count(distinct timing_id) as joined from fleetprof_data.measure_fact
    join fleetprof_data.segment using (segment_id) where release = 'many'`);
  assert.equal(joined, 64);
  assert.equal((await stack.collector.metrics()).fleetprof_measures_unjoined_total, 36);
});

test('names that fit a template are one, and allowed members of the detail are kept', async () => {
  const measure = (/** @type {string} */ name, /** @type {unknown} */ detail) =>
    ({ name, entryType: 'measure', startTime: 0, duration: 5, detail });
  await upload({ release: 'names', trace, measures: [measure('fetch-1', { status: 200, token: 'x' }),
    measure('fetch-2', { status: 200, cached: true }), measure('fetch-3', { status: 200 }), measure('fetch-4', null)] });
  const rows = await stack.sql(`select name, count from fleetprof.timings('demo', release => 'names')`);
  assert.deepEqual(rows.map((row) => [row.name, row.count]),
    [['fetch-:id', 1], ['fetch-:id{status=200,cached=true}', 1], ['fetch-:id{status=200}', 2]]);
});

test('a measure that names its marks owns the samples between them', async () => {
  const times = trace.samples.map((/** @type {{ timestamp: number }} */ sample) => sample.timestamp).sort(
    (/** @type {number} */ a, /** @type {number} */ b) => a - b);
  const [from, to] = [times[Math.floor(times.length / 4)], times[Math.floor(times.length / 2)]];
  await upload({ release: 'resolved', trace, marks: { a: [from], b: [from, to] },
    measures: [{ name: 'between', startMark: 'a', endMark: 'b' }] });
  const start = toMicroseconds(from);
  const end = toMicroseconds(to);
  const rows = await assertMeasured('resolved', 'between', sumsOf(trace, undefined, { inside: [{ from: start, to: end }] }));
  assert.ok(rows > 0);
  const [{ max_ms }] = await stack.sql(`select max_ms from fleetprof.timings('demo', release => 'resolved') where kind = 'measure'`);
  assert.ok(Math.abs(max_ms - (end - start) / 1000) < 1e-6);
});

/** The worst cases for bins: edges, powers of two, one value, two values far apart, a heavy tail. @type
 * {Record<string, (i: number) => number>} */
const distributions = {
  edges: (i) => (32 + (i % 32)) * 2 ** (1 + (i % 30)) - (i % 2),
  powers: (i) => 2 ** (i % 53) + (i % 3) - 1,
  constant: () => 8191,
  bimodal: (i) => (i % 100 < 49 ? 127 : 600_000_001) + (i % 7),
  tail: (i) => Math.round(100 / ((i + 1) / 2001) ** 2),
  'all but one': (i) => (i === 777 ? 2 ** 53 : 0),
  'half negative': (i) => (i % 2 ? 1 : -1) * ((i * 7919) % 100_000 + 1),
  zero: () => 0,
  microsecond: () => 1,
};

/** By nearest rank. @param {number[]} values ascending @param {number} share */
const percentile = (values, share) => values[Math.max(Math.ceil(share * values.length) - 1, 0)];

test('percentiles of the worst distributions are at most 1.6 % off, whatever the order, the flushes and the collectors', async () => {
  const values = new Map(Object.entries(distributions).map(
    ([name, at]) => [name, Array.from({ length: 2000 }, (_, i) => at(i))]));
  const all = [...values].flatMap(([name, list]) => list.map((us) => [name, us]));
  /** @param {string} release @param {(string | number)[][]} list @param {import('./stack.mjs').Collector} [collector] */
  const send = (release, list, collector) => upload({ release, id: crypto.randomUUID(), measures: list.map(([name, us]) =>
    ({ name, entryType: 'measure', startTime: 0, duration: Number(us) / 1000 })) }, collector);
  const other = await startCollector({ config: {
    database: stack.postgres.conninfo('fleetprof_writer'), sites: [{ name: 'demo', key: 'pk_demo' }] } });
  const parts = [0, 1, 2, 3, 4].map((k) => all.filter((_, i) => (i * 7919) % 5 === k).reverse());
  await send('whole', all);
  // One after another, each with its own flush; then at once, by two collectors.
  for (const part of parts) await send('parts', part);
  await Promise.all(parts.reverse().map((part, i) => send('at once', part, i % 2 ? other : stack.collector)));
  await waitFor(async () => (await stack.sql(
    `select count(*) as n from fleetprof.upload_log where release in ('parts', 'at once')`))[0].n === 2 * parts.length);
  await other.stop();

  for (const release of ['whole', 'parts', 'at once']) {
    const rows = await stack.sql(`select * from fleetprof.timings('demo', release => '${release}')`);
    assert.equal(rows.length, values.size);
    for (const row of rows) {
      const sorted = /** @type {number[]} */ (values.get(row.name)).filter((us) => us >= 0).sort((a, b) => a - b);
      for (const share of [50, 75, 95, 99]) {
        const exact = percentile(sorted, share / 100) / 1000;
        assert.ok(Math.abs(row[`p${share}_ms`] - exact) <= 0.016 * exact,
          `${release}: p${share} of ${row.name} is ${row[`p${share}_ms`]}, exactly ${exact}`);
      }
    }
  }
  const facts = (/** @type {string} */ table, /** @type {string} */ columns) => async (/** @type {string} */ release) => stack.sql(
    `select name, ${columns} from fleetprof_data.${table} as fact join fleetprof_data.timing using (timing_id)
      join fleetprof_data.segment using (segment_id) where release = '${release}' group by 1, 2 order by 1, 2`);
  const bins = facts('timing_bin_fact', 'bin, sum(fact.count) as count');
  const sums = facts('timing_fact', 'kind, sum(fact.count) as count, sum(negative) as negative, min(min_us) as min, max(max_us) as max');
  for (const release of ['parts', 'at once']) {
    assert.deepEqual(await bins(release), await bins('whole'), release);
    assert.deepEqual(await sums(release), await sums('whole'), release);
  }
});

test('the names that User Timing recommends are flagged, and stay when names run out', async () => {
  const recommended = ['fullyLoaded', 'fullyVisible', 'aboveTheFold', 'timeToUserAction', 'mark_fully_loaded', 'mark_fully_visible',
    'mark_above_the_fold', 'mark_time_to_user_action', 'mark_interactive', 'mark_feature_usage'];
  const few = await startCollector({ config: { database: stack.postgres.conninfo('fleetprof_writer'),
    sites: [{ name: 'demo', key: 'pk_demo' }], ceilings: { timing_names: 1 } } });
  const map = (/** @type {string[]} */ names) => Object.fromEntries(names.map((name) => [name, [1, 2]]));
  await upload({ release: 'names run out', marks: map(['a', 'b', ...recommended, 'mark_fully_Loaded']), measures: map(recommended) }, few);
  await few.stop();
  const rows = await stack.sql(`select name, kind, count, well_known from fleetprof.timing_hourly where release = 'names run out'`);
  assert.deepEqual(rows.filter((row) => row.well_known).map(({ name, kind, count }) => [name, kind, count]).sort(),
    recommended.map((name) => [name, 'mark', 2]).sort());
  assert.equal(rows.reduce((sum, row) => sum + row.count, 0), 2 * (3 + 2 * recommended.length));
  assert.ok(rows.length <= recommended.length + 3, 'all others but one are (overflow)');
});
