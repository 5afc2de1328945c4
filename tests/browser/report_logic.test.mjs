// SPDX-License-Identifier: Apache-2.0
/** The report's logic without a browser: trees, addresses, texts. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';

import * as webVitals from 'web-vitals';

import { colour, hues, isAgent, verdictLook, verdicts } from '../../report/src/colours.js';
import { linesOf } from '../../report/src/calltree.js';
import * as text from '../../report/src/format.js';
import { formats } from '../../report/src/exports.js';
import { itemsOf, mostItems, ownWithin, spansOf, ticksIn, tracksOf, windowOf } from '../../report/src/spans.js';
import { columnsOf } from '../../report/src/columns.js';
import { successors } from '../../report/src/changes.js';
import { packed } from '../../report/src/packer.js';
import { read, unpacked, written } from '../../report/src/packed.js';
import { rows } from '../../report/src/filter_rows.js';
import { ago, changed, dimensions, filters, format, literal, moment, namedKey, parse, pinned, readable, sideOf } from '../../report/src/state.js';
import { sorted } from '../../report/src/table.js';
import { filtersOf, question } from '../../report/src/api.js';
import { dayTicks } from '../../report/src/chart.js';
import { markers } from '../../report/src/filters.js';
import { matching } from '../../report/src/parts.js';
import { leftOut } from '../../report/src/views/timings.js';
import { thresholds } from '../../report/src/views/vitals.js';
import { functionsOf, inverted, joined, matcher, namesOf, pathTo, search, transformed, treeOf } from '../../report/src/tree.js';
import { questionOf, questions, shownAs } from '../../tools/questions.mjs';
import { repository, runOrThrow } from '../behaviour/stack.mjs';

/** @typedef {import('../../report/src/tree.js').Tree} Tree */

/**
 * Returns an answer of flamegraph_columns from stacks and their own time.
 * @param {Record<string, number>} stacks `a;b` → µs; the time of `a;b;?` is left out of the answer
 */
function answerOf(stacks) {
  /** @typedef {{ name: string, self: number, rest: number, children: Map<string, Node> }} Node */
  /** @param {string} name @returns {Node} */
  const node = (name) => ({ name, self: 0, rest: 0, children: new Map() });
  const root = node('');
  for (const [stack, us] of Object.entries(stacks)) {
    let at = root;
    for (const name of stack.split(';')) {
      if (name === '?') { at.rest += us; continue; }
      if (!at.children.has(name)) at.children.set(name, node(name));
      at = /** @type {Node} */ (at.children.get(name));
    }
    if (!stack.endsWith('?')) at.self += us;
  }
  /** @param {Node} of @returns {number} */
  const total = (of) => of.self + of.rest + [...of.children.values()].reduce((sum, child) => sum + total(child), 0);
  const names = [...new Set(Object.keys(stacks).flatMap((stack) => stack.split(';')))].filter((name) => name !== '?');
  /** @type {{ level: number[], frame: number[], self: number[], total: number[], samples: number[] }} */
  const columns = { level: [], frame: [], self: [], total: [], samples: [] };
  const walk = (/** @type {Node} */ of, /** @type {number} */ level) => {
    columns.level.push(level);
    columns.frame.push(names.indexOf(of.name));
    columns.self.push(of.self);
    columns.total.push(total(of));
    columns.samples.push(total(of) / 10);
    for (const child of [...of.children.values()].sort((a, b) => total(b) - total(a))) walk(child, level + 1);
  };
  walk(root, 0);
  const all = (/** @type {unknown} */ value) => names.map(() => value);
  // The part after @ tells places of one function apart.
  return { frames: { function: names.map((name) => name.split('@')[0]), resource: all('https://shop.example/app.js'), line: names.map((_, i) => i), column_number: all(1), kind: all('function'),
    function_key: names.map((name) => `key of ${name.split('@')[0]}`) }, ...columns };
}

/** Returns the tree back as stacks. @param {Tree} tree */
function stacksOf(tree) {
  /** @type {Record<string, number>} */
  const stacks = {};
  /** @type {string[]} */
  const path = [];
  for (let i = 0; i < tree.count; i += 1) {
    path.length = Math.max(0, tree.level[i] - 1);
    if (i > 0) path.push(tree.frames.function[tree.frame[i]]);
    if (tree.self[i] !== 0) stacks[path.join(';')] = tree.self[i];
    if (tree.rest[i] !== 0) stacks[[...path, '?'].join(';')] = tree.rest[i];
  }
  return stacks;
}

/** @param {Tree} tree @param {string} name */
const groupOf = (tree, name) => tree.group[tree.frames.function.indexOf(name)];

const shop = { 'boot': 10, 'boot;render': 20, 'boot;render;sort': 30, 'boot;render;?': 5, 'click;sort': 7, 'click;sort;sort;sort': 3 };

test('a name of any characters makes an address that leads back to the key', () => {
  for (const name of ['sortReviews', '', 'a b/c', `a${'\u{1d4b3}'.repeat(80)}`]) {
    assert.equal(parse(format({ site: 'shop', view: 'function', item: namedKey(name, '-42'), params: {} })).item, '-42', name);
  }
});

test('a tree keeps every microsecond, whatever is done to it', () => {
  const tree = treeOf(answerOf(shop));
  assert.deepEqual(stacksOf(tree), shop);
  const all = Object.values(shop).reduce((sum, us) => sum + us);
  for (const made of [tree, inverted(tree), transformed(tree, { hide: new Set([groupOf(tree, 'render')]) }), transformed(tree, { recursion: true })]) {
    assert.equal(made.total[0], all);
    assert.equal(made.samples[0], all / 10);
    for (let i = 1; i < made.count; i += 1) {
      assert.ok(made.start[i] >= made.start[made.parent[i]] && made.start[i] + made.size[i] <= made.start[made.parent[i]] + made.size[made.parent[i]] + 1e-9, 'a node lies on its parent');
      if (i + 1 < made.count && made.parent[i + 1] === made.parent[i]) assert.ok(made.total[i] >= made.total[i + 1], 'the costliest sibling is first');
    }
  }
});

test('a hidden function leaves its time to its caller', () => {
  const tree = treeOf(answerOf(shop));
  assert.deepEqual(stacksOf(transformed(tree, { hide: new Set([groupOf(tree, 'render')]) })),
    { 'boot': 30, 'boot;sort': 30, 'boot;?': 5, 'click;sort': 7, 'click;sort;sort;sort': 3 });
});

test('collapsed recursion goes on where the function began', () => {
  assert.deepEqual(stacksOf(transformed(treeOf(answerOf({ 'a;b;a;c': 1, 'a;b': 2, 'a;a;a': 4 })), { recursion: true })), { 'a': 4, 'a;b': 2, 'a;c': 1 });
});

test('focus shows what a function calls, from all its callers', () => {
  const tree = treeOf(answerOf(shop));
  assert.deepEqual(stacksOf(transformed(tree, { focus: groupOf(tree, 'sort') })), { 'sort': 37, 'sort;sort;sort': 3 });
});

test('callers of a function add up to its total; recursion counts once', () => {
  const tree = treeOf(answerOf(shop));
  assert.deepEqual(stacksOf(inverted(tree, groupOf(tree, 'sort'))), { 'sort;render;boot': 30, 'sort;click': 10 });
});

test('an inverted tree begins with the functions by their own time', () => {
  const stacks = stacksOf(inverted(treeOf(answerOf(shop))));
  assert.deepEqual(stacks, { 'sort;render;boot': 30, 'sort;click': 7, 'sort;sort;sort;click': 3, 'render;boot': 20, 'boot': 10, '?': 5 });
});

test('own times stay those of the functions on top when a tree is inverted', () => {
  const upright = treeOf(answerOf(Object.fromEntries(Object.entries(shop).filter(([stack]) => !stack.endsWith('?')))));
  const tree = inverted(upright);
  const costs = (/** @type {Tree} */ of, from = 0) => Object.fromEntries(functionsOf(of, from).map(({ frame, self, total }) => [of.frames.function[frame], [self, total]]));
  assert.deepEqual(costs(tree), costs(upright));
  assert.deepEqual(costs(tree, 1), { sort: [40, 40], render: [0, 30], boot: [0, 30], click: [0, 10] });
});

