// SPDX-License-Identifier: Apache-2.0
/** Web vitals, for whom they are poor, and the functions behind poor ones. */
import { question } from '../api.js';
import { verdictBadge } from '../changes.js';
import { columnsOf } from '../columns.js';
import { duration, number, percent, visible } from '../format.js';
import { h } from '../h.js';
import { functionColumn, noVitals, tableView, tabs, typicalLoad, valuesChart, withoutAgent, withoutMarker } from '../parts.js';
import { dimensions, literal, ofVitals } from '../state.js';
import { table } from '../table.js';
import { rows as vitalRows } from '../vital_rows.js';
import { trendAsks, trendSection } from './timings.js';

const empty = noVitals('vitals');

/** The limit up to which a value is good, and the limit from which it is poor. @type {Record<string, [number, number]>} */
export const thresholds = Object.fromEntries(vitalRows.map(({ name, good, poor }) => [name, [good, poor]]));

/** True if the vital's values are scores, times 1,000. @param {string} name */
const isScore = (name) => vitalRows.find((vital) => vital.name === name)?.unit === 'score x 1000';

/** Returns a vital's value with its unit. @param {string} name @param {number} at */
export const valueText = (name, at) => (isScore(name) ? number(at / 1000) : `${number(at)} ms`);

/** Returns a value of a row with its unit. @param {import('../api.js').Row} row @param {string} name */
export const value = (row, name) => (row[name] === null ? '' : valueText(row.name, row[name]));

/** Returns the rating of a vital's value. @param {string} name @param {number} at */
export function ratingOf(name, at) {
  const [good, poor] = thresholds[name] ?? [Infinity, Infinity];
  return at <= good ? 'good' : at <= poor ? 'needs improvement' : 'poor';
}

/** Returns the 75th percentile, its interval and its rating. @param {import('../api.js').Row} row */
function p75(row) {
  if (row.p75 === null) return '';
  const rating = ratingOf(row.name, row.p75), [good, poor] = thresholds[row.name] ?? [];
  return [h('strong', null, value(row, 'p75')), h('span', { class: 'between' }, ` ${value(row, 'p75_low')} … ${row.p75_high === null ? '?' : value(row, 'p75_high')}`),
    good ? h('div', { class: `rated ${rating.replace(' ', '-')}`, title: `Good to ${valueText(row.name, good)}, poor above ${valueText(row.name, poor)}` },
      rating === 'good' ? rating : `${rating}, ${valueText(row.name, row.p75 - good)} over`) : null];
}

/** Returns a bar of good, middling and poor, which says so in words. @param {import('../api.js').Row} row */
export const ratingBar = (row) => h('span', {
  class: 'rating', role: 'img', 'aria-label': `${percent(row.good_share)} good, ${percent(row.needs_improvement_share)} need improvement, ${percent(row.poor_share)} poor`,
}, ['good', 'needs_improvement', 'poor'].map((name) => h('span', { class: name, style: { '--part': `${100 * row[`${name}_share`]}%` } })));

/** @returns {import('../table.js').Column[]} */
const columns = () => [
  ...columnsOf('vitals', { p75: { label: 'p75, 95 % between', cell: p75, title: 'If page loads are independent of each other' } }),
  { name: 'rating', label: 'Rating', cell: ratingBar },
  ...columnsOf('vitals', { good_share: {}, needs_improvement_share: {}, poor_share: {}, p50: { cell: (row) => value(row, 'p50') }, p95: { cell: (row) => value(row, 'p95') }, count: {}, flagged: { title: 'INPs of 60 s and more; not in the other columns' } }),
];

/** Returns the table of the server's share of TTFB; null where no server says it. @param {import('../api.js').Answer} answer */
const ttfbTable = ({ rows }) => (rows.length === 0 ? null : h('section', null,
  h('h3', null, 'Time to first byte: the server’s share'),
  table({ caption: 'Time to first byte: the server’s share', rows, most: 20,
    columns: columnsOf('ttfb_parts', { cache: { label: 'The server’s cache', cell: ({ cache }) => (cache === null ? '(none)' : visible(cache, 60)) },
      count: {}, p75_ms: {}, mean_ms: { bar: true }, server_ms: {}, network_ms: { title: 'The rest: server and network make the mean' }, server_share: {} }) })));

/** Returns an amount of a budget, in its unit. @param {'value' | 'limit_value'} name @returns {Partial<import('../table.js').Column>} */
const budgeted = (name) => ({ cell: ({ unit, [name]: amount }) => (amount === null ? '' : unit === 'ms' ? `${number(amount)} ms` : number(amount / 1000)) });

/** Returns the table of performance budgets; null without any. @param {import('../api.js').Answer} answer @param {import('../main.js').Page} page */
const budgetTable = ({ rows }, page) => (rows.length === 0 ? null : h('section', null, h('h3', null, 'Budgets'), table({ caption: 'Budgets', rows, columns: columnsOf('budgets', {
  name: { cell: ({ name }) => h('a', { href: page.link(thresholds[name.split(' ')[0]] ? { view: 'vital', item: name.split(' ')[0] } : { view: 'flame' }) }, visible(name, 160)) },
  value: budgeted('value'), limit_value: budgeted('limit_value'), verdict: { cell: ({ verdict }) => h('span', { class: verdict === 'over' ? 'wrong' : null }, verdict) }, count: {} }) })));

