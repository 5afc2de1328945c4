// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: the keyboard reaches everything, filters included. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { arrived, closeDialog, complaints, newPage, open, origin, page, period, picked, press, ready, sql, text } from './page.mjs';

test('every view is reached by the keyboard, and has a heading', async () => {
  await open('/shop/flame?since=2d');
  for (const [key, heading] of Object.entries({ h: 'shop Overview', n: 'shop Functions', c: 'shop Compare', t: 'shop Timings', v: 'shop Vitals', i: 'shop Interactions', w: 'shop Breakdown', o: 'shop Coverage', k: 'shop Sessions', f: 'shop Flame graph', s: 'Sites' })) {
    await press('g', key);
    assert.equal(await text('h1'), heading);
    assert.equal(await page.title(), `${heading.replace('shop ', 'shop: ')} – fleetprof`);
  }
  // Tab and Enter lead from the list of sites to a function.
  await page.focus('main a');
  await press('Enter');
  await arrived('/shop');
  assert.equal(await text('h1'), 'shop Overview');
  assert.deepEqual(complaints, []);
});

test('a key after g is not the graph’s', async () => {
  await open('/shop/flame?since=2d');
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'ArrowDown');
  for (const [key, heading] of [['c', 'shop Compare'], ['f', 'shop Flame graph']]) {
    await press('g', key);
    assert.equal(await text('h1'), heading);
  }
});

test('the keys of the flame graph', async () => {
  await open('/shop/flame?since=2d');
  const at = () => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.search)));
  const selected = () => page.locator('.details h2').innerText();
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'ArrowDown');
  assert.equal(await selected(), 'performWork');
  assert.match(await text('[role=status][aria-live]'), /^performWork · .* ms per page load in all/);
  await press('ArrowRight');
  assert.equal(await selected(), 'readState');
  await press('ArrowLeft', 'ArrowUp');
  assert.equal(await selected(), 'boot');
  await press('ArrowRight', 'Enter');
  assert.ok((await at()).root, 'zoomed in');
  assert.match(await text('.crumbs'), /\(anonymous\)/);
  await press('Backspace');
  assert.equal((await at()).root, undefined);
  await press('Home', 'ArrowDown', 'o');
  assert.match(await text('.chips'), /focus: boot/);
  await page.click('.chips button');
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'x');
  assert.match(await text('.chips'), /hidden: boot/);
  await press('ArrowDown');
  assert.equal(await selected(), 'performWork', 'it stands where its caller was');
  await page.click('.chips button');
  await press('r');
  assert.equal(await page.getAttribute('#recursion', 'aria-pressed'), 'true');
  await press('r', 'i');
  assert.equal((await at()).inverted, '1');
  await page.focus('.icicle canvas');
  await press('ArrowDown');
  assert.equal(await selected(), 'hashCanvas', 'the function with the most self time');
  await press('i', '/');
  await page.keyboard.type('fuzzy');
  assert.match(await text('.tools .found'), /^2 places, [\d.]+ % of the time/);
  await press('Enter');
  await page.focus('.icicle canvas');
  await press('n');
  assert.equal(await selected(), 'fuzzyMatch');
  const first = (await at()).sel;
  await press('n');
  assert.notEqual((await at()).sel, first);
  await press('N', 'm');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'do-zoom');
  await page.focus('.icicle canvas');
  await press('c');
  await arrived('/shop/function/');
  assert.equal(await text('h2.name'), 'fuzzyMatch');
  assert.deepEqual(complaints, []);
});

