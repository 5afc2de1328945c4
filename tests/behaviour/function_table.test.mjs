// SPDX-License-Identifier: Apache-2.0
/**
 * Names that survive a deploy: a bundle of two releases, minified, run by V8; its real positions as uploads; original
 * names in SQL once the function tables are there, and one function for both releases.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import inspector from 'node:inspector';
import path from 'node:path';
import { after, before, test } from 'node:test';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';

import { build } from 'esbuild';
import { rollup } from 'rollup';
import { build as vite } from 'vite';

import forEsbuild from '../../function_table/src/esbuild.js';
import forRollup from '../../function_table/src/rollup.js';
import ForWebpack from '../../function_table/src/webpack.js';
import { runWebpack } from '../names/bundles.mjs';
import { binDir, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const tool = path.join(repository, 'function_table/src/cli.js');
const dir = temporaryDir('bundle');
const prefix = 'https://shop.example/assets/';

/** @typedef {{ name: string, line: number, column: number }} Place */
/** @typedef {{ release: string, file: string, script: string, url: string, places: Place[] }} Release */

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {NodeJS.ProcessEnv} */
let env;
/** @type {Release[]} */
let releases;

/** Functions of every shape; each works for some milliseconds when it is called. @param {string} greeting what a release changes */
const sources = (greeting) => ({
  'main.tsx': `import start, { Basket, Wide, lazyTotal, priceOf } from './shop/cart';
    import { helper } from 'left-part';
    export const greeting: string = ${JSON.stringify(greeting)};
    const handlers = { onClick: (event: string) => { spin(); return event; }, async load() { spin(); } };
    export function spin(): void { const end = performance.now() + 6; while (performance.now() < end); }
    (globalThis as any).spin = spin;
    function App() { return start(); }
    App(); handlers.onClick(''); handlers.load(); lazyTotal(); priceOf({ a: 1 }); helper();
    const basket = new Basket(); basket.refresh(); basket.total; basket.field(); new Wide();`,
  'shop/cart.ts': `declare function spin(): void;
    const wrap = <T>(f: T): T => f;
    export class Basket { constructor() { spin(); } refresh() { spin(); } get total() { spin(); return 1; } field = () => { spin(); }; }
    export class Wide extends Basket { prices: unknown = spin(); }
    export const lazyTotal = wrap(() => { spin(); });
    export const priceOf = ({ a }: { a: number }) => { spin(); return a; };
    ${greeting.length > 5 ? '\n\n' : ''}export default function () { spin(); }`,
  'node_modules/left-part/index.js': 'export function helper() { spin(); }',
});

/** The functions of the bundle that work, and its wrapper. */
const placeCount = 14;

/** Where V8 sees the functions of a script begin. Beside other programs, the profiler misses some: it tries again. @param {string} code @returns {Promise<Place[]>} */
async function placesOf(code) {
  const session = new inspector.Session();
  session.connect();
  const post = (/** @type {string} */ method, /** @type {object} */ given = {}) => new Promise((resolve, reject) => {
    session.post(method, given, (error, result) => (error ? reject(error) : resolve(result)));
  });
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: 100 });
  /** @type {Map<string, Place>} */
  const places = new Map();
  for (let attempt = 0; attempt < 100 && places.size < placeCount; attempt += 1) {
    await post('Profiler.start');
    new vm.Script(code, { filename: 'bundle-under-test.js' }).runInThisContext();
    const { profile } = /** @type {{ profile: inspector.Profiler.Profile }} */ (await post('Profiler.stop'));
    for (const { callFrame: { url, functionName: name, lineNumber, columnNumber } } of profile.nodes) {
      // Code outside of functions begins with the script; wrap and Basket's field do no work and are seen by chance.
      const isIdle = /^(\w)=>\1,|^class\{/.test((code.split('\n')[lineNumber] ?? '').slice(columnNumber));
      if (url === 'bundle-under-test.js' && (lineNumber > 0 || columnNumber > 0) && !isIdle) {
        places.set(`${lineNumber}:${columnNumber}`, { name, line: lineNumber + 1, column: columnNumber + 1 });
      }
    }
  }
  session.disconnect();
  assert.equal(places.size, placeCount);
  return [...places.values()];
}

