// SPDX-License-Identifier: Apache-2.0
/**
 * A clock that is wrong for one server and all its processes, by libfaketime.
 */
import fs from 'node:fs';
import path from 'node:path';

import { temporaryDir } from '../behaviour/stack.mjs';

/** @returns {string} */
function findLibrary() {
  const places = fs.readdirSync('/usr/lib').map((name) => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`);
  const library = places.find((place) => fs.existsSync(place));
  if (!library) throw new Error('libfaketime is missing: apt-get install libfaketime');
  return library;
}

/**
 * @typedef {object} ShiftedClock
 * @property {Record<string, string>} env for the server
 * @property {(days: number) => void} set how many days it is ahead, from the next moment on
 *
 * Only what says the date is shifted; what measures time is right.
 * @returns {ShiftedClock}
 */
export function shiftedClock() {
  const dir = temporaryDir('clock');
  fs.chmodSync(dir, 0o755);
  const file = path.join(dir, 'offset');
  const set = (/** @type {number} */ days) => {
    fs.writeFileSync(`${file}.new`, `${days < 0 ? '-' : '+'}${Math.abs(days)}d\n`);
    fs.renameSync(`${file}.new`, file);
  };
  set(0);
  return {
    env: {
      LD_PRELOAD: findLibrary(), FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
    set,
  };
}
