// SPDX-License-Identifier: Apache-2.0
/**
 * Random numbers from a seed, so that a failed run can be repeated.
 */

/**
 * @typedef {object} Random
 * @property {() => number} share 0 ≤ x < 1
 * @property {(below: number) => number} below a whole number, 0 ≤ n < below
 * @property {(probability: number) => boolean} chance
 * @property {<T>(from: readonly T[]) => T} pick
 * @property {<T>(list: T[]) => T[]} shuffled a new list
 * @property {() => string} uuid
 * @property {() => Random} branch random numbers of their own, for what runs beside
 */

/** How many UUIDs were drawn: of 32 bits of state, some would come twice in a long run. */
let uuids = 0;

/**
 * @param {number} seed 32 bits (mulberry32)
 * @returns {Random}
 */
export function seededRandom(seed) {
  let state = seed >>> 0;
  const share = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** @param {number} limit */
  const below = (limit) => Math.floor(share() * limit);
  const hex = (/** @type {number} */ digits) => Array.from({ length: digits }, () => below(16).toString(16)).join('');
  return {
    share,
    below,
    chance: (probability) => share() < probability,
    pick: (from) => from[below(from.length)],
    shuffled: (list) => list.map((item) => ({ item, place: share() }))
      .sort((a, b) => a.place - b.place)
      .map(({ item }) => item),
    branch: () => seededRandom(below(2 ** 32)),
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(4)}${(uuids++).toString(16).padStart(8, '0')}`,
  };
}
