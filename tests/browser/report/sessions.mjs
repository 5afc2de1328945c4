// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: kept sessions as a timeline, a tree and a graph. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { complaints, keptSession, open, origin, page, picked, press, ready, screenRows, sql, text } from './page.mjs';

test('kept sessions: a list, and one as a timeline, a tree and a graph', async () => {
  await open('/kept/sessions');
  const listed = await sql("events, content_bytes from fleetprof.sessions where site = 'kept' order by received desc");
  assert.deepEqual((await screenRows()).map(({ events }) => events), listed.map(({ events }) => events));
  const [dump] = await keptSession("format = 'speed-tracer' and route = '/cart'");
  await open(`/kept/session/${dump}?show=network_resources`);
  const requests = await sql(`total_ms, bytes from fleetprof.network_resources(${dump})`);
  assert.deepEqual(picked(await screenRows(), ['total_ms', 'bytes']), picked(requests, ['total_ms', 'bytes']));
  const top = await sql(`type from fleetprof.get_events(${dump}, 1) where parent_id is null order by start_ms, id`);
  assert.deepEqual(await page.locator('[role=treeitem][aria-level="2"] .name').allInnerTexts(), top.map(({ type }) => type));
  // The canvas: arrows walk, Enter zooms, and the graph below sums what is in view.
  await page.locator('.tabs a', { hasText: 'Events' }).click();
  await ready();
  await page.locator('[role=treeitem] .name', { hasText: 'PARSE_HTML' }).click();
  await ready();
  assert.equal(await text('.details h2'), 'PARSE_HTML');
  await page.focus('#timeline');
  await press('ArrowDown');
  assert.equal(await text('.details h2'), 'EVAL_SCRIPT');
  await press('ArrowUp', 'Enter');
  const [parsed] = await sql(`start_ms, end_ms from fleetprof.get_events(${dump}, 1) where type = 'PARSE_HTML'`);
  const { searchParams } = new URL(page.url());
  assert.deepEqual([Number(searchParams.get('from')), Number(searchParams.get('to'))], [parsed.start_ms, parsed.end_ms]);
  await page.locator('.icicle canvas').nth(1).focus();
  await press('ArrowDown');
  assert.match(await text('[role=status][aria-live]'), /^PARSE_HTML · 30.0 ms in all, 10.0 ms itself · 100 %/);
  await page.click('#whole');
  await ready();
  assert.equal(new URL(page.url()).searchParams.get('from'), null);
  assert.deepEqual(complaints, []);
});

test('a kept trace shows its stacks over time, with marks and interactions', async () => {
  const [trace] = await keptSession("format = 'self-profile' and release = '2.3.0'");
  await open(`/kept/session/${trace}`);
  assert.deepEqual(await page.locator('.tabs').first().locator('a').allInnerTexts(), ['Marks and measures', 'Interactions', 'Long frames', 'Layout, garbage collection and the like', 'Stacks']);
  await page.focus('#timeline');
  await press('ArrowRight', 'ArrowRight', 'ArrowRight');
  assert.equal(await text('.details h2'), 'respond');
  await press('ArrowDown');
  assert.match(await text('.details h2'), /^pointer button\.more-reviews/);
  await page.locator('.tabs a', { hasText: 'Stacks' }).click();
  await ready();
  const { rows: [[, , , content]] } = await (await fetch(`${origin}/api/v1/session_content?session_id=${trace}`)).json();
  const { samples } = JSON.parse(content).trace;
  const attributed = samples.filter((/** @type {any} */ sample) => sample.stackId !== undefined).length * 10;
  assert.match(await page.locator('.icicle canvas').nth(1).evaluate(() => document.querySelector('h2.part')?.textContent ?? ''), /^Stacks from 0 ms to /);
  await page.locator('.icicle canvas').nth(1).focus();
  await press('ArrowDown', 'ArrowUp');
  assert.match(await text('[role=status][aria-live]'), new RegExp(`^\\(all\\) · ${attributed} ms in all`));
  assert.deepEqual(complaints, []);
});

test('a session with more events than an answer has: the rest is asked for by time', async () => {
  const [dump] = await keptSession("format = 'speed-tracer' and events > 300");
  await page.route('**/api/v1/get_events?**', async (route) => {
    const body = await (await route.fetch()).json();
    await route.fulfill({ json: { ...body, rows: body.rows.slice(0, 50), truncated: body.rows.length > 50 } });
  });
  await open(`/kept/session/${dump}?from=0&to=40`);
  assert.match(await text('main'), /the first 50 are here/);
  await page.click('text=Ask for those in view');
  await ready();
  assert.match(page.url(), /part=0\.\.40/);
  assert.doesNotMatch(await text('main'), /are here/);
  await page.click('#no-part');
  await ready();
  assert.match(await text('main'), /the first 50 are here/);
});
