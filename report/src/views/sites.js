// SPDX-License-Identifier: Apache-2.0
/** All sites: where to begin. */
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
    columns: [
      { name: 'site', label: 'Site', cell: ({ site }) => h('a', { href: page.link({ site, view: 'flame' }) }, visible(site, 120)) },
      { name: 'loads', label: 'Page loads', kind: 'count', bar: true },
      { name: 'uploads', label: 'Uploads', kind: 'count' },
      { name: 'profiled_ms', label: 'Profiled time', kind: 'number', cell: (row) => duration(row.profiled_ms) },
      { name: 'first_hour', label: 'First hour (UTC)', cell: (row) => time(row.first_hour) },
      { name: 'last_hour', label: 'Newest hour (UTC)', cell: (row) => h('span', null, time(row.last_hour),
        Date.now() - Date.parse(row.last_hour) > dayAndMore ? h('strong', { class: 'warning' }, ' nothing for a day') : null) },
      { name: 'timezone', label: 'Days of' },
    ],
    after: rows.length > 1 ? h('p', null, h('a', { href: page.link({ site: '%', view: 'flame' }) }, 'All sites together')) : null,
  }),
};
