// SPDX-License-Identifier: Apache-2.0
/**
 * Rates that differ by route and hour, and follow from what days before have shown, leave estimates for all page loads
 * without a bias: estimates are compared with the truth of page loads that were not profiled, too, and intervals hold.
 * FLEETPROF_LONG makes 200 fleets; FLEETPROF_STATS_RUNS is another number.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Fleet } from './fleet.mjs';
import { ordinary } from './worlds.mjs';

const runs = Number(process.env.FLEETPROF_STATS_RUNS ?? (process.env.FLEETPROF_LONG ? 200 : 4));
const loadsPerDay = 8000;
const flatRate = 0.05;
const fewest = 100; // profiles with a function, from which on its estimate is about normal
const days = 3;
const numberOf = (/** @type {string} */ name) => Number(/[0-9]+$/.exec(name)?.[0]);

/** @type {Fleet} */
let fleet;
before(async () => { fleet = await Fleet.start(); });
after(() => fleet?.stop());

/** Estimates of self time over all days, and their standard errors: each profile is drawn on its own, at its segment's rate. */
const estimates = `
  select substring(function from '[0-9]+$')::integer as number, self_ms * 1000 as us, uploads::integer, error
  from fleetprof.estimated_hotspots($1, $2, $3, top => null)
  join (
    select function, sqrt(sum(us2 * (1 - rate) / rate ^ 2)) as error
    from (
      select rate_ppm / 1e6::float8 as rate, unnest(frame_id) as frame_id, unnest(self_us2)::float8 as us2
      from fleetprof_data.frame_packed
      join fleetprof_data.segment on segment_id = group_id
      where site = $1
    ) as entry
    join fleetprof_data.original_frame using (frame_id)
    group by function
  ) as spread using (function)
  where function ~ '^function[0-9]+$'`;

const proposal = 'select * from fleetprof.rates($1, $2, $3, target => 0.25, least_rate => 0.01, most_rate => 0.5, most_profiles => 700)';

/** @param {number} seed */
async function drawFleet(seed) {
  await fleet.shop(seed, 40);
  let even = Array(6).fill(flatRate);
  /** @type {any[]} */
  let rows = [];
  const all = { loads: 0, self_us: Array(40).fill(0) };
  /** @type {Awaited<ReturnType<Fleet['truth']>>} */
  let truth = [];
  for (let day = 0; day < days; day += 1) {
    if (day > 0) {
      rows = await fleet.ask(proposal, 0, day);
      even = even.map((_, route) => rows.find(({ page_route: name }) => name !== null && numberOf(name) === route)?.proposed_rate ?? rows.at(-1).proposed_rate);
    }
    // The second day has other rates in odd hours; the last one those that were proposed.
    await fleet.rates(even, day === 1 ? even.map((rate) => rate / 2) : even);
    await fleet.side({ ...ordinary, timings: 0, vitals: 0, uploads: loadsPerDay });
    truth = await fleet.truth();
    for (const { loads, self_us } of truth) {
      all.loads += loads;
      self_us.forEach((us, number) => { all.self_us[number] += us; });
    }
  }
  return { all, rows, lastDay: truth, rates: even };
}

test('estimates of adaptive rates are without a bias, and intervals hold the truth', async (t) => {
  const functions = { held: 0, all: 0, z: 0 };
  /** All estimated time / the truth - 1, by fleet. @type {number[]} */
  const errors = [];
  const loads = { held: 0, z: 0 };
  const promised = { held: 0, all: 0 };
  let differing = 0;
  for (let run = 0; run < runs; run += 1) {
    const { all, rows, lastDay, rates } = await drawFleet(37_000_000 + run);
    differing += Number(Math.max(...rates.slice(0, 3)) > 1.2 * Math.min(...rates.slice(0, 3)));
    const rowsOfAll = await fleet.ask(estimates, 0, days);
    assert.ok(rowsOfAll.length > 20);
    errors.push(rowsOfAll.reduce((sum, { us }) => sum + us, 0) / all.self_us.reduce((sum, us) => sum + us, 0) - 1);
    for (const { number, us, uploads, error } of rowsOfAll) {
      if (uploads < fewest) continue;
      const z = (us - all.self_us[number]) / error;
      functions.all += 1;
      functions.z += z;
      functions.held += Number(Math.abs(z) < 1.96);
    }
    const [{ estimated_loads: estimated }] = await fleet.ask('select estimated_loads from fleetprof.coverage($1, $2, $3)', 0, days);
    const [{ error }] = await fleet.ask(`
      select sqrt(sum(loads * (1 - rate) / rate ^ 2)) as error
      from (
        select rate_ppm / 1e6::float8 as rate, unnest(loads) as loads
        from fleetprof_data.total_packed join fleetprof_data.segment on segment_id = group_id
        where site = $1 and $2 <= bucket and bucket < $3
      ) as entry`, 0, days);
    loads.held += Number(Math.abs(estimated - all.loads) < 1.96 * error);
    loads.z += (estimated - all.loads) / error;
    // The promise for the last day: the worst of the 20 costliest functions is within the interval.
    for (const { page_route: name, expected_interval: interval } of rows) {
      if (name === null || interval === null) continue;
      const truth = lastDay[numberOf(name)];
      const measured = await fleet.ask(`select substring(function from '[0-9]+$')::integer as number, self_ms_per_load * 1000 as us
        from fleetprof.hotspots($1, $2, $3, route => '${name}', top => 20) where function ~ '^function[0-9]+$'`, days - 1, days);
      for (const { number, us } of measured) {
        const mean = truth.self_us[number] / truth.loads;
        promised.all += 1;
        promised.held += Number(Math.abs(us - mean) < interval * mean);
      }
    }
  }
  const share = functions.held / functions.all;
  const mean = errors.reduce((sum, error) => sum + error, 0) / runs;
  const spread = Math.sqrt(errors.reduce((sum, error) => sum + (error - mean) ** 2, 0) / (runs - 1));
  t.diagnostic(`${runs} fleets, rates differ in ${differing}: intervals of estimates hold in ${functions.held} of ${functions.all} (${(100 * share).toFixed(1)} %), mean error ${(functions.z / functions.all).toFixed(3)} standard errors; all estimated time is off by ${(100 * mean).toFixed(2)} % ± ${(100 * spread / Math.sqrt(runs)).toFixed(2)} %`);
  t.diagnostic(`estimated page loads hold in ${loads.held} of ${runs}, mean error ${(loads.z / runs).toFixed(3)}; promised intervals hold in ${promised.held} of ${promised.all} (${(100 * promised.held / promised.all).toFixed(1)} %)`);
  assert.ok(differing > runs / 2, 'rates differ by route');
  assert.ok(share > 0.9, `intervals of estimates hold in ${share}`);
  assert.ok(Math.abs(mean) < 3 * spread / Math.sqrt(runs), `all estimated time is off by ${mean}, its spread is ${spread}`);
  assert.ok(Math.abs(loads.z / runs) < 2.6 / Math.sqrt(runs), 'estimated page loads');
  assert.ok(promised.held / promised.all > 0.95, 'promised intervals');
});
