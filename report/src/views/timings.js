/** Marks and measures: percentiles, and of one its values, its trend and what ran inside it. */
import { question } from '../api.js';
import { trend } from '../chart.js';
import { time, visible } from '../format.js';
import { h } from '../h.js';
import { tableView, tabs, valuesChart, withoutMarker } from '../parts.js';
import { table } from '../table.js';
import { hotspotColumns } from './functions.js';

/** @type {import('../main.js').View} */
export const timings = {
  title: 'Timings',
  key: 't',
  asks: (state) => ({ rows: question('timings', state) }),
  mount: (main, { rows: { rows } }, page, state) => tableView(main, page, state, {
    name: 'timings', caption: 'Marks and measures', rows, sort: 'name', search: ['name'],
    empty: 'No page load of these filters has marks or measures. performance.mark() and performance.measure() make them.',
    columns: [
      { name: 'name', label: 'Name', cell: ({ name, kind }) => h('a', { href: page.link({ view: 'timing', item: name, kind: kind === 'mark' ? kind : null }) }, visible(name, 160)) },
      { name: 'kind', label: 'Kind', cell: ({ kind }) => visible(kind) },
      { name: 'count', label: 'Count', kind: 'count' },
      ...['p50_ms', 'p75_ms', 'p95_ms', 'p99_ms', 'min_ms', 'max_ms', 'mean_ms'].map((name) => (
        /** @type {import('../table.js').Column} */ ({ name, label: name.replace('_ms', ' ms'), kind: 'number', bar: name === 'p75_ms' }))),
    ],
    after: h('p', { class: 'note' }, 'Of a mark the time since the page’s start, of a measure its duration. Percentiles are at most 1.6 % off.'),
  }),
};

/** Returns links for hours or days. @param {import('../main.js').Page} page @param {import('../state.js').State} state */
export const steps = (page, state) => tabs('Step', [['hours', page.link({ step: null }), state.params.step !== 'day'], ['days', page.link({ step: 'day' }), state.params.step === 'day']]);

/**
 * Returns the rows of a trend as a table.
 * @param {import('../api.js').Row[]} rows @param {string} label @param {(value: number) => string} [write] where values are not ms
 */
export const trendTable = (rows, label, write) => h('details', null, h('summary', null, `Values of the trend (${rows.length})`),
  table({ caption: label, rows, onsort: () => {}, most: 800, columns: [
    { name: 'bucket', label: 'From (UTC)', cell: ({ bucket }) => time(bucket) }, ...[['value_ms', write ? 'Value' : 'ms'], ['low_ms', 'At least'], ['high_ms', 'At most']].map(([name, title]) =>
      /** @type {import('../table.js').Column} */ ({ name, label: title, kind: 'number', ...write ? { cell: (row) => (row[name] === null ? '' : write(row[name])) } : {} })),
    { name: 'uploads', label: 'Uploads', kind: 'count' }] }));

/** @param {import('../state.js').State} state */
const kindOf = ({ params }) => (params.kind === 'mark' ? 'mark' : 'measure');
/** True for what only is a time in which samples are looked at, such as (long frame). @param {import('../state.js').State} state */
const isWindow = ({ item }) => item.startsWith('(');

/** @type {import('../main.js').View} */
export const timing = {
  title: 'Timing',
  parent: 'timings',
  asks: (state) => {
    const kind = kindOf(state);
    return {
      ...kind === 'mark' ? {} : { rows: question('measure_hotspots', state, { measure_name: state.item, top: 200 }) },
      ...isWindow(state) ? {} : {
        'trend?': question('trend', state, { by: kind, key: state.item, step: state.params.step ?? 'hour' }),
        'bins?': question('histogram', state, { kind, timing_name: state.item }),
      },
      'releases?': question('releases', state),
    };
  },
  mount(main, { rows, trend: { rows: values } = { rows: [] }, bins, releases }, page, state) {
    const name = visible(state.item);
    const before = h('div', null, h('h2', { class: 'name' }, name), rows && bins ? withoutMarker(state, 'values and the trend') : null,
      bins ? valuesChart(bins, name) : null,
      values.length > 0 ? h('section', null, h('h3', null, 'Median, and where it lies with a probability of 95 %'), steps(page, state), trend(values, releases.rows, `Median of ${name}`), trendTable(values, 'Median')) : null,
      rows ? h('h3', null, 'What ran inside it') : h('p', { class: 'note' }, 'A mark is a point in time: nothing runs inside it.'));
    if (!rows) {
      main.append(before);
      return { update() {}, exported: () => ({ name: 'timing', columns: bins?.columns.map((column) => column.name) ?? [], rows: bins?.rows ?? [] }) };
    }
    return tableView(main, page, state, {
      name: 'timing', caption: 'Functions', rows: rows.rows, sort: '-self_ms_per_load', search: ['function', 'resource'], before, columns: hotspotColumns(page),
      empty: 'No profiled page load has samples inside it, in this period and with these filters.',
      after: h('p', { class: 'note' }, 'Shares are of the time inside; each upload with samples inside counts as a page load.'),
    });
  },
};
