// SPDX-License-Identifier: Apache-2.0
/**
 * Speed Tracer's reports over the records of a dump, by docs/sql.md: an independent computation, record by record and
 * window by window, without code of the collector or the database: simple, not fast.
 */
import { isEarly, toMicroseconds, typeNumber } from './speed_tracer_oracle.mjs';

/** @typedef {import('./speed_tracer_oracle.mjs').Item} Item */
/** @typedef {{ item: Item, id: number, top: number, type: number, start: number, end: number | null, inner: Node[], data: any }} Node */

const START = 12, RESPONSE = 13, FINISH = 14, LOG = 11, LAYOUT = 1, DOM_CONTENT = 18, LOAD = 19;
const TAB = 2147483646, UPDATE = 2147483645, ANNOUNCED = 2147483642, ANSWERED = 2147483641, CHUNK = 2147483640, FINISHED = 2147483639;

/**
 * The records as numbered trees, in file order; times are microseconds.
 * @param {Item[]} items
 * @returns {Node[]}
 */
export function plant(items) {
  const early = isEarly(items);
  let last = 0;
  /** @type {(item: Item, top: number) => Node} */
  const grow = (item, top) => {
    const id = ++last;
    const start = toMicroseconds(item.time ?? 0);
    const end = item.duration === undefined ? null : start + toMicroseconds(item.duration);
    const inner = (item.children ?? []).map((child) => grow(child, top || id));
    const number = typeNumber(item, early);
    const type = early && number >= DOM_CONTENT && number <= 20 ? NaN : number; // in early dumps these are not marks
    return { item, id, top: top || id, type, start, end, inner, data: item.data ?? {} };
  };
  return items.map((item) => grow(item, 0));
}

/** All nodes, parents first. @param {Node[]} nodes @returns {Node[]} */
export const all = (nodes) => nodes.flatMap((node) => [node, ...all(node.inner)]);

/** How long a node is between two moments. @param {Node} node @param {number} from @param {number} to */
const inside = ({ start, end }, from, to) =>
  end === null ? 0 : Math.max(0, Math.min(end, to) - Math.max(start, from));

const ms = (/** @type {number} */ microseconds) => microseconds / 1000;

/** The span of all events, of the top level or of all levels. @param {Node[]} nodes */
function span(nodes) {
  const timed = nodes.filter(({ end }) => end !== null);
  return { from: Math.min(...timed.map(({ start }) => start)), to: Math.max(...timed.map(({ end }) => end ?? 0)) };
}

/** How much of a window some node covers. @param {Node[]} nodes @param {number} from @param {number} to */
function covered(nodes, from, to) {
  let [sum, reached] = [0, from];
  for (const { start, end } of [...nodes].sort((a, b) => a.start - b.start)) {
    const until = Math.min(end ?? start, to);
    sum += Math.max(0, until - Math.max(start, reached));
    reached = Math.max(reached, until);
  }
  return sum;
}

/** @param {Node[]} forest @param {{ from: number, to: number }} [window] */
export function uiThreadUse(forest, { from, to } = span(forest)) {
  const rows = [];
  let [before, beforeThat] = [0, 0];
  for (let at = from; at <= to; at += 35000) {
    const busy = covered(forest, at, at + 75000) / 75000;
    rows.push({ at: ms(at), busy, smoothed: 0.7 * busy + 0.2 * before + 0.1 * beforeThat });
    [before, beforeThat] = [busy, before];
  }
  return rows;
}

/**
 * Own time by what `label` calls the type, cut at the edges.
 * @param {Node[]} forest @param {(node: Node) => string} label @param {{ from: number, to: number }} [window]
 */
export function eventSummary(forest, label, { from, to } = span(all(forest))) {
  const sums = new Map([['(available)', to - from]]);
  const add = (/** @type {string} */ name, /** @type {number} */ value) => sums.set(name, (sums.get(name) ?? 0) + value);
  for (const node of forest) add('(available)', -inside(node, from, to));
  for (const node of all(forest)) {
    const left = inside(node, from, to);
    if (left > 0) add(label(node), left - node.inner.reduce((sum, child) => sum + inside(child, from, to), 0));
  }
  return new Map([...sums].map(([name, sum]) => [name, ms(sum)]));
}

/** @param {Node[]} forest */
export const logMessages = (forest) => all(forest).filter(({ type }) => type === LOG)
  .map(({ start, data, id, top }) => ({ at: ms(start), message: data.message, event: id, top }));

/** Returns the timers that fired, with all that is known of them. @param {Node[]} forest */
export function timers(forest) {
  const started = new Map();
  return all(forest).flatMap(({ type, id, data }) => {
    if (type === 5) started.set(String(data.timerId), data);
    const { timeout = null, singleShot = null } = { ...started.get(String(data.timerId)), ...data };
    return type === 7 ? [{ id, timeout, singleShot }] : [];
  });
}

