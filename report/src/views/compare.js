// SPDX-License-Identifier: Apache-2.0
/** Two releases, values of a dimension or periods: what changed beyond noise. */
import { ask, firstSaved, isAnswered, isSaved, question } from '../api.js';
import { block } from '../block.js';
import { functionBadge, inOrder, mostCompared, releasesOfSides, successors } from '../changes.js';
import { verdictLook } from '../colours.js';
import { columnsOf } from '../columns.js';
import { inZone, typed } from '../filters.js';
import { change, count, counted, number, percent, signed, time, visible, zone } from '../format.js';
import { h } from '../h.js';
import { icicle } from '../icicle.js';
import { functionCell, tableView, tabs, withoutAgent } from '../parts.js';
import { literal, ofLoads, ofOneSide, readable } from '../state.js';
import { joined, namesOf } from '../tree.js';
import { blockOf, couldHaveSeen, listNames, listOf, listQuestion, moreMs, ownBlocks, ownChange, withMore } from './compared.js';
import { builtTree, isDark, labelsOf } from './flame.js';
import { maxNodes } from './functions.js';

/** @typedef {import('../state.js').State} State */

/** The two sides. */
const both = /** @type {const} */ (['before', 'after']);
const sideNames = [...both, 'before_since', 'before_until', ...ofOneSide];
/** Means "no release"; not a valid release name. */
const anyRelease = '\0';

/** True if a side has this; the release, or another dimension, of page loads without one is ''. @param {Record<string, string>} params @param {string} name */
const isGiven = (params, name) => (/_(since|until)$/.test(name) ? Boolean(params[name]) : params[name] !== undefined);
/** Returns the filters of one side only, by dimension. @param {State} state @param {'before' | 'after'} side @returns {Record<string, string>} */
const ownFilters = ({ params }, side) => Object.fromEntries(ofLoads.flatMap((name) => (isGiven(params, `${side}_${name}`) ? [[name, params[`${side}_${name}`]]] : [])));
/** @param {State} state */
const sides = ({ params }) => Object.fromEntries(sideNames.map((name) => [name, isGiven(params, name) ? params[name] : undefined]));
/** @param {State} state */
const isChosen = ({ params }) => both.every((side) => isGiven(params, side)) || ['before_since', ...ofOneSide].some((name) => isGiven(params, name));

/** Returns what the chosen table asks. @param {State} state */
const listed = (state) => (state.params.by ? listQuestion(state, sides(state)) : question('compare_releases', state, { ...sides(state), top: mostCompared }));

/** Returns what the blocks above that table ask: none beside an address of one of their lists. @param {State} state @returns {Record<string, import('../api.js').Question>} */
const blocksOf = (state) => (ownBlocks.includes(state.params.by) ? {}
  : Object.fromEntries(ownBlocks.map((by) => [by, listQuestion({ ...state, params: { ...state.params, by } }, sides(state))]).filter(([, asked]) => isAnswered(/** @type {import('../api.js').Question} */ (asked)))));

/** Returns links to the tables of the comparison. @param {State} state @param {import('../main.js').Page} page */
function listTabs(state, page) {
  const apart = ofLoads.filter((name) => both.some((side) => isGiven(state.params, `${side}_${name}`)));
  return tabs('Compare', ['', ...listNames(apart)].map((by) => {
    const then = { ...state, params: { ...state.params, by } };
    return [by || 'functions', page.link({ by: by || null, sort: null, q: null, sel: null, root: null }), by === (state.params.by ?? ''), listed(then)];
  }));
}

/**
 * Returns the tree and the page loads of a side, in the hours that the comparison took.
 * @param {State} state @param {'before' | 'after'} side @param {import('../api.js').Row} summary
 */
function ofSide(state, side, summary) {
  const [since, until] = summary[`${side}_hours`];
  const given = { since, until, release: state.params[side], ...ownFilters(state, side) };
  return { tree: question('flamegraph_columns', state, { ...given, max_nodes: maxNodes, marker: undefined }), hours: question('summary', state, given) };
}

/** Returns what the graph of both sides asks; nothing without the hours of both. @param {State} state @param {import('../api.js').Row} [summary] @returns {Record<string, import('../api.js').Question>} */
function treesOf(state, summary) {
  if (state.params.by || !summary || !both.every((side) => hasHours(summary, side))) return {};
  return Object.fromEntries(both.flatMap((side) => {
    const { tree, hours } = ofSide(state, side, summary);
    return [[`${side}Tree?`, tree], [`${side}Hours?`, hours]];
  }));
}

