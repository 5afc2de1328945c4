// SPDX-License-Identifier: Apache-2.0
/**
 * The made-up shop of ./quickstart and of the report's tests: two releases, of which the later makes one function
 * slower, with vitals, marks, measures and a third party. Its profiles show what Chromium shows without flags and origin
 * trials: no markers, and no frames of the language's own functions. Layout, garbage collections and half of a sort have
 * no stack. Only ./quickstart has a staged rollout, page loads without a profile and function tables.
 *
 *   node demo/shop.mjs FOLDER     writes its uploads as HOUR/BROWSER-NUMBER.json; HOUR is how many hours ago it was;
 *                                 and function tables of its scripts as functions/SCRIPT.jsonl
 *
 * demo/shop.tar.gz holds these files, since ./quickstart has no Node.js. After a change here:
 *   node demo/shop.mjs /tmp/shop && tar -C /tmp/shop --sort=name --owner=0 --group=0 --mtime=@0 -c . | gzip -9n >demo/shop.tar.gz
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const phone = 'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36';
export const interval = 10;

/** Returns random numbers from 0 to 1 that are the same in each run. @param {number} seed */
export function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mix = Math.imul(state ^ (state >>> 15), 1 | state);
    mix = (mix + Math.imul(mix ^ (mix >>> 7), 61 | mix)) ^ mix;
    return ((mix ^ (mix >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Collects frames and stacks of an upload. */
export class Trace {
  constructor() {
    /** @type {string[]} */
    this.resources = [];
    /** @type {Record<string, unknown>[]} */
    this.frames = [];
    /** @type {{ frameId: number, parentId?: number }[]} */
    this.stacks = [];
    /** @type {{ timestamp: number, stackId?: number }[]} */
    this.samples = [];
    this.now = 0;
    /** @type {Map<string, number>} */
    this.known = new Map();
  }

  /** @param {string} key @param {() => number} make */
  #once(key, make) {
    const found = this.known.get(key);
    if (found !== undefined) return found;
    const made = make();
    this.known.set(key, made);
    return made;
  }

  /** @param {Place[]} path outermost first */
  stack(path) {
    let parentId = -1;
    for (const [name, resource, line, column] of path) {
      const resourceId = resource === undefined ? -1 : this.#once(`r ${resource}`, () => this.resources.push(resource) - 1);
      const frameId = this.#once(`f ${name} ${resourceId} ${line} ${column}`, () => this.frames.push({ name, ...resourceId >= 0 ? { resourceId, line, column } : {} }) - 1);
      const below = parentId;
      parentId = this.#once(`s ${below} ${frameId}`, () => this.stacks.push(below < 0 ? { frameId } : { frameId, parentId: below }) - 1);
    }
    return parentId;
  }

  /** Runs a stack for a time. @param {Place[] | null} path null: none, the page is idle or runs what has no stack @param {number} ms */
  run(path, ms) {
    const stackId = path === null ? undefined : this.stack(path);
    for (let left = Math.round(ms / interval); left > 0; left -= 1) {
      this.samples.push({ timestamp: this.now + interval / 2, ...stackId === undefined ? {} : { stackId } });
      this.now += interval;
    }
  }

  json() {
    const { resources, frames, stacks, samples } = this;
    return { resources, frames, stacks, samples };
  }
}

/** @typedef {[name: string, resource?: string, line?: number, column?: number]} Place */

/**
 * The uploads of one page load of the shop.
 * @param {{ release: string, route: number, draw: () => number }} given
 */
export function visit({ release, route, draw }) {
  const build = release === '2.3.0' ? 'b81f02de' : '3f9a1c27';
  const app = `https://static.shop.example/assets/app.${build}.js`;
  const vendor = 'https://static.shop.example/assets/vendor.8c11d0aa.js';
  const shift = release === '2.3.0' ? 7 : 0;
  /** @param {string} name @param {number} line @param {number} [column] @returns {Place} */
  const own = (name, line, column = 3) => [name, app, line + shift, column];
  /** @param {string} name @param {number} line @returns {Place} */
  const lib = (name, line) => [name, vendor, line, 12];
  /** @param {string} name @param {number} line @returns {Place} */
  const tracker = (name, line) => [name, 'https://cdn.tracker.example/t.js', line, 1];
  const spread = (/** @type {number} */ ms) => ms * Math.exp((draw() + draw() + draw() - 1.5) * 0.7);
  const trace = new Trace();
  const boot = own('boot', 9, 1);
  const render = [boot, lib('performWork', 2210), lib('renderRoot', 2301), lib('beginWork', 1804)];
  trace.run([boot], spread(25));
  trace.run([boot, own('readState', 31)], spread(40) + spread(30));
  trace.run([...render, own('Header', 88)], spread(35));
  trace.run([...render, own('Header', 88), ['appendChild']], spread(15));
  trace.run(null, spread(70)); // layout
  trace.run([...render, own('Page', 96), lib('beginWork', 1804), own('ProductList', 140), own('formatPrice', 160)], spread(45));
  trace.run([tracker('', 1)], spread(40));
  trace.run([tracker('', 1), tracker('collectSignals', 4), tracker('hashCanvas', 9)], spread(90));
  trace.run(null, spread(300));
  const clickAt = trace.now;
  if (route === 0) {
    const reviews = [...render, own('Page', 96), lib('beginWork', 1804), own('Reviews', 210)];
    trace.run(reviews, spread(60));
    trace.run([...reviews, own('sortReviews', 233, 31)], spread(release === '2.3.0' ? 330 : 150));
    trace.run([...reviews, own('sortReviews', 233, 31), own('byDate', 229, 24)], spread(35));
    trace.run(null, spread(35)); // the same sort, without a stack
    trace.run([...reviews, own('', 251, 18)], spread(50));
  } else if (route === 1) {
    trace.run([own('checkout', 320), own('updateTotals', 341)], spread(120));
    trace.run(null, spread(20)); // a garbage collection
  } else {
    trace.run([own('onSearch', 402), own('tokenize', 411)], spread(80));
    trace.run([own('onSearch', 402), own('fuzzyMatch', 430), own('fuzzyMatch', 430), own('distance', 452)], spread(110));
  }
  trace.run([['fleetprof', 'https://static.shop.example/fleetprof.js', 1, 1]], 10);
  const clickMs = trace.now - clickAt;
  trace.run(null, spread(400));
  const target = ['button.more-reviews', 'button.checkout', 'input.search'][route];
  const lcp = spread(1900);
  return {
    version: 1, page: { url: `https://www.shop.example${['/product/7', '/cart', '/search'][route]}` }, release, environment: 'production', sampleInterval: interval, trace: trace.json(),
    marks: [{ name: 'mark_fully_loaded', entryType: 'mark', startTime: clickAt, duration: 0 }],
    measures: [{ name: 'render page', entryType: 'measure', startTime: 0, duration: clickAt - 100 }, { name: 'respond', entryType: 'measure', startTime: clickAt, duration: clickMs }],
    vitals: [{ name: 'LCP', id: 'v1', value: lcp }, { name: 'INP', id: 'v2', value: clickMs, target, start: clickAt, duration: clickMs },
      { name: 'CLS', id: 'v3', value: 0.04 + draw() * 0.1 }, { name: 'FCP', id: 'v4', value: lcp * 0.6 }, { name: 'TTFB', id: 'v5', value: spread(280) }],
    interactions: [{ type: 'pointer', start: clickAt, processingStart: clickAt + 10, processingEnd: clickAt + clickMs * 0.9, duration: clickMs, target }],
    frames: [{ start: clickAt, duration: clickMs, blocking: Math.max(0, clickMs - 50), scripts: [{ invoker: 'BUTTON.onclick', invokerType: 'event-listener', url: app, function: 'onClick', position: 7,
      start: clickAt, duration: clickMs * 0.8, forced: 20 }] }],
    resources: [{ host: 'static.shop.example', kind: 'script', count: 2, duration: [40, 60], bytes: 90_000, opaque: 0 }, { host: 'cdn.tracker.example', kind: 'script', count: 1, duration: [], bytes: 0, opaque: 1 }],
  };
}

/** Hours of each release; a comparison needs 12. */
export const hours = 14;

/**
 * Makes the shop's page loads, hour by hour.
 * @param {() => number} draw @param {number} perHour page loads
 * @returns {Generator<{ back: number, uploads: { agent: string, body: ReturnType<typeof visit> & { load: string } }[] }>} back: how many hours ago
 */
export function* batches(draw, perHour) {
  let number = 0;
  for (let back = 2 * hours; back >= 1; back -= 1) {
    const release = back > hours ? '2.2.9' : '2.3.0';
    const uploads = Array.from({ length: perHour }, () => {
      const body = visit({ release, route: Math.min(2, Math.floor(draw() * 3)), draw });
      number += 1;
      // A vital without something is known of page loads with an id only.
      return { agent: draw() < 0.4 ? phone : chrome, body: { load: `10ad10ad-0000-4000-8000-${String(number).padStart(12, '0')}`, ...body } };
    });
    yield { back, uploads };
  }
}

/** Hours in which a quarter of the visitors has the later release already. */
const stagedHours = 2;

/** Page loads of an hour without a profile, and why. @type {[browser: string, reason: string][]} */
const unprofiled = [['iphone', 'unsupported'], ['iphone', 'unsupported'], ['iphone', 'unsupported'], ['chrome', 'quota']];

const component = 'src/components/';
const reactDom = 'node_modules/react-dom/cjs/react-dom-client.production.js';

/** Sources of the shop's functions; others are of the reviews. Bundles also hold packages. @type {Record<string, string>} */
const sources = {
  boot: 'src/main.js', readState: 'src/state.js', Header: `${component}Header.jsx`, Page: `${component}Page.jsx`, ProductList: `${component}ProductList.jsx`,
  formatPrice: 'node_modules/currency.js/dist/currency.es.js', checkout: 'src/cart.js', updateTotals: 'src/cart.js', onSearch: 'src/search.js', tokenize: 'src/search.js', fuzzyMatch: 'src/search.js',
  distance: 'node_modules/fastest-levenshtein/esm/mod.js', performWork: reactDom, renderRoot: reactDom, beginWork: reactDom,
};

/** Writes the function table of each bundled script in these traces. @param {string} folder @param {ReturnType<Trace['json']>[]} traces */
function writeTables(folder, traces) {
  /** @type {Map<string, Map<string, unknown[]>>} */
  const tables = new Map();
  for (const { resources, frames } of traces) for (const { name, resourceId, line, column } of /** @type {{ name: string, resourceId?: number, line: number, column: number }[]} */ (frames)) {
    const script = /\/assets\/(.*)$/.exec(resourceId === undefined ? '' : resources[resourceId])?.[1];
    if (script === undefined) continue;
    if (!tables.has(script)) tables.set(script, new Map());
    const source = sources[name] ?? `${component}Reviews.jsx`;
    const library = /^node_modules\/([^/]+)/.exec(source)?.[1] ?? '';
    tables.get(script)?.set(`${line}:${column}`, [line, column, name, source, line % 100, column, library, library !== '']);
  }
  fs.mkdirSync(folder, { recursive: true });
  for (const [script, functions] of tables) {
    const rows = [...functions.values()].sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1]));
    const head = { fleetprof_function_table: 1, script, functions: rows.length };
    fs.writeFileSync(path.join(folder, `${script}.jsonl`), [head, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const staged = random(7);
  /** @type {ReturnType<Trace['json']>[]} */
  const traces = [];
  for (const { back, uploads } of batches(random(20_261_122), 16)) {
    const folder = path.join(process.argv[2], String(back));
    fs.mkdirSync(folder, { recursive: true });
    /** @param {string} browser @param {number} i @param {object} body */
    const write = (browser, i, body) => {
      // With an id, an upload counts once, even if quickstart is interrupted and starts again.
      const id = `5b0e5b0e-0000-4000-8000-${String(100 * back + i).padStart(12, '0')}`;
      fs.writeFileSync(path.join(folder, `${browser}-${i}.json`), JSON.stringify({ id, ...body }));
    };
    for (const [i, { agent, body }] of uploads.entries()) {
      traces.push(body.trace);
      const isEarly = back > hours && back <= hours + stagedHours && i % 4 === 0;
      write(agent === phone ? 'phone' : 'chrome', i, isEarly ? { ...visit({ release: '2.3.0', route: Math.floor(3 * staged()), draw: staged }), load: body.load } : body);
    }
    for (const [i, [browser, coverage]] of unprofiled.entries()) {
      write(browser, 50 + i, { version: 1, page: { url: 'https://www.shop.example/cart' }, release: back > hours ? '2.2.9' : '2.3.0', environment: 'production', coverage });
    }
  }
  writeTables(path.join(process.argv[2], 'functions'), traces);
}
