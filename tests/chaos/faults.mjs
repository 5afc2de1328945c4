// SPDX-License-Identifier: Apache-2.0
/**
 * The faults, by kind, and the lanes in which they happen: each collector and the database have one, so
 * faults of different lanes overlap and those of one lane do not.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { untilFlushed } from './collectors.mjs';
import { errors } from './faulty_system.mjs';
import { endSealer, vacuum, whileSealing } from './sealing.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./collectors.mjs').Place} Place */
/** @typedef {import('../behaviour/stack.mjs').Postgres} Postgres */
/**
 * By kind.
 * @template T
 * @typedef {Record<string, (what: T, random: Random) => Promise<unknown>>} Faults
 */

const flushTimeoutMs = 60_000;
const hourUs = 3_600_000_000;

/** A pause in which clients continue. @param {Random} random */
const aWhile = (random) => delay(100 + random.below(700));

/** @param {Place} place */
function systemOf(place) {
  if (!place.system) throw new Error('no faulty system');
  return place.system;
}

/** @type {Faults<Place>} */
const ofCollector = {
  'kill -9': async (place, random) => {
    // On a slow disk, much is written but not synced yet.
    place.system?.set({ syncDelayUs: random.pick([0, 30_000, 100_000]) });
    await aWhile(random);
    await place.cutPower(random);
    place.system?.set({ syncDelayUs: 0 });
    await place.start();
  },
  'kill -9 at the start': async (place, random) => {
    await place.cutPower(random);
    for (let times = 1 + random.below(3); times > 0; times--) await place.startInVain(random.below(150), random);
    await place.start();
  },
  SIGTERM: async (place) => {
    await place.stop();
    await place.start();
  },
  'SIGTERM and kill -9': async (place, random) => {
    await place.stopInVain(random.below(500), random);
    await place.start();
  },
  'collector paused': async ({ collector: { server } }, random) => {
    process.kill(server.pid, 'SIGSTOP');
    await aWhile(random);
    process.kill(server.pid, 'SIGCONT');
  },
};

/** Faults that need the faulty system. @type {Faults<Place>} */
const ofSystem = {
  'failing writes': async (place, random) => {
    systemOf(place).set({ error: random.pick([errors.EIO, errors.ENOSPC]), failingWrites: 1 + random.below(4) });
    await aWhile(random);
  },
  'short writes': async (place, random) => {
    systemOf(place).set({ shortWrites: 1 + random.below(8) });
    await aWhile(random);
  },
  'failing sync': async (place, random) => {
    systemOf(place).set({ error: random.pick([errors.EIO, errors.ENOSPC]), failingSyncs: 1 + random.below(3) });
    await aWhile(random);
  },
  'short then failing write': async (place, random) => {
    systemOf(place).set({ error: errors.ENOSPC, shortWrites: 1, failingWrites: 1 });
    await aWhile(random);
  },
  'clock jump': async (place, random) => {
    systemOf(place).set({ clockOffsetUs: random.pick([1, -1, 24, -24, 24 * 365, -24 * 365]) * hourUs });
    await aWhile(random);
    if (random.chance(0.3)) {
      await place.cutPower(random);
      await place.start();
    }
    systemOf(place).set({ clockOffsetUs: 0 });
  },
};

/** Needs a copy, which the first end of the collector makes. @type {Faults<Place>} */
const ofSpool = {
  'old copy of the spool': async (place, random) => {
    if (!place.copy) await ofCollector.SIGTERM(place, random);
    await aWhile(random);
    place.open = false;
    await untilFlushed(place, flushTimeoutMs);
    await place.cutPower(random);
    fs.rmSync(place.spool, { recursive: true });
    fs.cpSync(/** @type {string} */ (place.copy), place.spool, { recursive: true });
    place.copy = undefined;
    await place.start();
    place.open = true;
  },
};

/** @type {Faults<Place>} */
const ofDisk = {
  'full disk': async (place, random) => {
    const filler = fs.openSync(path.join(/** @type {string} */ (place.disk), 'filler'), 'w');
    const block = Buffer.alloc(64 * 1024);
    try {
      for (;;) fs.writeSync(filler, block);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOSPC') throw error;
    }
    // The current segment is preallocated; a new one gets no space.
    place.system?.set({ error: errors.EIO, failingSyncs: random.below(2) });
    await aWhile(random);
    if (random.chance(0.5)) await place.cutPower(random);
    fs.ftruncateSync(filler, 0);
    fs.closeSync(filler);
    place.system?.set({ failingSyncs: 0 });
    if (!place.collector.server.running()) await place.start();
  },
};

