// SPDX-License-Identifier: Apache-2.0
/**
 * Fleetprof's counts for the demo. `./quickstart` asks SQL each second and serves the answer as numbers.json; the
 * file in this folder means that nobody does. recorded.json has those of one run, for browsers without a profiler.
 */

/**
 * @typedef {object} Numbers
 * @property {string} [trouble] why the database cannot be asked; then there are no others
 * @property {string} [report] address of the web report
 * @property {number} loads page loads counted so far
 * @property {{ function: string, resource: string, total_ms_per_load: number }[]} hotspots
 */

const pollMs = 1000;
const maxPolls = 30;
/** So many answers in a row are more than a restart of the database. */
const maxTroubles = 5;

/** @returns {Promise<Numbers | null>} null where the server has none */
export async function latestNumbers() {
  try {
    const reply = await fetch('numbers.json', { cache: 'no-store' });
    return reply.ok ? await reply.json() : null;
  } catch { // no answer, or no JSON
    return null;
  }
}

/**
 * Waits until more page loads are counted than before.
 * @param {number} loads
 * @returns {Promise<Numbers | null>} the latest when that takes too long, or the database cannot be asked
 */
export async function numbersWithLoad(loads) {
  let numbers = null;
  for (let poll = 0, troubles = 0; poll < maxPolls && troubles < maxTroubles; poll++) {
    numbers = await latestNumbers();
    if (numbers && numbers.loads > loads) return numbers;
    troubles = numbers?.trouble ? troubles + 1 : 0;
    await new Promise((resolve) => { setTimeout(resolve, pollMs); });
  }
  return numbers;
}

/** Returns what fleetprof counted in one run elsewhere. @returns {Promise<{ browser: string, counted: Record<string, number> } | null>} */
export async function recordedRun() {
  try {
    const reply = await fetch('recorded.json');
    return reply.ok ? await reply.json() : null;
  } catch { // no answer, or no JSON
    return null;
  }
}

/**
 * A function of work.js by its name. Functions of older versions of work.js have their own rows.
 * @param {Numbers} numbers
 * @param {string} name
 */
export function totalMsPerLoad({ hotspots }, name) {
  return hotspots
    .filter((row) => row.function === name && row.resource?.endsWith('/work.js'))
    .reduce((sum, row) => sum + row.total_ms_per_load, 0);
}
