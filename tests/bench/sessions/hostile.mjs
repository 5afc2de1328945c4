// SPDX-License-Identifier: Apache-2.0
/**
 * Hostile sessions: uploads as large as the default limits allow, each arranged so that some report has the most to do.
 *
 * A session is a list of bodies: one of them is one upload, several are the parts of a long session.
 */
import { randomUUID } from 'node:crypto';

const TAB = 2147483646, UPDATE = 2147483645, PROFILE = 2147483644, SERVER = 2147483643, ANNOUNCED = 2147483642, ANSWERED = 2147483641;
const events = 50_000; // limits.entries

/** @param {number} count @param {(n: number) => object} record @returns {string[]} one JSON record per line */
const records = (count, record) => Array.from({ length: count }, (_, n) => JSON.stringify(record(n)));

/** @param {string[]} lines */
const body = (lines) => `${lines.join('\n')}\n`;

const address = (/** @type {number} */ n) => `https://shop.example/assets/file-${n % 9000}.js`;

/** Headers that no rule reads. @param {number} count @param {number} n */
const filler = (count, n) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-Filler-Header-${i}`, `a value of some length, number ${n * i % 997}`]));

/** Events of an hour each, all in each other's time. */
const overlapping = () => [body(records(events, (n) => ({ type: 0, time: n / 16, duration: 3_400_000, data: { type: 'click' } })))];

/** Trees of ten levels, of layouts with messages in them. */
function nested() {
  const levels = 10;
  return [body(records(events / levels, (n) => {
    /** @type {object | undefined} */
    let inside;
    for (let level = levels - 1; level >= 0; level -= 1) {
      const data = level % 2 ? { message: `message ${n % 97}` } : {};
      inside = { type: level % 2 ? 11 : 1, time: n * 100 + level, duration: 90 - level, data, ...inside && { children: [inside] } };
    }
    return /** @type {object} */ (inside);
  }))];
}

/** Pages with their marks, and messages. */
const pages = () => [body(records(events, (n) => ([
  { type: TAB, time: n, data: { url: `https://shop.example/page/${n % 9000}` } },
  { type: 18, time: n }, { type: 19, time: n }, { type: 11, time: n, data: { message: `message ${n}` } },
][n % 4])))];

/** A request each, which break most rules there are; some of them many times on one page. */
const requests = () => [body(records(events, (n) => ({ type: UPDATE, time: n, data: {
  identifier: String(n), url: address(n), requestMethod: 'GET', startTime: n + 0.25, responseReceivedTime: n + 0.5, endTime: n + 0.75,
  statusCode: 200, resourceSize: 600_000,
  responseHeaders: { 'Content-Type': 'text/css', 'Content-Encoding': n % 2 ? 'gzip' : 'br', 'Cache-Control': `public, max-age=${n}`, 'Set-Cookie': 'a=b', Vary: `X-${n}` },
} })))];

/** The same with the two records that newer versions write, and a date to read. */
const pairs = () => [body(records(events, (n) => (n % 2 === 0
  ? { type: ANNOUNCED, time: n, data: { requestId: String(n / 2), request: { url: address(n), method: 'GET', headers: { Accept: '*/*', Cookie: 'a=b' } } } }
  : { type: ANSWERED, time: n, data: { requestId: String((n - 1) / 2), response: { status: 200, fromDiskCache: false,
    timing: { proxyStart: -1, proxyEnd: -1, dnsStart: 1, dnsEnd: 2, connectStart: 1, connectEnd: 4, sslStart: 2, sslEnd: 3, sendStart: 4, sendEnd: 5 },
    headers: { 'content-type': 'text/javascript', expires: 'Sat, 19 Jun 2010 22:43:07 GMT', date: 'Fri, 18 Jun 2010 22:43:07 GMT' } } } })))];

/** Requests with so many headers that the body is as large as it may be. */
const headers = () => [body(records(events, (n) => (n % 2 === 0
  ? { type: 12, time: n, data: { requestId: String(n / 2), url: address(n), requestMethod: 'GET' } }
  : { type: UPDATE, time: n, data: { identifier: String((n - 1) / 2), url: address(n), startTime: n, endTime: n + 1, resourceSize: 1000,
    responseHeaders: { 'Content-Type': 'text/javascript', 'Cache-Control': 'max-age=60', ...filler(38, n) } } })))];

/** One request with all records. */
const redirects = () => [body(records(events, (n) => ({ type: ANNOUNCED, time: n, data: { requestId: '1',
  request: { url: address(n), method: 'GET', headers: { Accept: '*/*' } },
  redirectResponse: { status: 302, headers: { 'Content-Type': 'text/css', Location: address(n) } } } })))];

/** Servers' events, and responses that all name their trace. */
const traces = () => [body(records(events, (n) => (n % 2 === 0
  ? { type: SERVER, time: n, duration: 1, data: { traceUrl: 'https://shop.example/trace/1', label: `step ${n}` } }
  : { type: UPDATE, time: n, data: { identifier: String(n), url: address(n), startTime: n, endTime: n + 1,
    responseHeaders: { 'X-TraceUrl': '/trace/1', 'Content-Type': 'text/html' } } })))];