test('what is too small to be seen is left out of an inverted tree, and counted', () => {
  const stacks = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a;f${i}`, 1]));
  const tree = inverted(treeOf(answerOf({ ...stacks, b: 10_000_000 })));
  assert.deepEqual(stacksOf(tree), { b: 10_000_000, '?': 50 });
});

test('places of one function are one: those of two releases, for example', () => {
  const tree = treeOf(answerOf({ 'boot@1;render@1': 10, 'boot@2;render@2': 30, 'boot@1': 1 }));
  assert.deepEqual(stacksOf(tree), { 'boot;render': 40, 'boot': 1 });
  assert.equal(tree.frames.line[tree.frame[2]], 3, 'the costliest place is shown');
});

test('functions: own time, and total time once per sample', () => {
  const tree = treeOf(answerOf(shop));
  const found = Object.fromEntries(functionsOf(tree).map(({ frame, self, total }) => [tree.frames.function[frame], [self, total]]));
  assert.deepEqual(found, { sort: [40, 40], render: [20, 55], boot: [10, 65], click: [0, 10] });
  const click = tree.frames.function.indexOf('click');
  const node = tree.frame.indexOf(click);
  const below = Object.fromEntries(functionsOf(tree, node).map(({ frame, self, total }) => [tree.frames.function[frame], [self, total]]));
  assert.deepEqual(below, { sort: [10, 10], click: [0, 10] });
});

test('a search counts nested matches once', () => {
  const tree = treeOf(answerOf(shop));
  const { nodes, time } = search(tree, /** @type {(text: string) => boolean} */ (matcher('SORT')));
  assert.deepEqual([nodes.length, time], [4, 40]);
  assert.equal(search(tree, /** @type {(text: string) => boolean} */ (matcher('/^(boot|render)$/'))).time, 65);
  assert.equal(matcher('/(/'), null);
});

test('two sides as one tree: widths are the sum of both, per page load', () => {
  const tree = joined(treeOf(answerOf({ 'a': 10, 'a;b': 20 })), 10, treeOf(answerOf({ 'a': 4, 'a;c': 8 })), 2);
  const name = (/** @type {number} */ i) => tree.frames.function[tree.frame[i]] ?? '(all)';
  const rows = Array.from(tree.frame, (_, i) => [name(i), tree.total[i], tree.before?.[i], tree.after?.[i]]);
  assert.deepEqual(rows, [['(all)', 9, 3, 6], ['a', 9, 3, 6], ['c', 4, 0, 4], ['b', 2, 2, 0]]);
});

test('a node has the same name in another tree with the same path', () => {
  const [one, other] = [treeOf(answerOf(shop)), treeOf(answerOf({ 'new;thing': 999, ...shop }))];
  const [names, others] = [namesOf(one), namesOf(other)];
  assert.equal(new Set(Array.from(one.frame, (_, i) => names.of(i))).size, one.count, 'names are distinct');
  for (let i = 1; i < one.count; i += 1) {
    const found = others.find(names.of(i));
    assert.equal(other.frames.function[other.frame[found]], one.frames.function[one.frame[i]]);
    assert.equal(other.level[found], one.level[i]);
  }
  for (const name of ['', 'x', '0000000000000001', undefined]) assert.equal(names.find(name), -1);
});

test('answers that are not a tree are refused; an empty one is a tree without nodes', () => {
  assert.equal(treeOf({ frames: { function: null }, level: [], frame: [], self: [], total: [], samples: [] }).count, 0);
  assert.equal(treeOf({}).count, 0);
  const good = answerOf(shop);
  for (const bad of [{ level: [0, 2, 1, 1, 1, 1, 1] }, { level: [0, 0, 1, 2, 1, 2, 3] }, { self: [1] }, { frame: good.frame.map(() => 99) }]) {
    assert.throws(() => treeOf({ ...good, ...bad }), /not in order|do not belong together/);
  }
});

test('own times below zero, which clocks of older formats give, still lie in their parent', () => {
  const tree = treeOf({ ...answerOf({ 'a': 1, 'a;b': 1 }), self: [0, -5, 20], total: [15, 15, 20] });
  assert.ok(tree.size[1] >= tree.size[2] && tree.size[0] >= tree.size[1]);
});

test('an address and its state are the same thing', () => {
  for (const address of ['/', '/shop', '/-?since=7d', '/shop/flame', '/shop/flame?since=7d&route=%2Fproduct%2F%3Aid&q=a%26b', '/-/functions?sort=-self_ms', '/shop/timing/a%2Fb%20%3F%23%25', '/%25x/flame', '/shop/compare?after=2&before=1&before_since=3d',
    '/a%2Fb/flame?release=']) {
    assert.equal(format(parse(address)), address);
  }
  assert.deepEqual(parse('/shop').view, 'overview');
  assert.deepEqual(parse('/-/flame').site, '%');
  assert.deepEqual(parse('/%E0%A4%A/flame').site, '%E0%A4%A', 'what cannot be decoded stays');
  assert.equal(parse('/shop/flame?__proto__=x').params.__proto__, 'x');
});

test('another view keeps the filters and nothing else', () => {
  const state = parse('/shop/flame?route=%2Fcart&since=7d&q=x&root=0123456789abcdef&theme=dark');
  assert.equal(format(changed(state, { view: 'functions' })), '/shop/functions?since=7d&route=%2Fcart&theme=dark');
  assert.equal(format(changed(state, { q: null, route: '' })), '/shop/flame?since=7d&route=&root=0123456789abcdef&theme=dark');
});

test('a value with a percent sign is a filter of this value', () => {
  for (const value of ['', '/cart', '100%', '%', '/caf%C3%A9', 'a\\%b', '\\', '%%']) {
    const filter = literal(value);
    // As SQL reads it: \% is a percent sign, % alone any text.
    assert.ok(!filter.replaceAll('\\%', '').includes('%'), filter);
    assert.equal(filter.replaceAll('\\%', () => '%'), value);
    assert.equal(readable(filter), value);
  }
  assert.equal(readable('/caf\\%/%'), '/caf\\%/%', 'a pattern stays as it was written');
  assert.deepEqual(successors([{ release: '1%', rollout_began: '2026-01-01' }, { release: '2', rollout_began: '2026-01-02' }]), { before: '1\\%', after: '2' });
});

test('a copied link says when, not how long ago', () => {
  const now = Date.parse('2026-05-01T12:00:00Z');
  assert.equal(format(pinned(parse('/shop/flame?theme=dark&since=2h'), now)), '/shop/flame?since=2026-05-01T10%3A00%3A00.000Z&until=2026-05-01T12%3A00%3A00.000Z');
  assert.equal(format(pinned(parse('/shop/flame'), now)), '/shop/flame?since=2026-04-30T12%3A00%3A00.000Z&until=2026-05-01T12%3A00%3A00.000Z');
  assert.equal(format(pinned(parse('/shop/compare?before=1&after=2'), now)), '/shop/compare?after=2&before=1', 'a comparison finds its own hours');
  assert.equal(moment('nonsense', now), null);
});

test('a time without an offset is UTC, as the server takes it', () => {
  const zone = process.env.TZ;
  process.env.TZ = 'America/New_York';
  for (const [text, wanted] of [['2026-05-01T14:00', '2026-05-01T14:00:00.000Z'], ['2026-05-01 14:00:30', '2026-05-01T14:00:30.000Z'], ['2026-05-01T14:00:00.25', '2026-05-01T14:00:00.250Z'],
    ['2026-05-01', '2026-05-01T00:00:00.000Z'], ['2026-05-01T14:00+02:00', '2026-05-01T12:00:00.000Z'], ['2026-03-08T02:30', '2026-03-08T02:30:00.000Z']]) {
    assert.equal(new Date(moment(text, 0) ?? NaN).toISOString(), wanted, text);
  }
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

test('a value goes to the side of its filter that is in use', () => {
  for (const [query, side] of [['', 'route'], ['route=a', 'route'], ['exclude_route=a', 'exclude_route'], ['route=a&exclude_route=b', 'route'], ['exclude_release=1', 'route']]) {
    assert.equal(sideOf(parse(`/shop/flame?${query}`).params, 'route'), side, query);
  }
});

test('numbers are short, and say when there is none', () => {
  assert.deepEqual([0, 0.001234, 0.5, 9.876, 12.34, 1234.5, null].map(text.number), ['0', '0.001', '0.50', '9.88', '12.3', '1,235', '–']);
  assert.deepEqual([0, 0.00001, 0.00567, 0.0567, 0.567, 0.9999, 1, null].map(text.percent), ['0 %', '< 0.01 %', '0.57 %', '5.7 %', '56.7 %', '100 %', '100 %', '–']);
  assert.deepEqual([1.04, -0.031, 0, null].map(text.change), ['+104 %', '−3.1 %', '±0.0 %', '–']);
  assert.deepEqual([8.99, 8.995, 98.6, 999, 99_990, Infinity].map(text.change), ['+899 %', '10 times', '100 times', '1,000 times', '> 1,000 times', '> 1,000 times']);
  assert.deepEqual([0, 0.5, 12, 61_000, 600_000, 9_000_000].map(text.duration), ['0 ms', '500 µs', '12.0 ms', '61.0 s', '10.0 min', '2.50 h']);
});

test('what would hide or turn a name is shown as an escape', () => {
  assert.equal(text.visible('a\u202eb\u0000\n\u200b\u2066\ufeff'), 'a\\u{202e}b\\u{0}\\u{a}\\u{200b}\\u{2066}\\u{feff}');
  assert.equal(text.visible('\ud800x'), '\\u{d800}x');
  assert.equal(text.visible('\ufffe\uffff'), '\\u{fffe}\\u{ffff}', 'XML has no such characters');
  assert.equal(text.visible('𝕏'.repeat(50), 10), `${'𝕏'.repeat(9)}…`);
  assert.equal(text.visible('日本語 عربي e\u0301'), '日本語 عربي e\u0301');
});

test('only addresses of the web become links', () => {
  for (const good of ['https://shop.example/a.js', 'http://127.0.0.1/x']) assert.ok(text.webAddress(good));
  for (const bad of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', '//evil.example', 'blob:https://x/', 'chrome-extension:', '', null, 'x']) assert.equal(text.webAddress(bad), null);
});

test('cells that a spreadsheet would run get an apostrophe; numbers stay numbers', () => {
  const rows = ['=1+1', '+1', '-1+cmd', '@x', '\t=1', '\r=1', '\n=1', '＝1', '\ufeff=1', '\u200b=1', '\u00a0=1', '  =1', '\v=1', '\0=1', '\x85=1', '\u2068=1', '\u3164+1', '\u{e0020}=1', '﹦1', '-12.5', 'a"b', 'a,b', 'a\nb', 'plain'].map((a) => ({ a, b: -1.5, c: null }));
  assert.equal(text.csv(['a', 'b', 'c'], rows), ['a,b,c', "'=1+1,-1.5,", "'+1,-1.5,", "'-1+cmd,-1.5,", "'@x,-1.5,", "'\t=1,-1.5,", '"\'\r=1",-1.5,', '"\'\n=1",-1.5,', "'＝1,-1.5,", "'\ufeff=1,-1.5,", "'\u200b=1,-1.5,", "'\u00a0=1,-1.5,", "'  =1,-1.5,", "'\v=1,-1.5,", "'\0=1,-1.5,", "'\x85=1,-1.5,", "'\u2068=1,-1.5,", "'\u3164+1,-1.5,", "'\u{e0020}=1,-1.5,", "'﹦1,-1.5,", '-12.5,-1.5,', '"a""b",-1.5,', '"a,b",-1.5,', '"a\nb",-1.5,', 'plain,-1.5,', '']
    .join('\r\n'));
});

test('texts of strangers stay in their cell of Markdown, as code', () => {
  const rows = [{ a: 'f(x)', b: 1.5 }, { a: '`|\\ [x](http://evil.example) @all <b>\n| y |', b: null }, { a: '', b: 0 }];
  assert.equal(text.markdown(['a'], [{ a: ['x|y', '[z](u)'] }, { a: true }]), '| a |\n| --- |\n| <code>&#91;&#34;x&#124;y&#34;&#44;&#34;&#91;z&#93;&#40;u&#41;&#34;&#93;</code> |\n| true |\n');
  assert.ok(!text.markdown(['a'], [{ a: `${'a'.repeat(199)}\u{1F600}b` }]).includes('\uFFFD'));
  assert.equal(text.markdown(['a', 'b'], rows), '| a | b |\n| --- | --- |\n| `f(x)` | 1.5 |\n'
    + '| <code>&#96;&#124;&#92; &#91;x&#93;&#40;http&#58;&#47;&#47;evil&#46;example&#41; &#64;all &#60;b&#62;&#92;u&#123;a&#125;&#124; y &#124;</code> |  |\n|  | 0 |\n');
});

test('a picture has a box per node in view, named and as wide as its share', () => {
  const tree = treeOf(answerOf(shop));
  /** @type {import('../../report/src/colours.js').Party[]} */
  const parties = tree.frames.function.map((_, i) => (i === 0 ? 'third' : 'own'));
  const svg = /** @type {string} */ (formats.svg.write(tree, `shop <flame> ${'x'.repeat(200)}`, 10, { parties, kinds: [['own', 'own <scripts> 90 %'], ['third', 'third parties 10 %']] }));
  assert.match(svg, /^<svg [^]*<text x="3" y="13">7\.50 µs per page load, of 10 page loads · shop &#60;flame&#62; x+<\/text><text x="3" y="31">x+<\/text>/);
  for (const [party, words] of /** @type {const} */ ([['own', 'own &#60;scripts&#62; 90 %'], ['third', 'third parties 10 %']])) {
    assert.ok(svg.split('\n').some((line) => line.includes(`fill="${colour(party, '', false)}"`) && line.includes(`>${words}</text>`)), party);
  }
  const boxes = [...svg.matchAll(/<title>([^<]*)<\/title><rect x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="17" fill="([^"]*)"\/>(<rect [^>]*"url\(#third\)"\/>)?/g)];
  assert.equal(boxes.length, tree.count - 1);
  for (const [i, [, title, x, y, width, fill, hatch]] of boxes.entries()) {
    const node = i + 1, name = tree.frames.function[tree.frame[node]];
    assert.equal(title, `${name.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`)} ${text.duration(tree.total[node] / 10_000)} per page load`);
    assert.deepEqual([fill, hatch !== undefined], [colour(parties[tree.frame[node]], name, false), parties[tree.frame[node]] === 'third'], 'as on the screen');
    assert.equal(Number(y), 18 * (3 + tree.level[node]), 'below two lines of a title and two of a legend');
    assert.ok(Math.abs(Number(width) - 1200 * tree.size[node] / tree.size[0]) < 0.1 && Math.abs(Number(x) - 1200 * tree.start[node] / tree.size[0]) < 0.1);
  }
});

test('a file name tells the agent, as in SQL', () => {
  const sql = fs.readFileSync(path.join(repository, 'tests/schema/is_agent_test.sql'), 'utf8');
  const cases = [...sql.matchAll(/select url, (true|false)\s+from unnest\(array\[([^\]]*)\]/g)]
    .flatMap(([, expected, list]) => [...list.matchAll(/'([^']*)'|\bnull\b/g)].map(([, url = null]) => ({ url, expected: expected === 'true' })));
  assert.ok(cases.some(({ expected }) => expected) && cases.some(({ expected }) => !expected) && cases.length > 40, String(cases.length));
  assert.deepEqual(cases.map(({ url }) => ({ url, expected: isAgent(url) })), cases);
  // Names that would keep a careless pattern busy forever.
  for (const name of ['-11'.repeat(340), '-aB1'.repeat(250), ':fleetprof1'.repeat(90), '-a'.repeat(500)]) assert.equal(isAgent(`https://shop.example/fleetprof${name}.x`), false);
});

test('what is not known is last, in both directions', () => {
  const rows = [{ a: 1 }, { a: null }, { a: 3 }];
  assert.deepEqual(sorted(rows, 'a').map(({ a }) => a), [1, 3, null]);
  assert.deepEqual(sorted(rows, '-a').map(({ a }) => a), [3, 1, null]);
});

// ---- sessions ----

test('spans lie in the order of a tree, and below each other where they overlap', () => {
  const rows = [
    { id: 3, parent_id: 1, type: 'child', start_ms: 2, end_ms: 4, time_ms: 2 }, { id: 1, parent_id: null, type: 'first', start_ms: 0, end_ms: 10, time_ms: 8 },
    { id: 2, parent_id: 77, type: 'overlaps', start_ms: 5, end_ms: 12, time_ms: 7 }, { id: 4, parent_id: null, type: 'point', start_ms: 20, end_ms: null, time_ms: 0 },
  ];
  const spans = spansOf('events', 'Events', itemsOf(rows));
  const of = (/** @type {ArrayLike<number>} */ column) => Array.from(column).slice(1, spans.count);
  assert.deepEqual(spans.items.slice(1).map(({ label }) => label), ['first', 'child', 'overlaps', 'point']);
  assert.deepEqual([of(spans.parent), of(spans.level), of(spans.end), of(spans.row)], [[0, 1, 0, 0], [1, 2, 1, 1], [3, 3, 4, 5], [0, 1, 1, 0]]);
  assert.deepEqual([spans.start[0], spans.finish[0], spans.rows], [0, 20, 2]);
});

test('parents that go round are left out', () => {
  assert.equal(spansOf('x', 'X', itemsOf([{ id: 1, parent_id: 2, type: 'a', start_ms: 0 }, { id: 2, parent_id: 1, type: 'b', start_ms: 0 }])).count, 1);
});

test('own times inside a window are what no child covers, or their part of what is known', () => {
  const spans = spansOf('x', 'X', [{ id: '0', label: 'outer', start: 0, end: 10 }, { id: '1', label: 'inner', start: 4, end: 8, parent: 0 }, { id: '2', label: 'known', start: 0, end: 10, own: 2 }]);
  assert.deepEqual([...ownWithin(spans, 0, 10)].slice(0, 4), [0, 6, 4, 2]);
  assert.deepEqual([...ownWithin(spans, 5, 10)].slice(0, 4), [0, 2, 3, 1]);
});

test('a kept trace becomes tracks: a function goes on from sample to sample, a gap ends it', () => {
  const tracks = tracksOf({
    sampleInterval: 10, page: { url: 'https://www.shop.example/' }, marks: [{ name: 'ready', startTime: 5, duration: 0 }], measures: [{ name: 'open', startTime: 0, duration: 30 }],
    interactions: [{ type: 'pointer', target: '#buy', start: 1, duration: 8 }],
    trace: { resources: ['https://cdn.shop.example/a.js', 'https://other.example/b.js'], frames: [{ name: 'main', resourceId: 0, line: 1, column: 2 }, { name: '', resourceId: 1 }], stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
      samples: [{ timestamp: 10, stackId: 1 }, { timestamp: 0, stackId: 0 }, { timestamp: 20, marker: 'gc' }, { timestamp: 30, stackId: 0 }, { timestamp: 490, stackId: 0 }] },
  });
  assert.deepEqual(tracks.map(({ key }) => key), ['timing', 'input', 'marker', 'stack']);
  const [, , , stack] = tracks;
  assert.deepEqual(stack.items.slice(1).map(({ label, start, end, third }) => [label, start, end, third]), [['main', -5, 15, false], ['(anonymous)', 5, 15, true], ['main', 25, 155, false], ['main', 365, 495, false]]);
  const [watched] = tracksOf({ start: 2, duration: 100, sampleInterval: 10, trace: { resources: [], frames: [{ name: 'f' }], stacks: [{ frameId: 0 }],
    samples: [{ timestamp: 30, stackId: 0 }, { timestamp: 200, stackId: 0 }] } });
  assert.deepEqual(watched.items.slice(1).map(({ start, end }) => [start, end]), [[2, 102]], 'what was watched bounds it');
});

test('what has no name is shown as (none)', () => {
  const [{ id: _, ...row }] = itemsOf([{ id: 1, parent_id: null, type: null, start_ms: 0 }]);
  assert.deepEqual(spansOf('x', 'X', [{ id: '1', ...row }]).items[1].label, '(none)');
});

test('a window is at least a microsecond, and has few ticks', () => {
  assert.deepEqual(windowOf({ from: '5', to: '7' }, [0, 10]), [5, 7]);
  for (const [from, to] of [['5', '5.000000000000001'], ['5', '5'], ['7', '5'], ['11', '12'], ['x', '5'], ['-2', '0']]) assert.deepEqual(windowOf({ from, to }, [0, 10]), [0, 10], `${from} to ${to}`);
  assert.deepEqual(windowOf({}, [0, 10]), [0, 10]);
  assert.deepEqual(ticksIn(3, 21, 5), [5, 10, 15, 20]);
  assert.deepEqual(ticksIn(6, 9, 5), []);
  assert.ok(ticksIn(5, 5.000000000000001, 1e-16).length <= 200);
  assert.equal(ticksIn(0, 1e9, 1).length, 200);
});

test('a list of too many siblings has those around the selection', () => {
  const spans = spansOf('x', 'X', Array.from({ length: 500 }, (_, i) => ({ id: String(i), label: 'event', start: i, end: i + 1 })));
  for (const [selected, before, after] of [[-1, 0, 400], [1, 0, 400], [300, 249, 151], [500, 400, 0]]) {
    const lines = linesOf(spans, new Set([0, ...pathTo(spans, selected)]), selected);
    const nodes = lines.flatMap((line) => ('node' in line ? [line.node] : []));
    assert.deepEqual(nodes, [0, ...Array.from({ length: 100 }, (_, i) => before + i + 1)], `${selected}`);
    assert.ok(nodes.includes(Math.max(selected, 0)));
    assert.deepEqual(lines.filter((line) => !('node' in line)), [...before > 0 ? [{ before }] : [], ...after > 0 ? [{ after }] : []]);
    for (const line of lines.slice(1)) if ('node' in line) assert.deepEqual([line.place, line.of], [line.node - 1, 500]);
  }
});

test('a list goes down the deepest stack', () => {
  const deep = 100_000;
  const spans = spansOf('x', 'X', Array.from({ length: deep }, (_, i) => ({ id: String(i), label: 'f', start: 0, end: 1, parent: i - 1 })));
  assert.equal(linesOf(spans, new Set(Array(deep + 1).keys()), deep).length, deep + 1);
});

test('a trace becomes a bounded number of spans, and says until when', () => {
  const depth = 1000;
  const stacks = Array.from({ length: 2 * depth }, (_, i) => ({ frameId: i < depth ? 0 : 1, ...i % depth > 0 ? { parentId: i - 1 } : {} }));
  const trace = { resources: [], frames: [{ name: 'a' }, { name: 'b' }], stacks, samples: Array.from({ length: 2000 }, (_, i) => ({ timestamp: 10 * i, stackId: depth * (1 + (i % 2)) - 1 })) };
  const [stack] = tracksOf({ sampleInterval: 10, trace });
  assert.deepEqual([stack.count - 1, stack.reached], [mostItems, 10 * mostItems / depth - 5]);
  const [whole] = tracksOf({ sampleInterval: 10, trace: { ...trace, samples: trace.samples.slice(0, mostItems / depth) } });
  assert.deepEqual([whole.count - 1, whole.reached], [mostItems, undefined]);
});

test('entries go to the tracks of their types, and marks of the 2012 draft are marks', () => {
  const labels = (/** @type {any} */ body) => Object.fromEntries(tracksOf(body).map(({ key, items }) => [key, items.slice(1).map(({ label, start, end }) => [label, start, end])]));
  const entries = [
    { entryType: 'mark', name: 'm', startTime: 1, duration: 0 }, { entryType: 'event', name: 'click', startTime: 2, duration: 8 }, { entryType: 'long-animation-frame', name: 'long-animation-frame', startTime: 3, duration: 60 },
    { entryType: 'resource', name: 'https://shop.example/a.js', startTime: 4, duration: 5 }, { entryType: 'paint', name: 'first-paint', startTime: 5, duration: 0 }, null,
  ];
  const expected = { timing: [['m', 1, null]], input: [['click ', 2, 10]], frame: [['long frame', 3, 63]], network: [['https://shop.example/a.js', 4, 9]] };
  assert.deepEqual(labels({ entries }), expected);
  assert.deepEqual(labels(entries), expected);
  for (const body of [{ marks: { ready: [3, 9] } }, { ready: [3, 9] }]) assert.deepEqual(labels(body), { timing: [['ready', 3, null], ['ready', 9, null]] });
  // A measure of that draft has a duration and no begin.
  assert.deepEqual(labels({ marks: { ready: [3] }, measures: { open: [30] } }), { timing: [['ready', 3, null]] });
});

test('what is not an upload has no tracks', () => {
  for (const body of [null, 7, 'x', [], {}, { trace: {} }, { trace: { samples: [{}, { timestamp: 'x' }] } }, { marks: [null] }, { trace: { samples: [{ timestamp: 1, stackId: 5 }], stacks: null } }, { trace: { samples: [{ timestamp: 1, stackId: 0 }], stacks: [{ frameId: 0, parentId: 0 }], frames: [{}] } }]) {
    assert.ok(tracksOf(body).every(({ count }) => count > 1), JSON.stringify(body));
  }
});

// ---- exports ----

/** Reads a message of Protocol Buffers: numbers, and parts by field. @param {Uint8Array} bytes */
function fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  /** @type {[number, any][]} */
  const fields = [];
  while (at < bytes.length) {
    const tag = varint();
    if (tag % 8 === 0) { fields.push([tag >> 3, varint()]); continue; }
    assert.equal(tag % 8, 2);
    const length = varint();
    fields.push([tag >> 3, bytes.subarray(at, at + length)]);
    at += length;
  }
  return fields;
}

test('exports have every microsecond of the stacks that are drawn', () => {
  const tree = treeOf(answerOf(shop));
  const drawn = Object.fromEntries(Object.entries(shop).filter(([stack]) => !stack.endsWith('?')));
  const lines = /** @type {string} */ (formats.folded.write(tree, 'x')).trimEnd().split('\n');
  assert.deepEqual(Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))])), drawn);
  const fields = fieldsOf(/** @type {Uint8Array} */ (formats.pprof.write(tree, 'x')));
  const texts = fields.filter(([field]) => field === 6).map(([, bytes]) => new TextDecoder().decode(bytes));
  const names = new Map(fields.filter(([field]) => field === 5).map(([, bytes]) => { const part = Object.fromEntries(fieldsOf(bytes)); return [part[1], texts[part[2]]]; }));
  const varints = (/** @type {Uint8Array} */ bytes) => fieldsOf(Uint8Array.from([...bytes].reduce((/** @type {number[]} */ all, byte, i) => [...all, ...(i === 0 || bytes[i - 1] < 128 ? [8] : []), byte], []))).map(([, value]) => value);
  const samples = fields.filter(([field]) => field === 2).map(([, bytes]) => Object.fromEntries(fieldsOf(bytes)));
  assert.deepEqual(Object.fromEntries(samples.map((sample) => [varints(sample[1]).reverse().map((id) => names.get(id)).join(';'), varints(sample[2])[0]])), drawn);
  const chrome = JSON.parse(/** @type {string} */ (formats.chrome.write(tree, 'x')));
  assert.equal(chrome.endTime, Object.values(drawn).reduce((sum, us) => sum + us));
});

