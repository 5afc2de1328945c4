// SPDX-License-Identifier: Apache-2.0
/**
 * The query benchmark on a tiny site: what it generates answers as the sum of what was drawn, in the database and in
 * DuckDB. A benchmark over rows that mean something else would compare nothing.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { duckdbFlamegraph, duckdbHotspots, duckdbMissing, KeyFiles } from '../bench/query/peers.mjs';
import { generate, sourceDay, timeOf } from '../bench/query/generate.mjs';
import { binMiddleUs, binSpace, shapeOf, Site } from '../bench/query/site.mjs';
import { startPostgres, temporaryDir } from './stack.mjs';

/**
 * @typedef {import('../bench/query/site.mjs').Segment} Segment
 * @typedef {import('../bench/query/facts.mjs').Run} Run
 * @typedef {{ segment: Segment, hour: number, facts: import('../bench/query/site.mjs').Hour }} Drawn
 */

const firstDay = 20_727; // the last of its eight days: then come whole blocks
const period = { firstDay, days: 12, lastHours: 14, hourDays: 2, drawnDays: 2, fresh: true };
const end = (firstDay + 11) * 24 + 14;
const release = '2026.10.2';
/** @type {{ name: string, from: number, to: number, filters: Record<string, string> }[]} */
const selections = [
  { name: '24 hours', from: end - 24, to: end, filters: {} },
  { name: '24 hours, sealed', from: end - 25, to: end - 1, filters: {} },
  { name: '24 hours of a release', from: end - 24, to: end, filters: { release } },
  { name: '24 hours of a page and release', from: end - 24, to: end, filters: { release, route: '/' } },
  { name: 'all days', from: firstDay * 24, to: end, filters: {} },
  { name: 'all days of a release', from: firstDay * 24, to: end, filters: { release } },
  { name: 'all days of a browser', from: firstDay * 24, to: end, filters: { browser: 'Chrome' } },
];

const site = new Site(shapeOf(0.0002));
/** @type {Drawn[]} */
const drawn = [];
const keys = new KeyFiles(temporaryDir('duckdb'), site, end - 3, end - 1);
/** @type {import('./stack.mjs').Postgres} */
let postgres;

before(async () => {
  postgres = await startPostgres({ migrated: true, settings: { fsync: 'off' } });
  await generate(postgres, site, period, {
    watch: (segment, hour, facts) => {
      const copies = Object.entries(facts).map(([kind, run]) => [kind, typeof run === 'number' ? run : run.copy()]);
      drawn.push({ segment, hour, facts: Object.fromEntries(copies) });
      keys.add(segment, hour, facts);
    },
  });
  if (!duckdbMissing) await keys.load();
});
after(() => postgres?.stop());

/** Adds up what was drawn in a selection: the columns by key. @param {typeof selections[0]} selection @param {import('../bench/query/facts.mjs').Kind} kind */
function naive({ from, to, filters }, kind) {
  /** @type {Map<number, number[]>} */
  const sums = new Map();
  const names = { route: 1, release: 2, browser: 5 };
  for (const { segment, hour, facts } of drawn) {
    if (Object.entries(filters).some(([name, value]) => segment.dimensions[names[/** @type {'route'} */ (name)]] !== value)) continue;
    let times = 0;
    for (let day = firstDay; day < firstDay + period.days; day += 1) {
      const at = day * 24 + hour % 24;
      if (sourceDay(period, day) === Math.floor(hour / 24) && at >= from && at < to) times += 1;
    }
    if (times > 0) addRun(sums, facts[kind], times);
  }
  return sums;
}

/** @param {Map<number, number[]>} sums @param {Run} run @param {number} times */
function addRun(sums, { size, keys: runKeys, columns }, times) {
  for (let entry = 0; entry < size; entry += 1) {
    const sum = sums.get(runKeys[entry]) ?? columns.map(() => 0);
    sums.set(runKeys[entry], sum.map((value, column) => value + times * columns[column][entry]));
  }
}

/** @param {typeof selections[0]} selection */
const args = ({ from, to, filters }) => [`'shop'`, `since => '${timeOf(from)}'`, `until => '${timeOf(to)}'`,
  ...Object.entries(filters).map(([name, value]) => `${name} => '${value}'`)].join();