test('a box at the pointer says what is there, and a menu there what can be done', async () => {
  const at = { x: 200, y: 80 };
  for (const [address, share] of [['/shop/flame?since=2d', /of this graph/], ['/shop/compare?before=2.2.9&after=2.3.0', /→ [\d.,]+ ms per page load/]]) {
    await open(/** @type {string} */ (address));
    const graph = page.locator('.icicle canvas').first();
    await graph.scrollIntoViewIfNeeded();
    await graph.hover({ position: at });
    const tip = await text('.tip');
    const [name] = tip.split('\n');
    assert.match(tip, /** @type {RegExp} */ (share));
    const [box, canvas] = [await page.locator('.tip').boundingBox(), await graph.boundingBox()];
    assert.ok(box && canvas && Math.abs(box.x - canvas.x - at.x) < 40 && Math.abs(box.y - canvas.y - at.y) < 40, 'it is at the pointer');
    await graph.click({ button: 'right', position: at });
    assert.equal(await page.locator('.tip').isVisible(), false);
    assert.match(await text('dialog.menu'), /Callers, callees, trend/);
    await closeDialog();
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'CANVAS');
    await graph.click({ button: 'right', position: at });
    await page.click('dialog.menu button:has-text("Callers")');
    await arrived('/shop/function/');
    assert.ok(name.includes(await text('h2.name')), name);
  }
  await open('/shop/flame?since=2d');
  await page.locator('.icicle canvas').hover({ position: at });
  assert.match(await text('.tip'), /app\.|vendor\.[\s\S]*own scripts/);
  assert.deepEqual(complaints, []);
});

test('a key that only selects draws no graph again, and keeps the lines of the call tree', async () => {
  await page.addInitScript(() => {
    const { fillRect } = CanvasRenderingContext2D.prototype;
    /** @param {number} x @param {number} y @param {number} w @param {number} h */
    CanvasRenderingContext2D.prototype.fillRect = function draw(x, y, w, h) {
      document.documentElement.dataset.boxes = String(Number(document.documentElement.dataset.boxes ?? 0) + 1);
      fillRect.call(this, x, y, w, h);
    };
  });
  const boxes = () => page.evaluate(() => Number(document.documentElement.dataset.boxes));
  await open('/shop/flame?since=2d');
  await page.focus('.icicle canvas');
  await press('ArrowDown');
  assert.ok(await boxes() > 0);
  const first = await page.locator('.calltree [data-node="0"]').elementHandle();
  const before = await boxes();
  await press('ArrowDown', 'ArrowRight', 'ArrowUp');
  assert.equal(await boxes(), before);
  assert.ok(await first?.evaluate((element) => element.isConnected));
  assert.equal(await page.locator('.calltree [aria-selected="true"]').count(), 1);
  const selected = await page.locator('.icicle .mark.selected').boundingBox();
  const picture = await page.locator('.icicle canvas').boundingBox();
  assert.ok(selected && picture && selected.height === 24 && selected.width > 3);
  assert.ok(selected.x >= picture.x && selected.y > picture.y && selected.x + selected.width <= picture.x + picture.width, 'the mark lies on the graph');
  await press('d');
  assert.notEqual(await boxes(), before, 'other colours are drawn');
  assert.deepEqual(complaints, []);
});

