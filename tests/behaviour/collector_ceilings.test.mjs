// SPDX-License-Identifier: Apache-2.0
/**
 * Ceilings on new names: a page that invents names at full speed fills neither the database nor another site's
 * ceilings, hides no established name, and loses no microsecond.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { sumsOf } from './oracle.mjs';
import { collectorConfig, startCollector, startStack, waitFor } from './stack.mjs';

const ceilings = { frames: 20, stacks: 16, timing_names: 8, routes: 5, releases: 4, segments: 6 };
const floods = 300;
const interval = 10;
const overflow = '(overflow)';

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => {
  stack = await startStack({
    // The flood's routes are made-up names: none of them may become `:id`.
    config: { ceilings, privacy: { keep_path_hashes: true, keep_path_numbers: true, keep_path_tokens: true }, sites: ['flooded', 'calm'].map((name) => ({ name, key: `pk_${name}` })) },
  });
});
after(() => stack?.stop());

/** @param {string} site @param {Record<string, unknown>} envelope @param {string} [url] of another collector */
async function upload(site, envelope, url = stack.collector.url) {
  const reply = await fetch(`${url}/v1/ingest/pk_${site}`, {
    method: 'POST',
    body: JSON.stringify({ version: 1, sampleInterval: interval, ...envelope }),
  });
  assert.equal(reply.status, 204, await reply.text());
}

/** @param {number} count of all uploads that were counted */
async function untilCounted(count) {
  await waitFor(async () => (await stack.sql('select count(*)::int as n from fleetprof.upload_log'))[0].n === count,
    { what: `${count} uploads in SQL` });
}

let seed = 1;
/** @param {number} limit */
function below(limit) {
  seed = (seed * 48271) % 0x7fffffff;
  return seed % limit;
}

/** A new word: what looks like an id becomes a template, and is not a new route. */
const newWord = () => Array.from({ length: 6 }, () => ['ba', 'ke', 'lo', 'mi', 'nu', 'ra', 'se', 'to'][below(8)]).join('');

/** A trace whose functions and scripts are all new. */
function strangeTrace() {
  const frames = Array.from({ length: 6 }, () => ({ name: randomUUID(), resourceId: below(3), line: 1 + below(9) }));
  return {
    resources: Array.from({ length: 3 }, () => `https://shop.example/${randomUUID()}.js`),
    frames,
    stacks: frames.map((_, i) => (i === 0 || below(3) === 0 ? { frameId: i } : { frameId: i, parentId: below(i) })),
    samples: Array.from({ length: 12 }, (_, i) => ({ timestamp: i * 7, ...below(4) && { stackId: below(6) } })),
  };
}

const strangeUpload = () => ({
  id: randomUUID(),
  trace: strangeTrace(),
  release: randomUUID(),
  environment: randomUUID(),
  page: { route: `/${newWord()}` },
  measures: [{ name: randomUUID(), entryType: 'measure', startTime: 0, duration: 5 }],
});

/** An ordinary upload. @param {string} name what its functions are called by */
const plainUpload = (name) => ({
  release: 'r1',
  page: { route: '/cart' },
  trace: {
    resources: [`https://shop.example/${name}.js`],
    frames: [{ name: `${name}Outer`, resourceId: 0 }, { name: `${name}Inner`, resourceId: 0 }],
    stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
    samples: [{ timestamp: 0, stackId: 1 }, { timestamp: 10, stackId: 0 }, { timestamp: 20 }],
  },
  measures: [{ name: `${name}Measure`, entryType: 'measure', startTime: 0, duration: 30 }],
});

/** @param {any} row */
const numbers = (row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, Number(value)]));

/** Counts the dictionaries' rows, all sites together. */
async function dictionaries() {
  const kinds = ['frame', 'stack', 'timing', 'resource', 'segment'];
  const [row] = await stack.sql(`select ${kinds.map((kind) =>
    `(select count(*) from fleetprof_data.${kind}) as ${kind}`)}`);
  return numbers(row);
}

/** Distinct names of a site, `(overflow)` among them. @param {string} site */
async function namesOf(site) {
  const [row] = await stack.sql(`select
    (select count(distinct (function, resource, line)) from fleetprof.hotspot_hourly where site = '${site}') as frames,
    (select count(distinct stack_id) from fleetprof.stack_hourly where site = '${site}') as stacks,
    (select count(distinct name) from fleetprof.timing_hourly where site = '${site}') as timing_names,
    (select count(distinct route) from fleetprof.segment where site = '${site}') as routes,
    (select count(distinct release) from fleetprof.segment where site = '${site}') as releases,
    (select count(*) from fleetprof.segment where site = '${site}') as segments`);
  return numbers(row);
}

