// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: every view, with hostile names, rules of accessibility, narrow screens. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { hostileNames } from '../report_fleet.mjs';
import { axe, complaints, keptSession, open, origin, page, press, ready, renewPage, sql, text } from './page.mjs';

test('hostile names are text on every view, and do nothing', async () => {
  /** @type {string[]} */
  const requests = [];
  page.on('request', (request) => { if (!request.url().startsWith(origin)) requests.push(request.url()); });
  const key = (await sql(`function_key as key from fleetprof.compare_releases('hostile', null, null, before_since => now() - interval '3 days', before_until => now() - interval '2 days', since => now() - interval '2 days')
    where function like '<img%'`))[0]?.key;
  const measure = hostileNames[0];
  for (const view of ['overview?since=2d', 'flame?since=2d', 'flame?since=2d&inverted=1', 'functions?since=2d', `timing/${encodeURIComponent(measure)}?since=2d`, 'timings?since=2d', 'vitals?since=2d', 'vital/INP?since=2d&by=variant', 'interactions?since=2d',
    'long-frames?since=2d', 'where?since=2d&by=resource', 'where?since=2d&by=host', 'where?since=2d&by=release', 'compare?since=2d', 'coverage?since=2d', `flame?since=2d&q=${encodeURIComponent('<script>')}&root=%3Cscript%3E&sel=x&hide=%22%3E&focus=%3C`,
    ...key ? [`function/${key}?since=2d`] : []]) {
    await open(`/hostile/${view}`);
    assert.equal(await page.locator('main .failure, main .warning').count(), 0, `${view}: ${await text('main')}`);
    const odd = await page.evaluate(() => [...document.querySelectorAll('main script, main img, main svg, main iframe, main [onerror], main [onload], a[href^="javascript:" i], a[href^="data:" i]')].map((element) => element.outerHTML));
    assert.deepEqual(odd, [], view);
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /[\u0000-\u0008\u000b\u001b\u202a-\u202e\u2066-\u2069\u009b]/, view);
  }
  for (const id of await keptSession('true')) {
    await open(`/kept/session/${id}`);
    const count = await page.locator('.tabs a').count();
    for (let i = 0; i < count; i += 1) {
      await page.locator('.tabs a').nth(i).click();
      await ready();
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(await page.evaluate(() => document.body.innerText), /[\u0000-\u0008\u000b\u001b\u202a-\u202e\u2066-\u2069\u009b]/);
    }
    assert.equal(await page.locator('main .failure, main .warning').count(), 0, await text('main'));
    for (const item of (await page.locator('[role=treeitem]').all()).slice(0, 20)) await item.click();
    assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('main script, main img, main svg, main iframe, main [onerror], a[href^="javascript:" i], a[href^="data:" i]')].map((element) => element.outerHTML)), []);
  }
  await open('/hostile/functions?since=2d');
  const names = await page.locator('main .function > :first-child').allInnerTexts();
  for (const wanted of ['<script>alert(1)</script>', '\\u{202e}gnissim\\u{202c}', "Robert'); drop table students;--", '__proto__', '日本語']) assert.ok(names.includes(wanted), `${wanted} in ${names.length} names`);
  await page.click('#more-filters');
  for (const field of ['route', 'release', 'variant']) {
    await page.click(`#filter-${field}`);
    await page.waitForSelector('.value');
    await page.keyboard.press('Escape');
  }
  for (const address of ['/%3Cscript%3Ealert(1)%3C%2Fscript%3E/flame', '/shop/%3Cimg%20src=x%20onerror=alert(1)%3E', '/shop/function/%22%3E%3Csvg%20onload=alert(1)%3E', '/shop/timing/javascript:alert(1)', '/%E0%A4%A/flame', `/shop/flame?${'q='.padEnd(6000, 'x')}`]) await open(address);
  assert.deepEqual(requests, []);
  // The browser itself notes the answers that are errors.
  assert.deepEqual(complaints.filter((complaint) => !complaint.startsWith('Failed to load resource')), []);
});

// ---- access ----

const everyView = ['/', '/shop?since=2d', '/shop/flame?since=2d', '/shop/functions?since=2d', '/shop/compare?before=2.2.9&after=2.3.0', '/shop/timings?since=2d', '/shop/timing/respond?since=2d', '/shop/vitals?since=2d', '/shop/vital/INP?since=2d',
  '/shop/interactions?since=2d', '/shop/long-frames?since=2d', '/shop/where?since=2d', '/shop/coverage?since=2d'];

