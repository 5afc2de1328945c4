// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: what a reader sees at once, in colours, units and words; and what a finger does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { arrived, closeDialog, complaints, open, page, period, press, ready, renewPage, screenRows, sql, text } from './page.mjs';

test('only filters that are set have a chip; one button shows the others', async () => {
  await open('/shop/functions?since=2d&route=%2Fcart');
  const chips = () => page.locator('.filters [id^=filter-]:visible').evaluateAll((all) => all.map(({ id }) => id));
  assert.deepEqual(await chips(), ['filter-period', 'filter-route']);
  const { height = 0 } = await page.locator('.filters').boundingBox() ?? {};
  assert.ok(height < 50, `one row, not ${height} px`);
  await page.click('#more-filters');
  assert.ok((await chips()).includes('filter-device'));
  assert.equal(await page.getAttribute('#more-filters', 'aria-expanded'), 'true');
});

/** Returns hue and saturation of colours as the browser writes them. @param {string[]} colours rgb(…) */
const huesOf = (colours) => colours.map((colour) => {
  const [r, g, b] = (colour.match(/\d+/g) ?? []).map(Number);
  const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
  const at = most === r ? (g - b) / (most - least) : most === g ? 2 + (b - r) / (most - least) : 4 + (r - g) / (most - least);
  return Math.round((60 * at + 360) % 360);
});

test('the legend has the hues of the picture, and no other', async () => {
  for (const theme of ['light', 'dark']) {
    await open(`/shop/flame?since=2d&theme=${theme}`);
    const legend = huesOf(await page.locator('.legend .swatch.own, .legend .swatch.third').evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor)));
    assert.equal(legend.length, 2);
    const fills = await page.locator('.icicle canvas').first().evaluate((element) => {
      const canvas = /** @type {HTMLCanvasElement} */ (element);
      const { data } = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')).getImageData(0, 0, canvas.width, canvas.height);
      /** @type {Map<string, number>} */
      const counts = new Map();
      for (let i = 0; i < data.length; i += 4) {
        const rgb = [data[i], data[i + 1], data[i + 2]];
        if (Math.max(...rgb) - Math.min(...rgb) < 30) continue; // grey: the browser, the agent, letters
        counts.set(`rgb(${rgb})`, (counts.get(`rgb(${rgb})`) ?? 0) + 1);
      }
      return [...counts].filter(([, count]) => count > 900).map(([colour]) => colour);
    });
    const off = (/** @type {number} */ hue) => Math.min(...legend.map((each) => Math.abs(each - hue)));
    assert.ok(fills.length >= 4, `${fills}`);
    assert.deepEqual(huesOf(fills).filter((hue) => off(hue) > 3), [], theme);
  }
});

test('the graphs of a function have a legend, in the colours of the theme', async () => {
  const [{ key }] = await sql(`function_key as key from fleetprof.hotspots('shop', ${period}) where function = 'sortReviews'`);
  await open(`/shop/function/${key}?since=2d&theme=light`);
  const legend = () => page.locator('.legend li').allInnerTexts();
  assert.ok((await legend()).includes('own scripts'), `${await legend()}`);
  const own = () => page.locator('.legend .swatch.own').evaluate((each) => getComputedStyle(each).backgroundColor);
  const light = await own();
  assert.deepEqual(huesOf([light]), [52]);
  await press('d');
  assert.notEqual(await own(), light);
});

test('a change of the theme changes the legend with the picture', async () => {
  await open('/shop/flame?since=2d&theme=light');
  const own = () => page.locator('.legend .swatch.own').evaluate((each) => getComputedStyle(each).backgroundColor);
  const light = await own();
  await press('d');
  assert.notEqual(await own(), light);
});

test('a flame graph says what it does not draw, and leads to what is known of it', async () => {
  await open('/shop/flame?since=2d');
  const [{ share }] = await sql(`sum(unattributed_ms) / sum(profiled_ms) as share from fleetprof.summary('shop', ${period})`);
  const said = await text('.legend li:has(a)');
  assert.ok(said.startsWith(`not drawn: ${(100 * share).toFixed(1)} % of the profiled time is unattributed: the page was idle, or busy`), said);
  await page.click('.legend li a');
  await arrived('/shop/where?');
  assert.match(page.url(), /by=marker/);
  assert.match(await text('main table'), /\(unattributed\)/);
});

test('a graph of few rows has tall ones, and larger text', async () => {
  await open('/shop/flame?since=2d');
  await page.focus('.icicle canvas');
  await press('ArrowDown');
  const { height } = await page.locator('.icicle .mark.selected').boundingBox() ?? {};
  assert.equal(height, 24);
  const { tall, rows } = await page.locator('.icicle canvas').first().evaluate((element) => ({ tall: element.clientHeight, rows: element.clientHeight / 25 }));
  assert.ok(tall > 200 && Number.isInteger(rows), `${tall} px`);
});

