// SPDX-License-Identifier: Apache-2.0
/**
 * Controls faulty_system.c: builds it, writes its control file, and removes unsynced bytes from a spool.
 */
import fs from 'node:fs';
import path from 'node:path';

import { binDir, repository, run, runOrThrow, temporaryDir } from '../behaviour/stack.mjs';

/** The order is faulty_system.c's. */
const settings = /** @type {const} */ ([
  'clockOffsetUs', 'failingWrites', 'failingSyncs', 'shortWrites', 'error', 'syncDelayUs', 'monotonicOffsetUs', 'pastUs',
]);
/** @typedef {Partial<Record<(typeof settings)[number], number>>} Settings */

export const errors = { EIO: 5, ENOSPC: 28 };

/**
 * @typedef {object} FaultySystem
 * @property {NodeJS.ProcessEnv} env for the collector
 * @property {(wanted: Settings) => void} set
 * @property {() => void} heal
 * @property {(spool: string, random: import('./random.mjs').Random) => void} cutPower
 *   after a kill: restores all or some of what was overwritten without a sync
 */

/** Built once; undefined where it cannot be preloaded: sanitizers must be first. */
/** @type {Promise<string | undefined> | undefined} */
let built;

async function build() {
  const { stdout } = await run(['ldd', path.join(binDir, 'fleetprofd')]);
  if (/lib[at]san/.test(stdout)) return undefined;
  const library = path.join(temporaryDir('faults'), 'faulty_system.so');
  await runOrThrow(['cc', '-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC',
    '-o', library, path.join(repository, 'tests/chaos/faulty_system.c')]);
  return library;
}

/** @param {string} file @returns {{ offset: number, bytes: Buffer }[]} */
function readUndo(file) {
  const content = fs.readFileSync(file);
  const parts = [];
  for (let at = 0; at + 16 <= content.length;) {
    const length = Number(content.readBigInt64LE(at + 8));
    parts.push({ offset: Number(content.readBigInt64LE(at)), bytes: content.subarray(at + 16, at + 16 + length) });
    at += 16 + length;
  }
  return parts;
}

/** @param {string} file @param {ReturnType<typeof readUndo>} parts newest last */
function putBack(file, parts) {
  const handle = fs.openSync(file, 'r+');
  const { size } = fs.fstatSync(handle);
  for (const { offset, bytes } of parts.reverse()) {
    const length = Math.min(bytes.length, size - offset);
    if (length > 0) fs.writeSync(handle, bytes, 0, length, offset);
  }
  fs.closeSync(handle);
}

/** @returns {Promise<FaultySystem | undefined>} one for each collector */
export async function startFaultySystem() {
  built ??= build();
  const library = await built;
  if (!library) return undefined;
  const dir = temporaryDir('faults');
  const undoDir = path.join(dir, 'undo');
  fs.mkdirSync(undoDir);
  const control = path.join(dir, 'control');
  const words = new BigInt64Array(settings.length);
  fs.writeFileSync(control, words);
  const handle = fs.openSync(control, 'r+');
  const at = (/** @type {(typeof settings)[number]} */ setting) => 8 * settings.indexOf(setting);
  return {
    env: { LD_PRELOAD: library, FLEETPROF_FAULTS_CONTROL: control, FLEETPROF_FAULTS_UNDO: undoDir },
    set: (wanted) => {
      for (const [setting, value] of Object.entries(wanted)) {
        fs.writeSync(handle, BigInt64Array.of(BigInt(value)), 0, 8, at(/** @type {any} */ (setting)));
      }
    },
    heal: () => { fs.writeSync(handle, words, 0, words.byteLength, 0); },
    cutPower: (spool, random) => {
      const all = random.chance(0.5);
      const files = new Map(fs.readdirSync(spool).map((name) => path.join(spool, name))
        .map((file) => [String(fs.statSync(file).ino), file]));
      for (const inode of fs.readdirSync(undoDir)) {
        const file = files.get(inode);
        const undo = path.join(undoDir, inode);
        if (file) putBack(file, readUndo(undo).filter(() => all || random.chance(0.5)));
        fs.rmSync(undo);
      }
    },
  };
}