/** Sums of a site in µs, and the part of them in `(overflow)`. @param {string} site */
async function sumsInSql(site) {
  const [row] = await stack.sql(`select
    (select sum(profiled_ms) * 1000 from fleetprof.upload_log where site = '${site}') as profiled_us,
    (select sum(unattributed_ms) * 1000 from fleetprof.upload_log where site = '${site}') as unattributed_us,
    (select sum(self_ms) * 1000 from fleetprof.hotspot_hourly where site = '${site}') as frames_us,
    (select sum(self_ms) * 1000 from fleetprof.stack_hourly where site = '${site}') as stacks_us,
    (select sum(self_ms) * 1000 from fleetprof.hotspot_hourly where site = '${site}' and kind = 'overflow') as overflow_us,
    (select sum(samples) from fleetprof.stack_hourly where site = '${site}') as samples,
    (select sum(sum_ms) * 1000 from fleetprof.timing_hourly where site = '${site}') as timings_us,
    (select sum(count) from fleetprof.timing_hourly where site = '${site}') as timings`);
  return Object.fromEntries(Object.entries(numbers(row)).map(([key, value]) => [key, Math.round(value)]));
}

/** @param {string} site @param {string} name of plainUpload @param {number} times */
async function assertByName(site, name, times) {
  const rows = await stack.sql(`select function, sum(self_ms)::float8 as self_ms, sum(total_ms)::float8 as total_ms
    from fleetprof.hotspot_hourly
    where site = '${site}' and function like '${name}%' and route = '/cart' and release = 'r1'
    group by function order by function`);
  assert.deepEqual(rows, [
    { function: `${name}Inner`, self_ms: 10 * times, total_ms: 10 * times },
    { function: `${name}Outer`, self_ms: 10 * times, total_ms: 20 * times },
  ]);
  const timings = await stack.sql(
    `select sum(count)::int as count from fleetprof.timing_hourly where site = '${site}' and name = '${name}Measure'`);
  assert.deepEqual(timings, [{ count: times }]);
}

const hour = () => Math.floor(Date.now() / 3_600_000);

test('a flood of made-up names stays under the ceilings, and all time is accounted for', async () => {
  const firstHour = hour();
  await upload('calm', plainUpload('calm'));
  await untilCounted(1);
  const beforeFlood = await dictionaries();
  await upload('flooded', plainUpload('known'));

  const uploads = Array.from({ length: floods }, strangeUpload);
  const waiting = [...uploads];
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await upload('flooded', next);
  }));
  for (let i = 0; i < 2; i++) await upload('flooded', plainUpload('known'));
  await upload('calm', plainUpload('later'));
  await untilCounted(floods + 5);
  const hours = 1 + hour() - firstHour; // two when the test runs into the next one

  // Names.
  const stored = await namesOf('flooded');
  for (const [kind, ceiling] of Object.entries(ceilings)) {
    assert.ok(stored[kind] <= hours * ceiling + 1, `${stored[kind]} ${kind}`);
    assert.ok(stored[kind] > ceiling / 2, `only ${stored[kind]} ${kind}: the flood did not reach the ceiling`);
  }
  const calm = { frame: 2, stack: 2, timing: 1, resource: 1, segment: 0 };
  const grown = await dictionaries();
  const most = { frame: ceilings.frames, stack: ceilings.stacks, timing: ceilings.timing_names, resource: ceilings.frames,
    segment: ceilings.segments };
  for (const [kind, ceiling] of Object.entries(most)) {
    const growth = grown[kind] - beforeFlood[kind] - calm[/** @type {keyof typeof calm} */ (kind)];
    assert.ok(growth <= hours * ceiling + 1, `the dictionary of each ${kind} has grown by ${growth}`);
  }

  // Times: per name for established names, one sum for all others.
  await assertByName('flooded', 'known', 3);
  const expected = [...uploads, ...Array.from({ length: 3 }, () => plainUpload('known'))]
    .map(({ trace }) => sumsOf(trace, interval));
  const total = (/** @type {(sums: import('./oracle.mjs').Sums) => number} */ of) => expected.reduce((sum, sums) => sum + of(sums), 0);
  const sums = await sumsInSql('flooded');
  assert.equal(sums.profiled_us, total((s) => s.profiled_us));
  assert.equal(sums.unattributed_us, total((s) => s.unattributed_us));
  assert.equal(sums.frames_us + sums.unattributed_us, sums.profiled_us);
  assert.equal(sums.stacks_us, sums.frames_us);
  assert.equal(sums.samples, total((s) => s.samples - s.unattributed_samples));
  assert.ok(sums.overflow_us > sums.frames_us / 2, 'most of the flood is (overflow)');
  assert.equal(sums.timings, floods + 3);
  assert.equal(sums.timings_us, floods * 5_000 + 3 * 30_000);
  for (const [view, column] of [['timing_hourly', 'name'], ['segment', 'route'], ['segment', 'release'], ['segment', 'environment']]) {
    const rows = await stack.sql(`select distinct ${column} from fleetprof.${view} where ${column} = '${overflow}' and site = 'flooded'`);
    assert.equal(rows.length, 1, `${view}.${column}`);
  }

  // The other site.
  await assertByName('calm', 'calm', 1);
  await assertByName('calm', 'later', 1);
  assert.equal((await sumsInSql('calm')).overflow_us, 0);

  // The operator sees it in the metrics.
  const metrics = await stack.collector.metrics();
  for (const kind of ['frame', 'stack', 'timing', 'route', 'release', 'segment']) {
    assert.ok(metrics[`fleetprof_names_overflowed_total{kind="${kind}"}`] > 0, kind);
    const lines = stack.collector.server.output().split('\n')
      .filter((line) => line.includes('become (overflow)') && line.includes(`kind=${kind} `));
    assert.ok(lines.length >= 1 && lines.length <= hours, `${lines.length} lines about ${kind}`);
    assert.match(lines[0], /site=flooded .*setting=ceilings\./);
  }

  // Once more changes nothing.
  const names = await namesOf('flooded');
  for (const again of uploads.slice(0, 20)) await upload('flooded', again);
  await upload('calm', plainUpload('last'));
  await untilCounted(floods + 6);
  if (hour() === firstHour) assert.deepEqual(await namesOf('flooded'), names);
});

