// SPDX-License-Identifier: Apache-2.0
/**
 * A session's events over time, in columns: spans with a begin and an end, nested spans below the spans around them,
 * and points in time. All times are milliseconds since the session began. Nothing here uses a browser.
 */
import { hostOf } from './format.js';

/**
 * @typedef {object} Item
 * @property {string} id
 * @property {string} label
 * @property {number} start
 * @property {number | null} [end] null: a point in time
 * @property {number} [parent] its place in the list of items; -1: none
 * @property {string} [resource]
 * @property {boolean} [third]
 * @property {number} [own] ms without what is inside; known only where the interval does not say it
 * @property {import('./api.js').Row} [row] what else is known
 *
 * @typedef {object} Spans in the order of a tree; 0 is the whole
 * @property {string} key
 * @property {string} name
 * @property {number} count
 * @property {Item[]} items by span; without the first
 * @property {Float64Array} start
 * @property {Float64Array} finish
 * @property {Int32Array} level
 * @property {Int32Array} parent
 * @property {Int32Array} end first span past what is inside
 * @property {Int32Array} row where it is drawn
 * @property {number} rows
 * @property {number} [reached] until when it has spans, ms; what came later was too much
 */

/** Overlapping spans are drawn below each other, down to here. */
const mostRows = 60;
/** The most spans of one trace. */
export const mostItems = 200_000;
/** How many stacks have their frames cached. */
const mostPaths = 100;

/** @param {string} key @param {string} name @param {Item[]} items @returns {Spans} */
export function spansOf(key, name, items) {
  /** @type {number[][]} */
  const children = Array.from({ length: items.length + 1 }, () => []);
  for (const [i, { parent = -1 }] of items.entries()) children[parent + 1].push(i);
  const count = items.length + 1;
  const spans = {
    key, name, count: 1, items: /** @type {Item[]} */ ([]), start: new Float64Array(count), finish: new Float64Array(count), level: new Int32Array(count),
    parent: new Int32Array(count).fill(-1), end: new Int32Array(count), row: new Int32Array(count).fill(-1), rows: 0,
  };
  /** By row: the time from which it is free. @type {number[]} */
  const free = [];
  /** Spans whose children are being listed, and how many are. @type {{ span: number, list: number[], at: number }[]} */
  const open = [{ span: 0, list: children[0], at: 0 }];
  const inOrder = (/** @type {number[]} */ list) => list.sort((a, b) => items[a].start - items[b].start || a - b);
  inOrder(children[0]);
  while (open.length > 0) {
    const top = open[open.length - 1];
    if (top.at === top.list.length) {
      spans.end[top.span] = spans.count;
      open.pop();
      continue;
    }
    const from = top.list[top.at];
    top.at += 1;
    const item = items[from];
    const i = spans.count;
    spans.count += 1;
    spans.items[i] = { ...item, label: item.label ?? '(none)' };
    spans.start[i] = item.start;
    spans.finish[i] = Math.max(item.start, item.end ?? item.start);
    spans.level[i] = open.length;
    spans.parent[i] = top.span;
    let row = spans.row[top.span] + 1;
    while (free[row] > item.start && row < mostRows) row += 1;
    spans.row[i] = row;
    free[row] = Math.max(free[row] ?? -Infinity, spans.finish[i]);
    spans.rows = Math.max(spans.rows, row + 1);
    open.push({ span: i, list: inOrder(children[from + 1]), at: 0 });
  }
  spans.start[0] = spans.start.subarray(1, spans.count).reduce((least, ms) => Math.min(least, ms), Infinity);
  spans.finish[0] = spans.finish.subarray(1, spans.count).reduce((most, ms) => Math.max(most, ms), -Infinity);
  return spans;
}

/** Returns items of rows that name each other by id and parent_id. @param {import('./api.js').Row[]} rows @returns {Item[]} */
export function itemsOf(rows) {
  const place = new Map(rows.map(({ id }, i) => [id, i]));
  return rows.map((row) => ({
    id: String(row.id), label: row.type, start: row.start_ms ?? 0, end: row.end_ms, parent: place.get(row.parent_id) ?? -1, resource: row.resource ?? '', own: row.time_ms, row,
  }));
}

/**
 * Returns the own time of each span inside a window. An own time that is known is spread evenly over its span.
 * @param {Spans} spans @param {number} from @param {number} to
 */
