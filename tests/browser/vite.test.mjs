// SPDX-License-Identifier: Apache-2.0
/**
 * @fleetprof/vite as people have it: packed, installed, one line in vite.config. An application is built, served by nginx,
 * profiled in Chromium; the printed line brings its function table into the database, and a question has original names.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { inside, install } from '../behaviour/packed.mjs';
import { binDir, freePort, repository, run, runOrThrow, startProcess, startStack, temporaryDir, untilReady, version, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';

const packages = ['fleetprof-agent', '@fleetprof/function-table', '@fleetprof/express', '@fleetprof/vite'];
const yes = 'js-profiling, js-profiling-mode=lazy';
const spin = 'function spin(ms: number) { const end = performance.now() + ms; while (performance.now() < end); }';

const agent = `fleetprof-${version}.js`;

/** The application; nested/other.html is a second page. @type {Record<string, string>} */
const files = {
  'package.json': '{ "name": "shop", "version": "4.5.6", "type": "module" }',
  'index.html': '<!doctype html><html><head><link rel="icon" href="data:,"><script type="module" src="/src/main.ts"></script></head><body><p></p></body></html>',
  'nested/other.html': '<!doctype html><html><head><link rel="icon" href="data:,"><script type="module" src="/src/main.ts"></script></head><body><p></p></body></html>',
  'src/main.ts': `import { sortCart } from './shop/cart';
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => { document.querySelector('p')!.textContent = sortCart([3, 1, 2]).join() + data; };`,
  'src/worker.ts': `export const greet = (name: string) => 'hello ' + name;\npostMessage(greet('shop'));`,
  'src/shop/cart.ts': `${spin}\n\nexport function sortCart(amounts: number[]) {\n  spin(400);\n  return [...amounts].sort();\n}\n`,
};

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
const dir = temporaryDir('vite');
/** Where the development server will be: the collector takes uploads of known origins. @type {number} */
let devPort;
const vite = path.join(dir, 'node_modules/vite/bin/vite.js');

/** Writes the configuration of Vite. @param {string} plugin its options, as code @param {string} [rest] of the configuration */
const configure = (plugin, rest = '') => fs.writeFileSync(path.join(dir, 'vite.config.js'), `import { defineConfig } from 'vite';
import fleetprof from '@fleetprof/vite';

export default defineConfig({ plugins: [fleetprof(${plugin})], ${rest} });\n`);

/** Runs `vite build` as a user does. @returns {Promise<{ code: number | null, text: string }>} */
async function build() {
  for (const name of ['dist', 'function-table.jsonl', 'tables']) fs.rmSync(path.join(dir, name), { recursive: true, force: true });
  const { code, stdout, stderr } = await run(inside(dir, process.execPath, vite, 'build'));
  return { code, text: stdout + stderr };
}

/** @param {string} folder @returns {string[]} */
const listed = (folder) => fs.readdirSync(path.join(dir, folder), { recursive: true, encoding: 'utf8' }).sort();
const maps = () => listed('dist').filter((name) => name.endsWith('.map'));
const scriptsOf = (/** @type {string} */ table) => fs.readFileSync(path.join(dir, table), 'utf8').split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).script);
const page = (/** @type {string} */ name) => fs.readFileSync(path.join(dir, 'dist', name), 'utf8');

/** Starts `vite`, or `vite preview`. @param {number} port @param {string[]} words */
async function serve(port, ...words) {
  const server = startProcess('vite', inside(dir, process.execPath, vite, ...words, '--host', '127.0.0.1', '--port', `${port}`, '--strictPort'), { deathSignal: 'SIGTERM' });
  const url = `http://127.0.0.1:${port}/`;
  await untilReady(server, () => fetch(url).then(() => true, () => false));
  return { url, stop: () => server.stop('SIGTERM') };
}