/** A filter in words. @param {string} filter */
const inName = (filter) => visible(readable(filter), 80) || '(none)';
/** @param {State} state @param {'before' | 'after'} side */
function nameOf(state, side) {
  const release = state.params[side];
  const own = Object.entries(ownFilters(state, side)).map(([name, filter]) => `${name} ${inName(filter)}`);
  const all = [...release === undefined ? [] : [inName(release)], ...own];
  if (all.length > 0) return all.join(', ');
  return side === 'before' ? 'the earlier period' : 'the later period';
}

/** Returns which sides have no uploads, and what helps; null if both have some. @param {import('../api.js').Row} row @param {State} state */
function emptySides(row, state) {
  const empty = both.filter((side) => !(row[`${side}_uploads`] > 0)).map((side) => nameOf(state, side));
  if (empty.length === 0) return null;
  const hasPeriod = ['since', 'until', 'before_since', 'before_until'].some((name) => state.params[name]);
  return `There is nothing to compare: ${[...new Set(empty)].join(' and ')} ${empty.length > 1 ? 'have' : 'has'} no uploads ${
    hasPeriod ? 'in this period. Choose a longer one, or another release.' : 'that match. Choose another release, or remove a filter.'}`;
}

/** How many slower functions the headline names. */
const mostNamed = 3;

/**
 * Returns the slower functions, by name.
 * @param {import('../api.js').Row} summary @param {import('../api.js').Row[]} rows findings first @param {State} state @param {import('../main.js').Page} page
 */
function headline({ slower }, rows, state, page) {
  const where = `${nameOf(state, 'after')} than in ${nameOf(state, 'before')}`;
  if (slower === 0) return [`No function was found slower in ${where}.`];
  const named = rows.filter(({ verdict }) => verdict === 'slower').slice(0, mostNamed);
  return [`${counted(slower, 'function')} ${slower === 1 ? 'is' : 'are'} slower in ${where}${named.length > 0 ? ': ' : '.'}`,
    ...named.flatMap((row, i) => [i > 0 && '; ', h('a', { href: page.link({ view: 'function', item: row.function_key }) }, visible(row.function, 80)),
      `, ${signed(row.after_self_ms - row.before_self_ms)} ms per page load (${number(row.before_self_ms)} → ${number(row.after_self_ms)}), ${change(row.own_change)}${typeof row.own_low === 'number' ? ` (${change(row.own_low)} … ${change(row.own_high)})` : ''}`]),
    named.length === 0 ? null : slower > named.length ? `; and ${count(slower - named.length)} more.` : '.'];
}

/** Returns a sentence with its first letter as a capital, if that is ours. @param {string} text */
const sentence = (text) => text.replace(/^the (?=later period|earlier period)/, () => 'The ');

/** @param {import('../api.js').Row} row */
function placebo({ placebo_tested: tested, placebo_flags: flags }) {
  if (!(tested > 0)) return 'The placebo test was not possible: the earlier side is too small.';
  return `Placebo: ${count(flags)} of ${counted(tested, 'function')} differ between two halves of the earlier side${
    flags / tested > 0.05 ? ', which is too many: do not trust the verdicts' : ''}.`;
}

/** Returns when a change of 20 % could be found; null if it could now. @param {import('../api.js').Row} row of compare_summary */
function wait(row) {
  if (typeof row.decidable_in !== 'number') return null;
  const hours = hasHours(row, 'after') ? (Date.parse(row.after_hours[1]) - Date.parse(row.after_hours[0])) / 3_600_000 : 0;
  return `A slowdown of 20 % in what runs in every load would be found ${
    row.decidable_in + hours > 48 ? 'not within 48 hours' : `in about ${count(Math.ceil(row.decidable_in))} h`} at this traffic.`;
}

