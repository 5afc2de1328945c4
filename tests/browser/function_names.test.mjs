// SPDX-License-Identifier: Apache-2.0
/**
 * Names that people wrote, from end to end: React by esbuild, Vue by Vite, and webpack, each with the plugin that writes
 * the function table; profiled in Chromium, stored by a real collector, named by `fleetprof sourcemap add`, linked to
 * their sources in the report.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import vue from '@vitejs/plugin-vue';
import esbuild from 'esbuild';
import { build as vite } from 'vite';

import { binDir, freePort, repository, run, startProcess, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import forEsbuild from '../../function_table/src/esbuild.js';
import forVite from '../../function_table/src/rollup.js';
import ForWebpack from '../../function_table/src/webpack.js';
import { runWebpack } from '../names/bundles.mjs';
import { launchChromium, openTab } from './chromium.mjs';

const apps = path.join(repository, 'tests/names/apps');
const dir = temporaryDir('names');
const define = { 'process.env.NODE_ENV': '"production"' };

/** Each builds into dir/NAME/assets, with hashes in the names of scripts. @type {Record<string, (outdir: string) => Promise<unknown>>} */
const builds = {
  react: (outdir) => esbuild.build({
    entryPoints: [path.join(apps, 'react.jsx')], outdir, entryNames: '[name]-[hash]', bundle: true, minify: true, jsx: 'automatic', format: 'esm', target: 'es2022',
    sourcemap: 'external', define, logLevel: 'error', plugins: [forEsbuild({ root: repository })],
  }),
  vue: (outdir) => vite({
    root: apps, configFile: false, logLevel: 'error', define, plugins: [vue(), forVite({ root: repository })],
    build: { outDir: outdir, emptyOutDir: true, sourcemap: 'hidden', rollupOptions: { input: path.join(apps, 'vue.js'), output: { entryFileNames: '[name]-[hash].js' } } },
  }),
  webpack: (outdir) => runWebpack({
    context: apps, mode: 'production', devtool: 'hidden-source-map', entry: { webpack: './webpack.js' },
    output: { path: outdir, filename: '[name].[contenthash].js', publicPath: 'auto' }, plugins: [new ForWebpack({ root: repository })],
  }),
};

/** Functions that the profiles must have, by app: names and sources below tests/names/apps. @type {Record<string, [string, string][]>} */
const written = {
  react: [['sortCart', 'cart.js'], ['Price<', 'react.jsx'], ['spin', 'spin.js']],
  vue: [['sortCart', 'cart.js'], ['addTax', 'Cart.vue'], ['sort', 'Cart.vue']],
  webpack: [['sortCart', 'cart.js'], ['report', 'late.js']],
};

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {string} */
let origin;

/** @param {string} app */
const tableOf = (app) => path.join(dir, app, 'assets/function-table.jsonl');

/** @param {string} app */
async function makeApp(app) {
  await builds[app](path.join(dir, app, 'assets'));
  const scripts = fs.readFileSync(tableOf(app), 'utf8').split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).script);
  const entry = scripts.find((name) => name.startsWith(app));
  assert.match(entry, /^\w+[-.]\w+\.js$/, scripts.join());
  fs.writeFileSync(path.join(dir, app, 'index.html'), `<!doctype html><link rel="icon" href="data:,"><body><script src="/agent/fleetprof.js"></script>
    <script>fleetprof.start({ endpoint: '/v1/ingest/pk_shop', release: 'v1' });</script><script type="module" src="assets/${entry}"></script>`);
}

