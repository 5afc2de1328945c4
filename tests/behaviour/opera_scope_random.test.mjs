// SPDX-License-Identifier: Apache-2.0
/**
 * Random Opera Scope sessions, queried in every mode with random selections and compared with what the service would
 * have answered, computed from the events alone.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { seededRandom } from '../chaos/random.mjs';
import { send } from './collector_client.mjs';
import { startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => { stack = await startStack(); });
after(() => stack?.stop());

const us = (/** @type {number} */ ms) => Math.floor(ms * 1000 + 0.5);
const typeNames = ['', 'GENERIC', 'PROCESS', 'DOCUMENT_PARSING', 'CSS_PARSING', 'SCRIPT_COMPILATION',
  'SCRIPT_THREAD_EVALUATION', 'REFLOW', 'STYLE_RECALCULATION', 'CSS_SELECTOR_MATCHING', 'LAYOUT', 'PAINT', 'TYPE_12'];
const modes = ['all', 'reduce_unique_types', 'reduce_unique_events', 'reduce_all'];
const fields = ['type', 'time', 'overhead', 'hits', 'interval', 'eventID', 'parentEventID', 'childCount', 'aggregatedTime',
  'aggregatedOverhead', 'cssSelectorMatching', 'scriptThreadEvaluation', 'documentParsing', 'cssParsing', 'scriptCompilation', 'paint'];

/** @typedef {{ type: number, time: number, overhead: number, hits: number, interval: [number, number], eventID: number,
 *   parentEventID: number | null, childCount: number, [detail: string]: any }} ScopeEvent
 * @typedef {{ mode: string, root: number | null, depth: number | null, types: string[] | null, from: number | null, to: number | null }} Selection */

/** Returns a random detail of an event of this type. @param {number} type @param {import('../chaos/random.mjs').Random} random */
function detailOf(type, random) {
  const url = `https://shop.example/${random.below(2)}`;
  if (type === 3) return { documentParsing: [url] };
  if (type === 4) return { cssParsing: [url] };
  if (type === 5) return { scriptCompilation: [random.below(2), url] };
  if (type === 6) return { scriptThreadEvaluation: random.chance(0.5) ? [1] : [3, random.pick(['click', 'load'])] };
  if (type === 9) return { cssSelectorMatching: [random.pick(['a', '#b', 'c > d'])] };
  if (type === 11) return { paint: [[0, random.below(2), 3, 4]] };
  return {};
}

/** Microseconds that change when converted to milliseconds and back. */
const odd = Array.from({ length: 100_000 }, (_, n) => n).filter((n) => (n / 1000) * 1000 !== n);

/** @param {import('../chaos/random.mjs').Random} random */
function randomEvents(random) {
  return Array.from({ length: 1 + random.below(40) }, (_, i) => {
    const type = 1 + random.below(12);
    const start = random.chance(0.5) ? random.pick(odd) : random.below(100_000);
    /** @type {ScopeEvent} */
    const event = { type, time: random.below(5000) / 1000, overhead: random.below(100) / 1000, hits: random.below(5),
      interval: [start / 1000, (start + random.pick([0, random.below(20_000)])) / 1000], eventID: i + 1,
      parentEventID: random.chance(0.1) ? 999 : i > 0 && random.chance(0.7) ? 1 + random.below(i) : null,
      childCount: random.below(4), ...detailOf(type, random) };
    return event;
  });
}

/** A message as the service's list. @param {ScopeEvent} event */
const asList = (event) => fields.map((field) => event[field] ?? null);

/** @param {ScopeEvent[]} events @param {string} url @param {import('../chaos/random.mjs').Random} random */
async function upload(events, url, random) {
  // In one list or two: parents come before their children, in the same list or an earlier one.
  const cut = random.chance(0.5) ? 0 : random.below(events.length);
  const session = { version: '1.0', url, session: [7, 1, [[3, 4]]],
    timelines: [events.slice(0, cut), events.slice(cut)].map((list, i) =>
      ({ request: [7, 3, 1, null, 100 + i], reply: [null, random.shuffled(list).map(asList)] })) };
  const reply = await send(`${stack.collector.url}/v1/ingest/pk_demo`, { body: JSON.stringify({ 'opera-scope': session }) });
  assert.equal(reply.status, 204, reply.body);
  const rows = () => stack.sql(`select session_id::text as id from fleetprof.sessions where page_url = '${url}'`);
  await waitFor(async () => (await rows()).length === 1, { what: 'session in SQL' });
  return (await rows())[0].id;
}

