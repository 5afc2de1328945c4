// SPDX-License-Identifier: Apache-2.0
/**
 * Uploads with known content: the body, and what it must add to the sums.
 */
import fs from 'node:fs';
import path from 'node:path';
import zlib from 'node:zlib';

import { sumsOf, toMicroseconds } from '../behaviour/oracle.mjs';
import { repository } from '../behaviour/stack.mjs';
import { eventSums, eventTypes, operaScope, speedTracer } from './sessions.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/**
 * @typedef {{ samples: number, profiled_us: number, unattributed_us: number, unattributed_samples: number, unseen_us: number,
 *             frames: Map<string, { self_us: number, total_us: number, samples: number }>,
 *             markers: Map<string, { samples: number, self_us: number }> }} Sums frames by frameKey
 */
/** @typedef {{ name: string, kind: 'mark' | 'measure', us: number }} Timing */
/** @typedef {{ what: string, name?: string, count?: number }} LeftOut */
/**
 * @typedef {object} Upload
 * @property {string} key what its row in SQL is known by: its id, its session and part, or a page of its own
 * @property {boolean} named sent again it is the same upload; without a name it counts each time
 * @property {string} site
 * @property {string} release
 * @property {string} route
 * @property {string | undefined} load the page load it is a part of
 * @property {Buffer} body
 * @property {boolean} valid false: the collector must answer 4xx and keep nothing of it
 * @property {Sums} sums
 * @property {Timing[]} timings
 * @property {LeftOut[]} leftOut
 * @property {Map<string, Sums>} measures what ran inside each measure, by name
 * @property {Map<string, { count: number, self_us: number }>} types of its events
 * @property {'always' | 'never' | 'by chance'} kept as a whole
 * @property {import('./sessions.mjs').Listed} listed what is kept of its events
 */
/** Where an upload comes from. @typedef {{ site: string, load?: string, session?: string, part?: number }} Origin */

const routes = ['/product/:id', '/cart'];
/** Ceilings are not reached here: each upload without an id has its own page. */
export const ceilings = { routes: 1_000_000, segments: 1_000_000 };
const keptShares = { shop: '0%', news: '100%', maps: '30%' };
export const sites = Object.entries(keptShares).map(
  ([name, share]) => ({ name, key: `pk_${name}`, routes, sample_keep: share }));
const pages = [['/product/17', '/product/:id'], ['/product/x', '/product/:id'], ['/cart', '/cart']];
const releases = ['1.0', '1.1', '2.0-beta'];
const markers = ['script', 'gc', 'layout', 'paint', 'unheard-of'];
const realTraceMaxBytes = 40_000;

/** Small traces of real browsers. */
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

/** @param {Random} random */
function syntheticTimings(random) {
  const ms = (/** @type {number} */ limit) => random.below(limit * 10) / 10;
  const draw = (/** @type {number} */ most) => Array.from({ length: random.below(most + 1) });
  const marks = draw(3).map(() => (
    { name: `mark${random.below(4)}`, entryType: 'mark', startTime: ms(5000), duration: 0 }));
  const measures = draw(4).map(() => (
    { name: `measure${random.below(4)}`, entryType: 'measure', startTime: ms(1500),
      duration: random.chance(0.1) ? -ms(100) : ms(800) }));
  return { marks, measures };
}

/** Draws what the agent of some uploads left out. @param {Random} random @returns {LeftOut[]} */
function syntheticLeftOut(random) {
  if (!random.chance(0.2)) return [];
  return Array.from({ length: 1 + random.below(3) }, () => random.pick([
    { what: 'measure', name: `measure${random.below(4)}`, count: random.below(9000) },
    { what: 'mark', name: `mark${random.below(4)}`, count: 1 + random.below(9000) },
    { what: 'mark', count: 1 + random.below(9000) },
    { what: 'profile' },
    { what: 'upload', count: 1 },
  ]));
}

/** @param {ReturnType<typeof syntheticTimings>} entries @returns {Timing[]} */
const timingsOf = ({ marks, measures }) => [
  ...marks.map(({ name, startTime }) => ({ name, kind: /** @type {const} */ ('mark'), us: toMicroseconds(startTime) })),
  ...measures.map(({ name, duration }) => (
    { name, kind: /** @type {const} */ ('measure'), us: toMicroseconds(duration) })),
];

/**
 * Sums what ran inside each measure; in overlapping windows of one name each moment counts once.
 * @param {ReturnType<typeof syntheticTimings>['measures']} measures
 * @param {any} trace
 * @param {number | undefined} sampleInterval
 */
