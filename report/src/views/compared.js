// SPDX-License-Identifier: Apache-2.0
/** The tables of a comparison beside that of functions: timings, vitals, groups, and the parts of the difference. */
import { question } from '../api.js';
import { interval, mostCompared, verdictBadge } from '../changes.js';
import { columnsOf } from '../columns.js';
import { change, visible } from '../format.js';
import { h } from '../h.js';
import { literal, ofLoads } from '../state.js';
import { value } from './vitals.js';

/** @typedef {import('../api.js').Row} Row */

/** Properties of scripts that compare_costs groups by. */
const ofCode = ['package', 'party', 'entity', 'host', 'resource', 'source'];
const special = ['timings', 'vitals', 'parts'];

/** Returns the names of the tables. @param {string[]} apart dimensions in which the sides differ */
export const listNames = (apart) => [...special, ...ofCode, ...ofLoads.filter((name) => !apart.includes(name))];

/**
 * Returns what the table of this state asks.
 * @param {import('../state.js').State} state @param {Record<string, string | undefined>} sides
 */
export function listQuestion(state, sides) {
  const { by } = state.params;
  if (by === 'parts') return question('change_parts', state, sides);
  return special.includes(by) ? question(`compare_${by}`, state, sides) : question('compare_costs', state, { ...sides, by, top: mostCompared });
}

const verdict = { cell: (/** @type {Row} */ row) => verdictBadge(row.verdict) };
/** @type {Partial<import('../table.js').Column>} */
export const ownChange = {
  label: 'Own change, 95 % between', kind: 'number', cell: (row) => interval(row.own_change, row.own_low, row.own_high),
  title: 'Of self time, for the same mix of visitors on both sides, without what all functions changed by',
};
/** @type {Partial<import('../table.js').Column>} */
export const couldHaveSeen = { label: 'Could have seen', kind: 'number', cell: (row) => (row.verdict === 'no change seen' ? change(row.smallest_visible) : ''), title: 'The least slowdown that would have been found in nine of ten cases' };
/** @param {Row[]} rows */
const ofPercentile = (rows) => ({
  change: { label: 'Change, 95 % between', kind: /** @type {const} */ ('number'), cell: (/** @type {Row} */ row) => interval(row.change, row.change_low, row.change_high), title: 'For the same mix of visitors on both sides' },
  smallest_visible: couldHaveSeen, before_count: {}, after_count: {},
  ...rows.every(({ common_change: common }) => common === null) ? {} : { own_low: {
    label: 'Without machines', cell: (/** @type {Row} */ row) => `${change(row.own_low)} … ${change(row.own_high)}`, title: 'From none to all of what functions changed by in common' } },
});

/**
 * Returns what tableView shows.
 * @param {string} by @param {Row[]} rows @param {import('../main.js').Page} page
 * @returns {Parameters<typeof import('../parts.js').tableView>[3]}
 */
export function listOf(by, rows, page) {
  const name = `compare-${by}`;
  if (by === 'timings') {
    return { name, caption: 'Timings', rows, search: ['name', 'verdict'], empty: 'Neither side has marks or measures.', columns: columnsOf('compare_timings', {
      verdict, name: { cell: (row) => h('a', { href: page.link({ view: 'timing', item: row.name }) }, visible(row.name, 120)) }, kind: {}, percentile: { label: '%', title: 'Percentile' }, before_ms: {}, after_ms: {}, ...ofPercentile(rows) }) };
  }
  if (by === 'vitals') {
    return { name, caption: 'Vitals', rows, empty: 'Neither side has vitals: they come from pages with the agent’s vitals build.', columns: columnsOf('compare_vitals', {
      verdict, name: { cell: (row) => h('a', { href: page.link({ view: 'vital', item: row.name }) }, visible(row.name)) }, percentile: { label: '%', title: 'Percentile' },
      before_value: { cell: (row) => value(row, 'before_value') }, after_value: { cell: (row) => value(row, 'after_value') }, ...ofPercentile(rows) }) };
  }
  if (by === 'parts') {
    return { name, caption: 'Parts of the difference', rows, empty: 'Neither side has attributed time.',
      columns: columnsOf('change_parts', { part: {}, ms: { label: 'ms per page load', kind: 'number' }, share: { label: 'Of the earlier side', kind: 'number', cell: (row) => change(row.share) } }),
      after: h('p', { class: 'note' }, 'The parts add up to (all). (code): what page loads that are alike in all dimensions differ by; a dimension: what its other mix makes.') };
  }
  const label = (/** @type {Row} */ row) => (row.name === '' ? '(none)' : visible(row.name, 160));
  return { name, caption: `By ${by}`, rows, search: ['name', 'verdict'], empty: 'The sides have no such group in common.', columns: columnsOf('compare_costs', {
    verdict, name: { label: by, cell: (row) => (ofLoads.includes(by) ? h('a', { href: page.link({ [by]: literal(row.name), by: null }) }, label(row)) : h('span', null, label(row))) },
    before_self_ms: {}, after_self_ms: {},
    own_change: ownChange, smallest_visible: couldHaveSeen, before_uploads: {}, after_uploads: {} }) };
}
