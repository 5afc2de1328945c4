// SPDX-License-Identifier: Apache-2.0
/** Changes since the release before, in the rows of a table. One question asks for them when the table comes into view. */
import { ask, isSaved, question } from './api.js';
import { verdictLook } from './colours.js';
import { change, number, visible } from './format.js';
import { h } from './h.js';
import { literal, moment, readable } from './state.js';

/**
 * @typedef {import('./state.js').State} State
 * @typedef {import('./api.js').Row} Row
 */

/** How many functions of a comparison are asked for. */
export const mostCompared = 500;

/** @param {Row[]} releases */
export const inOrder = (releases) => [...releases].sort((a, b) => Date.parse(a.rollout_began) - Date.parse(b.rollout_began));

/** Returns a question for releases: those of a month, if no period is given. @param {State} state */
export const releasesOf = (state) => question('releases', state, { since: state.params.since ?? '30d' });

/** Returns a question for the releases of both sides of a comparison: from the earlier begin to the later end. @param {State} state */
export function releasesOfSides(state) {
  const now = Date.now();
  const { since = '30d', until = '0s', before_since: begin = since, before_until: end = until } = state.params;
  const at = (/** @type {string} */ text) => moment(text, now) ?? now;
  const [first, last] = [at(begin) < at(since) ? begin : since, at(end) > at(until) ? end : until];
  return question('releases', state, { since: first, until: last === '0s' ? undefined : last });
}

/**
 * Returns the filters of a release and of the one before it; null if there are not two.
 * @param {Row[]} releases @param {string} [after] a filter; the latest without it
 */
export function successors(releases, after) {
  const names = inOrder(releases).map(({ release }) => literal(release)).filter(Boolean);
  const at = after === undefined ? names.length - 1 : names.indexOf(after);
  return at > 0 ? { before: names[at - 1], after: names[at] } : null;
}

/** Meanings of verdicts that report nothing. @type {Record<string, string>} */
const meanings = {
  'no change seen': 'The change lies in an interval around 0',
  'too few': 'Too few uploads have it, or in too little time',
  'no self time': 'What it calls is compared, each by itself',
  unmatched: 'Its name and place are not those of a function of the other side',
  early: 'Less than 12 hours of a side',
  'not enough data': 'Too few uploads on a side',
  'not comparable': 'The sides have too few pages, devices and browsers in common',
};

/** @param {string} verdict of compare_releases @param {number | null} [by] the change of what is slower or faster @param {number | null} [least] at_least */
export const verdictBadge = (verdict, by, least) => h('span', { class: `badge ${verdict.replaceAll(' ', '-')}`, title: meanings[verdict] },
  `${verdictLook(verdict).sign} ${visible(verdict)}${typeof least === 'number' ? `, at least ${change(least)}` : ''}${typeof by === 'number' && ['slower', 'faster'].includes(verdict) ? ` ${change(by)}` : ''}`.trim());

/** Returns the badge of a function. @param {Row} row of compare_releases @param {number | null} [by] */
export const functionBadge = ({ verdict, before_self_ms: before, after_self_ms: after, at_least: least }, by) => verdictBadge(verdict === 'too few' && before === 0 && after === 0 ? 'no self time' : verdict, by, least);

/** Returns a change and its interval, also as a bar around 0. @param {number | null} value @param {number | null} least @param {number | null} most */
export function interval(value, least, most) {
  if (typeof least !== 'number' || typeof most !== 'number') return h('span', null, change(value));
  const at = (/** @type {number} */ place) => 50 + 50 * Math.max(-1, Math.min(1, place));
  const [low, high] = [at(least), at(most)];
  return h('span', { class: 'interval' }, h('span', { class: 'amount' }, change(value)),
    h('span', { class: 'rail', 'aria-hidden': 'true', style: { '--low': `${low}%`, '--wide': `${Math.max(1, high - low)}%`, '--at': `${at(value ?? 0)}%` } }),
    h('span', { class: 'between' }, `${change(least)} … ${change(most)}`));
}

