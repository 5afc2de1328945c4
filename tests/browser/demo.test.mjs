// SPDX-License-Identifier: Apache-2.0
/**
 * The demo page in real Chromium: it shows the result of its page load, and fleetprof's numbers beside its own.
 * end_to_end.test.mjs compares those numbers with the page's clock.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { repository } from '../behaviour/stack.mjs';
import { startSite } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;

const files = {
  'page.js': 'text/javascript', 'work.js': 'text/javascript', 'numbers.js': 'text/javascript',
  'vendor/mustache.js': 'text/javascript', 'style.css': 'text/css', 'numbers.json': 'application/json', 'recorded.json': 'application/json',
};

before(async () => {
  browser = await launchChromium();
  site = await startSite();
});

after(async () => {
  await browser?.close();
  site?.close();
});

beforeEach(() => {
  site.reset();
  const read = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, 'demo', name), 'utf8');
  site.pages['/'] = read('index.html');
  for (const [name, type] of Object.entries(files)) site.files[`/${name}`] = () => ({ type, body: read(name) });
});

/**
 * Serves numbers that include each page load, as `./quickstart` does.
 * @param {number} [earlier] page loads of before
 */
function serveNumbers(earlier = 0) {
  const body = () => {
    const row = (/** @type {string} */ name, /** @type {number} */ ms, file = 'work.js') => ({
      function: name, resource: `${site.origin}/${file}`, line: 1, self_ms_per_load: ms, total_ms_per_load: ms,
    });
    const loads = new Set(site.uploads.map(({ envelope }) => envelope.load)); // of which each may have several uploads
    const hotspots = [
      row('countPrimes', 801.4), row('fibonacci', 499.6), row('(anonymous)', 250), row('(anonymous)', 51),
      row('(anonymous)', 77, 'page.js'), row('renderTables', 180), row('thrashLayout', 1000),
    ];
    return JSON.stringify({ at: Date.now() / 1000, site: 'demo', report: 'http://report.example/', loads: earlier + loads.size, hotspots });
  };
  site.files['/numbers.json'] = () => ({ type: 'application/json', body: body() });
}

/**
 * Loads the demo until its status says this.
 * @param {RegExp} words
 * @param {string} [init] script that runs before all others
 */
async function demoSays(words, init) {
  const { page, complaints } = await openTab(browser);
  if (init) await page.addInitScript(init);
  await page.goto(`${site.origin}/`);
  const status = page.locator('#status').filter({ hasText: words });
  await status.waitFor({ timeout: 30_000 }).catch(async (error) => {
    assert.match(await page.locator('#status').innerText(), words, String(error));
  });
  assert.deepEqual(complaints, []);
  const times = await page.locator('td.times').evaluateAll((cells) => (
    cells.map((cell) => [...cell.children].map((time) => time.textContent))));
  const said = await page.locator('#status').innerText();
  const link = page.getByRole('link', { name: 'See it as a flame graph' });
  const flame = await link.isVisible() ? await link.getAttribute('href') : null;
  await page.context().close();
  return { times, said, flame };
}

const own = /^\d+ ms$/;

test("shows fleetprof's numbers beside its own once its upload is counted", async () => {
  serveNumbers(2);
  const { times, said, flame } = await demoSays(/page load 3 of this demo/);
  assert.match(said, /^Done\. The agent says: sent \(\d+\.\d KB, 204\)\. The collector has counted it: /);
  assert.deepEqual(times.map(([, counted]) => counted), ['801 ms', '500 ms', '301 ms', '180 ms', '1000 ms']);
  for (const [time] of times) assert.match(time ?? '', own);
  assert.equal(flame, 'http://report.example/demo/flame?release=demo-1');
});

test('sends to the database whoever has no numbers', async () => {
  const { times, flame } = await demoSays(/does not show fleetprof’s numbers: ask the database/);
  assert.equal(flame, null);
  assert.deepEqual(times.map(([, counted]) => counted), Array(5).fill(''));
});

for (const [what, type, body] of [['no JSON', 'text/html', '<h1>shop</h1>'], ['a missing file', 'application/json', '']]) {
  test(`takes ${what} for no numbers`, async () => {
    site.files['/numbers.json'] = () => ({ type, body });
    await demoSays(/does not show fleetprof’s numbers/);
  });
}

test('says that the load was not picked', async () => {
  serveNumbers();
  site.sampled = false;
  const { times } = await demoSays(/^Done\. The agent says: the server did not pick this page load\. There is nothing to compare/);
  for (const [time, counted] of times) {
    assert.match(time ?? '', own);
    assert.equal(counted, '');
  }
  assert.deepEqual(site.uploads, []);
});

test('shows a recorded run where the browser cannot profile', async () => {
  const { times } = await demoSays(/^Done\. The agent says: this browser has no Profiler\. So fleetprof’s bars are of a run that was recorded in Chromium \d+\.$/, 'delete globalThis.Profiler');
  for (const [own, counted] of times) {
    const [wanted, recorded] = [own, counted].map((text) => Number.parseInt(text ?? '', 10));
    assert.ok(recorded > 0 && wanted > 0, `${own} ${counted}`);
  }
});

test('says that this browser cannot profile where no run was recorded', async () => {
  delete site.files['/recorded.json'];
  await demoSays(/no Profiler\. There is nothing to compare/, 'delete globalThis.Profiler');
});

test('says why the numbers cannot be asked', async () => {
  const trouble = () => ({ type: 'application/json', body: '{"trouble": "the database cannot be asked"}' });
  site.files['/numbers.json'] = trouble;
  await demoSays(/\. Whether it was counted is not known: the database cannot be asked\.$/);
  serveNumbers();
  const numbers = site.files['/numbers.json'];
  site.files['/numbers.json'] = () => (site.uploads.length > 0 ? trouble() : numbers());
  await demoSays(/\. Whether it was counted is not known: the database cannot be asked\.$/);
});

test('says that its upload was refused', async () => {
  serveNumbers();
  site.replies = [{ status: 200, body: 'not a collector' }];
  await demoSays(/not accepted after 1 of 6 attempts: 200, but a collector answers 204\. There is nothing/);
});