/** @type {import('../main.js').View} */
export const vitals = {
  title: 'Vitals',
  key: 'v',
  asks: (state) => ({ rows: question('vitals', state), 'ttfb?': question('ttfb_parts', state), 'budgets?': question('budgets', state) }),
  mount: (main, { rows: { rows }, ttfb, budgets }, page, state) => tableView(main, page, state, {
    name: 'vitals', caption: 'Vitals', rows, empty,
    columns: [...columnsOf('vitals', { name: { cell: ({ name }) => h('a', { href: page.link({ view: 'vital', item: name }) }, visible(name)) } }), ...columns()],
    after: h('div', null, h('p', { class: 'note' }, 'From page loads of all browsers, profiled or not. Percentiles are at most 1.6 % off. The filter navigation shows soft navigations.'), budgetTable(budgets, page), ttfbTable(ttfb)),
  }),
};

/** Returns what poor page loads take more, and between which times that lies. @param {import('../api.js').Row} row */
const between = (row) => (row.difference_ms === null ? '' : `${number(row.difference_ms)} (${number(row.difference_low)} to ${number(row.difference_high)})`);

/** Returns what values of a vital consist of. @param {import('../api.js').Answer} parts @param {string} name */
const madeOf = (parts, name) => {
  const rows = parts.rows.filter((row) => row.name === name);
  return rows.length === 0 ? null : h('section', null, h('h3', null, 'What it consists of'), table({
    caption: 'Parts', rows, columns: columnsOf('vital_parts', { part: {}, mean_ms: { bar: true }, share: {}, count: {} }) }));
};

/** Returns the elements that values are of. @param {import('../api.js').Answer} elements @param {(value: number) => string} write */
const elementsOf = (elements, write) => (elements.rows.length === 0 ? null : h('section', null, h('h3', null, 'Which element'), table({
  caption: 'Elements', rows: elements.rows, most: 20,
  columns: columnsOf('vital_elements', { element: { cell: ({ element }) => visible(element ?? '', 120) }, url: { cell: ({ url }) => visible(url ?? '', 120) }, count: {}, share: {}, p75: { cell: ({ p75 }) => write(p75) } }) })));

/** @type {import('../main.js').View} */
export const vital = {
  title: 'Vital',
  parent: () => 'vitals',
  asks: (state) => ({
    rows: question('vital_hotspots', state, { vital: state.item, top: 200 }),
    by: question('vitals_by', state, { dimension: state.params.by ?? 'route' }),
    'parts?': question('vital_parts', state),
    'elements?': question('vital_elements', state, { vital: state.item }),
    'bins?': question('histogram', state, { kind: 'vital', timing_name: state.item }),
    'typical?': question('typical_load', state, { measure_name: `(${state.item}) poor` }),
    ...trendAsks(state, 'vital'),
    'releases?': question('releases', state),
  }),
  mount(main, { rows, by: { rows: all }, bins, ...answers }, page, state) {
    const name = visible(state.item, 80);
    const score = isScore(state.item) ? (/** @type {number} */ value) => number(value / 1000) : undefined;
    const [good, poor] = thresholds[state.item] ?? [];
    const dimension = state.params.by ?? 'route';
    const values = all.filter(({ name }) => name === state.item);
    const before = h('div', null, h('h2', { class: 'name' }, name), withoutMarker(state, 'values, the trend and the breakdown'),
      valuesChart(bins, name, score ?? duration, good ? [[good, 'good until here'], [poor, 'poor from here']] : []),
      answers.trend.rows.length > 0 ? trendSection(page, state, answers, {
        heading: `75th percentile${score ? '' : ', ms'} (95 % interval)`, label: `75th percentile of ${name}`, ...score ? { write: score } : {} }) : null,
      h('section', null, h('h3', null, 'Breakdown'), tabs('By', [...dimensions, ...ofVitals].map((name) => [name, page.link({ by: name }), name === dimension, question('vitals_by', state, { dimension: name })])),
        values.length === 0 ? h('p', { class: 'empty' }, empty) : table({ caption: `${visible(state.item, 80)} by ${dimension}`, rows: values, most: 100, columns: [
          { name: 'value', label: dimension, cell: (row) => h('a', { href: page.link({ [dimension]: literal(row.value) }) }, row.value === '' ? '(none)' : visible(row.value, 120)) }, ...columns()] })),
      madeOf(answers.parts, state.item), elementsOf(answers.elements, score ?? duration),
      h('h3', null, 'What ran where it was poor, and what the same function cost where it was good'), typicalLoad(page, answers.typical, 'where it was poor'));
    const others = withoutAgent(rows.rows, ['self_ms_per_load', 'good_self_ms_per_load'],
      ([poor, good]) => `${poor} ms per page load where it was poor, and ${good} ms where it was good`);
    return tableView(main, page, state, {
      name: `vital-${state.item}`, caption: 'Functions', rows: others.rows, after: others.note, sort: '-self_ms_per_load', search: ['function', 'resource'], before,
      empty: 'No profiled page load with a poor one has samples there, in this period and with these filters.',
      columns: [functionColumn(page),
        { name: 'self_ms_per_load', label: 'Poor: self ms', kind: 'number', bar: true, title: 'Self time per page load with profiled time in a poor window' },
        { name: 'good_self_ms_per_load', label: 'Good: self ms', kind: 'number', title: 'Self time per page load with profiled time in a good window' },
        { name: 'difference_ms', label: 'More ms, 95 % between', kind: 'number', cell: between, title: 'What poor page loads take beyond good ones of the same route, device, browser and hours' },
        { name: 'verdict', label: 'Verdict', cell: ({ verdict }) => verdictBadge(verdict) },
        { name: 'total_ms_per_load', label: 'Poor: total ms', kind: 'number' },
        { name: 'samples', label: 'Samples', kind: 'count' }, { name: 'uploads', label: 'Uploads', kind: 'count' }, { name: 'good_uploads', label: 'Uploads, good', kind: 'count' }],
    });
  },
};