function insideOf(measures, trace, sampleInterval) {
  /** @type {Map<string, Sums>} */
  const inside = new Map();
  for (const name of new Set(measures.map((measure) => measure.name))) {
    const windows = measures.filter((measure) => measure.name === name).map(({ startTime, duration }) => {
      const from = toMicroseconds(startTime);
      return { from, to: from + toMicroseconds(duration) };
    });
    const sums = sumsOf(trace, sampleInterval, { inside: windows });
    if (sums.profiled_us + sums.unseen_us > 0) inside.set(name, sums);
  }
  return inside;
}

/**
 * Draws an id and a page. An upload without an id is identified by its page. All parts of a session have the same page:
 * a collector takes that of the first one, unless it was restarted since.
 * @param {Random} random
 * @param {Origin} origin
 * @param {boolean} hasId
 */
function drawHead(random, { site, load, session, part }, hasId) {
  const named = hasId || session !== undefined;
  const once = `/once/${random.uuid()}`;
  const [page, route] = session !== undefined ? pages[Number.parseInt(session.slice(-1), 16) % pages.length]
    : named ? random.pick(pages) : [once, once];
  const id = hasId ? random.uuid() : undefined;
  return {
    id,
    url: `https://${site}.example${page}`,
    keptUrl: `https://${site}.example${route}`,
    known: { key: id ?? (named ? `${session} ${part}` : `${site} ${once}`), named, site, route, load: session ?? load },
  };
}

/** @param {Random} random @param {string} text */
const packed = (random, text) => (random.chance(0.3) ? zlib.gzipSync(text) : Buffer.from(text));

/** @param {Random} random @param {Origin} origin @returns {Upload} */
function makeTrace(random, origin) {
  const trace = random.chance(0.1) ? random.pick(realTraces) : syntheticTrace(random);
  const sampleInterval = random.chance(0.5) ? 10 : undefined;
  const entries = syntheticTimings(random);
  const leftOut = syntheticLeftOut(random);
  const valid = !random.chance(0.03);
  const { id, url, known } = drawHead(random, origin, origin.session === undefined && !random.chance(0.05));
  const release = random.pick(releases);
  const share = keptShares[/** @type {keyof keptShares} */ (origin.site)];
  return {
    ...known, release, valid,
    body: packed(random, JSON.stringify(
      { version: valid ? 1 : 77, id, load: origin.load, release, sampleInterval, trace, ...entries, page: { url }, leftOut })),
    sums: sumsOf(trace, sampleInterval),
    timings: timingsOf(entries),
    leftOut,
    measures: insideOf(entries.measures, trace, sampleInterval),
    kept: share === '0%' ? 'never' : share === '100%' ? 'always' : 'by chance',
    types: new Map(),
    listed: { timelines: 0, events: 0, self_us: 0 },
  };
}

/** @param {Random} random @param {Origin} origin @returns {Upload} */
function makeOperaScope(random, origin) {
  const { id, url, known } = drawHead(random, origin, origin.session === undefined && !random.chance(0.1));
  const release = random.pick(releases);
  const { session, events, listed } = operaScope(random);
  return {
    ...known, release, valid: true, listed, kept: 'always', timings: [], leftOut: [], measures: new Map(),
    body: packed(random, JSON.stringify({ id, load: origin.load, release, page: { url }, 'opera-scope': session })),
    sums: eventSums(events),
    types: eventTypes(events),
  };
}

/**
 * Dumps of Speed Tracer have neither id nor release.
 * @param {Random} random
 * @param {Origin} origin
 * @returns {Upload}
 */
function makeSpeedTracer(random, origin) {
  const { known, ...page } = drawHead(random, origin, false);
  const { text, events, listed, load_us } = speedTracer(random, page, origin.part ?? 0);
  return {
    ...known, load: origin.session, release: '', valid: true, listed, kept: 'always', leftOut: [], measures: new Map(),
    body: packed(random, text),
    timings: [{ name: 'load', kind: 'mark', us: load_us }],
    sums: eventSums(events),
    types: eventTypes(events),
  };
}

/**
 * @param {Random} random
 * @param {Origin} origin
 */
export function makeUpload(random, origin) {
  const format = random.share();
  const [older, oldest] = origin.session === undefined ? [0.1, 0.05] : [0.5, 0.4];
  if (format < older) return (format < oldest ? makeSpeedTracer : makeOperaScope)(random, origin);
  return makeTrace(random, origin);
}