/** @param {string} release @param {string} greeting @returns {Promise<Release>} */
async function makeRelease(release, greeting) {
  const root = path.join(dir, release);
  for (const [name, text] of Object.entries(sources(greeting))) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  await build({ absWorkingDir: root, entryPoints: ['main.tsx'], bundle: true, minify: true, sourcemap: true, format: 'iife', target: 'es2022', outdir: 'dist', entryNames: '[name]-[hash]', logLevel: 'error' });
  const script = /** @type {string} */ (fs.readdirSync(path.join(root, 'dist')).find((name) => name.endsWith('.js')));
  const file = path.join(root, 'dist', script);
  return { release, file, script, url: prefix + script, places: await placesOf(fs.readFileSync(file, 'utf8')) };
}

/** Uploads a trace with one sample of each function, on top of the one before. @param {Release} given @param {Place[]} [places] */
async function upload({ release, url }, places = []) {
  const trace = {
    resources: [url],
    frames: places.map(({ name, line, column }) => ({ name, resourceId: 0, line, column })),
    stacks: places.map((_, frameId) => ({ frameId })),
    samples: places.map((_, stackId) => ({ timestamp: stackId * 10, stackId })),
  };
  const answer = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, {
    method: 'POST', body: JSON.stringify({ version: 1, page: { url: 'https://shop.example/' }, release, sampleInterval: 10, trace }),
  });
  assert.equal(answer.status, 204, await answer.text());
}

/** @param {string[]} args */
const fleetprof = (...args) => run([program, ...args], { env });

/** @param {string} scripts @param {string[]} args @returns {string} a file with the tables */
function tableOf(scripts, ...args) {
  const file = path.join(dir, `${path.basename(scripts)}.jsonl`);
  fs.writeFileSync(file, execFileSync(process.execPath, [tool, ...args, scripts], { cwd: path.dirname(path.dirname(scripts)) }));
  return file;
}

