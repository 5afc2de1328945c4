// SPDX-License-Identifier: Apache-2.0
/** Sessions that were kept whole: a list, and one session as a timeline. */
import { question } from '../api.js';
import { callTree } from '../calltree.js';
import { columnsOf } from '../columns.js';
import { clock, count, counted, duration, number, percent, size, time, visible } from '../format.js';
import { button, h } from '../h.js';
import { icicle } from '../icicle.js';
import { facts, placeLink, tableView, tabs, unselected } from '../parts.js';
import { itemsOf, ownWithin, spansOf, tracksOf, windowOf } from '../spans.js';
import { fillOf, timeline } from '../timeline.js';
import { namesOf, treeOfStacks } from '../tree.js';
import { isDark } from './flame.js';

/**
 * @typedef {import('../api.js').Answer} Answer
 * @typedef {import('../api.js').Question} Question
 * @typedef {import('../api.js').Row} Row
 * @typedef {import('../main.js').Page} Page
 * @typedef {import('../state.js').State} State
 * @typedef {import('../spans.js').Spans} Spans
 * @typedef {import('../timeline.js').Track} Track
 */

/** @param {string} name */
const short = (name) => (/** @type {Row} */ row) => visible(row[name], 80);

/** @type {import('../main.js').View} */
export const sessions = {
  title: 'Sessions',
  key: 'k',
  asks: (state) => ({ rows: question('sessions', state, { since: state.params.since ?? '1d' }) }),
  mount: (main, { rows: { rows } }, page, state) => tableView(main, page, state, {
    name: 'sessions', caption: 'Kept sessions', rows, sort: '-received', search: ['page_url', 'format', 'route', 'release'],
    empty: 'Nothing of this period is kept. Kept are uploads of Speed Tracer and Opera Scope, and the share of traces in sample_keep.',
    columns: columnsOf('sessions', {
      received: { cell: (row) => h('a', { href: page.link({ view: 'session', item: String(row.session_id) }) }, time(row.received)) },
      format: {}, page_url: { cell: (row) => placeLink({ resource: row.page_url }) ?? '' },
      route: { cell: short('route') }, release: { cell: short('release') }, browser: { cell: short('browser') }, device: { cell: short('device') },
      events: { bar: true }, content_bytes: { cell: (row) => size(row.content_bytes) },
    }),
  }),
};

/** The reports on a dump, by the names of their tabs. */
const dumpTables = /** @type {Record<string, string>} */ ({
  hints: 'Hints', network_resources: 'Network', page_transitions: 'Pages', log_messages: 'Log', event_summary: 'Time by type', js_profile: 'JavaScript profile', vm_states: 'Engine', server_events: 'Servers',
});
const dumpTracks = ['network_graph', 'ui_thread_use'];

/** @param {Row[]} rows @param {(row: Row, i: number) => import('../spans.js').Item} item @param {string} key @param {string} name */
const track = (rows, item, key, name) => spansOf(key, name, rows.filter((row) => (row.at_ms ?? row.start_ms) !== null).map(item));

