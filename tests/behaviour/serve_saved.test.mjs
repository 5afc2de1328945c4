// SPDX-License-Identifier: Apache-2.0
/** fleetprof report: one file, with the page, its answers and its own policy. Chromium opens it from disk. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { read, unpacked } from '../../report/src/packed.js';
import { dimensions } from '../../report/src/state.js';
import { launchChromium } from '../browser/chromium.mjs';
import { bigUpload } from './big_trace.mjs';
import { startReport } from './serve_tool.mjs';
import { binDir, repository, run, startStack, temporaryDir } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('saved');
const hostile = '</script><script>alert(1)</script><!--';

/** @type {import('./stack.mjs').Stack} */
let stack;

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }, { name: 'large', key: 'pk_large' }] } });
  const files = ['r1', 'r2'].map((release) => {
    const file = path.join(dir, `${release}.json`);
    fs.writeFileSync(file, JSON.stringify({
      release,
      page: { url: 'https://shop.example/cart' },
      sampleInterval: 10,
      vitals: [{ name: 'LCP', value: 1234, id: `v5-${release}` }],
      trace: {
        resources: ['https://shop.example/app.js'], frames: [{ name: hostile, resourceId: 0, line: 1, column: 2 }],
        stacks: [{ frameId: 0 }], samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 0 }],
      },
    }));
    return file;
  });
  await importFiles('shop', files);
});
after(() => stack?.stop());

/** @param {string} site @param {string[]} files */
async function importFiles(site, files) {
  const { code, stderr } = await run([program, 'import', '--wait', '-c', stack.collector.file, '--site', site, ...files]);
  assert.equal(code, 0, stderr);
}

/** @param {string[]} args */
const report = (...args) => run([program, 'report', '--database', stack.postgres.conninfo('fleetprof_reader'), ...args]);

/** The parts of a saved report. @param {string} file */
function parts(file) {
  const text = fs.readFileSync(file, 'utf8');
  const at = text.indexOf('<script type="application/octet-stream" id="fleetprof-answers"');
  const packed = text.slice(text.indexOf('>', at) + 1, text.indexOf('</script>', at));
  return { text, packed, answers: unpacked(gunzipSync(read(packed))), page: text.slice(0, at) };
}

