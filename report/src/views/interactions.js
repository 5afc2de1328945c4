/** What visitors did and waited for, and what blocked the page. */
import { question } from '../api.js';
import { visible } from '../format.js';
import { h } from '../h.js';
import { placeLink, tableView, tabs } from '../parts.js';

const noVitals = 'No page load of these filters sends interactions. They come from pages with the agent’s vitals build.';

/** @param {import('../main.js').Page} page @param {boolean} isFrames */
const both = (page, isFrames) => tabs('What is shown', [['Interactions', page.link({ view: 'interactions' }), !isFrames], ['Long frames', page.link({ view: 'long-frames' }), isFrames]]);

/** @type {import('../main.js').View} */
export const interactions = {
  title: 'Interactions',
  key: 'i',
  asks: (state) => ({ rows: question('interactions', state) }),
  mount: (main, { rows: { rows } }, page, state) => tableView(main, page, state, {
    name: 'interactions', caption: 'Interactions', rows, sort: '-total_ms', search: ['target', 'type'], empty: noVitals, before: both(page, false),
    columns: [
      { name: 'target', label: 'Target', cell: ({ target, type }) => h('a', { href: page.link({ view: 'timing', item: `(interaction) ${type} ${target ?? ''}`.trim() }) }, target === null ? '(not known)' : visible(target, 160)) },
      { name: 'type', label: 'Type', cell: ({ type }) => visible(type, 60) },
      { name: 'count', label: 'Count', kind: 'count' },
      { name: 'p75_ms', label: 'p75 ms', kind: 'number' },
      { name: 'p98_ms', label: 'p98 ms', kind: 'number' },
      { name: 'max_ms', label: 'Max ms', kind: 'number' },
      { name: 'total_ms', label: 'Total ms', kind: 'number', bar: true },
      { name: 'input_delay_share', label: 'Delay', kind: 'share', title: 'Of the total: before the first handler ran' },
      { name: 'processing_share', label: 'Processing', kind: 'share', title: 'Of the total: in handlers' },
      { name: 'presentation_share', label: 'Presentation', kind: 'share', title: 'Of the total: until the next paint' },
    ],
  }),
};

/** @type {import('../main.js').View} */
export const longFrames = {
  title: 'Long frames',
  parent: 'interactions',
  asks: (state) => ({ rows: question('long_frames', state) }),
  mount: (main, { rows: { rows } }, page, state) => tableView(main, page, state, {
    name: 'long-frames', caption: 'Long frames', rows, sort: '-blocking_ms', search: ['invoker', 'script', 'function'], before: both(page, true),
    empty: 'No page load of these filters sends long animation frames. They come from pages with the agent’s vitals build, in browsers that report them.',
    columns: [
      { name: 'invoker', label: 'Invoker', cell: ({ invoker }) => (invoker === null ? 'frames without scripts' : visible(invoker, 160)) },
      { name: 'function', label: 'Function', cell: (row) => h('span', { class: 'function' }, visible(row.function, 160), placeLink({ resource: row.script })) },
      { name: 'count', label: 'Runs', kind: 'count' },
      { name: 'total_ms', label: 'Total ms', kind: 'number' },
      { name: 'p75_ms', label: 'p75 ms', kind: 'number' },
      { name: 'blocking_ms', label: 'Blocking ms', kind: 'number', bar: true },
      { name: 'forced_layout_ms', label: 'Forced layout ms', kind: 'number' },
    ],
    after: h('p', null, h('a', { href: page.link({ view: 'timing', item: '(long frame)' }) }, 'All functions inside long frames, of profiled page loads')),
  }),
};
