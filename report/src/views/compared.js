// SPDX-License-Identifier: Apache-2.0
/** The tables of a comparison beside that of functions: timings, vitals, groups, and the parts of the difference. */
import { question } from '../api.js';
import { block } from '../block.js';
import { interval, mostCompared, verdictBadge } from '../changes.js';
import { columnsOf } from '../columns.js';
import { change, count, number, signed, visible } from '../format.js';
import { h } from '../h.js';
import { literal, ofLoads } from '../state.js';
import { groupCell } from '../parts.js';
import { table } from '../table.js';
import { value, valueText } from './vitals.js';

/** @typedef {import('../api.js').Row} Row */

/** Properties of scripts that compare_costs groups by. */
const ofCode = ['package', 'owner', 'party', 'entity', 'host', 'resource', 'source'];
/** The lists that are blocks of their own, in their order. */
export const ownBlocks = ['vitals', 'timings'];
const special = [...ownBlocks, 'parts'];

/** Returns the names of the tables. @param {string[]} apart dimensions in which the sides differ */
export const listNames = (apart) => ['parts', ...ofCode, ...ofLoads.filter((name) => !apart.includes(name))];

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
/** The time that a page load takes more, in a row of withMore. @type {import('../table.js').Column} */
export const moreMs = { name: 'more_ms', label: 'More ms/load', kind: 'number', cell: ({ more_ms: ms }) => signed(ms), title: 'Per page load, as observed: another mix of pages and devices changes it' };
/** Returns rows with what a page load takes more. @param {Row[]} rows */
export const withMore = (rows) => rows.map((row) => ({ ...row, more_ms: row.before_self_ms === null || row.after_self_ms === null ? null : row.after_self_ms - row.before_self_ms }));
/** @type {Partial<import('../table.js').Column>} */
export const couldHaveSeen = { label: 'Detectable change', kind: 'number', cell: (row) => (row.verdict === 'no change seen' ? change(row.smallest_visible) : ''), title: 'The least slowdown that would have been found in nine of ten cases' };
/** @param {Row[]} rows */
const ofPercentile = (rows) => ({
  change: { label: 'Change, 95 % between', kind: /** @type {const} */ ('number'), cell: (/** @type {Row} */ row) => interval(row.change, row.change_low, row.change_high), title: 'For the same mix of visitors on both sides' },
  smallest_visible: couldHaveSeen, before_count: {}, after_count: {},
  ...rows.every(({ common_change: common }) => common === null) ? {} : {
    own_low: { label: 'Own change', cell: (/** @type {Row} */ row) => `${change(row.own_low)} … ${change(row.own_high)}`, title: 'From none to all of what functions changed by in common' },
    common_change: { label: 'Common change', cell: (/** @type {Row} */ row) => change(row.common_change), title: 'What functions changed by in common, such as slower machines' } },
});

/** Returns a cell of the later value, and what it has more. @param {string} unit @param {(row: Row, value: number) => string} write */
const afterCell = (unit, write) => (/** @type {Row} */ row) => {
  const [before, after] = [row[`before_${unit}`], row[`after_${unit}`]];
  return after === null ? '' : h('span', null, write(row, after), before === null ? null : h('span', { class: 'between' }, ` ${signed(after - before, (more) => write(row, more ?? 0))}`));
};

/** How many rows a block shows, of those found first. */
const mostInBlock = 8;
const titles = /** @type {Record<string, string>} */ ({ vitals: 'Visitors', timings: 'Timings' });

/** Returns what was found, in a sentence. @param {string} by @param {Row[]} rows @param {Row[]} found */
function finding(by, rows, found) {
  const thing = by === 'vitals' ? 'vital' : 'mark or measure';
  if (found.length === 0) return rows.every(({ verdict }) => verdict !== 'no change seen') ? `No ${thing} can be judged yet.` : `No ${thing} was found slower or faster.`;
  return `${found.slice(0, 3).map((row) => `${visible(row.name, 60)} p${row.percentile} is ${row.verdict}: ${
    by === 'vitals' ? `${value(row, 'before_value')} → ${value(row, 'after_value')}` : `${number(row.before_ms)} → ${number(row.after_ms)} ms`}, ${change(row.change)}`).join('; ')}${
    found.length > 3 ? `; and ${count(found.length - 3)} more` : ''}.`;
}

