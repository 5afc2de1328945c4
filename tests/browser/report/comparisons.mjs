// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: comparisons begin with a sentence, and say why there is nothing to compare. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { waitFor } from '../../behaviour/stack.mjs';
import { arrived, complaints, open, origin, page, press, screenRows, sql, stack, text } from './page.mjs';

test('a comparison begins with a sentence', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  const [row] = await sql("* from fleetprof.compare_summary('shop', '2.2.9', '2.3.0')");
  assert.match(await text('.summary .verdict'), /^1 function is slower in 2\.3\.0 than in 2\.2\.9: sortReviews, \+[\d.]+ ms per page load \([\d.]+ → [\d.]+\), \+\d+ % \(\+\d+ % … \+\d+ %\)\.$/);
  assert.match(await text('.summary'), new RegExp(`2.3.0 against 2.2.9: ${row.slower} slower, ${row.faster} faster, .*${row.unchanged} without a change`));
  assert.match(await text('.summary'), new RegExp(`${row.too_few} with too few uploads or too little time to tell`));
  assert.equal((await screenRows())[0].verdict, '▲ slower');
});

test('a comparison shows visitors, timings and functions, and each block says what was found', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  assert.deepEqual(await page.locator('main section.block').evaluateAll((all) => all.map(({ id }) => id)), ['block-vitals', 'block-timings', 'block-graph', 'block-functions']);
  for (const [by, question, unit] of [['vitals', 'compare_vitals', 'value'], ['timings', 'compare_timings', 'ms']]) {
    const rows = await sql(`* from fleetprof.${question}('shop', '2.2.9', '2.3.0')`);
    const found = rows.filter(({ verdict }) => ['slower', 'faster'].includes(verdict));
    const shown = await page.locator(`#block-${by} tbody tr`).evaluateAll((all) => all.map((row) => [...row.children].map((cell) => /** @type {HTMLElement} */ (cell).dataset.value).filter(Boolean).map(Number)));
    const wanted = [...found, ...rows.filter((row) => !found.includes(row))].slice(0, 8);
    assert.deepEqual(shown.map(([percentile, before, after]) => [percentile, before, after]), wanted.map((row) => [row.percentile, row[`before_${unit}`], row[`after_${unit}`]]), by);
    assert.equal(await page.locator(`#block-${by} .verdict`).count(), 1);
  }
  assert.match(await text('#block-vitals .verdict'), /INP p75 is slower: [\d,]+ ms → [\d,]+ ms, \+\d+ %/);
  const [row] = await sql("before_self_ms, after_self_ms from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', top => 1)");
  assert.equal((await screenRows())[0].more_ms, row.after_self_ms - row.before_self_ms);
  await page.click('#sort-vitals-after_value');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'sort-vitals-after_value');
  assert.deepEqual(complaints, []);
});

test('a block of a comparison that fails says so, and the others are there', async () => {
  await page.route('**/api/v1/compare_vitals?**', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', json: { title: 'The query took too long' } }));
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  assert.match(await text('#block-vitals'), /This part is missing: The query took too long\./);
  assert.equal((await screenRows())[0].verdict, '▲ slower');
  await page.unroute('**/api/v1/compare_vitals?**');
  await page.click('#block-vitals button');
  await page.waitForSelector('#block-vitals tbody tr');
});

test('a comparison shows each block as soon as its answer is there', async () => {
  /** @type {() => void} */
  let go = () => {};
  const held = new Promise((resolve) => { go = () => resolve(null); });
  await page.route('**/api/v1/compare_releases?**', async (route) => { await held; await route.continue(); });
  await page.goto(`${origin}/shop/compare?before=2.2.9&after=2.3.0`);
  await page.waitForSelector('#block-vitals tbody tr');
  assert.equal(await page.locator('#block-functions[aria-busy] .skeleton').count(), 1);
  assert.match(await text('.summary .verdict'), /^1 function is slower in 2\.3\.0 than in 2\.2\.9\.$/);
  go();
  await page.waitForSelector('#block-functions tbody tr');
  assert.match(await text('.summary .verdict'), /: sortReviews/);
});

test('a comparison begins with the latest two releases, and says that their own hours count', async () => {
  await open('/shop/flame');
  await press('g', 'c');
  await arrived('/shop/compare?after=2.3.0');
  assert.equal(new URL(page.url()).search, '?after=2.3.0&before=2.2.9');
  assert.equal((await screenRows())[0].verdict, '▲ slower');
  assert.deepEqual([await text('#filter-period'), await page.getAttribute('#filter-period', 'class')], ['First 48 h of the release', null]);
  assert.doesNotMatch(await text('footer'), /page load/);
  await page.click('#filter-period');
  await page.click('text=Last day');
  await arrived('/shop/compare?since=1d');
  assert.deepEqual([await text('#filter-period'), await page.getAttribute('#filter-period', 'class')], ['Last day', 'on']);
  assert.match(await text('footer'), /page load/);
  await page.goBack();
  await page.goBack();
  await arrived('/shop/flame');
  assert.deepEqual(complaints, []);
});

test('a comparison of several sites waits for two sides, as releases of two do not follow each other', async () => {
  await open('/-/compare?since=2d');
  assert.match(await page.locator('main p.empty').innerText(), /^Releases of several sites do not follow each other\. Choose two releases/);
  assert.deepEqual(complaints, []);
});

test('the strip above a comparison shows the hours of both sides', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  const [{ before, after, loads }] = await sql(`to_char(lower(before_hours) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as before,
    to_char(upper(after_hours) at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as after,
    (select sum(h.loads) from fleetprof.summary('shop', since => lower(before_hours), until => upper(after_hours)) h)::int as loads
    from fleetprof.compare_summary('shop', '2.2.9', '2.3.0')`);
  const label = await page.getAttribute('.strip', 'aria-label') ?? '';
  assert.ok(label.includes(`${loads.toLocaleString('en-US')} from ${before} to `), label);
  assert.match(label, /Releases: .*2\.2\.9 from .*2\.3\.0 from/);
  assert.match(label, new RegExp(`Compared: ${before} – .* and .* – ${after}\\.$`));
});

