// SPDX-License-Identifier: Apache-2.0
/**
 * Comparisons in worlds where something other than the code changed (worlds.mjs) keep promises: at most 5 % of them raise
 * an alarm, for functions, timings and vitals each, and printed intervals hold the truth. Uploads are drawn, folded and
 * stored by the collector's own code. FLEETPROF_LONG makes 100 comparisons in each world, 20 in those of many uploads;
 * FLEETPROF_STATS_RUNS is another number; FLEETPROF_STATS_FIRST the first seed's place, to go on where a run ended;
 * FLEETPROF_STATS_ONLY is a part of a world's name.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Fleet } from './fleet.mjs';
import { hiddenSlowdown, mostByChance, worlds } from './worlds.mjs';

const isLong = Boolean(process.env.FLEETPROF_LONG);
const firstRun = Number(process.env.FLEETPROF_STATS_FIRST ?? 0);
const manyUploads = 3000;
const promised = 0.05;
const kinds = /** @type {const} */ (['functions', 'timings', 'vitals']);
const isFound = (/** @type {{ verdict: string }} */ { verdict }) => ['slower', 'faster', 'new', 'gone'].includes(verdict);

/** @param {import('./worlds.mjs').World} world */
const runsOf = ({ after: { uploads } }) => Number(process.env.FLEETPROF_STATS_RUNS ?? (isLong ? (uploads > manyUploads ? 20 : 100) : 1));

class Coverage {
  held = 0;
  all = 0;

  /** @param {number | null} low @param {number} truth @param {number | null} high */
  add(low, truth, high) {
    if (low === null || high === null) return;
    this.all += 1;
    this.held += Number(Number(low) <= truth && truth <= Number(high));
  }

  toString() {
    return this.all === 0 ? 'none' : `${this.held} of ${this.all} (${(100 * this.held / this.all).toFixed(1)} %)`;
  }
}

/** @type {Fleet} */
let fleet;
const total = { runs: 0, alarms: { functions: 0, timings: 0, vitals: 0 }, intervals: new Coverage(), without: new Coverage() };
before(async () => { fleet = await Fleet.start(); });
after(() => fleet?.stop());

/** Draws a world's uploads. @param {import('./worlds.mjs').World} world @param {number} seed */
async function draw(world, seed) {
  await fleet.shop(seed, world.functions);
  for (const side of world.before) await fleet.drawOn(side, 1, world.firstWeekday);
  for (const [number, factor] of Object.entries(world.effects ?? {})) await fleet.effect(Number(number), factor);
  await fleet.drawOn(world.after, 2, world.firstWeekday);
}