test('names in exports are not misread by other tools', () => {
  const tree = treeOf(answerOf({ 'get 0': 1, 'get 0;(idle)': 2, 'v  1.5': 3, '(program)': 4, '(root)': 5, '(garbage collector)': 6, '1 2 x': 7, '\t8': 8, '(anonymous)': 9 }));
  const at = tree.frames.function.indexOf('(anonymous)');
  [tree.frames.resource[at], tree.frames.line[at], tree.frames.column_number[at]] = [null, 7, 9];
  assert.deepEqual(/** @type {string} */ (formats.folded.write(tree, 'x')).trimEnd().split('\n').sort(), ['(anonymous) :7:9 9', '(garbage collector) 6', '(program) 4', '(root) 5',
    '1 2 x 7', 'get\u00a00 1', 'get\u00a00;(idle) 2', 'v \u00a01.5 3', '\u00a08 8'].sort(), 'as fleetprof.folded has them');
  const { nodes } = JSON.parse(/** @type {string} */ (formats.chrome.write(tree, 'x')));
  assert.deepEqual(nodes.map((/** @type {any} */ { callFrame }) => callFrame.functionName).filter((/** @type {string} */ name) => /^\(.*\)/.test(name)).sort(),
    ['(garbage collector)\u00a0', '(idle)\u00a0', '(program)\u00a0', '(root)', '(root)\u00a0']);
});