for (const [colorScheme, width] of /** @type {const} */ ([['light', 1280], ['dark', 1280], ['light', 390]])) {
  test(`axe finds nothing on any view, ${colorScheme}, ${width} px wide`, async () => {
    await page.context().close();
    // The page's own policy would refuse axe's script.
    await renewPage({ colorScheme, bypassCSP: true, reducedMotion: 'reduce', viewport: { width, height: 844 } });
    const [{ key }] = await sql("function_key as key from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
    const kept = [...await keptSession("format = 'opera-scope'"), ...await keptSession("format <> 'opera-scope'")];
    for (const address of [...everyView, `/shop/function/${key}?since=2d`, '/kept/sessions', ...kept.map((id) => `/kept/session/${id}`)]) {
      await open(address);
      if (address === '/shop/flame?since=2d') {
        await page.focus('.icicle canvas');
        await press('ArrowDown', 'ArrowDown');
        await page.click('#more-filters');
        await page.click('#filter-route');
        await page.waitForSelector('.value');
      }
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => (await /** @type {any} */ (globalThis).axe.run()).violations
        .map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? node.failureSummary}`).join(' | ')}`));
      assert.deepEqual(violations, [], address);
    }
    await press('?');
    assert.deepEqual(await page.evaluate(async () => (await /** @type {any} */ (globalThis).axe.run('dialog')).violations.map((/** @type {any} */ { id }) => id)), []);
  });
}

for (const colorScheme of /** @type {('light' | 'dark')[]} */ (process.env.FLEETPROF_NARROW ? ['light', 'dark'] : ['light'])) {
  test(`no view is wider than a telephone, ${colorScheme}`, async () => {
    await page.context().close();
    await renewPage({ colorScheme, viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true });
    const [{ key }] = await sql("function_key as key from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
    const kept = [...await keptSession("format = 'opera-scope'"), ...await keptSession("format <> 'opera-scope'")];
    const pictures = process.env.FLEETPROF_NARROW;
    for (const [i, address] of [...everyView, `/shop/function/${key}?since=2d`, '/shop/flame?since=nonsense', '/hostile/functions?since=2d', '/hostile/compare?since=2d', '/kept/sessions', ...kept.map((id) => `/kept/session/${id}`)].entries()) {
      await open(address);
      if (pictures) await page.screenshot({ path: path.join(pictures, `${colorScheme}-${i}${address.replace(/[^a-z]+/g, '-')}.png`), fullPage: true });
      assert.deepEqual(await outOfSight(), [], address);
      assert.deepEqual(await page.locator('a, button, summary, input, select').evaluateAll((all) => all
        .filter((each) => each.checkVisibility() && !each.matches('.skip') && each.getBoundingClientRect().height < 24).map(({ outerHTML }) => outerHTML.slice(0, 120))), [], `targets of ${address}`);
    }
    await open('/shop/flame?since=2d');
    await page.click('#more-filters');
    for (const menu of ['#filter-route', '#filter-period', '#export', '#keys']) {
      await page.click(menu);
      await page.waitForSelector('.panel:visible, dialog[open]');
      if (pictures) await page.screenshot({ path: path.join(pictures, `${colorScheme}-open-${menu.slice(1)}.png`) });
      assert.deepEqual(await outOfSight(), [], menu);
      await page.keyboard.press('Escape');
    }
  });
}

test('a narrow screen keeps names whole and leaves out what matters least; a wide one has all', async () => {
  for (const [width, isWide] of /** @type {const} */ ([[390, false], [1024, false], [1440, true]])) {
    await page.setViewportSize({ width, height: 800 });
    for (const address of ['/shop/compare?before=2.2.9&after=2.3.0', '/shop/functions?since=2d']) {
      await open(address);
      await page.waitForSelector('main tbody .function a');
      assert.deepEqual(await page.locator('main tbody .function > a:first-child, #block-vitals tbody a').evaluateAll((all) => all.filter((each) => each.getClientRects()[0].height > 40).map(({ textContent }) => textContent)), [], `${address} at ${width}`);
      assert.equal(await page.isVisible('#sort-uploads, #sort-before_uploads'), isWide, `${address} at ${width}`);
    }
  }
  await page.setViewportSize({ width: 390, height: 800 });
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  const edge = await page.locator('main > section:last-of-type td:nth-child(3)').first().evaluate((cell) => cell.getBoundingClientRect().right);
  assert.ok(edge < 380, `the first number ends at ${edge}`);
  await open('/shop/functions?since=2d');
  await page.setViewportSize({ width: 1440, height: 2000 });
  await page.waitForSelector('tbody .badge');
  assert.deepEqual((await page.locator('tbody tr:has(.badge)').allInnerTexts()).filter((row) => /\ttoo few/.test(row)), [], 'what has no self time is not too few');
  await open('/hostile/flame?since=2d');
  const heights = await page.locator('.side-table .function > *').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().height));
  assert.ok(heights.length > 10 && Math.max(...heights) < 50, String(heights));
  assert.deepEqual(complaints, []);
});

/** Returns the elements that reach out of the window, and are not in a box that scrolls. */
const outOfSight = () => page.evaluate(() => {
  const wide = document.documentElement.clientWidth;
  const scrolls = (/** @type {Element | null} */ element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const found = [...document.body.querySelectorAll('*')].filter((element) => {
    const { left, right, width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && (right > wide + 1 || left < -1) && !scrolls(element.parentElement) && !element.matches('.skip, .unseen, .unseen *');
  }).map((element) => `${element.tagName} ${element.id || element.className} ${Math.round(element.getBoundingClientRect().left)}–${Math.round(element.getBoundingClientRect().right)}`);
  return document.documentElement.scrollWidth > wide ? [`the page is ${document.documentElement.scrollWidth} wide`, ...found.slice(0, 8)] : found.slice(0, 8);
});

// ---- trouble ----