before(async () => {
  fs.chmodSync(dir, 0o755);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
  }
  await install(dir, packages, process.env.VITE);
  devPort = await freePort();
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', origins: [`http://127.0.0.1:${devPort}`] }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        location / { fleetprof on; fleetprof_sample 100%; root ${dir}/dist; types { text/html html; text/javascript js; } }
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Visits a page until its upload is counted; returns the tab. @param {string} url @param {string} release @param {string} environment */
async function visit(url, release, environment) {
  const { page: tab, complaints } = await openTab(browser);
  await tab.goto(url);
  await tab.waitForFunction(() => document.querySelector('p')?.textContent === '1,2,3hello shop');
  assert.equal(await tab.evaluate('fleetprof.start().stop()'), true);
  assert.deepEqual(complaints, []);
  await tab.context().close();
  return waitFor(async () => {
    const rows = (await stack.sql(`select function, self_ms from fleetprof.hotspots('shop', release => '${release}', environment => '${environment}')`)).filter((row) => row.self_ms > 200);
    return rows.length > 0 && rows;
  }, { what: `hotspots of ${release}` });
}

test('one line: a build is profiled, and a question has original names and sources', async () => {
  configure("{ site: 'shop', endpoint: '/v1/ingest/pk_shop' }");
  const { code, text } = await build();
  assert.equal(code, 0, text);
  assert.deepEqual(maps(), [], 'no source map is published');
  assert.deepEqual(listed('.').filter((name) => /^function-table|^dist\/.*jsonl/.test(name)), ['function-table.jsonl']);
  assert.deepEqual(scriptsOf('function-table.jsonl').map((name) => name.replace(/-[\w-]{8}\./, '.')), ['assets/index.js', 'assets/worker.js']);
  assert.ok(listed('dist').includes(`assets/${agent}`));
  assert.doesNotMatch(listed('dist').filter((name) => name.endsWith('.js')).map(page).join(), /sourceMappingURL|sortCart/);

  const origin = /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url;
  await visit(origin, '4.5.6', 'production');
  const line = /^ {2}fleetprof (sourcemap add .*)$/m.exec(text)?.[1] ?? assert.fail(text);
  assert.match(line, / --site shop --release 4\.5\.6 /);
  await runOrThrow(inside(dir, 'sh', '-c', `${binDir}/fleetprof ${line.replace('https://YOUR-HOST', new URL(origin).origin)}`),
    { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_writer') } });
  const [first] = JSON.parse(await runOrThrow([`${binDir}/fleetprof`, 'top', '--site', 'shop', '--release', '4.5.6', '--json'], { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') } }));
  // Minifiers inline spin into sortCart, or not.
  assert.deepEqual([['sortCart', 'spin'].includes(first.function), first.resource, [1, 3].includes(first.line)], [true, 'src/shop/cart.ts', true], JSON.stringify(first));
});

test('vite serves sampled pages with the agent, and its page loads are apart', async () => {
  configure("{ site: 'shop', endpoint: '/v1/ingest/pk_shop', release: 'dev' }", `server: { proxy: { '/v1/ingest': '${stack.collector.url}' } }`);
  const server = await serve(devPort);
  try {
    const { headers } = await fetch(server.url, { headers: { Accept: 'text/html' } });
    assert.equal(headers.get('document-policy'), yes);
    assert.match(String(headers.get('server-timing')), /^fleetprof;desc="1\./);
    assert.equal((await fetch(`${server.url}src/main.ts`)).headers.get('document-policy'), null);
    const rows = await visit(server.url, 'dev', 'development');
    assert.deepEqual(rows.map((row) => row.function), ['spin']);
  } finally {
    await server.stop();
  }
});

test('vite preview serves sampled pages, signed with a key, and leaves scripts alone', async () => {
  configure(`{ site: 'shop', endpoint: '/v1/ingest/pk_shop', keyFile: '${repository}/conformance/token.key' }`);
  assert.equal((await build()).code, 0);
  const server = await serve(await freePort(), 'preview');
  try {
    const { headers } = await fetch(server.url);
    assert.equal(headers.get('document-policy'), yes);
    assert.match(String(headers.get('server-timing')), /^fleetprof;desc="v1\.[0-9a-f]{8}\.shop\.1000000\./);
    assert.equal((await fetch(`${server.url}assets/${agent}`)).headers.get('document-policy'), null);
  } finally {
    await server.stop();
  }
});

test('each page has the agent first, below any base, with options as attributes', async () => {
  const options = "{ site: 'shop', endpoint: 'https://c.example/v1/ingest/pk_shop', release: 'a \"b\"', agent: { sampleInterval: 20, environment: 'staging' } }";
  const input = "build: { rollupOptions: { input: ['index.html', 'nested/other.html'] } }";
  const tag = (/** @type {string} */ name) => /<head>\s*(<[^>]*>)/.exec(page(name))?.[1];
  const rest = ' data-endpoint="https://c.example/v1/ingest/pk_shop" data-release="a &quot;b&quot;" data-environment="staging" data-sample-interval="20">';
  for (const [base, home, other] of [['./', '', '../'], ['/shop/', '/shop/', '/shop/'], ['https://cdn.example/', 'https://cdn.example/', 'https://cdn.example/']]) {
    configure(options, `base: '${base}', ${input}`);
    const { code, text } = await build();
    assert.equal(code, 0, text);
    const crossorigin = base.startsWith('https:') ? ' crossorigin=""' : '';
    assert.equal(tag('index.html'), `<script src="${home}assets/${agent}"${crossorigin}${rest}`);
    assert.equal(tag('nested/other.html'), `<script src="${other}assets/${agent}"${crossorigin}${rest}`);
    const prefix = { './': 'https://YOUR-HOST/', '/shop/': 'https://YOUR-HOST/shop/' }[base] ?? base;
    assert.ok(text.includes(`--site shop --release 'a "b"' --url-prefix ${prefix} function-table.jsonl\n`), text);
  }
});

test('the agent can be that with web vitals', async () => {
  configure("{ site: 'shop', endpoint: '/v1/ingest/pk_shop', vitals: true }");
  assert.equal((await build()).code, 0);
  assert.ok(page('index.html').includes(`src="/assets/fleetprof.vitals-${version}.js"`));
  assert.deepEqual(fs.readFileSync(path.join(dir, `dist/assets/fleetprof.vitals-${version}.js`)), fs.readFileSync(path.join(repository, 'agent/dist/fleetprof.vitals.js')));
});

test('source maps stay if they were asked for, and without any, a build says that it has no table', async () => {
  const plugin = "{ site: 'shop', endpoint: '/v1/ingest/pk_shop', table: { file: '../tables/shop.jsonl' } }";
  configure(plugin, "build: { sourcemap: 'hidden' }");
  assert.equal((await build()).code, 0);
  assert.deepEqual(maps().map((name) => name.replace(/-[\w-]{8}\./, '.')), ['assets/index.js.map', 'assets/worker.js.map']);
  assert.equal(scriptsOf('tables/shop.jsonl').length, 2);

  configure(plugin, 'build: { sourcemap: false }');
  const { code, text } = await build();
  assert.equal(code, 0, text);
  assert.match(text, /fleetprof: build\.sourcemap is false: there is no function table/);
  assert.ok(!fs.existsSync(path.join(dir, 'tables')) && !text.includes('sourcemap add'));
});

test('a build that fails leaves no source maps, and names no table', async () => {
  const fails = "{ name: 'fails', writeBundle: { order: 'post', sequential: true, handler() { throw new Error('it fails'); } } }";
  fs.writeFileSync(path.join(dir, 'vite.config.js'), `import fleetprof from '@fleetprof/vite';
export default { plugins: [${fails}, fleetprof({ site: 'shop', endpoint: '/v1/ingest/pk_shop' })] };\n`);
  const { code, text } = await build();
  assert.equal(code, 1);
  assert.match(text, /it fails/);
  assert.ok(listed('dist').includes('index.html'));
  assert.deepEqual([maps(), text.includes('sourcemap add')], [[], false]);
});

test("the release is the option, else git's commit, else the version of package.json, else none", async () => {
  const releaseIn = async (/** @type {string} */ option) => {
    configure(`{ site: 'shop', endpoint: '/v1/ingest/pk_shop'${option} }`);
    const { code, text } = await build();
    assert.equal(code, 0, text);
    return [/data-release="(.*?)"/.exec(page('index.html'))?.[1], /the release has no name/.test(text)];
  };
  assert.deepEqual(await releaseIn(''), ['4.5.6', false]);
  fs.writeFileSync(path.join(dir, 'package.json'), '{ "type": "module" }');
  assert.deepEqual(await releaseIn(''), [undefined, true]);
  const git = (/** @type {string[]} */ ...args) => runOrThrow(['git', '-C', dir, '-c', 'user.name=shop', '-c', 'user.email=shop@shop.example', ...args]);
  await git('init', '--quiet');
  await git('commit', '--quiet', '--allow-empty', '--message', 'a release');
  fs.writeFileSync(path.join(dir, 'package.json'), files['package.json']);
  assert.deepEqual(await releaseIn(''), [(await git('rev-parse', 'HEAD')).slice(0, 12), false]);
  assert.deepEqual(await releaseIn(", release: 'mine'"), ['mine', false]);
});

test('a wrong option is named, with what would be right', async () => {
  const { default: fleetprof } = await import(path.join(dir, 'node_modules/@fleetprof/vite/plugin.js'));
  const right = { site: 'shop', endpoint: '/v1/ingest/pk_shop' };
  /** @type {[unknown, RegExp][]} */
  const mistakes = [
    [undefined, /give options: \{ site, endpoint \}/],
    [{ endpoint: right.endpoint }, /site is missing: it is 1 to 64 of A-Z/],
    [{ ...right, site: 'a shop' }, /site "a shop" is not 1 to 64 of/],
    [{ site: 'shop' }, /endpoint is missing: it is a path that begins with "\/", or an http\(s\) URL/],
    [{ ...right, endpoint: 'pk_shop' }, /endpoint "pk_shop" is not a path/],
    [{ ...right, endpoint: '//c.example/v1' }, /endpoint "\/\/c\.example\/v1" is not a path/],
    [{ ...right, release: '' }, /release "" is not a text/],
    [{ ...right, rate: 2 }, /rate 2 is not 0, or a number from 0\.000001 to 1/],
    [{ ...right, rate: '1%' }, /rate "1%" is not/],
    [{ ...right, keyFile: 1 }, /keyFile 1 is not the path of a file/],
    [{ ...right, keyFile: '/nowhere' }, /ENOENT.*\/nowhere/],
    [{ ...right, vitals: 'yes' }, /vitals "yes" is not true or false/],
    [{ ...right, agent: { release: 'v1' } }, /agent .* is not an object of texts/],
    [{ ...right, agent: { beforeSend: () => {} } }, /agent .* is not an object of texts/],
    [{ ...right, table: 'x.jsonl' }, /table "x\.jsonl" is not an object/],
    [{ ...right, table: { maps: true } }, /there is no option "maps"; there are file and root/],
    [{ ...right, Rate: 1 }, /there is no option "Rate"; there are site, endpoint, release, rate, keyFile, vitals, agent, table/],
  ];
  for (const [options, message] of mistakes) assert.throws(() => fleetprof(options), message);
  assert.ok(fleetprof(right));
});