test('what the page packs is read back, every number of it', async () => {
  const bytesOf = async (/** @type {Record<string, any>} */ answers) => new Uint8Array(await packed(answers).arrayBuffer());
  const stacks = { ...shop, 'boot;render;format': 4, 'boot;a@1': 1, 'boot;a@2': 2 };
  const tree = answerOf(Object.fromEntries(Object.entries(stacks).map(([stack, us]) => [stack, 10 * us])));
  const all = tree.frames.function;
  const keys = ['9223372036854775807', '-9223372036854775808', '0', '-1'];
  const whole = { ...tree, omitted_us: 5, frames: { ...tree.frames, function_key: all.map((_, i) => keys[i] ?? String(i)), generated_resource: all.map((_, i) => (i % 2 ? 'https://cdn.example/min.js' : null)),
    generated_line: all.map((_, i) => (i % 2 ? i : null)), generated_column: all.map((_, i) => (i % 2 ? 2 * i : null)) } };
  const odd = { ...whole, self: [...whole.self.slice(0, -1), 0.5] };
  const other = { ...whole, samples: whole.samples.map((each, i) => each + (i % 3) * 7), self: whole.self.map((us, i) => us - (i === 4 ? 3 : 0)) };
  const answers = { '/a': { tree: whole, sql: 'é<' }, '/b': { rows: [[1, null]] }, '/c': { tree: other, took_ms: 1.5 }, '/d': { tree: odd }, '/e': { tree: { level: [], frame: [] } } };
  const bytes = await bytesOf(answers);
  const again = unpacked(bytes);
  const plain = (/** @type {any} */ value) => JSON.parse(JSON.stringify(value ?? null, (_, each) => (ArrayBuffer.isView(each) ? [.../** @type {any} */ (each)] : each)));
  const placesOf = (/** @type {any} */ { frame, frames }) => Array.from(frame, (i) => Object.keys(frames).sort().map((name) => frames[name][i]));
  assert.deepEqual(Object.keys(again), Object.keys(answers));
  for (const [name, { tree: from, ...more }] of Object.entries(/** @type {Record<string, any>} */ (answers))) {
    const { tree: to, ...rest } = again[name];
    assert.deepEqual(rest, more);
    if (!from) continue;
    for (const column of ['level', 'self', 'total', 'samples', 'omitted_us']) assert.deepEqual(plain(to[column]), plain(from[column]), `${name} ${column}`);
    if (from.frames) assert.deepEqual(placesOf(to), placesOf(from), name);
  }
  assert.ok(new TextDecoder('latin1').decode(bytes).includes('"packed"'));
  assert.deepEqual(unpacked(await bytesOf({})), {});
});

