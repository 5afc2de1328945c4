/**
 * User Timing against the samples of the same upload: what ran inside a measure is in SQL, to the microsecond.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { frameKey, sumsOf, toMicroseconds } from './oracle.mjs';
import { binDir, repository, run, startStack, waitFor } from './stack.mjs';

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

/** @param {Record<string, unknown>} envelope */
async function upload(envelope) {
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_demo`, { method: 'POST', body: JSON.stringify(envelope) });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await stack.sql(
    `select 1 from fleetprof.upload_log where release = '${envelope.release}'`)).length > 0, { what: 'upload in SQL' });
}

/** Which samples a name owns. @param {string} name @param {typeof measures} list */
function insideOf(name, list) {
  const windows = list.filter((measure) => measure.name === name).map((measure) => {
    const start = toMicroseconds(measure.startTime);
    return { start, end: start + toMicroseconds(measure.duration) };
  });
  return (/** @type {number} */ time) => windows.some(({ start, end }) => time >= start && time < end);
}

/** @param {string} release @param {string} name @param {import('./oracle.mjs').Sums} expected */
async function assertMeasured(release, name, expected) {
  const rows = await stack.sql(
    `select * from fleetprof.measure_hotspots('${name}', 'demo', release => '${release}', top => null)`);
  const us = (/** @type {number} */ ms) => Math.round(ms * 1000);
  const actual = rows.map((row) => [
    frameKey({ ...row, function: row.function === '(anonymous)' ? '' : row.function, column: row.column_number,
      resource: row.resource ?? '' }),
    us(row.self_ms), us(row.total_ms), row.samples]);
  const wanted = [...expected.frames].map(([key, frame]) => [key, frame.self_us, frame.total_us, frame.samples]);
  assert.deepEqual(actual.sort(), wanted.sort(), `${release}: ${name}`);
  for (const row of rows) {
    assert.ok(Math.abs(row.self_share - us(row.self_ms) / expected.profiled_us) < 1e-9, `${name}: share of ${row.function}`);
  }
  const self = rows.reduce((sum, row) => sum + us(row.self_ms), 0);
  assert.equal(self + expected.unattributed_us, expected.profiled_us, `${name}: self + unattributed = profiled`);
  return rows.length;
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
  const rows = await assertMeasured('resolved', 'between', sumsOf(trace, undefined, (time) => time >= start && time < end));
  assert.ok(rows > 0);
  const [{ max_ms }] = await stack.sql(`select max_ms from fleetprof.timings('demo', release => 'resolved') where kind = 'measure'`);
  assert.ok(Math.abs(max_ms - (end - start) / 1000) < 1e-6);
});

/** What is worst for bins: edges, powers of two, one value, two far apart, a heavy tail. @type {Record<string, (i: number) => number>} */
const distributions = {
  edges: (i) => (32 + (i % 32)) * 2 ** (1 + (i % 30)) - (i % 2),
  powers: (i) => 2 ** (i % 53) + (i % 3) - 1,
  constant: () => 8191,
  bimodal: (i) => (i % 100 < 49 ? 127 : 600_000_001) + (i % 7),
  tail: (i) => Math.round(100 / ((i + 1) / 2001) ** 2),
  'all but one': (i) => (i === 777 ? 2 ** 53 : 0),
};

/** By nearest rank. @param {number[]} values ascending @param {number} share */
const percentile = (values, share) => values[Math.max(Math.ceil(share * values.length) - 1, 0)];

test('percentiles of the worst distributions are at most 1.6 % off, whatever the order of the uploads', async () => {
  const values = new Map(Object.entries(distributions).map(
    ([name, at]) => [name, Array.from({ length: 2000 }, (_, i) => at(i))]));
  const all = [...values].flatMap(([name, list]) => list.map((us) => [name, us]));
  /** @param {string} release @param {(string | number)[][]} list */
  const send = (release, list) => upload({ release, id: crypto.randomUUID(), measures: list.map(([name, us]) =>
    ({ name, entryType: 'measure', startTime: 0, duration: Number(us) / 1000 })) });
  await send('whole', all);
  const parts = [0, 1, 2, 3, 4].map((k) => all.filter((_, i) => (i * 7919) % 5 === k).reverse());
  for (const part of parts) await send('parts', part);
  await waitFor(async () => (await stack.sql(
    `select count(*) as n from fleetprof.upload_log where release = 'parts'`))[0].n === parts.length);

  for (const release of ['whole', 'parts']) {
    const rows = await stack.sql(`select * from fleetprof.timings('demo', release => '${release}')`);
    assert.equal(rows.length, values.size);
    for (const row of rows) {
      const sorted = /** @type {number[]} */ (values.get(row.name)).slice().sort((a, b) => a - b);
      for (const share of [50, 75, 95, 99]) {
        const exact = percentile(sorted, share / 100) / 1000;
        assert.ok(Math.abs(row[`p${share}_ms`] - exact) <= 0.016 * exact,
          `${release}: p${share} of ${row.name} is ${row[`p${share}_ms`]}, exactly ${exact}`);
      }
    }
  }
  const bins = (/** @type {string} */ release) => stack.sql(`select name, bin, sum(timing_bin_fact.count) as count
    from fleetprof_data.timing_bin_fact join fleetprof_data.timing using (timing_id) join fleetprof_data.segment using (segment_id)
    where release = '${release}' group by name, bin order by name, bin`);
  assert.deepEqual(await bins('parts'), await bins('whole'));
});
