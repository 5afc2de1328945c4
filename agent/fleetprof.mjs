/**
 * fleetprof's agent as an ES module: `import { start } from 'fleetprof-agent'`.
 */
import './fleetprof.js';

/**
 * @typedef {import('./fleetprof.js').Options} Options
 * @typedef {import('./fleetprof.js').Handle} Handle
 * @typedef {import('./fleetprof.js').Fleetprof} Fleetprof
 */

/** @type {typeof globalThis & { fleetprof: Fleetprof }} */
const { fleetprof } = /** @type {any} */ (globalThis);

export const { version, start } = fleetprof;
