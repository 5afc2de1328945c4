// SPDX-License-Identifier: Apache-2.0
/** The functions by cost, as a table. */
import { question } from '../api.js';
import { columnsOf } from '../columns.js';
import { changeColumn } from '../changes.js';
import { count } from '../format.js';
import { h } from '../h.js';
import { functionColumn, nothing, tableView } from '../parts.js';
import { sparkColumn } from '../spark.js';
import { ofScripts } from '../state.js';

/** How many functions are asked for, and how many nodes of a flame graph. */
const top = 500;
export const maxNodes = 50_000;
/** How many nodes a second question asks for: the most that a question may. */
export const mostNodes = 200_000;

/**
 * Returns the columns of hotspots and its sisters.
 * @param {import('../main.js').Page} page
 * @returns {import('../table.js').Column[]}
 */
export const hotspotColumns = (page) => [
  functionColumn(page),
  ...columnsOf('hotspots', {
    self_ms_per_load: { bar: true, title: 'Milliseconds per page load in the function itself' },
    total_ms_per_load: { title: 'Milliseconds per page load in the function and all that it called' },
    busy_share: { title: 'Self time as a share of the time in which visible code ran' },
    load_share: { title: 'Share of the page loads that ran the function' },
    samples: {}, uploads: {},
  }),
];

/** @type {import('../main.js').View} */
export const functions = {
  title: 'Functions',
  key: 'n',
  asks: (state) => ({ rows: question('hotspots', state, { top, ...Object.fromEntries(ofScripts.map((name) => [name, state.params[name]])) }) }),
  mount(main, { rows: { rows } }, page, state) {
    const changes = changeColumn(page, state);
    return tableView(main, page, state, {
      name: 'functions', caption: 'Functions', rows, sort: '-self_ms_per_load', search: ['function', 'resource', 'generated_resource', 'owner'], empty: ofScripts.some((name) => name in state.params) ? 'No function matches these filters.' : nothing,
      columns: [...hotspotColumns(page), ...sparkColumn(state, 'function', (row) => row.function_key), ...changes.columns],
      after: h('div', null, rows.length > 0 ? changes.note : null,
        rows.length < top ? null : h('p', { class: 'note' }, `These are the ${count(top)} functions with the most self time. A filter shows others; the SQL takes a greater top.`)),
    });
  },
};