/** True if no comparison of releases can be asked for these filters. @param {State} state */
const cannotCompare = ({ params, site }) => isSaved() || site.includes('%') || ['marker', 'exclude_marker', 'exclude_release'].some((name) => params[name] !== undefined);

/** Returns the verdict on one function in the latest release, which comes later; null where none can be asked. @param {import('./main.js').Page} page @param {State} state */
export function latestVerdict(page, state) {
  if (cannotCompare(state)) return null;
  const shown = h('span', { class: 'latest', 'aria-busy': 'true' }, 'Asking the database …');
  const { signal } = page;
  (async () => {
    const pair = successors((await ask(releasesOf(state), signal)).rows, state.params.release);
    if (!pair) return ['This period has no release with one before it.'];
    const { rows } = await ask(question('compare_releases', state, { ...pair, top: mostCompared }), signal);
    const row = rows.find(({ function_key: key }) => key === state.item);
    const [before, after] = [pair.before, pair.after].map((name) => visible(readable(name), 80));
    return [...row ? [functionBadge(row), ` in ${after}: ${number(row.before_self_ms)} → ${number(row.after_self_ms)} ms per page load${
      typeof row.own_low === 'number' ? `, ${change(row.own_change)} (${change(row.own_low)} … ${change(row.own_high)})` : ''} since ${before}. `]
      : [`Not among the ${mostCompared} functions compared in ${after} and ${before}. `], h('a', { href: page.link({ view: 'compare', ...pair, release: null }) }, 'Compare')];
  })().catch((error) => [`Missing: ${visible(error.message)}`]).then((parts) => {
    shown.replaceChildren(...parts);
    shown.removeAttribute('aria-busy');
  });
  return shown;
}

/**
 * Returns a column with the verdict on each function, and a note on the compared sides; nothing in a saved file, or if
 * a filter does not apply to comparisons.
 * @param {import('./main.js').Page} page @param {State} state
 * @returns {{ columns: import('./table.js').Column[], note: HTMLElement | null }}
 */
export function changeColumn(page, state) {
  const { params } = state;
  if (cannotCompare(state)) return { columns: [], note: null };
  const note = h('p', { class: 'note' });
  /** Cells by key: sorting and searching ask nothing again. @type {Map<string, HTMLElement>} */
  const cells = new Map();
  /** @type {AbortController | null} */
  let running = null;
  /** @type {Map<string, Row> | null} */
  let verdicts = null;

  /** @param {string} key */
  const badgeOf = (key) => {
    const row = verdicts?.get(key);
    return row ? functionBadge(row, row.own_change) : '';
  };
  async function compare() {
    running = new AbortController();
    const { signal } = running;
    try {
      const pair = successors((await ask(releasesOf(state), signal)).rows, params.release);
      if (pair) {
        const { rows } = await ask(question('compare_releases', state, { ...pair, top: mostCompared }), signal);
        verdicts = new Map(rows.map((row) => [row.function_key, row]));
        for (const [key, cell] of cells) cell.replaceChildren(badgeOf(key));
        note.append(`Changes are those of ${visible(readable(pair.after), 80)} against ${visible(readable(pair.before), 80)}. `,
          h('a', { class: 'button', href: page.link({ view: 'compare', ...pair, release: null }) }, 'Compare them'));
      } else {
        note.append('Changes: this period has no release with one before it.');
      }
    } catch (error) {
      if (!signal.aborted) note.append(`Changes are missing: ${visible(/** @type {Error} */ (error).message)}`); // the table is right without them
    }
    if (!signal.aborted) inView.disconnect();
    running = null;
  }
  const inView = new IntersectionObserver((entries) => {
    if (entries.some(({ isIntersecting }) => isIntersecting)) { if (!running) void compare(); }
    else if (!note.isConnected) running?.abort();
  });

  return { note, columns: [{
    name: 'change', label: 'Since the release before', kind: 'picture', title: 'Change of self time, beyond noise, for the same mix of visitors',
    cell({ function_key: key }) {
      const found = cells.get(key);
      if (found) return found;
      const made = h('span', null, badgeOf(key));
      cells.set(key, made);
      if (!verdicts) inView.observe(made);
      return made;
    },
  }] };
}
