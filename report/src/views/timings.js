// SPDX-License-Identifier: Apache-2.0
/** Marks and measures: percentiles, and of one its values, its trend and what ran inside it. */
import { question } from '../api.js';
import { columnsOf } from '../columns.js';
import { trend } from '../chart.js';
import { count, number, percent, sinceWhen, stepTime, visible, zone, zoneOf } from '../format.js';
import { h } from '../h.js';
import { facts, tableView, tabs, typicalLoad, valuesChart, withoutAgent, withoutMarker } from '../parts.js';
import { table } from '../table.js';
import { hotspotColumns } from './functions.js';

/** Kinds of left_out that have no count. @type {Record<string, string>} */
const wholes = { profile: 'the end of the profile', overload: 'the profile of a busy device', '(unknown)': 'what the sender does not say' };

/** Returns a note on the omissions of page loads; null if there are none. @param {import('../api.js').Row[]} rows of left_out: first the sum */
export function leftOut([any, ...rows]) {
  if (!any?.loads) return null;
  const thing = (/** @type {import('../api.js').Row} */ { what, count: number }) =>
    wholes[what] ?? `${what === 'frame' ? 'long frame' : what}${number === 1 ? '' : 's'}`;
  const parts = rows.filter(({ loads }) => loads > 0)
    .map((row) => `${row.count === null ? '' : `${count(row.count)} `}${thing(row)} (in ${count(row.loads)})`);
  return `${count(any.loads)} of ${count(any.all_loads)} page loads (${percent(any.share)}) left something out: ${parts.join(', ')}.`;
}

/** @type {import('../main.js').View} */
export const timings = {
  title: 'Timings',
  key: 't',
  asks: (state) => ({ rows: question('timings', state), 'left?': question('left_out', state) }),
  mount: (main, { rows: { rows }, left }, page, state) => tableView(main, page, state, {
    name: 'timings', caption: 'Marks and measures', rows, sort: 'name', search: ['name'],
    empty: 'No page load of these filters has marks or measures. performance.mark() and performance.measure() make them.',
    columns: columnsOf('timings', {
      name: { cell: ({ name, kind }) => h('a', { href: page.link({ view: 'timing', item: name, kind: kind === 'mark' ? kind : null }) }, visible(name, 160)) },
      kind: { cell: ({ kind }) => visible(kind) },
      count: {}, p50_ms: {}, p75_ms: { bar: true }, p95_ms: {}, p99_ms: {}, min_ms: {}, max_ms: {}, mean_ms: {},
      left_out: { title: 'Values that were counted only: a page load had more of the name than its agent sends' },
    }),
    after: h('div', null, h('p', { class: 'note' }, 'Of a mark the time since the page’s start, of a measure its duration. Percentiles are at most 1.6 % off.'),
      leftOut(left.rows) && h('p', null, leftOut(left.rows))),
  }),
};

/** Returns links for hours or days. @param {import('../main.js').Page} page @param {import('../state.js').State} state */
const steps = (page, state) => tabs('Step', [['hours', page.link({ step: null }), state.params.step !== 'day'], ['days', page.link({ step: 'day' }), state.params.step === 'day']]);

/** Asks for a trend and its change point, and by day for the time zone of its days. @param {import('../state.js').State} state @param {string} by @returns {Record<string, import('../api.js').Question>} */
export const trendAsks = (state, by) => ({
  'trend?': question('trend', state, { by, key: state.item, step: state.params.step ?? 'hour' }),
  'change?': question('change_point', state, { by, key: state.item }),
  ...state.params.step === 'day' ? { 'zone?': { name: 'timezone_of', address: `/api/v1/timezone_of?${new URLSearchParams({ site: state.site })}` } } : {},
});

/**
 * Returns the rows of a trend as a table.
 * @param {import('../api.js').Row[]} rows @param {string} label @param {(value: number) => string} [write] where values are not ms
 * @param {string} [days] the zone whose days the steps are; undefined: hours
 */
const trendTable = (rows, label, write, days) => h('details', null, h('summary', null, `Values of the trend (${rows.length})`),
  table({ caption: label, rows, most: 800, columns: [
    { name: 'bucket', label: `From (${days ?? zone})`, cell: ({ bucket }) => stepTime(bucket, days).filter((part) => part !== (days ?? zone)).join(' ') }, ...[['value_ms', write ? 'Value' : 'ms'], ['low_ms', 'At least'], ['high_ms', 'At most']].map(([name, title]) =>
      /** @type {import('../table.js').Column} */ ({ name, label: title, kind: 'number', ...write ? { cell: (row) => (row[name] === null ? '' : write(row[name])) } : {} })),
    { name: 'uploads', label: 'Uploads', kind: 'count' }] }));

/** Says that browsers measure a vital otherwise from a step on; null if they do not. @param {import('../api.js').Row} row @param {string} [days] */
const definitionChange = ({ bucket, definition_change: change }, days) => (change
  ? h('p', { class: 'since' }, `From ${stepTime(bucket, days).join(' ')} on, most values have another definition. ${visible(change, 400)}.`) : null);