test('bytes of any length are written as text that ends no element, and read back', () => {
  for (let length = 0; length < 12; length += 1) {
    for (const byte of [0, 1, 0x3c, 0x80, 0xff]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (byte * (i + 1)) % 256);
      const packed = written(bytes);
      assert.match(packed, /^[#-;=-x]*$/);
      assert.deepEqual(read(packed), bytes, `${length} of ${byte}`);
    }
  }
});

test('answers of a file that is cut are refused, not half read', () => {
  const head = { nodes: 3, unit_us: 1, sample_us: 1, least_self_us: 1, least_rest_us: 0 };
  const frames = { function: ['f'], resource: [null], line: [null], column_number: [null], kind: ['function'], generated_resource: [null], generated_line: [null], generated_column: [null] };
  const json = JSON.stringify({ answers: { '/x': { tree: { packed: head, omitted_us: 0 } }, '/y': { rows: [] } }, frames });
  const numbers = [0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 2, 0, 0, 0, 0];
  const bytes = Uint8Array.from([...new TextEncoder().encode(json), 0, ...numbers]);
  const { '/x': { tree } } = unpacked(bytes);
  assert.deepEqual({ ...tree, ...Object.fromEntries(['level', 'frame', 'self', 'total', 'samples'].map((name) => [name, [...tree[name]]])) }, {
    level: [0, 1, 2], frame: [-1, 0, 0], self: [0, 3, 1], total: [4, 4, 1], samples: [4, 4, 1], omitted_us: 0, frames: { ...frames, function_key: ['7'] },
  });
  for (let less = 1; less <= numbers.length; less += 1) assert.throws(() => unpacked(bytes.slice(0, -less)), Error, `${less} bytes less`);
  assert.deepEqual(unpacked(new TextEncoder().encode('{"answers":{"/y":{"rows":[]}}}')), { '/y': { rows: [] } });
});

test('what the repository carries is what the sources give', async () => {
  await runOrThrow([process.execPath, path.join(repository, 'report/build.mjs'), '--check']);
});

test('the vitals and their thresholds are those of web-vitals', () => {
  const { LCPThresholds: LCP, INPThresholds: INP, CLSThresholds: CLS, FCPThresholds: FCP, TTFBThresholds: TTFB } = webVitals;
  const theirs = { LCP, INP, CLS: CLS.map((score) => 1000 * score), FCP, TTFB };
  assert.deepEqual(thresholds, theirs);
});

test('the page asks each question with the filters that the server takes, and knows the markers of the collector', () => {
  const source = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, name), 'utf8');
  const taken = ['since', 'until', ...rows.flatMap(({ name }) => [name, `exclude_${name}`])];
  assert.deepEqual(new Set(filters), new Set(taken));
  const page = fs.readdirSync(path.join(repository, 'report/src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js')).map((name) => source(`report/src/${name}`)).join('');
  const of = (/** @type {string} */ kind) => rows.filter((row) => row.of === kind).map(({ name }) => name);
  const without = /** @type {Record<string, string[]>} */ ({ 'filters of samples': [], filters: of('samples'), 'of both sides': [...of('samples'), ...of('sides')], 'of each side': [...of('samples'), ...of('sides')] });
  const own = ['before', 'after'].flatMap((side) => of('loads').map((name) => `${side}_${name}`));
  const asked = questions.flatMap(({ serves, takes }) => takes.flatMap((row) => (serves && 'filters' in row && page.includes(`'${serves.route}'`) ? [[serves.route, row.filters.replace(/^\w+ of (both|each)/, 'of $1')]] : [])));
  assert.ok(asked.length >= 25, `${asked.length}`);
  for (const [name, set] of asked) {
    const [kind, vitals] = set.split(' and ');
    const fields = [...without[kind], ...vitals ? [] : of('vitals')];
    const left = new Set([...fields, ...fields.map((field) => `exclude_${field}`)]);
    assert.deepEqual(new Set(filtersOf(name)), new Set([...taken.filter((filter) => !left.has(filter)), ...kind === 'of each side' ? own : []]), name);
  }
  const words = source('collector/base/words.c');
  const names = [...words.slice(0, words.indexOf('return names[marker]')).matchAll(/\[FP_MARKER_\w+\] = "([^"]+)"/g)].map(([, name]) => name);
  assert.deepEqual(new Set(markers), new Set(names));
});

