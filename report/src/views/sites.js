// SPDX-License-Identifier: Apache-2.0
/** All sites, the worst first: what each one's overview begins with. With one site, its overview. */
import { ask, isSaved, question } from '../api.js';
import { verdictBadge } from '../changes.js';
import { columnsOf } from '../columns.js';
import { duration, localised, number, time, visible } from '../format.js';
import { button, h } from '../h.js';
import { tableView } from '../parts.js';
import { literal } from '../state.js';
import { ratingOf, valueText } from './vitals.js';

/** @typedef {import('../api.js').Row} Row */

/** Uploads count by the hour. */
const dayAndMore = 26 * 3_600_000;
/** Each site takes a question; after this long, none begins. */
const judgedForMs = 30_000;
const mostAtOnce = 2;
const judgedBy = ['LCP', 'INP', 'CLS'];

/** @type {import('../main.js').View} */
export const sites = {
  title: 'Sites',
  key: 's',
  asks: () => ({ sites: { name: 'sites', address: '/api/v1/sites' } }),
  otherwise: (_, { sites: { rows: [first, second] } }) => (first && !second && !isSaved() ? { site: first.site, view: 'overview' } : null),
  mount(main, { sites: { rows } }, page, state) {
    const { signal } = page;
    /** Cells by site and column: sorting asks nothing again. @type {Map<string, HTMLElement>} */
    const cells = new Map();
    /** @param {Row} row @param {string} name */
    const cell = ({ site }, name) => {
      const key = `${name} ${site}`;
      const made = cells.get(key) ?? h('span', null);
      cells.set(key, made);
      return made;
    };
    /** Sites not judged yet. */
    let left = isSaved() ? [] : [...rows];
    const note = h('p', { class: 'note' });
    const shown = tableView(main, page, state, {
      name: 'sites', caption: 'Sites', rows, sort: '-worst', search: ['site'],
      empty: 'The database has no uploads yet. When a collector has counted the first one, its site is here; fleetprof doctor finds out why none comes.',
      columns: [
        ...columnsOf('sites', { site: { cell: ({ site }) => h('a', { href: page.link({ site, view: 'overview' }) }, visible(site, 120)) } }),
        { name: 'slower', label: 'Latest release', title: 'What it made slower', cell: (row) => cell(row, 'slower') },
        ...judgedBy.map((name) => /** @type {import('../table.js').Column} */ ({ name, label: `${name} p75`, kind: 'number', title: 'Of the last day', cell: (row) => cell(row, name) })),
        { name: 'busy', label: 'Scripts ms/load', kind: 'number', title: 'Of the last day', cell: (row) => cell(row, 'busy') },
        ...columnsOf('sites', {
          loads: { bar: true },
          uploads: {},
          profiled_ms: { cell: (row) => duration(row.profiled_ms) },
          last_hour: { cell: (row) => h('span', null, time(row.last_hour),
            Date.now() - Date.parse(row.last_hour) > dayAndMore ? h('strong', { class: 'warning' }, ' nothing for a day') : null) },
        }),
      ],
      after: rows.length > 1 ? h('div', null, h('p', null, h('a', { href: page.link({ site: '%', view: 'overview' }) }, 'All sites together')), note) : null,
    });

    /** Asks for what one site's row says; a cell whose question fails stays empty. @param {Row} row @returns {Promise<boolean>} true if it was judged */
    async function judge(row) {
      const { site } = row;
      const asked = question('overview_of_sites', { site, view: 'overview', item: '', params: {} }, { site: undefined, of_site: literal(site) });
      const found = await ask(asked, signal).then((answer) => answer.rows[0], () => null);
      if (signal.aborted || !found) return false;
      for (const [name, p75] of Object.entries({ LCP: found.lcp_ms, INP: found.inp_ms, CLS: found.cls })) {
        if (p75 === null) continue;
        row[name] = name === 'CLS' ? 1000 * p75 : p75;
        const rating = ratingOf(name, row[name]);
        cell(row, name).append(h('a', { class: `rated ${rating.replace(' ', '-')}`, href: page.link({ site, view: 'vital', item: name }), title: rating }, valueText(name, row[name])));
      }
      row.busy = found.busy_ms;
      if (row.busy !== null) cell(row, 'busy').append(h('a', { href: page.link({ site, view: 'flame' }) }, number(row.busy)));
      row.slower = found.verdict === 'slower' ? 1 : 0;
      if (row.slower > 0) cell(row, 'slower').append(h('a', { href: page.link({ site, view: 'compare' }) }, verdictBadge('slower'), ` ${localised(found.sentence)}`));
      row.worst = found.worst;
      return true;
    }
    async function judgeAll() {
      const [waiting, end] = [left, Date.now() + judgedForMs];
      /** @type {Row[]} */ const failed = [];
      const next = async () => {
        for (let row; Date.now() < end && (row = waiting.shift());) if (!await judge(row)) failed.push(row);
      };
      note.replaceChildren();
      await Promise.all(Array.from({ length: mostAtOnce }, next));
      left = [...waiting, ...failed];
      if (left.length > 0) note.append(`${left.length} of ${rows.length} sites are not judged. `, button('Judge them', judgeAll));
      if (!signal.aborted && !main.contains(document.activeElement)) shown.update(page.state);
    }
    return { ...shown, settled: judgeAll() };
  },
};