export function ownWithin({ count, items, start, finish, parent }, from, to) {
  const inside = Float64Array.from(start, (at, i) => (i === 0 || i >= count ? 0 : Math.max(0, Math.min(to, finish[i]) - Math.max(from, at))));
  const own = Float64Array.from(inside);
  for (let i = 1; i < count; i += 1) {
    const { own: known } = items[i];
    if (known !== undefined) own[i] = finish[i] > start[i] ? (known * inside[i]) / (finish[i] - start[i]) : start[i] >= from && start[i] <= to ? known : 0;
    else own[parent[i]] -= inside[i];
  }
  own[0] = 0;
  return own.map((ms) => Math.max(0, ms));
}

/**
 * Returns the part of a session that an address asks for, or all of it.
 * @param {Record<string, string>} params @param {[number, number]} all @returns {[number, number]}
 */
export function windowOf(params, [begin, end]) {
  const [from, to] = [Number(params.from ?? NaN), Number(params.to ?? NaN)];
  return to - from >= 0.001 && from < end && to > begin ? [from, to] : [begin, end];
}

/** Returns the multiples of a step inside a window, at most 200. @param {number} from @param {number} to @param {number} step */
export function ticksIn(from, to, step) {
  const first = Math.ceil(from / step);
  const count = Math.min(200, Math.max(0, Math.floor(to / step) - first + 1));
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/** Returns a host's last two parts: good enough for a colour. @param {string} host */
const domainOf = (host) => host.split('.').slice(-2).join('.');

/** @param {any} value */
const list = (value) => (Array.isArray(value) ? value : []);

/** Returns the objects of a list. @param {any} value */
const things = (value) => list(value).filter((thing) => thing && typeof thing === 'object');

/** True for a map of names to times, as the draft of 2012 has it. @param {any} value */
const isMap = (value) => Object.values(value ?? {}).every((times) => Array.isArray(times) && times.every(Number.isFinite));

/** Returns marks that are a list, or such a map, as a list. @param {any} marks */
const marksOf = (marks) => (Array.isArray(marks) ? things(marks).filter(({ name }) => name !== undefined)
  : Object.entries(marks ?? {}).flatMap(([name, times]) => list(times).map((startTime) => ({ name, startTime }))));

/** Returns the effective interval of samples in order. @param {any} body @param {any[]} samples */
function intervalOf(body, samples) {
  const gaps = samples.slice(1).map(({ timestamp }, i) => timestamp - samples[i].timestamp).filter((gap) => gap > 0).sort((a, b) => a - b);
  return body.sampleInterval > 0 ? body.sampleInterval : gaps[(gaps.length - 1) >> 1] ?? 10;
}

/** The longest gap between two samples that counts as theirs, ms, unless three intervals are longer. */
const leastMaxGap = 250;

/**
 * Returns the span of each sample, as the collector gives it (docs/numbers.md): half of the gap to either neighbour.
 * @param {any} body @param {any[]} samples in order @returns {[from: number, until: number][]}
 */
function spansOfSamples(body, samples) {
  const interval = intervalOf(body, samples);
  const maxGap = Math.max(leastMaxGap, 3 * interval);
  const hasWindow = body.start >= 0 && body.duration > 0;
  const [first, last] = hasWindow ? [body.start, body.start + body.duration] : [-Infinity, Infinity];
  const endGap = (hasWindow ? maxGap : interval) / 2;
  return samples.map(({ timestamp: at }, i) => {
    const before = samples[i - 1]?.timestamp ?? NaN;
    const after = samples[i + 1]?.timestamp ?? NaN;
    // Where no time is lost, a span ends exactly where the next one begins.
    const from = at - before <= maxGap ? (before + at) / 2 : at - (i > 0 ? maxGap / 2 : endGap);
    const until = after - at <= maxGap ? (at + after) / 2 : at + (i + 1 < samples.length ? maxGap / 2 : endGap);
    return [Math.max(first, from), Math.max(first, Math.min(last, until))];
  });
}

/**
 * Returns the stacks of a trace over time: a function goes on as long as each next sample has it at the same place.
 * @param {any} trace @param {any[]} samples in order @param {[number, number][]} times of the samples @param {string} host of the page
 * @returns {{ items: Item[], reached?: number }} reached: when there were too many
 */
function stacksOverTime({ frames, stacks, resources }, samples, times, host) {
  /** @type {Item[]} */
  const items = [];
  /** Stacks as frames, outermost first. @type {Map<number | undefined, number[]>} */
  const paths = new Map();
  /** @param {number | undefined} stackId @returns {number[]} */
  const pathOf = (stackId) => {
    const known = paths.get(stackId);
    if (known) return known;
    const path = [];
    for (let id = stackId; id !== undefined && list(stacks)[id] && path.length < 10_000; id = stacks[id].parentId) path.push(stacks[id].frameId);
    if (paths.size > mostPaths) paths.clear();
    paths.set(stackId, path.reverse());
    return path;
  };
  /** The current stack: places in items, and their frames. @type {number[]} */
  let open = [];
  /** @type {number[]} */
  let openFrames = [];
  for (const [i, { stackId }] of samples.entries()) {
    const path = pathOf(stackId);
    const [at, until] = times[i];
    if (at >= until) continue;
    let same = 0;
    while (same < path.length && openFrames[same] === path[same] && items[open[same]].end === at) same += 1;
    if (items.length + path.length - same > mostItems) return { items, reached: at };
    open = open.slice(0, same);
    for (const frame of path.slice(same)) {
      const { name, resourceId, line, column } = list(frames)[frame] ?? {};
      const resource = String(list(resources)[resourceId] ?? '');
      items.push({
        id: String(items.length), label: String(name ?? '') || '(anonymous)', start: at, parent: open[open.length - 1] ?? -1, resource,
        third: hostOf(resource) !== '' && domainOf(hostOf(resource)) !== domainOf(host), row: { resource, line, column_number: column },
      });
      open.push(items.length - 1);
    }
    openFrames = path;
    for (const place of open) items[place].end = until;
  }
  return { items };
}

/**
 * Returns a kept upload's tracks over time; nothing for an upload of an unknown shape.
 * @param {any} body the upload, parsed
 * @returns {Spans[]}
 */
export function tracksOf(body) {
  const trace = body?.trace ?? (body?.samples ? body : null);
  const entries = [...things(body), ...things(body?.entries)];
  const ofType = (/** @type {string[]} */ ...types) => entries.filter(({ entryType }) => types.includes(entryType));
  const samples = list(trace?.samples).filter(({ timestamp }) => Number.isFinite(timestamp)).sort((a, b) => a.timestamp - b.timestamp);
  const times = spansOfSamples(body ?? {}, samples);
  const { items, reached } = trace ? stacksOverTime(trace, samples, times, hostOf(body?.page?.url)) : { items: [] };
  /** @type {Item[]} */
  const markers = [];
  for (const [i, { marker }] of samples.entries()) {
    const last = markers[markers.length - 1];
    const [at, until] = times[i];
    if (!marker || at >= until) continue;
    if (last?.label === marker && last.end === at) last.end = until;
    else markers.push({ id: String(markers.length), label: String(marker), start: at, end: until });
  }
  /** @param {any[]} things @param {(thing: any) => string} label @returns {Item[]} */
  const observed = (things, label) => things.map((thing, i) => ({
    id: String(i), label: label(thing), start: Number(thing.startTime ?? thing.start) || 0, end: thing.duration > 0 ? (Number(thing.startTime ?? thing.start) || 0) + thing.duration : null, row: thing }));
  return [
    spansOf('timing', 'Marks and measures', observed([...isMap(body) ? marksOf(body) : marksOf(body?.marks), ...things(body?.measures).filter(({ name }) => name !== undefined), ...ofType('mark', 'measure')], ({ name }) => String(name))),
    spansOf('input', 'Interactions', observed([...things(body?.interactions), ...ofType('event', 'first-input')], ({ type, name, target }) => `${type ?? name} ${target ?? ''}`)),
    spansOf('frame', 'Long frames', observed([...things(body?.frames).filter(({ start, startTime }) => start !== undefined || startTime !== undefined), ...ofType('long-animation-frame')], () => 'long frame')),
    spansOf('network', 'Network', observed(ofType('resource'), ({ name }) => String(name))),
    spansOf('marker', 'Layout, garbage collection and the like', markers),
    { ...spansOf('stack', 'Stacks', items), ...reached !== undefined ? { reached } : {} },
  ].filter(({ count }) => count > 1);
}
