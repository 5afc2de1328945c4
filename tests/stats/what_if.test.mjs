// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the promises of what_if, on page loads whose vital, responses and measures are known without a thing: folded, stored and asked by the
 * collector's own code. FLEETPROF_LONG draws 20 sites of each world with 4,000 profiled page loads; without it a few
 * worlds are drawn twice. FLEETPROF_STATS_RUNS is another number, FLEETPROF_STATS_ONLY a part of a test's name.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Fleet } from './fleet.mjs';
import { fewestByChance } from './worlds.mjs';

const isLong = Boolean(process.env.FLEETPROF_LONG);
const runs = Number(process.env.FLEETPROF_STATS_RUNS ?? (isLong ? 20 : 2));

/** Routes of their own rates: profiled page loads are not drawn from all alike. */
const rates = { routes: 2, odd: 0.8, odd_slow: 3, odd_rare: 10, odd_only: 1, presence: 0.6 };

/** @type {Record<string, import('./fleet.mjs').Side>} */
const worlds = {
  'in 30 % of interactions, 120 ms': {},
  'in all, 60 ms': { presence: 1, mean_ms: 60 },
  'in 5 %, 400 ms': { presence: 0.05, mean_ms: 400 },
  'in 5 %, 800 ms': { presence: 0.05, mean_ms: 800 },
  'one interaction': { interactions: 1 },
  'ten interactions': { interactions: 10 },
  'comes with other work': { with_work: 1 },
  'a heavy tail': { pareto: 1 },
  'two kinds of visit': { kinds: 0.4, presence: 1 },
  'of a hundred interactions, rounded to 8 ms': { interactions: 60, rounded: 1, presence: 0.1 },
  'deep stacks': { depth: 30 },
  'vital and trace in parts that come in either order': { apart: 1 },
  'an LCP': { interactions: -1, base_ms: 1200, presence: 0.5, mean_ms: 500 },
  'a package': { package: 1, presence: 0.2, mean_ms: 200 },
  'a third party': { host: 1, interactions: 5 },
  'a marker': { marker: 1, presence: 1, mean_ms: 50 },
  'a package in an LCP': { interactions: -1, base_ms: 900, presence: 0.6, mean_ms: 400, package: 1 },
  responses: { values: 1 },
  'responses, a third party in parts': { values: 1, host: 1, apart: 1 },
  measures: { values: 2 },
  'measures among ten': { values: 2, names: 9, interactions: 1 },
  'measures, a package in parts': { values: 2, package: 1, apart: 1 },
  'a slow route that is profiled ten times as seldom': rates,
  'elsewhere than on such a route': { ...rates, odd_only: 0 },
  'an LCP of such a route': { ...rates, interactions: -1, base_ms: 600, mean_ms: 500 },
  'measures of such a route': { ...rates, values: 2 },
  'forty such routes, their rates unknown': { ...rates, routes: 40 },
  'forty such routes': { ...rates, routes: 40, tokens: 1 },
  'four hundred such routes': { ...rates, routes: 400, tokens: 1 },
};
/** Without FLEETPROF_LONG. */
const shortOnes = ['in 30 % of interactions, 120 ms', 'vital and trace in parts that come in either order', 'an LCP', 'a package', 'a marker',
  'responses, a third party in parts', 'measures among ten', 'a slow route that is profiled ten times as seldom', 'forty such routes'];

/** @type {Fleet} */
let fleet;
before(async () => { fleet = await Fleet.start(); });
after(() => fleet?.stop());