test('a comparison with a side without uploads says so, and nothing else', async () => {
  for (const [query, sentence] of [['before=2.2.9&after=2.3.0&since=3h', /^There is nothing to compare: 2\.2\.9 has no uploads in this period\. Choose a longer one/],
    ['before=9&after=2.3.0', /^There is nothing to compare: 9 has no uploads that match\./], ['before=8&after=9', /8 and 9 have no uploads/]]) {
    await open(`/shop/compare?${query}`);
    assert.match(await text('.summary .verdict'), /** @type {RegExp} */ (sentence), String(query));
    assert.doesNotMatch(await text('main'), /missing|slower|–\.|Placebo/);
    assert.equal(await page.locator('main form').count(), 1);
  }
  // Both answers that SQL may give: nulls, or 0 uploads and an obstacle.
  for (const [obstacle, uploads, hours] of [[null, null, null], ['early', 0, [null, null]]]) {
    await page.route('**/api/v1/compare_summary?**', async (route) => {
      const body = await (await route.fetch()).json();
      const changes = /** @type {Record<string, unknown>} */ ({ obstacle, before_uploads: uploads, before_hours: hours, slower: 0 });
      const cells = body.rows[0].map((/** @type {unknown} */ cell, /** @type {number} */ i) => (body.columns[i].name in changes ? changes[body.columns[i].name] : cell));
      await route.fulfill({ json: { ...body, rows: [cells] } });
    });
    await open('/shop/compare?before=2.2.9&after=2.3.0');
    assert.match(await text('.summary .verdict'), /2\.2\.9 has no uploads/);
    assert.match(await text('.summary'), /before: 0 uploads\. /);
    await page.unroute('**/api/v1/compare_summary?**');
  }
  assert.deepEqual(complaints, []);
});

test('a comparison of periods offers the releases of both, and begins its sentence with a capital', async () => {
  await open('/shop/compare?since=6h&before_since=26h&before_until=20h');
  for (const side of ['before', 'after']) {
    assert.deepEqual((await page.locator(`#choose-${side} option`).allInnerTexts()).map((each) => each.trim()), ['(all)', '2.2.9', '2.3.0']);
  }
  assert.match(await text('.summary .verdict'), /^The later period against the earlier period: /);
  await open('/shop/compare?since=26h&before_since=6h&until=20h&before_until=1h');
  assert.equal(await page.locator('#choose-before option').count(), 3);
});

test('a comparison without a placebo test says why', async () => {
  await page.route('**/api/v1/compare_summary?**', async (route) => {
    const body = await (await route.fetch()).json();
    const cells = body.rows[0].map((/** @type {unknown} */ cell, /** @type {number} */ i) => (/^placebo/.test(body.columns[i].name) ? 0 : cell));
    await route.fulfill({ json: { ...body, rows: [cells] } });
  });
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  assert.match(await text('.summary'), /The placebo test was not possible: the earlier side is too small\./);
  assert.doesNotMatch(await text('.summary'), /0 of 0/);
});

test('page loads without a release are compared with those of a release', async () => {
  const body = { version: 1, page: { url: 'https://quiet.example/' }, sampleInterval: 10, trace: { resources: [], frames: [{ name: 'start' }], stacks: [{ frameId: 0 }], samples: [{ timestamp: 1, stackId: 0 }] } };
  for (const release of [undefined, ' r2']) {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_quiet`, { method: 'POST', body: JSON.stringify({ ...body, release }) });
    assert.equal(reply.status, 204, await reply.text());
  }
  await waitFor(async () => (await sql("count(*) from fleetprof.releases('quiet', now() - interval '2d')"))[0].count === 2, { what: 'the uploads' });
  await open('/quiet/compare');
  const choices = await page.locator('#choose-before option').allInnerTexts();
  assert.deepEqual(choices.map((each) => each.trim()), ['(all)', '(none)', 'r2']);
  await page.selectOption('#choose-before', { label: '(none)' });
  await page.selectOption('#choose-after', { index: 2 });
  await page.click('#compare-them');
  await arrived('/quiet/compare?after=');
  assert.equal(new URL(page.url()).search, '?after=+r2&before=');
  assert.match(await text('.summary .verdict'), /^ ?r2 against \(none\): It is too early to tell/);
  assert.match(await text('.summary'), /before: 1 upload, .* after: 1 upload,/);
  assert.deepEqual(await page.locator('form select').evaluateAll((all) => all.map((each) => /** @type {HTMLSelectElement} */ (each).selectedOptions[0]?.text)), ['(none)', 'r2', '(release or period)']);
  await page.selectOption('#choose-before', { label: '(all)' });
  await page.click('.other summary');
  await page.fill('#choose-before_since', '3d');
  assert.deepEqual(complaints, []);
  await page.click('#compare-them');
  await arrived('/quiet/compare?after=+r2&before_since=3d');
});

test('a bad time leaves the form of a comparison where it is', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await page.click('.other summary');
  await page.fill('#choose-before_since', 'nonsense');
  await press('Enter');
  await arrived('/shop/compare?after=2.3.0&before=2.2.9&before_since=nonsense');
  assert.match(await text('main .failure'), /before_since/);
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'choose-before_since');
  await page.fill('#choose-before_since', '');
  await press('Enter');
  await arrived('/shop/compare?after=2.3.0&before=2.2.9');
  assert.equal(await page.locator('main .failure').count(), 0);
});
