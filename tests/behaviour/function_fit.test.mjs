// SPDX-License-Identifier: Apache-2.0
/**
 * Source maps that do not fit their script give no names; the maps of each bundler here fit. A map's sources are looked up by
 * index. Helpers of bundlers have names.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';

import { build, buildSync, transformSync } from 'esbuild';
import ts from 'typescript';

import { rowsOf, TableError } from '../../function_table/src/function_table.js';
import forEsbuild from '../../function_table/src/esbuild.js';
import { bundlers, shapes } from '../names/bundles.mjs';
import { repository, run, temporaryDir } from './stack.mjs';

const dir = temporaryDir('fit');
const tool = path.join(repository, 'function_table/src/cli.js');
const data = path.join(repository, 'tests/data/source_maps');

/** A script and its map. @typedef {{ script: string, map: string }} Built */
/** @type {Record<string, Built>} */
const built = {};

/** @param {string} script @returns {Built} */
const fromDisk = (script) => ({ script: fs.readFileSync(script, 'utf8'), map: fs.readFileSync(`${script}.map`, 'utf8') });

/** @param {Built} given */
const rows = (given) => rowsOf({ ...given, name: 'app.js.map', root: '/nowhere' });

/** @param {Built} given */
const namesOf = (given) => rows(given).filter(({ source }) => source !== '(bundler)').map((row) => row.function);

/** Returns how many words of a map agree. @param {Built} given @returns {RegExpMatchArray} */
function refusal(given) {
  try {
    rows(given);
  } catch (error) {
    assert.ok(error instanceof TableError);
    const found = error.message.match(/^app\.js\.map: the source map does not fit the script: (\d+) of (\d+) mapped words agree\. Was the script changed after the map was made, or is the map of another build\?$/);
    if (found) return found;
    throw error;
  }
  throw new Error('the map was taken');
}

before(async () => {
  for (const [name, make] of Object.entries(bundlers)) {
    const own = path.join(dir, name.replaceAll(/\W+/g, '-'));
    await make(path.join(shapes, 'main.js'), own, shapes);
    built[name] = fromDisk(path.join(own, 'app.js'));
  }
  const source = fs.readFileSync(path.join(shapes, 'classes.js'), 'utf8');
  const compiled = ts.transpileModule(source, { fileName: 'classes.js', compilerOptions: { target: ts.ScriptTarget.ES5, sourceMap: true, inlineSources: true, allowJs: true } });
  built.typescript = { script: compiled.outputText, map: compiled.sourceMapText ?? '' };
});

test('the maps of bundlers fit, and no longer do after a banner, with a line in front, or for another build', () => {
  for (const [name, given] of Object.entries(built)) {
    assert.ok(namesOf(given).length > 5, name);
    const changed = given.script.includes('\n', given.script.length / 2) ? `/* by the shop */\n${given.script}` : `/* by the shop */${given.script}`;
    const [, agreeing, compared] = refusal({ ...given, script: changed }).map(Number);
    assert.ok(agreeing < compared / 2 && compared > 20, `${name}: ${agreeing} of ${compared}`);
  }
});

test('a map of the build before is refused', () => {
  const source = (/** @type {string} */ more) => `${more}export class Basket { constructor() { this.items = []; } total() { return this.items.length; } addItem(item) { this.items.push(item); } }
    export const priceOf = (item) => item.price * 1.19;\nglobalThis.shop = { basket: new Basket(), title: 'The shop', priceOf };\n`;
  const compile = (/** @type {string} */ code) => {
    const { code: script, map } = transformSync(code, { minify: true, sourcemap: 'external', sourcefile: 'shop.js' });
    return { script, map };
  };
  const before = compile(source(''));
  const now = compile(source("export function newHelper(list) { return list.filter((one) => one.isNew).map((one) => one.label + 'new'); }\n"));
  assert.deepEqual([...new Set(namesOf(now))].filter((name) => name !== ''), ['newHelper', 'Basket', 'Basket.total', 'Basket.addItem', 'priceOf']);
  refusal({ script: now.script, map: before.map });
});

test('a script of hardly any word fits its own map, and no longer does after a banner', () => {
  const { code: script, map } = transformSync('(() => { class Row { push(b) { return b.map((c) => c.g); } static id(b) { return [b, 6]; } } globalThis.z0 = Row; })();', { minify: true, sourcemap: 'external', sourcefile: 'small.js' });
  assert.deepEqual(namesOf({ script, map }), ['', 'Row', 'Row.push', '', 'Row.id']);
  for (let length = 1; length < 40; length++) refusal({ script: `/*${'x'.repeat(length)}*/${script}`, map });
});

