// SPDX-License-Identifier: Apache-2.0
/** The flame graph of a selection: where a site begins. */
import { firstSaved, isSaved, question } from '../api.js';
import { callTree } from '../calltree.js';
import { colour, partiesOf, partyNames } from '../colours.js';
import { count, counted, duration, percent, place, shortPlace, visible } from '../format.js';
import { button, h } from '../h.js';
import { icicle } from '../icicle.js';
import { facts, functionCell, nothing, perLoad, placeLink, searchBox, unselected } from '../parts.js';
import { table } from '../table.js';
import { functionsOf, inverted, matcher, namesOf, pathTo, search, transformed, treeOf } from '../tree.js';
import { maxNodes, mostNodes } from './functions.js';

/** @typedef {import('../tree.js').Tree} Tree */

/** With fewer samples, a number is an anecdote. */
const fewSamples = 50;

/** SQL's names for folds of packages, and the page's words for them. */
const folds = { package: 'one frame per package', caller: 'as time of their callers' };

/** The question of a saved file's graph. A saved file has one graph. */
const savedGraph = () => new URLSearchParams(firstSaved('flamegraph_columns')?.split('?')[1]);

/** @param {import('../state.js').State} state */
const foldOf = ({ params }) => {
  const fold = (isSaved() ? savedGraph().get('fold') : params.fold) ?? '';
  return Object.hasOwn(folds, fold) ? fold : undefined;
};

/** @param {import('../state.js').State} state */
export const nodesOf = ({ params }) => {
  if (isSaved()) return Number(savedGraph().get('max_nodes') ?? maxNodes);
  return params.nodes === 'most' ? mostNodes : maxNodes;
};

/** If at least this share of the zoomed node is left out, the page asks another question. */
const leftOutShare = 0.01;

/** Trees of answers, so that going back builds nothing again. @type {WeakMap<object, Tree>} */
const built = new WeakMap();

/** Returns the tree of an answer; takes its columns. @param {import('../api.js').Answer} answer */
export function builtTree(answer) {
  const found = built.get(answer);
  if (found) return found;
  const tree = treeOf(answer.tree ?? {});
  built.set(answer, tree);
  for (const name of ['level', 'frame', 'self', 'total', 'samples']) delete answer.tree[name]; // the tree has them
  return tree;
}

/** @param {Tree} tree @param {number} node */
export function rowOf({ frames, frame }, node) {
  const i = frame[node];
  return {
    function: frames.function[i], resource: frames.resource[i], line: frames.line[i], column_number: frames.column_number[i],
    kind: frames.kind[i], function_key: frames.function_key[i],
  };
}

/** Returns labels of frames, made when first drawn. @param {Tree} tree */
export function labelsOf({ frames }) {
  /** @type {string[]} */
  const labels = [];
  return (/** @type {number} */ frame) => labels[frame] ?? (labels[frame] = visible(frames.function[frame], 200));
}

/**
 * Returns how frames look, each made when first drawn; transforms keep frames.
 * @param {Tree} tree @param {import('../colours.js').Party[]} parties by frame @param {(frame: number) => string} label @param {boolean} dark
 */
function looksOf({ frames }, parties, label, dark) {
  /** @type {{ fill: string, hatched: boolean, label: string }[]} */
  const looks = [];
  return (/** @type {number} */ frame) => looks[frame] ?? (looks[frame] = {
    fill: colour(parties[frame], frames.function[frame], dark), hatched: parties[frame] === 'third', label: label(frame),
  });
}

/** The note for an address whose zoomed node no longer exists. */
const lost = 'The place that this address zooms to is not in this selection.';

/** How many functions the table beside the graph shows. */
const mostListed = 40;

/**
 * Returns the functions that a table begins with.
 * @param {import('../tree.js').FunctionSum[]} sums by descending own time @param {Tree['frames']} frames @param {string} sort as of a table
 */
function firstOf(sums, frames, sort) {
  const ascending = !sort.startsWith('-');
  const name = ascending ? sort : sort.slice(1);
  const sign = ascending ? 1 : -1;
  const value = (/** @type {import('../tree.js').FunctionSum} */ { frame, self, total, samples }) => (
    name === 'function' ? frames.function[frame] : name === 'total_ms_per_load' ? total : name === 'samples' ? samples : self);
  const isAsIs = !ascending && !['function', 'total_ms_per_load', 'samples'].includes(name);
  const ordered = isAsIs ? sums : [...sums].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    return sign * (a < b ? -1 : Number(a > b));
  });
  return ordered.slice(0, mostListed);
}