/** @param {import('../api.js').Row} row of compare_summary @param {import('../api.js').Row[]} rows @param {State} state @param {import('../main.js').Page} page */
function inWords(row, rows, state, page) {
  const parts = [
    `${count(row.slower)} slower`, `${count(row.faster)} faster`, row.new > 0 && `${count(row.new)} new`, row.gone > 0 && `${count(row.gone)} gone`,
    `${count(row.unchanged)} without a change that could be seen`, `${count(row.too_few)} with too few uploads or too little time to tell`,
    row.unmatched > 0 && `${count(row.unmatched)} without a name to find them again`,
    row.undecided > 0 && `${count(row.undecided)} of which too little is known`,
  ].filter(Boolean).join(', ');
  const least = Math.min(row.before_uploads, row.after_uploads);
  const obstacle = row.obstacle === 'early' ? `It is too early to tell: each side needs ${count(row.least_uploads)} uploads and 12 hours, or a change far beyond noise.`
    : row.obstacle === 'not enough data' ? `There is not enough data: ${count(least)} of ${count(row.least_uploads)} uploads.`
    : row.obstacle ? 'The sides are not comparable: less than half of the later uploads are of pages, devices and browsers that both sides have.' : null;
  const sides = `${nameOf(state, 'after')} against ${nameOf(state, 'before')}`;
  const method = [
    wait(row),
    !obstacle && row.common_change === null && 'What all functions changed by in common is not known: it takes 30.',
    !obstacle && row.common_change && `Everything together changed by ${change(row.common_change)}; that is taken off the changes below.`,
    typeof row.comparable_share === 'number' && `${percent(row.comparable_share)} of the later uploads are comparable.`,
    !obstacle && placebo(row),
    row.by_time && 'Uploads of one side are longer, so functions were compared as if all were equally long.',
    row.seen_differs && `Of the earlier side’s time the browser saw ${percent(row.before_seen_share)}, of the later one’s ${
      percent(row.after_seen_share)}: what it did not see is missing, most on the side with less.`,
  ].filter(Boolean).join(' ');
  const empty = emptySides(row, state);
  return [
    h('p', { class: 'verdict' }, ...empty ? [empty] : obstacle ? [sentence(`${sides}: ${obstacle}`)] : headline(row, rows, state, page)),
    ...empty ? [] : [obstacle ? null : h('p', null, sentence(`${sides}: ${parts}.`)), method ? h('p', null, method) : null],
    h('p', { class: 'note' }, ...both.map((side) => `${side}: ${counted(row[`${side}_uploads`] ?? 0, 'upload')}${
      hasHours(row, side) ? `, ${row[`${side}_hours`].map(time).join(' – ')} ${zone}` : ''}. `)),
  ];
}

/** True if a side has uploads, and so a first and a last hour. @param {import('../api.js').Row | undefined} row @param {'before' | 'after'} side */
const hasHours = (row, side) => typeof row?.[`${side}_hours`]?.[0] === 'string';

/** @type {import('../main.js').View} */
export const compare = {
  title: 'Compare',
  key: 'c',
  asks: (state) => ({
    releases: releasesOfSides(state),
    ...isChosen(state) ? { summary: question('compare_summary', state, sides(state)) } : {},
  }),
  otherwise(state, { releases: { rows } }) {
    // As latest_releases in SQL.
    if (state.site.includes('%') || sideNames.some((name) => isGiven(state.params, name))) return null;
    if (isSaved()) return Object.fromEntries([['since', null], ['until', null], ...new URLSearchParams(firstSaved('compare_summary')?.split('?')[1])].filter(([name]) => name !== 'site'));
    return successors(rows);
  },
  async above(page, state) {
    return chooser(inOrder((await ask(releasesOfSides(state))).rows), state, page);
  },
  later: (state, answers) => (isChosen(state) ? { ...blocksOf(state), rows: listed(state), ...treesOf(state, answers?.summary.rows[0]) } : {}),
  period({ summary }) {
    const row = summary?.rows[0];
    if (!row || !both.every((side) => hasHours(row, side))) return null;
    const sides = both.map((side) => row[`${side}_hours`]);
    const [since, until] = [sides.map(([from]) => from).sort()[0], sides.map(([, to]) => to).sort()[1]];
    return { since, until, sides };
  },
  mount(main, answers, page, first) {
    const known = inOrder(answers.releases.rows);
    const form = chooser(known, first, page);
    if (!isSaved()) main.append(form);
    if (!isChosen(first)) {
      main.append(h('p', { class: 'empty' }, first.site.includes('%') ? 'Releases of several sites do not follow each other. Choose two releases, two values of a dimension, or give the earlier side a period.'
        : known.length < 2 ? 'This site has less than two releases in this period. Choose a longer one, or under Other sides a period for the earlier side.'
        : 'Choose two releases, two values of a dimension, or give the earlier side a period.'));
      return { update() {}, exported: () => null };
    }
    const { summary: { rows: [summary] } } = answers;
    const around = compare.period?.(answers);
    /** A function's page shows the time of both sides. @type {import('../main.js').Page} */
    const pageOf = Object.create(page, { link: { value: (/** @type {Parameters<typeof page.link>[0]} */ changes) => page.link(changes.view === 'function' && around ? { since: around.since, until: around.until, ...changes } : changes) } });
    if (!summary) {
      main.append(h('p', { class: 'empty' }, 'There is nothing to compare: a side has no uploads.'));
      return { update() {}, exported: () => null };
    }
    const words = h('section', { class: 'summary' }, ...inWords(summary, [], first, page));
    main.append(words);
    if (emptySides(summary, first)) return { update() {}, exported: () => null };
    /** Adds answers to those of the page, for its SQL and commands. @param {Record<string, import('../api.js').Answer>} more */
    const heard = (more) => { Object.assign(answers, more); };
    const { by } = first.params;
    const own = Object.entries(blocksOf(first)).map(([name, asked]) => blockOf(page, first, name, asked, heard));
    const graph = by ? [] : [block(page, first, 'graph', 'Both sides as one graph', { rows: listed(first), ...treesOf(first, summary) },
      (box, heardOf) => ({ update: diff(box, heardOf, heardOf.rows.rows, page) }), heard)];
    const list = block(page, first, by ?? 'functions', null, { rows: listed(first) }, (box, { rows: { rows } }) => {
      if (by) return tableView(box, page, first, listOf(by, rows, page));
      words.replaceChildren(...inWords(summary, rows, first, pageOf).filter((part) => part !== null));
      return functionTable(box, rows, first, pageOf);
    }, heard);
    main.append(...own.map(({ element }) => element), h('h2', { class: 'part' }, 'Functions and what they cost by group'), listTabs(first, page), ...[...graph, list].map(({ element }) => element));
    return { update(state) { for (const part of [...own, ...graph, list]) part.update(state); }, exported: list.exported };
  },
};