test('an empty report says why it is empty', async () => {
  const file = path.join(dir, 'empty.html');
  const unknown = await report('--site', 'nosuch', '-o', file);
  assert.equal(unknown.code, 0, unknown.stderr);
  assert.match(unknown.stderr, /nothing was counted for a site named "nosuch"\n.*hint: Give --site NAME: shop\.\n/);
  const compared = await report('--site', 'shop', '--compare', 'r8', 'r9', '-o', file);
  assert.equal(compared.code, 0, compared.stderr);
  assert.match(compared.stderr, /there is nothing to compare\n.*hint: `fleetprof compare r8 r9' /);
  assert.doesNotMatch((await report('-o', file)).stderr, /nothing/);
});

test('the file has the answers under the addresses that the page asks, with times that stay', async () => {
  const file = path.join(dir, 'report.html');
  const { code, stderr } = await report('--since', '2h', '--route', '/c%', '-o', file);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /report\.html: \d+ KiB/);
  const { packed, answers, text } = parts(file);
  assert.match(packed, /^[#-;=-x]+$/, 'nothing in an answer can end its element');
  assert.equal(text.split('</script>').length, 3, 'the page\'s script and the answers');
  const addresses = Object.keys(answers).map((address) => new URL(address, 'http://report'));
  // The latest release is compared over its own time.
  for (const { searchParams } of addresses.filter(({ pathname }) => !pathname.includes('/compare_'))) {
    assert.equal(searchParams.get('site'), 'shop');
    assert.equal(searchParams.get('route'), '/c%');
    const [since, until] = ['since', 'until'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    assert.equal(until - since, 2 * 3600 * 1000);
  }
  const names = addresses.map(({ pathname }) => pathname.replace('/api/v1/', ''));
  assert.deepEqual([...new Set(names)].sort(), ['budgets', 'callees', 'callers', 'change_point', 'compare_releases', 'compare_vitals', 'cost_by', 'coverage', 'fix_first', 'flamegraph_columns', 'function_by', 'hangs', 'hotspots', 'interactions', 'left_out', 'long_frames', 'overview', 'profiling_cost', 'refusals',
    'releases', 'summary', 'third_parties', 'timings', 'trend', 'ttfb_parts', 'typical_load', 'violations', 'vitals']);
  const groups = addresses.filter(({ pathname }) => pathname.endsWith('/cost_by')).map(({ searchParams }) => searchParams.get('by'));
  assert.deepEqual(groups, ['host', 'party', 'owner', 'entity', 'package', 'resource', 'source', 'marker', ...dimensions]);
  const hotspots = answers[Object.keys(answers)[names.indexOf('hotspots')]];
  assert.deepEqual(hotspots.rows.map((/** @type {any[]} */ row) => row[0]), [hostile]);
});

test('its policy allows exactly its script and its style', () => {
  const { page } = parts(path.join(dir, 'report.html'));
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
  assert.match(policy, /^default-src 'none'; /);
  assert.ok(!policy.includes('unsafe') && !policy.includes('self'));
  for (const [name, tag] of [['report.js', 'script type="module"'], ['report.css', 'style']]) {
    const content = fs.readFileSync(path.join(repository, 'report/dist', name), 'utf8');
    assert.ok(page.includes(`<${tag}>${content}</`), name);
    assert.ok(policy.includes(`'sha256-${createHash('sha256').update(content).digest('base64')}'`), name);
  }
  const script = fs.readFileSync(path.join(repository, 'report/dist/report.js'), 'utf8');
  assert.ok(!page.replace(script, () => '').includes('/assets/'), 'no element asks for a file');
});

test('a comparison has both sides', async () => {
  const file = path.join(dir, 'compare.html');
  const early = await report('--site', 'shop', '--compare', 'r8', 'r9', '--until', '3d', '-o', file);
  assert.doesNotMatch(early.stderr, /ends before it begins/, 'a comparison has no period of one day');
  const { code, stderr } = await report('--compare', 'r1', 'r2', '-o', file);
  assert.equal(code, 0, stderr);
  const { answers } = parts(file);
  const names = Object.keys(answers).map((address) => new URL(address, 'http://report').pathname.replace('/api/v1/', ''));
  assert.deepEqual(names, ['compare_summary', 'compare_releases', 'compare_vitals', 'compare_timings', 'releases', 'overview', 'flamegraph_columns', 'summary', 'flamegraph_columns', 'summary', 'summary', 'releases']);
  const trees = Object.keys(answers).filter((address) => address.includes('flamegraph_columns'));
  assert.deepEqual(trees.map((address) => new URL(address, 'http://report').searchParams.get('release')), ['r1', 'r2']);
});

test('a comparison of two trees of 50,000 nodes is a small file, and loses nothing', async () => {
  const releases = ['2.2.9', '2.3.0'];
  const files = releases.map((release) => {
    const file = path.join(dir, `large-${release}.json`);
    fs.writeFileSync(file, JSON.stringify(bigUpload({ release, nodes: 60_000, functions: 6000, seed: 7 })));
    return file;
  });
  await importFiles('large', files);
  const file = path.join(dir, 'large.html');
  const { code, stderr } = await report('--site', 'large', '--compare', ...releases, '-o', file);
  assert.equal(code, 0, stderr);
  const { answers } = parts(file);
  const server = await startReport(stack.postgres.conninfo('fleetprof_reader'));
  const trees = Object.entries(answers).filter(([address]) => address.includes('/flamegraph_columns?'));
  assert.equal(trees.length, 2);
  for (const [address, { tree }] of trees) {
    const { tree: whole } = await server.json(address);
    assert.equal(whole.level.length, 50_000);
    for (const name of ['level', 'self', 'total', 'samples']) assert.deepEqual([...tree[name]], whole[name], name);
    assert.equal(tree.omitted_us, whole.omitted_us);
    const placesOf = (/** @type {any} */ { frame, frames }) => Array.from(frame, (i) => Object.keys(frames).sort().map((name) => frames[name][i]).join());
    assert.deepEqual(placesOf(tree), placesOf(whole));
  }
  await server.server.stop();
  const bytes = fs.statSync(file).size;
  console.log(`a comparison of twice 50,000 nodes: ${(bytes / 1000).toFixed(0)} kB, ${trees.map(([, { tree }]) => tree.frames.function.length).join(' and ')} frames, total ${trees.map(([, { tree }]) => tree.total[0])} µs`);
  assert.ok(bytes <= 600_000, `${bytes} bytes`);
});

test('the page saves the same comparison as a file that is as small', async () => {
  const server = await startReport(stack.postgres.conninfo('fleetprof_reader'));
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${server.url}/large/compare?before=2.2.9&after=2.3.0`);
    await page.waitForSelector('main[data-ready]', { timeout: 120_000 });
    await page.click('#export');
    const [saved] = await Promise.all([page.waitForEvent('download', { timeout: 120_000 }), page.click('#export-file')]);
    const file = path.join(dir, 'large-page.html');
    await saved.saveAs(file);
    const bytes = fs.statSync(file).size;
    console.log(`the page's file of the same: ${(bytes / 1000).toFixed(0)} kB`);
    assert.ok(bytes <= 600_000, `${bytes} bytes`);
    const treesOf = (/** @type {Record<string, any>} */ answers) => Object.entries(answers).filter(([address]) => address.includes('/flamegraph_columns?')).map(([, { tree }]) => tree);
    const [ours, theirs] = [treesOf(parts(file).answers), treesOf(parts(path.join(dir, 'large.html')).answers)];
    assert.deepEqual([ours.length, theirs.length], [2, 2]);
    for (const name of ['level', 'frame', 'self', 'total', 'samples']) for (const i of [0, 1]) assert.deepEqual(ours[i][name], theirs[i][name], name);
  } finally {
    await browser.close();
    await server.server.stop();
  }
});

