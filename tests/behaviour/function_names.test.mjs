// SPDX-License-Identifier: Apache-2.0
/**
 * Names of known functions: functions of every shape, bundled and minified by four bundlers, run and profiled by V8. The
 * caller of each probe in a profile is a known function; the table of the build must have its place, and its name.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import inspector from 'node:inspector';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';

import { encode, encodeGeneratedRanges, encodeOriginalScopes } from '@jridgewell/sourcemap-codec';
import esbuild from 'esbuild';
import { rollup } from 'rollup';
import { build as vite } from 'vite';
import webpack from 'webpack';

import forEsbuild from '../../function_table/src/esbuild.js';
import { packageOf, rowsOf, sourcePath, TableError, tableOfFile } from '../../function_table/src/function_table.js';
import { helperSource } from '../../function_table/src/helpers.js';
import forRollup from '../../function_table/src/rollup.js';
import ForWebpack from '../../function_table/src/webpack.js';
import { bundlers, runWebpack, shapes } from '../names/bundles.mjs';
import { names } from '../names/shapes/names.js';
import { repository, run, runOrThrow, temporaryDir } from './stack.mjs';

const dir = temporaryDir('names');
const leastKnown = 232;
const leastRight = 232;
const expected = /** @type {Record<string, string>} */ (names);

/** Makes the probes, which run long enough to be seen, until they are. */
const probes = `globalThis.probe = {};
for (const key of ${JSON.stringify(Object.keys(names))}) {
  globalThis.probe[key] = new Function('return function probe_' + key + '() { const end = performance.now() + (seen.' + key + ' ? 0 : 3); while (performance.now() < end); }')();
}`;

/** Returns where V8 sees the caller of each probe begin, and the name that it has for it. @param {string} code @param {string} [runtime] of the bundler, in a script of its own @returns {Promise<Map<string, { place: string, name: string }>>} */
async function callersOf(code, runtime = '') {
  const session = new inspector.Session();
  session.connect();
  const post = (/** @type {string} */ method, /** @type {object} */ given = {}) => new Promise((resolve, reject) => {
    session.post(method, given, (error, result) => (error ? reject(error) : resolve(result)));
  });
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: 100 });
  const found = new Map();
  const missed = () => Object.keys(names).filter((key) => !found.has(key));
  // Beside other programs the profiler misses some: it tries again.
  for (let attempt = 0; attempt < 100 && missed().length > 0; attempt += 1) {
    await post('Profiler.start');
    const context = vm.createContext({ performance, seen: Object.fromEntries(found) });
    vm.runInContext(probes, context);
    vm.runInContext(runtime, context, { filename: 'runtime.js' });
    vm.runInContext(code, context, { filename: 'app.js' });
    vm.runInContext('for (const shape of shapes) shape();', context, { filename: 'caller.js' });
    const { profile } = /** @type {{ profile: inspector.Profiler.Profile }} */ (await post('Profiler.stop'));
    for (const { callFrame: { url, functionName, lineNumber, columnNumber }, children = [] } of profile.nodes) {
      for (const id of children) {
        const { callFrame: called, hitCount: hits = 0 } = /** @type {inspector.Profiler.ProfileNode} */ (profile.nodes.find((node) => node.id === id));
        const key = called.functionName.match(/^probe_(\w+)$/)?.[1];
        // While a function begins, V8 takes its caller's caller for its caller: one sample of a call may say so.
        if (key && url === 'app.js' && hits > (found.get(key)?.hits ?? 1)) found.set(key, { place: `${lineNumber + 1}:${columnNumber + 1}`, name: functionName, hits });
      }
    }
  }
  session.disconnect();
  assert.deepEqual(missed(), [], 'probes that no profile has');
  return found;
}

