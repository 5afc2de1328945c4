// SPDX-License-Identifier: Apache-2.0
/**
 * Measures what a browser's profiler sees: runs each kind of code of the table in docs/numbers.md in real Chromium, and
 * compares the share of samples that have its stack with what the table says.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { repository } from '../behaviour/stack.mjs';
import { launchChromium } from './chromium.mjs';

/** Least and largest share of samples with a stack, by the table's word. @type {Record<string, [number, number]>} */
const ranges = { nearly: [0.7, 1], partly: [0, 0.9], hardly: [0, 0.3], never: [0, 0.02] };
const attempts = 4;

/** The work of one call, some milliseconds; `use` keeps the compiler from leaving it out. */
const kinds = `
  globalThis.kinds = {
    'a loop': () => { let sum = 0; for (let i = 0; i < 3e5; i++) sum = (sum * 31 + i) % 1000003; return sum; },
    'forEach with a callback': () => { let sum = 0; numbers.forEach((n) => { for (let i = 0; i < 40; i++) sum = (sum * 31 + n) % 1000003; }); return sum; },
    'map with a heavy callback': () => numbers.slice(0, 300).map((n) => { let sum = n; for (let i = 0; i < 2000; i++) sum = (sum * 31 + i) % 1000003; return sum; }),
    'map with a light callback': () => { let last; for (let i = 0; i < 20; i++) last = numbers.map((n) => n + 1); return last; },
    'sort with a heavy comparator': () => objects.slice(0, 300).sort((a, b) => { let sum = 0; for (let i = 0; i < 300; i++) sum = (sum + a.price * i) % 1003; return a.price - b.price + 0 * sum; }),
    'sort with a light comparator': () => objects.slice().sort((a, b) => a.price - b.price),
    'sort of numbers': () => Float64Array.from(numbers).sort(),
    'JSON': () => JSON.parse(JSON.stringify(objects)),
    'many small objects': () => { const all = []; for (let i = 0; i < 1e5; i++) all.push({ i, next: all[i - 1] }); return all; },
    'building strings': () => { let text = ''; for (let i = 0; i < 2e4; i++) text += 'item ' + i + ';'; return text.indexOf('never'); },
    // It runs by itself: a caller of the page's own would be seen.
    'a script of another origin without CORS': null,
  };
  globalThis.numbers = Array.from({ length: 20000 }, (_, i) => (i * 7919) % 20011);
  globalThis.objects = numbers.map((price) => ({ price, name: 'n' + price }));
  globalThis.profiled = async (act, ms) => {
    for (let i = 0; i < 3; i++) act?.();
    const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 100000 });
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    const start = performance.now();
    if (act) while (performance.now() < start + ms) globalThis.used = act();
    else await new Promise((resolve) => { globalThis.runForeign = { ms, resolve }; });
    const end = performance.now();
    await new Promise((resolve) => { setTimeout(resolve, 50); });
    const trace = await profiler.stop();
    const namesOf = ({ stackId }) => {
      const names = [];
      for (let id = stackId; id !== undefined; id = trace.stacks[id].parentId) names.push(trace.frames[trace.stacks[id].frameId].name);
      return names;
    };
    return trace.samples.filter(({ timestamp }) => timestamp > start && timestamp < end).map(namesOf);
  };
  const busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
  function step(n) { return (n * 31 + 7) % 1000003; }
  globalThis.inlining = function outer() { let n = 1; for (let i = 0; i < 3e5; i++) n = step(n); return n; };
  globalThis.calling = function visibleCaller() { foreignWork(5); };
  globalThis.times = { first: 0, all: 0 };
  function firstPart(ms) { const start = performance.now(); busy(ms); times.first += performance.now() - start; }
  function otherPart(ms) { busy(ms); }
  globalThis.recurring = (periodMs) => {
    const start = performance.now();
    firstPart(periodMs * 0.3);
    otherPart(periodMs - (performance.now() - start));
    times.all += performance.now() - start;
  };`;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {http.Server} */
let server;
let origin = '';