test('a search of many stars takes no time, and finds what it says', () => {
  const find = (/** @type {string} */ q, /** @type {string} */ name) => matching([{ name }], q, ['name']).length === 1;
  for (const [q, name, is] of /** @type {[string, string, boolean][]} */ ([['a*c', 'xAbCx', true], ['c*a', 'abc', false], ['a*a', 'a', false], ['a**b', 'ab', true], ['*', '', true], ['a.b', 'axb', false], ['a.b', 'A.B', true], ['a*b', 'a\nb', true], ['', 'x', true]])) {
    assert.equal(find(q, name), is, `${q} in ${name}`);
  }
  // In a process of its own, which can be stopped.
  const script = `import { matching } from ${JSON.stringify(pathToFileURL(path.join(repository, 'report/src/parts.js')).href)};
    console.log(matching([{ name: 'a'.repeat(1024) }], '*a'.repeat(30) + 'b', ['name']).length);`;
  assert.equal(execFileSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 }).toString().trim(), '0');
});

test('a time in a sentence is read as ISO has it, which every browser reads', () => {
  const known = globalThis.Date;
  /** @type {unknown[]} */
  const given = [];
  globalThis.Date = /** @type {any} */ (class extends known {
    constructor(/** @type {any[]} */ ...all) { given.push(...all); super(.../** @type {[any]} */ (all)); }
  });
  try {
    assert.equal(text.localised('Newest data: 2026-01-31 12:00 UTC'), 'Newest data: 2026-01-31 12:00 UTC');
  } finally {
    globalThis.Date = known;
  }
  assert.equal(given[0], '2026-01-31T12:00Z');
});

test('the page says of as many kept page loads as SQL compares that they are the latest', () => {
  const source = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, name), 'utf8');
  const most = /most_kept constant integer := (\d+);/.exec(source('schema/functions/typical_load.sql'))?.[1];
  assert.equal(/const mostKept = (\d+);/.exec(source('report/src/parts.js'))?.[1], most);
});

test('columns of tables have the labels and the forms of the catalogue', () => {
  const forms = /** @type {Record<string, string>} */ ({ SHARE: 'share', MS: 'number', INTEGER: 'count' });
  const { shown } = /columns = \/\*\* @type \{\{\n(?<shown>[^]*?) \* \}\}/.exec(fs.readFileSync(path.join(repository, 'report/src/question_rows.js'), 'utf8'))?.groups ?? {};
  const tables = [...shown.matchAll(/^ \* (\w+): Record<(.*), string \| undefined>,$/gm)].map(([, name, names]) => /** @type {const} */ ([name, names.replaceAll("'", '').split(' | ')]));
  assert.ok(tables.length > 20, `${tables.length}`);
  for (const [question, names] of tables) {
    for (const name of names) {
      const { label, cell } = shownAs(questionOf(question), name);
      const [column] = columnsOf(/** @type {any} */ (question), { [name]: {} });
      assert.deepEqual([column.label.toLowerCase(), column.kind], [label.toLowerCase(), forms[cell] ?? 'text'], `${question} ${name}`);
    }
  }
});

