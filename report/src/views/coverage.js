// SPDX-License-Identifier: Apache-2.0
/** How many page loads are profiled, and why not all. */
import { question } from '../api.js';
import { interval, verdictBadge } from '../changes.js';
import { columnsOf, labelled } from '../columns.js';
import { count, number, percent, visible } from '../format.js';
import { h } from '../h.js';
import { tableView } from '../parts.js';
import { columns, meanings } from '../question_rows.js';
import { table } from '../table.js';
import { valueText } from './vitals.js';

/** Columns of the one row that add up to its page loads. */
const reasons = /** @type {const} */ (['profiled', 'no_policy', 'unsupported', 'quota', 'disabled', 'not_sampled']);

/** Returns a list of page loads that hung or crashed, as browsers report. @param {import('../api.js').Row[]} rows of hangs */
function hangList(rows) {
  const all = rows.reduce((sum, row) => sum + row.count, 0);
  const { loads } = rows[0];
  return h('div', { 'data-hangs': '' },
    h('p', null, `Browsers report ${count(all)} documents that hung or crashed${loads ? `, ${number(1e5 * all / loads)} per 100,000 page loads that can send such reports` : ''}:`),
    h('ul', null, ...rows.slice(0, 10).map((row) => h('li', null, `${count(row.count)} ${row.reason}${
      row.function === null ? '' : ` in ${visible(row.function, 160)} (${visible(row.resource ?? 'no script', 160)}${row.line === null ? '' : `:${row.line}`})${row.callers === null ? '' : `, called by ${visible(row.callers, 160)}`}`}`))),
    rows.length > 10 ? h('p', { class: 'note' }, `These are the 10 most frequent of ${count(rows.length)}. The command fleetprof hangs lists all.`) : null);
}

/** Returns what profiling costs visitors. @param {import('../api.js').Row[]} rows of profiling_cost */
const costTable = (rows) => h('section', null, h('h3', null, 'What profiling costs visitors'), table({
  caption: 'What profiling costs visitors', rows,
  columns: columnsOf('profiling_cost', {
    name: { cell: ({ name, percentile }) => `${name}, ${percentile === null ? 'mean' : `p${percentile}`}` },
    other_value: { cell: ({ name, other_value: at }) => valueText(name, at) }, drawn_value: { cell: ({ name, drawn_value: at }) => valueText(name, at) },
    change: { label: 'Change, 95 % between', cell: (row) => interval(row.change, row.change_low, row.change_high) },
    verdict: { cell: ({ verdict }) => verdictBadge(verdict) }, other_count: {}, drawn_count: {}, loads_for_1_percent: {} }) }),
h('p', { class: 'note' }, 'Page loads that the server drew, beside others, with or without profiles. With key= intervals are too narrow.'));

/** @type {import('../main.js').View} */
export const coverage = {
  title: 'Coverage',
  key: 'o',
  asks: (state) => ({ coverage: question('coverage', state), 'refusals?': question('refusals', state), 'hangs?': question('hangs', state), 'violations?': question('violations', state), 'cost?': question('profiling_cost', state) }),
  mount(main, { coverage: { rows: [all] }, refusals, hangs, violations, cost }, page, state) {
    const rows = all ? reasons.map((name) => ({ reason: `${labelled(name, columns.coverage[name]).label}: ${meanings.coverage[name]}`, loads: all[name], share: all[name] === null ? null : all[name] / all.loads })) : [];
    const sampled = all && all.sampled !== null
      ? `A signed token proves that the server sampled ${count(all.sampled)} page loads; of ${count(all.delivered)} a trace came (${percent(all.delivered / all.sampled)}). They stand for about ${count(all.estimated_loads)} page loads in all.`
      : 'No token proves how many page loads the server sampled, so what all of them cost cannot be estimated.';
    const seen = typeof all?.seen_share === 'number'
      ? `Of the time that profiles watched, the browser looked in ${percent(all.seen_share)}; what ran in the rest is unseen.` : null;
    const overloaded = typeof all?.overload === 'number'
      ? `Of the profiles ${count(all.overload)} end early, because profiling cost a busy device too much.` : null;
    const refused = refusals.rows.reduce((sum, { records }) => sum + records, 0);
    return tableView(main, page, state, {
      name: 'coverage', caption: 'Page loads', rows, empty: 'No upload matches these filters. The command fleetprof doctor finds out why profiles are missing.',
      columns: [
        { name: 'reason', label: 'Page loads that say whether they were profiled' }, ...columnsOf('coverage', { loads: {} }),
        { name: 'share', label: 'Share', kind: 'share', bar: true },
      ],
      after: all ? h('div', null, h('p', null, sampled), seen && h('p', null, seen), overloaded && h('p', null, overloaded), refused > 0 ? h('p', null, `${count(refused)} records of accepted uploads were refused: ${
        refusals.rows.slice(0, 5).map(({ format, reason, records }) => `${count(records)} ${format} ${reason}`).join(', ')}.`) : null,
      hangs.rows.length > 0 ? hangList(hangs.rows) : null,
      violations.rows.length > 0 ? h('p', { 'data-violations': '' }, `Browsers report documents that broke their policy: ${
        violations.rows.slice(0, 5).map(({ policy, count: reports }) => `${count(reports)} ${visible(policy, 160)}`).join(', ')}.`) : null,
      cost.rows.length > 0 ? costTable(cost.rows) : null,
      h('p', { class: 'note' }, 'A page load that sends nothing is not counted. The command fleetprof doctor finds out why profiles are missing.')) : null,
    });
  },
};
