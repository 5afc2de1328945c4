// SPDX-License-Identifier: Apache-2.0
/** Shared by several views: names of functions, searches, tables with their state, the figures of a node. */
import { count, counted, number, place, shortPlace, visible, webAddress } from './format.js';
import { isAnswered, isSaved } from './api.js';
import { h } from './h.js';
import { histogram } from './chart.js';
import { dimensions, literal, ofScripts } from './state.js';
import { table } from './table.js';

/**
 * @typedef {import('./api.js').Row} Row
 * @typedef {import('./main.js').Page} Page
 * @typedef {import('./state.js').State} State
 * @typedef {import('./table.js').Column} Column
 */

/** Returns a script's place, as a link if it may be opened. @param {{ resource?: string | null, line?: number | null, column_number?: number | null }} where */
export function placeLink(where) {
  const text = shortPlace(where);
  const address = webAddress(where.resource);
  if (!text) return null;
  if (!address) return h('span', { class: 'place', title: place(where) }, text);
  return h('a', { class: 'place', href: address, rel: 'noreferrer noopener', target: '_blank', title: place(where) }, text);
}

/**
 * Returns a function's name as a link to its own view, and its place below.
 * @param {Page} page @param {Row} row @param {string | null | undefined} key
 */
export function functionCell(page, row, key = row.function_key) {
  const name = visible(row.function, 160);
  return h('span', { class: 'function' },
    key ? h('a', { href: page.link({ view: 'function', item: key }), title: name.length < 160 ? null : visible(row.function) }, name) : h('span', null, name),
    placeLink(row));
}

/** Groups that hardly a filter selects, and what they are. @type {Record<string, string>} */
export const special = {
  '(unattributed)': 'idle, or invisible code', '(no script)': 'the browser', '(no host)': 'without an address',
  '(no package)': 'own code', '(overflow)': 'beyond the ceiling', '(nobody)': 'without an owner', '(ignored)': 'ignored code', '(no source)': 'not in a function table',
};

/** Returns the name of a group of cost_by, as a link to its page loads, hosts or functions if a view can select them. @param {Page} page @param {string} by @param {string} name @param {boolean} [hasFunctions] */
export function groupCell(page, by, name, hasFunctions = true) {
  const isFilter = dimensions.includes(by) || by === 'marker';
  const changes = ofScripts.includes(by) && !isSaved() ? hasFunctions && name !== '(unattributed)' && { view: 'functions', [by]: literal(name) }
    : special[name] || name === '' && !isFilter ? null : isFilter ? { view: 'flame', [by]: literal(name) }
    : name === '(package)' ? { view: 'where', by: 'package' } : ['party', 'entity'].includes(by) || name === '(third party)' ? { view: 'where', by: 'host', q: by === 'owner' ? 'third' : name }
      : hasFunctions ? { view: 'functions', q: name } : null;
  return h(changes ? 'a' : 'span', { href: changes && page.link(changes) }, name === '' ? '(none)' : visible(name, 160));
}

/** @param {Page} page @returns {Column} */
export const functionColumn = (page) => ({ name: 'function', label: 'Function', cell: (row) => functionCell(page, row) });

/**
 * Returns a search in a view.
 * @param {State} state @param {Page} page @param {string} label
 */
export function searchBox(state, page, label) {
  const input = h('input', {
    id: 'search', type: 'search', value: state.params.q ?? '', placeholder: label, 'aria-label': label, autocomplete: 'off', spellcheck: false,
    oninput: () => page.go({ q: input.value || null }, { replace: true }),
    onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === 'Escape' || event.key === 'Enter') { event.preventDefault(); input.blur(); } },
  });
  return input;
}

/** @param {Row[]} rows @param {string | undefined} q in which * is any text @param {string[]} names members to look at */
export function matching(rows, q, names) {
  // Not an expression: of many stars, which a stranger's link may have, one can take forever.
  const parts = (q ?? '').toLowerCase().split('*');
  /** @param {unknown} value */
  const isFound = (value) => {
    const text = String(value ?? '').toLowerCase();
    let at = 0;
    return parts.every((part) => (at = text.indexOf(part, at) + part.length) >= part.length);
  };
  return q ? rows.filter((row) => names.some((name) => isFound(row[name]))) : rows;
}