test('the trend and the values of what is not a vital are asked without its filter', () => {
  const state = parse('/shop/timing/gallery?navigation=soft&exclude_navigation=hard&route=%2Fcart');
  for (const [name, more] of /** @type {[string, Record<string, string>][]} */ ([['trend', { by: 'measure', key: 'gallery', step: 'hour' }], ['histogram', { kind: 'mark', timing_name: 'gallery' }]])) {
    const asked = question(name, state, more);
    assert.ok(!asked.address.includes('navigation') && asked.address.includes('route=%2Fcart'), asked.address);
    assert.ok(!asked.taken?.includes('navigation'));
  }
  const asked = question('trend', state, { by: 'vital', key: 'LCP', step: 'hour' });
  assert.ok(asked.address.includes('exclude_navigation=hard') && asked.address.includes('&navigation=soft'), asked.address);
});

test('days of a trend are written by the clock of the zone, and UTC days as such', () => {
  assert.deepEqual(text.stepTime('2026-10-04T14:00:00Z', 'UTC'), ['2026-10-04 14:00', 'UTC']);
  assert.deepEqual(text.stepTime('2026-10-03T14:00:00Z', 'Australia/Sydney'), ['2026-10-04 00:00', 'Australia/Sydney']);
  assert.deepEqual(text.stepTime('2026-10-04T13:00:00Z', 'Australia/Sydney'), ['2026-10-05 00:00', 'Australia/Sydney'], 'a day of 23 hours later');
  assert.deepEqual(text.stepTime('2026-10-03T18:30:00Z', 'Asia/Kolkata'), ['2026-10-04 00:00', 'Asia/Kolkata']);
  assert.deepEqual(text.stepTime('2026-10-04T00:00:00Z', 'Australia/Sydney'), ['2026-10-04 00:00', 'UTC'], 'where hours are gone');
  assert.deepEqual(text.stepTime('2026-01-04T00:00:00Z', 'Europe/London'), ['2026-01-04 00:00', 'Europe/London'], 'both');
  assert.deepEqual(text.stepTime('2026-03-08T05:00:00Z', 'America/Havana'), ['2026-03-08 01:00', 'America/Havana'], 'a day without midnight');
  const days = Array.from({ length: 9 }, (_, i) => Date.parse('2026-04-03T13:00:00Z') / 1000 + (i * 24 + (i > 1 ? 1 : 0)) * 3600);
  assert.deepEqual(dayTicks(days, 'Australia/Sydney')(3), [[days[0], '04-04'], [days[3], '04-07'], [days[6], '04-10']]);
  assert.equal(dayTicks(days, 'Australia/Sydney')(20).length, 9);
});

test('the zone of a trend is UTC where it is not known', () => {
  const answer = (/** @type {string} */ zone) => text.zoneOf({ rows: [{ timezone_of: zone }] });
  assert.equal(answer('Asia/Kolkata'), 'Asia/Kolkata');
  assert.equal(answer('Mars/Olympus'), 'UTC', 'this browser has an older list of zones');
  assert.equal(text.zoneOf({ rows: [] }), 'UTC');
  assert.equal(text.zoneOf(undefined), undefined, 'hours are of the clock of all times');
});

/** Returns what an expression of the page's modules gives in another time zone. @param {string} zone @param {string} expression */
async function inZone(zone, expression) {
  const from = (/** @type {string} */ name) => JSON.stringify(pathToFileURL(path.join(repository, 'report/src', name)).href);
  return JSON.parse(await runOrThrow([process.execPath, '--input-type=module', '--eval', `
    const text = await import(${from('format.js')}), { ticksOf } = await import(${from('chart.js')});
    const seconds = (time) => Date.parse(time) / 1000;
    text.setZone(false);
    console.log(JSON.stringify(${expression}));`], { env: { TZ: zone } }));
}

test('hours of a trend are all of one clock, the one of all times', async () => {
  const hours = ['2026-10-24T23:00:00Z', '2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00Z'];
  for (const [zone, ...local] of [['Asia/Kolkata', '04:30', '05:30', '06:30', '07:30'], ['America/St_Johns', '20:30', '21:30', '22:30', '23:30'], ['Europe/Berlin', '01:00', '02:00', '02:00', '03:00']]) {
    const [own, ...shown] = await inZone(zone, `[text.ownZone, ...${JSON.stringify(hours)}.map((bucket) => text.stepTime(bucket))]`);
    assert.deepEqual(shown, local.map((clock) => [`2026-10-2${zone.startsWith('America') ? 4 : 5} ${clock}`, own]));
  }
});

test('ticks are round times of the clock, also after it was put forward or back', async () => {
  const ticks = (/** @type {string} */ zone, /** @type {string} */ from, /** @type {string} */ to, /** @type {number} */ most) => inZone(zone,
    `ticksOf(seconds('${from}'), seconds('${to}'))(${most}).map(([at, label]) => [new Date(at * 1000).toISOString().slice(5, 16), label])`);
  assert.deepEqual(await ticks('Europe/Berlin', '2026-10-24T10:00Z', '2026-10-26T00:00Z', 7), [['10-24T10:00', '12:00'], ['10-24T16:00', '18:00'], ['10-24T22:00', '10-25'],
    ['10-25T05:00', '06:00'], ['10-25T11:00', '12:00'], ['10-25T17:00', '18:00'], ['10-25T23:00', '10-26']]);
  assert.deepEqual(await ticks('Europe/Berlin', '2026-03-28T12:00Z', '2026-03-31T00:00Z', 3), [['03-28T23:00', '03-29'], ['03-29T22:00', '03-30'], ['03-30T22:00', '03-31']]);
  assert.deepEqual(await ticks('Europe/Berlin', '2026-03-28T23:30Z', '2026-03-29T03:00Z', 9), [['03-29T00:00', '01:00'], ['03-29T01:00', '03:00'], ['03-29T02:00', '04:00'], ['03-29T03:00', '05:00']], 'no 02:00');
  assert.deepEqual(await ticks('America/St_Johns', '2026-11-01T02:00Z', '2026-11-01T18:00Z', 6), [['11-01T02:30', '11-01'], ['11-01T06:30', '03:00'], ['11-01T09:30', '06:00'],
    ['11-01T12:30', '09:00'], ['11-01T15:30', '12:00']]);
  assert.deepEqual(await ticks('Asia/Kolkata', '2026-10-24T10:00Z', '2026-10-26T00:00Z', 4), [['10-24T18:30', '10-25'], ['10-25T06:30', '12:00'], ['10-25T18:30', '10-26']]);
  assert.deepEqual(await ticks('America/Havana', '2026-03-07T00:00Z', '2026-03-10T00:00Z', 4), [['03-07T05:00', '03-07'], ['03-08T05:00', '03-08'], ['03-09T04:00', '03-09']], 'a day without midnight');
  assert.deepEqual(await ticks('UTC', '2026-03-07T22:00Z', '2026-03-08T02:00Z', 4), [['03-07T22:00', '22:00'], ['03-07T23:00', '23:00'], ['03-08T00:00', '03-08'], ['03-08T01:00', '01:00'], ['03-08T02:00', '02:00']]);
});

test('what page loads left out is one sentence, or none', () => {
  const row = (/** @type {string} */ what, /** @type {number} */ loads, /** @type {number | null} */ count = null) => (
    { what, loads, all_loads: 3400, share: loads / 3400, count });
  assert.equal(leftOut([]), null);
  assert.equal(leftOut([row('(any)', 0), row('mark', 0, 9)]), null);
  assert.equal(leftOut([row('(any)', 12), row('measure', 11, 1_204_332), row('overload', 2), row('frame', 1, 1), row('resource', 0, 5), row('(unknown)', 1)]),
    '12 of 3,400 page loads (0.35 %) left something out: 1,204,332 measures (in 11), the profile of a busy device (in 2), 1 long frame (in 1), '
    + 'what the sender does not say (in 1).');
});

/** A list of constants in a source, as JavaScript has it. @param {string} file @param {string} name @returns {any} */
function constantOf(file, name) {
  const text = fs.readFileSync(path.join(repository, 'report/src', file), 'utf8');
  const begin = new RegExp(`\\bconst ${name} = (?:/\\*\\*[^*]*\\*/ \\()?([[{])`).exec(text) ?? assert.fail(`${file}: ${name}`);
  const from = begin.index + begin[0].length - 1;
  const [open, close] = begin[1] === '[' ? '[]' : '{}';
  let depth = 0;
  let to = from;
  do depth += Number(text[to] === open) - Number(text[to] === close); while (depth > 0 && ++to < text.length);
  return new Function('dimensions', `return (${text.slice(from, to + 1)});`)(dimensions);
}

