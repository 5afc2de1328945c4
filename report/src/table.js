// SPDX-License-Identifier: Apache-2.0
/** Tables that sort, with bars behind shares; an export has what they show. */
import { count, number, percent } from './format.js';
import { button, h } from './h.js';

/**
 * @typedef {import('./api.js').Row} Row
 *
 * @typedef {object} Column
 * @property {string} name of the row's member
 * @property {string} label
 * @property {'text' | 'number' | 'share' | 'count' | 'picture'} [kind] text without it; a picture cannot be sorted by
 * @property {string} [title] what it means
 * @property {(row: Row) => import('./h.js').Child | import('./h.js').Child[]} [cell] what is shown instead of the value
 * @property {boolean} [bar] a bar behind the number, as long as its part of the greatest
 *
 * @typedef {object} Shown
 * @property {Column[]} columns
 * @property {Row[]} rows
 * @property {string} caption
 * @property {string} [sort] a column's name, - before it for descending; without it the rows stay as they are
 * @property {(sort: string) => void} [onsort] without it the table sorts itself
 * @property {number} [most] rows to show; all are exported
 * @property {number} [all] how many rows there are, where these are the first ones
 * @property {Record<string, number>} [greatest] values of bars among all rows
 * @property {(row: Row) => boolean} [isMarked]
 * @property {string} [within] distinguishes the table's ids from those of others in the view
 */

/** Columns that a narrow screen leaves out. */
const minor = /samples|uploads$|_count$|smallest_visible/;
/** @param {string} column @param {...(string | false | undefined)} names */
const classes = (column, ...names) => [...names, minor.test(column) && 'minor'].filter(Boolean).join(' ') || null;

const shown = { number, share: percent, count, picture: () => null, text: (/** @type {any} */ value) => value };

/** @param {Row[]} rows @param {string | undefined} sort */
export function sorted(rows, sort) {
  if (!sort) return rows;
  const descending = sort.startsWith('-');
  const name = descending ? sort.slice(1) : sort;
  const sign = descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [one[name], other[name]];
    // Unknown values come last in both directions.
    if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
    if (b === null || b === undefined) return -1;
    return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : String(a) < String(b) ? -1 : Number(a !== b));
  });
}

/** Returns a table's element. @param {Shown} given @returns {HTMLElement} */
export function table(given) {
  const { columns, rows, caption, sort, onsort = sortHere, most = 500, all = rows.length, greatest: known = {}, isMarked, within = '' } = given;
  /** @param {string} next */
  function sortHere(next) {
    const other = table({ ...given, sort: next });
    const { id } = document.activeElement ?? {};
    element.replaceWith(other);
    /** @type {HTMLElement | null} */ (other.querySelector(`#${id}`))?.focus();
  }
  const ordered = sorted(rows, sort).slice(0, most);
  const greatest = Object.fromEntries(columns.filter(({ bar }) => bar)
    .map(({ name }) => [name, known[name] ?? Math.max(...rows.map((row) => Math.abs(row[name] ?? 0)), Number.MIN_VALUE)]));

  /** @param {Column} column */
  const heading = ({ name, label, kind, title }) => {
    if (kind === 'picture') return h('th', { scope: 'col', class: 'picture', title: title ?? null }, label);
    const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
    const next = sort === `-${name}` || (sort !== name && (kind ?? 'text') === 'text') ? name : `-${name}`;
    return h('th', { scope: 'col', 'aria-sort': direction, class: classes(name, kind && kind !== 'text' && 'number') },
      button(label, () => onsort(next), { id: `sort-${within}${name}`, title: title ?? null, class: 'sort' }));
  };
  /** @param {Column} column @param {Row} row @param {number} place */
  const cell = ({ name, kind = 'text', cell: write, bar }, row, place) => {
    const value = row[name];
    const content = write ? write(row) : shown[kind](value);
    const isNumber = kind !== 'text' && kind !== 'picture';
    return h(place === 0 ? 'th' : 'td', {
      ...place === 0 ? { scope: 'row' } : {}, class: classes(name, isNumber && 'number', bar && 'bar'),
      ...isNumber && value !== null && value !== undefined ? { 'data-value': String(value) } : {},
      ...bar ? { style: { '--part': `${(100 * Math.abs(value ?? 0)) / greatest[name]}%` } } : {},
    }, content);
  };
  const element = h('div', { class: 'scroll', tabIndex: 0, role: 'region', 'aria-label': caption },
    h('table', null, h('caption', { class: 'unseen' }, caption),
      h('thead', null, h('tr', null, columns.map(heading))),
      h('tbody', null, ordered.map((row) => h('tr', { class: isMarked?.(row) ? 'marked' : null }, columns.map((column, place) => cell(column, row, place)))))),
    all > ordered.length ? h('p', { class: 'note' }, `${count(ordered.length)} of ${count(all)} rows are shown; an export has all.`) : null);
  return element;
}
