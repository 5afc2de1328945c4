// SPDX-License-Identifier: Apache-2.0
/**
 * A prediction meets what comes: visits of a built application, whose handler runs a costly function in half of the
 * interactions, are profiled; what_if says what the INP would be without it. Then the build without it has the same visits.
 *
 * FLEETPROF_LONG makes more visits, also of a build in which the function does half, and the same beside busy loops.
 * Nothing may run beside it then: at rest, the INP must lie in the predicted interval. Otherwise it may be less.
 * FLEETPROF_VISITS is another number of visits. The function adds numbers: of one that makes texts V8's profiler has few stacks.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import esbuild from 'esbuild';

import { binDir, repository, runOrThrow, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import forEsbuild from '../../function_table/src/esbuild.js';
import { launchChromium, openTab } from './chromium.mjs';

const isLong = process.env.FLEETPROF_LONG === '1';
/** At least as many as what_if needs for an interval. */
const visits = Number(process.env.FLEETPROF_VISITS ?? (isLong ? 300 : 120));
/** Releases, with the share of its work that the function does. */
const builds = [{ release: 'with', share: 1 }, { release: 'without', share: 0 }, ...(isLong ? [{ release: 'half', share: 0.5 }] : [])];
const settings = [{ name: 'at rest', loops: 0 }, ...(isLong ? [{ name: 'beside busy loops', loops: 2 }] : [])];

const dir = temporaryDir('what_if');
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
let origin = '';
/** How much visits have to do. */
let work = '';

/** Builds the application as for production. @param {typeof builds[number]} build */
async function build({ release, share }) {
  const outdir = path.join(dir, release);
  await esbuild.build({
    entryPoints: [path.join(repository, 'tests/browser/reviews/main.js')], outdir, bundle: true, minify: true, format: 'iife', target: 'es2022',
    sourcemap: 'external', define: { SORTED_SHARE: String(share) }, logLevel: 'error', plugins: [forEsbuild({ root: repository })],
  });
  for (const [at, { name }] of settings.entries()) {
    fs.writeFileSync(path.join(outdir, `${at}.html`), `<!doctype html><link rel="icon" href="data:,"><body>
      <script src="/agent/fleetprof.vitals.js" data-endpoint="/v1/ingest/pk_demo" data-release="${release}" data-environment="${name}" data-route="/reviews"></script>
      <a href="/away.html">Away</a><br><button>More reviews</button><ul></ul><script src="main.js"></script>`);
  }
}

before(async () => {
  for (const one of builds) await build(one);
  fs.chmodSync(dir, 0o755);
  fs.writeFileSync(path.join(dir, 'away.html'), '<!doctype html><link rel="icon" href="data:,">');
  stack = await startStack({
    nginx: ({ port, ingest }) => `server {
      listen 127.0.0.1:${port};
      location / { fleetprof on; fleetprof_sample 100%; root ${dir}; types { text/html html; text/javascript js; } }
      location /agent/ { alias ${repository}/agent/dist/; types { text/javascript js; } }
      location /v1/ { proxy_pass ${ingest}; client_max_body_size 8m; client_body_buffer_size 1m; }
    }`,
  });
  origin = stack.nginx?.url ?? '';
  browser = await launchChromium();
  const { page } = await openTab(browser);
  await page.goto(`${origin}/with/0.html?visit=0`);
  const [rows, products] = /** @type {number[]} */ (await page.evaluate('measure()'));
  work = `rows=${4000 / rows}&products=${400 / products}`;
  await page.context().close();
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Starts busy loops, each in a session of its own: the scheduler gives each as much as the whole browser. @param {number} count */
function startLoops(count) {
  const loops = Array.from({ length: count }, () => spawn(process.execPath, ['-e', 'for (;;);'], { detached: true, stdio: 'ignore' }));
  const end = () => { for (const loop of loops) loop.kill('SIGKILL'); };
  process.once('exit', end);
  return end;
}

/** Loads the page, clicks once or twice as a visitor, and leaves. @param {import('playwright-core').Page} page @param {string} url @param {number} number of the visit */
async function visit(page, url, number) {
  await page.goto(url);
  await page.waitForFunction(() => /** @type {any} */ (globalThis).fleetprof.start().status === 'profiling');
  // A visitor looks first.
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 200); }));
  for (let click = 1; click <= 1 + number % 2; click += 1) {
    await page.mouse.click(30, 35);
    await page.waitForFunction((shown) => document.querySelector('ul')?.dataset.shown === String(shown), click);
    // The event's entry comes with the frame after it.
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => { setTimeout(resolve, 20); }); }));
  }
  await page.mouse.click(20, 15);
  await page.waitForURL(`${origin}/away.html`);
}

