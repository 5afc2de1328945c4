#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures what the report's page costs a browser beside other viewers of the same tree, in processor time of Chromium's main
// thread and as a ratio to a loop that says how fast the machine is:
//
//   node tests/bench/report/run.mjs [NODES]    50000 by default
//
// Other viewers: npm install --prefix tests/bench/report --ignore-scripts
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { repository } from '../../behaviour/stack.mjs';
import { launchChromium } from '../../browser/chromium.mjs';
import { peerFiles, peerNames, peersMissing } from './peers.mjs';

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
const whole = tree();
const answerOf = (/** @type {any} */ of) => Buffer.from(JSON.stringify({ function: 'flamegraph_columns', sql: '', command: null, took_ms: 0, tree: of }));
const answer = answerOf(whole);
const none = answerOf({ ...whole, ...Object.fromEntries(['level', 'frame', 'self', 'total', 'samples'].map((name) => [name, /** @type {any} */ (whole)[name].slice(0, 1)])) });
const summary = JSON.stringify({ columns: [{ name: 'bucket', type: 'text' }, { name: 'loads', type: 'bigint' }, { name: 'uploads', type: 'bigint' }, { name: 'profiled_ms', type: 'double precision' }],
  rows: [['2026-01-01T00:00:00Z', 1000, 1000, 6e7]] });
const others = peersMissing ? new Map() : await peerFiles(whole);
const server = http.createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const [type, body] = others.get(pathname) ?? (pathname === '/assets/report.js' ? ['text/javascript', dist('report.js')] : pathname === '/assets/report.css' ? ['text/css', dist('report.css')]
    : pathname.endsWith('flamegraph_columns') ? ['application/json', request.url?.includes('site=none') ? none : answer] : pathname.endsWith('summary') ? ['application/json', summary]
      : pathname.startsWith('/api/') ? ['application/json', '{"columns":[],"rows":[]}'] : ['text/html', dist('index.html')]);
  response.writeHead(200, { 'content-type': type });
  response.end(body);
});
await new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(null)); });
const origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;

const browser = await launchChromium(['--js-flags=--expose-gc', '--enable-precise-memory-info']);
const median = (/** @type {number[]} */ values) => [...values].sort((a, b) => a - b)[values.length >> 1];

/** Does something so often, one after the other. @template T @param {number} count @param {() => Promise<T>} act */
async function inTurn(count, act) {
  const results = [];
  for (let i = 0; i < count; i += 1) results.push(await act());
  return results;
}

/** Opens a tab whose processor time can be read. */
async function newTab() {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  /** Milliseconds of the main thread so far. */
  const spent = async () => 1000 * ((await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
  /** Waits until the page has nothing to do for a while; asking also costs a little. */
  const idle = async () => {
    for (let quiet = 0, last = await spent(), left = 2000; quiet < 3 && left > 0; left -= 1) {
      await new Promise((resolve) => { setTimeout(resolve, 100); });
      const now = await spent();
      quiet = now - last < 5 ? quiet + 1 : 0;
      last = now;
    }
  };
  /** Returns what an action costs until all is drawn. @param {() => Promise<unknown>} act */
  const cost = async (act) => {
    const begin = await spent();
    await act();
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); })).catch(() => {});
    return await spent() - begin;
  };
  const heap = async () => {
    await session.send('HeapProfiler.enable');
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize, backingStorageSize } = /** @type {{ usedSize: number, backingStorageSize?: number }} */ (await session.send('Runtime.getHeapUsage'));
    return (usedSize + (backingStorageSize ?? NaN)) / 1e6; // with typed arrays
  };
  return { page, spent, idle, cost, heap };
}

const { page, idle, cost, heap } = await newTab();
await page.goto('about:blank');
const loop = median(await inTurn(3, () => cost(() => page.evaluate(() => {
  const values = new Float64Array(50_000);
  for (let round = 0; round < 100; round += 1) for (let i = 0; i < values.length; i += 1) values[i] = Math.sqrt(values[i] + i * round);
  return values[7];
}))));
const line = (/** @type {string} */ what, /** @type {number} */ ms) => console.log(`${what.padEnd(52)} ${ms.toFixed(1).padStart(8)} ms ${(ms / loop).toFixed(2).padStart(7)} loops`);

