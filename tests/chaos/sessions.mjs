// SPDX-License-Identifier: Apache-2.0
/**
 * Small generated sessions of the older formats, with the events that SQL must have.
 */
import { frameKey, toMicroseconds } from '../behaviour/oracle.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/**
 * One event that counts.
 * @typedef {object} Event
 * @property {string} type
 * @property {string} resource
 * @property {number | null} line
 * @property {number} self_us
 * @property {number} parent its place in the list, -1 at the top
 */
/** The kept lists of a session: those that the browser also summed.
 * @typedef {{ timelines: number, events: number, self_us: number }} Listed */

/** @param {number[]} numbers */
const sumOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0);

/** @param {Event} event */
const keyOf = ({ type, resource, line }) => frameKey({ function: type, resource, line, column: null, kind: 'event' });

/** An event is a sample on the stack of the events around it. @param {Event[]} events */
export function eventSums(events) {
  /** @type {import('./uploads.mjs').Sums['frames']} */
  const frames = new Map();
  for (const event of events) {
    const own = keyOf(event);
    const around = new Set();
    for (let at = event; at; at = events[at.parent]) around.add(keyOf(at));
    for (const key of around) {
      const sums = frames.get(key) ?? { self_us: 0, total_us: 0, samples: 0 };
      sums.self_us += key === own ? event.self_us : 0;
      sums.total_us += event.self_us;
      sums.samples++;
      frames.set(key, sums);
    }
  }
  const profiled_us = sumOf(events.map(({ self_us }) => self_us));
  return {
    samples: events.length, profiled_us, unattributed_us: 0, unattributed_samples: 0, unseen_us: 0, frames,
    markers: new Map([['(none)', { samples: events.length, self_us: profiled_us }]]),
  };
}

/** Events and own time by type. @param {Event[]} events */
export function eventTypes(events) {
  /** @type {Map<string, { count: number, self_us: number }>} */
  const types = new Map();
  for (const { type, self_us } of events) {
    const { count, self_us: before } = types.get(type) ?? { count: 0, self_us: 0 };
    types.set(type, { count: count + 1, self_us: before + self_us });
  }
  return types;
}

const speedTracerTypes = /** @type {const} */ ([
  [1, 'LAYOUT'], [2, 'RECALC_STYLE'], [3, 'PAINT'], [7, 'TIMER_FIRED'], [10, 'EVAL_SCRIPT'], [17, 'GC_EVENT'],
]);
const tabChanged = 2147483646;
const markLoadEvent = 19;
const partMs = 100_000; // longer than any part

/**
 * A dump of Speed Tracer: the page is opened, it works, it is loaded.
 * @param {Random} random
 * @param {{ url: string, keptUrl: string }} page its address, and what is kept of that
 * @param {number} part of a session: later ones have later times, since marks are relative to the last page before them
 */
export function speedTracer(random, { url, keptUrl }, part) {
  let time = part * partMs + random.below(1000);
  const opened = time;
  /** @type {Event[]} */
  const events = [{ type: 'TAB_CHANGED', resource: keptUrl, line: null, self_us: 0, parent: -1 }];
  /** @param {number} parent @param {number} level @returns {any} */
  const record = (parent, level) => {
    const [type, name] = random.pick(speedTracerTypes);
    const data = random.chance(0.3)
      ? { url: `https://cdn.example/${random.below(4)}.js`, lineNumber: 1 + random.below(5) } : {};
    const event = { type: name, resource: data.url ?? '', line: data.lineNumber ?? null, self_us: 0, parent };
    const place = events.push(event) - 1;
    const self = { type, time: ++time, duration: random.below(5000) / 10, data };
    const children = Array.from({ length: level < 3 ? random.below(3) : 0 }, () => record(place, level + 1));
    event.self_us = toMicroseconds(self.duration) - sumOf(children.map(({ duration }) => toMicroseconds(duration)));
    return { ...self, children };
  };
  const work = Array.from({ length: 1 + random.below(6) }, () => record(-1, 1));
  const records = [{ type: tabChanged, time: opened, data: { url } }, ...work,
    { type: markLoadEvent, time: ++time, data: {} }];
  events.push({ type: 'MARK_LOAD_EVENT', resource: '', line: null, self_us: 0, parent: -1 });
  return {
    text: random.chance(0.3) ? JSON.stringify({ header: { timeStamp: 1.3e12 }, data: records })
      : records.map((one) => JSON.stringify(one)).join('\n'),
    events,
    listed: { timelines: 1, events: events.length, self_us: sumOf(events.map(({ self_us }) => self_us)) },
    load_us: (time - opened) * 1000,
  };
}

