// SPDX-License-Identifier: Apache-2.0
/**
 * Tests the promises of compare_releases, on fleets whose costs are known: uploads are drawn, folded and stored by the
 * collector's own code. FLEETPROF_LONG makes 400 comparisons of each kind (hours); without it a few, of fixed seeds,
 * show that nothing is broken. FLEETPROF_STATS_RUNS is another number, FLEETPROF_STATS_FIRST the first
 * seed's place, to go on where a run ended; FLEETPROF_STATS_ONLY is a part of a scenario's name.
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
const isTested = (/** @type {import('./fleet.mjs').Compared} */ row) => isFound(row) || row.verdict === 'no change seen';

/** Nothing changed, but… What the second side has, what both have. @type {Record<string, [import('./fleet.mjs').Side, import('./fleet.mjs').Side]>} */
const scenarios = {
  'nothing at all': [{}, {}],
  'phones 40 to 60 %': [{ mobile: 0.4 }, { mobile: 0.6 }],
  'routes turned round': [{}, { route0: 0.15, route1: 0.2, route2: 0.3, route3: 0.2, route4: 0.1, route5: 0.05 }],
  'canary of 300 against 20,000': [{ uploads: 20_000 }, { uploads: 300 }],
  'canary of 2,000 against 40,000': [{ uploads: 40_000 }, { uploads: 2000 }],
  'heavy tails (Pareto 2.1)': [{ pareto: 1 }, { pareto: 1 }],
  'page loads of 3 uploads': [{ uploads: 3000, parts: 3 }, { uploads: 3000, parts: 3 }],
  'hours differ by 10 %': [{ uploads: 10_000, hour_sigma: 0.1 }, { uploads: 10_000, hour_sigma: 0.1 }],
  'functions drift by hour, 20 %': [{ uploads: 10_000, function_hour_sigma: 0.2 }, { uploads: 10_000, function_hour_sigma: 0.2 }],
  'everything 5 % slower': [{ uploads: 10_000 }, { uploads: 10_000, drift: 1.05 }],
  'few hours': [{ hours: 12 }, { hours: 12 }],
  'bots come': [{ bots: 0.02 }, { bots: 0.3 }],
  'parts longer by half': [{ uploads: 3000, parts: 3, steady: 1 }, { uploads: 2000, parts: 2, visit_ms: 12_000, steady: 1 }],
  'uploads twice as long': [{}, { visit_ms: 16_000 }],
  'one visitor of 60 loads': [{ uploads: 800 }, { uploads: 800, visitor: 60 }],
  'one visitor of 300 loads': [{ uploads: 800 }, { uploads: 800, visitor: 300 }],
  'a monitor that one side has': [{ uploads: 800 }, { uploads: 800, visitor: 288, visitor_hours: 24 }],
  'a monitor that both sides have': [{ uploads: 800, visitor: 288, visitor_hours: 24 }, { uploads: 800, visitor: 288, visitor_hours: 24 }],
  'offices of 50 page loads': [{ addresses: 40 }, { addresses: 40 }],
  'a rollout, fast machines first': [{}, { slow_first: -1 }],
};
/** Without FLEETPROF_LONG: those that take seconds. */
const shortOnes = ['nothing at all', 'routes turned round', 'parts longer by half', 'uploads twice as long'];

/** @type {Fleet} */
let fleet;
before(async () => { fleet = await Fleet.start(); });
after(() => fleet?.stop());

for (const [name, [first, second]] of Object.entries(scenarios)) {
  if (process.env.FLEETPROF_STATS_ONLY && !name.includes(process.env.FLEETPROF_STATS_ONLY)) continue;
  if (runs === 1 && !shortOnes.includes(name)) continue;
  test(`at most 5 % of comparisons raise an alarm when nothing changed: ${name}`, async (t) => {
    let alarms = 0;
    let flags = 0;
    let tested = 0;
    let unlikely = 0;
    for (let run = 0; run < runs; run += 1) {
      await fleet.site(seedOf(run));
      const rows = await fleet.compare(await fleet.side(first), await fleet.side(second));
      const found = rows.filter(isFound).length;
      alarms += Number(found > 0);
      flags += found;
      tested += rows.filter(isTested).length;
      unlikely += rows.filter(({ p }) => p !== null && p < 0.05).length;
    }
    t.diagnostic(`${name}: ${alarms} of ${runs} comparisons raise an alarm (${percent(alarms, runs)}), ${flags} functions in all; `
      + `${Math.round(tested / runs)} functions tested in each, p < 0.05 for ${percent(unlikely, tested)}`);
    assert.ok(tested > 20 * runs, 'functions were tested');
    // One of few comparisons may be unlucky; three standard errors otherwise.
    assert.ok(alarms <= 0.05 * runs + (runs < 400 ? 3 * Math.sqrt(0.05 * 0.95 * runs) : 0), `${alarms} of ${runs}`);
  });
}

test('one visitor who makes a third of the uploads in three hours changes next to nothing', async (t) => {
  if (process.env.FLEETPROF_STATS_ONLY && !'visitor'.includes(process.env.FLEETPROF_STATS_ONLY)) return;
  const comparisons = Math.max(4, Math.ceil(runs / 4));
  let found = 0;
  for (let run = 0; run < comparisons; run += 1) {
    await fleet.site(seedOf(run));
    found += (await fleet.compare(await fleet.side({ uploads: 800 }), await fleet.side({ uploads: 800, visitor: 300 }))).filter(isFound).length;
  }
  t.diagnostic(`${found} functions in ${comparisons} comparisons`);
  // Without a look at hours it is four in each.
  assert.ok(found <= comparisons / 2, `${found} functions`);
});

