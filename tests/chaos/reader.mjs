// SPDX-License-Identifier: Apache-2.0
/**
 * A reader that never sees half a seal: in one snapshot, all functions and the log have the same sums.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { sites } from './uploads.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('../behaviour/stack.mjs').Postgres} Postgres */

const pauseMs = 150;
const everHours = 24 * 40;

/**
 * Compares, by name, the sums of attributed time (microseconds) and of values, which must be equal.
 * @param {string} given arguments of functions
 * @param {string} where the same, as a condition
 */
const comparison = (given, where) => `
    begin isolation level repeatable read read only;
    select json_build_object(
      'log', (select coalesce(round(sum(profiled_ms - unattributed_ms) * 1000), 0) from fleetprof.upload_log where ${where}),
      'markers', (select coalesce(round(sum(self_ms) * 1000), 0) from fleetprof.markers(${given})
        where marker <> '(unattributed)'),
      'hotspots', (select coalesce(round(sum(self_ms) * 1000), 0) from fleetprof.hotspots(${given}, top => null)),
      'hotspots by marker', (select coalesce(round(sum(self_ms) * 1000), 0)
        from unnest(enum_range(null::fleetprof_data.marker)) as one,
          fleetprof.hotspots(${given}, marker => one::text, top => null)),
      'flamegraph', (select coalesce(round(sum(total_ms) * 1000), 0)
        from fleetprof.flamegraph(${given}, min_share => 1) where level = 0),
      'hourly', (select coalesce(round(sum(self_ms) * 1000), 0) from fleetprof.hotspot_hourly where ${where}));
    select json_build_object(
      'timings logged', (select coalesce(sum(timings), 0) from fleetprof.upload_log where ${where}),
      'timings', (select coalesce(sum(count), 0) from fleetprof.timings(${given})));
    commit;`;

/** Arguments of functions, and the same as a condition. @param {Random} random @returns {[string, string]} */
function randomSelection(random) {
  const site = random.pick(['%', random.pick(sites).name]);
  const release = random.pick([null, '1.0']);
  const hours = [random.below(everHours), random.below(everHours)].sort((a, b) => a - b);
  const [until, since] = (random.chance(0.5) ? [0, everHours] : hours)
    .map((ago) => `date_trunc('hour', now(), 'UTC') + interval '${2 - ago} hours'`);
  return [
    `site => '${site}', since => ${since}, until => ${until}${release === null ? '' : `, release => '${release}'`}`,
    `site like '${site}' and bucket >= ${since} and bucket < ${until}${release === null ? '' : ` and release = '${release}'`}`,
  ];
}

/**
 * @param {Postgres} postgres
 * @param {Random} random
 * @returns {() => Promise<{ reads: number, lines: string[] }>} ends it: how many snapshots were read, and differences
 */
export function startReader(postgres, random) {
  const seen = { reads: 0, lines: /** @type {string[]} */ ([]) };
  let stopping = false;
  const reading = (async () => {
    while (!stopping) {
      const [given, where] = randomSelection(random);
      // The database may be down or locked: then nothing was read.
      const answer = await postgres.execute(comparison(given, where), 'fleetprof_reader').catch(() => '');
      const sums = answer.trim().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
      if (sums.length === 2) seen.reads++;
      for (const sum of sums.filter((sum) => new Set(Object.values(sum)).size > 1)) {
        seen.lines.push(`snapshot: ${given}: ${JSON.stringify(sum)}`);
      }
      await delay(pauseMs);
    }
  })();
  return async () => {
    stopping = true;
    await reading;
    return seen;
  };
}