for (const world of worlds) {
  if (process.env.FLEETPROF_STATS_ONLY && !world.name.includes(process.env.FLEETPROF_STATS_ONLY)) continue;
  const runs = runsOf(world);
  test(`at most 5 % of comparisons raise an alarm: ${world.name}`, { todo: world.todo }, async (t) => {
    const alarms = { functions: 0, timings: 0, vitals: 0 };
    const flags = { functions: 0, timings: 0, vitals: 0 };
    const coverage = { functions: new Coverage(), changed: new Coverage(), timings: new Coverage(), vitals: new Coverage() };
    const effects = world.effects ?? {};
    let found = 0;
    for (let run = 0; run < runs; run += 1) {
      await draw(world, 34_000_000 + 1000 * worlds.indexOf(world) + firstRun + run);
      const functions = (await fleet.compare(1, 2)).filter(({ number }) => number >= 0);
      const rows = { functions, timings: await fleet.compareKind('timings', 1, 2), vitals: await fleet.compareKind('vitals', 1, 2) };
      for (const { number, own_low, own_high, verdict } of functions) {
        if (verdict === 'too few') continue;
        coverage[number in effects ? 'changed' : 'functions'].add(own_low, (effects[number] ?? 1) - 1, own_high);
        found += Number(number in effects && isFound({ verdict }));
      }
      for (const kind of /** @type {const} */ (['timings', 'vitals'])) {
        for (const { own_low, own_high } of rows[kind]) coverage[kind].add(own_low, 0, own_high);
      }
      for (const kind of kinds) {
        const wrong = rows[kind].filter((row) => isFound(row) && !(kind === 'functions' && row.number in effects)).length;
        alarms[kind] += Number(wrong > 0);
        flags[kind] += wrong;
      }
      assert.ok(functions.length > 10 && rows.timings.length === 4 && rows.vitals.length === 6, 'everything was compared');
    }
    t.diagnostic(`${world.name}: of ${runs}, ${kinds.map((kind) => `${alarms[kind]} ${kind} (${flags[kind]})`).join(', ')}; intervals: `
      + Object.entries(coverage).map(([kind, held]) => `${kind} ${held}`).join(', ') + `; ${found} of ${runs * Object.keys(effects).length} changed ones found`);
    if (world.todo === undefined) {
      total.runs += runs;
      for (const kind of /** @type {const} */ (['functions', 'changed'])) {
        total.intervals.held += coverage[kind].held;
        total.intervals.all += coverage[kind].all;
      }
      for (const kind of /** @type {const} */ (['timings', 'vitals'])) {
        total.without.held += coverage[kind].held;
        total.without.all += coverage[kind].all;
      }
      for (const kind of kinds) total.alarms[kind] += alarms[kind];
    }
    for (const kind of kinds) assert.ok(alarms[kind] <= mostByChance(runs, promised), `${kind}: ${alarms[kind]} of ${runs} raise an alarm`);
  });
}

test('at most 5 % of comparisons raise an alarm: all worlds', (t) => {
  t.diagnostic(`of ${total.runs}: ${JSON.stringify(total.alarms)}`);
  for (const kind of kinds) {
    assert.ok(total.alarms[kind] <= mostByChance(total.runs, promised), `${kind}: ${total.alarms[kind]} of ${total.runs} raise an alarm`);
  }
});

test('intervals of functions hold what the code changed: all worlds', (t) => {
  const { held, all } = total.intervals;
  t.diagnostic(`${total.intervals}`);
  // Three standard errors of few.
  const chance = 3 * Math.sqrt(0.05 * 0.95 / Math.max(1, all));
  assert.ok(held >= (0.92 - chance) * all && held <= (0.98 + chance) * all, `${held} of ${all}`);
});

test('intervals of timings and vitals hold what the code changed, without machines: all worlds', (t) => {
  const { held, all } = total.without;
  t.diagnostic(`${total.without}`);
  assert.ok(held >= 0.92 * all - 3 * Math.sqrt(0.08 * 0.92 * all), `${held} of ${all}`);
});

test('a slowdown that the machines of a rollout hide is found in the whole fleet', async (t) => {
  if (!hiddenSlowdown.name.includes(process.env.FLEETPROF_STATS_ONLY ?? '')) return;
  const runs = runsOf(hiddenSlowdown);
  const found = { timings: 0, vitals: 0 };
  let rowsFound = 0;
  for (let run = 0; run < runs; run += 1) {
    await draw(hiddenSlowdown, 35_000_000 + firstRun + run);
    for (const kind of /** @type {const} */ (['timings', 'vitals'])) {
      const rows = await fleet.compareKind(kind, 1, 2);
      const slower = rows.filter(({ verdict }) => verdict === 'slower');
      found[kind] += Number(slower.some(({ fleet_change: change }) => change !== null && change > 0));
      rowsFound += slower.length;
      assert.ok(!rows.some(({ verdict }) => verdict === 'faster'), 'fast machines are not a speedup');
    }
  }
  t.diagnostic(`of ${runs}, ${found.timings} found by timings, ${found.vitals} by vitals; ${rowsFound} of ${10 * runs} percentiles`);
  for (const kind of /** @type {const} */ (['timings', 'vitals'])) assert.ok(found[kind] >= 0.8 * runs, `${kind}: ${found[kind]} of ${runs}`);
});
