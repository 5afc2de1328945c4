// SPDX-License-Identifier: Apache-2.0
/**
 * The site that the query benchmark generates: its dimensions, its functions and stacks with names, and what its
 * users sampled in each segment and hour. Everything follows from the seed.
 *
 * A segment and hour gets draws of functions and of stacks; few are drawn often, most seldom (1 over their rank), half
 * by the site's ranking and half by the route's. Functions and stacks are drawn independently of each other, so a hotspot's
 * time and the time of its stacks agree in size only. Each draw stands for several uploads.
 */
import { createHash } from 'node:crypto';

import { random } from '../ingest/bodies.mjs';
import { Run } from './facts.mjs';

/**
 * @typedef {object} Shape
 * @property {number} seed
 * @property {number} routes
 * @property {number} releases
 * @property {number} browsers
 * @property {number} functions
 * @property {number} namesakes how many functions have the same name, at least
 * @property {number} stacks
 * @property {number} draws per hour of the whole site, of functions and of stacks each
 * @property {number} uploads per day
 *
 * @typedef {object} Segment
 * @property {bigint} id
 * @property {number} number
 * @property {number} route number
 * @property {string[]} dimensions as segmentColumns
 * @property {number} weight share of the site's uploads
 *
 * What a segment and hour holds, by kind; `uploads` is how many there were.
 * @typedef {{ uploads: number } & Record<import('./facts.mjs').Kind, Run>} Hour
 */

export const siteName = 'shop';
export const segmentColumns = ['site', 'route', 'release', 'environment', 'variant', 'browser', 'os', 'device', 'thread'];
export const sampleUs = 10_000;

/** The site that docs/internals/benchmarks.md describes, or one of `scale` times its size. @returns {Shape} */
export function shapeOf(scale = 1, seed = 1) {
  const some = (/** @type {number} */ whole, /** @type {number} */ least) => Math.min(whole, Math.max(least, Math.round(whole * Math.sqrt(scale))));
  return {
    seed, routes: some(40, 3), releases: some(5, 2), browsers: some(5, 2), functions: some(10_000, 60), namesakes: 20, stacks: some(50_000, 200),
    draws: Math.max(1000, Math.round(400_000 * scale)), uploads: Math.max(2000, Math.round(300_000 * scale)),
  };
}

const routeNames = [
  '/', '/product/:id', '/search', '/category/:slug', '/cart', '/checkout', '/checkout/payment', '/account', '/account/orders',
  '/account/orders/:id', '/checkout/shipping', '/checkout/done', '/login', '/register', '/wishlist', '/product/:id/reviews',
  '/brand/:slug', '/brands', '/sale', '/new', '/compare', '/stores', '/stores/:id', '/help', '/help/:slug', '/returns',
  '/returns/:id', '/gift-cards', '/account/addresses', '/account/payment', '/account/settings', '/newsletter', '/blog',
  '/blog/:slug', '/about', '/careers', '/legal/:slug', '/app', '/inspiration', '/inspiration/:slug',
];
const releaseWeights = [0.62, 0.3, 0.05, 0.02, 0.01];
const browserList = [
  { name: 'Chrome', os: 'Windows', device: 'desktop', weight: 0.5 },
  { name: 'Chrome', os: 'Android', device: 'mobile', weight: 0.25 },
  { name: 'Edge', os: 'Windows', device: 'desktop', weight: 0.15 },
  { name: 'Samsung Internet', os: 'Android', device: 'mobile', weight: 0.07 },
  { name: 'Opera', os: 'macOS', device: 'desktop', weight: 0.03 },
];
const verbs = ['render', 'update', 'create', 'commit', 'measure', 'format', 'parse', 'load', 'select', 'dispatch', 'mount', 'observe',
  'resolve', 'schedule', 'apply', 'diff', 'hydrate', 'encode', 'track', 'validate'];
const nouns = ['ProductCard', 'Price', 'Carousel', 'SearchResult', 'Cart', 'Filter', 'Effect', 'Fiber', 'Query', 'Header', 'Image', 'Event',
  'Layout', 'Session', 'Route', 'Form', 'Review', 'Stock', 'Banner', 'Consent', 'State', 'Node', 'Props', 'Promise', 'Experiment'];
