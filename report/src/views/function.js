// SPDX-License-Identifier: Apache-2.0
/** One function: who calls it, what it calls, how it went over time, where it runs. */
import { ask, question } from '../api.js';
import { columnsOf } from '../columns.js';
import { latestVerdict } from '../changes.js';
import { colour, partiesOf, partyNames } from '../colours.js';
import { count, counted, hostOf, number, percent, visible, webAddress } from '../format.js';
import { h } from '../h.js';
import { icicle } from '../icicle.js';
import { facts, functionColumn, measureName, none, perLoad, placeLink, sumPerLoad, tabs, typicalLoad, withoutMarker } from '../parts.js';
import { dimensions, literal } from '../state.js';
import { table } from '../table.js';
import { functionsOf, inverted, namesOf, transformed } from '../tree.js';
import { builtTree, isDark, labelsOf, nodesOf, rowOf, swatch } from './flame.js';
import { trendAsks, trendSection } from './timings.js';

/** @typedef {import('../tree.js').Tree} Tree */

const mostPlaces = 5;

/**
 * Shows a place, and a link to its source once the server has said where that is.
 * @param {Tree['frames']} frames @param {number} frame @param {import('../state.js').State} state
 */
function definition(frames, frame, state) {
  const shown = h('span', null, placeLink({ resource: frames.resource[frame], line: frames.line[frame], column_number: frames.column_number[frame] })
    ?? visible(frames.kind[frame]));
  const script = frames.generated_resource?.[frame];
  const line = frames.generated_line?.[frame];
  const column = frames.generated_column?.[frame];
  // If the two places differ, a function table has named the function, and such a table belongs to one site.
  if (state.site !== '%' && script && line && column && script !== frames.resource[frame]) {
    ask(question('function_origin', { ...state, params: {} }, { generated_resource: script, generated_line: line, generated_column: column })).then(({ rows: [origin] }) => {
      const address = webAddress(origin?.source_link, /^(https?|vscode|idea):$/);
      if (address) shown.append(' ', h('a', { class: 'source', href: address, rel: 'noreferrer noopener', target: '_blank', title: address }, 'source'));
    }, () => { /* the place alone is enough */ });
  }
  return shown;
}

/** How many functions are asked for to find one that is not among those with the most self time. */
const mostSearched = 10_000;

/** Returns the row of the view's function. @param {import('../api.js').Answer | undefined} answer of hotspots @param {import('../state.js').State} state */
const rowOfKey = (answer, { item }) => answer?.rows.find(({ function_key: key }) => key === item);

/** Returns the frames of a function in a graph. @param {Tree} tree @param {string} key */
const placesOf = ({ frames }, key) => frames.function_key.flatMap((each, frame) => (each === key ? [frame] : []));

/**
 * Returns the cost of a function in all its places, also those that the graph leaves out; null if it is unknown.
 * @param {import('../api.js').Row[]} callees @returns {{ self: number, total: number } | null} µs
 */
function costOf(callees) {
  const [most] = callees;
  if (!(most?.share > 0)) return null;
  const own = callees.find(({ function: name, function_key: key }) => name === '(self)' && key === null);
  return { self: Math.round(1000 * (own?.total_ms ?? 0)), total: Math.round((1000 * most.total_ms) / most.share) };
}

/**
 * Returns the samples of a function: of all its parts, or with a filter on markers, which parts ignore, of the graph.
 * @param {import('../api.js').Answer} parts @param {import('../state.js').State} state @param {number | undefined} inGraph
 */
function samplesOf({ rows }, { params }, inGraph) {
  const hasMarker = params.marker !== undefined || params.exclude_marker !== undefined;
  return hasMarker || rows.length === 0 ? inGraph : rows.reduce((sum, { samples }) => sum + samples, 0);
}

/** How many callers the facts name. */
const mostNamed = 3;

/** Returns the package whose folder a script or its source is in; undefined without one. @param {string | null | undefined} resource */
const packageOf = (resource) => /.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(resource ?? '')?.[1];

