// SPDX-License-Identifier: Apache-2.0
/** From an aggregate to one page load: the report's views lead to the timeline of the kept page load that is most like the others. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';

import { chrome, random, visit } from '../../demo/shop.mjs';
import { binDir, freePort, startProcess, startStack, waitFor } from '../behaviour/stack.mjs';
import { launchChromium } from './chromium.mjs';

/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {import('../behaviour/stack.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('playwright-core').Page} */
let page;
/** @type {string} */
let origin;
/** @type {string[]} */
let complaints;

before(async () => {
  stack = await startStack({ config: { sites: [
    { name: 'shop', key: 'pk_shop', routes: ['/product/:id', '/cart', '/search'], sample_keep: '100%' }, { name: 'few', key: 'pk_few' },
  ] } });
  const draw = random(31);
  const routes = [...Array(12).fill(0), ...Array(4).fill(1), ...Array(3).fill(2)];
  for (const site of ['shop', 'few']) {
    for (const route of routes) {
      const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_${site}`, { method: 'POST', headers: { 'user-agent': chrome },
        body: JSON.stringify({ load: crypto.randomUUID(), ...visit({ release: '2.3.0', route, draw }) }) });
      assert.equal(reply.status, 204, await reply.text());
    }
  }
  await waitFor(async () => (await stack.sql('select from fleetprof.upload_log')).length === 2 * routes.length, { what: 'all uploads in SQL' });
  const port = await freePort();
  server = startProcess('fleetprof serve', [path.join(binDir, 'fleetprof'), 'serve', '--listen', `127.0.0.1:${port}`, '-d', stack.postgres.conninfo('fleetprof_reader')]);
  origin = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${origin}/`)).ok, { what: 'fleetprof serve' });
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await stack?.stop();
});

beforeEach(async () => {
  await page?.close();
  page = await browser.newPage();
  complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) complaints.push(message.text()); });
});

/** Waits until the view is drawn whose address begins so. @param {string} begin */
const arrived = (begin) => page.waitForSelector(`main[data-ready^="${begin}"]:not(:has([aria-busy]))`, { timeout: 60_000 });

/** @param {string} address */
async function open(address) {
  await page.goto(`${origin}${address}`);
  await arrived(address.split('?')[0]);
}

/** @param {string} parameters */
const typical = async (parameters) => (await stack.sql(`select *, session_id::text as session from fleetprof.typical_load(${parameters})`))[0];

/**
 * Reads the line of a typical page load and follows it to a timeline; returns the trace that this shows.
 * @param {any} row @param {string} group
 */
async function follow(row, group) {
  assert.equal(await page.locator('p.typical').innerText(),
    `A typical page load: ${row.alike.toFixed(2)} alike, of ${row.loads} page loads ${group} (${row.kept_loads} kept) → open`);
  await page.locator('p.typical a').click();
  await arrived(`/shop/session/${row.session}`);
  assert.match(await page.locator('main').innerText(), /\nStacks\n/);
  assert.equal(await page.locator('#timeline').count(), 1);
  assert.deepEqual(complaints, []);
  const { columns, rows: [content] } = await (await fetch(`${origin}/api/v1/session_content?session_id=${row.session}`)).json();
  return content[columns.findIndex((/** @type {any} */ { name }) => name === 'content')];
}

test('from the list of functions to the timeline of a page load that runs one', async () => {
  const [{ key, uploads }] = await stack.sql("select function_key as key, uploads::integer from fleetprof.hotspots('shop', top => null) where function = 'sortReviews'");
  const row = await typical(`'shop', key => '${key}'`);
  assert.deepEqual([row.loads, row.kept_loads, uploads], [12, 12, 12]);
  await open('/shop/functions');
  await page.locator('tbody a', { hasText: /^sortReviews$/ }).first().click();
  await arrived('/shop/function/');
  assert.match(await follow(row, 'that run it'), /sortReviews/);
});

test('from a vital and from an interaction to a page load where it was poor', async () => {
  await open('/shop/vital/INP');
  const row = await typical("'shop', measure_name => '(INP) poor'");
  assert.ok(row.loads > 0 && row.loads < 19 && row.reason === null, `${row.loads} are poor: ${row.reason}`);
  await follow(row, 'where it was poor');

  await open('/shop/interactions');
  await follow(await typical("'shop', measure_name => '(interaction)'"), 'with interactions');
  await open('/shop/interactions');
  await page.locator('tbody a', { hasText: 'button.more-reviews' }).first().click();
  await arrived('/shop/timing/');
  const clicked = await typical("'shop', measure_name => '(interaction) pointer button.more-reviews'");
  assert.equal(clicked.loads, 12);
  assert.match(await follow(clicked, 'with it'), /sortReviews/);
});

test('a site that keeps nothing says so', async () => {
  await open('/few/vital/INP');
  assert.match(await page.locator('p.typical').innerText(), /^A typical page load: none is kept, of \d+ page loads where it was poor$/);
  assert.equal(await page.locator('p.typical a').count(), 0);
  await open('/few/long-frames');
  assert.match(await page.locator('p.typical').innerText(), /^A typical page load: none is kept, of \d+ page loads with long frames$/);
  assert.deepEqual(complaints, []);
});