/** A URL as it is stored: without entities, query, fragment and path parameters; of a file only its name. @param {unknown} url */
const kept = (url) => typeof url !== 'string' || url === '' ? null : url.replaceAll('&amp;', '&').replaceAll('&lt;', '<')
  .replaceAll('&gt;', '>').replaceAll('&quot;', '"').replace(/[?#][^]*/, '').replace(/;[^/=]*=[^/]*/g, '').replace(/^file:.*\//, 'file:');

/** The time when a page was first shown; up to version 0.8 it starts with the last request for it before that. @param
 * {Node[]} nodes @param {Node} tab */
function shownAt(nodes, tab) {
  const request = tab.item.type === TAB ? undefined
    : nodes.filter(({ type, id, data }) => type === START && id < tab.id && data.url === tab.data.url).at(-1);
  return (request ?? tab).start;
}

/** @param {Node[]} forest */
export function pageTransitions(forest) {
  const nodes = all(forest);
  const whole = (/** @type {Node} */ { data }) => String(data.url).replace(/#.*/, '');
  const tabs = nodes.filter(({ type }) => type === TAB);
  return tabs.map((tab, index) => {
    const begin = shownAt(nodes, tab);
    const end = index + 1 < tabs.length ? shownAt(nodes, tabs[index + 1]) : Infinity;
    const since = (/** @type {number} */ mark) => {
      const times = nodes.filter(({ type, start }) => type === mark && start >= begin && start < end).map(({ start }) => start);
      return times.length > 0 ? ms(Math.min(...times) - begin) : null;
    };
    const again = index > 0 && whole(tab) === whole(tabs[index - 1]);
    return { at: ms(begin), url: kept(tab.data.url), again, domContent: since(DOM_CONTENT), load: since(LOAD) };
  });
}

const idOf = (/** @type {any} */ data) => data.identifier ?? data.requestId ?? data.resourceId;

/**
 * The requests of a dump, each with what its records said last.
 * @param {Node[]} forest
 */
export function networkResources(forest) {
  /** @type {Map<string, any[]>} */
  const requests = new Map();
  /** @type {Map<string, number[]>} */
  const seen = new Map();
  for (const { type, start, data, item } of all(forest)) {
    if (![START, RESPONSE, FINISH, UPDATE, ANNOUNCED, ANSWERED, CHUNK, FINISHED].includes(type) || idOf(data) === undefined) continue;
    const id = String(idOf(data));
    const list = requests.get(id) ?? [{ id }];
    const [starts, announced] = seen.get(id) ?? [0, 0];
    const counts = [starts + Number(type === START), announced + Number(type === ANNOUNCED)];
    requests.set(id, list);
    seen.set(id, counts); // how many records have begun a request under this id
    const attempt = Math.max(1, type === START ? counts[0] : type === ANNOUNCED ? counts[1] : Math.max(...counts));
    while (list.length < attempt) list.push({ id });
    const request = list[attempt - 1];
    const say = (/** @type {string} */ what, /** @type {any} */ value) => { if (value !== undefined && value !== null) request[what] = value; };
    const told = (/** @type {string} */ what, /** @type {number | undefined} */ value, pick = Math.min) => {
      if (value) request[what] = pick(request[what] ?? value, value);
    };
    const url = kept(data.url ?? data.request?.url ?? data.response?.url);
    if (url !== null) request.url ??= url;
    if (type === START) {
      request.start = Math.min(request.start ?? Infinity, ms(start));
      say('method', data.requestMethod ?? data.httpMethod);
      say('requestHeaders', data.headers);
    }
    if (type === RESPONSE) {
      request.response = Math.min(request.response ?? Infinity, ms(start));
      say('status', data.statusCode ?? data.responseCode);
      say('responseHeaders', data.headers);
    }
    if (type === FINISH) {
      request.end = Math.max(request.end ?? -Infinity, ms(start));
      const failed = item.type === FINISH ? data.didFail : item.type === 21; // as they were numbered up to 0.8
      if (failed !== undefined) request.failed = Boolean(request.failed) || failed;
    }
    if (type === UPDATE) {
      told('told', data.startTime);
      told('toldResponse', data.responseReceivedTime);
      told('toldEnd', data.endTime, Math.max);
      say('status', data.statusCode);
      if (data.requestMethod) request.method = data.requestMethod;
      say('size', data.resourceSize ?? data.contentLength);
      say('requestHeaders', data.requestHeaders);
      say('responseHeaders', data.responseHeaders);
      if (data.failed !== undefined) request.failed = Boolean(request.failed) || data.failed;
    }
    if (type === ANNOUNCED) told('told', ms(start));
    if (type === ANSWERED) told('toldResponse', ms(start));
    if (type === FINISHED) told('toldEnd', ms(start), Math.max);
    if (type === FINISHED && data.didFail !== undefined) request.failed = Boolean(request.failed) || data.didFail;
    if (type === ANNOUNCED) {
      say('method', data.request?.method);
      say('requestHeaders', data.request?.headers ?? data.request?.httpHeaderFields);
    }
    if (type === ANSWERED) {
      say('status', data.response?.status ?? data.response?.httpStatusCode);
      say('responseHeaders', data.response?.headers ?? data.response?.httpHeaderFields);
    }
    if (type === CHUNK) request.chunks = (request.chunks ?? 0) + (data.dataLength ?? data.lengthReceived);
    if (/\?/.test(String(data.url ?? data.request?.url ?? '')) && [START, UPDATE, ANNOUNCED].includes(type)) request.query = true;
    say('mime', data.mimeType ?? data.response?.mimeType);
    const cached = data.cached ?? data.isCached ?? data.fromDiskCache ?? data.response?.fromDiskCache ?? data.response?.wasCached;
    if (cached !== undefined) request.cached = Boolean(request.cached) || cached;
  }
  const nothing = /** @type {any} */ ({ url: null, method: null, status: null, mime: null, cached: null, failed: null,
    size: null, start: null, response: null, end: null, requestHeaders: null, responseHeaders: null, query: false });
  // Falls back to the network stack's record if the timeline has none.
  for (const request of [...requests.values()].flat()) {
    request.start ??= request.told ?? null;
    request.response ??= request.toldResponse ?? null;
    request.end ??= request.toldEnd ?? null;
  }
  return [...requests.values()].flatMap((list) => list.map((request, index) => {
    const next = list[index + 1];
    const { chunks, size, told, toldResponse, toldEnd, ...said } = { ...nothing, ...request };
    return { ...said, size: chunks ?? size, attempt: index + 1, end: request.end ?? next?.start ?? null, redirected: next !== undefined };
  }));
}

/** @param {Record<string, string> | null} headers @param {string} name @returns {string | undefined} */
const header = (headers, name) => Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1];

/** Returns the kind of a response, by its Content-Type. @param {any} request */
function kindOf({ url, responseHeaders }) {
  const type = header(responseHeaders, 'content-type')?.toLowerCase();
  if (type === undefined) return 'other';
  /** @type {[string, boolean][]} */
  const kinds = [['document', /^text\/(html|xml|plain)|^application\/xhtml/.test(type)], ['stylesheet', type.includes('css')],
    ['script', /javascript|ecmascript/.test(type)],
    ['favicon', type.startsWith('image/vnd.microsoft.icon') || /\/favicon\.ico$/.test(url ?? '')],
    ['image', type.startsWith('image/')], ['media', /^(audio|video)\/|flash/.test(type)]];
  return kinds.find(([, is]) => is)?.[0] ?? 'other';
}

/** For how many seconds a response may be kept; null: it does not say. @param {any} request */
function freshness({ responseHeaders }) {
  const age = /max-age\s*=\s*"?(\d+)/.exec((header(responseHeaders, 'cache-control') ?? '').toLowerCase())?.[1];
  if (age !== undefined) return Number(age);
  const expires = header(responseHeaders, 'expires');
  if (expires === undefined) return null;
  const [end, dated] = [expires, header(responseHeaders, 'date') ?? ''].map((date) => Date.parse(date) / 1000);
  return Number.isNaN(end) ? 0 : end - dated;
}

/** True if a response asks caches not to keep it. @param {any} request */
function isUncached(request) {
  const fresh = freshness(request);
  return /no-cache|no-store|must-revalidate/.test((header(request.responseHeaders, 'cache-control') ?? '').toLowerCase())
    || /no-cache/.test((header(request.responseHeaders, 'pragma') ?? '').toLowerCase()) || (fresh !== null && fresh <= 0);
}

/** Returns the hints of the rules about caches on a response. @param {any} request @returns {[number, string][]} */
function cachingHints(request) {
  const answer = (/** @type {string} */ name) => header(request.responseHeaders, name);
  const kind = kindOf(request);
  const favicon = kind === 'favicon';
  if (['other', 'document'].includes(kind) || isUncached(request)) return [];
  const control = (answer('cache-control') ?? '').toLowerCase();
  const fresh = freshness(request);
  const isPublic = /\bpublic\b/.test(control);
  const vary = (answer('vary') ?? '').toLowerCase();
  const compressed = /gzip|deflate|compress|bzip2|sdch/.test((answer('content-encoding') ?? '').toLowerCase());
  const month = 30 * 86400;
  /** @type {[boolean, number, string][]} */
  const rules = [
    [fresh === null && !request.query && [200, 203, 206, 300, 301, 304, 410].includes(request.status), 1, 'has no expiration'],
    [vary.split(/\s*,\s*/).some((one) => !['', 'accept-encoding', 'user-agent'].includes(one)), 1, 'has a Vary'],
    [!favicon && fresh !== null && fresh < 11 * month, fresh !== null && fresh < month ? 2 : 3, 'may be cached for'],
    [favicon && fresh !== null && fresh < month, 2, 'the favicon'],
    [isPublic && request.query, 2, 'but has a query'],
    [isPublic && compressed && !/accept-encoding/.test(vary), 2, 'is compressed and publicly'],
    [!isPublic && answer('set-cookie') === undefined && fresh !== null && fresh > 0, 3, 'could be publicly'],
    [isPublic && answer('set-cookie') !== undefined, 1, 'sets a cookie'],
  ];
  return rules.filter(([fires]) => fires).map(([, severity, words]) => [severity, words]);
}

/**
 * Both files of a GWT application, in one page.
 * @param {any[]} answered @param {number[]} pages when they were shown
 * @returns {[string, number, number, string][]}
 */
function gwtHints(answered, pages) {
  const loaders = answered.filter(({ url }) => /\.nocache\.js$/.test(url ?? ''));
  const codes = answered.filter(({ url }) => /\/[0-9a-f]{32}\.cache\.html$/i.test(url ?? ''));
  const isBetween = (/** @type {number} */ first, /** @type {number} */ last) =>
    last >= first && !pages.some((at) => at > first && at <= last);
  const cacheable = loaders.filter(({ start, responseHeaders }) => codes.some((code) => isBetween(start, code.start))
    && !isUncached({ responseHeaders }));
  const large = codes.filter(({ start, size }) => size > 250_000 && loaders.some((loader) => isBetween(loader.start, start)));
  return [
    ...cacheable.map(({ start }) => /** @type {[string, number, number, string]} */ (['GWT Application Detection', 1, start, 'must not be cacheable'])),
    ...large.map(({ start, size }) => /** @type {[string, number, number, string]} */ (
      ['GWT Application Detection', size > 1_000_000 ? 1 : size > 500_000 ? 2 : 3, start, 'the application\'s code'])),
  ];
}

/**
 * Rule, severity, when, and some words of each hint.
 * @param {Node[]} forest
 * @returns {[string, number, number | null, string][]}
 */
export function hints(forest) {
  /** @type {[string, number, number | null, string][]} */
  const found = [];
  for (const node of forest) {
    const long = node.end === null ? 0 : node.end - node.start;
    if (long > 100_000) found.push(['Long Duration Events', long > 2_000_000 ? 2 : 3, ms(node.start), 'Event lasted']);
    const layouts = node.end === null ? [] : all(node.inner).filter(({ type }) => type === LAYOUT);
    const own = layouts.reduce((sum, { start, end, inner }) => sum + (end === null ? 0 : end - start)
      - (end === null ? 0 : inner.reduce((total, child) => total + (child.end === null ? 0 : child.end - child.start), 0)), 0);
    if (layouts.length >= 3 && own >= 70_000) found.push(['Frequent Layout activity', 2, ms(node.start), 'layouts took']);
  }
  for (const request of networkResources(forest)) {
    if (request.size > 500_000) found.push(['Total Bytes Downloaded', request.size > 1_000_000 ? 2 : 3, request.start, 'bytes downloaded']);
    if (request.responseHeaders === null) continue;
    const answer = (/** @type {string} */ name) => header(request.responseHeaders, name);
    const kind = kindOf(request);
    const encoded = /gzip|deflate|compress|bzip2|sdch/.test((answer('content-encoding') ?? '').toLowerCase());
    if (['document', 'script', 'stylesheet'].includes(kind) && !encoded && request.size >= 150) found.push(['Uncompressed Resource', 3, request.start, 'was not compressed']);
    if (['stylesheet', 'script', 'image', 'media'].includes(kind) && (answer('set-cookie') ?? header(request.requestHeaders, 'cookie')) !== undefined)
      found.push(['Static Resource served from domains with cookies', 3, request.start, 'was served with cookies']);
    for (const [severity, words] of cachingHints(request)) found.push(['Resource Caching', severity, request.start, words]);
  }
  const pages = pageTransitions(forest).map(({ at }) => at);
  return [...found, ...gwtHints(networkResources(forest).filter(({ responseHeaders }) => responseHeaders !== null), pages)];
}