export const isDark = () => document.documentElement.dataset.theme === 'dark';

/** @type {import('../main.js').View} */
export const flame = {
  title: 'Flame graph',
  key: 'f',
  asks: (state) => ({ tree: question('flamegraph_columns', state, { max_nodes: nodesOf(state), fold: foldOf(state) }), 'hosts?': question('third_parties', state) }),
  mount(main, { tree: answer, hosts }, page, first) {
    const whole = builtTree(answer);
    if (whole.count === 0) {
      main.append(h('p', { class: 'empty' }, nothing));
      return { update() {}, exported: () => null };
    }
    const { parties, guessed } = partiesOf(whole, hosts.rows);
    const label = labelsOf(whole);
    const keys = new Map(whole.frames.function_key.map((key, frame) => [key, whole.group[frame]]));
    const { totals } = page;

    let state = first;
    let tree = whole;
    /** The same, not inverted: what functions and kinds of code cost. */
    let upright = whole;
    let names = namesOf(whole);
    let transformKey = '';
    let root = 0;
    let selected = -1;
    /** @type {ReturnType<typeof search> | null} */
    let found = null;
    let foundKey = '';
    /** @type {Map<number, { self: number, total: number, samples: number }>} */
    let sums = new Map();
    /** @type {import('../tree.js').FunctionSum[]} */
    let allFunctions = [];
    let sumsOf = /** @type {Tree | null} */ (null);
    let looksDark = isDark();
    let look = looksOf(whole, parties, label, looksDark);
    /** @type {ReturnType<typeof kindsOf>} */
    let kinds = [];
    let tableKey = '';
    /** @type {import('../tree.js').FunctionSum[]} */
    let listed = [];

    const input = searchBox(first, page, 'Search functions or scripts, /regular expression/');
    const matches = h('span', { class: 'found', role: 'status' });
    const chips = h('div', { class: 'chips' });
    const crumbs = h('nav', { class: 'crumbs', 'aria-label': 'Zoomed in' });
    const details = h('section', { class: 'details', 'aria-label': 'Selected' });
    const list = h('section', { class: 'side-table' });
    const colours = h('ul', { class: 'legend', 'aria-label': 'Self time by kind of code' });

    const select = (/** @type {number} */ node) => page.go({ sel: node > 0 ? names.of(node) : null }, { replace: true });
    const hasMore = answer.tree.omitted_us > 0 && nodesOf(first) < mostNodes && !isSaved();
    /** True if a larger graph shows much more of a place. @param {number} node */
    const isWorthMore = (node) => hasMore && node > 0 && !state.params.inverted
      && tree.rest.subarray(node, tree.end[node]).reduce((sum, us) => sum + us, 0) > leftOutShare * tree.total[node];
    const zoom = (/** @type {number} */ node) => page.go({
      root: node > 0 ? names.of(node) : null, sel: node > 0 ? names.of(node) : null, ...isWorthMore(node) ? { nodes: 'most' } : {},
    });
    const transform = (/** @type {Record<string, string | null>} */ changes) => page.go({ root: null, sel: null, ...changes });
    const hidden = () => (state.params.hide ?? '').split(',').filter(Boolean);
    const keyOf = (/** @type {number} */ node) => tree.frames.function_key[tree.frame[node]];

    const did = {
      callers: (/** @type {number} */ node) => page.go({ view: 'function', item: keyOf(node) }),
      focus: (/** @type {number} */ node) => transform({ focus: keyOf(node) }),
      hide: (/** @type {number} */ node) => transform({ hide: [...new Set([...hidden(), keyOf(node)])].join(',') }),
      recursion: () => transform({ rec: state.params.rec ? null : '1' }),
      invert: () => transform({ inverted: state.params.inverted ? null : '1' }),
      fold: () => { if (!isSaved()) transform({ fold: foldOf(state) ? null : 'package' }); },
    };
    const step = (/** @type {number} */ by) => {
      if (!found || found.nodes.length === 0) return;
      const inView = found.nodes.filter((node) => node >= root && node < tree.end[root]);
      const [ahead, behind] = [inView.filter((node) => node > selected), inView.filter((node) => node < selected)];
      const next = by > 0 ? ahead[0] ?? inView[0] : behind[behind.length - 1] ?? inView[inView.length - 1];
      if (next !== undefined) select(next);
    };
    const graphKeys = /** @type {Record<string, (node: number) => void>} */ ({
      c: (node) => { if (node > 0) did.callers(node); }, o: (node) => { if (node > 0) did.focus(node); }, x: (node) => { if (node > 0) did.hide(node); },
      r: did.recursion, i: did.invert, p: did.fold, n: () => step(1), N: () => step(-1), m: () => details.querySelector('button')?.focus(),
    });
    const key = (/** @type {string} */ name, node = Math.max(selected, 0)) => {
      graphKeys[name]?.(node);
      return name in graphKeys;
    };

    const graph = icicle('Flame graph: the call tree beside it has the same', {
      select, zoom, key, menu: (node) => doable(node).map(([, text, act]) => [text, act]),
      hover: (node) => (node === 0 ? wholeLabel() : [sentence(node), shortPlace(rowOf(tree, node)), partyNames[parties[tree.frame[node]]]].filter(Boolean).join(' · ')),
    });
    const calls = callTree('Call tree', { select, zoom });

    main.append(
      h('div', { class: 'tools' }, input, matches,
        button('Inverted', did.invert, { id: 'inverted', title: 'Functions by their own time, with their callers on top' }),
        button('Collapse recursion', did.recursion, { id: 'recursion', title: 'A function that is on the stack already goes on where it began' }),
        h('label', { title: isSaved() ? 'A saved report has one answer; a running fleetprof serve has all' : 'Folds neighbouring frames of one package, or of ignored code; no time is lost' }, 'Packages ', h('select', {
          id: 'fold', disabled: isSaved(), onchange: (/** @type {Event} */ { target }) => transform({ fold: /** @type {HTMLSelectElement} */ (target).value || null }),
        }, Object.entries({ '': 'all frames', ...folds }).map(([value, name]) => h('option', { value, selected: value === (foldOf(first) ?? '') }, name)))), chips),
      crumbs,
      h('div', { class: 'flame' },
        h('div', { class: 'picture' }, graph.element, colours),
        h('aside', { 'aria-label': 'Selection, functions, call tree' }, details, list, h('section', { class: 'tree-box' }, h('h2', null, 'Call tree'), calls.element))));

    const wholeLabel = () => `(all) ${perLoad(page, tree.total[0])}`;
    /** Returns an entry of the legend for the time without a stack. */
    const notDrawn = () => (totals.unattributed_ms > 0 ? [h('li', null, `not drawn: ${percent(totals.unattributed_ms / totals.profiled_ms)} of the profiled time is unattributed: `,
      h('a', { href: page.link({ view: 'where', by: 'marker' }), title: 'What the browser did, where it says so: layout, garbage collection and the like' }, 'the page was idle, or busy in code that it may not see'))] : []);
    const nameOf = (/** @type {number} */ node) => (node === 0 ? '(all)' : label(tree.frame[node]));
    const ownOf = (/** @type {number} */ node) => (tree.own ?? tree.self)[node];
    const shareOf = (/** @type {number} */ us) => percent(us / (tree.total[0] || 1));
    const sentence = (/** @type {number} */ node) => (node === 0 ? wholeLabel()
      : `${nameOf(node)} · ${perLoad(page, tree.total[node])} in all, ${perLoad(page, ownOf(node))} itself · ${shareOf(tree.total[node])} of this graph · ${counted(tree.samples[node], 'sample')}`);

    /** Returns the actions of a node: name, label, action. @param {number} node @returns {[string, string, () => void][]} */
    const doable = (node) => [['zoom', 'Zoom', () => zoom(node)], ['focus', 'Focus', () => did.focus(node)], ['hide', 'Hide', () => did.hide(node)],
      ['open', 'Callers, callees, trend', () => did.callers(node)],
      ['copy', 'Copy name', () => { const row = rowOf(tree, node); void page.copy(`${row.function}${place(row) ? ` ${place(row)}` : ''}`); }]];

    function describe() {
      const node = selected;
      if (node <= 0) {
        details.replaceChildren(...unselected('a function'));
        return;
      }
      const row = rowOf(tree, node);
      const sum = sums.get(tree.group[tree.frame[node]]);
      details.replaceChildren(
        h('h2', { title: place(row) }, nameOf(node)), h('p', null, placeLink(row) ?? h('span', { class: 'note' }, visible(row.kind))),
        facts([
          ['Total here', `${perLoad(page, tree.total[node])} · ${shareOf(tree.total[node])}`],
          ['Self here', `${perLoad(page, ownOf(node))} · ${shareOf(ownOf(node))}`],
          totals.profiled_ms > 0 ? ['Of all profiled time', percent(tree.total[node] / 1000 / totals.profiled_ms)] : null,
          ['Samples', `${count(tree.samples[node])}${tree.samples[node] < fewSamples ? ': an anecdote' : ''}`],
          tree.rest[node] > 0 ? ['Left out above', perLoad(page, tree.rest[node])] : null,
          sum ? ['In all its places', `${perLoad(page, sum.total)} total, ${perLoad(page, sum.self)} self`] : null,
        ]),
        h('div', { class: 'row' }, doable(node).map(([name, text, act]) => (name === 'open' ? h('a', { class: 'button', href: page.link({ view: 'function', item: keyOf(node) }) }, text)
          : button(text, act, { id: `do-${name}` })))));
    }

    function showTable() {
      const own = `${transformKey} ${root} ${foundKey} ${state.params.sort ?? ''}`;
      if (own === tableKey && list.childElementCount > 0) return;
      tableKey = own;
      listed = (root === 0 ? allFunctions : functionsOf(tree, root)).filter(({ frame }) => !found || found.isFound[frame]);
      const sort = state.params.sort ?? '-self_ms_per_load';
      const focused = list.contains(document.activeElement) ? document.activeElement?.id : '';
      list.replaceChildren(h('h2', null, `Functions${root > 0 || found ? ' in view' : ''}`), table({
        caption: 'Functions of the graph', rows: firstOf(listed, tree.frames, sort).map(listedRow), sort, most: mostListed, all: listed.length,
        greatest: { self_ms_per_load: perLoadMs(listed.reduce((most, { self }) => Math.max(most, Math.abs(self)), 0)) || 1 }, onsort: (sort) => page.go({ sort }, { replace: true }),
        columns: [
          { name: 'function', label: 'Function', cell: (row) => functionCell(page, row) },
          { name: 'self_ms_per_load', label: 'Self ms/load', kind: 'number', bar: true },
          { name: 'total_ms_per_load', label: 'Total ms/load', kind: 'number' }, { name: 'share', label: 'Self share', kind: 'share', title: 'Self time as a share of what is in view' }],
      }));
      if (focused) document.getElementById(focused)?.focus();
    }

    const perLoadMs = (/** @type {number} */ us) => us / 1000 / (totals.loads || 1);
    /** @param {import('../tree.js').FunctionSum} sum @returns {import('../api.js').Row} */
    const listedRow = ({ frame, self, total, samples, group }) => ({
      function: tree.frames.function[frame], resource: tree.frames.resource[frame], line: tree.frames.line[frame],
      column_number: tree.frames.column_number[frame], kind: tree.frames.kind[frame], function_key: tree.frames.function_key[frame],
      self_ms_per_load: perLoadMs(self), total_ms_per_load: perLoadMs(total), share: self / (tree.total[root] || 1), samples, group,
    });
    const figures = (/** @type {number} */ node) => `${duration(tree.total[node] / 1000 / (totals.loads || 1))}, ${shareOf(tree.total[node])}`;

    function showChips() {
      const chip = (/** @type {string} */ text, /** @type {Record<string, string | null>} */ off) => h('span', { class: 'chip' }, h('span', null, text),
        button('×', () => transform(off), { class: 'remove', 'aria-label': `Undo: ${text}` }));
      const called = (/** @type {string} */ wanted) => {
        const frame = whole.frames.function_key.indexOf(wanted);
        return frame < 0 ? 'a function that is not here' : visible(whole.frames.function[frame], 60);
      };
      const { focus } = state.params;
      chips.replaceChildren(...focus ? [chip(`focus: ${called(focus)}`, { focus: null })] : [],
        ...hidden().map((name) => chip(`hidden: ${called(name)}`, { hide: hidden().filter((other) => other !== name).join(',') || null })));
      document.getElementById('inverted')?.setAttribute('aria-pressed', String(Boolean(state.params.inverted)));
      document.getElementById('recursion')?.setAttribute('aria-pressed', String(Boolean(state.params.rec)));
    }

    function showCrumbs() {
      const path = root > 0 ? pathTo(tree, root) : [];
      const shown = path.length > 8 ? [...path.slice(0, 2), -1, ...path.slice(-5)] : path;
      const isLost = Boolean(state.params.root) && root === 0;
      crumbs.hidden = path.length === 0 && !isLost;
      if (isLost) {
        crumbs.replaceChildren(h('span', { class: 'note' }, lost));
        return;
      }
      crumbs.replaceChildren(...shown.map((node, i) => (node < 0 ? h('span', null, '…') : i === shown.length - 1 ? h('span', { 'aria-current': 'true' }, nameOf(node))
        : button(nameOf(node), () => zoom(node), { class: 'crumb' }))));
    }

    function retransform() {
      const { hide = '', focus = '', rec = '', inverted: turned = '' } = state.params;
      const next = [hide, focus, rec, turned].join('|');
      if (next === transformKey) return;
      transformKey = next;
      const group = (/** @type {string} */ name) => keys.get(name) ?? -2;
      upright = hide || focus || rec ? transformed(whole, { hide: new Set(hidden().map(group)), ...focus ? { focus: group(focus) } : {}, recursion: Boolean(rec) }) : whole;
      tree = turned ? inverted(upright) : upright;
      names = namesOf(tree);
      found = null;
      foundKey = '';
    }

    return {
      update(next) {
        state = next;
        const { q, root: rootName, sel } = state.params;
        retransform();
        if (document.activeElement !== input) input.value = q ?? '';
        root = Math.max(0, names.find(rootName));
        selected = names.find(sel);
        if ((q ?? '') !== foundKey) {
          foundKey = q ?? '';
          const test = q ? matcher(q) : null;
          found = test ? search(tree, test) : null;
          matches.textContent = !q ? '' : !test ? 'This expression cannot be read.'
            : found && found.nodes.length > 0 ? `${counted(found.nodes.length, 'place')}, ${shareOf(found.time)} of the time` : 'Nothing matches.';
        }
        const dark = isDark();
        if (sumsOf !== tree || dark !== looksDark) {
          sumsOf = tree;
          kinds = kindsOf(upright, parties, guessed && `guessed: those of ${visible(guessed, 60)}${hosts.failure ? '' : '; set sites[].origins'}`);
          colours.replaceChildren(...legend(kinds, upright, nodesOf(first), hasMore ? () => page.go({ nodes: 'most' }) : null), ...notDrawn());
          allFunctions = functionsOf(upright);
          sums = new Map(allFunctions.map((sum) => [sum.group, sum]));
        }
        if (dark !== looksDark) { look = looksOf(whole, parties, label, dark); looksDark = dark; }
        graph.show({ tree, root, selected, found: found?.isFound ?? null, whole: wholeLabel(), look });
        if (selected > 0) page.say(sentence(selected));
        else if (rootName && root === 0) page.say(lost);
        showChips();
        showCrumbs();
        describe();
        showTable();
        calls.show({ tree, selected, name: nameOf, figures });
      },
      key,
      tree: () => tree,
      picture: () => ({ kinds, parties }),
      exported: () => ({
        name: 'flame', columns: ['function', 'resource', 'line', 'column_number', 'kind', 'function_key', 'self_ms_per_load', 'total_ms_per_load', 'samples'], rows: listed.map(listedRow),
      }),
    };
  },
};