test('a finger that rests opens one menu; a tap says what is there', async () => {
  await renewPage({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await open('/shop/flame?since=2d');
  const canvas = page.locator('.icicle canvas').first();
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  assert.ok(box);
  const at = { x: Math.round(box.x + 60), y: Math.round(box.y + 60) };
  const client = await page.context().newCDPSession(page);
  await client.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] });
  await page.waitForSelector('dialog.menu[open]');
  // A browser sends this for the same finger.
  await canvas.dispatchEvent('contextmenu', { clientX: at.x, clientY: at.y });
  await client.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  assert.equal(await page.locator('dialog.menu').count(), 1);
  assert.match(await text('dialog.menu'), /Zoom\s+Focus\s+Hide\s+Callers, callees, trend\s+Copy name/);
  const name = (await text('.details h2'));
  await page.tap('dialog.menu button:has-text("Focus")');
  await ready();
  assert.match(await text('.chips'), new RegExp(`focus: ${name}`));
  // A tap ends in a click. A real one may take so long on a busy machine that it is a finger that rests.
  await canvas.dispatchEvent('click', { clientX: at.x, clientY: at.y });
  await page.waitForSelector('.tip:visible');
  assert.match(await text('.tip'), /ms per page load/);
  assert.equal(await page.locator('dialog.menu').count(), 0);
  assert.deepEqual(complaints, []);
});

test('tables have milliseconds per page load, and sums in the export only', async () => {
  const [{ loads }] = await sql(`sum(loads)::int as loads from fleetprof.summary('shop', ${period})`);
  await open('/shop/where?since=2d');
  const heads = () => page.locator('main thead th').allInnerTexts();
  assert.ok((await heads()).includes('Self ms/load'), `${await heads()}`);
  const [{ ms }] = await sql(`self_ms as ms from fleetprof.cost_by('host', 'shop', ${period}) where name = 'cdn.tracker.example'`);
  const row = page.locator('main tbody tr', { hasText: 'cdn.tracker.example' });
  assert.equal(await row.locator('[data-value]').first().innerText(), (ms / loads).toFixed(0));
  const [{ key }] = await sql("function_key as key from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
  await open(`/shop/function/${key}?since=2d`);
  assert.deepEqual((await heads()).filter((head) => /\bms$|^(Self|Total) ms\b(?!\/load)/i.test(head)), []);
  assert.ok((await heads()).includes('Self ms/load of the route'));
  const [callee] = await sql(`total_ms as ms from fleetprof.callees(null, 'shop', ${period}, key => '${key}')`);
  const shown = (await screenRows())[0].total_ms;
  assert.equal(shown, callee.ms, 'the value itself stays');
  assert.equal(await page.locator('main table').last().locator('tbody tr').first().locator('[data-value]').nth(1).innerText(), (callee.ms / loads).toFixed(1));
});

test('a function leads to its neighbours by self time', async () => {
  const rows = await sql(`function, function_key as key from fleetprof.hotspots('shop', ${period}, top => 3)`);
  await open(`/shop/function/${rows[1].key}?since=2d`);
  await page.click(`main .button >> text=↑ ${rows[0].function}`);
  await arrived(`/shop/function/${rows[0].key}`);
  assert.equal(await text('h2.name'), rows[0].function);
  assert.equal(await page.locator('main .button', { hasText: '↑' }).count(), 0, 'nothing is before the first');
  await page.click(`main .button >> text=↓ ${rows[1].function}`);
  await arrived(`/shop/function/${rows[1].key}`);
  assert.equal(await page.locator('main .button', { hasText: `↓ ${rows[2].function}` }).count(), 1);
});

test('a filter on the route of a finding keeps the verdict', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0&route=%2Fproduct%2F%3Aid');
  assert.match(await text('.summary .verdict'), /^1 function is slower in 2\.3\.0 than in 2\.2\.9: sortReviews, \+[\d.]+ ms per page load/);
  assert.match((await screenRows())[0].verdict, /^▲ slower/);
  assert.match(await text('#block-vitals .verdict'), /INP p75 is slower/);
  assert.deepEqual(await page.locator('main .badge:not(.slower, .faster, .new, .gone):not([title])').allInnerTexts(), [], 'a verdict without a finding explains itself');
});

test('a small table is as wide as its columns, and the views of operators stand apart', async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await open('/shop/interactions?since=2d');
  const { width } = await page.locator('main table').first().boundingBox() ?? { width: 0 };
  assert.ok(width > 300 && width < 1300, `${width}`);
  const links = page.locator('nav[aria-label=Views] a');
  assert.deepEqual((await links.allInnerTexts()).slice(-3), ['Breakdown', 'Coverage', 'Sessions']);
  const [one, other] = [await links.nth(-3).boundingBox(), await links.nth(-2).boundingBox()];
  assert.ok(one && other && other.x - one.x - one.width > 20);
});

test('the command of a flame graph draws one', async () => {
  await open('/shop/flame?since=2d');
  await page.click('#show-command');
  assert.match(await text('dialog'), /fleetprof flame .*--site shop/);
  await closeDialog();
});
