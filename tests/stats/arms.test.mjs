// SPDX-License-Identifier: Apache-2.0
/**
 * Arms of an experiment, of unequal size and in the same hours: at most 5 % of comparisons of arms that do not differ
 * raise an alarm, and a tag that costs more is found. FLEETPROF_LONG makes 100 comparisons of each kind;
 * FLEETPROF_STATS_RUNS is another number.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Fleet } from './fleet.mjs';
import { mostByChance, ordinary } from './worlds.mjs';

const runs = Number(process.env.FLEETPROF_STATS_RUNS ?? (process.env.FLEETPROF_LONG ? 100 : 4));
const kinds = /** @type {const} */ (['releases', 'timings', 'vitals']);
const isFound = (/** @type {{ verdict: string }} */ { verdict }) => ['slower', 'faster', 'new', 'gone'].includes(verdict);

/** @type {Fleet} */
let fleet;
before(async () => { fleet = await Fleet.start(); });
after(() => fleet?.stop());

/** Draws a day of both arms: nine of ten page loads have the tag. @param {number} seed @param {number} uploads of those without @param {number} factor of the tag's function */
async function draw(seed, uploads, factor) {
  await fleet.shop(seed);
  await fleet.drawOn({ ...ordinary, uploads, arm: 2 }, 1);
  await fleet.effect(0, factor);
  await fleet.drawOn({ ...ordinary, uploads: 9 * uploads, arm: 1 }, 1);
}

test('at most 5 % of comparisons of arms that do not differ raise an alarm', async (t) => {
  const alarms = { releases: 0, timings: 0, vitals: 0 };
  for (let run = 0; run < runs; run += 1) {
    await draw(36_000_000 + run, 200, 1);
    for (const kind of kinds) {
      const rows = await fleet.compareArms(kind);
      assert.ok(rows.length > (kind === 'releases' ? 10 : 3), kind);
      alarms[kind] += Number(rows.some(isFound));
    }
  }
  t.diagnostic(`of ${runs}: ${JSON.stringify(alarms)}`);
  for (const kind of kinds) assert.ok(alarms[kind] <= mostByChance(runs, 0.05), `${kind}: ${alarms[kind]} of ${runs} raise an alarm`);
});

test('a tag that costs twice as much is found', async (t) => {
  let found = 0;
  for (let run = 0; run < runs; run += 1) {
    await draw(36_100_000 + run, 400, 2);
    found += Number((await fleet.compareArms('releases')).some((row) => row.function === 'function0' && row.verdict === 'slower'));
  }
  t.diagnostic(`${found} of ${runs}`);
  assert.ok(found >= 0.75 * runs);
});