/** Addresses and a spool for one more collector. */
async function ownPlaces() {
  const { listen, admin, spool } = (await collectorConfig({})).config;
  return { listen, admin, spool };
}

/** @param {Record<string, number>} other ceilings */
async function reload(other) {
  const { collector } = stack;
  const reloads = () => collector.server.output().split('configuration reloaded').length;
  const before = reloads();
  fs.writeFileSync(collector.file, JSON.stringify({ ...collector.config, ceilings: { ...ceilings, ...other } }));
  process.kill(collector.server.pid, 'SIGHUP');
  await waitFor(() => reloads() > before, { what: 'reload' });
}

test('a reload raises a ceiling at once', async () => {
  await reload({ frames: 1000, stacks: 1000, timing_names: 1000 });
  await upload('flooded', plainUpload('fresh'));
  await untilCounted(floods + 7);
  await assertByName('flooded', 'fresh', 1);
});

test('a reload to less than is in use keeps what is known, and lets nothing new in', async () => {
  await reload({ frames: 1, stacks: 1, timing_names: 1 });
  const before = await sumsInSql('flooded');
  const firstHour = hour();
  await upload('flooded', plainUpload('fresh'));
  await upload('flooded', plainUpload('stranger'));
  await untilCounted(floods + 9);
  await assertByName('flooded', 'fresh', 2);
  if (hour() !== firstHour) return; // another hour lets one of each in
  const strangers = await stack.sql("select function from fleetprof.hotspot_hourly where function like 'stranger%'");
  assert.deepEqual(strangers, []);
  const { overflow_us, frames_us, unattributed_us, profiled_us } = await sumsInSql('flooded');
  assert.equal(overflow_us - before.overflow_us, 20_000);
  assert.equal(frames_us + unattributed_us, profiled_us);
});

test('a second collector has ceilings of its own, and counts into the same sums', async () => {
  const second = await startCollector({ config: { ...stack.collector.config, ...await ownPlaces(), ceilings } });
  const before = await sumsInSql('flooded');
  for (const name of ['there', 'stranger']) await upload('flooded', plainUpload(name), second.url);
  await second.stop();
  await untilCounted(floods + 11);
  await assertByName('flooded', 'there', 1);
  const after = await sumsInSql('flooded');
  assert.equal(after.overflow_us, before.overflow_us);
  assert.equal(after.frames_us - before.frames_us, 40_000);
});
