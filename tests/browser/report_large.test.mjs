// SPDX-License-Identifier: Apache-2.0
/**
 * The web report on what takes long: 200,000 places, figures beside other viewers', and every view in Firefox. Only CI runs it.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

import { bigUpload } from '../behaviour/big_trace.mjs';
import { startReport } from '../behaviour/serve_tool.mjs';
import { binDir, runOrThrow, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium } from './chromium.mjs';
import { firefoxMissing, launchFirefox } from './firefox.mjs';
import { startFleet } from './report_fleet.mjs';

/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {import('../behaviour/serve_tool.mjs').Report} */
let report;

before(async () => {
  stack = await startFleet({ perHour: 4, sessions: true });
  report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
});

after(async () => {
  await report?.server.stop();
  await stack?.stop();
});

/** @param {string} select what follows it */
const sql = (select) => stack.sql(`select ${select}`, 'fleetprof_reader');

test('200,000 places and 10,000 functions: what is not shown is named, and zooming in asks for it', async () => {
  const given = bigUpload({ release: '1', nodes: 210_000, functions: 14_000, seed: 3, samples: 1 });
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_quiet`, { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: new Uint8Array(gzipSync(JSON.stringify(given), { level: 1 })) });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await sql("sum(uploads) as uploads from fleetprof.sites() where site = 'quiet'"))[0].uploads === 1, { what: 'the upload', timeoutMs: 120_000 });
  const { tree } = await report.json('/api/v1/flamegraph_columns?site=quiet&max_nodes=200000');
  assert.equal(tree.level.length, 200_000);
  assert.ok(tree.omitted_us > 0);
  assert.equal((await report.json('/api/v1/hotspots?site=quiet&top=10000')).rows.length, 10_000);
  const browser = await launchChromium();
  const page = await browser.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) complaints.push(message.text()); });
  const text = (/** @type {string} */ selector) => page.locator(selector).innerText();
  const ready = (more = '[data-ready]') => page.waitForSelector(`main${more}`, { timeout: 120_000 });
  await page.goto(`${report.url}/quiet/functions`);
  await ready();
  assert.equal(await page.locator('main tbody tr').count(), 500);
  assert.match(await text('main'), /These are the 500 functions with the most self time\./);
  await page.goto(`${report.url}/quiet/flame`);
  await ready();
  assert.match(await text('.legend'), /left out [\d.]+ %: too small for a graph of 50,000 places; a filter shows more, or a graph of 200,000/);
  await page.focus('.icicle canvas');
  await page.keyboard.press('ArrowDown');
  await ready();
  await page.keyboard.press('Enter');
  await ready('[data-ready*="nodes=most"]');
  assert.match(await text('.legend'), /too small for a graph of 200,000 places; a filter shows more$/);
  assert.notEqual(new URL(page.url()).searchParams.get('root'), null);
  assert.ok(await page.evaluate(() => document.activeElement?.matches('.icicle canvas')), 'the keyboard stays where it was');
  const shown = await text('.crumbs');
  await page.goBack();
  await ready('[data-ready]:not([data-ready*="nodes=most"])');
  await page.goForward();
  await ready('[data-ready*="nodes=most"]');
  assert.equal(await text('.crumbs'), shown);
  assert.deepEqual(complaints, []);
  await browser.close();
});

test('Firefox shows every view without a complaint, and a saved report from disk', { skip: firefoxMissing }, async () => {
  const [{ key }] = await sql("function_key as key from fleetprof.hotspots('shop', since => now() - interval '2d', top => 1)");
  const kept = await sql("session_id::text as id from fleetprof.sessions where site = 'kept' order by received");
  const firefox = await launchFirefox();
  const ready = () => waitFor(() => firefox.inPage("return document.querySelector('main[data-ready]') !== null"), { what: 'view' });
  try {
    for (const address of ['/', '/shop?since=2d', '/shop/flame?since=2d', `/shop/flame?since=2d&inverted=1&focus=${key}`, '/shop/functions?since=2d', `/shop/function/${key}?since=2d`, '/shop/compare?before=2.2.9&after=2.3.0', '/shop/timings?since=2d',
      '/shop/timing/respond?since=2d', '/shop/vitals?since=2d', '/shop/vital/INP?since=2d', '/shop/interactions?since=2d', '/shop/long-frames?since=2d', '/shop/where?since=2d', '/shop/coverage?since=2d', '/hostile/functions?since=2d',
      '/hostile/flame?since=2d', '/shop/flame?since=2d&theme=dark', '/kept/sessions', ...kept.map(({ id }) => `/kept/session/${id}`)]) {
      await firefox.open(report.url + address);
      await ready();
      assert.equal(await firefox.inPage("return document.querySelector('main .failure')?.textContent ?? ''"), '', address);
      assert.notEqual(await firefox.inPage("return document.querySelector('h1').textContent"), '', address);
      const canvases = await firefox.inPage(`return [...document.querySelectorAll('.icicle canvas')].map((canvas) => new Set(new Uint32Array(
        canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size)`);
      for (const colours of canvases) assert.ok(colours > 2, `${address}: a graph of ${colours} colours`);
      if (process.env.FLEETPROF_SCREENSHOTS) await firefox.picture(path.join(process.env.FLEETPROF_SCREENSHOTS, `firefox${address.replace(/[^a-z]+/g, '-')}.png`));
      assert.deepEqual(await firefox.complaints(report.url), [], address);
    }
    const file = path.join(temporaryDir('report'), 'report.html');
    await runOrThrow([path.join(binDir, 'fleetprof'), 'report', '--site', 'shop', '-d', stack.postgres.conninfo('fleetprof_reader'), '-o', file, '--compare', '2.2.9', '2.3.0']);
    await firefox.open(pathToFileURL(file).href);
    await ready();
    assert.match(await firefox.inPage("return document.querySelector('main').innerText"), /2\.3\.0 against 2\.2\.9/);
    assert.equal(await firefox.inPage("return document.querySelectorAll('.icicle canvas').length"), 1);
    assert.deepEqual(await firefox.complaints('file:'), []);
    // The test hears what the page must not do.
    await firefox.inPage("console.warn('a warning'); const image = document.createElement('img'); image.src = 'https://example.invalid/'; document.body.append(image)");
    /** @type {string[]} */
    const heard = [];
    await waitFor(async () => heard.push(...await firefox.complaints('file:')) >= 1 && heard.some((each) => each.includes('img-src')), { what: 'the complaint' });
  } finally {
    await firefox.close();
  }
});