const kinds = {
  'in every load': { presence: 0.95, mean: 50 },
  'in 30 %': { presence: 0.3, mean: 50 },
};

for (const [name, factor, least] of /** @type {const} */ ([['in every load', 1.5, 0.95], ['in 30 %', 2, 0.95]])) {
  if (process.env.FLEETPROF_STATS_ONLY && !'power'.includes(process.env.FLEETPROF_STATS_ONLY)) continue;
  test(`finds +${Math.round(100 * factor - 100)} % of what runs ${name}, of 2,000 uploads a side`, async (t) => {
    const changed = [13, 17, 23, 27, 33, 37];
    let found = 0;
    let wrong = 0;
    let flagged = 0;
    for (let run = 0; run < runs; run += 1) {
      await fleet.site(seedOf(10_000 + run));
      for (const number of changed) await fleet.define(number, kinds[name].presence, kinds[name].mean, 0.9);
      const release = await fleet.side({});
      for (const number of changed) await fleet.effect(number, factor);
      const rows = (await fleet.compare(release, await fleet.side({}))).filter(isFound);
      found += rows.filter(({ number, verdict }) => verdict === 'slower' && changed.includes(number)).length;
      wrong += rows.filter(({ number }) => !changed.includes(number)).length;
      flagged += rows.length;
    }
    t.diagnostic(`+${Math.round(100 * factor - 100)} % ${name}: ${found} of ${runs * changed.length} found (${percent(found, runs * changed.length)}); `
      + `${wrong} of ${flagged} flagged wrongly (${percent(wrong, flagged)})`);
    assert.ok(found >= least * runs * changed.length - (runs < 400 ? 1 : 0), `${found} of ${runs * changed.length}`);
  });
}

test('prints the smallest change that it could have seen', async (t) => {
  if (process.env.FLEETPROF_STATS_ONLY && !'calibration'.includes(process.env.FLEETPROF_STATS_ONLY)) return;
  const each = 8;
  const count = { whole: 0, third: 0, all: 0 };
  for (let run = 0; run < (runs === 1 ? 2 : Math.max(2, Math.ceil(runs / 4))); run += 1) {
    await fleet.site(seedOf(20_000 + run));
    const release = await fleet.side({});
    const quiet = (await fleet.compare(release, await fleet.side({})))
      .filter((row) => row.number >= 0 && row.verdict === 'no change seen' && Number(row.smallest_visible) < 2);
    const chosen = new Map();
    while (chosen.size < Math.min(each, quiet.length)) {
      const row = quiet[Math.floor(await fleet.uniform() * quiet.length)];
      chosen.set(row.number, row.smallest_visible);
    }
    for (const [part, share] of /** @type {const} */ ([['whole', 1], ['third', 1 / 3]])) {
      for (const [number, smallest] of chosen) await fleet.effect(number, 1 + smallest * share);
      const found = (await fleet.compare(release, await fleet.side({}))).filter(({ verdict }) => verdict === 'slower');
      count[part] += found.filter(({ number }) => chosen.has(number)).length;
    }
    count.all += chosen.size;
  }
  t.diagnostic(`changed by the smallest visible change: ${count.whole} of ${count.all} found (${percent(count.whole, count.all)}); `
    + `by a third of it: ${count.third} (${percent(count.third, count.all)})`);
  assert.ok(count.whole >= (count.all < 500 ? 0.75 : 0.85) * count.all, `${count.whole} of ${count.all}`);
  assert.ok(count.third <= 0.3 * count.all, `a third: ${count.third} of ${count.all}`);
});

test('intervals hold the true change', async (t) => {
  if (process.env.FLEETPROF_STATS_ONLY && !'intervals'.includes(process.env.FLEETPROF_STATS_ONLY)) return;
  let held = 0;
  let all = 0;
  for (let run = 0; run < (runs === 1 ? 1 : Math.ceil(runs / 4)); run += 1) {
    await fleet.site(seedOf(30_000 + run));
    const release = await fleet.side({});
    const rows = await fleet.compare(release, await fleet.side({ drift: 1.25 }));
    for (const { number, before_uploads, after_uploads, change_low, change_high, verdict } of rows) {
      if (number < 0 || Math.min(before_uploads, after_uploads) < 50 || change_low === null || verdict === 'too few') continue;
      all += 1;
      held += Number(Number(change_low) <= 0.25 && 0.25 <= Number(change_high));
    }
  }
  t.diagnostic(`95 % intervals of functions in 50 uploads or more: ${held} of ${all} hold the true change (${percent(held, all)})`);
  assert.ok(held >= (runs === 1 ? 0.88 : 0.92) * all && (runs === 1 || held <= 0.98 * all), `${held} of ${all}`);
});

test('tells a slowdown of everything as one figure', async (t) => {
  if (process.env.FLEETPROF_STATS_ONLY && !'common'.includes(process.env.FLEETPROF_STATS_ONLY)) return;
  await fleet.site(seedOf(40_000));
  const row = await fleet.summary(await fleet.side({}), await fleet.side({ drift: 1.3 }));
  t.diagnostic(`everything 30 % slower: ${JSON.stringify(row)}`);
  assert.ok(Math.abs(row.common_change - 0.3) < 0.1, `common change: ${row.common_change}`);
  assert.equal(Number(row.slower) + Number(row.faster), 0);
});
