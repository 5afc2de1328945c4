// SPDX-License-Identifier: Apache-2.0
/** The overview of the report says what is wrong, each part by itself, and leads on to the page which shows it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { arrived, complaints, open, origin, page, period, ready, sql, text } from './page.mjs';

/** Follows the first link of this text. @param {string | RegExp} name @param {string} begin where it leads */
async function follow(name, begin) {
  await page.getByRole('main').getByRole('link', { name, exact: typeof name === 'string' }).first().click();
  await arrived(begin);
}

test('the overview has the numbers of SQL', async () => {
  await open('/shop?since=2d');
  const [verdict] = await sql("* from fleetprof.compare_releases('shop', '2.2.9', '2.3.0') where verdict = 'slower'");
  assert.match(await text('.finding .verdict'), /^▲ 2\.3\.0 made 1 function slower, since \d{4}-\d\d-\d\d \d\d:00 UTC/);
  assert.match(await text('.finding'), new RegExp(`slower \\+${Math.round(100 * verdict.own_change)} %\\s+sortReviews\\s`));
  const [inp] = await sql(`p75 from fleetprof.vitals('shop', ${period}) where name = 'INP'`);
  assert.ok((await text('[aria-label=INP]')).includes(`${Math.round(inp.p75)} ms`));
  const [{ self_ms_per_load: most }] = await sql(`self_ms_per_load from fleetprof.hotspots('shop', ${period}, top => 1)`);
  assert.ok((await text('.bars li >> nth=0')).includes(`${most.toFixed(1)} ms`));
  assert.deepEqual(complaints, []);
});

test('five questions are answered at most two clicks from the overview, by links only', async () => {
  const start = () => open('/shop');
  await start();
  assert.match(await text('.bars >> nth=0'), /sortReviews/, 'what is slow');
  assert.match(await text('.finding'), /2\.3\.0 made 1 function slower, since /, 'since when, and whether the release did it');
  assert.match(await text('.bars li:has-text("hashCanvas")'), /third party/, 'whether it is third-party');
  await follow('INP p75', '/shop/vital/INP');
  assert.match(await text('main'), /75th percentile/, 'since when a visitor feels it');
  await start();
  await follow('sortReviews', '/shop/function/');
  assert.match(await text('main'), /Reviews/, 'who calls it');
  await start();
  await follow('cdn.tracker.example', '/shop/where?q=cdn.tracker.example');
  assert.match(await text('main table'), /third/, 'third party');
  await start();
  await follow('Compare', '/shop/compare?');
  assert.match(await text('.verdict'), /sortReviews/, 'the release did it');
});

test('every link of the overview leads to a view that shows something', async () => {
  await open('/shop?since=2d');
  const links = await page.locator('main a:not([target])').evaluateAll((all) => all.map((link) => /** @type {HTMLAnchorElement} */ (link).href));
  assert.ok(links.length >= 20, `${links.length} links`);
  for (const href of new Set(links)) {
    await page.goto(href);
    await ready();
    assert.equal(await page.locator('main .failure, main .warning').count(), 0, `${href}: ${await text('main')}`);
    assert.ok(await page.locator('main canvas, main tbody tr').count() > 0, `${href}: ${await text('main')}`);
  }
  assert.deepEqual(complaints, []);
});

test('sites come worst first, and one site needs no list', async () => {
  await open('/');
  assert.match(await text('main tbody tr >> nth=0'), /^shop\s+▲ slower \+\d+ % sortReviews\s+2,\d{3} ms\s+\d{3} ms\s+0\.\d+\s+\d+/);
  await follow('shop', '/shop');
  assert.match(await text('.finding'), /sortReviews/);
  await page.route('**/api/v1/sites', async (route) => {
    const body = await (await route.fetch()).json();
    await route.fulfill({ json: { ...body, rows: body.rows.filter((/** @type {any[]} */ row) => row.includes('shop')) } });
  });
  await open('/');
  await arrived('/shop');
  assert.equal(await text('h1'), 'shop Overview');
});

test('a slow question holds up no other part, and one that fails says so in its place', async () => {
  /** @type {(() => void) | undefined} */
  let answer;
  const wait = new Promise((resolve) => { answer = () => resolve(null); });
  await page.route('**/api/v1/hotspots?**', async (route) => { await wait; await route.continue(); });
  let fails = true;
  await page.route('**/api/v1/third_parties?**', (route) => (fails
    ? route.fulfill({ status: 503, contentType: 'application/problem+json', json: { title: 'The query took too long', detail: 'Ask for less.' } }) : route.continue()));
  await page.goto(`${origin}/shop?since=2d`);
  await page.waitForSelector('[aria-label=INP] strong');
  assert.match(await text('section:has(> h2 > a:text-is("What costs most"))'), /Asking/);
  const third = page.locator('section:has(> h2 > a:text-is("Third parties"))');
  await third.locator('[role=alert]').waitFor();
  assert.match(await third.innerText(), /The query took too long\. Ask for less\./);
  fails = false;
  await third.getByRole('button', { name: 'Try again' }).click();
  await third.getByRole('link', { name: 'cdn.tracker.example' }).waitFor();
  answer?.();
  await ready();
  assert.match(await text('.bars >> nth=0'), /sortReviews/);
});

test('a period without data leads to the newest', async () => {
  await open('/shop?since=30d&until=20d');
  assert.match(await text('main .empty'), /^Nothing in this period/);
  await page.click('main .empty a');
  await page.waitForSelector('.finding .verdict');
  await ready();
  assert.match(await text('[aria-label=INP]'), /ms/);
});