/** @type {import('../main.js').View} */
export const oneFunction = {
  title: 'Function',
  parent: () => 'functions',
  asks: (state) => ({
    tree: question('flamegraph_columns', state, { max_nodes: nodesOf(state) }),
    callers: question('callers', state, { key: state.item }),
    callees: question('callees', state, { key: state.item }),
    ...trendAsks(state, 'function'),
    'releases?': question('releases', state),
    'hosts?': question('third_parties', state),
    'ranked?': question('hotspots', state, { top: 500 }),
    'parts?': question('function_by', state, { by: state.params.by ?? 'route', key: state.item }),
    'measures?': question('function_by', state, { by: 'measure', key: state.item }),
    'typical?': question('typical_load', state, { key: state.item }),
  }),
  more: (state, { ranked, callees }) => (callees.rows.length > 0 && !rowOfKey(ranked, state) ? { 'listed?': question('hotspots', state, { top: mostSearched }) } : /** @type {{}} */ ({})),
  mount(main, { tree: answer, callers, callees, hosts, parts, measures, listed, ranked, typical, ...answers }, page, first) {
    const whole = builtTree(answer);
    const places = placesOf(whole, first.item);
    const cost = costOf(callees.rows);
    if (places.length === 0 && !cost) {
      main.append(h('p', { class: 'empty' }, 'No profiled page load of these filters has this function. Choose a longer period, or remove a filter.'));
      return { update() {}, exported: () => null };
    }
    const group = places.length > 0 ? whole.group[places[0]] : -1;
    const sum = functionsOf(whole).find((each) => each.group === group);
    const row = rowOfKey(ranked, first) ?? rowOfKey(listed, first);
    const name = visible(places.length > 0 ? whole.frames.function[places[0]] : row?.function ?? 'a function of little time');
    const { parties } = partiesOf(whole, hosts.rows);
    const label = labelsOf(whole);
    const { totals } = page;
    const { self, total } = cost ?? { self: sum?.self ?? 0, total: sum?.total ?? 0 };
    const samples = samplesOf(parts, first, sum?.samples);

    /** @param {Tree} tree @param {string} title @param {string} side of the address: what is selected, and zoomed to */
    const half = (tree, title, side) => {
      const names = namesOf(tree);
      const line = h('p', { class: 'hover' });
      const sentence = (/** @type {number} */ node) => (node <= 0 ? name
        : `${label(tree.frame[node])} · ${perLoad(page, tree.total[node])} · ${percent(tree.total[node] / (total || 1))} of ${visible(name, 60)} · ${counted(tree.samples[node], 'sample')}`);
      const graph = icicle(`${title}; the table has the same`, {
        select: (node) => { page.go({ [side]: node > 0 ? names.of(node) : null }, { replace: true }); page.say(sentence(node)); },
        zoom: (node) => page.go({ [side]: node > 0 ? names.of(node) : null, [`${side}_root`]: node > 0 ? names.of(node) : null }),
        hover: sentence,
        menu: (node) => [['Callers, callees, trend', () => page.go({ view: 'function', item: rowOf(tree, node).function_key })]],
        key: (key, node) => {
          if (key === 'c' && node > 0) page.go({ view: 'function', item: rowOf(tree, node).function_key });
          return key === 'c';
        },
      }, 300);
      const show = (/** @type {import('../state.js').State} */ { params }) => {
        const selected = names.find(params[side]);
        line.textContent = selected < 0 ? '' : sentence(selected);
        graph.show({
          tree, root: Math.max(0, names.find(params[`${side}_root`])), selected, found: null, whole: title,
          look: (frame) => ({ fill: colour(parties[frame], tree.frames.function[frame], isDark()), hatched: parties[frame] === 'third', label: label(frame) }),
        });
      };
      return { elements: [graph.element, line], show, frames: [...tree.frame].slice(1) };
    };
    const halves = places.length === 0 ? [] : [half(inverted(whole, group), `who calls ${visible(name, 80)}`, 'caller'), half(transformed(whole, { focus: group }), `what ${visible(name, 80)} calls`, 'callee')];
    const colours = h('ul', { class: 'legend', 'aria-label': 'Kinds of code' });
    const kinds = new Set(halves.flatMap(({ frames }) => frames.map((frame) => parties[frame])));
    const omitted = places.length === 0 ? 'The function is too small for a graph; the tables have its callers and callees.'
      : whole.left > 0 ? `The graphs leave out ${percent(whole.left / whole.total[0])} of the time.` : null;

    /** @param {import('../api.js').Row[]} rows @param {string} caption */
    const edges = (rows, caption) => table({
      caption, rows, most: 100, columns: [functionColumn(page),
        ...columnsOf('callers', { share: { bar: true, title: 'Of the time with the function anywhere on the stack' }, total_ms: sumPerLoad(page, 'total_ms', 'Total ms/load'), samples: {} })] });
    const by = first.params.by ?? 'route';
    const breakdown = h('section', { class: 'sandwich' },
      h('div', null, h('h3', null, 'Where it runs'), tabs('By', dimensions.map((dimension) => [dimension, page.link({ by: dimension }), dimension === by, question('function_by', first, { by: dimension, key: first.item })])),
        parts.rows.length === 0 ? none(parts, 'Not known.') : table({
          caption: `Self time by ${by}`, rows: parts.rows, most: 100, columns: [
            { name: 'value', label: by, cell: ({ value }) => h('a', { href: page.link({ [by]: literal(value) }) }, value === '' ? '(none)' : visible(value, 120)) },
            ...columnsOf('function_by', { self_ms_per_load: { bar: true, label: `Self ms/load of the ${by}`, title: 'Per page load with this value, not per page load of all' }, loads: { label: 'Page loads' }, samples: {} })] })),
      h('div', null, h('h3', null, 'Inside which measures'), measures.rows.length === 0 ? none(measures, 'Inside none, in this period.') : table({
        caption: 'Self time by measure', rows: measures.rows, most: 100, columns: [
          { name: 'value', label: 'Measure', cell: ({ value }) => h('a', { href: page.link({ view: 'timing', item: value }), title: visible(value) }, measureName(value)) },
          ...columnsOf('function_by', { self_ms: { bar: true, ...sumPerLoad(page, 'self_ms', 'Self ms/load') }, total_ms: sumPerLoad(page, 'total_ms', 'Total ms/load'), samples: {} })] })));
    const rank = ranked.rows.findIndex(({ function_key: key }) => key === first.item);
    /** Returns a link to the function before or after this one by self time. @param {number} by @param {string} sign @param {string} title */
    const near = (by, sign, title) => {
      const other = rank < 0 ? undefined : ranked.rows[rank + by];
      return other ? h('a', { class: 'button', title, href: page.link({ view: 'function', item: other.function_key }) }, `${sign} ${visible(other.function, 40)}`) : null;
    };
    const loadShare = row?.load_share;
    const script = places.length > 0 ? whole.frames.resource[places[0]] : row?.resource;
    const box = h('div', null);
    const verdict = latestVerdict(page, first);
    const whose = /** @type {Parameters<typeof facts>[0]} */ ([
        ['Whose', [partyNames[parties[places[0]]], hostOf(script), packageOf(script), row?.owner && `owner ${row.owner}`].filter(Boolean).map((part) => visible(part, 120)).join(' · ') || 'not known'],
        ...verdict ? [/** @type {[string, HTMLElement]} */ (['Latest release', verdict])] : [],
    ]);
    const rest = /** @type {Parameters<typeof facts>[0]} */ ([
        ['Called by', callers.rows.length === 0 ? 'nothing' : h('span', null, callers.rows.slice(0, mostNamed).flatMap((each, i) => [i > 0 ? ', ' : null,
          each.function_key ? h('a', { href: page.link({ view: 'function', item: each.function_key }) }, visible(each.function, 60)) : visible(each.function, 60), ` ${percent(each.share)}`]))],
        ['Samples', `${count(samples)}${samples !== undefined && samples < 50 ? ': an anecdote' : ''}`],
        ['Of all profiled time', totals.profiled_ms > 0 ? percent(total / 1000 / totals.profiled_ms) : 'not known'],
        ['Where it is defined', h('span', { class: 'function' }, row && places.length === 0 ? placeLink(row) : null, places.slice(0, mostPlaces).map((frame) => definition(whole.frames, frame, first)),
        places.length > mostPlaces ? h('span', { class: 'note' }, `and ${places.length - mostPlaces} more places`) : null)],
    ]);
    /** Shows times per page load, or per page load that runs the function. @param {import('../state.js').State} state */
    const showTimes = ({ params }) => {
      const isOfRuns = params.per === 'run' && loadShare > 0;
      const loads = totals.loads * (isOfRuns ? loadShare : 1);
      const time = (/** @type {number} */ us) => (isOfRuns && loads > 0 ? `${number(us / 1000 / loads)} ms per page load that runs it` : perLoad(page, us));
      box.replaceChildren(...loadShare > 0 ? [tabs('Times', [['per page load', page.link({ per: null }), !isOfRuns], [`per page load that runs it (${percent(loadShare)})`, page.link({ per: 'run' }), isOfRuns]])] : [], facts([...whose,
        ['Self', h('span', { 'data-value': String(self / 1000) }, `${time(self)} · ${percent(self / (whole.total[0] || 1))} of the graph`)],
        ['Total', h('span', { 'data-value': String(total / 1000) }, `${time(total)} · ${percent(total / (whole.total[0] || 1))}`)],
        ...rest]));
    };
    main.append(
      h('h2', { class: 'name' }, name),
      box, typicalLoad(page, typical, 'that run it') ?? '',
      h('p', { class: 'row' }, h('a', { class: 'button', href: page.link({ view: 'flame', focus: first.item }) }, 'Focus in the flame graph'),
        h('a', { class: 'button', href: page.link({ view: 'flame', hide: first.item }) }, 'Flame graph without it'),
        near(-1, '↑', 'The function with the next greater self time'), near(1, '↓', 'The function with the next smaller self time')),
      withoutMarker(first, 'the trend, where it runs and the measures') ?? '',
      answers.trend.rows.length > 0 ? trendSection(page, first, answers, {
        heading: 'Self time per page load, ms (95 % interval)', label: `Self time of ${visible(name, 100)}, ms per page load` }) : none(answers.trend, 'No trend: no hour of this period has the function.'),
      breakdown, omitted ? h('p', { class: 'note' }, omitted) : '',
      colours, h('section', { class: 'sandwich' },
        h('div', null, h('h3', null, 'Callers'), ...halves[0]?.elements ?? [], edges(callers.rows, 'Callers')),
        h('div', null, h('h3', null, 'Callees'), ...halves[1]?.elements ?? [], edges(callees.rows, 'Callees'))));
    return {
      update(state) {
        showTimes(state);
        colours.replaceChildren(...[...kinds].map((party) => swatch([party, partyNames[party]])));
        for (const { show } of halves) show(state);
      },
      exported: () => ({
        name: 'function', columns: ['direction', ...callers.columns.map((column) => column.name)],
        rows: [...callers.rows.map((row) => ({ direction: 'caller', ...row })), ...callees.rows.map((row) => ({ direction: 'callee', ...row }))],
      }),
    };
  },
};
