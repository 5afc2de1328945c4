// SPDX-License-Identifier: Apache-2.0
/**
 * The page's state as an address, and back: /SITE/VIEW/ITEM?filters; without VIEW it is the overview. The address is the only place for it, so Back, a
 * reload and a copied link show the same.
 */
import { rows } from './filter_rows.js';

/**
 * @typedef {object} State
 * @property {string} site '%' for all
 * @property {string} view
 * @property {string} item what the view is of: a function's key, a measure's name
 * @property {Record<string, string>} params filters, by SQL's names, and what the view adds
 */

/** @param {string[]} kinds */
const namesOf = (...kinds) => rows.filter(({ of }) => kinds.includes(of)).map(({ name }) => name);
/** Filters of page loads, in the order of SQL. */
export const dimensions = namesOf('loads', 'sides');
/** Dimensions that a comparison sets on each side, so they are not filters there. */
export const ofSides = namesOf('sides');
/** Filters that a comparison may set on one side only. */
export const ofLoads = namesOf('loads');
export const ofOneSide = ['before', 'after'].flatMap((side) => ofLoads.map((name) => `${side}_${name}`));
/** Filters of samples. */
export const ofSamples = namesOf('samples');
/** Filters of vitals and interactions. */
export const ofVitals = namesOf('vitals');
/** Filters of functions by their scripts, which only the view of functions takes. */
export const ofScripts = ['host', 'party', 'package'];
export const fields = [...dimensions, ...ofSamples, ...ofVitals];
/** The parameter that leaves out what a filter selects. @param {string} field */
export const twin = (field) => `exclude_${field}`;
/** Returns the side of a filter that takes chosen values: the side in use, else the selecting side. @param {Record<string, string>} params @param {string} field */
export const sideOf = (params, field) => (params[field] === undefined && params[twin(field)] !== undefined ? twin(field) : field);
/** Returns the filter that selects this value only: elsewhere % stands for any text. @param {string} value */
export const literal = (value) => value.replaceAll('%', () => '\\%');
/** Returns a filter as shown: a filter on one value as that value, a pattern unchanged. @param {string} filter */
export const readable = (filter) => (filter.replaceAll('\\%', () => '').includes('%') ? filter : filter.replaceAll('\\%', () => '%'));
export const filters = ['since', 'until', ...fields, ...fields.map(twin)];
const lasting = [...filters, 'theme', 'utc'];

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** @param {string} address path and query @returns {State} */
export function parse(address) {
  const mark = address.indexOf('?');
  const path = mark < 0 ? address : address.slice(0, mark);
  const [site = '', view = '', ...item] = path.split('/').slice(1).map(decoded);
  /** @type {Record<string, string>} */
  const params = Object.create(null);
  for (const [name, value] of new URLSearchParams(mark < 0 ? '' : address.slice(mark))) params[name] = value;
  if (site === '') return { site: '%', view: 'sites', item: '', params };
  return { site: site === '-' ? '%' : site, view: view || 'overview', item: view === 'function' ? item.join('/').replace(/^.*~(?=-?\d+$)/s, '') : item.join('/'), params };
}

/** Returns a function's key with its name before it, for people: parse takes the name away. @param {string} name @param {string} key */
export const namedKey = (name, key) => `${[...name.replace(/[^\p{L}\p{N}_$.]+/gu, '-')].slice(0, 60).join('')}~${key}`;

/** @param {State} state */
export function format({ site, view, item, params }) {
  const home = `/${site === '%' ? '-' : encodeURIComponent(site)}`;
  const path = view === 'sites' ? '/' : view === 'overview' ? home : `${home}/${encodeURIComponent(view)}${item && `/${encodeURIComponent(item)}`}`;
  const query = new URLSearchParams();
  for (const name of Object.keys(params).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) query.set(name, params[name]);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

/** @param {string} name filters first */
const rank = (name) => (filters.indexOf(name) + 1 || 100);

/**
 * Returns another state. A change of view keeps filters only; null takes a parameter away.
 * @param {State} state
 * @param {{ site?: string, view?: string, item?: string } & Record<string, string | null | undefined>} changes
 * @returns {State}
 */
export function changed(state, { site = state.site, view, item, ...params }) {
  const isMove = view !== undefined;
  /** @type {Record<string, string>} */
  const next = Object.create(null);
  for (const [name, value] of Object.entries(state.params)) {
    if (!isMove || lasting.includes(name)) next[name] = value;
  }
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value === undefined) delete next[name];
    else next[name] = value;
  }
  return { site, view: view ?? state.view, item: item ?? (isMove ? '' : state.item), params: next };
}

/** True if nobody chose a period, and so the first hours of a release are compared. @param {State} state */
export const takesReleaseHours = ({ view, params }) => view === 'compare' && !['since', 'until', 'before_since', 'before_until'].some((name) => params[name]);

const units = /** @type {Record<string, number>} */ ({ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 });

/** Returns how long ago a time like `24h` is, or null for another. @param {string} text */
export function ago(text) {
  const match = /^(\d+)\s*([smhdw])$/.exec(text);
  return match ? Number(match[1]) * units[match[2]] : null;
}

/** A day and a time without an offset, which the server takes as UTC and a browser as its own time. */
const withoutOffset = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(:\d\d(\.\d+)?)?)$/;

/** Returns a moment from a parameter, or null if it cannot be read. @param {string} text @param {number} now */
export function moment(text, now) {
  const back = ago(text);
  const time = back === null ? Date.parse(text.trim().replace(withoutOffset, (_, day, clock) => `${day}T${clock}Z`)) : now - back;
  return Number.isFinite(time) ? time : null;
}

/** Returns the state with absolute times, so that it means the same tomorrow. @param {State} state @param {number} now */
export function pinned(state, now) {
  const params = { ...state.params };
  delete params.theme;
  for (const [name, otherwise] of [['since', '1d'], ['until', '0s'], ['before_since', ''], ['before_until', '']]) {
    const text = params[name] ?? otherwise;
    const time = text === '' ? null : moment(text, now);
    if (time !== null && (name.startsWith('before') || state.view !== 'compare' || name in params)) params[name] = new Date(time).toISOString();
  }
  return { ...state, params };
}
