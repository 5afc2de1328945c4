// SPDX-License-Identifier: Apache-2.0
/** The manual's table of which browser sends what, against the browsers that are here. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { repository } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';
import { firefoxMissing, launchFirefox } from './firefox.mjs';

const entries = (/** @type {string} */ type) => `PerformanceObserver.supportedEntryTypes.includes('${type}')`;
/** True in a browser that sends the row. @type {Record<string, string>} */
const needs = {
  'INP, interactions': `${entries('event')} && 'interactionId' in PerformanceEventTiming.prototype`,
  responses: entries('interaction-contentful-paint'),
  LCP: entries('largest-contentful-paint'),
  'FCP, TTFB': `${entries('paint')} && ${entries('navigation')}`,
  CLS: entries('layout-shift'),
  'long frames': `${entries('long-animation-frame')} || ${entries('longtask')}`,
  'style and layout of long frames': "'PerformanceLongAnimationFrameTiming' in globalThis && 'styleDuration' in PerformanceLongAnimationFrameTiming.prototype",
  profiles: "'Profiler' in globalThis",
};

const [head, ...rows] = fs.readFileSync(`${repository}/docs/vitals.md`, 'utf8').split('## Which browser sends what')[1].split('###')[0]
  .split('\n').filter((line) => /^\| /.test(line)).map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));

/** @type {http.Server} */
let server;
let url = '';

before(async () => {
  server = http.createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html', 'Document-Policy': 'js-profiling' }).end('<!doctype html><link rel="icon" href="data:,">text');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`;
});

after(() => server?.close());

/**
 * Compares a column with what a browser says.
 * @param {string} browser @param {number} version @param {(script: string) => Promise<boolean>} ask
 */
async function compare(browser, version, ask) {
  const column = head.findIndex((name) => name.split(', ').includes(browser));
  assert.ok(column > 0 && version > 100, `${browser} ${version}`);
  for (const [row, ...cells] of rows) {
    const cell = cells[column - 1];
    const since = cell === 'yes' ? 0 : cell === '–' ? Infinity : Number.parseFloat(cell);
    assert.ok(needs[row] && !Number.isNaN(since), `${row}: ${cell}`);
    assert.equal(await ask(needs[row]), version >= since, `${row}, ${browser} ${version}`);
  }
}

test('Chromium sends what the table says', async () => {
  const browser = await launchChromium();
  const { page } = await openTab(browser);
  await page.goto(url);
  await compare('Chrome', Number.parseInt(browser.version()), (script) => page.evaluate(script));
  await browser.close();
});

test('Firefox sends what the table says', { skip: firefoxMissing }, async () => {
  const browser = await launchFirefox();
  try {
    await browser.open(url);
    const version = Number(/Firefox\/(\d+)/.exec(await browser.inPage('return navigator.userAgent'))?.[1]);
    await compare('Firefox', version, (script) => browser.inPage(`return ${script}`));
  } finally {
    await browser.close();
  }
});

test('no other page has versions of Firefox and Safari', () => {
  for (const name of fs.readdirSync(`${repository}/docs`).filter((each) => each.endsWith('.md') && each !== 'vitals.md'))
    assert.doesNotMatch(fs.readFileSync(`${repository}/docs/${name}`, 'utf8'), /Firefox 1[0-9]{2}|Safari [12][0-9]/, name);
});