before(async () => {
  server = http.createServer((request, response) => {
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    if (request.url === '/foreign.js') {
      response.setHeader('Content-Type', 'text/javascript');
      response.end(`setInterval(function foreign() {
        if (!globalThis.runForeign) return;
        const { ms, resolve } = globalThis.runForeign;
        globalThis.runForeign = undefined;
        for (const end = performance.now() + ms; performance.now() < end;);
        resolve();
      }, 5);
      function foreignWork(ms) { for (const end = performance.now() + ms; performance.now() < end;); }`);
      return;
    }
    response.setHeader('Content-Type', 'text/html');
    response.setHeader('Document-Policy', 'js-profiling');
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    response.end(`<!doctype html><link rel="icon" href="data:,"><script src="http://localhost:${port}/foreign.js"></script><script>${kinds}</script>`);
  }).listen(0);
  await once(server, 'listening');
  origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`;
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  server?.close();
});

/** Rows of the manual's table: kind of code, and how much of it samples see. */
const rows = [...fs.readFileSync(path.join(repository, 'docs/numbers.md'), 'utf8')
  .matchAll(/^\| ([^|]+?) \| (nearly all|partly|hardly|never) \|/gm)].map(([, kind, seen]) => ({ kind, seen: seen.split(' ')[0] }));

async function openPage() {
  const page = await browser.newPage();
  await page.goto(origin);
  assert.equal(await page.evaluate('crossOriginIsolated'), true);
  return page;
}

test('each kind of code is seen as the manual says', { timeout: 300_000 }, async (t) => {
  const page = await openPage();
  assert.deepEqual(rows.map(({ kind }) => kind).sort(), (await page.evaluate('Object.keys(kinds)')).sort(), 'the table has each kind once');
  const wrong = [];
  for (const { kind, seen } of rows) {
    const [least, most] = ranges[seen];
    let share = NaN;
    // A busy machine takes samples away: it tries again.
    for (let attempt = 0; attempt < attempts && !(share >= least && share <= most); attempt += 1) {
      share = await page.evaluate(async (name) => {
        const { profiled, kinds: all } = /** @type {any} */ (globalThis);
        const samples = await profiled(all[name], 1500);
        return samples.filter((/** @type {string[]} */ { length }) => length > 0).length / samples.length;
      }, kind);
    }
    t.diagnostic(`${kind}: ${Math.round(100 * share)} % of samples have a stack`);
    if (!(share >= least && share <= most)) wrong.push(`${kind}: ${share}, not ${seen}`);
  }
  assert.deepEqual(wrong, []);
  await page.close();
});

test('a function that is inlined has its own name, and its caller the total', { timeout: 60_000 }, async () => {
  const page = await openPage();
  const stacks = (await page.evaluate('profiled(inlining, 1500)')).filter((/** @type {string[]} */ { length }) => length > 0);
  const outer = stacks.filter((/** @type {string[]} */ names) => names.includes('outer')).length / stacks.length;
  const inner = stacks.filter((/** @type {string[]} */ [leaf]) => leaf === 'step').length / stacks.length;
  assert.ok(outer > 0.9, `the caller is on ${outer} of the stacks`);
  assert.ok(inner > 0.05, `the inlined function is the innermost frame of ${inner}`);
  await page.close();
});

test('code that is never seen counts for the visible function that calls it', { timeout: 60_000 }, async () => {
  const page = await openPage();
  const stacks = /** @type {string[][]} */ (await page.evaluate('profiled(calling, 1500)'));
  assert.ok(stacks.every((names) => !names.includes('foreignWork')));
  const ofCaller = stacks.filter(([leaf]) => leaf === 'visibleCaller');
  assert.ok(ofCaller.length > 0.7 * stacks.length, `${ofCaller.length} of ${stacks.length} samples`);
  await page.close();
});

test('work that recurs in step with the sampler is not counted wrong', { timeout: 120_000 }, async (t) => {
  const page = await openPage();
  for (const periodMs of [5, 10, 20]) {
    let seen = NaN;
    let real = NaN;
    // A long pause of a busy machine has one sample: it tries again.
    for (let attempt = 0; attempt < attempts && !(Math.abs(seen - real) < 0.15); attempt += 1) {
      await page.evaluate('Object.assign(times, { first: 0, all: 0 })');
      const stacks = await page.evaluate(`profiled(() => recurring(${periodMs}), 3000)`);
      const { first, all } = await page.evaluate('times');
      const inside = stacks.filter((/** @type {string[]} */ names) => names.includes('firstPart') || names.includes('otherPart'));
      seen = inside.filter((/** @type {string[]} */ names) => names.includes('firstPart')).length / inside.length;
      real = first / all;
    }
    t.diagnostic(`period ${periodMs} ms: ${Math.round(100 * seen)} % seen, ${Math.round(100 * real)} % real`);
    assert.ok(Math.abs(seen - real) < 0.15, `period ${periodMs}: ${seen} for ${real}`);
  }
  await page.close();
});
