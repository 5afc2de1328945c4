// SPDX-License-Identifier: Apache-2.0
/**
 * Two collectors on spools of their own, each with a system that can be made faulty.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import {
  binDir, freePort, runOrThrow, startCollector, startProcess, temporaryDir, waitFor,
} from '../behaviour/stack.mjs';
import { startFaultySystem } from './faulty_system.mjs';
import { ceilings, sites } from './uploads.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('../behaviour/stack.mjs').Collector} Collector */
/**
 * A collector over all its lives.
 * @typedef {object} Place
 * @property {string} name
 * @property {string} url
 * @property {boolean} open clients may send to it
 * @property {number} lives
 * @property {number} inFlight
 * @property {string} spool
 * @property {string | undefined} disk where its small disk is mounted, if it has one
 * @property {string | undefined} copy an old copy of its spool
 * @property {import('./faulty_system.mjs').FaultySystem | undefined} system
 * @property {Collector} collector changes with every start
 * @property {() => Promise<void>} start
 * @property {(afterMs: number, random: Random) => Promise<void>} startInVain cuts the power so soon after a start
 * @property {(afterMs: number, random: Random) => Promise<void>} stopInVain the same, so soon after SIGTERM
 * @property {(random: Random) => Promise<void>} cutPower kill -9, and what was not synced is lost
 * @property {() => Promise<void>} stop SIGTERM; an error when it does not end in time and with 0
 * @property {() => Promise<number>} backlog
 */

const diskBytes = 12 * 1024 * 1024;
const spoolBytes = 8 * 1024 * 1024;
const segmentBytes = 1024 * 1024;
const lettersBytes = 1024 * 1024;
const stopMs = 60_000;

/**
 * A small disk of its own, where we may mount one. It has no name but our open handle: whatever becomes of us, the
 * kernel takes it away when the last process that uses it has ended.
 * @returns {Promise<string | undefined>}
 */
async function mountDisk() {
  if (process.getuid?.() !== 0) return undefined;
  const dir = temporaryDir('disk');
  try {
    await runOrThrow(['mount', '-t', 'tmpfs', '-o', `size=${diskBytes}`, 'fleetprof', dir]);
  } catch {
    return undefined;
  }
  const handle = fs.openSync(dir, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  await runOrThrow(['umount', '--lazy', dir]);
  return `/proc/${process.pid}/fd/${handle}`;
}

/**
 * @param {object} given
 * @param {string} given.name
 * @param {string} given.database
 * @param {boolean} given.onSmallDisk
 * @returns {Promise<Place>}
 */
export async function startPlace({ name, database, onSmallDisk }) {
  const disk = onSmallDisk ? await mountDisk() : undefined;
  const spool = path.join(disk ?? temporaryDir('chaos'), 'spool');
  const system = await startFaultySystem();
  const config = {
    listen: `127.0.0.1:${await freePort()}`,
    admin: `127.0.0.1:${await freePort()}`,
    database,
    spool: { path: spool, max_bytes: spoolBytes, segment_bytes: segmentBytes },
    // Where the spool is, so that it goes through the same: what was refused must not be in the way.
    dead_letters: { path: path.join(path.dirname(spool), 'letters'), max_bytes: lettersBytes },
    flush: { min_window: '100ms', max_window: '1s' },
    // Late uploads are kept all the same.
    retention: { hours: '100d', facts: '100d', upload_log: '100d', sessions: '100d' },
    ceilings,
    // The page tells uploads without an id apart.
    privacy: { keep_path_hashes: true, keep_path_numbers: true, keep_path_tokens: true },
    sites,
  };
  /** @type {Place} */
  const place = {
    name, spool, disk, system,
    url: `http://${config.listen}`,
    open: true,
    lives: 1,
    inFlight: 0,
    copy: undefined,
    collector: await startCollector({ config, env: system?.env }),
    start: async () => {
      place.lives++;
      place.collector = await startCollector({ config, env: system?.env });
    },
    startInVain: async (afterMs, random) => {
      place.lives++;
      const command = [path.join(binDir, 'fleetprofd'), '-c', place.collector.file];
      const server = startProcess('fleetprofd', command, { env: system?.env });
      await delay(afterMs);
      await server.stop('SIGKILL');
      system?.cutPower(spool, random);
    },
    stopInVain: async (afterMs, random) => {
      const { server } = place.collector;
      process.kill(server.pid, 'SIGTERM');
      await delay(afterMs);
      await server.stop('SIGKILL');
      system?.cutPower(spool, random);
    },
    cutPower: async (random) => {
      await endCollector(place, 'SIGKILL');
      system?.cutPower(spool, random);
      place.copy ??= copySpool(place);
    },
    stop: async () => {
      const { code, signal } = await endCollector(place, 'SIGTERM');
      if (code !== 0) throw new Error(`${name} ended with ${signal ?? code}\n${place.collector.server.output()}`);
      place.copy ??= copySpool(place);
    },
    backlog: async () => (await place.collector.metrics()).fleetprof_spool_backlog_records,
  };
  return place;
}

/** @param {Place} place @param {NodeJS.Signals} signal */
async function endCollector({ name, collector: { server } }, signal) {
  if (!server.running()) throw new Error(`${name} ended by itself\n${server.output()}`);
  return server.stop(signal, stopMs);
}

/** @param {Place} place */
function copySpool({ spool }) {
  const copy = path.join(temporaryDir('copy'), 'spool');
  fs.cpSync(spool, copy, { recursive: true });
  return copy;
}

/**
 * Waits until all that was acknowledged here is in the database, with clients sent elsewhere.
 * @param {Place} place
 * @param {number} timeoutMs
 */
export async function untilFlushed(place, timeoutMs) {
  await waitFor(() => place.inFlight === 0, { timeoutMs, what: `end of the requests to ${place.name}` });
  await waitFor(async () => (await place.backlog()) === 0, { timeoutMs, what: `empty backlog of ${place.name}` });
}