/** @param {Record<string, Answer>} answers @returns {Track[]} */
function tracksOfAnswers(answers) {
  const rows = (/** @type {string} */ name) => answers[name]?.rows ?? [];
  if (answers.session_content) {
    try {
      return tracksOf(JSON.parse(rows('session_content')[0].content));
    } catch {
      return [];
    }
  }
  /** @type {Track[]} */
  const tracks = [
    track(rows('page_transitions'), (row, i) => ({ id: String(i), label: row.url, start: row.at_ms, end: row.load_ms === null ? null : row.at_ms + row.load_ms, row }), 'page', 'Pages, until load'),
    track(rows('log_messages'), (row, i) => ({ id: String(i), label: row.message, start: row.at_ms, row }), 'log', 'Log'),
    track(rows('hints'), (row, i) => ({ id: String(i), label: row.description, start: row.at_ms, row }), 'hint', 'Hints'),
    { key: 'busy', name: 'How busy the page’s thread was', area: rows('ui_thread_use').map(({ at_ms: at, busy }) => [at, busy]), most: 1 },
    { key: 'requests', name: `Open requests, at most ${Math.max(0, ...rows('network_graph').map((row) => row.open_requests))}`,
      area: rows('network_graph').map((row) => [row.at_ms, row.open_requests]), most: Math.max(1, ...rows('network_graph').map((row) => row.open_requests)) },
    track(rows('network_resources'), (row, i) => ({ id: String(i), label: row.url ?? row.request_id, start: row.start_ms, end: row.end_ms, row, resource: row.url }), 'network', 'Network'),
    ...Object.keys(answers).filter((name) => name.startsWith('events')).map((name) => spansOf(name, name === 'events' ? 'Events' : `Events of timeline ${name.slice(6)}`, itemsOf(rows(name)))),
  ];
  return tracks.filter((each) => ('area' in each ? each.area.length > 0 : each.count > 1));
}

/** Returns the columns of an answer, named and written by their types. @param {Answer} answer @param {Page} page @returns {import('../table.js').Column[]} */
const answerColumns = ({ columns, rows }, page) => columns.filter(({ name }) => rows.some((row) => row[name] !== null)).map(({ name, type }) => {
  const isNumber = /^(bigint|integer|double|numeric)/.test(type) && !name.endsWith('id');
  /** @param {Row} row @returns {import('../h.js').Child} */
  const cell = (row) => {
    const value = row[name];
    if (value === null) return '';
    if (name === 'event_id') return h('a', { href: page.link({ sel: `events ${value}` }) }, String(value));
    if (name === 'url' || name === 'resource') return placeLink({ resource: value, line: row.line }) ?? visible(value, 160);
    return name.endsWith('share') ? percent(value) : isNumber ? (Number.isInteger(value) ? String(value) : number(value)) : type.startsWith('timestamp') ? time(value)
      : visible(typeof value === 'object' ? JSON.stringify(value) : String(value), 240);
  };
  return { name, label: name.replaceAll('_', ' '), kind: isNumber ? 'number' : 'text', cell };
});

/**
 * Returns the reports on a session as tables, of which one is shown.
 * @param {Record<string, Answer>} answers @param {Page} page @param {State} first
 */
function reports(answers, page, first) {
  const tables = Object.entries(answers).filter(([name, { rows }]) => (name in dumpTables || name.startsWith('sum ') || name === 'session_parts') && rows.length > (name === 'session_parts' ? 1 : 0));
  const shown = tables.find(([name]) => name === first.params.show) ?? tables[0];
  const box = h('div', null);
  /** @type {import('../main.js').Shown | null} */
  let listed = null;
  let listedName = '';

  /** @param {State} next */
  function update(next) {
    const [name, answer] = tables.find(([each]) => each === next.params.show) ?? shown ?? [];
    if (!name || !answer) return;
    if (name !== listedName) {
      listedName = name;
      box.replaceChildren(tabs('Reports', tables.map(([each]) => [dumpTables[each] ?? visible(each.replace('session_parts', 'Parts')), page.link({ show: each, sort: null, q: null }), each === name])));
      listed = tableView(box, page, next, { name: `session-${name}`, caption: dumpTables[name] ?? name, rows: answer.rows, search: answer.columns.filter(({ type }) => type === 'text').map((column) => column.name),
        empty: '', columns: answerColumns(answer, page) });
    }
    listed?.update(next);
  }
  return { element: box, update, exported: () => listed?.exported?.() ?? null };
}

