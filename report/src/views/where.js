// SPDX-License-Identifier: Apache-2.0
/** Where the time goes, by a property of scripts or page loads. */
import { question } from '../api.js';
import { columnsOf } from '../columns.js';
import { size } from '../format.js';
import { h } from '../h.js';
import { labelOf } from '../label.js';
import { groupCell, nothing, special, sumPerLoad, tableView, tabs, withoutMarker } from '../parts.js';
import { sparkColumn } from '../spark.js';
import { dimensions } from '../state.js';

/** @typedef {import('../api.js').Row} Row */

const groups = ['host', 'party', 'owner', 'entity', 'package', 'resource', 'source', 'marker', ...dimensions];
/** The values of third_parties for a host, and their columns. @type {import('../table.js').Column[]} */
const ofResponses = columnsOf('third_parties', {
  requests: { title: 'Responses of all types, scripts included' },
  p75_ms: { title: 'Duration of responses that say it' },
  bytes: { cell: ({ bytes }) => size(bytes), title: 'As transferred, of responses that say it' },
  opaque_share: { title: 'Responses that say neither time nor size, for lack of Timing-Allow-Origin' },
});

/**
 * Returns hosts by the time of their scripts, with their responses, and the hosts that have responses only.
 * @param {Row[]} rows of cost_by @param {Row[]} hosts of third_parties
 */
function withResponses(rows, hosts) {
  const known = new Map(hosts.map((host) => [host.host, host]));
  const names = new Set(rows.map(({ name }) => name));
  const idle = hosts.filter(({ host }) => !names.has(host))
    .map(({ host, self_ms: self }) => ({ name: host, self_ms: self && 0, share: self && 0, samples: 0, uploads: 0 }));
  return [...rows, ...idle].map((row) => {
    const { party = null, requests = null, p75_ms = null, bytes = null, opaque_share = null } = known.get(row.name) ?? {};
    return { ...row, party, requests, p75_ms, bytes, opaque_share };
  });
}

/** @type {import('../main.js').View} */
export const where = {
  title: 'Breakdown',
  key: 'w',
  asks: (state) => ({
    groups: question('cost_by', state, { by: state.params.by ?? 'host' }),
    ...(state.params.by ?? 'host') === 'host' ? { 'hosts?': question('third_parties', state) } : {},
  }),
  mount(main, { groups: answer, hosts }, page, state) {
    const by = state.params.by ?? 'host';
    /** @type {Row[]} */
    const rows = hosts ? withResponses(answer.rows, hosts.rows) : answer.rows;
    const hasResponses = rows.some(({ requests }) => typeof requests === 'number');
    return tableView(main, page, state, {
      name: `where-${by}`, caption: `Time by ${by}`, rows, sort: '-self_ms', search: hosts ? ['name', 'party'] : ['name'], empty: nothing,
      before: tabs('Group by', groups.map((name) => [name, page.link({ by: name, sort: null, q: null }), name === by, question('cost_by', state, { by: name })])),
      columns: [
        { name: 'name', label: labelOf(by), cell: ({ name, samples }) => groupCell(page, by, name, samples > 0) },
        ...hosts ? columnsOf('third_parties', { party: { cell: (/** @type {Row} */ { party }) => party ?? '–', title: 'First: hosts of the site’s pages, origins and first_party' } }) : [],
        ...columnsOf('cost_by', {
          self_ms: sumPerLoad(page, 'self_ms', 'Self ms/load'),
          share: { bar: true, title: 'Of profiled time, unattributed time included' },
          samples: {}, uploads: {},
        }),
        ...hasResponses ? ofResponses : [],
        ...sparkColumn(state, by, ({ name }) => name),
      ],
      after: h('div', null, h('p', { class: 'note' }, rows.flatMap(({ name }) => (special[name] ? `${name}: ${special[name]}. ` : []))), hasResponses ? withoutMarker(state, 'responses') : null),
    });
  },
};
