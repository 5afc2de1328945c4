// SPDX-License-Identifier: Apache-2.0
/** The overview of the report says what is wrong, each part by itself, and leads on to the page which shows it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { waitFor } from '../../behaviour/stack.mjs';
import { arrived, complaints, newPage, open, origin, page, period, ready, sql, text } from './page.mjs';

/** Returns a part of the overview. @param {string} title */
const part = (title) => `section:has(> h2 > a:text-is("${title}"))`;

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
  assert.ok((await text(`${part('What costs most')} li >> nth=0`)).includes(`${most.toFixed(1)} ms`));
  assert.deepEqual(complaints, []);
});

test('six questions are answered at most two clicks from the overview, by links from / only', async () => {
  const start = async () => {
    await open('/');
    await follow('shop', '/shop');
  };
  await start();
  assert.match(await text(part('What costs most')), /sortReviews/, 'what is slow');
  assert.match(await text('.finding'), /2\.3\.0 made 1 function slower, since /, 'since when, and whether the release did it');
  assert.match(await text(`${part('What costs most')} li:has-text("hashCanvas")`), /third party/, 'whether it is third-party');
  assert.match(await text(part('What to fix first')), /sortReviews\s+\/product\/:id\s+INP \d+ → \d+ ms/, 'what to fix');
  await follow('INP p75', '/shop/vital/INP');
  assert.match(await text('main'), /75th percentile/, 'since when a visitor feels it');
  await start();
  await follow('sortReviews', '/shop/function/');
  assert.match(await text('.facts'), /Whose\s+own scripts · static\.shop\.example/, 'whose the slow function is');
  assert.match(page.url(), /\/shop\/function\/sortReviews~-?\d+/);
  assert.match(await text('.facts'), /Called by\s+Reviews/, 'who calls it');
  assert.match(await text('.facts'), /slower in 2\.3\.0: .* since 2\.2\.9/, 'what the release did to it');
  await follow('Reviews', '/shop/function/');
  assert.match(await text('.facts'), /Called by\s+beginWork/, 'who calls its caller');
  await start();
  await follow('hashCanvas', '/shop/function/');
  assert.match(await text('.facts'), /third parties · cdn\.tracker\.example/, 'whose the function of another is');
  await start();
  await follow('cdn.tracker.example', '/shop/functions?host=cdn.tracker.example');
  assert.match(await text('main table'), /hashCanvas/, 'what the third party runs');
  await start();
  await follow('Compare', '/shop/compare?');
  assert.match(await text('.summary .verdict'), /sortReviews/, 'the release did it');
  assert.match(await text('#block-vitals .verdict'), /INP p75 is slower/, 'and visitors felt it');
  await start();
  await page.getByRole('main').getByRole('link', { name: /^INP \d+ → \d+ ms$/ }).first().click();
  await arrived('/shop/vital/INP');
  assert.match(await text('main'), /Breakdown/, 'for whom to fix it');
  assert.deepEqual(complaints, []);
});