/** @param {Postgres} postgres @returns {Faults<Place>} */
const ofSealer = (postgres) => ({
  'kill -9 in a seal': async (place, random) => {
    await whileSealing(postgres, random, () => place.cutPower(random));
    await place.start();
  },
});

/** The processes of a cluster. @param {Postgres} postgres */
function processesOf({ server: { pid } }) {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
}

/** @param {number[]} pids @param {NodeJS.Signals} signal */
function signalAll(pids, signal) {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
    }
  }
}

/** @param {Postgres} postgres @param {NodeJS.Signals} signal @param {Random} random */
async function restart(postgres, signal, random) {
  await postgres.stop(signal);
  await aWhile(random);
  await postgres.start();
}

/** @type {Faults<Postgres>} */
const ofDatabase = {
  'backends ended': async (postgres, random) => {
    for (let times = 3; times > 0; times--) {
      const end = random.pick(['pg_terminate_backend', 'pg_terminate_backend', 'pg_cancel_backend']);
      await delay(random.below(200));
      await postgres.sql(`select ${end}(pid) from pg_stat_activity where usename = 'fleetprof_writer'`);
    }
  },
  'PostgreSQL restarted': (postgres, random) => restart(postgres, 'SIGINT', random),
  'PostgreSQL stopped at once': (postgres, random) => restart(postgres, 'SIGQUIT', random),
  'PostgreSQL paused': async (postgres, random) => {
    const pids = processesOf(postgres);
    signalAll(pids, 'SIGSTOP');
    await aWhile(random);
    signalAll(pids, 'SIGCONT');
  },
  'slow database': async (postgres, random) => {
    const table = random.pick(['upload_id', 'spool_position', 'frame_recent', 'unsealed', 'sealed', 'stack_hours', 'stack']);
    const seconds = 0.3 + random.share();
    await postgres.execute(`begin; lock table fleetprof_data.${table}; select pg_sleep(${seconds}); commit`);
  },
  'sealer ended': endSealer,
  'PostgreSQL stopped in a seal': (postgres, random) =>
    whileSealing(postgres, random, () => restart(postgres, 'SIGQUIT', random)),
  vacuum,
  'read-only database': async (postgres, random) => {
    await postgres.execute('alter system set default_transaction_read_only = on; select pg_reload_conf()');
    await aWhile(random);
    await postgres.execute('alter system reset default_transaction_read_only; select pg_reload_conf()');
  },
};

/**
 * One lane: faults one after another.
 * @typedef {{ name: string, faults: Record<string, (random: Random) => Promise<unknown>> }} Lane
 */

/** @template T @param {string} name @param {T} what @param {Faults<T>} faults @returns {Lane} */
const lane = (name, what, faults) => ({
  name,
  faults: Object.fromEntries(Object.entries(faults)
    .map(([kind, fault]) => [kind, (/** @type {Random} */ random) => fault(what, random)])),
});

/**
 * @param {Place[]} places
 * @param {Postgres} postgres
 * @returns {Lane[]}
 */
export function lanes(places, postgres) {
  return [
    ...places.map((place) => lane(place.name, place,
      { ...ofCollector, ...ofSealer(postgres), ...ofSpool, ...(place.system ? ofSystem : {}), ...(place.disk ? ofDisk : {}) })),
    lane('database', postgres, ofDatabase),
  ];
}

/**
 * Spreads that many faults over the lanes, with every kind of a lane equally often, and runs them. Returns how often
 * each happened.
 * @param {Lane[]} all
 * @param {number} count
 * @param {Random} random
 * @param {() => Promise<unknown>} between what to wait for after each fault
 */
export async function runFaults(all, count, random, between) {
  /** @type {Map<string, number>} */
  const done = new Map();
  const until = (/** @type {number} */ lanes) => Math.floor((count * lanes) / all.length);
  await Promise.all(all.map(async ({ name, faults }, i) => {
    const own = random.branch();
    const kinds = Object.keys(faults);
    const share = until(i + 1) - until(i);
    const rounds = Math.ceil(share / kinds.length);
    const schedule = Array.from({ length: rounds }, () => own.shuffled(kinds)).flat().slice(0, share);
    for (const kind of schedule) {
      await faults[kind](own).catch((error) => {
        throw new Error(`${name}: ${kind}`, { cause: error });
      });
      done.set(kind, (done.get(kind) ?? 0) + 1);
      await between();
    }
  }));
  return done;
}