/** @param {number} n @param {string} log */
const profile = (n, log) => ({ type: PROFILE, time: n, data: { format: 'v8', profileData: log } });
const code = (/** @type {number} */ n) => (4096 + n * 16).toString(16);
const created = (/** @type {number} */ n) => `code-creation,LazyCompile,0x${code(n)},16,"f${n} a.js:${n}"\n`;
/** A tick on this stack, the function on top first. @param {number[]} stack */
const tick = ([top, ...outer]) => `tick,0x${code(top)},0x1,0${outer.map((n) => `,0x${code(n)}`).join('')}\n`;

/** One profile with as many stacks as an upload may have. */
function stacks() {
  const functions = 700;
  const codes = Array.from({ length: functions }, (_, n) => created(n)).join('');
  const ticks = Array.from({ length: 199_000 }, (_, n) => {
    const pair = [Math.floor(n / functions), n % functions];
    return tick([...n % 2 ? [3] : [], 7, ...pair]);
  }).join('');
  return [body([JSON.stringify(profile(0, `profiler,"begin",1\n${codes}${ticks}`))])];
}

/** Deep stacks, each with another function on top: their callers are the most that js_profile_bottom_up follows. */
function callers() {
  const depth = 60;
  const codes = Array.from({ length: 16_000 }, (_, n) => created(n)).join('');
  const ticks = Array.from({ length: 16_000 }, (_, n) => tick([n, ...Array.from({ length: depth }, (_item, i) => (i * 7 + 3) % 61)])).join('');
  return [body([JSON.stringify(profile(0, `profiler,"begin",1\n${codes}${ticks}`))])];
}

/** Profiles with two functions and ten stacks each, that none before it has. */
const profiles = () => [body(records(events, (n) => {
  const [f, g] = [2 * n, 2 * n + 1];
  const ticks = [[f, f, f], [f, g, f], [f, f, g], [f, g, g]].map(tick).join('');
  return profile(n, `${n === 0 ? 'profiler,"begin",1\n' : ''}${created(f)}${created(g)}${ticks}`);
}))];

/** A long session in as many small parts as events allow: work, requests and timers. */
function parts() {
  const size = 50;
  return Array.from({ length: events / size }, (_, part) => body(records(size, (i) => {
    const n = part * size + i;
    return [
      { type: 1, time: n, duration: 1, data: {} },
      { type: 5, time: n, data: { timerId: n, timeout: 250, singleShot: true } },
      { type: 7, time: n, duration: 0.5, data: { timerId: n - 51 } },
      { type: UPDATE, time: n, data: { identifier: String(n % 5000), url: address(n % 5000), startTime: n, endTime: n + 1,
        responseHeaders: { 'Content-Type': 'text/css', 'Cache-Control': 'max-age=60' } } },
      { type: 11, time: n, data: { message: `message ${n}` } },
    ][n % 5];
  })));
}


/** @param {number} n @param {number | null} parent @param {number} [type] */
const scopeEvent = (n, parent, type = 9) => [type, 0.001, 0, 1, [n / 1000, n / 1000 + 1], n, parent, 0, null, null, ...(type === 9 ? [[`.class-${n}`]] : [])];
/** @param {unknown[][]} list @param {object} [members] */
const scope = (list, members = {}) => JSON.stringify({ ...members, 'opera-scope': { version: '1.0', url: 'https://shop.example/', session: [7, 1, [[3, 4]]],
  timelines: [{ request: [7, 3, 1, null, 100], reply: [null, list] }] } });

/** Opera's selectors, which are many, below events that stand in each other. */
const selectors = () => [scope(Array.from({ length: events }, (_, n) => (n < 1000 ? scopeEvent(n + 1, n || null, 7) : scopeEvent(n + 1, n % 1000 + 1))))];

/** An Opera session in many parts; the parent of each event is in the part after, and each part repeats one of the part before. */
function scopeParts() {
  const size = 50;
  const load = randomUUID();
  return Array.from({ length: events / size }, (_, part) => scope(Array.from({ length: size }, (_item, i) => {
    const n = part * size + i;
    return scopeEvent(i > 0 || part === 0 ? n + 1 : n, n + 1 + size < events ? n + 1 + size : null);
  }), { load, part }));
}

/** @typedef {{ bodies: () => string[], format: 'speed-tracer' | 'opera-scope' }} HostileSession */
/** @type {Record<string, HostileSession>} */
export const hostile = {
  ...Object.fromEntries(Object.entries({
    overlapping, nested, pages, requests, pairs, headers, redirects, traces, stacks, callers, profiles, parts,
  }).map(([name, bodies]) => [name, { bodies, format: /** @type {const} */ ('speed-tracer') }])),
  selectors: { bodies: selectors, format: 'opera-scope' },
  'scope parts': { bodies: scopeParts, format: 'opera-scope' },
};