before(async () => {
  for (const app of Object.keys(builds)) await makeApp(app);
  fs.chmodSync(dir, 0o755);
  fs.writeFileSync(path.join(dir, 'next.html'), '<link rel="icon" href="data:,">next');
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', source_link: 'https://git.example/shop/blob/{release}/{file}#L{line}' }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        location / { fleetprof on; fleetprof_sample 100%; root ${dir}; types { text/html html; text/javascript js; } }
        location /agent/ { alias ${repository}/agent/dist/; types { text/javascript js; } }
        # Without an origin, which nobody knows before there is a port.
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  origin = /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url;
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/** @param {string} app */
async function visit(app) {
  const { page: tab, complaints } = await openTab(browser);
  await tab.goto(`${origin}/${app}/`);
  await tab.click('button');
  await tab.waitForFunction(() => document.querySelector('b'));
  await tab.goto(`${origin}/next.html`);
  assert.deepEqual(complaints, []);
  await tab.context().close();
}

const listed = () => stack.sql(`select function, resource, line, function_key, fleetprof.source_link('shop', generated_resource, generated_line, generated_column) as link
  from fleetprof.hotspots('shop', release => 'v1', top => null) where generated_resource like '%/assets/%'`);

test('functions of React, Vue and webpack bundles have the names that people wrote', async () => {
  for (const app of Object.keys(builds)) await visit(app);
  await waitFor(async () => (await stack.sql('select count(distinct route) as n from fleetprof.upload_log'))[0].n === 3, { what: 'an upload of each page' });
  const minified = await listed();
  for (const [name] of Object.values(written).flat()) assert.deepEqual(minified.filter((row) => row.function === name), [], 'the scripts are minified');

  for (const app of Object.keys(builds)) {
    const answer = await run([path.join(binDir, 'fleetprof'), 'sourcemap', 'add', '--site', 'shop', '--release', 'v1', '--url-prefix', `${origin}/${app}/assets/`, tableOf(app)],
      { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_writer') } });
    assert.equal(answer.code, 0, answer.stderr);
  }
  const rows = await listed();
  for (const [app, functions] of Object.entries(written)) {
    for (const [name, file] of functions) {
      const own = rows.filter((row) => row.function === name && row.resource === `tests/names/apps/${file}`);
      assert.equal(own.length, 1, `${app}: ${name}: ${JSON.stringify(own)}; there are ${rows.map((row) => row.function)}`);
      assert.equal(own[0].link, `https://git.example/shop/blob/v1/tests/names/apps/${file}#L${own[0].line}`);
      const lines = fs.readFileSync(path.join(apps, file), 'utf8').split('\n');
      assert.match(lines[own[0].line - 1], new RegExp(name.replace('<', '')));
    }
  }
  const packages = await stack.sql("select name from fleetprof.cost_by('package', 'shop')");
  assert.ok(packages.some(({ name }) => name === '(no package)'));
});

test('the report links a function to its source, and only to addresses of the web', async () => {
  const [{ function_key: key, link }] = (await listed()).filter((row) => row.function === 'sortCart');
  const port = await freePort();
  const server = startProcess('fleetprof serve', [path.join(binDir, 'fleetprof'), 'serve', '--listen', `127.0.0.1:${port}`, '-d', stack.postgres.conninfo('fleetprof_reader')]);
  try {
    await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/`)).ok, { what: 'fleetprof serve' });
    const { page: tab, complaints } = await openTab(browser);
    await tab.goto(`http://127.0.0.1:${port}/shop/function/${key}`);
    const source = tab.locator('.facts a.source').first();
    await source.waitFor({ timeout: 30_000 });
    assert.equal(await source.getAttribute('href'), link);
    assert.match(await source.getAttribute('rel') ?? '', /noopener/);
    const places = await tab.locator('.facts .function > span').count();

    // Whatever a server says is checked again.
    await tab.route('**/api/v1/function_origin*', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, body: (await answer.text()).replaceAll(/https:\/\/git\.example[^"]*/g, 'javascript:alert(1)') });
    });
    const answered = tab.waitForResponse('**/api/v1/function_origin*');
    await tab.reload();
    await answered;
    await tab.waitForFunction((count) => document.querySelectorAll('.facts .function > span').length === count, places);
    assert.equal(await tab.locator('.facts a.source').count(), 0);
    assert.equal(await tab.locator('a[href^="javascript"]').count(), 0);
    assert.deepEqual(complaints, []);
    await tab.context().close();
  } finally {
    await server.stop();
  }
});

test('a function says who owns it, and an owner leads to the functions, as other groups do', async () => {
  const file = path.join(temporaryDir('owners'), 'CODEOWNERS');
  fs.writeFileSync(file, '/tests/names/apps/ @shop/web\n');
  const set = await run([path.join(binDir, 'fleetprof'), 'owners', 'set', '--site', 'shop', file], { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_writer') } });
  assert.equal(set.code, 0, set.stderr);
  const owned = (await stack.sql("select distinct function from fleetprof.hotspots('shop', top => null) where owner = '@shop/web'")).map((row) => row.function);
  assert.ok(owned.includes('sortCart'), String(owned));
  const [{ function_key: key }] = (await listed()).filter((row) => row.function === 'sortCart');
  const port = await freePort();
  const server = startProcess('fleetprof serve', [path.join(binDir, 'fleetprof'), 'serve', '--listen', `127.0.0.1:${port}`, '-d', stack.postgres.conninfo('fleetprof_reader')]);
  try {
    await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/`)).ok, { what: 'fleetprof serve' });
    const { page: tab, complaints } = await openTab(browser);
    await tab.goto(`http://127.0.0.1:${port}/shop/function/${key}`);
    await tab.waitForSelector('.facts dd:has-text("owner @shop/web")');
    await tab.goto(`http://127.0.0.1:${port}/shop/where?by=owner`);
    await tab.click('main tbody a:text-is("@shop/web")');
    await tab.waitForSelector('main[data-ready^="/shop/functions"] tbody .function');
    const names = await tab.locator('main tbody .function > :first-child').allInnerTexts();
    assert.deepEqual([...new Set(names)].sort(), owned.map((name) => name || '(anonymous)').sort());
    for (const [by, to] of [['entity', 'where?by=host&q='], ['party', 'functions?party='], ['host', 'functions?host=']]) {
      await tab.goto(`http://127.0.0.1:${port}/shop/where?by=${by}`);
      const link = tab.locator('main tbody th a').first();
      await link.waitFor();
      assert.ok((await link.getAttribute('href'))?.startsWith(`/shop/${to}`), `${by}: ${await link.getAttribute('href')}`);
      await link.click();
      await tab.waitForSelector(`main[data-ready^="/shop/${to.split('?')[0]}"] tbody th`);
    }
    assert.deepEqual(complaints, []);
    await tab.context().close();
  } finally {
    await server.stop();
  }
});
