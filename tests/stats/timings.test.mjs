// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the promises of compare_timings and compare_vitals, on fleets with known timings: uploads are drawn, folded, stored
 * by the collector's own code. FLEETPROF_LONG makes 400 comparisons of each kind; without it one, of a fixed seed, shows
 * that nothing is broken. FLEETPROF_STATS_RUNS is another number, FLEETPROF_STATS_FIRST the first seed's
 * place, to go on where a run ended; FLEETPROF_STATS_ONLY is a part of a test's name.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Fleet } from './fleet.mjs';

const isLong = Boolean(process.env.FLEETPROF_LONG);
const runs = Number(process.env.FLEETPROF_STATS_RUNS ?? (isLong ? 400 : 1));
const firstRun = Number(process.env.FLEETPROF_STATS_FIRST ?? 0);
const seedOf = (/** @type {number} */ run) => 20_261_122 + firstRun + run;
const percent = (/** @type {number} */ part, /** @type {number} */ whole) => `${(100 * part / Math.max(1, whole)).toFixed(1)} %`;
const isFound = (/** @type {{ verdict: string }} */ { verdict }) => verdict === 'slower' || verdict === 'faster';
const isSkipped = (/** @type {string} */ name) => process.env.FLEETPROF_STATS_ONLY !== undefined && !name.includes(process.env.FLEETPROF_STATS_ONLY);

/** Nothing changed, but… And how many functions there are. @type {Record<string, [import('./fleet.mjs').Side, import('./fleet.mjs').Side, number?]>} */
const scenarios = {
  'nothing at all': [{}, {}],
  'phones 40 to 60 %': [{ mobile: 0.4 }, { mobile: 0.6 }],
  'routes turned round': [{}, { route0: 0.15, route1: 0.2, route2: 0.3, route3: 0.2, route4: 0.1, route5: 0.05 }],
  'canary of 300 against 10,000': [{ uploads: 10_000 }, { uploads: 300 }],
  'heavy tails (Pareto 2.1)': [{ pareto: 1 }, { pareto: 1 }],
  'page loads of 3 uploads': [{ uploads: 3000, parts: 3 }, { uploads: 3000, parts: 3 }],
  'hours differ by 10 %': [{ uploads: 5000, hour_sigma: 0.1 }, { uploads: 5000, hour_sigma: 0.1 }],
  'few hours': [{ hours: 12 }, { hours: 12 }],
  'bots come': [{ bots: 0.02 }, { bots: 0.3 }],
  'parts longer by half': [{ uploads: 3000, parts: 3 }, { uploads: 2000, parts: 2 }],
  'one visitor of 60 loads': [{ uploads: 800 }, { uploads: 800, visitor: 60 }],
  'one visitor of 300 loads': [{ uploads: 800 }, { uploads: 800, visitor: 300 }],
  'a monitor that one side has': [{ uploads: 800 }, { uploads: 800, visitor: 288, visitor_hours: 24 }],
  'offices of 50 page loads': [{ addresses: 40 }, { addresses: 40 }],
  // The effect of machines alone is known from functions.
  'a rollout, fast machines first': [{ visit_ms: 8000 }, { visit_ms: 8000, slow_first: -1 }, 100],
};
/** Without FLEETPROF_LONG: those that take seconds. */
const shortOnes = ['nothing at all', 'routes turned round', 'a rollout, fast machines first'];
// Traces are short: they are not what is compared.
const timed = { timings: 10, visit_ms: 400 };
const functions = 3;

/** @type {Fleet} */
let fleet;
before(async () => { fleet = await Fleet.start(); });
after(() => fleet?.stop());

for (const [name, [first, second, count = functions]] of Object.entries(scenarios)) {
  if (isSkipped(name) || (runs === 1 && !shortOnes.includes(name))) continue;
  test(`at most 5 % of comparisons of timings raise an alarm when nothing changed: ${name}`, async (t) => {
    let alarms = 0;
    let tested = 0;
    let unlikely = 0;
    for (let run = 0; run < runs; run += 1) {
      await fleet.site(seedOf(50_000 + run), count);
      const rows = await fleet.compareTimings(await fleet.side({ ...timed, ...first }), await fleet.side({ ...timed, ...second }));
      alarms += Number(rows.some(isFound));
      tested += rows.filter(({ p }) => p !== null).length;
      unlikely += rows.filter(({ p }) => p !== null && p < 0.05).length;
    }
    t.diagnostic(`${name}: ${alarms} of ${runs} comparisons raise an alarm (${percent(alarms, runs)}); p < 0.05 for ${percent(unlikely, tested)} of ${tested} percentiles`);
    assert.ok(tested >= 20 * runs, `${tested} percentiles were tested`);
    assert.ok(alarms <= 0.05 * runs + (runs < 400 ? 3 * Math.sqrt(0.05 * 0.95 * runs) : 0), `${alarms} of ${runs}`);
  });
}

test('finds timings that changed by what could have been seen; intervals hold the change', async (t) => {
  if (isSkipped('calibration')) return;
  const count = { whole: 0, third: 0, all: 0, held: 0, given: 0 };
  for (let run = 0; run < Math.ceil(runs / 10); run += 1) {
    await fleet.site(seedOf(60_000 + run), functions);
    const release = await fleet.side(timed);
    const quiet = (await fleet.compareTimings(release, await fleet.side(timed))).filter(({ verdict }) => verdict === 'no change seen');
    const smallest = quiet.map((row) => Number(row.smallest_visible)).sort((a, b) => a - b)[quiet.length >> 1];
    for (const [part, share] of /** @type {const} */ ([['whole', 1], ['third', 1 / 3]])) {
      const rows = await fleet.compareTimings(release, await fleet.side({ ...timed, slowdown: 1 + smallest * share }));
      count[part] += rows.filter(({ verdict }) => verdict === 'slower').length;
      count.held += rows.filter((row) => Number(row.change_low) <= smallest * share && smallest * share <= Number(row.change_high)).length;
      count.given += rows.length;
      if (part === 'whole') count.all += rows.length;
    }
  }
  t.diagnostic(`changed by the smallest visible change: ${count.whole} of ${count.all} found (${percent(count.whole, count.all)}); by a third of it: ${percent(count.third, count.all)}; `
    + `95 % intervals hold the change in ${percent(count.held, count.given)} of ${count.given}`);
  assert.ok(count.whole >= 0.85 * count.all, `${count.whole} of ${count.all}`);
  assert.ok(count.held >= 0.9 * count.given, `${count.held} of ${count.given}`);
});
