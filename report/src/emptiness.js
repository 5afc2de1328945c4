// SPDX-License-Identifier: Apache-2.0
/** Says why a view is empty, and what helps: a site that never had data, a period without, or filters that match nothing. */
import { ask, isSaved, question } from './api.js';
import { clock, counted, visible } from './format.js';
import { button, h } from './h.js';
import { fields, moment, readable, twin } from './state.js';

/**
 * @typedef {import('./api.js').Row} Row
 * @typedef {import('./main.js').Page} Page
 * @typedef {import('./state.js').State} State
 */

const everySite = { name: 'sites', address: '/api/v1/sites' };
/** How often the first upload of a site is looked for, in ms. */
const pause = 5000;
const mostNamed = 8;
const hour = 3_600_000;

/** Returns the filters that the address has. @param {State} state */
const given = ({ params }) => fields.flatMap((field) => [field, twin(field)]).filter((name) => params[name] !== undefined);

/**
 * Returns what to say in place of an empty view; null if the view itself knows better.
 * @param {State} state @param {Page} page
 */
export async function emptiness(state, page) {
  if (isSaved()) return null;
  const { rows } = await ask(everySite, page.signal, false);
  const own = state.site.includes('%') ? rows : rows.filter(({ site }) => site === state.site);
  if (own.length === 0) return steps(state, rows, page);
  const names = given(state);
  if (names.length > 0) {
    const without = await ask(question('summary', state, Object.fromEntries(names.map((name) => [name, undefined]))), page.signal);
    if (without.rows.length > 0) return filtered(state, names, without.rows, page);
  }
  const newest = Math.max(...own.map(({ last_hour: last }) => Date.parse(last)));
  const now = Date.now();
  const [since, until] = [moment(state.params.since ?? '1d', now) ?? 0, moment(state.params.until ?? '0s', now) ?? now];
  if (newest + hour > since && newest < until) return null;
  const at = (/** @type {number} */ hours) => new Date(newest + hours * hour).toISOString();
  return h('p', { class: 'empty' }, 'Nothing in this period. ', h('a', { class: 'button', href: page.link({ since: at(-23), until: at(1) }) }, 'Show the newest day'), ` It ends ${clock(newest + hour)}.`);
}

/** @param {State} state @param {string[]} names of filters @param {Row[]} hours without them @param {Page} page */
function filtered({ params }, names, hours, page) {
  const loads = hours.reduce((sum, row) => sum + row.loads, 0);
  return h('div', { class: 'empty' }, h('p', null, 'No profiled page load of this period matches these filters. Remove one:'),
    h('p', { class: 'row' }, names.map((name) => button(`${name}: ${params[name] === '' ? '(none)' : visible(readable(params[name]), 60)} ×`,
      () => page.go({ [name]: null }), { class: 'chip', 'aria-label': `Remove the filter ${name}` }))),
    h('p', null, `Without filters there ${loads === 1 ? 'is' : 'are'} ${counted(loads, 'profiled page load')}.`));
}

/** Returns how a site sends its first upload, and waits for it. @param {State} state @param {Row[]} known sites with data @param {Page} page */
function steps({ site }, known, page) {
  const waiting = h('p', { class: 'note', role: 'status' }, 'Waiting for the first upload …');
  const timer = setInterval(async () => {
    const { rows } = await ask(everySite, page.signal, false).catch(() => ({ rows: [] }));
    if (rows.some((row) => row.site === site || site.includes('%'))) page.again();
  }, pause);
  page.signal.addEventListener('abort', () => clearInterval(timer));
  return h('div', null, h('div', { class: 'empty' },
    h('p', null, `${site.includes('%') ? 'The database' : 'This site'} has no upload yet. Three steps lead to the first:`),
    h('ol', null,
      h('li', null, 'The web server sends ', h('code', null, 'Document-Policy: js-profiling'), ' with pages. The modules for nginx and httpd do so.'),
      h('li', null, 'Each page loads the agent: ', h('code', null, '<script src="/fleetprof/fleetprof.js" data-endpoint="/v1/ingest/KEY"></script>'), ', where KEY is sites[].key in the collector’s fleetprof.yaml.'),
      h('li', null, h('code', null, 'fleetprof doctor https://…/'), ' says what is still missing.')),
    known.length === 0 || site.includes('%') ? null : h('p', null, 'Sites with data: ', known.slice(0, mostNamed).flatMap(({ site: name }, i) => [i > 0 ? ', ' : null, h('a', { href: page.link({ site: name }) }, visible(name, 60))]),
      known.length > mostNamed ? ' and others.' : '.')), waiting);
}
