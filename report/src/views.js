// SPDX-License-Identifier: Apache-2.0
/** The views by their name in an address, in the order of the line of views. */
import { compare } from './views/compare.js';
import { coverage } from './views/coverage.js';
import { flame } from './views/flame.js';
import { oneFunction } from './views/function.js';
import { functions } from './views/functions.js';
import { interactions, longFrames } from './views/interactions.js';
import { session, sessions } from './views/sessions.js';
import { overview } from './views/overview.js';
import { sites } from './views/sites.js';
import { timing, timings } from './views/timings.js';
import { vital, vitals } from './views/vitals.js';
import { where } from './views/where.js';

/** @type {Record<string, import('./main.js').View>} */
export const views = {
  sites, overview, flame, functions, function: oneFunction, compare, timings, timing, vitals, vital, interactions, 'long-frames': longFrames, where, coverage, sessions, session,
};