const bundles = ['vendor', 'framework', 'main', 'product', 'search', 'checkout', 'account', 'analytics', 'consent', 'carousel'];

/** How many uploads a draw of a function or a stack stands for; an upload of the site then holds some 470 functions. */
const uploadsPerDraw = 14;
const maxDraws = 14_000; // per segment and hour
const meanParentDistance = 1200;
const maxLevel = 64;
const markedShare = 1 / 11; // of stacks' draws
const unattributedShare = 0.15;
export const timingNames = ['app:start', 'app:hydrated', 'hero:visible', 'search:typed', 'search:results', 'cart:open', 'cart:updated',
  'product:images', 'product:price', 'product:reviews', 'checkout:ready', 'checkout:paid', 'route:change', 'data:fetch', 'filter:apply',
  'carousel:move'];
const measureCount = 2; // of the timings: the first ones
const binsPerOctave = 32;
export const binSpace = 1024;

/** A 64-bit id, as signed as PostgreSQL reads it. @param {(string | number)[]} content */
const idOf = (...content) => createHash('sha256').update(JSON.stringify(content)).digest().readBigInt64LE();

/** @param {bigint} a @param {bigint} b */
const ascending = (a, b) => (a < b ? -1 : Number(a > b));

/** Spreads the bits of numbers. @param {...number} numbers */
function mix(...numbers) {
  let state = 0x9e3779b9;
  for (const number of numbers) {
    state = Math.imul(state ^ number, 0x85ebca6b);
    state ^= state >>> 13;
    state = Math.imul(state, 0xc2b2ae35);
    state ^= state >>> 16;
  }
  return state >>> 0;
}