/**
 * Returns the kinds of code of a graph, with the share of time of each.
 * @param {Tree} tree
 * @param {import('../colours.js').Party[]} parties
 * @param {string | null} [guess] why own scripts may be others
 * @returns {[import('../colours.js').Party, string][]}
 */
export function kindsOf(tree, parties, guess) {
  /** @type {Map<import('../colours.js').Party, number>} */
  const sums = new Map();
  const byFrame = new Float64Array(parties.length);
  const isThere = new Uint8Array(parties.length);
  for (let i = 1; i < tree.count; i += 1) {
    byFrame[tree.frame[i]] += tree.self[i];
    isThere[tree.frame[i]] = 1;
  }
  for (const [frame, party] of parties.entries()) if (isThere[frame]) sums.set(party, (sums.get(party) ?? 0) + byFrame[frame]);
  return [...sums].sort((a, b) => b[1] - a[1]).map(([party, us]) => [party, `${partyNames[party]}${guess && party === 'own' ? ` (${guess})` : ''} ${percent(us / (tree.total[0] || 1))}`]);
}

/** Returns an entry of a legend. @param {[import('../colours.js').Party, string]} kind */
export const swatch = ([party, text]) => h('li', null, h('span', { class: `swatch ${party}`, style: { 'background-color': colour(party, '', isDark()) } }), text);

/**
 * Returns the meaning of the colours.
 * @param {ReturnType<typeof kindsOf>} kinds
 * @param {Tree} tree
 * @param {number} most nodes of the graph
 * @param {(() => void) | null} more asks for a larger one
 */
function legend(kinds, tree, most, more) {
  const omitted = tree.left;
  return [...kinds.map(swatch),
  ...omitted > 0 ? [h('li', null, h('span', { class: 'swatch rest' }), `left out ${percent(omitted / (tree.total[0] || 1))}: too small for a graph of ${count(most)} places; a filter shows more`,
    more ? [', or ', button(`a graph of ${count(mostNodes)}`, more, { id: 'more' })] : null)] : []];
}

