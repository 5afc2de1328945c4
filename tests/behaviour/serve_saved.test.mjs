/** fleetprof report: one file, with the page, its answers and its own policy. Chromium opens it from disk. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { after, before, test } from 'node:test';
import { binDir, repository, run, startStack, temporaryDir } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('saved');
const hostile = '</script><script>alert(1)</script><!--';

/** @type {import('./stack.mjs').Stack} */
let stack;

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }] } });
  const files = ['r1', 'r2'].map((release) => {
    const file = path.join(dir, `${release}.json`);
    fs.writeFileSync(file, JSON.stringify({
      release,
      page: { url: 'https://shop.example/cart' },
      sampleInterval: 10,
      trace: {
        resources: ['https://shop.example/app.js'], frames: [{ name: hostile, resourceId: 0, line: 1, column: 2 }],
        stacks: [{ frameId: 0 }], samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 0 }],
      },
    }));
    return file;
  });
  const { code, stderr } = await run([program, 'import', '--wait', '-c', stack.collector.file, '--site', 'shop', ...files]);
  assert.equal(code, 0, stderr);
});
after(() => stack?.stop());

/** @param {string[]} args */
const report = (...args) => run([program, 'report', '--database', stack.postgres.conninfo('fleetprof_reader'), ...args]);

/** The parts of a saved report. @param {string} file */
function parts(file) {
  const text = fs.readFileSync(file, 'utf8');
  const at = text.indexOf('<script type="application/octet-stream" id="fleetprof-answers">');
  const packed = text.slice(text.indexOf('>', at) + 1, text.indexOf('</script>', at));
  return { text, packed, answers: JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()), page: text.slice(0, at) };
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
  assert.match(packed, /^[A-Za-z0-9+/]+=*$/, 'nothing in an answer can end its element');
  assert.equal(text.split('</script>').length, 3, 'the page\'s script and the answers');
  const addresses = Object.keys(answers).map((address) => new URL(address, 'http://report'));
  for (const { searchParams } of addresses) {
    assert.equal(searchParams.get('site'), 'shop');
    assert.equal(searchParams.get('route'), '/c%');
    const [since, until] = ['since', 'until'].map((name) => Date.parse(searchParams.get(name) ?? ''));
    assert.equal(until - since, 2 * 3600 * 1000);
  }
  const names = addresses.map(({ pathname }) => pathname.replace('/api/v1/', ''));
  for (const name of ['flamegraph_columns', 'hotspots', 'summary', 'releases', 'timings', 'vitals', 'coverage', 'cost_by'])
    assert.ok(names.includes(name), name);
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
  const { code, stderr } = await report('--compare', 'r1', 'r2', '-o', file);
  assert.equal(code, 0, stderr);
  const { answers } = parts(file);
  const names = Object.keys(answers).map((address) => new URL(address, 'http://report').pathname.replace('/api/v1/', ''));
  assert.deepEqual(names, ['compare_summary', 'compare_releases', 'releases', 'flamegraph_columns', 'summary', 'flamegraph_columns', 'summary']);
  const trees = Object.keys(answers).filter((address) => address.includes('flamegraph_columns'));
  assert.deepEqual(trees.map((address) => new URL(address, 'http://report').searchParams.get('release')), ['r1', 'r2']);
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
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    for (const name of ['report.html', 'compare.html']) {
      const page = await browser.newPage();
      /** @type {string[]} */
      const heard = [];
      page.on('console', (message) => heard.push(message.text()));
      page.on('pageerror', (error) => heard.push(String(error)));
      page.on('request', (request) => { if (!/^(file|data):/.test(request.url())) heard.push(request.url()); });
      await page.goto(`file://${dir}/${name}`);
      await page.waitForSelector('main[data-ready]');
      assert.deepEqual(heard, [], name);
      assert.ok((await page.textContent('h1'))?.includes('shop'), name);
      await page.close();
    }
  } finally {
    await browser.close();
  }
});