/**
 * Shows a table whose order and search are in the address.
 * @param {HTMLElement} main @param {Page} page @param {State} state
 * @param {{ name: string, caption: string, columns: Column[], rows: Row[], search?: string[], sort?: string, empty: string, before?: Node | null,
 *   after?: Node | null, exported?: string[], isMarked?: (row: Row) => boolean }} shown
 * @returns {import('./main.js').Shown}
 */
export function tableView(main, page, state, { name, caption, columns, rows, search, sort, empty, before, after, exported, isMarked }) {
  const box = h('div', null);
  const found = h('span', { class: 'found' });
  main.append(...before ? [before] : [], ...search && rows.length > 0 ? [h('div', { class: 'tools' }, searchBox(state, page, `Search ${caption.toLowerCase()}`), found)] : [], box, ...after ? [after] : []);
  /** @type {Row[]} */
  let current = [];
  return {
    update: ({ params }) => {
      current = search ? matching(rows, params.q, search) : rows;
      found.textContent = params.q ? `${count(current.length)} of ${count(rows.length)}` : '';
      const { activeElement } = document;
      const id = box.contains(activeElement) ? activeElement?.id : null;
      box.replaceChildren(rows.length === 0 ? h('p', { class: 'empty' }, empty) : current.length === 0 ? h('p', { class: 'empty' }, 'Nothing here has this text.')
        : table({ columns, rows: current, caption, sort: params.sort ?? sort, onsort: (next) => page.go({ sort: next }), ...isMarked ? { isMarked } : {} }));
      if (id) /** @type {HTMLElement | null} */ (box.querySelector(`#${CSS.escape(id)}`))?.focus();
    },
    exported: () => ({ name, columns: exported ?? Object.keys(rows[0] ?? {}), rows: current }),
  };
}

/** Returns "12.3 ms per page load", or the sum where no page load is known. @param {Page} page @param {number} us */
export const perLoad = (page, us) => (page.totals.loads > 0 ? `${number(us / 1000 / page.totals.loads)} ms per page load` : `${number(us / 1000)} ms`);

/** Returns what shows a sum of ms per page load. @param {Page} page @param {string} name of the column @param {string} label @returns {Partial<Column>} */
export const sumPerLoad = ({ totals: { loads } }, name, label) => ({
  label, title: 'Milliseconds per page load; an export has the sum', cell: ({ [name]: ms }) => number(loads > 0 && ms !== null ? ms / loads : null),
});

/** Windows that have a name in plain words. @type {Record<string, string>} */
const windows = { '(interaction)': 'any interaction', '(response)': 'any wait for a result', '(long frame)': 'any long frame', '(running)': 'the main thread was busy', '(lcp)': 'until LCP', '(blocking)': 'until the first paint' };

/** Returns the name of a measure, or a window's in plain words. @param {string} name */
export const measureName = (name) => windows[name] ?? visible(name.replace(/^\((LCP|INP|CLS|FCP|TTFB)\) (good|poor)$/, 'page loads with $2 $1').replace(/^\((interaction|response)\) /, '$1: '), 120);

/** Returns a list of terms and their meanings. @param {([string, import('./h.js').Child] | null)[]} pairs */
export const facts = (pairs) => h('dl', { class: 'facts' }, pairs.flatMap((pair) => (pair ? [h('dt', null, pair[0]), h('dd', null, pair[1])] : [])));

/**
 * Returns links that choose one of a few, without those whose question a saved report does not answer.
 * @param {string} label @param {[string, string, boolean, import('./api.js').Question?][]} choices text, address, whether it is chosen, and what it asks
 */
export const tabs = (label, choices) => h('div', { class: 'tabs', role: 'group', 'aria-label': label },
  choices.filter(([, , , asked]) => !asked || isAnswered(asked)).map(([text, href, isOn]) => h('a', { href, 'aria-current': isOn ? 'true' : null }, text)));

/**
 * Returns a note in place of an answer without rows: why there are none, if there is an answer at all.
 * @param {import('./api.js').Answer} answer @param {string} why
 */
export const none = ({ failure }, why) => h('p', { class: 'note' }, failure ? 'This part is missing.' : why);