const listed = () => stack.sql(`select function, resource, line, function_key, generated_resource, generated_line, generated_column, samples
  from fleetprof.hotspots('shop', top => null)`);

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', scripts: ['/own/:build/*.js'], ignore: ['/lib_1/*'] }] } });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_writer') };
  releases = [await makeRelease('v1', 'hello'), await makeRelease('v2', 'good morning')];
  for (const release of releases) await upload(release, release.places);
  await waitFor(async () => (await stack.sql('select count(*) as n from fleetprof.upload_log'))[0].n === 2, { what: 'both uploads in SQL' });
});
after(() => stack?.stop());

test('every place that V8 reports is in the table, under the name that people wrote', () => {
  assert.notEqual(releases[0].script, releases[1].script, 'the bundles have different hashes');
  for (const { file, places } of releases) {
    const [head, ...rows] = fs.readFileSync(tableOf(file), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.equal(head.functions, rows.length);
    const known = new Map(rows.map(([line, column, ...rest]) => [`${line}:${column}`, rest]));
    // The wrapper that the bundler adds has no original.
    const missing = places.filter(({ line, column, name }) => !known.has(`${line}:${column}`) && name !== '');
    assert.deepEqual(missing, []);
    const names = new Set(places.flatMap(({ line, column }) => known.get(`${line}:${column}`)?.[0] ?? []));
    const written = ['App', 'default', 'onClick', 'load', 'spin', 'lazyTotal<', 'priceOf', 'helper', 'Basket', 'Basket.refresh', 'Basket.total', 'Basket.field', 'Wide'];
    assert.deepEqual(written.filter((name) => !names.has(name)), []);
  }
});

test('without tables, minified functions are of one release each', async () => {
  const rows = await listed();
  assert.equal(rows.filter(({ generated_resource: resource }) => resource === releases[0].url).length >= 10, true);
  assert.ok(rows.every(({ resource, generated_resource: generated }) => resource === generated));
  assert.deepEqual(rows.filter(({ function: name }) => name === 'App'), [], 'the names are minified');
});

test('the templates of the configuration are in the database', async () => {
  await waitFor(async () => (await stack.sql("select templates from fleetprof_data.script_template where site = 'shop'")).length === 1, { what: 'the templates' });
  assert.deepEqual(await stack.sql('select site, templates from fleetprof_data.script_template'), [{ site: 'shop', templates: ['/own/:build/*.js'] }]);
  assert.deepEqual(await stack.sql('select * from fleetprof_data.ignored_code'), [{ site: 'shop', ignored: ['/lib_1/*'], patterns: ['/lib\\_1/%'] }]);
  fs.writeFileSync(stack.collector.file, JSON.stringify({ ...stack.collector.config, sites: [{ name: 'shop', key: 'pk_shop', scripts: ['/own/:build/*.js', '/:x.js'] }] }));
  process.kill(stack.collector.server.pid, 'SIGHUP');
  await waitFor(async () => (await stack.sql('select templates from fleetprof_data.script_template'))[0].templates.length === 2, { what: 'the new templates' });
  assert.deepEqual(await stack.sql('select ignored from fleetprof_data.ignored_code'), [{ ignored: [] }], 'a list that is taken out is emptied');
});

test('what is not a table of this script is refused, with the reason', async () => {
  const [first, second] = releases;
  const table = tableOf(first.file);
  const add = (/** @type {string[]} */ ...args) => fleetprof('sourcemap', 'add', '--site', 'shop', '--url-prefix', prefix, ...args);
  const lines = fs.readFileSync(table, 'utf8');
  const broken = (/** @type {string} */ text) => {
    const file = path.join(fs.mkdtempSync(path.join(dir, 'broken-')), 'broken.jsonl');
    fs.writeFileSync(file, text);
    return file;
  };
  /** @type {[string, number, RegExp][]} */
  const cases = [
    [`${first.file}.map`, 1, /\.map:1: this is a source map, not a function table\n.*npx @fleetprof\/function-table/s],
    [first.file, 1, /:1: this is not a function table\n.*npx/s],
    [broken(''), 1, /: is empty/],
    [broken('{"a":1}\n'), 1, /:1: this is not a function table\n/],
    [broken('[1,1,"a","b",1,1,""]\n'), 1, /:1: a function stands before the line that names its script/],
    [broken(lines.replace('"fleetprof_function_table":1', '"fleetprof_function_table":2')), 1, /:1: .*another version/],
    [broken(lines.split('\n').slice(0, 3).join('\n')), 1, /ends after 2 of \d+ functions/],
    [broken(lines.replace(/\n\[\d+,/, '\n[0,')), 1, /:2: lines and columns are whole numbers from 1 on/],
    [broken(lines.replace(/(\n\[.*\])/, '$1$1')), 1, /:3: functions must be in the order/],
    // The names of one build with the functions of another.
    [broken(lines.replaceAll(/\n\[1,(\d+)/g, (_, column) => `\n[1,${Number(column) + 1}`)), 1, /is of another build\n.*Of its \d+ stored functions, 0 begin where the table says/s],
    [path.join(dir, 'nothing.jsonl'), 1, /nothing\.jsonl/],
  ];
  const empty = broken(`${JSON.stringify({ ...JSON.parse(lines.split('\n')[0]), functions: 0 })}\n`);
  assert.deepEqual(await add('--dry-run', empty).then(({ code, stderr }) => [code, stderr]), [0, 'fleetprof: nothing was kept\n'], 'a table names nothing');
  for (const [file, code, message] of cases) {
    const answer = await add(file);
    assert.match(answer.stderr, message, file);
    assert.equal(answer.code, code, answer.stderr);
  }
  const reader = { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') } };
  const denied = await run([program, 'sourcemap', 'add', '--site', 'shop', '--url-prefix', prefix, table], reader);
  assert.match(denied.stderr, /permission denied/);
  assert.equal(denied.code, 2, 'nothing is wrong with the table');
  assert.match((await fleetprof('sourcemap', 'add', '--site', 'shop', table)).stderr, /no URL was given/);
  assert.match((await fleetprof('sourcemap', 'add', '--url-prefix', 'https://shop.example/assets', table)).stderr, /ends in \//);
  assert.match((await add(table, '--url-prefix', 'https://user:pw@shop.example/assets/')).stderr, /the collector stores this URL as https:\/\/shop\.example/);
  assert.deepEqual(await stack.sql('select * from fleetprof.function_tables'), [], 'nothing was kept');
  assert.notEqual(first.url, second.url);
});

test('tables that are added late name what is stored: one function for both releases', async () => {
  const tables = releases.map(({ file }) => tableOf(file));
  const add = (/** @type {string[]} */ ...args) => fleetprof('sourcemap', 'add', '--site', 'shop', '--url-prefix', prefix, ...args);
  const dry = await add('--dry-run', '--json', ...tables);
  assert.equal(dry.code, 0, dry.stderr);
  const counts = JSON.parse(dry.stdout);
  assert.deepEqual(counts.map((/** @type {{ url: string }} */ { url }) => url), releases.map(({ url }) => url));
  for (const { stored, named } of counts) assert.ok(named >= 10 && named >= stored - 2, `${named} of ${stored}`);
  assert.deepEqual(await stack.sql('select * from fleetprof.function_tables'), [], 'a dry run keeps nothing');

  for (const [place, { release }] of releases.entries()) {
    const answer = await add('--release', release, tables[place]);
    assert.equal(answer.code, 0, answer.stderr);
  }
  const rows = await listed();
  const one = (/** @type {string} */ name) => rows.filter(({ function: known }) => known === name);
  for (const [name, source] of [['App', 'main.tsx'], ['priceOf', 'shop/cart.ts'], ['helper', 'node_modules/left-part/index.js'], ['default', 'shop/cart.ts']]) {
    assert.equal(one(name).length, 1, `${name}: ${JSON.stringify(one(name))}`);
    assert.equal(one(name)[0].resource, source);
    assert.equal(one(name)[0].samples, 2);
    assert.ok(releases.some(({ url }) => url === one(name)[0].generated_resource));
  }
  assert.equal(one('App')[0].line, 7);
  const text = (await run([program, 'top', '--site', 'shop', '--top', '50'], { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') } })).stdout;
  assert.match(text, /priceOf\tshop\/cart\.ts:6:/);
  const packages = await stack.sql("select name from fleetprof.cost_by('package', 'shop') where name not like '(un%' order by 1");
  assert.deepEqual(packages.map(({ name }) => name), ['(no package)', 'left-part']);
  const [{ n }] = await stack.sql("select count(*) as n from fleetprof.compare_releases('shop', 'v1', 'v2') where function = 'priceOf' and before_uploads = 1 and after_uploads = 1");
  assert.equal(n, 1, 'a comparison takes both for one');

  // The same table again is fine; another one for the same URL is not.
  assert.equal((await add(tables[0])).code, 0);
  const other = path.join(dir, 'other.jsonl');
  fs.writeFileSync(other, fs.readFileSync(tables[0], 'utf8').replaceAll('"priceOf"', '"costOf"'));
  const refused = await add(other);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /has another function table already, of release v1/);

  const list = JSON.parse((await fleetprof('sourcemap', 'list', '--json')).stdout);
  assert.deepEqual(list.map((/** @type {{ release: string }} */ { release }) => release).sort(), ['v1', 'v2']);
  assert.match((await fleetprof('sourcemap', 'remove', '--site', 'shop')).stderr, /say which tables/);
  assert.equal(JSON.parse((await fleetprof('sourcemap', 'remove', '--site', 'shop', '--release', 'v1', '--json')).stdout)[0].removed, 1);
  assert.ok((await listed()).some(({ resource }) => resource === releases[0].url), 'without its table, the script is shown as it is');
});

test('what the tool writes, `sourcemap add` takes: modules of URLs, of Rollup, long names, and no function at all', async () => {
  const own = fs.mkdtempSync(path.join(dir, 'taken-'));
  const out = (/** @type {string} */ name) => path.join(own, name, 'function-table.jsonl');
  const write = (/** @type {string} */ name, /** @type {string} */ text) => fs.writeFileSync(path.join(own, name), text);
  const code = `export function fromUrl() { return ${JSON.stringify('x'.repeat(1200))} + location; }`;
  write('main.js', `import { fromUrl } from ${JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)};
    const ${'n'.repeat(195)} = { '\\ud83d'() { fromUrl(); }, 'a\\0b'() {}, '${'\u{1F6D2}'.repeat(150)}'() {} };
    globalThis.all = [fromUrl, ${'n'.repeat(195)}];`);
  await build({ absWorkingDir: own, entryPoints: ['main.js'], bundle: true, minify: true, sourcemap: 'external', outdir: 'esbuild', logLevel: 'error', plugins: [forEsbuild({ root: own })] });
  const names = fs.readFileSync(out('esbuild'), 'utf8').trimEnd().split('\n').slice(1).map((line) => JSON.parse(line)).map(([, , name, source]) => [name, source]).filter(([name]) => name !== null);
  assert.deepEqual(names.sort(), [['a\uFFFDb', 'main.js'], ['fromUrl', 'data:text/javascript'], ['\uFFFD', 'main.js'], ['\u{1F6D2}'.repeat(100), 'main.js']].sort());

  write('virtual.js', "import { virtual } from 'virtual'; globalThis.virtual = [virtual, () => virtual()];");
  const virtual = 'export function virtual() { return 1; }';
  const bundle = await rollup({
    input: path.join(own, 'virtual.js'),
    plugins: [forRollup({ root: own }), {
      name: 'virtual', resolveId: (id) => (id === 'virtual' ? path.join(own, id) : null),
      load: (id) => (id.endsWith('/virtual') ? { code: virtual, map: { version: 3, names: [], mappings: `AAAA,${'CAAC,'.repeat(virtual.length)}CAAC`, sources: ['\0virtual.js'], sourcesContent: [virtual] } } : null),
    }],
  });
  await bundle.write({ dir: path.join(own, 'rollup'), sourcemap: 'hidden' });
  await bundle.close();
  assert.match(fs.readFileSync(out('rollup'), 'utf8'), /"virtual","[^"\0]*virtual\.js",1,\d+,"\(bundler\)",true/);

  write('nothing.js', 'document.title = "hello";');
  write('index.html', '<!doctype html><script type="module" src="/nothing.js"></script>');
  /** @type {string[]} */
  const warnings = [];
  await vite({
    root: own, configFile: false, logLevel: 'silent', plugins: [forRollup({ root: own })],
    build: { outDir: path.join(own, 'vite'), sourcemap: 'hidden', rollupOptions: { onwarn: (/** @type {{ message: string }} */ warning) => { warnings.push(warning.message); } } },
  });
  const answer = await build({ absWorkingDir: own, entryPoints: ['nothing.js'], sourcemap: 'external', outdir: 'nothing', logLevel: 'silent', plugins: [forEsbuild({ root: own })] });
  const stats = await runWebpack({ context: own, mode: 'production', devtool: 'hidden-source-map', entry: './nothing.js', output: { path: path.join(own, 'webpack') }, plugins: [new ForWebpack({ root: own })] });
  warnings.push(...answer.warnings.map(({ text }) => text), ...stats.compilation.warnings.map((/** @type {Error} */ { message }) => message));
  const nothing = ['vite', 'nothing', 'webpack'];
  assert.deepEqual(warnings.map((text) => text.replace(/^\[plugin [\w-]+\] /, '')), nothing.map((name) => `${out(name)}: names nothing: no function of the build's scripts comes from its sources`));
  assert.ok(fs.readFileSync(path.join(own, 'vite', JSON.parse(fs.readFileSync(out('vite'), 'utf8')).script), 'utf8').includes('function'), "the bundler's own functions");

  for (const name of ['esbuild', 'rollup', ...nothing]) {
    const added = await fleetprof('sourcemap', 'add', '--site', 'shop', '--url-prefix', `https://shop.example/${name}/`, '--json', '--dry-run', out(name));
    assert.equal(added.code, 0, added.stderr);
    assert.equal(JSON.parse(added.stdout)[0].functions > 0, !nothing.includes(name));
  }
});

test('the tool reads maps in every form, and says what it cannot read', async () => {
  const { file } = releases[0];
  const code = fs.readFileSync(file, 'utf8');
  const map = fs.readFileSync(`${file}.map`, 'utf8');
  const bare = code.replace(/\n\/\/# sourceMappingURL.*/, '');
  const table = (/** @type {Record<string, string | Buffer>} */ files) => {
    const own = fs.mkdtempSync(path.join(dir, 'forms-'));
    for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(own, name), content);
    return run([process.execPath, tool, path.join(own, Object.keys(files)[0])], {});
  };
  const rows = (/** @type {{ stdout: string, stderr: string }} */ { stdout, stderr }) => {
    assert.equal(stderr, '');
    // Names and lines; where a map lies changes the paths of its sources.
    return stdout.trimEnd().split('\n').slice(1).map((line) => JSON.parse(line)).map(([line, column, name, , at]) => [line, column, name, at]);
  };
  const plain = rows(await table({ 'a.js': bare, 'a.js.map': map }));
  assert.ok(plain.length > 10);
  const data = `${bare}\n//# sourceMappingURL=data:application/json;charset=utf-8;base64,${Buffer.from(map).toString('base64')}`;
  assert.deepEqual(rows(await table({ 'a.js': data })), plain, 'a data URL');
  assert.deepEqual(rows(await table({ 'a.js': `${bare}\n//# sourceMappingURL=maps%20of.map`, 'maps of.map': map })), plain, 'a map of another name');
  assert.deepEqual(rows(await table({ 'a.js.gz': gzipSync(bare), 'a.js.map.gz': gzipSync(map) })), plain, 'gzip');
  const index = JSON.stringify({ version: 3, sections: [{ offset: { line: 0, column: 0 }, map: JSON.parse(map) }] });
  assert.deepEqual(rows(await table({ 'a.js': bare, 'a.js.map': index })), plain, 'an index map');
  const without = { ...JSON.parse(map) };
  delete without.sourcesContent;
  const nameless = rows(await table({ 'a.js': bare, 'a.js.map': JSON.stringify(without) }));
  assert.deepEqual(nameless.map(([line, column]) => [line, column]), plain.map(([line, column]) => [line, column]), 'without sources the places are known');
  assert.ok(nameless.every(([, , name], place) => name === null || name === plain[place][2] || ['', 'default'].includes(plain[place][2])), 'and no name is wrong');

  /** @type {[Record<string, string>, RegExp][]} */
  const cases = [
    [{ 'a.js': bare }, /a\.js: has no source map/],
    [{ 'a.js': bare, 'a.js.map': '{' }, /a\.js\.map: not a source map/],
    [{ 'a.js': bare, 'a.js.map': `{${map.slice(1).replace(/"version": ?3/, '"version":4')}` }, /a\.js\.map: not a source map: is of another version; version 3 is known\n$/],
    [{ 'a.js': bare, 'a.js.map': map.replace(/("mappings": ?")[^"]*/, (_, head) => `${head}AAAA,!`) }, /a\.js\.map: not a source map: mapping 2 of line 1 has a character that is not a base64 digit\n$/],
    [{ 'a.js': bare, 'a.js.map': JSON.stringify({ ...JSON.parse(map), mappings: null }) }, /a\.js\.map: not a source map: mappings is not a text\n$/],
    [{ 'a.js': bare, 'a.js.map': '{"version":3,"sources":[],"names":[],"mappings":""}' }, /has no sources/],
    [{ 'a.js': bare, 'a.js.map': '{"version":3,"sources":["x.js"],"names":[],"mappings":""}' }, /knows none of the \d+ functions: it is of another script/],
  ];
  for (const [files, message] of cases) {
    const answer = await table(files);
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, message);
  }
});

test('URLs are those that browsers send, however a prefix and a script are spelled', async () => {
  const file = path.join(dir, 'spelled.jsonl');
  const [, ...rows] = fs.readFileSync(tableOf(releases[0].file), 'utf8').split('\n');
  const added = async (/** @type {string} */ urlPrefix, /** @type {string} */ script, site = 'shop') => {
    fs.writeFileSync(file, [JSON.stringify({ fleetprof_function_table: 1, script, functions: rows.length - 1 }), ...rows].join('\n'));
    const { code, stdout, stderr } = await fleetprof('sourcemap', 'add', '--dry-run', '--json', '--site', site, '--url-prefix', urlPrefix, file);
    assert.equal(code, 0, stderr);
    return { urls: JSON.parse(stdout).map((/** @type {{ url: string }} */ { url }) => url), stderr };
  };
  assert.deepEqual((await added('HTTPS://Shop.Example:443/Assets/', 'näme x.js')).urls, ['https://shop.example/Assets/n%C3%A4me%20x.js']);
  assert.deepEqual((await added('http://[::1]:80/', 'a"<b>`{c}.js')).urls, ['http://[::1]/a%22%3Cb%3E%60%7Bc%7D.js']);
  assert.deepEqual((await added('http://shop.example:8080/', '%7Ea.js')).urls, ['http://shop.example:8080/%7Ea.js'], 'what is encoded stays');
  assert.deepEqual((await added(prefix, 'pages/[id].js')).urls, [`${prefix}pages/[id].js`, `${prefix}pages/%5Bid%5D.js`], 'pages spell brackets in two ways');
  assert.match((await added(prefix, 'a.js', 'nosuch')).stderr, /no upload of site "nosuch" has come yet/);
});