test(`of ${leastKnown} known functions or more in four bundlers, ${leastRight} have the right name and none a wrong one`, async () => {
  const sum = { known: 0, right: 0, wrong: 0 };
  for (const [bundler, make] of Object.entries(bundlers)) {
    const own = path.join(dir, bundler.replaceAll(/\W+/g, '-'));
    await make(path.join(shapes, 'main.js'), own, shapes);
    const [head, ...rows] = fs.readFileSync(path.join(own, 'function-table.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.equal(head.script, 'app.js');
    const table = new Map(rows.map(([line, column, name, source]) => [`${line}:${column}`, { name, source }]));
    const count = { known: 0, right: 0, wrong: 0, v8: 0 };
    for (const [key, { place, name }] of await callersOf(fs.readFileSync(path.join(own, 'app.js'), 'utf8'))) {
      const row = table.get(place);
      const said = row?.name ?? name;
      count.known += 1;
      count.v8 += Number(name === expected[key]);
      if (said === expected[key]) count.right += 1;
      else if (row) {
        count.wrong += 1;
        console.log(`${bundler}: ${key} is called "${said}", not "${expected[key]}"`);
      } else console.log(`${bundler}: ${key} at ${place} has no name`);
      if (row) assert.match(row.source, /^\w+\.js$/);
    }
    console.log(`${bundler}: ${count.right} of ${count.known} right, ${count.wrong} wrong; by V8's own names ${count.v8}`);
    for (const name of /** @type {const} */ (['known', 'right', 'wrong'])) sum[name] += count[name];
  }
  console.log(`names of known functions in four bundlers: ${sum.right} of ${sum.known} right, ${sum.wrong} wrong`);
  assert.equal(sum.wrong, 0);
  assert.ok(sum.known >= leastKnown && sum.known - sum.right <= leastKnown - leastRight);
});

/** Scripts that other bundlers made of the same functions: their needs to run, and the names that another function runs. @type {Record<string, { runtime?: string, names?: Record<string, string> }>} */
const stored = {
  bun: {},
  parcel: {},
  metro: { runtime: fs.readFileSync(path.join(repository, 'tests/names/metro_runtime.js'), 'utf8') },
  // It compiles classes: what is static is code of the module.
  'metro-react-native': { runtime: fs.readFileSync(path.join(repository, 'tests/names/metro_runtime.js'), 'utf8'), names: { defaultStatic: '' } },
  turbopack: { runtime: 'globalThis.TURBOPACK = { push: ([, , factory]) => factory({ s() {} }) };' },
};

test('functions in bundles of Bun, Metro, Parcel and Turbopack have the right names', async () => {
  const data = path.join(repository, 'tests/data/names');
  assert.deepEqual(fs.readdirSync(data).filter((file) => file.endsWith('.js')).sort(), Object.keys(stored).map((name) => `${name}.js`).sort());
  for (const [name, { runtime, names: other }] of Object.entries(stored)) {
    const file = path.join(data, `${name}.js`);
    const { rows: found } = tableOfFile(file, { base: data, root: '/app', warn: (text) => assert.fail(text) });
    const table = new Map(found.map((row) => [`${row.line}:${row.column}`, row]));
    const callers = await callersOf(fs.readFileSync(file, 'utf8'), runtime);
    const said = Object.fromEntries([...callers].map(([key, caller]) => [key, table.get(caller.place)?.function ?? caller.name]));
    assert.deepEqual(said, { ...expected, ...other }, name);
  }
});

const bundle = 'var a=b=>b.sort();class c{d(){return 1}}\nfunction e(f){return f}function g(){}var h=i=>j=>i+j;\n';
/**
 * A map of that without mappings and sources, whose scopes the codec of Chrome DevTools has encoded: an arrow function, a
 * method whose range begins with its body and has a block and an inlined function in it, a hidden function, one in another.
 */
const scoped = {
  version: 3, sources: ['src/cart.ts', 'none.ts', 'src/late.ts'], mappings: '',
  names: ['module', 'sortCart', 'Basket', 'function', 'cart', 'refresh', 'block', 'late', 'value', 'curried', 'b', '1', 'f'],
  scopes: 'BCAAA,DCC,BHAYCG,DE,CAV,BHCJIA,BCADG,CAI,CAF,CCA,A,BCAAN,BHBCEG,DI,CCB,BHCAEA,BGAUA,CAK,CAA,CBA,EAA,EGGC,GL,FL,EGMC,ECBC,ECHE,GM,IACO,FB,FA,FB,EHBAA,GN,FX,EMA,FO,EGGC,EGDC,FG,FA,FB',
};
/** Place in the bundle, name, and place in the source. */
const scopedRows = [
  [1, 7, 'sortCart', 'src/cart.ts', 1, 25], [1, 28, 'refresh', 'src/cart.ts', 3, 10], [2, 11, 'late', 'src/late.ts', 2, 3], [2, 44, 'curried', 'src/late.ts', 6, 1],
];

/** @param {object} map @param {string} [script] */
const rows = (map, script = bundle) => rowsOf({ script, map: JSON.stringify(map), name: 'app.js.map', root: '/nowhere' })
  .map((row) => [row.line, row.column, row.function, row.source, row.sourceLine, row.sourceColumn]);

/** Returns the names of a script's functions, by place. @param {string} code TypeScript, which is the source @param {boolean} minify */
function namesOf(code, minify) {
  const { code: script, map } = esbuild.transformSync(code, {
    loader: 'tsx', sourcemap: 'external', sourcefile: 'a.tsx', minify, target: 'es2022', tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  });
  return rowsOf({ script, map, name: 'a.js.map', root: '/nowhere', isOwnMap: true }).filter((row) => row.source !== helperSource).map((row) => row.function);
}

test('a class that is the default export has that name, unless it has one of its own', () => {
  /** @type {[string, string[]][]} */
  const cases = [
    ['export default class extends Base { constructor() { super(); } }', ['default']],
    ['export default class{a(){}}', ['default', 'default.a']],
    ['export default class { constructor() { a(); }\n inside() { b(); } }', ['default', 'default.inside']],
    ['export default class { prices = load(); static all = load(); }', ['default']],
    ['export default class extends React.Component { state = 1; render() {} }', ['default', 'default.render']],
    ['export default class/* of { */extends Base{}', ['default']],
    ['export default /* a */ class // { of\n extends mixed(Base, () => 1) { a() {} }', ['', 'default', 'default.a']],
    ['export default class extends Base {}\n(function () { x(); })()', ['', 'default']],
    ['export default class extends Base<string> implements Other { a() {} }', ['default', 'default.a']],
    ['export default abstract class<T> extends Base<T> { a() {} abstract b(): void }', ['default', 'default.a']],
    ['export default class implements Other { a() {} }', ['default', 'default.a']],
    ['@Component({ data() {} }) export default class extends Vue { a() {} }', ['data', 'default', 'default.a']],
    ['export default class Cart extends Base { constructor() { super(); } }', ['Cart']],
    ['export default class extendsBase { a() {} }', ['extendsBase', 'extendsBase.a']],
    ['export default (class extends Base {})', ['default']],
    ['export const Cart = class extends Base {}', ['Cart']],
    ['switch (a) { default: class Cart extends Base {} x(Cart) }', ['Cart']],
    ['const text = "export default class extends Base {}", f = () => text', ['f']],
  ];
  for (const minify of [false, true]) {
    for (const [code, wanted] of cases) assert.deepEqual([...new Set(namesOf(code, minify))].sort(), wanted, code);
  }
  // As decorators are proposed now; no version of V8 has them.
  assert.deepEqual(ownNamesOf('export default @Component({ data() {} }) class extends Vue { a() {} }'), ['default', 'data', 'default.a']);
});

/** Returns the names that a script's functions have if it is its own source. @param {string} script */
function ownNamesOf(script) {
  const mappings = script.split(/\r\n|[\n\r\u2028\u2029]/).map((text, line) => Array.from({ length: text.length }, (_, column) => [column, 0, line, column]));
  const map = { version: 3, sources: ['a.js'], sourcesContent: [script], names: [], mappings: encode(/** @type {any} */ (mappings)) };
  return rowsOf({ script, map: JSON.stringify(map), name: 'a.js.map', root: '/nowhere' }).map((row) => row.function);
}

test('a method has the name of its key, whatever is in it, after that of its class', () => {
  const keys = [
    "'$route'", "'todos/add'", "'click->x'", "'a b'", String.raw`"it\'s"`, String.raw`'\x41\u0042\u{43}\103\n\q\\'`, "'\u{1F6D2}'", "'line\\\n break'", String.raw`'\U0041\X41\8'`, "''", String.raw`'\b'`, String.raw`'\f'`, String.raw`'\r'`, String.raw`'\t'`, String.raw`'\v'`,
    "'line\\\r break'", "'line\\\r\n break'", "'line\\\u2028 break'", "'line\\\u2029 break'",
    '12', '0x1F', '0b11', '0o17', '017', '1_000', '1e3', '.5', '5.', '1e21', '12n', '0x1fn', 'plain',
  ];
  const shapes = [
    'x = { KEY() {} }', 'x = { KEY: function () {} }', 'x = { KEY: () => 1 }', 'x = { async KEY() {} }', 'x = { * KEY() {} }', 'x = { async * KEY() {} }', 'x = { get KEY() {} }', 'x = { set KEY(a) {} }',
    'class A { KEY() {} }', 'class A { static KEY() {} }', 'class A { static async KEY() {} }', 'class A { get KEY() {} }', 'class A { KEY = () => 1 }', 'class A { static KEY = function () {} }',
  ];
  for (const key of keys) {
    const [name] = Object.keys(vm.runInNewContext(`({ ${key}: 1 })`));
    for (const shape of shapes) {
      const wanted = shape.startsWith('class A') && name !== '' ? `A.${name}` : name;
      assert.ok(ownNamesOf(shape.replace('KEY', () => key)).includes(wanted), `${shape}, ${key}: ${wanted}`);
    }
    if (key !== 'plain') assert.deepEqual(ownNamesOf(`x = { [${key}]() {} }`), [name]);
  }
  assert.deepEqual(ownNamesOf('class A { #a() {} #b = () => 1; static #c = function () {} }'), ['A', 'A.#a', 'A', 'A.#b', 'A', 'A.#c'], 'private');
  assert.deepEqual(ownNamesOf('class A { "constructor"() {} }'), ['A', 'A']);
  assert.deepEqual(ownNamesOf('class A { ["constructor"]() {} }'), ['A', 'A.constructor']);
  assert.deepEqual(ownNamesOf('class A { static constructor() {} }'), ['A', 'A.constructor']);
  assert.deepEqual(ownNamesOf('x = { [`a b`]() {}, [`a${b}`]() {}, [y]() {}, [y + "b"]: () => 1, [12]() {} }'), ['a b', '', '', '', '12'], 'computed keys');
  assert.deepEqual(ownNamesOf('x["a b"] . /* c */ y = function () {}; new  X() . z = () => 1'), ['x["a b"].y', 'new X().z'], 'targets of assignments');
});

/** Returns the names that functions of a source have in the script that esbuild makes of it. @param {string} code @param {'ts' | 'tsx'} loader @param {object} options */
function transformedNames(code, loader, options = {}) {
  const { code: script, map } = esbuild.transformSync(code, { loader, sourcemap: 'external', sourcefile: `a.${loader}`, target: 'esnext', ...options });
  return rowsOf({ script, map, name: 'a.map', root: '/nowhere' }).map((row) => row.function);
}

test('functions of TypeScript have their names where the parser needs help', () => {
  const generic = 'T extends { a: () => void } = {}, U extends keyof T = keyof T';
  for (const loader of /** @type {const} */ (['ts', 'tsx'])) {
    for (const options of [{}, { minify: true }]) {
      assert.deepEqual(transformedNames(`export const load = async <${generic}>(v: T): Promise<T> => { await v; return v; };
        class A { m = async <
          T,
        >({ a } = {} as any) => { const inner = async <T,>(v: T) => v; return inner; } }
        globalThis.all = [A, function after() {}];`, loader, options), ['load', 'A', 'A', 'A.m', 'inner', 'after'], JSON.stringify([loader, options]));
      assert.deepEqual(transformedNames(`globalThis.A = class A { a?(): void; b?<T>(v: T): T; c?() {} d(this: A) {} e = async <T,>(v: T) => v }`, loader, options), ['A', 'A.c', 'A.d', 'A', 'A.e']);
    }
  }
  assert.deepEqual(ownNamesOf('x = ([{ a } = {}, b]) => a; y = ([[c] = []]) => c; function z() {}'), ['x', 'y', 'z']);
});

test('a function has the name of what it is a default of, or of what it is assigned to by a condition, a cast or an attribute', () => {
  assert.deepEqual(ownNamesOf('function f(a, b = () => 1, { c = () => 2, d: e = function () {}, ...g } = {}, [h = () => 3] = []) {}'), ['f', 'b', 'c', 'e', 'h']);
  assert.deepEqual(ownNamesOf('const { a = () => 1, b: { c } = (() => 2)(), [d]: e = memo(() => 3) } = x, [f, g = class { h() {} }] = y'), ['a', '', 'e<', 'g', 'g.h']);
  assert.deepEqual(ownNamesOf('const a = x ? () => 1 : y ?? (() => 2); b.c = x || function () {}; d = x && memo(() => 3); e = (() => 4) + 1; f = (() => 5)() ? 1 : 2'), ['a', 'a', 'b.c', 'd<', '', '']);
  assert.deepEqual(transformedNames('export const a = (() => 1) as any, b = (function () {})!, c = memo((v: any) => v) as Memo, d = { e: ((v: any) => v) satisfies F }, g = ((cb: () => void = () => {}) => cb)', 'ts'), ['a', 'b', 'c<', 'e', 'g', 'cb']);
  assert.deepEqual(transformedNames('export const a = <any>(() => 1)', 'ts'), ['a']);
  assert.deepEqual(transformedNames('export const A = () => <b onClick={() => 1} data-x={y ? memo(() => 2) : null} {...{ onInput: () => 3 }}>{() => 4}{list.map(() => <i/>)}</b>', 'tsx'), ['A', 'onClick', 'data-x<', 'onInput', '', '']);
});

test('names and paths are such as a table takes', () => {
  const cart = '\u{1F6D2}';
  assert.deepEqual(ownNamesOf(`x = { 'a${cart.repeat(150)}'() {}, '\\ud83d'() {}, '\\ud83d\\udc4d \\udc4d'() {}, 'a\\0b'() {} }`), [`a${cart.repeat(99)}`, '\uFFFD', '\u{1F44D} \uFFFD', 'a\uFFFDb']);
  assert.deepEqual(ownNamesOf(`x = { '${'n'.repeat(198)}${cart}'() {}, '${'n'.repeat(199)}${cart}'() {} }`), ['n'.repeat(198) + cart, 'n'.repeat(199)]);
  const script = 'function f() {}';
  const given = (/** @type {string} */ source, /** @type {object} */ more = {}) => {
    const map = { version: 3, sources: [source], sourcesContent: [script], names: [], mappings: 'AAAA', ...more };
    const [row] = rowsOf({ script, map: JSON.stringify(map), name: 'a.js.map', root: '/home/me' });
    assert.ok(Buffer.byteLength(row.source) <= 1024 && Buffer.byteLength(row.package) <= 214 && Buffer.byteLength(row.function ?? '') <= 1024);
    return [row.source, row.package];
  };
  assert.deepEqual(given(`data:text/javascript,${'export const a = 1; '.repeat(100)}`), ['data:text/javascript', '']);
  assert.deepEqual(given('dataurl:data:text/javascript;charset=utf-8;base64,ZnVuY3Rpb24gZigpIHt9Cg=='), ['data:text/javascript', '']);
  assert.deepEqual(given('webpack:///data:text/javascript,a?b#c'), ['data:text/javascript', '']);
  assert.deepEqual(given('\0commonjsHelpers.js'), ['commonjsHelpers.js', '(bundler)']);
  assert.deepEqual(given('\0/home/me/src/a.js?commonjs-exports'), ['src/a.js', '(bundler)']);
  assert.deepEqual(given('\0'), ['(unknown)', '(bundler)']);
  for (const own of ['webpack/runtime/chunk loaded', 'webpack/bootstrap', 'webpack/container/entry/shop', 'vite/preload-helper.js']) assert.deepEqual(given(`webpack://shop/${own}`), [own, '(bundler)']);
  assert.deepEqual(given('turbopack:///[project]/src/cart.js'), ['src/cart.js', '']);
  assert.deepEqual(given('turbopack:///[project]/node_modules/@acme/ui/a.js'), ['node_modules/@acme/ui/a.js', '@acme/ui']);
  assert.deepEqual(given('turbopack:///[turbopack]/shared/runtime/runtime-utils.ts'), ['[turbopack]/shared/runtime/runtime-utils.ts', '(bundler)']);
  assert.deepEqual(given('../../../virtual:nuxt:%2Fhome%2Fme%2F.nuxt%2Fpaths.mjs'), ['virtual:nuxt:.nuxt/paths.mjs', '(bundler)']);
  assert.deepEqual(given('virtual:pwa-register'), ['virtual:pwa-register', '(bundler)']);
  for (const file of ['webpack/helpers.js', 'vite/plugin.js', 'webpack/runtime.js']) assert.deepEqual(given(file), [file, ''], 'a folder of the site');
  assert.deepEqual(given('src/\ud83d.js'), ['src/\uFFFD.js', '']);
  const [long] = given(`src/${cart.repeat(300)}/cart.js`);
  assert.match(long, /^…\u{1F6D2}+\/cart\.js$/u);
  assert.ok(Buffer.byteLength(long) > 1018);
  assert.deepEqual(given(`/node_modules/${'é'.repeat(150)}/a.js`)[1], 'é'.repeat(107));
  assert.deepEqual(given('a.js', { sourcesContent: null, names: [cart.repeat(300)], mappings: 'AAAA,SAASA' }), ['a.js', '']);
});

test('scopes of source maps name functions without their sources, in sections, and in the older form', () => {
  assert.deepEqual(rows(scoped), scopedRows);
  const sections = { version: 3, sections: [{ offset: { line: 0, column: 0 }, map: { version: 3, sources: [], names: [], mappings: '' } }, { offset: { line: 2, column: 4 }, map: scoped }] };
  assert.deepEqual(rows(sections, `\n\n    ${bundle}`), scopedRows.map(([line, column, ...rest]) => [Number(line) + 2, Number(column) + (line === 1 ? 4 : 0), ...rest]));

  const { scopes: _, ...older } = scoped;
  const scope = (/** @type {any[]} */ ...values) => Object.assign(values, { vars: [] });
  const range = (/** @type {boolean} */ isScope, /** @type {any[]} */ ...values) => Object.assign(values, { isScope, callsite: null, bindings: [] });
  const text = (/** @type {any} */ encode, /** @type {any[]} */ ...list) => encode(list);
  assert.deepEqual(rows({
    ...older,
    originalScopes: [text(encodeOriginalScopes, scope(0, 0, 4, 0, 0), scope(0, 24, 0, 45, 3, 1), scope(2, 9, 2, 25, 3, 5)), '', text(encodeOriginalScopes, scope(0, 0, 6, 0, 0), scope(1, 2, 3, 1, 3, 7))],
    generatedRanges: text(encodeGeneratedRanges, range(false, 0, 0, 1, 60), range(true, 0, 6, 0, 17, 0, 1), range(true, 0, 29, 0, 39, 0, 2), range(true, 1, 0, 1, 23, 2, 1)),
  }), scopedRows.slice(0, 3));

  /** @type {[string, RegExp][]} */
  const broken = [
    ['B', /item 1 \("B"\) is too short/], ['BCAAA,DC,g', /item 3 \("g"\) ends within a number/], ['BCAAA', /after item 1, .* is not ended/],
    ['CAA', /item 1 ends a scope, but none is open/], ['FA', /item 1 ends a range, but none is open/], ['ECAA', /item 1 is of scope 0; there are 0/], ['', /item 1 \(""\) is too short/],
    ['é', /item 1 .* is not a list of numbers/], ['B////////////AAA', /item 1 .* is not a list of numbers/],
  ];
  for (const [scopes, message] of broken) {
    assert.throws(() => rows({ ...scoped, scopes }), (error) => error instanceof TableError && error.message.startsWith('app.js.map: broken scopes: ') && message.test(error.message), scopes);
  }
});

test('broken source maps are refused with the reason, or read as far as they make sense', () => {
  const own = fs.mkdtempSync(path.join(dir, 'broken-'));
  const source = 'function sortCart(b) { return b.sort(); }\n';
  const map = (/** @type {any[][][]} */ mappings, /** @type {object} */ more = {}) => JSON.stringify({ version: 3, sources: ['src/cart.js'], sourcesContent: [source], names: [], mappings: encode(/** @type {any} */ (mappings)), ...more });
  const fine = [[[0, 0, 0, 0], [10, 0, 0, 17]]];
  const table = (/** @type {string} */ text, /** @type {string} */ url = 'a.js.map', /** @type {string} */ mark = '') => {
    fs.writeFileSync(path.join(own, 'a.js'), `${mark}function a(b){return b.sort()}\n//# sourceMappingURL=${url}`);
    fs.writeFileSync(path.join(own, 'a.js.map'), text);
    const [row, ...others] = tableOfFile(path.join(own, 'a.js'), { base: own, root: own }).rows;
    assert.deepEqual(others, []);
    return [row.line, row.column, row.function, row.source];
  };
  const right = [1, 11, 'sortCart', 'src/cart.js'];
  assert.deepEqual(table(map(fine)), right);
  assert.deepEqual(table(map(fine), '100%.js.map'), right, 'a URL whose encoding is broken');
  assert.deepEqual(table(`\uFEFF${map(fine)}`, 'a.js.map', '\uFEFF'), right, 'byte order marks');
  assert.deepEqual(table('', `data:application/json;base64,${Buffer.from(`\uFEFF${map(fine)}`).toString('base64')}`), right, 'a byte order mark in a data URL');
  assert.deepEqual(table(map(fine, { sourcesContent: [7] })), [1, 11, null, 'src/cart.js'], 'a source that is not a text');
  assert.deepEqual(table(map(fine, { version: '3' })), right, 'a version that is a text');
  assert.deepEqual(table(map(fine, { sources: [null] })), [1, 11, 'sortCart', '(unknown)'], 'a source without a name');
  assert.deepEqual(table(map([[[9, 0, 0, 9, 0], [10, 0, 0, 17]]], { sourcesContent: null, names: [7] })), [1, 11, null, 'src/cart.js'], 'a name that is not a text');

  const section = (/** @type {number} */ line, /** @type {number} */ column, /** @type {object} */ more = {}) => ({ offset: { line, column }, map: JSON.parse(map(fine, more)) });
  const index = (/** @type {unknown} */ sections) => JSON.stringify({ version: 3, sections });
  assert.deepEqual(table(index([section(0, 0), section(0, 10)])), right, 'a section may end with a mapping of where the next one begins');
  assert.deepEqual(table(index([section(0, 0, { mappings: '' }), section(0, 0)])), right, 'a section that maps nothing');

  /** @type {[string, RegExp, string?][]} */
  const cases = [
    [map([[[0, 0, 0, 0], [10, 5, 0, 17]]]), /mapping at 1:11 is of line 1, column 18 of source 6; there is 1$/],
    [map([[[0, -1, 0, 0]]]), /mapping at 1:1 is of .* source 0; there is 1$/],
    [map([[[10, 0, -2, 17]]]), /mapping at 1:11 is of line -1, column 18/],
    [map([[[10, 0, 0, -17]]]), /mapping at 1:11 is of line 1, column -16/],
    [map([[[10, 0, 0, 17, 0]]]), /the mapping at 1:11 has name 1; there are 0$/],
    [map(fine, { mappings: 'UAAiB,' }), /: mapping 2 of line 1 has 0 numbers; 1, 4 and 5 make sense$/],
    [map(fine, { mappings: ',UAAiB' }), /: mapping 1 of line 1 has 0 numbers/],
    [map(fine, { mappings: ';AAAA,UAAi' }), /: mapping 2 of line 2 ends within a number$/],
    [map(fine, { mappings: 'AAAA,UA' }), /: mapping 2 of line 1 has 2 numbers; 1, 4 and 5 make sense$/],
    [map(fine, { mappings: 'AAAA,UAA' }), /: mapping 2 of line 1 has 3 numbers/],
    [map(fine, { mappings: 'AAAAAA' }), /: mapping 1 of line 1 has 6 numbers/],
    [map(fine, { mappings: 'AAAA,!AAA' }), /: mapping 2 of line 1 has a character that is not a base64 digit$/],
    [map(fine, { mappings: 'AAAA é' }), /: mapping 1 of line 1 has a character that is not a base64 digit$/],
    [map(fine, { mappings: 'gggggggggggE' }), /: mapping 1 of line 1 has a number that is too large$/],
    [map(fine, { mappings: 'D' }), /: the mapping at 1:0 begins before its line/],
    [map(fine, { mappings: 'AA+/////DA' }), /: the mapping at 1:1 is of line 2147483648, column 1 of source 1/],
    [map(fine, { version: 4 }), /: is of another version; version 3 is known$/],
    [map(fine, { version: '4' }), /: is of another version; version 3 is known$/],
    [map(fine, { version: undefined }), /: has no version; version 3 is known$/],
    [map(fine, { mappings: null }), /: mappings is not a text$/],
    [map(fine, { mappings: [['AAAA']] }), /: mappings is not a text$/],
    [map(fine, { mappings: undefined }), /: mappings is not a text$/],
    [map(fine, { sources: undefined }), /: sources is not an array of texts$/],
    [map(fine, { sources: [7] }), /: sources is not an array of texts$/],
    [map(fine, { names: {} }), /: names is not an array$/],
    [map(fine, { sourcesContent: 'x' }), /: sourcesContent is not an array$/],
    [map(fine, { sourceRoot: 7 }), /: sourceRoot is not a text$/],
    [map(fine, { x_google_ignoreList: 'x' }), /: x_google_ignoreList is not an array$/],
    ['[]', /: not an object$/], ['null', /: not an object$/], ['"AAAA"', /: not an object$/],
    ['{"version":3,"mappings":"AAAA', /: not JSON(?:, at character \d+)?$/], ['AAAA', /: not JSON(?:, at character \d+)?$/],
    [index({}), /: sections is not an array$/],
    [index([{ offset: { line: 0, column: 0 } }]), /: section 1: not an object$/],
    [index([{ map: JSON.parse(map(fine)) }]), /: section 1: has no offset of a line and a column$/],
    [index([section(0, -1)]), /: section 1: has no offset/],
    [index([section(0, 0, { version: 2 })]), /: section 1: is of another version/],
    [index([section(0, 0), section(1, 0, { mappings: '!' })]), /: section 2: mapping 1 of line 1 has a character/],
    [index([section(1, 0), section(0, 20)]), /: section 2: begins at 1:21, before the section before it$/],
    [index([section(0, 20), section(0, 0)]), /: section 2: begins at 1:1, before/],
    [index([section(0, 0), section(0, 9)]), /: section 2: begins at 1:10, but the section before it has a mapping at 1:11$/],
    [index([section(0, 0), section(0, 0)]), /: section 2: begins at 1:1, but/],
    [map(fine, { ignoreList: 7 }), /ignoreList is not an array/],
    ['', /a\.js: source map: not a source map/, 'data:application/json,100%'],
  ];
  for (const [text, message, url] of cases) {
    assert.throws(() => table(text, url), (error) => error instanceof TableError && error.message.includes('not a source map: ') && message.test(error.message) && !error.message.includes('AAAA'), text);
  }
});

test('paths of sources lose what only the build machine knows', () => {
  /** @type {[string, string, string][]} */
  const cases = [
    ['file:///home/me/my%20app/src/a.js', '/home/me/my app', 'src/a.js'],
    ['file:///home/me/100%/src/a.js', '/home/me/100%', 'src/a.js'],
    ['file:///home/me/src/%23a.js?x#y', '/home/me', 'src/#a.js'],
    ['file:///C:/me/src/a.js', 'C:\\me', 'src/a.js'],
    ['C:\\me\\src\\a.js', 'C:\\me', 'src/a.js'],
    ['file://localhost/home/me/src/a.js', '/home/me', 'src/a.js'],
    ['FILE:/home/me/src/a.js', '/home/me', 'src/a.js'],
    ['/home/me/#x/a.js', '/home/me', '#x/a.js'],
    ['/home/me/src/a.vue?vue&type=script', '/home/me', 'src/a.vue'],
    ['webpack://shop/./src/none.js?1a2b#c', '/home/me', 'src/none.js'],
    ['', '/home/me', '(unknown)'], ['.', '/home/me', '(unknown)'], ['../', '/', '(unknown)'],
  ];
  assert.deepEqual(cases.map(([source, root]) => [source, root, sourcePath(source, root)]), cases);
});

/** Modules of a bundle: one in CommonJS, one in ECMAScript's form. @type {Record<string, string>} */
const bundled = { './cjs.js': 'exports.a = 1; exports.b = () => 2;', './esm.js': 'export const a = () => 1; export const b = globalThis.q;' };

/** Returns the names of helpers in a bundle of esbuild, for an old target. @param {string} contents @param {import('esbuild').BuildOptions} options */
async function helpersIn(contents, options) {
  const { outputFiles = [] } = await esbuild.build({
    stdin: { contents, loader: 'ts', sourcefile: 'main.ts' }, bundle: true, minifyIdentifiers: true, target: 'es2016', write: false, outfile: 'app.js', sourcemap: 'external',
    plugins: [{ name: 'bundled', setup(build) {
      build.onResolve({ filter: /^\.\// }, (/** @type {{ path: string }} */ { path: name }) => ({ path: name, namespace: 'bundled' }));
      build.onLoad({ filter: /^/, namespace: 'bundled' }, (/** @type {{ path: string }} */ { path: name }) => ({ contents: bundled[name] }));
    } }],
    ...options,
  });
  const [map, script] = outputFiles.sort((a, b) => (a.path < b.path ? 1 : -1)).map(({ text: written }) => written);
  const found = rowsOf({ script, map, name: 'app.js.map' }).filter((row) => row.source === helperSource);
  assert.ok(found.every((row) => row.package === '(bundler)' && row.isIgnored), contents);
  return found.map((row) => row.function);
}

test('each helper of esbuild has its name where a minifier took it', async () => {
  /** @type {Record<string, [code: string, options?: import('esbuild').BuildOptions]>} */
  const needs = {
    __require: ['globalThis.a = [require(String(globalThis.b)), require("x" + globalThis.c)];'],
    __commonJS: ['globalThis.a = require("./cjs.js");'],
    __decorateClass: ['function d() {} class A { @d m() {} @d n() {} } globalThis.a = A;', { tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } }],
    __objRest: ['globalThis.f = ({ a, ...b }) => b; globalThis.g = ({ a, ...b }) => b;'],
    __toCommonJS: ['globalThis.a = require("./esm.js");'],
    __toESM: ['import x from "./cjs.js"; globalThis.a = x;'],
    __copyProps: ['import x from "./cjs.js"; globalThis.a = x;'],
    __export: ['import * as x from "./esm.js"; globalThis.a = x;'],
    __name: ['globalThis.a = function f() {}; globalThis.b = function g() {};', { keepNames: true }],
    __spreadValues: ['globalThis.f = (a) => ({ ...a }); globalThis.g = (a) => ({ ...a, b: 1 });'],
    __async: ['globalThis.f = async () => { await 1; }; globalThis.g = async () => { await 2; };'],
    __publicField: ['globalThis.a = class { x = 1; }; globalThis.b = class { y = 2; };'],
    __esm: ['globalThis.a = require("./esm.js");'],
  };
  const known = [...fs.readFileSync(path.join(repository, 'function_table/src/helpers.js'), 'utf8').matchAll(/^ {2}\['(\w+)', \//gm)].map(([, name]) => name);
  assert.deepEqual(Object.keys(needs), known, 'a helper without code that needs it');
  for (const [name, [code, options]] of Object.entries(needs)) {
    for (const isMinified of [false, true]) {
      const found = await helpersIn(code, { minifySyntax: isMinified, minifyWhitespace: isMinified, ...options });
      assert.ok(found.includes(name), `${name}, minified: ${isMinified}: ${found}`);
    }
  }
});

test('code of a bundler differs from a source with such a name', () => {
  const ofBundlers = [
    '\0commonjsHelpers.js', 'virtual:a', 'rolldown:runtime', '(webpack)/a.js', '[turbopack]/a.js',
    'webpack/runtime/a', 'webpack/container/a', 'webpack/sharing/a', 'webpack/scc/a', 'webpack/bootstrap', 'webpack/before-startup', 'webpack/after-startup', 'webpack/startup',
    'webpack/universalModuleDefinition', 'vite/preload-helper.js', 'vite/dynamic-import-helper.js', 'vite/wasm-helper.js', 'vite/modulepreload-polyfill.js', 'vite/legacy-polyfills-x.js',
  ];
  assert.deepEqual(ofBundlers.filter((source) => packageOf(source) !== '(bundler)'), []);
  const ofSites = ['src/virtual:a', 'rolldown/runtime', 'webpack.js', 'webpack/a.js', 'webpack/bootstrap.js', 'webpack/runtimes/a', 'vite/a.js', 'vite/preload.js', 'my/vite/wasm-helper.js'];
  assert.deepEqual(ofSites.filter((source) => packageOf(source) !== ''), []);
  assert.deepEqual(['a/node_modules/b/c.js', 'node_modules/@d/e/f.js', 'node_modules/a/node_modules/b/c.js', 'node_modules/a.js'].map(packageOf), ['b', '@d/e', 'b', '']);
});

test('plugins take all scripts that the build made, and no others, wherever their maps lie', async () => {
  const own = fs.mkdtempSync(path.join(dir, 'plugins-'));
  const entry = path.join(own, 'main.js');
  fs.writeFileSync(entry, 'export const sortCart = (cart) => [...cart].sort();\nglobalThis.sorts = [sortCart];\n');
  const scriptsIn = (/** @type {string} */ out) => fs.readFileSync(path.join(own, out, 'function-table.jsonl'), 'utf8').split('\n')
    .flatMap((line) => line.match(/"script":"([^"]*)"/)?.[1] ?? []);

  const build = await rollup({ input: entry, plugins: [forRollup({ root: own })] });
  /** @type {import('rollup').OutputOptions} */
  const output = { dir: path.join(own, 'rollup'), sourcemap: 'hidden', sourcemapFileNames: 'maps/[name].[format].map' };
  await build.write({ ...output, format: 'es', entryFileNames: 'app.mjs' });
  await build.write({ ...output, format: 'cjs', entryFileNames: 'app.cjs' });
  await build.write({ ...output, dir: path.join(own, 'rollup-other'), format: 'es', entryFileNames: 'app.js' });
  await build.close();
  assert.deepEqual(scriptsIn('rollup'), ['app.cjs', 'app.mjs'], 'two outputs into one directory');
  assert.deepEqual(scriptsIn('rollup-other'), ['app.js']);

  // Rolldown, and Vite with it, has a build for each output.
  const plugin = forRollup({ root: own });
  const buildInto = async (/** @type {string} */ file) => {
    const part = await rollup({ input: entry, plugins: [plugin] });
    await part.write({ dir: path.join(own, 'parts'), format: 'es', entryFileNames: file, sourcemap: 'hidden' });
    await part.close();
  };
  for (const file of ['modern.js', 'legacy.js']) await buildInto(file);
  assert.deepEqual(scriptsIn('parts'), ['legacy.js', 'modern.js'], 'two builds of one plugin into one directory');
  fs.rmSync(path.join(own, 'parts/legacy.js'));
  await buildInto('modern.js');
  assert.deepEqual(scriptsIn('parts'), ['modern.js'], 'without a script that is there no more');

  fs.writeFileSync(path.join(own, 'worker.js'), 'globalThis.onmessage = function sortLater({ data }) { data.sort(); };\n');
  fs.writeFileSync(path.join(own, 'copied.js'), 'function copied() {}\n//# sourceMappingURL=copied.js.map\n');
  fs.writeFileSync(path.join(own, 'page.js'), `import copied from './copied.js?url';
    globalThis.all = [copied, new Worker(new URL('./worker.js', import.meta.url)), function page() {}];\n`);
  for (const sourcemap of /** @type {const} */ (['hidden', 'inline', true])) {
    await vite({
      root: own, logLevel: 'error', configFile: false, plugins: [forRollup({ root: own })],
      build: { outDir: `vite-${sourcemap}`, sourcemap, assetsInlineLimit: 0, rollupOptions: { input: path.join(own, 'page.js') } },
    });
    assert.deepEqual(scriptsIn(`vite-${sourcemap}`).map((name) => name.replace(/-.{8}\.js$/, '')), ['assets/page', 'assets/worker'], 'with a worker, without what was copied');
  }

  await vite({ root: own, logLevel: 'error', configFile: false, plugins: [forRollup({ root: own })], build: { outDir: 'vite-server', ssr: entry } });
  assert.ok(!fs.existsSync(path.join(own, 'vite-server/function-table.jsonl')), 'no browser runs what is built for a server');

  // Rolldown gives no map to a script that only passes on what others export.
  fs.writeFileSync(path.join(own, 'start.js'), "export { sortCart } from './main.js';\n");
  const asRolldown = {
    name: 'as-rolldown',
    generateBundle(/** @type {unknown} */ _, /** @type {import('rollup').OutputBundle} */ bundle) {
      delete bundle['start.js.map'];
      Object.assign(bundle['start.js'], { map: null, sourcemapFileName: null });
    },
  };
  const facade = await rollup({ input: { start: path.join(own, 'start.js'), app: entry }, plugins: [asRolldown, forRollup({ root: own })] });
  await facade.write({ dir: path.join(own, 'facade'), format: 'es', sourcemap: 'hidden' });
  await assert.rejects(facade.write({ dir: path.join(own, 'facade'), format: 'es' }), /has no source map/);
  await facade.close();
  assert.deepEqual(scriptsIn('facade'), ['app.js'], 'without a script that has nothing to name');

  await runWebpack({
    context: own, mode: 'production', devtool: 'hidden-source-map', entry: { app: entry },
    output: { path: path.join(own, 'webpack'), filename: '[name].js?[contenthash]', sourceMapFilename: 'maps/[file].map[query]' },
    plugins: [new ForWebpack({ root: own }), {
      apply: (compiler) => compiler.hooks.thisCompilation.tap('copy', (compilation) => compilation.hooks.processAssets.tap('copy', () => {
        compilation.emitAsset('vendor.js', new webpack.sources.RawSource('function copied() {}'), { copied: true });
      })),
    }],
  });
  assert.ok(fs.existsSync(path.join(own, 'webpack/vendor.js')));
  assert.deepEqual(scriptsIn('webpack'), ['app.js'], 'without what was copied');

  await runWebpack({
    context: own, mode: 'production', devtool: 'nosources-source-map', entry: { app: entry }, output: { path: path.join(own, 'nosources'), filename: '[name].js' }, plugins: [new ForWebpack({ root: own })],
  });
  assert.match(fs.readFileSync(path.join(own, 'nosources/function-table.jsonl'), 'utf8'), /^\[.*"sortCart","main\.js",1,/m, 'sources that only the disk has');

  fs.writeFileSync(path.join(own, 'copy.js'), "import copied from './copied.asset.js';\nglobalThis.all = [copied, function page() {}];\n");
  fs.copyFileSync(path.join(own, 'copied.js'), path.join(own, 'copied.asset.js'));
  for (const sourcemap of /** @type {const} */ (['external', 'inline', 'linked', 'both'])) {
    for (const loader of /** @type {const} */ (['file', 'copy'])) {
      const out = `esbuild-${sourcemap}-${loader}`;
      await esbuild.build({
        entryPoints: [path.join(own, 'copy.js')], bundle: true, format: 'esm', outdir: path.join(own, out), sourcemap, loader: { '.asset.js': loader }, logLevel: 'silent', plugins: [forEsbuild({ root: own })],
      });
      assert.deepEqual(scriptsIn(out), ['copy.js'], `${out}: without what was copied`);
    }
  }

  fs.writeFileSync(path.join(own, 'main.css'), 'p { margin: 0 }');
  await esbuild.build({ entryPoints: [path.join(own, 'main.css')], outdir: path.join(own, 'css'), logLevel: 'silent', plugins: [forEsbuild()] });
  assert.deepEqual(fs.readdirSync(path.join(own, 'css')), ['main.css'], 'a build without scripts has no table');
});

test('the lines of the manual write the table, with the package as it is published', async () => {
  const project = path.join(dir, 'project');
  const modules = path.join(project, 'node_modules');
  fs.mkdirSync(path.join(modules, '@fleetprof'), { recursive: true });
  for (const name of fs.readdirSync(path.join(repository, 'node_modules'))) fs.symlinkSync(path.join(repository, 'node_modules', name), path.join(modules, name));
  const packed = JSON.parse(await runOrThrow(['npm', 'pack', '--json', '--pack-destination', project, path.join(repository, 'function_table')]));
  await runOrThrow(['tar', '-xzf', path.join(project, path.basename(packed[0].filename)), '-C', path.join(modules, '@fleetprof')]);
  fs.renameSync(path.join(modules, '@fleetprof/package'), path.join(modules, '@fleetprof/function-table'));

  const blocks = [...fs.readFileSync(path.join(repository, 'docs/source-maps.md'), 'utf8').matchAll(/```js\n\/\/ (\S+)\n([\s\S]*?)```/g)];
  assert.deepEqual(blocks.map(([, name]) => name), ['build.mjs', 'vite.config.mjs', 'rollup.config.mjs', 'webpack.config.mjs', 'next.config.mjs']);
  for (const [, name, text] of blocks) fs.writeFileSync(path.join(project, name), text);
  fs.mkdirSync(path.join(project, 'src'));
  fs.writeFileSync(path.join(project, 'src/main.js'), 'const sortCart = (cart) => [...cart].sort();\nglobalThis.sorts = [sortCart];\n');
  fs.writeFileSync(path.join(project, 'index.html'), '<!doctype html><script type="module" src="/src/main.js"></script>');
  // As their command lines do it; these are packages of their own.
  fs.writeFileSync(path.join(project, 'rollup.mjs'), "import { rollup } from 'rollup';\nimport config from './rollup.config.mjs';\nconst build = await rollup(config);\nawait build.write(config.output);\n");
  fs.writeFileSync(path.join(project, 'webpack.mjs'), "import webpack from 'webpack';\nimport config from './webpack.config.mjs';\nwebpack(config).run((error, stats) => { if (error || stats?.hasErrors()) throw error ?? new Error(stats?.toString()); });\n");
  const node = (/** @type {string[]} */ ...args) => runOrThrow(['env', '-C', project, process.execPath, ...args]);
  await node(path.join(modules, 'typescript/bin/tsc'), '--noEmit', '--checkJs', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext', '--types', 'node', ...blocks.map(([, name]) => name));
  for (const [script, base] of [[['build.mjs'], 'dist/assets'], [['node_modules/vite/bin/vite.js', 'build'], 'dist'], [['rollup.mjs'], 'dist/assets'], [['webpack.mjs'], 'dist/assets']]) {
    fs.rmSync(path.join(project, 'dist'), { recursive: true, force: true });
    await node(.../** @type {string[]} */ (script));
    const [head, ...functions] = fs.readFileSync(path.join(project, String(base), 'function-table.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.match(head.script, /\.js$/);
    assert.ok(fs.existsSync(path.join(project, String(base), head.script)));
    assert.ok(functions.some(([, , name, source, line]) => name === 'sortCart' && source === 'src/main.js' && line === 1), `${script}: ${JSON.stringify(functions)}`);
  }

  // Next.js leaves maps of other names than their scripts', and scripts without one.
  const chunks = path.join(project, '.next/static/chunks');
  fs.mkdirSync(chunks, { recursive: true });
  fs.writeFileSync(path.join(project, '.next/static/_buildManifest.js'), 'self.__BUILD_MANIFEST = {};\n');
  fs.writeFileSync(path.join(chunks, '2roxx1lg5o7p3.js'), 'const sortCart = (cart) => [...cart].sort();\n//# sourceMappingURL=0dzkqmip-h3q9.js.map\n');
  fs.writeFileSync(path.join(chunks, '0dzkqmip-h3q9.js.map'), JSON.stringify({
    version: 3, names: [], sources: ['turbopack:///[project]/src/main.js'], mappings: 'AAAA,iBAAiB', sourcesContent: ['const sortCart = (cart) => [...cart].sort();\n'],
  }));
  const [listing] = /^grep[\s\S]*?\.jsonl$/m.exec(fs.readFileSync(path.join(repository, 'docs/source-maps.md'), 'utf8')) ?? assert.fail();
  const tool = path.join(modules, '@fleetprof/function-table/src/cli.js');
  await runOrThrow(['env', '-C', project, 'sh', '-ec', listing.replace('npx @fleetprof/function-table', () => `'${process.execPath}' '${tool}'`)]);
  assert.deepEqual(fs.readFileSync(path.join(project, 'function-table.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line)), [
    { fleetprof_function_table: 1, script: 'chunks/2roxx1lg5o7p3.js', functions: 1 }, [1, 18, 'sortCart', 'src/main.js', 1, 18, '', false],
  ]);

  // Without source maps, and with a misspelt option, the build fails and says why.
  const config = fs.readFileSync(path.join(project, 'build.mjs'), 'utf8');
  fs.writeFileSync(path.join(project, 'build.mjs'), config.replace("sourcemap: 'external', ", ''));
  assert.match((await run(['env', '-C', project, process.execPath, 'build.mjs'])).stderr, /has no source map: .*Build with source maps/);
  fs.writeFileSync(path.join(project, 'build.mjs'), config.replace('fleetprof()', "fleetprof({ out: 'x' })"));
  assert.match((await run(['env', '-C', project, process.execPath, 'build.mjs'])).stderr, /there is no option "out"; there are file and root/);
});
