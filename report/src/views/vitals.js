/** Web vitals, for whom they are poor, and the functions behind poor ones. */
import { question } from '../api.js';
import { duration, number, percent, visible } from '../format.js';
import { h } from '../h.js';
import { trend } from '../chart.js';
import { functionColumn, tableView, tabs, valuesChart, withoutMarker } from '../parts.js';
import { dimensions, literal } from '../state.js';
import { table } from '../table.js';
import { steps, trendTable } from './timings.js';

const empty = 'No page load of these filters sends vitals. They come from pages with the agent’s vitals build.';

/** Until where a value is good, and from where it is poor: the thresholds of web-vitals. @type {Record<string, [number, number]>} */
const thresholds = { LCP: [2500, 4000], INP: [200, 500], CLS: [100, 250], FCP: [1800, 3000], TTFB: [800, 1800] };

/** @param {import('../api.js').Row} row @param {string} name */
const value = (row, name) => (row.name === 'CLS' ? number(row[name] / 1000) : `${number(row[name])} ms`);

/** Returns a bar of good, middling and poor, which says so in words. @param {import('../api.js').Row} row */
const rating = (row) => h('span', {
  class: 'rating', role: 'img', 'aria-label': `${percent(row.good_share)} good, ${percent(row.needs_improvement_share)} need improvement, ${percent(row.poor_share)} poor`,
}, ['good', 'needs_improvement', 'poor'].map((name) => h('span', { class: name, style: { '--part': `${100 * row[`${name}_share`]}%` } })));

/** @returns {import('../table.js').Column[]} */
const columns = () => [
  { name: 'count', label: 'Count', kind: 'count' },
  ...['p50', 'p75', 'p95'].map((name) => /** @type {import('../table.js').Column} */ ({ name, label: name, kind: 'number', cell: (row) => value(row, name) })),
  { name: 'rating', label: 'Good, middling, poor', cell: rating },
  { name: 'good_share', label: 'Good', kind: 'share' }, { name: 'needs_improvement_share', label: 'Needs impr.', kind: 'share' }, { name: 'poor_share', label: 'Poor', kind: 'share' },
];

/** @type {import('../main.js').View} */
export const vitals = {
  title: 'Vitals',
  key: 'v',
  asks: (state) => ({ rows: question('vitals', state) }),
  mount: (main, { rows: { rows } }, page, state) => tableView(main, page, state, {
    name: 'vitals', caption: 'Vitals', rows, empty,
    columns: [{ name: 'name', label: 'Vital', cell: ({ name }) => h('a', { href: page.link({ view: 'vital', item: name }) }, visible(name)) }, ...columns()],
    after: h('p', { class: 'note' }, 'From page loads of all browsers, profiled or not. Percentiles are at most 1.6 % off; a vital is rated by the thresholds of web-vitals.'),
  }),
};

/** @type {import('../main.js').View} */
export const vital = {
  title: 'Vital',
  parent: 'vitals',
  asks: (state) => ({
    rows: question('vital_hotspots', state, { vital: state.item, top: 200 }),
    by: question('vitals_by', state, { dimension: state.params.by ?? 'route' }),
    'bins?': question('histogram', state, { kind: 'vital', timing_name: state.item }),
    'trend?': question('trend', state, { by: 'vital', key: state.item, step: state.params.step ?? 'hour' }),
    'releases?': question('releases', state),
  }),
  mount(main, { rows, by: { rows: all }, bins, trend: { rows: points }, releases }, page, state) {
    const name = visible(state.item, 80);
    const score = state.item === 'CLS' ? (/** @type {number} */ value) => number(value / 1000) : undefined;
    const [good, poor] = thresholds[state.item] ?? [];
    const dimension = state.params.by ?? 'route';
    const values = all.filter(({ name }) => name === state.item);
    const before = h('div', null, h('h2', { class: 'name' }, name), withoutMarker(state, 'values, the trend and for whom'),
      valuesChart(bins, name, score ?? duration, good ? [[good, 'good until here'], [poor, 'poor from here']] : []),
      points.length > 0 ? h('section', null, h('h3', null, `75th percentile${score ? '' : ', ms'}, and where it lies with a probability of 95 %`), steps(page, state),
        trend(points, releases.rows, `75th percentile of ${name}`, score), trendTable(points, 'Trend', score)) : null,
      h('section', null, h('h3', null, 'For whom'), tabs('By', dimensions.map((name) => [name, page.link({ by: name }), name === dimension])),
        values.length === 0 ? h('p', { class: 'empty' }, empty) : table({ caption: `${visible(state.item, 80)} by ${dimension}`, rows: values, onsort: () => {}, most: 100, columns: [
          { name: 'value', label: dimension, cell: (row) => h('a', { href: page.link({ [dimension]: literal(row.value) }) }, row.value === '' ? '(none)' : visible(row.value, 120)) }, ...columns()] })),
      h('h3', null, 'What ran where it was poor, and what the same function cost where it was good'));
    return tableView(main, page, state, {
      name: `vital-${state.item}`, caption: 'Functions', rows: rows.rows, sort: '-self_ms_per_load', search: ['function', 'resource'], before,
      empty: 'No profiled page load with a poor one has samples there, in this period and with these filters.',
      columns: [functionColumn(page),
        { name: 'self_ms_per_load', label: 'Poor: self ms', kind: 'number', bar: true, title: 'Self time per upload with samples in a poor window' },
        { name: 'good_self_ms_per_load', label: 'Good: self ms', kind: 'number', title: 'Self time per upload with samples in a good window' },
        { name: 'total_ms_per_load', label: 'Poor: total ms', kind: 'number' },
        { name: 'samples', label: 'Samples', kind: 'count' }, { name: 'uploads', label: 'Uploads', kind: 'count' }, { name: 'good_uploads', label: 'Uploads, good', kind: 'count' }],
    });
  },
};