test('keys of every view: the list, SQL, the command, dark, releases', async () => {
  await open('/shop/functions?since=2d');
  await press('?');
  assert.match(await text('dialog'), /Keys[\s\S]*callers and callees/);
  await closeDialog();
  await press('q');
  assert.match(await text('dialog'), /select \* from fleetprof\.hotspots\(.*site => 'shop'/);
  await closeDialog();
  await page.click('#show-command');
  assert.match(await text('dialog'), /fleetprof top .*--site shop/);
  await closeDialog();
  await press('d');
  assert.equal(await page.getAttribute('html', 'data-theme'), 'dark');
  await press(']');
  assert.match(page.url(), /release=2\.2\.9/);
  await press(']');
  assert.match(page.url(), /release=2\.3\.0/);
  await press('[');
  assert.match(page.url(), /release=2\.2\.9/);
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await press(']');
  assert.doesNotMatch(page.url(), /release=/, 'a comparison has two releases of its own');
  assert.deepEqual(complaints, []);
});

test('the call tree is walked by the keyboard, bound to the same selection', async () => {
  await open('/shop/flame?since=2d');
  await page.focus('[role=treeitem]');
  await press('ArrowRight', 'ArrowRight', 'ArrowDown');
  assert.equal(await page.locator('.details h2').innerText(), 'renderRoot');
  const item = page.locator('[role=treeitem][aria-selected=true]');
  assert.deepEqual([await item.getAttribute('aria-level'), await item.getAttribute('aria-posinset')], ['4', '1']);
  await press('ArrowLeft');
  assert.equal(await page.locator('.details h2').innerText(), 'performWork');
  await press('Enter');
  assert.match(page.url(), /root=[0-9a-f]{16}/);
  assert.deepEqual(complaints, []);
});

// ---- filters ----

test('a filter is chosen from values with their uploads, and taken away', async () => {
  await open('/shop/functions?since=2d');
  await page.focus('#more-filters');
  await press('Enter');
  await page.focus('#filter-route');
  await press('Enter');
  await page.waitForSelector('.value');
  const shown = await page.locator('.value').evaluateAll((buttons) => buttons.map((each) => /** @type {HTMLElement} */ (each).innerText.split('\n')));
  const values = await sql(`value, uploads from fleetprof.field_values('route', 'shop', ${period})`);
  assert.deepEqual(shown.map(([name, figures]) => [name, Number(figures.split(' ·')[0])]), picked(values, ['value', 'uploads']));
  await page.keyboard.type('cart');
  await press('ArrowDown', 'Enter');
  assert.match(page.url(), /route=%2Fcart/);
  assert.match(await text('footer'), new RegExp(`${values.find(({ value }) => value === '/cart').uploads} uploads`));
  await page.click('#remove-route');
  await ready();
  assert.doesNotMatch(page.url(), /route/);
  await page.click('#filter-period');
  await page.click('text=Last 7 days');
  await ready();
  assert.match(page.url(), /since=7d/);
  assert.deepEqual(complaints, []);
});

test('times are of this browser’s zone, or UTC on demand; a period is before, or since a release', async () => {
  const { page: local, complaints: heard } = await newPage({ timezoneId: 'Australia/Adelaide' });
  const hours = () => local.getAttribute('.strip', 'aria-label');
  await local.goto(`${origin}/shop/functions?since=2d`);
  await ready(local);
  assert.match(await hours() ?? '', /\d:30 Australia\/Adelaide,/);
  await local.click('#filter-period');
  await local.click('text=Times in UTC');
  await local.waitForSelector('.strip[aria-label*=" UTC,"]');
  await ready(local);
  assert.match(local.url(), /utc=1/);
  assert.match(await hours() ?? '', /\d:00 UTC,/);
  await local.click('#filter-period');
  await local.click('text=Times in Australia/Adelaide');
  await local.waitForSelector('.strip[aria-label*="Adelaide,"]');
  await ready(local);
  await local.click('#filter-period');
  await local.fill('input[name=since]', '2026-05-01 09:30');
  await local.press('input[name=since]', 'Enter');
  await arrived('/shop/functions?since=2026-05-01T00', local);
  await local.goto(`${origin}/shop/functions?since=2026-05-03T00:00Z&until=2026-05-04T00:00Z`);
  await ready(local);
  await local.click('#filter-period');
  await local.click('text=Previous period');
  await arrived('/shop/functions?since=2026-05-02T00', local);
  assert.match(local.url(), /until=2026-05-03T00/);
  await local.goto(`${origin}/shop/functions?since=2d`);
  await ready(local);
  await local.click('#filter-period');
  await local.click('text=Since 2.3.0');
  await arrived('/shop/functions?since=20', local);
  await ready(local);
  assert.equal(new URL(local.url()).searchParams.get('since'), new Date((await sql("rollout_began from fleetprof.releases('shop', since => now() - interval '2d') where release = '2.3.0'"))[0].rollout_began).toISOString());
  assert.deepEqual(heard, []);
  await local.context().close();
});

test('a filter panel closes when the focus leaves it', async () => {
  await open('/shop/functions?since=2d');
  await page.click('#more-filters');
  await page.focus('#filter-thread');
  await press('Enter');
  await page.waitForSelector('.value');
  for (let i = 0; i < 30 && await page.evaluate(() => document.activeElement?.closest('.popover') !== null); i++) await page.keyboard.press('Tab');
  assert.equal(await page.locator('.panel[role=dialog]').count(), 0);
  assert.equal(await page.getAttribute('#filter-thread', 'aria-expanded'), 'false');
});
