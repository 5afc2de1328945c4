// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: periods, times and titles, and addresses that restore what was seen. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';

import { temporaryDir, waitFor } from '../../behaviour/stack.mjs';
import { hostileNames } from '../report_fleet.mjs';
import { arrived, complaints, exported, newPage, open, origin, page, period, press, ready, screenRows, sql, text } from './page.mjs';

test('few uploads are called an anecdote', async () => {
  await open('/hostile/flame?since=2d');
  assert.match(await text('.anecdote'), new RegExp(`Only ${hostileNames.length} uploads match`));
  await open('/shop/flame?since=2d');
  assert.equal(await page.isVisible('.anecdote'), false);
});

test('a day whose hours are gone is not an hour with the page loads of a day', async () => {
  await page.route('**/api/v1/summary?**', async (route) => {
    const body = await (await route.fetch()).json();
    const place = (/** @type {string} */ name) => body.columns.findIndex((/** @type {any} */ column) => column.name === name);
    const day = [...body.rows[0]];
    day[place('bucket')] = `${new Date(Date.parse(day[place('bucket')]) - 20 * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;
    day[place('loads')] = 240;
    day[place('hours')] = 24;
    await route.fulfill({ json: { ...body, rows: [day, ...body.rows] } });
  });
  await open('/shop/functions?since=30d');
  const [{ loads, most }] = await sql(`sum(loads) as loads, max(loads) as most from fleetprof.summary('shop', ${period})`);
  const label = await page.getAttribute('.strip', 'aria-label') ?? '';
  assert.ok(label.includes(`: ${(loads + 240).toLocaleString('en-US')} from `) && label.includes(`at most ${most} in an hour`), label);
  const { x, y, width } = await page.locator('.strip canvas').boundingBox() ?? assert.fail();
  for (const hour of [1, 23]) {
    // The day lies at the left end of 20 days and more.
    await page.mouse.move(x + 50 + ((width - 58) * hour) / (21 * 24), y + 40);
    assert.match(await page.getAttribute('.strip canvas', 'title') ?? '', /^\S+ UTC: 240 page loads in the day$/);
  }
});

test('dragging over the strip chooses a period', async () => {
  await open('/shop/flame?since=2d');
  const box = await page.locator('.strip canvas').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 25, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/since=2\d{3}-.*until=2/);
  await ready();
  const { searchParams } = new URL(page.url());
  const hours = (Date.parse(searchParams.get('until') ?? '') - Date.parse(searchParams.get('since') ?? '')) / 3_600_000;
  assert.ok(hours >= 4 && hours <= 12, `${hours} hours`);
});

test('packages are folded, by the choice and by the key', async () => {
  await open('/bundled/flame?since=3d');
  const graph = async () => (await page.locator('.tree-box').innerText()).replace(/\s+/g, ' ');
  const places = () => page.locator('.side-table tbody tr').evaluateAll((rows) => rows.map((row) => row.querySelector('a')?.textContent));
  assert.deepEqual((await places()).sort(), ['Gallery', 'beginWork', 'commitRoot', 'render', 'start']);
  await page.selectOption('#fold', 'package');
  await ready();
  assert.deepEqual((await places()).sort(), ['(react-dom)', 'Gallery', 'start']);
  assert.match(await page.locator('.legend').innerText(), /packages and ignored code/);
  assert.equal(new URL(page.url()).searchParams.get('fold'), 'package');
  const whole = await graph();
  await page.selectOption('#fold', 'caller');
  await ready();
  assert.deepEqual((await places()).sort(), ['Gallery', 'start']);
  await page.focus('.icicle canvas');
  await press('p', 'p');
  assert.equal(new URL(page.url()).searchParams.get('fold'), 'package');
  assert.equal(await graph(), whole);
  assert.equal(await page.inputValue('#fold'), 'package');
  const { page: saved } = await newPage();
  const file = path.join(temporaryDir('report'), 'report.html');
  fs.writeFileSync(file, await exported('#export-file'));
  await saved.goto(pathToFileURL(file).href);
  await ready(saved);
  assert.equal(await saved.inputValue('#fold'), 'package');
  assert.ok(await saved.isDisabled('#fold'), 'a saved file has one answer');
  await saved.focus('.icicle canvas');
  await saved.keyboard.press('p');
  await ready(saved);
  assert.equal((await saved.locator('.tree-box').innerText()).replace(/\s+/g, ' '), whole);
  await saved.keyboard.press('g');
  await saved.keyboard.press('n');
  await ready(saved);
  await saved.keyboard.press('g');
  await saved.keyboard.press('f');
  await ready(saved);
  assert.equal((await saved.locator('.tree-box').innerText()).replace(/\s+/g, ' '), whole, 'after another view');
  await saved.context().close();
});

// ---- addresses ----

/** Returns what is visible, pictures included. */
const seen = () => page.evaluate(() => JSON.stringify([document.title, /** @type {HTMLElement} */ (document.querySelector('main')).innerText, document.querySelector('.filters')?.textContent,
  [...document.querySelectorAll('main .icicle canvas')].map((canvas) => /** @type {HTMLCanvasElement} */ (canvas).toDataURL()),
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('main .icicle .mark'))].map(({ hidden, style }) => !hidden && style.cssText)]));

test('Back, a reload and a copied link show what was seen', async () => {
  let seed = 4;
  const draw = (/** @type {number} */ most) => { seed = (seed * 16_807) % 2_147_483_647; return seed % most; };
  const steps = [
    () => press('g', 'n'), () => press('g', 'f'), () => press('g', 'c'), () => press('g', 't'), () => press('g', 'w'),
    async () => {
      if (await page.locator('.icicle canvas').count() === 0) return;
      await page.locator('.icicle canvas').first().focus();
      await press('ArrowDown', 'ArrowDown');
      walked.pop(); // a selection takes the place of the one before
      await note();
      await page.locator('.icicle canvas').first().focus();
      await press('Enter');
    },
    async () => { if (await page.locator('#inverted').count() > 0) await press('i'); },
    async () => { if (await page.locator('#sort-samples').count() > 0) { await page.locator('#sort-samples').first().click(); await ready(); } },
    async () => { if (await page.locator('main tbody a[href*="/function/"]').count() > 0) { await page.locator('main tbody a[href*="/function/"]').first().click(); await ready(); } },
    () => press(']'),
  ];
  await open('/shop/flame?since=2d');
  /** @type {{ url: string, sight: string }[]} */
  const walked = [];
  const note = async () => {
    await page.evaluate(() => { /** @type {HTMLElement | null} */ (document.activeElement)?.blur(); });
    await page.mouse.move(2, 2);
    const url = page.url();
    if (walked[walked.length - 1]?.url === url) walked.pop();
    walked.push({ url, sight: await seen() });
  };
  await note();
  for (let i = 0; i < 14; i += 1) {
    await steps[draw(steps.length)]();
    await note();
  }
  assert.ok(walked.length >= 7, `${walked.length} states`);
  await page.reload();
  await ready();
  assert.equal(await seen(), walked[walked.length - 1].sight, 'after a reload');
  const visits = await page.evaluate(() => history.length);
  for (let back = 2; back <= walked.length; back += 1) {
    const { url, sight } = walked[walked.length - back];
    await page.goBack();
    await waitFor(async () => page.url() === url && await seen() === sight, { what: `what was seen at ${url}` });
  }
  assert.ok(visits > 0);
  const { page: other } = await newPage();
  const { url, sight } = walked[Math.floor(walked.length / 2)];
  await page.goto(url);
  await ready();
  assert.equal(await seen(), sight, 'in a new tab');
  await other.context().close();
  assert.deepEqual(complaints, []);
});

test('an axis of time says that it is UTC, as the period does', async () => {
  /** Counts colours left of the times below a chart. @param {string} chart @param {number} [place] */
  const besideTimes = (chart, place = 0) => page.locator(`${chart} canvas`).nth(place).evaluate((element) => {
    const canvas = /** @type {HTMLCanvasElement} */ (element);
    return new Set(new Uint32Array(/** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(0, canvas.height - 11, 48, 11).data.buffer)).size;
  });
  await open('/shop/vital/INP?since=2d');
  assert.ok(await besideTimes('.strip') > 1, 'the strip');
  assert.ok(await besideTimes('.trend', 1) > 1, 'the trend');
  assert.equal(await besideTimes('.trend'), 1, 'a histogram has no times');
  await page.click('#filter-period');
  assert.match(await text('.panel .note'), /UTC/);
});

test('times without an offset in an address are UTC in every time zone, and shown in it', async () => {
  const [{ hour, shown }] = await sql(`to_char(now() at time zone 'UTC' - interval '10h', 'YYYY-MM-DD HH24:00') as hour,
    to_char(now() at time zone 'America/New_York' - interval '10h', 'YYYY-MM-DD HH24:00') as shown`);
  const other = await newPage({ timezoneId: 'America/New_York', permissions: ['clipboard-read', 'clipboard-write'] });
  await other.page.goto(`${origin}/shop/functions?since=${hour.replace(' ', 'T')}`);
  await ready(other.page);
  assert.equal(await other.page.locator('#filter-period').innerText(), `${shown} – now`);
  await other.page.keyboard.press('l');
  await waitFor(async () => (await other.page.evaluate(() => navigator.clipboard.readText())).includes(`since=${encodeURIComponent(hour.replace(' ', 'T'))}%3A00.000Z`), { what: 'the copied time' });
  await other.page.context().close();
});

test('hours of a trend, its axis and times that are typed are of one clock', async () => {
  const { page: local, complaints: heard } = await newPage({ timezoneId: 'Asia/Kolkata' });
  await local.goto(`${origin}/shop/vital/INP?since=2d`);
  await ready(local);
  const hours = await local.locator('section:has(> [aria-label^="75th"]) tbody th').evaluateAll((all) => all.map(({ textContent }) => textContent ?? ''));
  assert.ok(hours.length > 24);
  assert.deepEqual(hours.filter((hour) => !/^\d{4}-\d\d-\d\d \d\d:30$/.test(hour)), []);
  assert.match(await local.getAttribute('main .trend[aria-label^="75th"]', 'aria-label') ?? '', /from .* \d\d:30 Asia\/(Kolkata|Calcutta) to .* \d\d:30 Asia\/(Kolkata|Calcutta)\./);
  await local.goto(`${origin}/shop/compare?before=2.2.9&after=2.3.0&since=2d`);
  await ready(local);
  await local.click('summary:has-text("Other sides")');
  await local.fill('#choose-before_since', '2026-05-01 05:30');
  await local.fill('#choose-before_until', '3d');
  await local.press('#choose-before_until', 'Enter');
  await arrived('/shop/compare?since=2d', local);
  await local.waitForURL(/before_since=2026-05-01T00%3A00%3A00.000Z&before_until=3d/);
  assert.deepEqual([await local.inputValue('#choose-before_since'), await local.inputValue('#choose-before_until')], ['2026-05-01 05:30', '3d']);
  await local.goto(`${origin}/shop/functions?since=2026-05-01T00:00&until=2026-05-02T00:00Z`);
  await ready(local);
  await local.click('#filter-period');
  assert.deepEqual([await local.inputValue('[name=since]'), await local.inputValue('[name=until]')], ['2026-05-01 05:30', '2026-05-02 05:30']);
  await local.press('[name=until]', 'Enter');
  await local.waitForURL(/since=2026-05-01T00%3A00%3A00.000Z&until=2026-05-02T00%3A00%3A00.000Z/);
  assert.deepEqual(heard, []);
  await local.context().close();
});

test('a copied link has absolute times', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await open('/shop/functions?since=2d&theme=dark&sort=-samples');
  await press('l');
  assert.equal(await page.locator('.told').innerText(), 'Copied.');
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(copied, /\/shop\/functions\?since=2\d{3}-\d\d-\d\dT[^&]*&until=2[^&]*&sort=-samples$/);
  const rows = await screenRows();
  await page.goto(copied);
  await ready();
  assert.deepEqual(await screenRows(), rows);
});

test('a place that is not there any more is called so, for who looks and who listens', async () => {
  await open('/shop/flame?since=2d&root=0123456789abcdef');
  assert.equal(await text('.crumbs'), 'The place that this address zooms to is not in this selection.');
  assert.match(await text('[aria-live]'), /is not in this selection/);
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'Enter');
  assert.match(await text('.crumbs'), /^\(all\)\s+boot$/);
});

test('a title says what the view is of', async () => {
  const [{ key }] = await sql(`function_key as key from fleetprof.hotspots('shop', ${period}) where function = 'sortReviews'`);
  for (const [address, title] of [['/', 'Sites – fleetprof'], ['/shop/functions?since=2d', 'shop: Functions – fleetprof'], [`/shop/function/${key}?since=2d`, 'shop: Function sortReviews – fleetprof'],
    ['/shop/vital/INP?since=2d', 'shop: Vital INP – fleetprof'], ['/shop/timing/respond?since=2d', 'shop: Timing respond – fleetprof'], ['/-/flame?since=2d', 'all sites: Flame graph – fleetprof']]) {
    await open(address);
    assert.equal(await page.title(), title);
  }
});

// ---- export ----
