// SPDX-License-Identifier: Apache-2.0
/**
 * Sealing under test: uploads that come late, so that hours are sealed all the time, and a moment in which a
 * transaction of the sealer is held.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { waitFor } from '../behaviour/stack.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./collectors.mjs').Place} Place */
/** @typedef {import('../behaviour/stack.mjs').Postgres} Postgres */

const hourUs = 3_600_000_000;
const stayMs = 700;
const heldMs = 500;
const blockedMs = 3_000;

/** How many hours ago clocks live: in the present, in one block of four hours, and in a block of eight days that is over. */
const pastHours = [0, 0, 0, 1, 2, 27, 28, 24 * 17, 24 * 17 + 1, 24 * 18 + 5];

/** Tables that a seal changes. */
const tables = [
  'unsealed', 'sealed', 'cohort', 'total_recent', 'frame_recent', 'measure_frame_recent', 'total_hours', 'stack_hours',
  'frame_days', 'stack_days', 'timing_bin_hours',
];

/**
 * Lets the clock of each place live in other hours, one after the other.
 * @param {Place[]} places
 * @param {Random} random
 * @returns {() => Promise<void>} ends it, in the present
 */
export function liveInThePast(places, random) {
  let stopping = false;
  const living = (async () => {
    while (!stopping) {
      for (const { system } of places) if (random.chance(0.6)) system?.set({ pastUs: random.pick(pastHours) * hourUs });
      await delay(random.below(stayMs));
    }
    for (const { system } of places) system?.set({ pastUs: 0 });
  })();
  return async () => {
    stopping = true;
    await living;
  };
}

/** Writers that hold the lock of sealing. */
const sealer = `select pid, wait_event_type from pg_stat_activity join pg_locks using (pid)
  where locktype = 'advisory' and objid = hashtext('fleetprof.sealing')::oid and granted`;

/** Resolves, for psql, when a transaction of the sealer waits for us, or after a while without one. */
const untilBlocked = `do $$ begin
  for i in 1..${blockedMs / 2} loop
    perform pg_stat_clear_snapshot();
    exit when exists (select from (${sealer}) as sealer where wait_event_type = 'Lock');
    perform pg_sleep(0.002);
  end loop;
end $$;`;

/**
 * Holds the sealer in the midst of a transaction and acts meanwhile; without a seal in time it acts all the same.
 * @param {Postgres} postgres
 * @param {Random} random
 * @param {() => Promise<unknown>} act
 */
export async function whileSealing(postgres, random, act) {
  const held = postgres.execute(`begin; lock table fleetprof_data.${random.pick(tables)} in share mode;
    ${untilBlocked} select pg_sleep(${heldMs / 1000}); commit;`).catch(() => {});
  await postgres.execute(untilBlocked).catch(() => {});
  await act();
  await held;
}

/** Ends the sealer's connection, in the midst of a transaction if there is one. @param {Postgres} postgres @param {Random} random */
export const endSealer = (postgres, random) => whileSealing(postgres, random,
  () => postgres.sql(`select pg_${random.pick(['terminate', 'cancel'])}_backend(pid) from (${sealer}) as sealer`));

/** @param {Postgres} postgres @param {Random} random */
export async function vacuum(postgres, random) {
  for (let times = 4; times > 0; times--) {
    const full = random.chance(0.5) ? '(full)' : '';
    await postgres.execute(`vacuum ${full} fleetprof_data.${random.pick(tables)}`);
  }
}

/** How many blocks of each length are sealed, from the longest. @param {(text: string) => Promise<any[]>} sql */
export async function sealedBlocks(sql) {
  const rows = await sql('select span, count(*) as count from fleetprof_data.sealed group by span order by span desc');
  return rows.map(({ span, count }) => `${count} of ${[1, 4, 24, 192][span]} h`);
}

/**
 * Waits until all hours that are over are sealed.
 * @param {Postgres} postgres
 * @param {number} timeoutMs
 */
export async function untilSealed(postgres, timeoutMs) {
  await waitFor(async () => {
    const [{ count }] = await postgres.sql(`select count(*) as count from fleetprof_data.unsealed
      where bucket < now() - interval '1 hour 5 minutes'`);
    return count === 0;
  }, { timeoutMs, what: 'sealing of all hours that are over' });
}