/** @type {import('../main.js').View} */
export const session = {
  title: 'Session',
  parent: () => 'sessions',
  alone: true,
  asks: ({ site, item }) => {
    const of = (/** @type {string} */ name, more = {}) => ({ name, address: `/api/v1/${name}?${new URLSearchParams({ ...more, session_id: item })}` });
    return { session: of('sessions', { site }), timelines: of('timelines') };
  },
  also: ({ params }) => params.part,
  more({ item, params }, { session: { rows: [row] }, timelines }) {
    const of = (/** @type {string} */ name, more = {}) => ({ name, address: `/api/v1/${name}?${new URLSearchParams({ ...more, session_id: item })}` });
    if (!row) return {};
    const part = /^(-?[\d.e+-]+)\.\.(-?[\d.e+-]+)$/.exec(params.part ?? '');
    /** @type {Record<string, Question>} */
    const asks = { 'session_parts?': of('session_parts') };
    const whole = timelines.rows.filter(({ mode }) => mode === 'all');
    for (const { timeline_id: id, mode } of timelines.rows) {
      const isWhole = mode === 'all';
      asks[isWhole ? (whole.length === 1 ? 'events' : `events ${id}`) : `sum ${id} ${mode}`] = of('get_events', { timeline_id: id, mode, ...part && isWhole ? { from_ms: part[1], to_ms: part[2] } : {} });
    }
    if (row.format === 'speed-tracer') for (const name of [...Object.keys(dumpTables), ...dumpTracks]) asks[`${name}?`] = of(name);
    if (timelines.rows.length === 0) asks.session_content = of('session_content');
    return asks;
  },
  mount(main, answers, page, first) {
    const [about] = answers.session.rows;
    if (!about) {
      main.append(h('p', { class: 'empty' }, 'No session with this number is kept for this site. Sessions are kept for a time (retention.sessions), then they go.'));
      return { update() {}, exported: () => null };
    }
    const tracks = tracksOfAnswers(answers);
    const spans = /** @type {Spans[]} */ (tracks.filter((each) => !('area' in each)));
    main.append(facts([
      ['Page', visible(about.page_url, 300) || 'not known'], ['Format', visible(`${about.format} ${about.version}`)],
      ['Received', `${clock(about.received)}${about.started ? `; it began ${clock(about.started)}` : ''}`],
      ['From', visible([about.browser, about.os, about.device, about.release && `release ${about.release}`].filter(Boolean).join(', '), 200)],
      ['It has', `${about.events > 0 ? `${counted(about.events, 'event')}, ` : ''}${size(about.content_bytes)}`],
      answers.session_parts.rows.length > 1 ? ['Parts', `${answers.session_parts.rows.length}${answers.session_parts.rows.some((row) => row.is_missing) ? ', some are missing' : ''}`] : null]));
    const cut = Object.entries(answers).filter(([name, { truncated }]) => name.startsWith('events') && truncated);
    const { element: tableBox, ...tables } = reports(answers, page, first);
    if (spans.length === 0) {
      main.append(h('p', { class: 'empty' }, 'This session has nothing with a time that could be drawn. The command fleetprof session export gives it back as it came.'), tableBox);
      return tables;
    }
    const all = /** @type {[number, number]} */ ([Math.min(...spans.map(({ start }) => start[0])), Math.max(...spans.map(({ finish }) => finish[0]))]);
    if (all[1] <= all[0]) all[1] = all[0] + 1;
    let state = first;
    /** @param {string | undefined} name "TRACK ID" */
    const find = (name) => {
      const key = name?.slice(0, name.lastIndexOf(' ')) ?? '';
      const of = spans.find((each) => each.key === key);
      const span = of ? of.items.findIndex((item) => item?.id === name?.slice(key.length + 1)) : -1;
      return span > 0 ? { track: key, span } : null;
    };
    const spanOf = (/** @type {import('../timeline.js').Place} */ { track: key, span }) => {
      const of = /** @type {Spans} */ (spans.find((each) => each.key === key));
      return { of, item: of.items[span], start: of.start[span], wide: of.finish[span] - of.start[span] };
    };
    const sentence = (/** @type {import('../timeline.js').Place} */ place) => {
      const { item, start, wide } = spanOf(place);
      return `${visible(item.label, 200)} · from ${duration(start)}${wide > 0 ? ` for ${duration(wide)}` : ''}`;
    };
    const exact = (/** @type {number} */ ms) => String(Math.round(ms * 1000) / 1000);
    const select = (/** @type {import('../timeline.js').Place} */ place) => {
      page.go({ sel: `${place.track} ${spanOf(place).item.id}` }, { replace: true });
      page.say(sentence(place));
    };
    const zoom = (/** @type {number} */ from, /** @type {number} */ to) => page.go(from <= all[0] && to >= all[1] ? { from: null, to: null, fsel: null, froot: null }
      : { from: exact(from), to: exact(Math.max(to, from + 0.001)), fsel: null, froot: null });
    const line = h('p', { class: 'hover' });
    const picture = timeline('Timeline: the tree beside it has the same', { select, zoom, hover: (place) => { line.textContent = place ? sentence(place) : ''; } });
    const details = h('section', { class: 'details', 'aria-label': 'Selected' });
    const treeBox = h('div', null);
    const trackTabs = h('div', null);
    const tools = h('div', { class: 'tools' });
    const below = h('section', null);
    main.append(tools, ...cut.map(([name, { rows }]) => h('p', { class: 'note' }, `${name === 'events' ? 'Events' : visible(name)}: the first ${rows.length} are here. `,
      button('Ask for those in view', () => { const [from, to] = windowOf(state.params, all); page.go({ part: `${exact(from)}..${exact(to)}` }); }))),
    ...spans.flatMap(({ name, count: some, reached }) => (reached === undefined ? [] : [h('p', { class: 'note' }, `${name}: only the first ${count(some - 1)} spans are shown, until ${duration(reached)}.`)])),
    h('div', { class: 'flame' }, h('div', { class: 'picture' }, picture.element, line), h('aside', { 'aria-label': 'Selection, tree' }, details, h('section', { class: 'tree-box' }, trackTabs, treeBox))), below);

    /** The last track is the one with most in it: events, or stacks. @type {Spans} */
    const main1 = spans[spans.length - 1];
    const calls = new Map(spans.map((of) => [of.key, callTree(of.name, {
      select: (i) => { if (i > 0) select({ track: of.key, span: i }); }, zoom: (i) => { if (i > 0) zoom(of.start[i], of.finish[i]); },
    }, 'more are not listed: choose a shorter time.')]));
    const kinds = h('div', null);
    let summed = '';

    /** Shows the visible part of the session as a flame graph. @param {Spans} of @param {number} from @param {number} to */
    function showSums(of, from, to) {
      const dark = isDark();
      const own = ownWithin(of, from, to);
      /** @type {Map<string, number>} */
      const known = new Map();
      const frames = /** @type {import('../tree.js').Frames} */ ({ function: [], resource: [], line: [], column_number: [], kind: [], function_key: [] });
      /** @type {string[]} */
      const fills = [];
      const frame = Int32Array.from(own, (_, i) => {
        if (i === 0 || i >= of.count) return -1;
        const { label, resource = '', row } = of.items[i];
        const key = of.key === 'stack' ? `${label} ${resource} ${row?.line} ${row?.column_number}` : label;
        const found = known.get(key);
        if (found !== undefined) return found;
        known.set(key, known.size);
        fills.push(fillOf(of.items[i], of.key, dark));
        for (const [name, value] of Object.entries({ function: label, resource, line: row?.line ?? null, column_number: row?.column_number ?? null, kind: 'function', function_key: key })) {
          /** @type {any} */ (frames)[name].push(value);
        }
        return known.size - 1;
      });
      const tree = treeOfStacks(frames, of.parent.subarray(0, of.count), frame, own.map((ms) => Math.round(ms * 1000)).subarray(0, of.count));
      const names = namesOf(tree);
      const words = (/** @type {number} */ node) => `${node > 0 ? visible(frames.function[tree.frame[node]], 200) : '(all)'} · ${duration(tree.total[node] / 1000)} in all, ${duration(tree.self[node] / 1000)} itself · ${percent(tree.total[node] / (tree.total[0] || 1))}`;
      const to1 = (/** @type {number} */ node) => (node > 0 ? names.of(node) : null);
      const graph = icicle('What ran in this time', {
        select: (node) => { page.go({ fsel: to1(node) }, { replace: true }); page.say(words(node)); }, zoom: (node) => page.go({ froot: to1(node), fsel: to1(node) }),
        hover: words,
      }, 320);
      kinds.replaceChildren(h('h2', { class: 'part' }, `${of.name} from ${duration(from)} to ${duration(to)}, summed`), graph.element);
      return (/** @type {State} */ { params }) => graph.show({
        tree, root: Math.max(0, names.find(params.froot)), selected: names.find(params.fsel), found: null, whole: words(0),
        look: (i) => ({ fill: fills[i], label: visible(frames.function[i], 200) }),
      });
    }
    /** @type {(state: State) => void} */
    let drawSums = () => {};
    below.append(kinds, tableBox);

    return {
      update(next) {
        state = next;
        const [from, to] = windowOf(state.params, all);
        const selected = find(state.params.sel);
        const at = spans.find(({ key }) => key === (selected?.track ?? state.params.track)) ?? main1;
        tools.replaceChildren(
          h('span', { class: 'note' }, `${duration(from)} – ${duration(to)} of ${duration(all[1] - all[0])}. Drag to zoom, or press + and −.`),
          from > all[0] || to < all[1] ? button('Whole session', () => zoom(...all), { id: 'whole' }) : '',
          state.params.part ? button(`Events of ${visible(state.params.part, 60)} ms ×`, () => page.go({ part: null }), { id: 'no-part' }) : '');
        picture.show({ tracks, from, to, begin: all[0], end: all[1], selected });
        if (selected) {
          const { item, start, wide, of } = spanOf(selected);
          const { row } = item;
          const known = Object.entries({ ...row, ...row?.detail }).filter(([name, value]) => value !== null && value !== '' && !['id', 'parent_id', 'type', 'detail', 'start_ms', 'end_ms', 'child_count', 'resource', 'line', 'column_number', 'name'].includes(name));
          details.replaceChildren(h('h2', null, visible(item.label, 400)), placeLink({ resource: item.resource, line: row?.line, column_number: row?.column_number }) ?? '',
            facts([['Track', of.name], ['From', duration(start)], ['For', wide > 0 ? duration(wide) : 'a point in time'],
              ...known.slice(0, 40).map(([name, value]) => /** @type {[string, string]} */ ([visible(name, 60), visible(typeof value === 'object' ? JSON.stringify(value) : String(value), 300)]))]),
            wide > 0 ? button('Zoom', () => zoom(start, start + wide), { id: 'do-zoom' }) : '');
        } else {
          details.replaceChildren(...unselected('something'));
        }
        trackTabs.replaceChildren(tabs('Tree', spans.map((of) => [of.name, page.link({ track: of.key, sel: null }), of === at])));
        const tree = calls.get(at.key);
        if (tree) {
          if (treeBox.firstChild !== tree.element) treeBox.replaceChildren(tree.element);
          tree.show({
            tree: at, selected: selected?.span ?? -1, name: (i) => (i === 0 ? at.name : visible(at.items[i].label, 200)),
            figures: (i) => (at.finish[i] > at.start[i] ? `${duration(at.start[i])}, ${duration(at.finish[i] - at.start[i])}` : duration(at.start[i])),
          });
        }
        const wanted = [main1.key, from, to, isDark()].join();
        if (wanted !== summed) {
          summed = wanted;
          drawSums = showSums(main1, from, to);
        }
        drawSums(state);
        tables.update(state);
      },
      exported: tables.exported,
    };
  },
};
