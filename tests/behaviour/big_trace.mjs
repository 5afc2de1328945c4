// SPDX-License-Identifier: Apache-2.0
/** Uploads with very many stacks, as a large application has them: few functions call most others, times have jitter. */

/** Returns numbers from 0 to 1, the same in each run. @param {number} seed */
export function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mix = Math.imul(state ^ (state >>> 15), 1 | state);
    mix = (mix + Math.imul(mix ^ (mix >>> 7), 61 | mix)) ^ mix;
    return ((mix ^ (mix >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const syllables = ['get', 'set', 'on', 'use', 'make', 'render', 'begin', 'Work', 'State', 'List', 'Item', 'Node', 'Effect', 'flush', 'commit', 'update', 'Props', 'handle', 'Event', 'Click', 'load', 'parse', 'Json', 'Tree', 'map', 'Cache'];

/**
 * Returns an upload of a release. Releases of one seed have the same functions, at other lines and in other files.
 * @param {{ release: string, nodes: number, functions: number, seed: number, samples?: number }} given nodes: stacks, at least;
 *   samples: of each stack that has any, on the average
 */
export function bigUpload({ release, nodes, functions, seed, samples = 4 }) {
  const shape = random(seed);
  const part = () => syllables[Math.floor(shape() * syllables.length)];
  const callees = Array.from({ length: functions }, () => Array.from({ length: 1 + Math.floor(shape() ** 2 * 12) }, () => Math.floor(shape() * functions)));
  const resources = Array.from({ length: 40 }, (_, i) => `https://static.shop.example/assets/${['app', 'vendor', 'cart', 'search'][i % 4]}-${i}.${i % 4 === 0 ? release : ''}js`);
  const frames = callees.map((_, i) => ({ name: `${part()}${part()}${part()}${i % 7 === 0 ? i : ''}`, resourceId: i % resources.length, line: 1 + Math.floor(shape() * 9000), column: 1 + Math.floor(shape() * 120) }));
  const draw = random(seed + release.length + release.charCodeAt(release.length - 1));
  /** @type {Map<number, number>[]} by stack, the stacks above it by frame; the last one is of the roots */
  const above = [];
  const roots = new Map();
  /** @type {{ frameId: number, parentId?: number }[]} */
  const stacks = [];
  /** @type {{ timestamp: number, stackId: number }[]} */
  const taken = [];
  let now = 0;
  while (stacks.length < nodes) {
    let frameId = Math.floor(draw() ** 3 * 20);
    let stackId = -1;
    do {
      const siblings = stackId < 0 ? roots : above[stackId];
      let next = siblings.get(frameId);
      if (next === undefined) {
        next = stacks.push(stackId < 0 ? { frameId } : { frameId, parentId: stackId }) - 1;
        above.push(new Map());
        siblings.set(frameId, next);
      }
      stackId = next;
      const calls = callees[frameId];
      frameId = calls[Math.floor(draw() ** 2.5 * calls.length)];
    } while (draw() > 0.09);
    for (let left = Math.ceil(-Math.log(1 - draw()) * samples); left > 0; left -= 1) {
      taken.push({ timestamp: now / 10, stackId });
      now += 80 + Math.floor(draw() * 40); // tenths of a millisecond, as browsers give them
    }
  }
  return { version: 1, release, page: { url: 'https://shop.example/' }, sampleInterval: 10, trace: { resources, frames, stacks, samples: taken } };
}