test('- is standard output', async () => {
  const { code, stdout } = await report('--site', 'shop', '-o', '-');
  assert.equal(code, 0);
  assert.match(stdout, /^<!doctype html>[^]*<\/html>\n$/i);
  assert.equal(fs.existsSync('-'), false);
});

test('wrong use and a place that cannot be written are errors, and leave no file', async () => {
  for (const args of [[], ['-o', `${dir}/x`, 'r1'], ['-o', `${dir}/x`, '--compare', 'r1'], ['-o', `${dir}/x`, 'r1', 'r2'], ['-o', `${dir}/none/x`],
    ['-o', `${dir}/x`, '--since', 'yesterday-ish'], ['-o', `${dir}/x`, '--marker', 'nope']]) {
    const { code, stderr } = await report(...args);
    assert.equal(code, 2, args.join(' '));
    assert.notEqual(stderr, '');
  }
  assert.equal(fs.existsSync(`${dir}/x`), false);
  assert.equal(fs.existsSync(`${dir}/x.part`), false);
});

test('Chromium opens it from disk without a request and without a message', async () => {
  const browser = await launchChromium();
  try {
    for (const [name, site] of [['report.html', 'shop'], ['compare.html', 'shop'], ['large.html', 'large'], ['large-page.html', 'large']]) {
      const page = await browser.newPage();
      /** @type {string[]} */
      const heard = [];
      page.on('console', (message) => heard.push(message.text()));
      page.on('pageerror', (error) => heard.push(String(error)));
      page.on('request', (request) => { if (!/^(file|data):/.test(request.url())) heard.push(request.url()); });
      await page.goto(`file://${dir}/${name}`);
      await page.waitForSelector('main[data-ready]');
      assert.deepEqual(heard, [], name);
      assert.ok((await page.textContent('h1'))?.includes(site), name);
      if (name !== 'report.html') assert.equal(await page.locator('.icicle canvas').count(), 1, name);
      assert.equal(await page.locator('.strip').count(), 1, `${name}: page loads by hour`);
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

test('the overview opens in a saved report, with what it has', async () => {
  const whole = await report('--site', 'shop', '--since', '30d', '-o', path.join(dir, 'whole.html'));
  assert.equal(whole.code, 0, whole.stderr);
  assert.ok(Object.keys(parts(path.join(dir, 'whole.html')).answers).some((address) => address.includes('/trend?') && address.includes('by=vital&key=LCP')));
  const browser = await launchChromium();
  try {
    for (const [name, shown, left] of [['report.html', 'What costs most', 'Nothing recorded'], ['whole.html', '[aria-label="Latest release"] .verdict', 'Nothing recorded'], ['compare.html', '[aria-label="Latest release"] .verdict', 'What costs most']]) {
      const page = await browser.newPage();
      /** @type {string[]} */
      const heard = [];
      page.on('console', (message) => heard.push(message.text()));
      page.on('pageerror', (error) => heard.push(String(error)));
      await page.goto(`file://${dir}/${name}`);
      await page.waitForSelector('main[data-ready]');
      await page.click('nav a:text-is("Overview")');
      await page.waitForSelector('main[data-ready^="/shop?"] .overview, main[data-ready="/shop"] .overview');
      await page.waitForSelector(shown.startsWith('[') ? shown : `h2:has-text("${shown}")`);
      assert.equal(await page.locator('main .warning, main .failure').count(), 0, name);
      assert.ok(!(await page.locator('main').innerText()).includes(left), name);
      // It has no address to copy, and keys lead to nothing that it lacks.
      assert.equal(await page.locator('#copy-link').count(), 0, name);
      await page.keyboard.press(']');
      await page.waitForSelector('main[data-ready] .overview');
      assert.equal(await page.locator('main .warning, main .failure, main a.button:not([href])').count(), 0, name);
      assert.deepEqual(heard, [], name);
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

test('each group that the saved view of costs offers has its answer', async () => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`file://${dir}/report.html`);
    await page.waitForSelector('main[data-ready]');
    await page.click('a:text-is("Breakdown")');
    await page.waitForSelector('main[data-ready] [aria-label="Group by"]');
    const groups = await page.locator('[aria-label="Group by"] a').allTextContents();
    assert.ok(groups.length > dimensions.length);
    for (const group of groups) {
      await page.click(`[aria-label="Group by"] a:text-is("${group}")`);
      await page.waitForSelector(`main[data-ready] table caption:text-is("Time by ${group}")`);
    }
  } finally {
    await browser.close();
  }
});