/** Numbers 0 to count - 1 in an order of their own. @param {number} count @param {() => number} draw */
function shuffled(count, draw) {
  const order = Int32Array.from({ length: count }, (_, place) => place);
  for (let last = count - 1; last > 0; last -= 1) {
    const other = Math.floor(draw() * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/**
 * Functions by number; numbers ascend with ids, so that entries in the order of numbers are sorted by key.
 * @param {Shape} shape
 */
function makeFunctions({ functions: count, namesakes }) {
  const list = Array.from({ length: count }, (_, place) => {
    const bundle = bundles[place % bundles.length];
    const series = Math.floor(place / (verbs.length * nouns.length * namesakes));
    const name = `${verbs[place % verbs.length]}${nouns[Math.floor(place / verbs.length) % nouns.length]}${series || ''}`;
    const url = `https://shop.example/assets/${bundle}.${mix(place % (4 * bundles.length)).toString(16).padStart(8, '0')}.js`;
    return { id: idOf('frame', place), name, url, resourceId: idOf('resource', url), line: 1 + place % 900, column: 1 + place % 7919 };
  });
  return list.sort((a, b) => ascending(a.id, b.id));
}

/** Stacks by number, likewise. @param {Shape} shape @param {Int32Array} ranked functions by rank @param {() => number} draw */
function makeStacks({ stacks, functions }, ranked, draw) {
  /** @type {{ id: bigint, parent: number, level: number, frame: number }[]} */
  const made = [];
  for (let place = 0; place < stacks; place += 1) {
    let parent = place - Math.ceil(-Math.log(1 - draw()) * meanParentDistance * stacks / 50_000);
    if (parent >= 0 && made[parent].level >= maxLevel) parent = made[parent].parent;
    const frame = ranked[Math.min(functions - 1, Math.floor(functions ** draw()) - 1)];
    made.push({ id: idOf('stack', place), parent: Math.max(parent, -1), level: parent < 0 ? 1 : made[parent].level + 1, frame });
  }
  const order = Array.from(made.keys()).sort((a, b) => ascending(made[a].id, made[b].id));
  const numbers = new Int32Array(stacks);
  for (const [number, place] of order.entries()) numbers[place] = number;
  return order.map((place) => ({ ...made[place], parent: made[place].parent < 0 ? -1 : numbers[made[place].parent] }));
}

/** @param {Shape} shape @returns {Segment[]} */
function makeSegments({ routes, releases, browsers }) {
  const all = [];
  for (let route = 0; route < routes; route += 1) {
    for (let release = 0; release < releases; release += 1) {
      for (const { name, os, device, weight } of browserList.slice(0, browsers)) {
        const dimensions = [siteName, routeNames[route], `2026.10.${releases - release}`, 'production', '', name, os, device, 'window'];
        all.push({ id: idOf('segment', ...dimensions), number: 0, route, dimensions, weight: releaseWeights[release] * weight / (route + 1) });
      }
    }
  }
  const sum = all.reduce((total, { weight }) => total + weight, 0);
  return all.sort((a, b) => ascending(a.id, b.id)).map((segment, number) => ({ ...segment, number, weight: segment.weight / sum }));
}

/** Counts of draws by number. */
class Counts {
  /** @param {number} space */
  constructor(space) {
    this.counts = new Int32Array(space);
    this.drawn = new Int32Array(space);
    this.size = 0;
  }

  /** @param {number} number */
  add(number) {
    if (this.counts[number] === 0) {
      this.drawn[this.size] = number;
      this.size += 1;
    }
    this.counts[number] += 1;
  }

  /** Calls with each number drawn, ascending, and how often; forgets them. @param {(number: number, count: number) => void} visit */
  take(visit) {
    for (const number of this.drawn.subarray(0, this.size).sort()) {
      visit(number, this.counts[number]);
      this.counts[number] = 0;
    }
    this.size = 0;
  }
}

export class Site {
  /** @param {Shape} shape */
  constructor(shape) {
    const draw = random(shape.seed);
    this.shape = shape;
    this.segments = makeSegments(shape);
    this.functions = makeFunctions(shape);
    this.functionsByRank = shuffled(shape.functions, draw);
    this.stacks = makeStacks(shape, this.functionsByRank, draw);
    this.stacksByRank = shuffled(shape.stacks, draw);
    this.timings = timingNames.map((name, place) => ({ id: idOf('timing', name), name, kind: place < measureCount ? 'measure' : 'mark' }))
      .sort((a, b) => ascending(a.id, b.id));
    this.measures = this.timings.flatMap(({ kind }, number) => (kind === 'measure' ? [number] : []));
    this.functionCounts = new Counts(shape.functions);
    this.stackCounts = new Counts(2 * shape.stacks);
    /** @type {Record<import('./facts.mjs').Kind, Run>} */
    this.runs = {
      total: new Run(6), frame: new Run(9), frame_marker: new Run(4), stack: new Run(3), timing: new Run(6), timing_bin: new Run(1),
      measure: new Run(7), measure_frame: new Run(5),
    };
  }

  /** A stack's marker, if it has one: style, layout or gc. @param {number} number of a stack or a function */
  marker(number) {
    return 2 + number % 3;
  }

  /**
   * Returns the samples of a segment in an hour; valid until the next call.
   * @param {Segment} segment @param {number} day since 1970 @param {number} hour of the day
   * @param {number} [part] of `parts`: the hour as so many flushes; a function or stack counts in each
   * @param {number} [parts]
   * @returns {Hour}
   */
  hour(segment, day, hour, part = 0, parts = 1) {
    const seed = mix(this.shape.seed, day, hour, segment.number, part);
    const uploads = Math.max(1, Math.round(this.shape.uploads / 24 / parts * segment.weight));
    const draws = Math.ceil(Math.min(maxDraws, Math.round(40 * Math.min(1, this.shape.draws / 400_000) + this.shape.draws * segment.weight)) / parts);
    const { runs } = this;
    for (const run of Object.values(runs)) run.clear();
    this.#draw(segment, draws, random(seed));
    this.functionCounts.take((number, count) => this.#addFunction(number, Math.min(uploads, count * uploadsPerDraw), mix(seed, number)));
    const byMarker = new Float64Array(5);
    this.stackCounts.take((key, count) => {
      const samples = Math.min(uploads, count * uploadsPerDraw) + mix(seed, key) % 3;
      runs.stack.add(key, Math.min(uploads, count * uploadsPerDraw), samples, samples * sampleUs);
      byMarker[key % 2 === 1 ? this.marker(key >> 1) : 0] += samples;
    });
    this.#addTotals(uploads, byMarker);
    this.#addTimings(segment, uploads, seed);
    return { ...runs, uploads };
  }

  /** @param {Segment} segment @param {number} draws @param {() => number} draw */
  #draw({ route }, draws, draw) {
    const { functions, stacks } = this.shape;
    const [functionsLog, stacksLog] = [Math.log(functions), Math.log(stacks)];
    for (let left = draws; left > 0; left -= 1) {
      const frameRank = Math.min(functions - 1, Math.floor(Math.exp(functionsLog * draw())) - 1);
      const stackRank = Math.min(stacks - 1, Math.floor(Math.exp(stacksLog * draw())) - 1);
      const own = left % 2 === 0; // by the route's ranking
      this.functionCounts.add(this.functionsByRank[own ? (frameRank * 7 + route * 977) % functions : frameRank]);
      const stack = this.stacksByRank[own ? (stackRank * 7 + route * 977) % stacks : stackRank];
      this.stackCounts.add(2 * stack + Number(draw() < markedShare));
    }
  }

  /** @param {number} number @param {number} uploads @param {number} chance */
  #addFunction(number, uploads, chance) {
    const samples = uploads + chance % (2 * uploads);
    const self = Math.floor(samples * (mix(number) % 1000) / 1000) * sampleUs;
    const total = samples * sampleUs + chance % 997;
    const profiled = 3e6; // of an upload, microseconds
    const marked = number % 11 === 0;
    this.runs.frame.add(number, uploads, marked ? uploads - Math.floor(uploads / 4) : uploads, samples, self, total,
      self * self / uploads, total * total / uploads, self * profiled, total * profiled);
    if (marked) {
      this.runs.frame_marker.add(number, Math.ceil(uploads / 2), Math.floor(samples / 3), Math.floor(self / 3), Math.floor(total / 3));
    }
    if (number % 50 === 0) {
      for (const place of this.measures.keys()) {
        this.runs.measure_frame.add(place * this.shape.functions + number, uploads, uploads, samples, self, total);
      }
    }
  }

  /** @param {number} uploads @param {Float64Array} byMarker samples */
  #addTotals(uploads, byMarker) {
    const samples = byMarker.reduce((sum, some) => sum + some, 0);
    const unattributed = Math.floor(samples * unattributedShare);
    const profiled = (samples + unattributed) * sampleUs;
    this.runs.total.add(0, uploads, uploads, unattributed, unattributed * sampleUs, profiled * profiled / uploads,
      Math.floor(profiled / 50));
    for (const [marker, some] of byMarker.entries()) if (some > 0) this.runs.total.add(marker + 1, 0, 0, some, some * sampleUs, 0, 0);
    for (const place of this.measures.keys()) {
      this.runs.measure.add(place, uploads, samples + unattributed, unattributed, profiled, unattributed * sampleUs, uploads,
        profiled + Math.floor(profiled / 50));
    }
  }

  /** @param {Segment} segment @param {number} uploads @param {number} seed */
  #addTimings({ route }, uploads, seed) {
    for (const number of this.timings.keys()) {
      if ((number + route) % 2 === 1) continue;
      const bins = Math.min(uploads, 12);
      const first = (13 + number % 6) * binsPerOctave + mix(seed, number) % 8;
      const each = Math.ceil(uploads / bins);
      for (let bin = 0; bin < bins; bin += 1) this.runs.timing_bin.add(number * binSpace + first + 2 * bin, each);
      const value = binMiddleUs(first + bins);
      this.runs.timing.add(number, uploads, each * bins, 0, value * each * bins, Math.floor(binMiddleUs(first)), Math.ceil(binMiddleUs(first + 2 * bins)));
    }
  }
}

/** The middle of a log-linear bin, as collector/rollup/bins.h lays them out, for bins of an octave or more. @param {number} bin */
export function binMiddleUs(bin) {
  const width = 2 ** (Math.floor(bin / binsPerOctave) - 1);
  return width * (binsPerOctave + bin % binsPerOctave) + (width - 1) / 2;
}