const mean = (/** @type {number[]} */ values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const total = { held: 0, all: 0 };

for (const [name, world] of Object.entries(worlds)) {
  const isSkipped = process.env.FLEETPROF_STATS_ONLY !== undefined ? !name.includes(process.env.FLEETPROF_STATS_ONLY) : !isLong && !shortOnes.includes(name);
  if (isSkipped) continue;
  test(`what_if says what p75 would be: ${name}`, async (t) => {
    const [loads, profiled] = world.routes ? [20_000, 5400] : [10_000, 4000];
    const vital = world.values ? ['(response)', 'search'][world.values - 1] : (world.interactions ?? 1) < 0 ? 'LCP' : 'INP';
    const kind = ['package', 'host', 'marker'].find((one) => world[one]) ?? 'function';
    await fleet.site(7);
    const [now, gone, half] = await fleet.gains(400_000, world);
    /** @type {number[][]} */
    const errors = [[], []];
    let held = 0;
    for (let run = 0; run < runs; run += 1) {
      await fleet.site(20_261_128 + run);
      await fleet.visits(loads, profiled, world);
      const row = (await fleet.whatIf(vital)).find((one) => one.kind === kind && one.name === (kind === 'marker' ? 'style' : 'target'));
      assert.ok(row, 'the thing is among those that were looked at');
      if (!world.values && !world.routes) assert.equal(Number(row.profiled_loads), profiled, 'each profiled page load counts once');
      errors[0].push(row.gain_ms - (now - gone));
      errors[1].push(row.p75_ms - row.p75_halved_ms - (now - half));
      held += Number(row.gain_low <= now - gone && row.gain_high >= now - gone);
      total.all += 1;
    }
    total.held += held;
    const [bias, halfBias] = errors.map(mean);
    t.diagnostic(`p75 ${now.toFixed(0)}, gone ${gone.toFixed(0)}, halved ${half.toFixed(0)} ms; errors of the gain ${bias.toFixed(1)} ± `
      + `${Math.sqrt(mean(errors[0].map((error) => (error - bias) ** 2))).toFixed(1)}, of half ${halfBias.toFixed(1)} ms; ${held} of ${runs} intervals hold it`);
    // Three standard errors of fewer runs than the promise is about.
    const chance = 3 * Math.sqrt(mean(errors[0].map((error) => error ** 2)) / runs);
    const most = (/** @type {number} */ gain) => Math.max(5, 0.05 * gain) + (runs >= 20 ? 0 : chance);
    assert.ok(Math.abs(bias) <= most(now - gone), `${bias} ms of ${now - gone}`);
    assert.ok(Math.abs(halfBias) <= most(now - half), `${halfBias} ms of ${now - half}`);
  });
}

/**
 * A function that costs visitors nothing, or only those far below p75.
 * @type {Record<string, import('./fleet.mjs').Side>}
 */
const nothings = {
  'beside the waits': { beside: 1 },
  'after each of ten interactions': { beside: 1, presence: 1, interactions: 10 },
  'too short for the sampler': { presence: 1, mean_ms: 0.2 },
  'on a fast route': { routes: 2, odd: 0.5, odd_slow: 8, odd_only: 0 },
  'on a fast route that is profiled ten times as often': { routes: 2, odd: 0.5, odd_slow: 8, odd_rare: 10, odd_only: 0 },
};

test('what_if and fix_first name nothing that costs nothing', async (t) => {
  const each = Math.max(20, runs);
  let wrong = 0;
  for (const [name, world] of Object.entries(nothings)) {
    await fleet.site(7);
    const [now, gone] = await fleet.gains(400_000, world);
    let gained = 0;
    let ranked = 0;
    for (let run = 0; run < each; run += 1) {
      await fleet.site(20_261_129 + run);
      await fleet.visits(2000, 800, world);
      const row = (await fleet.whatIf('INP')).find((one) => one.name === 'target');
      gained += Number(row !== undefined && row.gain_low > now - gone);
      ranked += Number((await fleet.fixFirst()).some((one) => one.name === 'target' && one.gain_low > now - gone));
    }
    wrong += Math.max(gained, ranked);
    t.diagnostic(`${name}: a gain of ${(now - gone).toFixed(2)} of ${now.toFixed(0)} ms; in ${each} fleets ${gained} intervals are above it, ${ranked} are ranked`);
  }
  // One interval of 40 is above the truth by chance; one of ten would be too many, and is found.
  const all = each * Object.keys(nothings).length;
  assert.ok(wrong < fewestByChance(all, 0.1), `${wrong} of ${all}`);
});

test('intervals of gains hold the truth: all worlds', (t) => {
  t.diagnostic(`${total.held} of ${total.all}`);
  assert.ok(total.held >= 0.9 * total.all - 3 * Math.sqrt(0.09 * total.all), `${total.held} of ${total.all}`);
});
