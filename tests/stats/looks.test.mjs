// SPDX-License-Identifier: Apache-2.0
/**
 * Verdicts hold however often somebody looks: a release is watched from its first hour to its 48th. FLEETPROF_LONG watches
 * 100 releases of each kind, every hour: 10 to 15 seconds for each, 2 minutes with timings; without it one, at a few hours. FLEETPROF_STATS_RUNS is another number of releases,
 * FLEETPROF_STATS_FIRST and FLEETPROF_STATS_ONLY are as in comparison.test.mjs.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Fleet } from './fleet.mjs';

const isLong = Boolean(process.env.FLEETPROF_LONG);
const runs = Number(process.env.FLEETPROF_STATS_RUNS ?? (isLong ? 100 : 1));
const firstRun = Number(process.env.FLEETPROF_STATS_FIRST ?? 0);
const hours = isLong ? Array.from({ length: 48 }, (_, i) => i + 1) : [2, 6, 12, 18, 24, 36, 48];
const only = process.env.FLEETPROF_STATS_ONLY ?? '';
const findings = ['slower', 'faster', 'new', 'gone'];

/** Nothing changed, but… Each day of both sides. @type {Record<string, [import('./fleet.mjs').Side, number]>} */
const worlds = {
  'nothing at all': [{ uploads: 1920 }, 200],
  'hours differ by 10 %': [{ uploads: 1920, hour_sigma: 0.1 }, 200],
  'functions drift by hour, 20 %': [{ uploads: 4000, function_hour_sigma: 0.2 }, 200],
  'a busy site, functions drift by hour': [{ uploads: 24_000, function_hour_sigma: 0.2 }, 60],
  'timings and vitals': [{ uploads: 1920, timings: 10 }, 30],
};
/** In a short run: the first seed of each. What all uploads of the busy site run varies most between its hours, and it did raise an alarm there. */
const shortOnes = new Map([['nothing at all', 0], ['timings and vitals', 0], ['a busy site, functions drift by hour', 18]]);

/** @type {Fleet} */
let fleet;
before(async () => { fleet = await Fleet.start(); });
after(() => fleet?.stop());

for (const [name, [side, functions]] of Object.entries(worlds)) {
  if (!name.includes(only) || (runs === 1 && !shortOnes.has(name))) continue;
  test(`at most 5 % of releases raise an alarm while somebody looks again and again: ${name}`, async (t) => {
    let alarmed = 0;
    let last = 0;
    let verdicts = 0;
    for (let run = 0; run < runs; run += 1) {
      await fleet.site(50_000 + (runs === 1 ? Number(shortOnes.get(name)) : firstRun) + run, functions);
      const [earlier, later] = [await fleet.sideOfDays(side, 2), await fleet.sideOfDays(side, 2)];
      /** @type {Set<string>} */
      const seen = new Set();
      for (const hour of hours) {
        const rows = side.timings ? [...await fleet.look(earlier, later, hour, 'timings'), ...await fleet.look(earlier, later, hour, 'vitals')]
          : await fleet.look(earlier, later, hour);
        const found = rows.filter(({ verdict }) => findings.includes(verdict));
        if (found.length > 0) seen.add(String(hour));
        verdicts += rows.filter(({ verdict }) => verdict === 'no change seen').length;
      }
      alarmed += Number(seen.size > 0);
      last += Number(seen.has('48'));
    }
    t.diagnostic(`${name}: ${alarmed} of ${runs} releases raise an alarm at one of ${hours.length} looks, ${last} at the last one`);
    assert.ok(verdicts > 0, 'something was judged');
    assert.ok(alarmed <= 0.05 * runs + (runs < 400 ? 3 * Math.sqrt(0.05 * 0.95 * runs) : 0), `${alarmed} of ${runs}`);
  });
}

test('a busy site has its verdict within two hours', async (t) => {
  if (!'busy'.includes(only)) return;
  const releases = Math.ceil(runs / 4);
  let found = 0;
  let wrong = 0;
  for (let run = 0; run < releases; run += 1) {
    await fleet.site(60_000 + firstRun + run, 60);
    await fleet.define(13, 0.95, 50, 0.9);
    const earlier = await fleet.sideOfDays({ uploads: 48_000 }, 1);
    await fleet.effect(13, 1.5);
    const later = await fleet.sideOfDays({ uploads: 48_000 / 12, hours: 2 }, 1);
    const rows = (await fleet.look(earlier, later, 2)).filter(({ verdict }) => findings.includes(verdict));
    found += rows.filter(({ verdict, function: name }) => verdict === 'slower' && name === 'function13').length;
    wrong += rows.filter(({ function: name }) => name !== 'function13').length;
  }
  t.diagnostic(`+50 % of what runs in every load, 4,000 uploads in two hours: ${found} of ${releases} found, ${wrong} wrong`);
  assert.ok(found >= 0.95 * releases - (releases < 100 ? 1 : 0) && found > 0 && wrong <= 0.05 * releases + 1, `${found} found, ${wrong} wrong`);
});

test('what a summary calls decidable is found at the hour that it named', async (t) => {
  if (!'decidable'.includes(only)) return;
  const changed = [0, 4, 8]; // of those that run in nearly every load
  const day = { uploads: 24_000, day_curve: 0.8, route0: 0.5, route1: 0.3, route2: 0.2, route3: 0, route4: 0, route5: 0 };
  let found = 0;
  let all = 0;
  for (let run = 0; run < Math.ceil(runs / 4); run += 1) {
    for (const [uploads, hour] of [[24_000, 6], [6000, 13]]) {
      await fleet.shop(91_000_000 + firstRun + run);
      const earlier = await fleet.sideOfDays({ ...day, uploads }, 2);
      for (const number of changed) await fleet.effect(number, 1.2);
      const later = await fleet.sideOfDays({ ...day, uploads }, 2);
      const [{ decidable_in: hours }] = await fleet.look(earlier, later, hour, 'summary');
      assert.ok(hours !== undefined && hours !== null && hours > 0, 'not yet');
      if (hour + Math.ceil(hours) > 48) continue; // "not within 48 hours"
      const rows = await fleet.look(earlier, later, hour + Math.ceil(hours));
      found += rows.filter(({ function: name, verdict }) => verdict === 'slower' && changed.some((number) => name === `function${number}`)).length;
      all += changed.length;
    }
  }
  t.diagnostic(`+20 % of what runs in every load: ${found} of ${all} found at the hour that was named`);
  assert.ok(all > 0 && found >= 0.9 * all - 3 * Math.sqrt(0.09 * all), `${found} of ${all}`);
});
