/**
 * What the tests of the report look at: a shop with two releases, of which the later makes one function slower, with
 * vitals, marks, measures and a third party; and a site whose every name is hostile. All goes through a real collector.
 * Batches are then moved to earlier hours, since a collector counts an upload in the hour in which it comes.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { repository, startStack, waitFor } from '../behaviour/stack.mjs';

const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const phone = 'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Mobile Safari/537.36';
const interval = 10;

/** Returns random numbers from 0 to 1 that are the same in each run. @param {number} seed */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mix = Math.imul(state ^ (state >>> 15), 1 | state);
    mix = (mix + Math.imul(mix ^ (mix >>> 7), 61 | mix)) ^ mix;
    return ((mix ^ (mix >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Collects frames and stacks of an upload. */
class Trace {
  constructor() {
    /** @type {string[]} */
    this.resources = [];
    /** @type {Record<string, unknown>[]} */
    this.frames = [];
    /** @type {{ frameId: number, parentId?: number }[]} */
    this.stacks = [];
    /** @type {{ timestamp: number, stackId?: number, marker?: string }[]} */
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

  /** Runs a stack for a time. @param {Place[] | null} path null: idle @param {number} ms @param {string} [marker] */
  run(path, ms, marker) {
    const stackId = path === null ? undefined : this.stack(path);
    for (let left = Math.round(ms / interval); left > 0; left -= 1) {
      this.samples.push({ timestamp: this.now, ...stackId === undefined ? {} : { stackId }, ...marker ? { marker } : {} });
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
 * What one page load of the shop sends.
 * @param {{ release: string, route: number, draw: () => number }} given
 */
function visit({ release, route, draw }) {
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
  trace.run([boot, own('readState', 31)], spread(40));
  trace.run([boot, own('readState', 31), ['JSON.parse']], spread(30));
  trace.run([...render, own('Header', 88)], spread(35));
  trace.run(null, spread(70), 'layout');
  trace.run([...render, own('Page', 96), lib('beginWork', 1804), own('ProductList', 140), own('formatPrice', 160)], spread(45));
  trace.run([tracker('', 1)], spread(40));
  trace.run([tracker('', 1), tracker('collectSignals', 4), tracker('hashCanvas', 9)], spread(90));
  trace.run(null, spread(300));
  const clickAt = trace.now;
  if (route === 0) {
    const reviews = [...render, own('Page', 96), lib('beginWork', 1804), own('Reviews', 210)];
    trace.run(reviews, spread(60));
    trace.run([...reviews, own('sortReviews', 233, 31)], spread(release === '2.3.0' ? 330 : 150));
    trace.run([...reviews, own('sortReviews', 233, 31), ['sort']], spread(70));
    trace.run([...reviews, own('', 251, 18)], spread(50));
  } else if (route === 1) {
    trace.run([own('checkout', 320), own('updateTotals', 341)], spread(120));
    trace.run([own('checkout', 320), own('updateTotals', 341)], spread(20), 'gc');
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
    vitals: [{ name: 'LCP', value: lcp }, { name: 'INP', value: clickMs, target, start: clickAt, duration: clickMs }, { name: 'CLS', value: 0.04 + draw() * 0.1 },
      { name: 'FCP', value: lcp * 0.6 }, { name: 'TTFB', value: spread(280) }],
    interactions: [{ type: 'pointer', start: clickAt, processingStart: clickAt + 10, processingEnd: clickAt + clickMs * 0.9, duration: clickMs, target }],
    frames: [{ start: clickAt, duration: clickMs, blocking: Math.max(0, clickMs - 50), scripts: [{ invoker: 'BUTTON.onclick', invokerType: 'event-listener', url: app, function: 'onClick', position: 7,
      start: clickAt, duration: clickMs * 0.8, forced: 20 }] }],
    resources: [{ host: 'static.shop.example', kind: 'script', count: 2, duration: [40, 60], bytes: 90_000, opaque: 0 }, { host: 'cdn.tracker.example', kind: 'script', count: 1, duration: [], bytes: 0, opaque: 1 }],
  };
}

/** Names that a page may make up, and that must not do anything here. */
export const hostileNames = [
  '<script>alert(1)</script>', '</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', "';alert(1);//", '<!--', '-->', ']]>',
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)//', 'data:text/html,<script>alert(1)</script>', 'vbscript:x', '//evil.example/x', '\\\\evil\\share',
  '\u202egnissim\u202c', '\u2066isolated\u2069', 'zero\u200bwidth', '\ufeffbom', '\u061cmark', 'soft\u00adhyphen', 'nul\u0000nul', '\\u0000', 'line\nbreak', 'tab\tand\rreturn', '\u001b[31mred', '\u009bcsi', 'bell\u0007',
  '=1+1', '+1', '-1+cmd|x', '@SUM(A1)', '=HYPERLINK("http://evil.example")', '\t=1', '%', '%00', '%2e%2e%2f', '../../etc/passwd', '${7*7}', '{{7*7}}', '#{7*7}', '`id`', '$(id)',
  'constructor', '__proto__', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', 'true', '0', '-0', '1e999',
  "Robert'); drop table students;--", '" or ""="', 'a;b', 'a,b', 'a"b', "a'b", '(all)', '(unattributed)', '(root)', '𝒻𝓊𝓃𝒸', 'e\u0301\u0301\u0301\u0301\u0301', '👩‍👩‍👧‍👦', 'عربي', '日本語', ' leading', 'trailing ', 'x'.repeat(1024), '𝕏'.repeat(1024), '&lt;b&gt;', '&#x3c;', '&amp;amp;',
];

/** What a page load with one hostile name everywhere sends. @param {string} name @param {number} number */
function hostileVisit(name, number) {
  const trace = new Trace();
  const resource = number % 3 === 0 ? name : `https://hostile.example/${encodeURIComponent(name).slice(0, 200)}.js`;
  trace.run([['main', 'https://hostile.example/app.js', 1, 1], [name, resource, number + 1, 1]], 50 + number);
  trace.run([[name, resource, number + 1, 1]], 20);
  trace.run(null, 50);
  const short = [...name.replace(/[\0\n\r]/g, '')].slice(0, 60).join('');
  return {
    version: 1, page: { url: 'https://hostile.example/', route: short || '/' }, release: short || 'r', environment: 'x', variant: short, sampleInterval: interval, trace: trace.json(),
    marks: [], measures: [{ name, entryType: 'measure', startTime: 0, duration: 40 }],
    vitals: [{ name: 'INP', value: 600, target: name, start: 0, duration: 600 }],
    interactions: [{ type: 'pointer', start: 0, processingStart: 1, processingEnd: 40, duration: 60, target: name }],
    frames: [{ start: 0, duration: 80, blocking: 30, scripts: [{ invoker: name, invokerType: 'event-listener', url: resource, function: name, position: 1, start: 0, duration: 60, forced: 0 }] }],
  };
}

/** What a page load with a framework sends. */
function bundledVisit() {
  const own = 'https://bundled.example/app.js';
  const framework = 'https://cdn.jsdelivr.net/npm/react-dom@18.3.1/umd/react-dom.production.min.js';
  const trace = new Trace();
  trace.run([['start', own, 1, 1], ['render', framework, 1, 10], ['beginWork', framework, 1, 20], ['Gallery', own, 5, 1]], 200);
  trace.run([['start', own, 1, 1], ['render', framework, 1, 10], ['commitRoot', framework, 1, 30]], 100);
  return { version: 1, page: { url: 'https://bundled.example/' }, sampleInterval: interval, trace: trace.json() };
}

/** Recordings of the older formats. */
const keptFiles = [['speed-tracer/stream.ndjson', 'speed-tracer'], ['speed-tracer/v8.ndjson', 'speed-tracer'], ['opera-scope/page-load.json', 'opera-scope'], ['opera-scope/manual.json', 'opera-scope']];

/** A dump whose every text is a hostile name. */
const hostileDump = () => [
  ...hostileNames.flatMap((name, i) => [
    { type: 12, time: 10 * i, data: { requestId: String(i), url: name, requestMethod: name }, sequence: 4 * i },
    { type: 11, time: 10 * i + 1, data: { message: name }, sequence: 4 * i + 1 },
    { type: 10, time: 10 * i + 2, duration: 5, data: { url: name, lineNumber: 1 }, children: [{ type: -2, typeName: name, time: 10 * i + 3, duration: 1, data: { [name]: name } }], sequence: 4 * i + 2 },
    { type: 13, time: 10 * i + 8, data: { requestId: String(i), mimeType: name, statusCode: 200 }, sequence: 4 * i + 3 },
  ]),
  // A page without an address, and its load.
  { type: 2147483646, time: 10 * hostileNames.length, data: {}, sequence: 4 * hostileNames.length },
  { type: 19, time: 10 * hostileNames.length + 900, data: {}, sequence: 4 * hostileNames.length + 1 },
].map((record) => JSON.stringify(record)).join('\n');

/** A trace with all hostile names, as functions, marks and measures. */
function hostileTrace() {
  const trace = new Trace();
  for (const [i, name] of hostileNames.entries()) trace.run([['main', 'https://hostile.example/app.js', 1, 1], [name, name, i + 1, 1]], 30);
  return {
    version: 1, page: { url: 'https://hostile.example/' }, sampleInterval: interval, trace: trace.json(),
    marks: hostileNames.map((name, i) => ({ name, entryType: 'mark', startTime: 30 * i, duration: 0 })),
    measures: hostileNames.map((name, i) => ({ name, entryType: 'measure', startTime: 30 * i, duration: 25 })),
    interactions: hostileNames.slice(0, 30).map((name, i) => ({ type: 'pointer', start: 30 * i, processingStart: 30 * i + 1, processingEnd: 30 * i + 9, duration: 16, target: name })),
  };
}

/** Hours of each release; the later side needs 12. */
const hours = 14;

/**
 * Starts collector and database with the fleet in them.
 * @param {{ perHour?: number, hostile?: boolean, sessions?: boolean }} [options] perHour: uploads of the shop per hour; hostile:
 *   whether the hostile site has any; sessions: whether any are kept
 */
export async function startFleet({ perHour = 16, hostile = true, sessions = false } = {}) {
  const stack = await startStack({ config: {
    sites: [{ name: 'shop', key: 'pk_shop', routes: ['/product/:id', '/cart', '/search'] }, { name: 'hostile', key: 'pk_hostile' }, { name: 'quiet', key: 'pk_quiet' }, { name: 'bundled', key: 'pk_bundled' }, { name: 'kept', key: 'pk_kept', sample_keep: '100%' }],
    ceilings: { routes: 10_000, releases: 10_000, segments: 100_000, frames: 100_000 },
  } });
  let sent = 0;
  /** @param {string} key path and query below ingest @param {unknown} body @param {string} agent */
  const upload = async (key, body, agent) => {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/${key}`, { method: 'POST', headers: { 'user-agent': agent }, body: typeof body === 'string' ? body : JSON.stringify(body) });
    assert.equal(reply.status, 204, await reply.text());
    sent += 1;
  };
  const counted = () => waitFor(async () => (await stack.sql('select count(*) from fleetprof_data.upload'))[0].count === sent,
    { what: `${sent} uploads in SQL`, timeoutMs: 60_000 });
  await stack.execute(`select fleetprof_data.make_partitions(array(select day::date from generate_series(now() - interval '3 days', now(), '1 day') as day))`);

  const names = hostile ? hostileNames : [];
  for (const [number, name] of names.entries()) await upload('pk_hostile', hostileVisit(name, number), chrome);
  if (hostile) await upload('pk_bundled', bundledVisit(), chrome);
  await counted();
  // Before those of the shop, so that these are behind all that moves.
  await moveBack(stack, 2 * hours + 1, '2020-01-01');
  const draw = random(20_261_122);
  for (let back = 2 * hours; back >= 1; back -= 1) {
    const release = back > hours ? '2.2.9' : '2.3.0';
    const [{ now }] = await stack.sql('select clock_timestamp()::text as now');
    await Promise.all(Array.from({ length: perHour }, () => upload('pk_shop', visit({ release, route: Math.min(2, Math.floor(draw() * 3)), draw }), draw() < 0.4 ? phone : chrome)));
    await counted();
    await moveBack(stack, back, now);
  }
  if (sessions) {
    for (const [name, format] of keptFiles) await upload(`pk_kept?format=${format}`, fs.readFileSync(path.join(repository, 'tests/data', name), 'utf8'), chrome);
    await upload('pk_kept?format=speed-tracer', hostileDump(), chrome);
    await upload('pk_kept', visit({ release: '2.3.0', route: 0, draw }), chrome);
    await upload('pk_kept', hostileTrace(), chrome);
    await counted();
  }
  return stack;
}

/**
 * Moves what came since the last call to an earlier hour.
 * @param {import('../behaviour/stack.mjs').Stack} stack
 * @param {number} back hours
 * @param {string} since when the first of these uploads may have come
 */
const moveBack = (stack, back, since) => stack.execute(`
  do $$
  declare
    parent regclass;
    hour constant timestamptz := date_trunc('hour', now()) - interval '${back} hours';
    moved constant bigint := (select coalesce(max(position), 0) from fleetprof_data.unsealed where bucket < date_trunc('hour', '${since}'::timestamptz));
  begin
    for parent in select oid from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' and (relname ~ '_recent$' or relname = 'unsealed') loop
      execute format('update %s set bucket = $1 where position > $2', parent) using hour, moved;
    end loop;
    update fleetprof_data.upload set bucket = hour, received = hour + (received - date_trunc('hour', received)) where received >= '${since}';
  end $$;`);