/** Shows the functions of both sides. @param {HTMLElement} box @param {import('../api.js').Row[]} all of compare_releases @param {State} state @param {import('../main.js').Page} page */
function functionTable(box, all, state, page) {
  const { rows, note } = withoutAgent(all, ['before_self_ms', 'after_self_ms'],
    ([before, after]) => `${before} ms per page load before, and ${after} ms after`);
  return tableView(box, page, state, {
    name: 'compare', caption: 'Functions', rows: withMore(rows), search: ['function', 'resource', 'verdict'], empty: 'No function is on a side.', exported: Object.keys(all[0] ?? {}),
    columns: [...columnsOf('compare_releases', {
      verdict: { cell: (row) => functionBadge(row) }, function: { cell: (row) => functionCell(page, row) },
      before_self_ms: {}, after_self_ms: {} }), moreMs, ...columnsOf('compare_releases', { own_change: ownChange, smallest_visible: couldHaveSeen, before_uploads: {}, after_uploads: {}, samples: {} })],
    after: h('div', null, h('p', { class: 'note' }, 'What was found comes first, then what costs most. ', h('a', { class: 'help', href: '/help/comparison.html', target: '_blank' }, 'How changes are found')), note),
  });
}

/** @param {import('../api.js').Row[]} releases @param {State} state @param {import('../main.js').Page} page */
function chooser(releases, { params }, page) {
  const latest = releases.slice(-2).map(({ release }) => literal(release));
  const apart = ofLoads.find((name) => both.some((side) => isGiven(params, `${side}_${name}`))) ?? '';
  const choice = (/** @type {'before' | 'after'} */ name, /** @type {number} */ place) => h('label', null, `${name} `, h('select', { name, id: `choose-${name}` },
    h('option', { value: anyRelease }, '(all)'),
    [...new Set([...releases.map(({ release }) => literal(release)), ...params[name] === undefined ? [] : [params[name]]])].map((release) => h('option', {
      value: release, selected: release === (params[name] ?? (params.before_since || apart ? anyRelease : latest[place])),
    }, visible(readable(release) || '(none)', 60)))));
  const period = (/** @type {string} */ name) => h('label', null, `before, ${name === 'before_since' ? 'from' : 'until'} `, h('input', {
    name, id: `choose-${name}`, value: inZone(params[name]), placeholder: name === 'before_since' ? 'same hours' : '', autocomplete: 'off', spellcheck: false }));
  const value = (/** @type {'before' | 'after'} */ side) => h('label', null, `${side} value `, h('input', {
    name: `${side}_value`, id: `choose-${side}_value`, value: params[`${side}_${apart}`] ?? '', autocomplete: 'off', spellcheck: false }));
  return h('form', {
    class: 'custom row', 'aria-label': 'What to compare',
    onsubmit: (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
      const given = (/** @type {string} */ name) => String(form.get(name) ?? '');
      const dimension = given('apart');
      // The form shows two releases that nobody chose: values of a dimension are compared without them.
      const isUnchosen = dimension && both.every((side) => !isGiven(params, side));
      page.go(Object.fromEntries([...both.map((side) => [side, isUnchosen || given(side) === anyRelease ? null : given(side)]),
        ...both.flatMap((side) => [...apart ? [[`${side}_${apart}`, null]] : [], ...dimension ? [[`${side}_${dimension}`, given(`${side}_value`)]] : []]),
        ...['before_since', 'before_until'].map((name) => [name, typed(form.get(name))])]));
    },
  }, choice('before', 0), choice('after', 1), h('details', { class: 'other', open: Boolean(apart || params.before_since || params.before_until) }, h('summary', null, 'Other sides'), h('div', { class: 'row' },
  period('before_since'), period('before_until'), h('label', null, 'sides by ', h('select', { name: 'apart', id: 'choose-apart', title: 'A dimension whose values make the two sides' },
    ['', ...ofLoads].map((name) => h('option', { value: name, selected: name === apart }, name || '(release or period)')))),
  value('before'), value('after'))), h('button', { type: 'submit', id: 'compare-them' }, 'Compare'),
  both.every((side) => isGiven(params, side)) ? h('a', { class: 'button', href: page.link({ before: params.after, after: params.before }) }, 'Swap') : null);
}