/** Opens the report on a site; returns its costs, and when its frame was painted. @param {string} site */
async function opened(site) {
  const costs = [];
  const paints = [];
  for (let round = 0; round < 5; round += 1) {
    await page.goto('about:blank');
    await idle();
    costs.push(await cost(async () => {
      await page.goto(`${origin}/${site}/flame`);
      await page.waitForSelector('main[data-ready]', { timeout: 120_000 });
    }));
    paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
  }
  return { ms: median(costs), paint: median(paints) };
}
console.log(`${nodes} nodes wanted, ${whole.level.length} made, ${(answer.length / 1e6).toFixed(1)} MB of JSON; the loop takes ${loop.toFixed(1)} ms`);
const frame = await opened('none');
const full = await opened('shop');
line('first paint of the frame (clock)', full.paint);
line('the page with an empty graph', frame.ms);
line('parse, build and draw the tree', full.ms - frame.ms);

/** @param {string} key */
const press = (key) => cost(() => page.keyboard.press(key));
await page.focus('.icicle canvas');
line('a key that does nothing', median(await inTurn(5, () => press('Shift'))));
const moves = [];
for (let round = 0; round < rounds; round += 1) moves.push(await press(['ArrowDown', 'ArrowDown', 'ArrowRight', 'Enter', 'ArrowDown', 'Backspace'][round % 6]));
line(`key to drawn, median of ${rounds}`, median(moves));
line(`key to drawn, worst of ${rounds}`, Math.max(...moves));
const sorts = [];
for (const name of ['function', 'self_ms_per_load', 'total_ms_per_load', 'share', 'function']) {
  await page.focus(`.side-table #sort-${name}`);
  sorts.push(await press('Enter'));
}
line('sort to drawn, worst of 5', Math.max(...sorts));
const transforms = [['i', 'invert'], ['r', 'collapse recursion'], ['o', 'focus'], ['x', 'hide']];
for (const [key, name] of transforms) {
  // Each time in a page that has done no transform before, as for somebody who does one.
  const costs = await inTurn(5, async () => {
    await page.goto(`${origin}/shop/flame`);
    await page.waitForSelector('main[data-ready]', { timeout: 120_000 });
    await page.focus('.icicle canvas');
    if ('ox'.includes(key)) for (let i = 0; i < 3; i += 1) await press('ArrowDown');
    await idle();
    return press(key);
  });
  line(`transform: ${name}, median of 5`, median(costs));
}
await page.goto(`${origin}/shop/flame`);
await page.waitForSelector('main[data-ready]', { timeout: 120_000 });
console.log(`heap ${(await heap()).toFixed(1)} MB`);
await page.close();

/** Clicks in rows of a graph; returns the median and the worst cost. @param {Awaited<ReturnType<typeof newTab>>} tab @param {number} top of the graph */
async function clicks(tab, top) {
  const costs = [];
  for (let i = 0; i < 7; i += 1) {
    const begin = await tab.spent();
    await tab.page.mouse.click(120 + 170 * i, top + 40 + 20 * i);
    await tab.idle();
    costs.push(await tab.spent() - begin);
  }
  return costs;
}

console.log(peersMissing ? `\n${peersMissing}` : '\nviewer: open and draw, click median / worst, heap');
for (const [name, address] of peersMissing ? [] : [['fleetprof', '/shop/flame'], ...peerNames]) {
  const tab = await newTab();
  const open = await tab.cost(async () => {
    await tab.page.goto(origin + address);
    await tab.idle();
  });
  const top = name === 'fleetprof' ? (await tab.page.locator('.icicle canvas').boundingBox())?.y ?? 0 : 120;
  const costs = await clicks(tab, top);
  console.log(`${name.padEnd(20)} ${open.toFixed(0).padStart(7)} ms ${(open / loop).toFixed(1).padStart(7)} loops  ${median(costs).toFixed(0).padStart(6)} / ${Math.max(...costs).toFixed(0)} ms  ${(await tab.heap()).toFixed(0).padStart(4)} MB`);
  if (process.env.FLEETPROF_SCREENSHOTS) await tab.page.screenshot({ path: path.join(process.env.FLEETPROF_SCREENSHOTS, `${name}.png`) });
  await tab.page.close();
}
await browser.close();
server.close();
