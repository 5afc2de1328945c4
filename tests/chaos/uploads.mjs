/**
 * Uploads of known content: what is sent, and what it must add to the numbers.
 */
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

import { sumsOf } from '../behaviour/oracle.mjs';
import { repository } from '../behaviour/stack.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {{ name: string, kind: 'mark' | 'measure', us: number }} Timing */
/**
 * @typedef {object} Upload
 * @property {string} id
 * @property {string} site
 * @property {string} release
 * @property {string} route
 * @property {Buffer} body
 * @property {boolean} valid false: the collector must answer 4xx and keep nothing of it
 * @property {import('../behaviour/oracle.mjs').Sums} sums
 * @property {Timing[]} timings
 */

const routes = ['/product/:id', '/cart'];
export const sites = ['shop', 'news', 'maps'].map((name) => ({ name, key: `pk_${name}`, routes }));
const pages = [['/product/17', '/product/:id'], ['/product/x', '/product/:id'], ['/cart', '/cart']];
const releases = ['1.0', '1.1', '2.0-beta'];
const markers = ['script', 'gc', 'layout', 'paint', 'unheard-of'];
const realTraceMaxBytes = 40_000;

/** Traces of real browsers, those that are quickly sent. */
const realTraces = fs.readdirSync(path.join(repository, 'tests/data'))
  .filter((name) => name.endsWith('.json'))
  .map((name) => fs.readFileSync(path.join(repository, 'tests/data', name), 'utf8'))
  .filter((text) => text.length < realTraceMaxBytes)
  .map((text) => JSON.parse(text))
  .filter((trace) => Array.isArray(trace?.samples));

/** @param {Random} random */
function syntheticTrace(random) {
  const resources = Array.from({ length: 1 + random.below(3) }, () => `https://cdn.example/${random.below(4)}.js`);
  const frames = Array.from({ length: 1 + random.below(8) }, () => (random.chance(0.1)
    ? { name: `builtin${random.below(3)}` }
    : { name: random.chance(0.1) ? '' : `work${random.below(12)}`, resourceId: random.below(resources.length),
      line: 1 + random.below(5), column: random.below(3) }));
  const stacks = Array.from({ length: 1 + random.below(12) }, (_, i) => ({
    frameId: random.below(frames.length),
    ...(i > 0 && random.chance(0.8) ? { parentId: random.below(i) } : {}),
  }));
  let timestamp = random.below(1000);
  const samples = Array.from({ length: 1 + random.below(25) }, () => {
    timestamp += random.chance(0.1) ? -random.below(3) : random.below(400) / 10;
    return {
      timestamp,
      ...(random.chance(0.7) ? { stackId: random.below(stacks.length) } : {}),
      ...(random.chance(0.15) ? { marker: random.pick(markers) } : {}),
    };
  });
  return { resources, frames, stacks, samples };
}

/** @param {Random} random @returns {{ marks: object[], measures: object[], timings: Timing[] }} */
function syntheticTimings(random) {
  const draw = (/** @type {number} */ most) =>
    Array.from({ length: random.below(most + 1) }, () => random.below(50_000) / 10);
  const us = (/** @type {number} */ ms) => Math.floor(ms * 1000 + 0.5);
  const starts = draw(3).map((ms) => ({ name: `mark${random.below(4)}`, ms }));
  const spans = draw(2).map((ms) => ({ name: `measure${random.below(4)}`, ms }));
  return {
    marks: starts.map(({ name, ms }) => ({ name, entryType: 'mark', startTime: ms, duration: 0 })),
    measures: spans.map(({ name, ms }) => ({ name, entryType: 'measure', startTime: 1, duration: ms })),
    timings: [
      ...starts.map(({ name, ms }) => ({ name, kind: /** @type {const} */ ('mark'), us: us(ms) })),
      ...spans.map(({ name, ms }) => ({ name, kind: /** @type {const} */ ('measure'), us: us(ms) })),
    ],
  };
}

/**
 * @param {Random} random
 * @returns {Upload}
 */
export function makeUpload(random) {
  const trace = random.chance(0.1) ? random.pick(realTraces) : syntheticTrace(random);
  const sampleInterval = random.chance(0.5) ? 10 : undefined;
  const { marks, measures, timings } = syntheticTimings(random);
  const site = random.pick(sites).name;
  const [page, route] = random.pick(pages);
  const release = random.pick(releases);
  const valid = !random.chance(0.03);
  const id = random.uuid();
  const envelope = {
    version: valid ? 1 : 77, id, release, sampleInterval, trace, marks, measures,
    page: { url: `https://${site}.example${page}` },
  };
  const text = JSON.stringify(envelope);
  return {
    id, site, release, route, valid, timings,
    body: random.chance(0.3) ? zlib.gzipSync(text) : Buffer.from(text),
    sums: sumsOf(trace, sampleInterval),
  };
}