test('what to fix first has the numbers of SQL, and says why there is nothing', async () => {
  await open('/shop?since=2d');
  const gains = (await sql(`name, vital, p75_ms, p75_ms - gain_ms as left_ms from fleetprof.fix_first('shop', ${period}, top => 10) where kind <> 'host' or party <> 'first'`)).slice(0, 5);
  assert.equal(gains.length, 5);
  const written = (/** @type {number} */ ms) => (ms < 100 ? '' : Math.round(ms).toLocaleString('en'));
  assert.deepEqual(await page.locator(`${part('What to fix first')} li`).evaluateAll((all) => all.map((row) => [row.querySelector('.function, a')?.textContent, row.querySelector('.amount')?.textContent])),
    gains.map(({ name, vital, p75_ms: now, left_ms: left }) => [name, `${vital} ${written(now)} → ${written(left)} ms`]));
  const all = await sql(`name from fleetprof.fix_first('shop', ${period}, top => null) where kind <> 'host' or party <> 'first'`);
  assert.ok(all.length > 5, `${all.length}`);
  await page.click('h2 a:has-text("What to fix first")');
  await arrived('/shop?since=2d&top=');
  assert.deepEqual(await page.locator(`${part('What to fix first')} li .name > :is(.function, a)`).allInnerTexts(), all.map(({ name }) => name), 'the heading leads to all');
  assert.equal(await page.locator('a:has-text("The whole list")').count(), 0);
  const [{ least }] = await sql('fleetprof_data.least_profiled_loads() as least');
  await open('/shop?since=2d&route=%2Fcart&device=mobile');
  assert.match(await text(part('What to fix first')), new RegExp(`\\d+ page loads of these filters are profiled\\. What INP and LCP would gain is known from ${least} on\\.`));
  await open('/bundled?since=10d');
  assert.match(await text(part('What to fix first')), /No page load of these filters sends INP or LCP\. They come from pages with the agent’s vitals build\./);
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
  assert.match(await text('main tbody tr >> nth=0'), /^shop\s+▲ slower 2\.3\.0 made 1 function slower, since \d{4}-\d\d-\d\d \d\d:00 UTC\s+2,\d{3} ms\s+\d{3} ms\s+0\.\d+\s+\d+/);
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

test('all sites are judged; those for which time or the database does not suffice are counted, and a button goes on', async () => {
  await page.route('**/api/v1/sites', async (route) => {
    const body = await (await route.fetch()).json();
    const at = body.columns.findIndex((/** @type {{ name: string }} */ { name }) => name === 'site');
    const [shop] = body.rows.filter((/** @type {any[]} */ row) => row[at] === 'shop');
    await route.fulfill({ json: { ...body, rows: Array.from({ length: 40 }, (_, number) => shop.map((/** @type {any} */ cell, /** @type {number} */ i) => (i === at ? `shop${number}` : cell))) } });
  });
  await page.addInitScript(() => { // the clock stands, except for the hour below
    const begin = Date.now();
    Date.now = () => begin;
  });
  let [fails, late, asked] = [true, Infinity, 0];
  /** @type {Promise<void> | undefined} */ let later;
  /** The answer about shop, which each of them gets. @type {string | undefined} */
  let answer;
  await page.route('**/api/v1/overview_of_sites?**', async (route) => {
    asked++;
    if (asked === late) later = page.evaluate(() => { const begin = Date.now() + 3_600_000; Date.now = () => begin; });
    await later;
    const url = new URL(route.request().url());
    const isLast = url.searchParams.get('of_site') === 'shop39';
    url.searchParams.set('of_site', 'shop');
    answer ??= await (await route.fetch({ url: url.href })).text();
    await route.fulfill(fails && isLast ? { status: 503, contentType: 'application/problem+json', json: { title: 'The query took too long' } } : { contentType: 'application/json', body: answer });
  });
  const note = () => text('main p.note');
  const judged = () => page.locator('main td a.rated[href*="LCP"]').count();
  await open('/');
  assert.match(await note(), /^1 of 40 sites are not judged\./);
  assert.equal(await judged(), 39);
  fails = false;
  await page.getByRole('button', { name: 'Judge them' }).click();
  await waitFor(async () => await judged() === 40, { what: 'the last site' });
  assert.equal(await note(), '');

  [late, asked] = [11, 0];
  await open('/');
  const left = 40 - await judged();
  assert.ok(left === 28 || left === 29, `${left} are left`);
  assert.match(await note(), new RegExp(`^${left} of 40 sites are not judged\\.`));
  assert.deepEqual(complaints.splice(0).filter((line) => !/503/.test(line)), []);
});

test('the sentence on budgets leads to their table, and each of them to what it limits', async () => {
  await open('/stepped?since=7d');
  await page.click('.needs a:has-text("budget exceeded")');
  await arrived('/stepped/vitals?since=7d');
  const rows = await sql("name, round(value::numeric)::int as value, verdict, count::int from fleetprof.budgets('stepped', since => now() - interval '7d')");
  assert.deepEqual(rows.map(({ verdict }) => verdict), ['over', 'within']);
  const table = page.locator('[aria-label=Budgets] tbody tr');
  assert.deepEqual((await table.allInnerTexts()).map((line) => line.split(/\s*\t\s*/)), rows.map(({ name, value, verdict, count }, i) => [name, `${value} ms`, ['100 ms', '10,000 ms'][i], verdict, String(count)]));
  await page.click('[aria-label=Budgets] a:has-text("INP")');
  await arrived('/stepped/vital/INP?since=7d');
  assert.deepEqual(complaints, []);
});

test('sentences have the clock of all times, and columns begin at one height', async () => {
  const { page: local } = await newPage({ timezoneId: 'Asia/Kolkata' });
  await local.goto(`${origin}/shop?since=2d`);
  await ready(local);
  assert.match(await local.innerText('.finding .verdict'), /since \d{4}-\d\d-\d\d \d\d:30 Asia\/(Kolkata|Calcutta)\s/);
  assert.match(await local.innerText('.needs'), /Newest data: \d{4}-\d\d-\d\d \d\d:30 Asia\/(Kolkata|Calcutta)$/m);
  const tops = await local.locator('.columns > section, .columns > div').evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().top)));
  assert.deepEqual([tops.length, new Set(tops).size], [3, 1], String(tops));
  await local.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await local.locator('.needs li').evaluateAll((all) => all.filter((each) => {
    const [sign, link] = [...each.children].map((child) => child.getBoundingClientRect().top);
    return Math.abs(sign - link) > 8;
  }).length), 0, 'a sign stands beside its sentence');
  await local.context().close();
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
  assert.match(await text(part('What costs most')), /Asking/);
  const third = page.locator(part('Third parties'));
  await third.locator('[role=alert]').waitFor();
  assert.match(await third.innerText(), /The query took too long\. Ask for less\./);
  fails = false;
  await third.getByRole('button', { name: 'Try again' }).click();
  await third.getByRole('link', { name: 'cdn.tracker.example' }).waitFor();
  answer?.();
  await ready();
  assert.match(await text(part('What costs most')), /sortReviews/);
});

