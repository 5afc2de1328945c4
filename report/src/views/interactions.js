// SPDX-License-Identifier: Apache-2.0
/** Visitors' interactions and their waits, and the scripts that blocked the page. */
import { question } from '../api.js';
import { columnsOf } from '../columns.js';
import { number, visible } from '../format.js';
import { h } from '../h.js';
import { functionCell, noVitals, placeLink, tableView, tabs, typicalLoad } from '../parts.js';
import { dimensions, literal, ofVitals } from '../state.js';
import { functions } from './functions.js';

/** @typedef {import('../api.js').Row} Row */

/** @param {import('../main.js').Page} page @param {boolean} isFrames */
const both = (page, isFrames) => tabs('What is shown', [['Interactions', page.link({ view: 'interactions' }), !isFrames], ['Long frames', page.link({ view: 'long-frames' }), isFrames]]);

/** Returns the question for interactions, also by a dimension. @param {import('../state.js').State} state @param {string | undefined} by */
const interactionsBy = (state, by) => (by ? question('interactions_by', state, { dimension: by }) : question('interactions', state));

/** Asks for the typical page load of a window. @param {import('../state.js').State} state @param {string} name */
const typicalOf = (state, name) => ({ 'typical?': question('typical_load', state, { measure_name: name }) });

/** @type {import('../main.js').View} */
export const interactions = {
  title: 'Interactions',
  key: 'i',
  asks: (state) => ({ rows: interactionsBy(state, state.params.by), ...typicalOf(state, '(interaction)') }),
  mount: (main, { rows: { rows }, typical }, page, state) => tableView(main, page, state, {
    name: 'interactions', caption: 'Interactions', rows, sort: '-total_ms', search: ['value', 'target', 'type'], empty: noVitals('interactions'),
    before: h('div', null, both(page, false), tabs('By', ['', ...dimensions, ...ofVitals].map((by) => [by || 'all', page.link({ by: by || null }), by === (state.params.by ?? ''), interactionsBy(state, by)]))),
    columns: [...state.params.by ? [/** @type {import('../table.js').Column} */ ({ name: 'value', label: state.params.by, cell: ({ value }) => h('a', { href: page.link({ [state.params.by]: literal(value), by: null }) }, value === '' ? '(none)' : visible(value, 120)) })] : [], ...columnsOf('interactions', {
      target: { cell: ({ target, type }) => h('a', { href: page.link({ view: 'timing', item: `(interaction) ${type} ${target ?? ''}`.trim() }) }, target === null ? '(not known)' : visible(target, 160)) },
      type: { cell: ({ type }) => visible(type, 60) },
      count: {}, p75_ms: {}, p98_ms: {}, max_ms: {}, total_ms: { bar: true },
      input_delay_share: { title: 'Of the total: before the first handler ran' },
      processing_share: { title: 'Of the total: in handlers' },
      presentation_share: { title: 'Of the total: until the next paint' },
      flagged: { title: '60 s and more; not in the other columns' },
      responses: { title: 'Until the paint that shows the result' },
      response_p75_ms: { cell: ({ target, response_p75_ms: ms }) => (ms === null ? number(ms) : h('a', { href: page.link({ view: 'timing', item: `(response) ${target ?? ''}`.trim() }) }, number(ms))) },
      response_p98_ms: {},
    })],
    after: typicalLoad(page, typical, 'with interactions'),
  }),
};

/**
 * Returns a function of a long frame as a link to its own view, or else its script's link to what the profiles know of it.
 * @param {Row} frame @param {Row[]} known functions of profiles @param {import('../main.js').Page} page
 */
function invoked({ function: name, script }, known, page) {
  const ofScript = known.filter(({ resource, generated_resource: generated }) => script && [resource, generated].includes(script));
  const key = ofScript.find((row) => name && row.function === name)?.function_key;
  return h('span', { class: 'function' }, key ? functionCell(page, { function: name, resource: null }, key) : h('span', null, visible(name ?? '', 160)),
    placeLink({ resource: script }), !key && ofScript.length > 0 ? h('a', { href: page.link({ view: 'functions', q: ofScript[0].resource }) }, 'its functions') : null);
}

/** @type {import('../main.js').View} */
export const longFrames = {
  title: 'Long frames',
  parent: () => 'interactions',
  asks: (state) => ({ rows: question('long_frames', state), 'known?': functions.asks(state).rows, ...typicalOf(state, '(long frame)') }),
  mount: (main, { rows: { rows }, known, typical }, page, state) => tableView(main, page, state, {
    name: 'long-frames', caption: 'Long frames', rows, sort: '-blocking_ms', search: ['invoker', 'script', 'function'], before: both(page, true),
    empty: noVitals('long animation frames', ', in browsers that report them'),
    columns: columnsOf('long_frames', {
      invoker: { cell: ({ invoker }) => (invoker === null ? 'frames without scripts' : visible(invoker, 160)) },
      function: { cell: (row) => invoked(row, known.rows, page) },
      count: { label: 'Runs' }, total_ms: {}, p75_ms: {}, blocking_ms: { bar: true }, forced_layout_ms: {}, forced_style_ms: {}, forced_reflow_ms: {}, style_ms: {}, layout_ms: {},
    }),
    after: h('div', null, h('p', null, h('a', { href: page.link({ view: 'timing', item: '(long frame)' }) }, 'All functions inside long frames, of profiled page loads')), typicalLoad(page, typical, 'with long frames')),
  }),
};
