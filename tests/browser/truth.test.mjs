// SPDX-License-Identifier: Apache-2.0
/**
 * Truth: 25 functions of 0.5 to 500 ms, each timed by the page's own clock, against what `hotspots` says of them: at rest,
 * throttled, and on starved devices, where busy loops beside the browser get as much of the processors as all of it.
 *
 * Without FLEETPROF_LONG, only the most starved setting and the one at rest run.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { repository, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';

const long = process.env.FLEETPROF_LONG === '1';
const lengthsMs = [0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 400, 500];
/** Reported ÷ true: of all functions together, and of each one that takes longer than this. */
const [leastOfAll, mostOfAll, leastOfEach, mostOfEach, eachFromMs] = [0.9, 1.1, 0.8, 1.2, 50];
/**
 * The least time of a function. One gap between samples on a starved device is as long as 250 ms and may go to a
 * neighbour: a function that is judged alone needs many times that.
 */
const leastMs = (/** @type {number} */ ms) => ms > eachFromMs ? 4000 : 500;

/** @type {{ name: string, throttling?: number, loops?: number, isShort?: boolean }[]} */
const settings = [
  { name: 'at rest', isShort: true }, { name: 'throttled 4x', throttling: 4 }, { name: 'throttled 8x', throttling: 8 },
  { name: 'beside 8 busy loops', loops: 8 }, { name: 'beside 16 busy loops', loops: 16, isShort: true },
];

const functions = lengthsMs.map((ms, at) => `function work${at}() { const start = performance.now(); while (performance.now() < start + ${ms}); truth[${at}] += performance.now() - start; }`);
const script = `
  const truth = Array(${lengthsMs.length}).fill(0);
  ${functions.join('\n  ')}
  const calls = [${lengthsMs.map((ms, at) => `...Array(${Math.ceil(leastMs(ms) / ms)}).fill(work${at})`).join(', ')}];
  // In an order that is random, but the same each time.
  let seed = 1;
  for (let i = calls.length - 1; i > 0; i--) { seed = (seed * 48271) % 2147483647; const j = seed % (i + 1); [calls[i], calls[j]] = [calls[j], calls[i]]; }
  (async () => {
    for (let i = 0; i < calls.length;) {
      const end = performance.now() + 250;
      do calls[i++](); while (i < calls.length && performance.now() < end);
      await new Promise((resolve) => { setTimeout(resolve); });
    }
    await fleetprof.start().stop();
    globalThis.done = truth;
  })();`;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
let origin = '';

before(async () => {
  const dir = temporaryDir('truth');
  fs.chmodSync(dir, 0o755);
  for (const [at, { name }] of settings.entries()) {
    fs.writeFileSync(path.join(dir, `${at}.html`), `<!doctype html><link rel="icon" href="data:,">
      <script src="/agent/fleetprof.js" data-endpoint="/v1/ingest/pk_demo" data-environment="${name}" data-max-duration="600000" data-max-buffer-size="60000"></script>
      <script src="work.js"></script>`);
  }
  fs.writeFileSync(path.join(dir, 'work.js'), script);
  stack = await startStack({
    nginx: ({ port, ingest }) => `server {
      listen 127.0.0.1:${port};
      location / { fleetprof on; fleetprof_sample 100%; root ${dir}; types { text/html html; text/javascript js; }
        add_header Cross-Origin-Opener-Policy same-origin; add_header Cross-Origin-Embedder-Policy require-corp; }
      location /agent/ { alias ${repository}/agent/dist/; types { text/javascript js; } }
      location /v1/ingest/ { proxy_pass ${ingest}; client_max_body_size 8m; }
    }`,
  });
  origin = stack.nginx?.url ?? '';
  browser = await launchChromium();
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

/** @param {typeof settings[number]} setting @param {number} at */
async function measure({ name, throttling, loops = 0 }, at) {
  const { page } = await openTab(browser);
  const session = await page.context().newCDPSession(page);
  if (throttling) await session.send('Emulation.setCPUThrottlingRate', { rate: throttling });
  const endLoops = startLoops(loops);
  try {
    await page.goto(`${origin}/${at}.html`);
    await waitFor(() => page.evaluate('globalThis.done'), { timeoutMs: 300_000, what: 'end of the work', intervalMs: 2000 });
  } finally {
    endLoops();
  }
  const truth = /** @type {number[]} */ (await page.evaluate('globalThis.done'));
  await page.close();
  const filters = `'demo', environment => '${name}'`;
  await waitFor(async () => (await stack.collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'all parts in SQL' });
  const rows = await stack.sql(`select function, total_ms from fleetprof.hotspots(${filters}, top => null) where function ~ '^work[0-9]+$'`);
  const [{ seen }] = await stack.sql(`select max(seen_share) as seen from fleetprof.hotspots(${filters}, top => null)`);
  const reported = new Map(rows.map(({ function: name, total_ms: ms }) => [name, ms]));
  return { truth, reported: truth.map((_, index) => reported.get(`work${index}`) ?? 0), seen };
}

for (const [at, setting] of settings.entries()) {
  test(`reported ÷ true, ${setting.name}`, { skip: !long && !setting.isShort, timeout: 600_000 }, async (t) => {
    const { truth, reported, seen } = await measure(setting, at);
    const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
    const share = sum(reported) / sum(truth);
    for (const [index, ms] of lengthsMs.entries()) {
      t.diagnostic(`${String(ms).padStart(5)} ms: ${(100 * reported[index] / truth[index]).toFixed(0)} % of ${truth[index].toFixed(0)} ms`);
    }
    t.diagnostic(`${setting.name}: ${(100 * share).toFixed(0)} % of ${(sum(truth) / 1000).toFixed(1)} s in all, ${(100 * seen).toFixed(0)} % of the time was seen; load ${os.loadavg()[0].toFixed(1)}`);
    assert.ok(share >= leastOfAll && share <= mostOfAll, `${share} in all`);
    const odd = lengthsMs.map((ms, index) => ({ ms, share: reported[index] / truth[index] }))
      .filter(({ ms, share: own }) => ms > eachFromMs && !(own >= leastOfEach && own <= mostOfEach));
    assert.deepEqual(odd, []);
  });
}
