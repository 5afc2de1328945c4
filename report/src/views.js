// SPDX-License-Identifier: Apache-2.0
/** The views by their name in an address, in the order of the line of views. */
// The bundle has the files in this order: what is alike lies close, and the page is 1.8 % smaller than by the alphabet.
import { session, sessions } from './views/sessions.js';
import { interactions, longFrames } from './views/interactions.js';
import { where } from './views/where.js';
import { oneFunction } from './views/function.js';
import { timing, timings } from './views/timings.js';
import { flame } from './views/flame.js';
import { compare } from './views/compare.js';
import { overview } from './views/overview.js';
import { vital, vitals } from './views/vitals.js';
import { coverage } from './views/coverage.js';
import { functions } from './views/functions.js';
import { sites } from './views/sites.js';

/** @type {Record<string, import('./main.js').View>} */
export const views = {
  sites, overview, flame, functions, function: oneFunction, compare, timings, timing, vitals, vital, interactions, 'long-frames': longFrames, where, coverage, sessions, session,
};