/** @param {ScopeEvent[]} events @param {import('../chaos/random.mjs').Random} random @returns {Selection} */
function randomSelection(events, random) {
  /** Often an edge of an event. */
  const moment = () => random.chance(0.6) ? random.pick(random.pick(events).interval) : random.below(120);
  const [from, to] = [moment(), moment()].sort((a, b) => a - b);
  return { mode: random.pick(modes),
    root: random.chance(0.4) ? random.pick(events).eventID : null,
    depth: random.chance(0.4) ? 1 + random.below(3) : null,
    types: random.chance(0.4) ? [random.pick(typeNames), random.pick(typeNames)] : null,
    from: random.chance(0.3) ? from : null,
    to: random.chance(0.3) ? to : null };
}

/** @param {ScopeEvent[]} events @param {Selection} selection */
function selected(events, { root, depth, types, from, to }) {
  const known = new Map(events.map((event) => [event.eventID, event]));
  const parentOf = (/** @type {ScopeEvent} */ event) => known.get(event.parentEventID ?? 0);
  /** 0: not below the root. @param {ScopeEvent} event @returns {number} */
  const depthOf = (event) => {
    const parent = parentOf(event);
    if ((parent?.eventID ?? null) === root) return 1;
    const around = parent ? depthOf(parent) : 0;
    return around > 0 ? around + 1 : 0;
  };
  return events.filter((event) => depthOf(event) > 0 && depthOf(event) <= (depth ?? Infinity)
    && (types === null || types.includes(typeNames[event.type]))
    && event.interval[1] >= (from ?? -Infinity) && event.interval[0] <= (to ?? Infinity));
}

/** The service's answer for these, one line per event. @param {ScopeEvent[]} events @param {string} mode */
function answered(events, mode) {
  if (mode === 'all') {
    return events.map((event) => [event.eventID, typeNames[event.type], us(event.time), us(event.overhead), event.hits,
      us(event.interval[0]), us(event.interval[1]), event.childCount].join(' ')).sort();
  }
  /** @type {Map<string, { type: string, time: number, overhead: number, hits: number }>} */
  const sums = new Map();
  for (const event of events.filter(({ type }) => type !== 2)) {
    const type = mode === 'reduce_all' ? 'GENERIC' : typeNames[event.type];
    const key = mode === 'reduce_unique_events' ? JSON.stringify([type, ...asList(event).slice(10)]) : type;
    const sum = sums.get(key) ?? { type, time: 0, overhead: 0, hits: 0 };
    sums.set(key, { type, time: sum.time + us(event.time), overhead: sum.overhead + us(event.overhead), hits: sum.hits + event.hits });
  }
  return [...sums.values()].map(({ type, time, overhead, hits }) => [type, time, overhead, hits].join(' ')).sort();
}

/** The same of a row of get_events. @param {any} row @param {string} mode */
const rowLine = (row, mode) => [...mode === 'all' ? [row.id] : [], row.type, us(row.time_ms), us(row.overhead_ms), row.hits,
  ...mode === 'all' ? [us(row.start_ms), us(row.end_ms), row.child_count] : []].join(' ');

for (let seed = 1; seed <= 12; seed++) {
  test(`random session ${seed} answers as the service would`, async () => {
    const random = seededRandom(seed);
    const events = randomEvents(random);
    const id = await upload(events, `https://shop.example/random/${seed}`, random);
    const selections = Array.from({ length: 40 }, () => randomSelection(events, random));
    const rows = await stack.sql(selections.map(({ mode, root, depth, types, from, to }, at) => `select ${at} as at, to_jsonb(e) as row
      from fleetprof.get_events(${id}, 3, '${mode}', ${root}, ${from}, ${to}, ${depth}, ${types && `array['${types.join("','")}']`}) as e`)
      .join(' union all '));
    selections.forEach((selection, at) => {
      const lines = rows.filter((row) => row.at === at).map(({ row }) => rowLine(row, selection.mode)).sort();
      assert.deepEqual(lines, answered(selected(events, selection), selection.mode), JSON.stringify(selection));
    });
  });
}
