// SPDX-License-Identifier: Apache-2.0
/** All sites: where to begin. */
import { columnsOf } from '../columns.js';
import { duration, time, visible } from '../format.js';
import { h } from '../h.js';
import { tableView } from '../parts.js';

/** Uploads count by the hour. */
const dayAndMore = 26 * 3_600_000;

/** @type {import('../main.js').View} */
export const sites = {
  title: 'Sites',
  key: 's',
  asks: () => ({ sites: { name: 'sites', address: '/api/v1/sites' } }),
  mount: (main, { sites: { rows } }, page, state) => tableView(main, page, state, {
    name: 'sites', caption: 'Sites', rows, sort: '-loads', search: ['site'],
    empty: 'The database has no uploads yet. When a collector has counted the first one, its site is here; fleetprof doctor finds out why none comes.',
    columns: columnsOf('sites', {
      site: { cell: ({ site }) => h('a', { href: page.link({ site, view: 'flame' }) }, visible(site, 120)) },
      loads: { bar: true },
      uploads: {},
      profiled_ms: { cell: (row) => duration(row.profiled_ms) },
      first_hour: { cell: (row) => time(row.first_hour) },
      last_hour: { cell: (row) => h('span', null, time(row.last_hour),
        Date.now() - Date.parse(row.last_hour) > dayAndMore ? h('strong', { class: 'warning' }, ' nothing for a day') : null) },
      timezone: {},
    }),
    after: rows.length > 1 ? h('p', null, h('a', { href: page.link({ site: '%', view: 'flame' }) }, 'All sites together')) : null,
  }),
};