test('the lists of the page are those of SQL, the server and the manual', () => {
  const source = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, name), 'utf8');
  const ofWhat = /function fleetprof_data\.script_groups\(\)[^{]*'\{([a-z,]+)\}'/.exec(source('schema/functions/filters.sql'))?.[1].split(',') ?? [];
  assert.deepEqual([...constantOf('views/where.js', 'groups')].sort(), [...ofWhat, ...dimensions, 'marker'].sort());
  assert.deepEqual(constantOf('views/compared.js', 'ofCode'), ofWhat);
  // A filter cannot select the names that cost_by itself gives.
  const given = source('schema/functions/cost_by.sql') + source('schema/functions/frame_groups.sql') + source('schema/functions/ownership.sql') + source('schema/functions/code_owners.sql') + source('collector/profile/fold/ceilings.h')
    + source('collector/profile/profile.h') + source('docs/numbers.md');
  for (const name of Object.keys(constantOf('parts.js', 'special'))) assert.ok(given.includes(name), name);

  const numbers = [...source('cli/serve/cell.c').matchAll(/\{"([a-z ]+)", \d+, FORM_(?:NUMBER|BIGINT)\}/g)].map(([, name]) => name);
  assert.deepEqual(new Set(constantOf('api.js', 'numeric')), new Set(numbers));
  const reasons = constantOf('views/coverage.js', 'reasons');
  const columns = [...source('schema/functions/coverage.sql').split('returns table (').at(-1)?.split(')')[0].matchAll(/^ +(\w+) +bigint/gm) ?? []].map(([, name]) => name);
  // An overloaded page load has a trace, and the sampled and delivered ones are not told apart by a reason.
  assert.deepEqual(reasons, columns.filter((name) => !['loads', 'overload', 'sampled', 'delivered'].includes(name)));

  const asked = questions.flatMap(({ serves }) => serves?.route ?? []);
  const ofDumps = [...Object.keys(constantOf('views/sessions.js', 'dumpTables')), ...constantOf('views/sessions.js', 'dumpTracks')];
  assert.deepEqual(ofDumps.filter((name) => !asked.includes(name)), []);
  // Each question about a kept session is shown by one view of sessions.
  const ofSessions = questions.flatMap(({ serves, takes: [first] }) => (serves && first && 'names' in first && first.names[0] === 'session_id' ? [serves.route] : []));
  assert.ok(ofSessions.length >= 14, `${ofSessions.length}`);
  const views = source('report/src/views/sessions.js');
  assert.deepEqual(ofSessions.filter((name) => !views.includes(name) && name !== 'js_profile_bottom_up'), []);
});

test('a hue means one kind of code, and none means a verdict', () => {
  const hueOf = (/** @type {string} */ colour) => Number(/^hsl\((\d+) /.exec(colour)?.[1]);
  const bright = /** @type {import('../../report/src/colours.js').Party[]} */ (Object.keys(hues)).filter((party) => hues[party][1] > 15);
  for (const party of bright) {
    for (const dark of [false, true]) assert.deepEqual(new Set(['a', '(gc)', 'sortReviews'].map((name) => hueOf(colour(party, name, dark)))), new Set([hues[party][0]]), party);
  }
  const [slower, faster] = [29, 209];
  const all = [...bright.map((party) => hues[party][0]), slower, faster].sort((a, b) => a - b);
  const apart = all.map((hue, i) => (i > 0 ? hue - all[i - 1] : hue + 360 - all[all.length - 1]));
  assert.ok(Math.min(...apart) >= 20, `${all}`);
});

test('verdicts have the words of SQL, and each unit of time is read as the server reads it', () => {
  const { meaning = '' } = questionOf('compare_releases').gives.find(({ names }) => names.includes('verdict')) ?? {};
  const words = [...meaning.matchAll(/`([^`]+)`/g)].map(([, word]) => word);
  assert.deepEqual(Object.keys(verdicts).filter((name) => name !== 'other' && !words.includes(name)), []);
  assert.deepEqual(['slower', 'faster', 'new', 'gone'].map((name) => verdictLook(name).sign), ['▲', '▼', '+', '−']);
  for (const name of [...words.filter((word) => !(word in verdicts)), undefined]) assert.equal(verdictLook(name), verdicts.other);

  const letters = /strchr\("([a-z]+)", text\[digits\]\)/.exec(fs.readFileSync(path.join(repository, 'cli/serve/value.c'), 'utf8'))?.[1] ?? '';
  const seconds = /** @type {Record<string, number>} */ ({ s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 });
  assert.deepEqual([...letters].sort(), Object.keys(seconds).sort());
  for (const letter of 'abcdefghijklmnopqrstuvwxyz') assert.equal(ago(`2${letter}`), letter in seconds ? 2000 * seconds[letter] : null, letter);
  for (const [value] of constantOf('filters.js', 'periods')) assert.ok(ago(value), value);
});

test('each kind of what page loads left out has its words', () => {
  const words = fs.readFileSync(path.join(repository, 'collector/base/words.c'), 'utf8');
  const kinds = [...words.matchAll(/\[FP_LEFT_OUT_\w+\] = "([^"]+)"/g)].map(([, name]) => name).filter((name) => name !== '(any)');
  /** With one, and with two. @type {Record<string, [string, string]>} */
  const expected = {
    '(unknown)': ['what the sender does not say', 'what the sender does not say'], mark: ['1 mark', '2 marks'], measure: ['1 measure', '2 measures'],
    profile: ['the end of the profile', 'the end of the profile'], overload: ['the profile of a busy device', 'the profile of a busy device'],
    vital: ['1 vital', '2 vitals'], interaction: ['1 interaction', '2 interactions'], frame: ['1 long frame', '2 long frames'],
    resource: ['1 resource', '2 resources'], upload: ['1 upload', '2 uploads'],
  };
  assert.deepEqual(kinds.sort(), Object.keys(expected).sort());
  for (const [what, [one, two]] of Object.entries(expected)) {
    for (const [count, said] of /** @type {[number, string][]} */ ([[1, one], [2, two]])) {
      const row = { what, loads: 3, all_loads: 30, share: 0.1, count: /^\d/.test(said) ? count : null };
      assert.ok(leftOut([{ ...row, what: '(any)', count: null }, row])?.endsWith(`: ${said} (in 3).`), what);
    }
  }
});

test('the manual has the keys that the page lists', () => {
  const manual = fs.readFileSync(path.join(repository, 'docs/report.md'), 'utf8').split('\n### Keys\n\n')[1].split('\n\n')[0];
  const main = fs.readFileSync(path.join(repository, 'report/src/main.js'), 'utf8');
  const pressed = /const pressed = \{([^]*?)\n\};/.exec(main)?.[1] ?? '';
  const names = [...pressed.matchAll(/(?:^|[\s,])(?:'([^']+)'|([a-z])): (?:\(|show|turn)/g)].map(([, quoted, letter]) => quoted ?? letter);
  assert.equal(names.length, 8, names.join());
  assert.deepEqual(names.filter((name) => !manual.includes(`\`${name}\``)), []);
  // `g` and then the key of a view, in the order of the manual.
  const keys = fs.readdirSync(path.join(repository, 'report/src/views')).flatMap((name) =>
    [...fs.readFileSync(path.join(repository, 'report/src/views', name), 'utf8').matchAll(/^ {2}key: '([a-z])',$/gm)].map(([, key]) => key));
  const row = /^\| `g` then ((?:`[a-z]` )+)\|/m.exec(manual)?.[1] ?? '';
  assert.deepEqual([...row.matchAll(/`([a-z])`/g)].map(([, key]) => key).sort(), keys.sort());
});
