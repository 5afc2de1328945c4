/**
 * What the page shows, as an address and back: /SITE/VIEW/ITEM?filters. Nothing that one sees is kept elsewhere, so Back,
 * a reload and a copied link show the same.
 */

/**
 * @typedef {object} State
 * @property {string} site '%' for all
 * @property {string} view
 * @property {string} item what the view is of: a function's key, a measure's name
 * @property {Record<string, string>} params filters, by SQL's names, and what the view adds
 */

/** What narrows page loads down, in the order of SQL. */
export const dimensions = ['route', 'release', 'environment', 'variant', 'browser', 'os', 'device', 'thread'];
export const fields = [...dimensions, 'marker'];
/** The parameter that leaves out what a filter selects. @param {string} field */
export const twin = (field) => `exclude_${field}`;
/** Returns the side of a filter that chosen values go to: the one in use, or else what selects. @param {Record<string, string>} params @param {string} field */
export const sideOf = (params, field) => (params[field] === undefined && params[twin(field)] !== undefined ? twin(field) : field);
/** Returns the filter that selects this value only: elsewhere % stands for any text. @param {string} value */
export const literal = (value) => value.replaceAll('%', () => '\\%');
/** Returns how a filter reads: what selects one value as this value, a pattern as it is. @param {string} filter */
export const readable = (filter) => (filter.replaceAll('\\%', () => '').includes('%') ? filter : filter.replaceAll('\\%', () => '%'));
export const filters = ['since', 'until', ...fields, ...fields.map(twin)];
const lasting = [...filters, 'theme'];

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
  return { site: site === '-' ? '%' : site, view: view || 'flame', item: item.join('/'), params };
}

/** @param {State} state */
export function format({ site, view, item, params }) {
  const path = view === 'sites' ? '/' : `/${site === '%' ? '-' : encodeURIComponent(site)}/${encodeURIComponent(view)}${item && `/${encodeURIComponent(item)}`}`;
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

/** Returns the state with times that stay what they are tomorrow. @param {State} state @param {number} now */
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
