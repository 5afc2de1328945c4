// SPDX-License-Identifier: Apache-2.0
/**
 * Fleetprof's counts for the demo. `./quickstart` asks SQL each second and serves the answer as numbers.json; the
 * file in this folder means that nobody does.
 */

/**
 * @typedef {object} Numbers
 * @property {string} [report] address of the web report
 * @property {number} loads page loads counted so far
 * @property {{ function: string, resource: string, total_ms_per_load: number }[]} hotspots
 */

const pollMs = 1000;
const maxPolls = 30;

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
 * @returns {Promise<Numbers | null>} null when that takes too long
 */
export async function numbersWithLoad(loads) {
  for (let poll = 0; poll < maxPolls; poll++) {
    const numbers = await latestNumbers();
    if (numbers && numbers.loads > loads) return numbers;
    await new Promise((resolve) => { setTimeout(resolve, pollMs); });
  }
  return null;
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
