/** Where the time goes: by what scripts or page loads have in common. */
import { question } from '../api.js';
import { visible } from '../format.js';
import { h } from '../h.js';
import { nothing, tableView, tabs } from '../parts.js';
import { dimensions } from '../state.js';

const groups = ['host', 'resource', 'source', 'marker', 'route', 'release', 'browser', 'os', 'device', 'environment', 'variant', 'thread'];
/** Rows that no filter can select. */
const special = ['(unattributed)', '(no script)', '(no host)', '(overflow)'];

/** @type {import('../main.js').View} */
export const where = {
  title: 'Where the time goes',
  key: 'w',
  asks: (state) => ({ groups: question('cost_by', state, { by: state.params.by ?? 'host' }) }),
  mount(main, { groups: { rows } }, page, state) {
    const by = state.params.by ?? 'host';
    const canFilter = dimensions.includes(by) || by === 'marker';
    return tableView(main, page, state, {
      name: `where-${by}`, caption: `Time by ${by}`, rows, sort: '-self_ms', search: ['name'], empty: nothing,
      before: tabs('Group by', groups.map((name) => [name, page.link({ by: name, sort: null, q: null }), name === by])),
      columns: [
        { name: 'name', label: by, cell: ({ name }) => (canFilter && !special.includes(name)
          ? h('a', { href: page.link({ view: 'flame', [by]: name }) }, name === '' ? '(none)' : visible(name, 160)) : h('span', null, name === '' ? '(none)' : visible(name, 160))) },
        { name: 'self_ms', label: 'Time ms', kind: 'number', title: 'Self time, summed over all page loads' },
        { name: 'share', label: 'Share', kind: 'share', bar: true, title: 'Of profiled time, unattributed time included' },
        { name: 'samples', label: 'Samples', kind: 'count' },
        { name: 'uploads', label: 'Uploads', kind: 'count' },
      ],
    });
  },
};