for (const selection of selections) {
  test(`hotspots are what was drawn: ${selection.name}`, async () => {
    const rows = await postgres.sql(`select function, line, column_number, self_ms, total_ms, samples, uploads from fleetprof.hotspots(${args(selection)}, top => null)`);
    const expected = [...naive(selection, 'frame')].map(([number, [uploads, , samples, self, total]]) => {
      const { name, line, column } = site.functions[number];
      return { function: name, line, column_number: column, self_ms: self / 1000, total_ms: total / 1000, samples, uploads };
    });
    const sorted = (/** @type {any[]} */ list) => list.map((row) => JSON.stringify(row)).sort();
    assert.ok(expected.length > 20);
    assert.deepEqual(sorted(rows), sorted(expected));
  });

  test(`the flame graph's root holds all time: ${selection.name}`, async () => {
    const [{ total_ms: total, self_ms: self }] = await postgres.sql(`
      select max(total_ms) filter (where level = 0) as total_ms, sum(self_ms) as self_ms from fleetprof.flamegraph(${args(selection)}, min_share => 0)`);
    const expected = [...naive(selection, 'stack').values()].reduce((sum, [, , time]) => sum + time, 0) / 1000;
    assert.equal(total, expected);
    assert.ok(Math.abs(self - expected) < 1e-6 * expected);
  });

  test(`markers are what was drawn: ${selection.name}`, async () => {
    const rows = await postgres.sql(`select marker, samples, self_ms from fleetprof.markers(${args(selection)})`);
    assert.equal(rows.pop().marker, '(unseen)');
    const names = ['(unattributed)', '(none)', 'script', 'gc', 'style', 'layout'];
    const expected = [...naive(selection, 'total')].map(([key, [, , samples, self]]) => ({ marker: names[key], samples, self_ms: self / 1000 }));
    assert.deepEqual(rows, expected.sort((one, other) => other.self_ms - one.self_ms));
  });

  test(`timings are what was drawn: ${selection.name}`, async () => {
    const rows = await postgres.sql(`select name, count, p50_ms from fleetprof.timings(${args(selection)})`);
    const bins = [...naive(selection, 'timing_bin')].sort(([one], [other]) => one - other);
    const expected = [...naive(selection, 'timing')].map(([number, [, count]]) => {
      let upTo = 0;
      const [key] = bins.filter(([bin]) => Math.floor(bin / binSpace) === number).find(([, [some]]) => (upTo += some) >= count / 2) ?? [0];
      return { name: site.timings[number].name, count, p50_ms: binMiddleUs(key % binSpace) / 1000 };
    });
    assert.deepEqual(rows, expected.sort((one, other) => (one.name < other.name ? -1 : 1)));
  });
}

test('DuckDB answers as fleetprof does', { skip: duckdbMissing }, async () => {
  const selection = { from: end - 3, to: end - 1, filters: { release } };
  const [hotspots, flamegraph] = await keys.query('1', [
    { sql: duckdbHotspots(selection.from, selection.to, selection.filters), repeats: 1 },
    { sql: duckdbFlamegraph(selection.from, selection.to), repeats: 1 }]);
  const ours = await postgres.sql(`select function, resource, line, column_number, self_ms * 1000 as self_us, total_ms * 1000 as total_us, samples, uploads
    from fleetprof.hotspots(${args({ name: '', ...selection })}, top => 20)`);
  // Equal times are ordered differently.
  assert.deepEqual(ours.map(({ self_us: self }) => Math.round(self)), hotspots.rows.map((row) => row[4]));
  assert.deepEqual(Object.values(ours[0]).map(String), hotspots.rows[0].map(String));
  const [{ nodes, total }] = await postgres.sql(`
    select count(*) as nodes, round(sum(total_ms) * 1000) as total from fleetprof.flamegraph('shop', since => '${timeOf(selection.from)}', until => '${timeOf(selection.to)}', min_share => 0) where level > 0`);
  assert.deepEqual(flamegraph.rows[0].slice(0, 2), [nodes, total]);
});