test('a third party without a function that was seen has no time, and scripts have that of the budget', async () => {
  await page.route('**/api/v1/third_parties?**', async (route) => {
    const body = await (await route.fetch()).json();
    const at = (/** @type {string} */ name) => body.columns.findIndex((/** @type {{ name: string }} */ column) => column.name === name);
    const hidden = body.columns.map(() => null);
    hidden[at('host')] = 'hidden.example';
    hidden[at('party')] = 'third';
    await route.fulfill({ json: { ...body, rows: [...body.rows, hidden] } });
  });
  await open('/shop?since=2d');
  assert.match(await text(`${part('Third parties')} li:has-text("hidden.example")`), /hidden\.example\s+no function seen$/);
  assert.match(await text(`${part('Third parties')} li:has-text("cdn.tracker.example")`), /[1-9][\d.]* ms$/);
  const [{ ms }] = await sql(`sum(script_ms) / sum(loads) as ms from fleetprof.summary('shop', ${period})`);
  assert.ok((await text('[aria-label=Scripts] strong')).startsWith(`${ms >= 99.95 ? Math.round(ms).toLocaleString('en-GB') : ms.toFixed(1)} ms`));
  await page.unrouteAll();
});

test('a period without data leads to the newest', async () => {
  await open('/shop?since=30d&until=20d');
  assert.match(await text('main .empty'), /^Nothing in this period/);
  await page.click('main .empty a');
  await page.waitForSelector('.finding .verdict');
  await ready();
  assert.match(await text('[aria-label=INP]'), /ms/);
});
