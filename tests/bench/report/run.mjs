#!/usr/bin/env node
// How fast the report's page draws and answers, in Chromium, as a ratio to a loop that says how fast the machine is:
//
//   node tests/bench/report/run.mjs [NODES]    50000 by default
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { repository } from '../../behaviour/stack.mjs';
import { launchChromium } from '../../browser/chromium.mjs';

const nodes = Number(process.argv[2] ?? 50_000);
const rounds = 30;

/** Returns a tree as flamegraph_columns gives it: 5,000 functions, deep and narrow as real ones are. */
function tree() {
  let seed = 7;
  const draw = () => { seed = (seed * 16_807) % 2_147_483_647; return seed / 2_147_483_647; };
  const places = Array.from({ length: 5000 }, (_, i) => i);
  /** @type {{ level: number[], frame: number[], self: number[], total: number[], samples: number[] }} */
  const columns = { level: [], frame: [], self: [], total: [], samples: [] };
  /** @param {number} level @param {number} room @param {number} total */
  const grow = (level, room, total) => {
    const at = columns.level.length;
    const self = Math.round(total * 0.05);
    columns.level.push(level);
    columns.frame.push(level === 0 ? -1 : Math.floor(draw() ** 2 * 5000));
    columns.self.push(self);
    columns.total.push(total);
    columns.samples.push(Math.ceil(total / 10_000));
    let left = room - 1;
    let time = total - self;
    while (left > 0 && time > 0 && level < 200) {
      const part = level < 20 ? 0.4 + draw() * 0.5 : 0.6 + draw() * 0.4;
      const share = Math.max(1, Math.floor(left * part));
      const us = Math.max(1, Math.floor(time * part));
      grow(level + 1, share, us);
      left -= share;
      time -= us;
    }
    columns.self[at] += time;
  };
  grow(0, nodes, 50_000_000_000);
  return {
    frames: {
      function: places.map((i) => `function${i}`), resource: places.map((i) => `https://${i % 5 ? 'static.shop' : 'cdn.tracker'}.example/${i % 40}.js`), line: places, column_number: places,
      kind: places.map(() => 'function'), function_key: places.map((i) => String(i)),
    }, ...columns, omitted_us: 0,
  };
}

const dist = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, 'report/dist', name));
const answer = Buffer.from(JSON.stringify({ function: 'flamegraph_columns', sql: '', command: null, took_ms: 0, tree: tree() }));
const summary = JSON.stringify({ columns: [{ name: 'bucket', type: 'text' }, { name: 'loads', type: 'bigint' }, { name: 'uploads', type: 'bigint' }, { name: 'profiled_ms', type: 'double precision' }],
  rows: [['2026-01-01T00:00:00Z', 1000, 1000, 6e7]] });
const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const [type, body] = pathname === '/assets/report.js' ? ['text/javascript', dist('report.js')] : pathname === '/assets/report.css' ? ['text/css', dist('report.css')]
    : pathname.endsWith('flamegraph_columns') ? ['application/json', answer] : pathname.endsWith('summary') ? ['application/json', summary]
      : pathname.startsWith('/api/') ? ['application/json', '{"columns":[],"rows":[]}'] : ['text/html', dist('index.html')];
  response.writeHead(200, { 'content-type': type });
  response.end(body);
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(null)); });
const origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;

const browser = await launchChromium(['--js-flags=--expose-gc', '--enable-precise-memory-info']);
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });

/** What the same machine does in a loop of its own: milliseconds. */
const calibration = () => page.evaluate(() => {
  const begin = performance.now();
  const values = new Float64Array(50_000);
  for (let round = 0; round < 40; round += 1) for (let i = 0; i < values.length; i += 1) values[i] = Math.sqrt(values[i] + i * round);
  return performance.now() - begin;
});
const median = (/** @type {number[]} */ values) => [...values].sort((a, b) => a - b)[values.length >> 1];

const opened = [];
for (let round = 0; round < 5; round += 1) {
  await page.goto('about:blank');
  await page.goto(`${origin}/shop/flame`);
  await page.waitForSelector('main[data-ready]', { timeout: 120_000 });
  // From the last byte of the tree until the view is drawn.
  opened.push(await page.evaluate(async () => {
    const entry = /** @type {PerformanceResourceTiming} */ (performance.getEntriesByType('resource').find(({ name }) => name.includes('flamegraph_columns')));
    const drawn = performance.getEntriesByName('drawn')[0]?.startTime ?? NaN;
    return drawn - entry.responseEnd;
  }));
}
const loop = median([await calibration(), await calibration(), await calibration()]);

/** Presses a key and waits for the frame in which it is drawn; returns the time in the page's handlers. @param {string} key */
const press = (key) => page.evaluate((name) => new Promise((resolve) => {
  const canvas = /** @type {HTMLElement} */ (document.querySelector('.icicle canvas'));
  const begin = performance.now();
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true }));
  const end = performance.now();
  requestAnimationFrame(() => resolve(end - begin));
}), key);
const moves = [];
for (let round = 0; round < rounds; round += 1) moves.push(await press(['ArrowDown', 'ArrowDown', 'ArrowRight', 'Enter', 'ArrowDown', 'Backspace'][round % 6]));
const transforms = [];
for (const key of ['i', 'i', 'r', 'r', 'o', 'x']) transforms.push(await press(key));
const heap = await page.evaluate(() => {
  /** @type {any} */ (globalThis).gc?.();
  return /** @type {any} */ (performance).memory.usedJSHeapSize / 1e6;
});

const line = (/** @type {string} */ what, /** @type {number} */ ms) => console.log(`${what.padEnd(44)} ${ms.toFixed(1).padStart(8)} ms ${(ms / loop).toFixed(2).padStart(7)} loops`);
console.log(`${nodes} nodes wanted, ${(answer.length / 1e6).toFixed(1)} MB of JSON; the calibration loop takes ${loop.toFixed(1)} ms`);
line('answer to drawn, median of 5', median(opened));
line(`key to drawn, median of ${rounds}`, median(moves));
line(`key to drawn, worst of ${rounds}`, Math.max(...moves));
line('transform (invert, collapse, focus, hide), worst', Math.max(...transforms));
console.log(`heap ${heap.toFixed(1)} MB`);
await browser.close();
server.close();