test('columns that are shifted, as Parcel does when it puts hashes in, are refused', () => {
  refusal(fromDisk(path.join(data, 'shifted.js')));
});

test('where only a part of a script was changed, only that part has no names, and a warning says so', () => {
  const functions = (/** @type {number} */ from) => Array.from({ length: 20 }, (_, at) => `globalThis.works${from + at} = function work${from + at}(list) { return list.length + 'text ${from + at}' + list.entries; };\n`).join('');
  const { code: script, map } = transformSync([0, 20, 40, 60, 80].map(functions).join(''), { minify: true, sourcemap: 'external', sourcefile: 'shop.js' });
  const at = script.indexOf('globalThis.works90');
  /** @type {string[]} */
  const warnings = [];
  const found = rowsOf({ script: `${script.slice(0, at)}/* of the shop */${script.slice(at)}`, map, name: 'app.js.map', root: '/nowhere', warn: (text) => { warnings.push(text); } });
  const numbers = found.map((row) => Number(row.function?.match(/^work(\d+)$/)?.[1]));
  assert.deepEqual(numbers, [...numbers.keys()], 'no name is wrong');
  assert.ok(numbers.length >= 85 && numbers.length <= 92, `${numbers.length}`);
  assert.match(warnings.join('\n'), /^app\.js\.map: the source map does not fit the script around 1:\d+: \d+ of 100 functions stay without original names\. Was the script changed after the map was made\?$/);
});

test('a source whose map is of another text gives its functions no names; others keep theirs', () => {
  const own = fs.mkdtempSync(path.join(dir, 'source-'));
  const other = transformSync('export function helper(list) {\n  return list.map((item) => item.label)\n    .filter((label) => label !== "none")\n    .concat(list.other);\n}\nexport const second = (entry) =>\n  entry.first + entry.second;\n', { minify: true, sourcemap: 'external', sourcefile: 'package.ts' });
  // Some packages ship what was compiled as the source.
  const map = { ...JSON.parse(other.map), sourcesContent: [other.code] };
  fs.writeFileSync(path.join(own, 'package.js'), `${other.code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString('base64')}`);
  fs.writeFileSync(path.join(own, 'main.js'), `import { helper, second } from './package.js';\nimport ${JSON.stringify(path.join(shapes, 'main.js'))};\nglobalThis.all = [helper, second];\n`);
  const { outputFiles: [script, built_] } = ((files) => ({ outputFiles: [...files].sort((a, b) => a.path.length - b.path.length) }))(buildSync({ absWorkingDir: own, entryPoints: ['main.js'], bundle: true, minify: true, write: false, sourcemap: 'external', outfile: 'a.js' }).outputFiles);
  /** @type {string[]} */
  const warnings = [];
  const found = rowsOf({ script: script.text, map: built_.text, name: 'a.js.map', root: own, dir: own, warn: (text) => { warnings.push(text); } });
  assert.ok(found.filter(({ source }) => source === 'package.ts').every((row) => row.function === null));
  assert.ok(found.some((row) => row.function === 'declared' && row.source.endsWith('functions.js')));
  assert.match(warnings.join('\n'), /^a\.js\.map: the source map does not fit package\.ts: functions there stay without original names\. Was it made for another text of the source\?$/);
});

test('two sources of one name, or without a name, have their own texts', () => {
  const given = fromDisk(path.join(data, 'same_name.js'));
  const wanted = [null, 'sortCart', 'byPrice', 'Basket', 'Basket', 'Basket.total', 'Basket.make', 'onBuy', '(globalThis as any).go'];
  for (const sources of [['index.js', 'index.js'], [null, null], ['', '']]) {
    assert.deepEqual(rows({ ...given, map: JSON.stringify({ ...JSON.parse(given.map), sources }) }).map((row) => row.function), wanted, JSON.stringify(sources));
  }
  const map = JSON.parse(given.map);
  const ignored = rows({ ...given, map: JSON.stringify({ ...map, ignoreList: [0] }) });
  assert.deepEqual(ignored.map(({ isIgnored }) => isIgnored), wanted.map((name) => name === 'sortCart' || name === 'byPrice'), 'one of the two is ignored');
  const empty = { offset: { line: 0, column: 0 }, map: null };
  const later = { offset: { line: 1, column: 0 }, map };
  for (const first of [empty, { offset: empty.offset, url: 'other.map' }]) {
    const inSections = rows({ script: `var a;\n${given.script}`, map: JSON.stringify({ version: 3, sections: [first, later] }) });
    assert.deepEqual(inSections.map((row) => row.function), wanted, 'a section without a map');
  }
  const short = { ...map, sourcesContent: [map.sourcesContent[0]] };
  const sections = [{ offset: { line: 0, column: 0 }, map: { ...short, mappings: '' } }, later];
  assert.deepEqual(rows({ script: `\n${given.script}`, map: JSON.stringify({ version: 3, sections }) }).map((row) => row.function), wanted, 'a section with fewer texts than sources');
});