/**
 * Returns the block of vitals or of timings.
 * @param {import('../main.js').Page} page @param {import('../state.js').State} state @param {string} by @param {import('../api.js').Question} asked
 * @param {(answers: Record<string, import('../api.js').Answer>) => void} heard
 */
export const blockOf = (page, state, by, asked, heard) => block(page, state, by, titles[by], { [by]: asked }, (box, { [by]: { rows } }) => {
  const { columns, caption, empty } = listOf(by, rows, page);
  if (rows.length === 0) {
    box.append(h('p', { class: 'note' }, empty));
    return null;
  }
  const found = rows.filter(({ verdict }) => ['slower', 'faster'].includes(verdict));
  const shown = [...found, ...rows.filter((row) => !found.includes(row))];
  /** @type {string | undefined} */
  let sort;
  const place = h('div', null);
  const draw = () => place.replaceChildren(table({ columns, caption, rows: shown, most: mostInBlock, all: 0, within: `${by}-`, ...sort ? { sort } : {}, onsort: (next) => {
    sort = next;
    const { id } = document.activeElement ?? {};
    draw();
    if (id) document.getElementById(id)?.focus();
  } }));
  draw();
  box.append(h('p', { class: 'verdict' }, finding(by, rows, found)), place,
    rows.length > mostInBlock ? h('a', { href: page.link({ by, sort: null, q: null, sel: null, root: null }) }, `All ${count(rows.length)} of ${caption.toLowerCase()}`) : '');
  return null;
}, heard);

/**
 * Returns what tableView shows.
 * @param {string} by @param {Row[]} rows @param {import('../main.js').Page} page
 * @returns {Parameters<typeof import('../parts.js').tableView>[3]}
 */
export function listOf(by, rows, page) {
  const name = `compare-${by}`;
  if (by === 'timings') {
    return { name, caption: 'Timings', rows, search: ['name', 'verdict'], empty: 'Neither side has marks or measures.', columns: columnsOf('compare_timings', {
      verdict, name: { cell: (row) => h('a', { href: page.link({ view: 'timing', item: row.name }) }, visible(row.name, 120)) }, kind: {}, percentile: { label: '%', title: 'Percentile' }, before_ms: {}, after_ms: { cell: afterCell('ms', (/** @type {Row} */ _, ms) => number(ms)) }, ...ofPercentile(rows) }) };
  }
  if (by === 'vitals') {
    return { name, caption: 'Vitals', rows, empty: 'Neither side has vitals: they come from pages with the agent’s vitals build.', columns: columnsOf('compare_vitals', {
      verdict, name: { cell: (row) => h('a', { href: page.link({ view: 'vital', item: row.name }) }, visible(row.name)) }, percentile: { label: '%', title: 'Percentile' },
      before_value: { cell: (row) => value(row, 'before_value') }, after_value: { cell: afterCell('value', (/** @type {Row} */ row, known) => valueText(row.name, known)) }, ...ofPercentile(rows) }) };
  }
  if (by === 'parts') {
    return { name, caption: 'Parts of the difference', rows, empty: 'Neither side has attributed time.',
      columns: columnsOf('change_parts', { part: {}, ms: { label: 'ms per page load', kind: 'number' }, share: { label: 'Of the earlier side', kind: 'number', cell: (row) => change(row.share) } }),
      after: h('p', { class: 'note' }, 'The parts add up to (all). (code): what page loads that are alike in all dimensions differ by; a dimension: what its other mix makes.') };
  }
  return { name, caption: `By ${by}`, rows: withMore(rows), exported: Object.keys(rows[0] ?? {}), search: ['name', 'verdict'], empty: 'The sides have no such group in common.', columns: [...columnsOf('compare_costs', {
    verdict, name: { label: by, cell: ({ name: group }) => (ofLoads.includes(by) ? h('a', { href: page.link({ [by]: literal(group), by: null }) }, group === '' ? '(none)' : visible(group, 160)) : groupCell(page, by, group)) },
    before_self_ms: {}, after_self_ms: {} }), moreMs, ...columnsOf('compare_costs', { own_change: ownChange, smallest_visible: couldHaveSeen, before_uploads: {}, after_uploads: {} })] };
}