/**
 * Returns a histogram of a limited number of bars, and its rows as a table.
 * @param {import('./api.js').Answer} answer of histogram @param {string} name @param {(value: number) => string} [write] @param {[number, string][]} [marks]
 */
export function valuesChart(answer, name, write, marks) {
  const { rows } = answer;
  if (rows.length === 0) return none(answer, 'This period has no value of 0 or more.');
  /** Bins below each other are put together where there are more than can be seen. @type {Row[]} */
  const bars = [];
  const factor = (rows[rows.length - 1].to_ms / Math.max(rows[0].from_ms, 0.001)) ** (1 / 90);
  for (const { from_ms: from, to_ms: to, count: some } of rows) {
    const last = bars[bars.length - 1];
    if (last && to / Math.max(last.from, 0.001) <= factor) { last.to = to; last.count += some; }
    else bars.push({ from, to, count: some });
  }
  return h('section', null, h('h3', null, 'Distribution (log scale)'), histogram(bars, `Values of ${name}`, write, marks),
    h('details', null, h('summary', null, `Numbers of the histogram (${bars.length})`), table({ caption: `Values of ${name}`, rows: bars, columns: [
      { name: 'from', label: 'From', kind: 'number', ...write ? { cell: (row) => write(row.from) } : {} }, { name: 'to', label: 'To', kind: 'number', ...write ? { cell: (row) => write(row.to) } : {} },
      { name: 'count', label: 'Values', kind: 'count', bar: true }] })));
}

/** Returns a note on the parts that ignore the filter marker; null without that filter. @param {State} state @param {string} parts */
export const withoutMarker = ({ params }, parts) => (params.marker !== undefined || params.exclude_marker !== undefined
  ? h('p', { class: 'note' }, `The filter marker does not apply to ${parts}.`) : null);

/**
 * Returns the functions outside fleetprof's own agent, and a note about the agent's functions: null if there are none.
 * @param {Row[]} rows @param {string[]} columns what the note sums up @param {(sums: string[]) => string} say
 */
export function withoutAgent(rows, columns, say) {
  const own = rows.filter((row) => row.is_agent);
  const sums = columns.map((name) => number(own.reduce((sum, row) => sum + (row[name] ?? 0), 0)));
  return {
    rows: own.length > 0 ? rows.filter((row) => !row.is_agent) : rows,
    note: own.length > 0 ? h('p', { class: 'note' }, `fleetprof’s own agent took ${say(sums)}; its functions are not listed.`) : null,
  };
}

/** Why no page load is typical. @type {Record<string, string>} */
const untypical = { 'none kept': 'none is kept', 'too few kept': 'too few are kept', 'none alike': 'those that are kept differ too much' };

/** How many kept page loads typical_load compares at most. */
const mostKept = 300;

/**
 * Leads to the kept page load that is most like its group; null if there is no group.
 * @param {Page} page @param {import('./api.js').Answer} answer @param {string} group what all of its page loads have in common
 */
export function typicalLoad(page, answer, group) {
  const [row] = answer.rows;
  if (!row || row.loads === 0) return null;
  return h('p', { class: 'typical' }, 'A typical page load: ', row.reason ? `${untypical[row.reason]}, of ${counted(row.loads, 'page load')} ${group}`
    : `${row.alike.toFixed(2)} alike, of ${counted(row.loads, 'page load')} ${group} (${row.kept_loads < mostKept ? '' : 'of the latest '}${count(row.kept_loads)} kept) → `,
  row.reason || isSaved() ? '' : h('a', { href: page.link({ view: 'session', item: String(row.session_id) }) }, 'open'));
}

/** The sentence for a selection without samples. */
export const nothing = 'No profiled page load matches these filters. Choose a longer period, or remove a filter.';

/** Returns the sentence for an answer without what the vitals build sends. @param {string} what @param {string} [where] */
export const noVitals = (what, where = '') => `No page load of these filters sends ${what}. They come from pages with the agent’s vitals build${where}.`;

/** Returns what stands beside a picture in which nothing is selected. @param {string} what can be selected */
export const unselected = (what) => [h('h2', null, 'Nothing is selected'), h('p', { class: 'note' }, `Click ${what}, or walk with the arrow keys. Enter zooms in, Backspace out.`)];