/**
 * Returns a trend with its releases and its change point, in words too, and its table.
 * @param {import('../main.js').Page} page @param {import('../state.js').State} state
 * @param {Record<string, import('../api.js').Answer>} answers of trendAsks and releases
 * @param {{ heading: string, label: string, caption?: string, write?: (value: number) => string }} texts write: where values are not ms
 */
export function trendSection(page, state, { trend: { rows }, zone: answer, change, releases }, { heading, label, caption = 'Trend', write }) {
  const [found] = change.rows, days = zoneOf(answer);
  return h('section', null, h('h3', null, heading), steps(page, state), trend(rows, releases.rows, label, write, days, found),
    found ? h('p', { class: 'since' }, sinceWhen(found)) : null, ...rows.map((row) => definitionChange(row, days)), trendTable(rows, caption, write, days));
}

/** @param {import('../state.js').State} state */
const kindOf = ({ params }) => (params.kind === 'mark' ? 'mark' : 'measure');
/** True for timings that are only windows for samples, such as (long frame). @param {import('../state.js').State} state */
const isWindow = ({ item }) => item.startsWith('(');

/** True for an interaction of one type and target. @param {import('../state.js').State} state */
const isInteraction = ({ item }) => /^\(interaction\) ./.test(item);

/** Returns how often visitors did it and how long they waited. @param {import('../api.js').Answer} answer of interactions @param {import('../state.js').State} state */
function waited({ rows }, { item }) {
  const row = rows.find(({ type, target }) => `(interaction) ${type} ${target ?? ''}`.trim() === item);
  return row ? facts([['Interactions', count(row.count)], ['p75', `${number(row.p75_ms)} ms`], ['p98', `${number(row.p98_ms)} ms`], ['Longest', `${number(row.max_ms)} ms`],
    ['Of the wait', `${percent(row.input_delay_share)} input delay, ${percent(row.processing_share)} processing, ${percent(row.presentation_share)} presentation`]]) : null;
}

/** True for those of responses. @param {import('../state.js').State} state */
const isResponse = ({ item }) => /^\(response\)/.test(item);

/** Returns where the time of responses goes; null where none was profiled. @param {import('../api.js').Answer} answer */
const waitsTable = ({ rows }) => (rows.length === 0 ? null : h('section', null, h('h3', null, 'Where the wait goes'),
  h('p', { class: 'note' }, `Of ${count(rows[0].responses)} profiled. A host had a request in flight, which need not be the cause.`),
  table({ caption: 'Waits', rows, most: 100, columns: columnsOf('waits', { kind: {}, name: { cell: ({ name }) => visible(name ?? '', 120) }, ms: { bar: true }, share: {} }) })));

/** @type {import('../main.js').View} */
export const timing = {
  title: 'Timing',
  parent: ({ item }) => (/^\((interaction|response|long frame)/.test(item) ? 'interactions' : 'timings'),
  asks: (state) => {
    const kind = kindOf(state);
    return {
      ...kind === 'mark' ? {} : { rows: question('measure_hotspots', state, { measure_name: state.item, top: 200 }), 'typical?': question('typical_load', state, { measure_name: state.item }) },
      ...isWindow(state) ? {} : {
        ...trendAsks(state, kind),
        'bins?': question('histogram', state, { kind, timing_name: state.item }),
      },
      ...isResponse(state) ? { 'waits?': question('waits', state, { target: state.item.slice('(response) '.length) || '%' }) } : {},
      ...isInteraction(state) ? { 'waited?': question('interactions', state) } : {},
      'releases?': question('releases', state),
    };
  },
  mount(main, { rows, bins, ...answers }, page, state) {
    const name = visible(state.item);
    const before = h('div', null, h('h2', { class: 'name' }, name), answers.waited ? waited(answers.waited, state) : null, rows && bins ? withoutMarker(state, 'values and the trend') : null,
      bins ? valuesChart(bins, name) : null,
      answers.trend?.rows.length > 0 ? trendSection(page, state, answers, { heading: 'Median (95 % interval)', label: `Median of ${name}`, caption: 'Median' }) : null,
      answers.waits ? waitsTable(answers.waits) : null,
      rows ? h('h3', null, 'What ran inside it') : h('p', { class: 'note' }, 'A mark is a point in time: nothing runs inside it.'),
      answers.typical ? typicalLoad(page, answers.typical, 'with it') : null);
    if (!rows) {
      main.append(before);
      return { update() {}, exported: () => ({ name: 'timing', columns: bins?.columns.map((column) => column.name) ?? [], rows: bins?.rows ?? [] }) };
    }
    const others = withoutAgent(rows.rows, ['self_ms_per_load'], ([ms]) => `${ms} ms per page load inside it`);
    return tableView(main, page, state, {
      name: 'timing', caption: 'Functions', rows: others.rows, sort: '-self_ms_per_load', search: ['function', 'resource'], before, columns: hotspotColumns(page),
      empty: 'No profiled page load has samples inside it, in this period and with these filters.',
      after: h('div', null, h('p', { class: 'note' }, 'Shares are of the time inside; means are per page load with profiled time inside.'), others.note),
    });
  },
};