const operaTypes = /** @type {const} */ ([
  [1, 'GENERIC'], [3, 'DOCUMENT_PARSING'], [7, 'REFLOW'], [8, 'STYLE_RECALCULATION'], [10, 'LAYOUT'],
]);
const documentParsing = 3;

/**
 * All events of one timeline, as the service lists them.
 * @param {Random} random
 */
function operaTimeline(random) {
  /** @type {Event[]} */
  const events = [];
  /** @type {any[][]} by place */
  const list = [];
  let start = 0;
  /** @param {number} parent @param {number} level @returns {number} time with that of its children */
  const event = (parent, level) => {
    const [type, name] = random.pick(operaTypes);
    const time = random.below(400) / 4;
    const url = type === documentParsing ? `https://cdn.example/${random.below(4)}.html` : undefined;
    const self_us = toMicroseconds(time);
    const place = events.push({ type: name, resource: url ?? '', line: null, self_us, parent }) - 1;
    const interval = [++start, start + 1000];
    const parentId = parent < 0 ? null : parent + 1;
    const children = level < 3 ? random.below(3) : 0;
    const inside = sumOf(Array.from({ length: children }, () => event(place, level + 1)));
    list[place] = [type, time, 0, 1, interval, place + 1, parentId, children, time + inside, 0,
      ...(url ? [null, null, [url]] : [])];
    return time + inside;
  };
  for (let left = 1 + random.below(5); left > 0; left--) event(-1, 1);
  return { events, list };
}

/** The same events, summed by type. @param {any[][]} list */
function reducedByType(list) {
  return [...new Set(list.map(([type]) => type))].map((wanted) => {
    const same = list.filter(([type]) => type === wanted);
    return [wanted, sumOf(same.map(([, time]) => time)), 0, same.length, [0, 2000]];
  });
}

/**
 * A session of Opera Scope: timelines, one of them summed by the browser as well, and listed twice at times.
 * @param {Random} random
 */
export function operaScope(random) {
  const timelines = Array.from({ length: 1 + random.below(2) }, () => operaTimeline(random));
  /** @type {{ request: number[], reply: any[] }[]} */
  const lists = timelines.map(({ list }, i) => ({ request: [1, i + 1], reply: [[0, 2000], list] }));
  if (random.chance(0.5)) lists.push({ request: [1, 1, 2], reply: [[0, 2000], reducedByType(timelines[0].list)] });
  const kept = lists.map(({ reply }) => reply[1]).flat();
  // A list that is sent twice counts once.
  if (random.chance(0.2)) lists.push(lists[0]);
  /** @type {Event[]} */
  const events = [];
  for (const timeline of timelines) {
    const before = events.length;
    const moved = (/** @type {number} */ parent) => (parent < 0 ? -1 : parent + before);
    events.push(...timeline.events.map((event) => ({ ...event, parent: moved(event.parent) })));
  }
  const session = [1, 2, timelines.map((_, i) => [i + 1, i + 1])];
  return {
    session: { version: '1.0', startedAt: 1355000000000, session, timelines: lists },
    events,
    listed: {
      timelines: new Set(lists).size,
      events: kept.length,
      self_us: sumOf(kept.map(([, time]) => toMicroseconds(time))),
    },
  };
}