test("esbuild's helpers have their names, minified or not, and a chunk of helpers alone is not an error", async () => {
  const own = fs.mkdtempSync(path.join(dir, 'helpers-'));
  const write = (/** @type {string} */ name, /** @type {string} */ text) => fs.writeFileSync(path.join(own, name), text);
  write('old.js', 'exports.first = 1; exports.work = function () { return 2; };');
  write('late.js', 'import old from "./old.js"; export function late(list) { return list.concat(old.first); }');
  write('main.js', `import old from './old.js'; import * as all from './late.js';
    export const { first, ...rest } = old; export class Cart { static #count = 1; async load() { for await (const x of [1]) this.x = { ...x, all }; } }
    globalThis.later = () => import('./late.js'); globalThis.found = [rest, Cart];`);
  write('second_old.js', 'exports.work = () => 3;');
  write('second.js', "import old from './second_old.js'; globalThis.second = () => old.work(); globalThis.third = () => import('./late.js');");
  write('first.js', "import old from './old.js'; globalThis.first = () => old.first; globalThis.other = () => import('./late.js');");
  const known = ['__async', '__commonJS', '__esm', '__export', '__objRest', '__spreadValues', '__toESM'];
  for (const minify of [false, true]) {
    for (const target of ['es2022', 'es2016']) {
      const out = `one-${minify}-${target}`;
      await build({ absWorkingDir: own, entryPoints: ['main.js'], bundle: true, minify, target, sourcemap: 'external', outdir: out, logLevel: 'silent', plugins: [forEsbuild({ root: own })] });
      const table = fs.readFileSync(path.join(own, out, 'function-table.jsonl'), 'utf8').trimEnd().split('\n').slice(1).map((line) => JSON.parse(line));
      const helpers = table.filter(([, , , source]) => source === '(bundler)');
      assert.ok(helpers.every(([, , name, , , , from, isIgnored]) => /^__\w+$/.test(name) && from === '(bundler)' && isIgnored), JSON.stringify(helpers));
      const names = new Set(helpers.map(([, , name]) => name));
      const wanted = known.filter((name) => target === 'es2016' || !['__async', '__objRest', '__spreadValues'].includes(name));
      assert.deepEqual(wanted.filter((name) => !names.has(name)), [], out);
      assert.ok(table.some(([, , name]) => name === 'Cart.load'));
    }
  }
  await build({ absWorkingDir: own, entryPoints: ['first.js', 'second.js'], bundle: true, minify: true, splitting: true, format: 'esm', sourcemap: true, outdir: 'split', logLevel: 'silent' });
  const scripts = fs.readdirSync(path.join(own, 'split')).filter((name) => name.endsWith('.js')).map((name) => path.join(own, 'split', name));
  const empty = scripts.filter((script) => JSON.parse(fs.readFileSync(`${script}.map`, 'utf8')).sources.length === 0);
  assert.equal(empty.length, 1, 'a chunk that has helpers alone');
  const all = await run([process.execPath, tool, '--base', path.join(own, 'split'), ...scripts]);
  assert.deepEqual([all.code, all.stderr], [0, '']);
  const alone = await run([process.execPath, tool, empty[0]]);
  assert.equal(alone.code, 0, alone.stderr);
  assert.deepEqual([...new Set(alone.stdout.trimEnd().split('\n').slice(1).map((line) => JSON.parse(line)[2]))].sort(), ['__commonJS', '__copyProps', '__toESM']);
  fs.appendFileSync(empty[0], '\nexport function unknown() { return 1; }\n');
  const odd = await run([process.execPath, tool, empty[0]]);
  assert.deepEqual([odd.code, /: the source map has no sources\n$/.test(odd.stderr)], [1, true], odd.stderr);
  const beside = await run([process.execPath, tool, '--base', path.join(own, 'split'), ...scripts]);
  assert.equal(beside.code, 0);
  assert.match(beside.stderr, /^fleetprof-function-table: warning: .*: the source map has no sources: left out\n$/);
});