/**
 * Draws both sides as one graph; returns what draws it again.
 * @param {HTMLElement} main
 * @param {Record<string, import('../api.js').Answer>} answers
 * @param {import('../api.js').Row[]} rows of compare_releases
 * @param {import('../main.js').Page} page
 */
function diff(main, answers, rows, page) {
  const loads = (/** @type {string} */ name) => (answers[name]?.rows ?? []).reduce((sum, row) => sum + (row.loads ?? 0), 0);
  const [beforeLoads, afterLoads] = [loads('beforeHours'), loads('afterHours')];
  if (!answers.beforeTree?.tree || !answers.afterTree?.tree || !(beforeLoads > 0) || !(afterLoads > 0)) {
    main.append(h('p', { class: 'note' }, 'No graph: the flame graph of a side is not there.'));
    return (/** @type {State} */ _) => {};
  }
  const tree = joined(builtTree(answers.beforeTree), beforeLoads, builtTree(answers.afterTree), afterLoads);
  const label = labelsOf(tree);
  const verdict = new Map(rows.map((row) => [row.function_key, row]));
  const [before, after] = [/** @type {Float64Array} */ (tree.before), /** @type {Float64Array} */ (tree.after)];
  const ms = (/** @type {number} */ us) => number(us / 1000);
  const hoverLine = h('p', { class: 'hover' });
  const names = namesOf(tree);
  const sentence = (/** @type {number} */ node) => {
    const row = node > 0 ? verdict.get(tree.frames.function_key[tree.frame[node]]) : undefined;
    return `${node > 0 ? label(tree.frame[node]) : '(all)'} · here ${ms(before[node])} → ${ms(after[node])} ms per page load${
      row ? ` · the function: ${row.verdict}${row.own_change === null ? '' : `, ${change(row.own_change)}`}` : ''}`;
  };
  const graph = icicle('Both sides as one graph; the table below has the verdicts', {
    select: (node) => { page.go({ sel: node > 0 ? names.of(node) : null }, { replace: true }); page.say(sentence(node)); },
    zoom: (node) => page.go({ root: node > 0 ? names.of(node) : null, sel: node > 0 ? names.of(node) : null }),
    hover: sentence,
    menu: (node) => [['Callers, callees, trend', () => page.go({ view: 'function', item: tree.frames.function_key[tree.frame[node]] })]],
    key: (key, node) => {
      if (key === 'c' && node > 0) page.go({ view: 'function', item: tree.frames.function_key[tree.frame[node]] });
      return key === 'c';
    },
  }, 420);
  /** @param {State} state */
  function show({ params }) {
    const selected = names.find(params.sel);
    hoverLine.textContent = selected < 0 ? '' : sentence(selected);
    const shade = isDark() ? 'dark' : 'light';
    graph.show({
      tree, root: Math.max(0, names.find(params.root)), selected, found: null, whole: `(all) ${ms(before[0])} → ${ms(after[0])} ms per page load`,
      look: (frame, node) => {
        const name = verdict.get(tree.frames.function_key[frame])?.verdict;
        const look = verdictLook(name);
        return { fill: look[shade], label: `${look.sign && `${look.sign} `}${label(frame)}`, hatched: before[node] === 0 && name === 'new', outlined: after[node] === 0 };
      },
    });
  }
  main.append(h('section', null,
    h('p', { class: 'note' }, 'Widths are both sides together, per page load as observed. ▲ slower, ▼ faster, + new, − gone: the verdict on the function; grey is without a finding. A dashed outline is a place that only the earlier side has.'),
    graph.element, hoverLine));
  return show;
}