/** Builds take turns, so that each meets the same machine. @param {number} setting */
async function makeVisits(setting) {
  const { page, complaints } = await openTab(browser);
  for (let number = 1; number <= visits; number += 1) {
    for (const { release } of builds) await visit(page, `${origin}/${release}/${setting}.html?visit=${number}&${work}`, number);
  }
  assert.deepEqual(complaints, []);
  await page.context().close();
}

/** Returns the p75 of the INP of each build, once nearly all visits are there: a starved browser loses some. @param {string} environment @returns {Promise<Record<string, number>>} */
async function measuredOf(environment) {
  const rows = await stack.sql(`select value, p75 from fleetprof.vitals_by('release', 'demo', environment => '${environment}') where name = 'INP' and count >= ${0.95 * visits}`);
  return Object.fromEntries(rows.map(({ value, p75 }) => [value, p75]));
}

/** Returns what a build's INP would be without its function. @param {string} release @param {string} environment */
async function predictionOf(release, environment) {
  await runOrThrow([path.join(binDir, 'fleetprof'), 'sourcemap', 'add', '--site', 'demo', '--release', release, '--url-prefix', `${origin}/${release}/`,
    path.join(dir, release, 'function-table.jsonl')], { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_writer') } });
  const rows = await stack.sql(`select * from fleetprof.what_if('INP', 'demo', release => '${release}', environment => '${environment}')`);
  const row = rows.find(({ name }) => name === 'sortReviews');
  assert.ok(row, `it is among ${rows.map(({ name }) => name)}`);
  return { ...row, low: row.p75_ms - row.gain_high, high: row.p75_ms - row.gain_low };
}

const written = (/** @type {number} */ ms) => ms.toFixed(0);

test('the function is in the build, and then is not', () => {
  const [there, gone] = ['with', 'without'].map((release) => fs.readFileSync(path.join(dir, release, 'function-table.jsonl'), 'utf8'));
  assert.match(there, /sortReviews/);
  assert.match(gone, /renderRows/);
  assert.doesNotMatch(gone, /sortReviews/);
});

for (const [at, { name, loops }] of settings.entries()) {
  test(`what_if predicts the INP of the build without a function: ${name}`, { timeout: 2_400_000 }, async (t) => {
    const endLoops = startLoops(loops);
    try {
      await makeVisits(at);
    } finally {
      endLoops();
    }
    await waitFor(async () => Object.keys(await measuredOf(name)).length === builds.length, { what: 'the INP of nearly each visit' });
    await waitFor(async () => (await stack.collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'all parts in SQL' });
    const measured = await measuredOf(name);
    const one = await predictionOf('with', name);
    t.diagnostic(`${name}, ${visits} visits of each build, ${one.profiled_loads} profiled, load ${os.loadavg()[0].toFixed(1)}: p75 of the INP ${written(measured.with)} ms; without the function `
      + `predicted ${written(one.p75_gone_ms)} (${written(one.low)} to ${written(one.high)}), measured ${written(measured.without)}`);
    if (isLong) t.diagnostic(`with half of it predicted ${written(one.p75_halved_ms)}, measured ${written(measured.half)}`);
    assert.ok(one.profiled_loads >= 0.8 * visits, `${one.profiled_loads} are profiled`);
    assert.ok(one.gain_ms > 0, 'there is something to gain');
    assert.ok(measured.without <= one.high, `${measured.without} is above ${one.high}`);
    // On a starved machine long handlers are interrupted more often than short ones, and more is gained than the function's time.
    if (isLong && loops === 0) assert.ok(one.gain_low > 0 && measured.without >= one.low, `${measured.without} is below ${one.low}`);
  });
}
