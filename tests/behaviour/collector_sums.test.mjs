// SPDX-License-Identifier: Apache-2.0
/**
 * Every real trace is accepted, and its sums in SQL equal an independent computation to the microsecond.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { seededRandom } from '../chaos/random.mjs';
import { frameKey, sumsOf, toMicroseconds } from './oracle.mjs';
import { repository, startStack, waitFor } from './stack.mjs';

/** A trace as a file holds it: bare, or inside an envelope. @param {string} file */
function traceIn(file) {
  const json = JSON.parse(fs.readFileSync(file, 'utf8'));
  return Array.isArray(json?.samples) ? json : json?.trace;
}

const folders = ['tests/data', '../shared/traces'].map((folder) => path.join(repository, folder));
/** @type {Map<string, any>} */
const traces = new Map(folders.filter(fs.existsSync)
  .flatMap((folder) => fs.readdirSync(folder).filter((name) => name.endsWith('.json')).map((name) => path.join(folder, name)))
  .map((file) => /** @type {[string, any]} */ ([path.basename(file, '.json'), traceIn(file)]))
  .filter(([, trace]) => trace));

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => { stack = await startStack(); });
after(() => stack.stop());

/** @param {number} ms */
const us = (ms) => Math.round(ms * 1000);

/** @param {string} release @param {any} trace @param {number} [sampleInterval] @param {object} [more] */
async function upload(release, trace, sampleInterval, more) {
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_demo`, {
    method: 'POST',
    body: JSON.stringify({ version: 1, release, trace, sampleInterval, ...more }),
  });
  assert.equal(reply.status, 204, `${release}: ${await reply.text()}`);
}

/** Returns SQL's answers about one release. @param {string} release */
async function fromSql(release) {
  const filters = `'demo', release => '${release}'`;
  const [frames, markers, stacks] = await Promise.all([
    stack.sql(`select * from fleetprof.hotspots(${filters}, top => 1000000)`),
    stack.sql(`select * from fleetprof.markers(${filters})`),
    stack.sql(`select level, self_ms from fleetprof.flamegraph(${filters}, min_share => 0)`),
  ]);
  return { frames, markers, stacks };
}

/** @param {string} release @param {import('./oracle.mjs').Sums} expected */
async function assertAddsUp(release, expected) {
  const { frames, markers, stacks } = await fromSql(release);
  const actual = new Map();
  for (const row of frames) {
    const name = row.function === '(anonymous)' ? '' : row.function;
    const key = frameKey({ ...row, function: name, column: row.column_number, resource: row.resource ?? '' });
    const sum = actual.get(key) ?? [0, 0, 0];
    actual.set(key, [sum[0] + us(row.self_ms), sum[1] + us(row.total_ms), sum[2] + row.samples]);
  }
  const wanted = new Map([...expected.frames].map(([key, frame]) => [key, [frame.self_us, frame.total_us, frame.samples]]));
  assert.deepEqual(new Map([...actual].sort()), new Map([...wanted].sort()), `${release}: frames`);

  const { unattributed_samples: samples, unattributed_us: self_us, unseen_us: unseen } = expected;
  const wantedMarkers = new Map([...expected.markers, ['(unattributed)', { samples, self_us }], ['(unseen)', { samples: 0, self_us: unseen }]]);
  for (const row of markers) {
    const sum = wantedMarkers.get(row.marker) ?? { samples: 0, self_us: 0 };
    assert.deepEqual([row.samples, us(row.self_ms)], [sum.samples, sum.self_us], `${release}: marker ${row.marker}`);
    wantedMarkers.delete(row.marker);
  }
  assert.deepEqual([...wantedMarkers.values()].filter((sum) => sum.self_us > 0), [], `${release}: markers that SQL lacks`);

  const selfOfStacks = us(stacks.filter((row) => row.level > 0).reduce((sum, row) => sum + row.self_ms, 0));
  const unattributedInGraph = stacks.some((row) => row.function === '(unattributed)') ? 0 : expected.unattributed_us;
  assert.equal(selfOfStacks + unattributedInGraph, expected.profiled_us, `${release}: self of stacks + unattributed = profiled`);
}

test('each trace adds up to the microsecond, with its interval given and without', async () => {
  assert.ok(traces.size >= 10, `${traces.size} traces found`);
  for (const [name, trace] of traces) {
    await upload(name, trace);
    await upload(`${name}@10`, trace, 10);
  }
  await waitFor(async () => (await stack.sql('select count(*) as n from fleetprof.upload_log'))[0].n === 2 * traces.size,
    { what: 'all uploads in SQL' });
  for (const [name, trace] of traces) {
    await assertAddsUp(name, sumsOf(trace));
    await assertAddsUp(`${name}@10`, sumsOf(trace, 10));
  }
});

test('self and unattributed time make up the profiled time of every upload', async () => {
  const uploads = await stack.sql(`
    select s.release, u.profiled_us, u.unattributed_us,
           (select coalesce(sum(f.self_us), 0) from fleetprof_data.frame_fact f where f.segment_id = u.segment_id) as self_us
    from fleetprof_data.upload u join fleetprof_data.segment s on s.segment_id = u.segment_id`);
  assert.equal(uploads.length, 2 * traces.size);
  for (const { release, profiled_us, unattributed_us, self_us } of uploads) {
    assert.equal(self_us + unattributed_us, profiled_us, release);
  }
});

/** Windows around, inside and beside a trace. @param {any} trace @param {import('../chaos/random.mjs').Random} random */
function randomWindow(trace, random) {
  const times = trace.samples.map((/** @type {{ timestamp: number }} */ sample) => sample.timestamp);
  const [first, last] = times.length > 0 ? [Math.min(...times), Math.max(...times)] : [0, 100];
  const margin = random.pick([0, 1, 100, 400]) + random.share();
  const start = Math.max(0, random.chance(0.3) ? first + (last - first) * random.share() : first - margin);
  return { start, duration: Math.max(0.001, random.chance(0.3) ? (last - start) * random.share() : last - start + margin) };
}

test('self, unattributed and unseen time make up the window of every upload', async () => {
  const random = seededRandom(32);
  const sent = new Map();
  for (const [name, trace] of traces) {
    const window = randomWindow(trace, random);
    sent.set(`${name} window`, { trace, window });
    await upload(`${name} window`, trace, undefined, window);
  }
  await waitFor(async () => (await stack.sql(`select count(*) as n from fleetprof.upload_log where release like '% window'`))[0].n
    === traces.size, { what: 'all uploads in SQL' });
  for (const [release, { trace, window: { start, duration } }] of sent) {
    const from = toMicroseconds(start);
    const expected = sumsOf(trace, undefined, { window: { from, to: from + toMicroseconds(duration) } });
    await assertAddsUp(release, expected);
    const [row] = await stack.sql(`select profiled_ms, unseen_ms from fleetprof.upload_log where release = '${release}'`);
    assert.equal(us(row.profiled_ms), expected.profiled_us, `${release}: profiled`);
    assert.equal(us(row.unseen_ms), expected.unseen_us, `${release}: unseen`);
    assert.equal(us(row.profiled_ms) + us(row.unseen_ms), toMicroseconds(duration), `${release}: the window`);
  }
});

test('on a busy machine a function has the time that the page measured', async () => {
  const { trace, sampleInterval, measures } = JSON.parse(
    fs.readFileSync(path.join(repository, 'tests/data/uploads/loaded-machine.json'), 'utf8'));
  await upload('busy', trace, sampleInterval, { measures });
  await waitFor(async () => (await stack.sql(`select 1 from fleetprof.upload_log where release = 'busy'`)).length);
  const rows = await stack.sql(`select function, self_ms, samples from fleetprof.measure_hotspots('burn-truth', 'demo', release => 'busy')`);
  // 300 ms by the page's clock; gaps of 16 to 55 ms at an interval of 10. The last 8.5 ms are half of the gap to the idle sample.
  assert.deepEqual(rows, [{ function: 'burn', self_ms: 291.5, samples: 10 }]);
});

test('a window that no trace can have is refused with its place', async () => {
  for (const [more, pointer] of /** @type {const} */ ([
    [{ start: 0, duration: 3_600_001 }, '/duration'], [{ start: -1, duration: 5 }, '/start'], [{ start: 0, duration: -5 }, '/duration']])) {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_demo`, {
      method: 'POST', body: JSON.stringify({ version: 1, trace: { resources: [], frames: [], stacks: [], samples: [] }, ...more }) });
    const problem = await reply.json();
    assert.deepEqual([reply.status, problem.pointer], [422, pointer], problem.detail);
  }
});
