// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: what tables draw in their cells: trends, verdicts, parties. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { arrived, complaints, open, page, period, ready, screenRows, sql, text } from './page.mjs';

test('functions and packages have their trends in the table, asked for in view', async () => {
  /** @type {string[]} */
  const asked = [];
  page.on('request', (request) => { if (request.url().includes('/api/v1/trend?')) asked.push(request.url()); });
  for (const [address, by, name] of [['/shop/functions?since=2d', 'function', 'function'], ['/shop/where?by=package&since=2d', 'package', 'name']]) {
    await open(address);
    const spark = page.locator('tbody tr').first().locator('.spark');
    const key = await spark.getAttribute('data-key');
    const label = await spark.locator('canvas').getAttribute('aria-label');
    const rows = await sql(`value_ms from fleetprof.trend('${by}', '${key?.replaceAll("'", "''")}', 'hour', 'shop', since => now() - interval '2 days') order by bucket`);
    const values = rows.map(({ value_ms: value }) => value);
    assert.ok(values.length > 2);
    assert.match(label ?? '', new RegExp(`^From .* to .* ms per page load, at most .*, in ${values.length} hours$`));
    const [first, last, most] = (label ?? '').replaceAll(',', '').match(/[\d.]+/g)?.map(Number) ?? [];
    for (const [shown, value] of [[first, values[0]], [last, values[values.length - 1]], [most, Math.max(...values)]]) assert.ok(Math.abs(shown - value) <= 0.05 * value + 0.01, `${shown} for ${value} of ${key}`);
    const before = asked.length;
    await page.locator(`#sort-${name}`).click();
    await ready();
    await page.locator(by === 'function' ? '#sort-self_ms_per_load' : '#sort-self_ms').click();
    await ready();
    assert.equal(await page.locator('tbody tr').first().locator('.spark canvas').getAttribute('aria-label'), label);
    assert.equal(asked.filter((url) => url === asked[0]).length, 1, 'sorting asks nothing again');
    assert.ok(before >= 1);
  }
  assert.ok(asked.every((url) => url.includes('step=hour')));
  asked.length = 0;
  await open('/shop/where?by=package&since=30d');
  await page.locator('.spark canvas').first().waitFor();
  assert.ok(asked.length > 0 && asked.every((url) => url.includes('step=day')));
  await open('/shop/functions?since=2d&marker=gc');
  assert.equal(await page.locator('th.picture').count(), 0, 'a trend has no marker');
  assert.deepEqual(complaints, []);
});

test('a value with a percent sign is filtered by itself, whoever chooses it', async () => {
  await open('/hostile/where?since=2d&by=route');
  await page.locator('main table a', { hasText: /^%00$/ }).click();
  await arrived('/hostile/flame?');
  assert.match(page.url(), /[?&]route=%5C%2500(&|$)/);
  assert.equal(await text('#filter-route'), 'route: %00');
  const loads = async () => (await sql("sum(loads)::int as loads from fleetprof.summary('hostile', now() - interval '2 days', route => '\\%00')"))[0].loads;
  assert.equal(await loads(), 1);
  await open('/hostile/flame?since=2d');
  await page.click('#more-filters');
  await page.click('#filter-route');
  await page.fill('#panel-route input', '%2e');
  await page.locator('#panel-route .value').first().click();
  await page.waitForURL(/[?&]route=%5C%252e%5C%252e%5C%252f(&|$)/);
  assert.equal(await text('#filter-route'), 'route: %2e%2e%2f');
  await page.click('#filter-route');
  assert.equal(await page.locator('#panel-route [aria-pressed=true]').count(), 1);
});

test('functions have the verdict on what changed since the release before, asked for once', async () => {
  const verdicts = (/** @type {string} */ more) => sql(`function_key, case when verdict = 'too few' and before_self_ms = 0 and after_self_ms = 0 then 'no self time' else verdict end as verdict, change from fleetprof.compare_releases('shop', '2.2.9', '2.3.0', since => now() - interval '2 days', top => 500${more})`);
  const shown = () => page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => /** @type {[string, string]} */ ([
    row.querySelector('a')?.getAttribute('href')?.match(/\/function\/(-?\d+)/)?.[1] ?? '', row.querySelector('.badge')?.textContent ?? ''])));
  let asked = 0;
  page.on('request', (request) => { if (request.url().includes('/api/v1/compare_releases?')) asked += 1; });
  for (const [filter, more] of [['', ''], ['&release=2.3.0', ''], ['&route=%2Fcart', ", route => '/cart'"]]) {
    await open(`/shop/functions?since=2d${filter}`);
    await page.locator('.note', { hasText: 'Changes are those of 2.3.0 against 2.2.9' }).waitFor();
    const known = new Map((await verdicts(more)).map((row) => [row.function_key, row]));
    const badges = await shown();
    assert.ok(badges.some(([, badge]) => badge), filter);
    for (const [key, badge] of badges) {
      const row = known.get(key);
      assert.equal(badge.replace(/^[^a-z]*/, '').replace(/ [+−±].*/, ''), row?.verdict ?? '', `${key} with ${filter || 'no filter'}`);
      const amount = Number(badge.match(/([+−][\d.]+) %/)?.[1].replace('−', '-') ?? NaN) / 100;
      if (['slower', 'faster'].includes(row?.verdict) && row?.change < 8) assert.ok(Math.abs(amount - row?.change) <= 0.006, `${badge} for ${row?.change}`);
    }
    if (!filter) {
      assert.ok(badges.some(([, badge]) => badge.startsWith('▲ slower +')));
      await page.locator('#sort-function').click();
      await ready();
      assert.deepEqual(new Map(await shown()), new Map(badges));
      assert.equal(asked, 1, 'sorting asks nothing again');
    }
  }
  await page.getByRole('link', { name: 'Compare them' }).click();
  await arrived('/shop/compare?');
  assert.match(page.url(), /after=2\.3\.0&before=2\.2\.9/);
  assert.match(page.url(), /route=%2Fcart/);
  const [{ release: first }] = await sql("release from fleetprof.releases('shop', since => now() - interval '2 days') where release <> '' order by first_hour");
  await open(`/shop/functions?since=2d&release=${first}`);
  await page.locator('.note', { hasText: 'this period has no release with one before it' }).waitFor();
  for (const address of ['/shop/functions?since=2d&marker=gc', '/-/functions?since=2d']) {
    await open(address);
    assert.doesNotMatch(await text('main'), /since the release before/i);
  }
  assert.deepEqual(complaints, []);
  /** @type {() => void} */
  let answer = () => {};
  const searched = new Promise((resolve) => { answer = () => resolve(undefined); });
  await page.route('**/api/v1/compare_releases?**', async (route) => { await searched; await route.continue(); });
  await open('/shop/functions?since=2d');
  await page.fill('#search', 'sortReviews');
  await ready();
  answer();
  await page.locator('tbody .badge', { hasText: 'slower' }).waitFor();
  await page.unrouteAll();
  await page.route('**/api/v1/compare_releases?**', (route) => route.fulfill({ status: 503, json: { title: 'The question took too long.' } }));
  await open('/shop/functions?since=2d');
  await page.locator('.note', { hasText: 'Changes are missing: The question took too long.' }).waitFor();
});

test('hosts have a party and their responses; a guess is called one', async () => {
  await open('/shop/where?since=2d');
  assert.deepEqual((await screenRows()).map(({ name, party }) => [name, party]).filter(([name]) => name.endsWith('.example')).sort(), [['cdn.tracker.example', 'third'], ['static.shop.example', 'first']]);
  for (const by of ['party', 'entity', 'package']) {
    await page.click(`.tabs >> text="${by}"`);
    await arrived(`/shop/where?since=2d&by=${by}`);
    assert.ok((await screenRows()).length > 0, by);
  }
  await open('/shop/flame?since=2d');
  assert.doesNotMatch(await text('.legend'), /guessed/);
  await page.route('**/api/v1/third_parties?**', async (route) => {
    const body = await (await route.fetch()).json();
    await route.fulfill({ json: { ...body, rows: body.rows.map((/** @type {unknown[]} */ [host, , ...others]) => [host, null, ...others]) } });
  });
  await open('/shop/flame?since=2d');
  assert.match(await text('.legend'), /own scripts \(guessed: those of static\.shop\.example; set sites\[\]\.origins\)/);
  assert.deepEqual(complaints, []);
});

test('a response says where the wait goes', async () => {
  await open(`/lab/timing/${encodeURIComponent('(response) button.wait')}?since=2d`);
  const rows = await sql("kind, name, round((100 * share)::numeric)::integer as percent from fleetprof.waits('button.wait', 'lab', since => now() - interval '2 days')");
  assert.ok(rows.length > 2);
  const shown = await page.locator('table', { hasText: 'Waits' }).locator('tbody tr').evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td, th')].map((cell) => cell.textContent)));
  assert.deepEqual(shown.map(([kind, name]) => [kind, name]), rows.map(({ kind, name }) => [kind, name ?? '']));
  for (const [i, [, , , share]] of shown.entries()) assert.ok(Math.abs(parseFloat(share ?? '') - rows[i].percent) <= 1, share ?? '');
  assert.deepEqual(complaints, []);
});

test('a vital says its rating, and by how much it is not good', async () => {
  await open('/shop/vitals?since=2d');
  const [{ p75 }] = await sql(`p75 from fleetprof.vitals('shop', ${period}) where name = 'INP'`);
  assert.ok(p75 > 200 && p75 <= 500);
  const row = page.locator('main tbody tr', { has: page.locator('a:text-is("INP")') });
  assert.match(await row.locator('td').first().innerText(), new RegExp(`^${Math.round(p75)} ms .*\\s+needs improvement, ${Math.round(p75 - 200)} ms over$`), 'it comes first');
  assert.equal(await row.locator('.rated').getAttribute('title'), 'Good to 200 ms, poor above 500 ms');
  await open('/shop/vital/INP?since=2d&by=route');
  const table = page.locator('main table').filter({ has: page.locator('caption:text-is("INP by route")') });
  await table.locator('#sort-p75').click();
  assert.equal(await table.locator('th[aria-sort="descending"] button').innerText(), 'p75, 95 % between', 'it sorts');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'sort-p75');
  const values = await table.locator('tbody td:nth-of-type(1)').evaluateAll((all) => all.map((each) => Number(/** @type {HTMLElement} */ (each).dataset.value)));
  assert.ok(values.length > 1);
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
  assert.deepEqual(complaints, []);
});

test('a party and a package lead to their functions; what leads nowhere is explained', async () => {
  await open('/shop/where?since=2d&by=party');
  assert.equal(await text('#sort-name'), 'Party');
  await page.click('main tbody a:text-is("third")');
  await arrived('/shop/functions?since=2d&party=third');
  await listsFunctions('shop', ", party => 'third'");
  assert.match(await text('main tbody'), /hashCanvas/);
  await open('/bundled/where?since=2d&by=package');
  assert.match(await text('main'), /\(no package\): own code\./);
  await page.click('main tbody a:text-is("(no package)")');
  await arrived('/bundled/functions?since=2d&package=%28no+package%29');
  await listsFunctions('bundled', ", package => '(no package)'");
  await page.goBack();
  await page.click('main tbody a:text-is("react-dom")');
  await arrived('/bundled/functions?since=2d&package=react-dom');
  await listsFunctions('bundled', ", package => 'react-dom'");
  assert.equal(await text('#filter-package'), 'package: react-dom');
  await page.reload();
  await ready();
  await listsFunctions('bundled', ", package => 'react-dom'");
  await page.click('nav a:text-is("Flame graph")');
  await arrived('/bundled/flame?since=2d');
  assert.equal(await page.locator('#filter-package').count(), 0, 'no other view is of functions');
  await page.goBack();
  await arrived('/bundled/functions?since=2d&package=react-dom');
  await page.click('#remove-package');
  await arrived('/bundled/functions?since=2d');
  await listsFunctions('bundled', '');
  assert.equal(await page.locator('#remove-package').count(), 0);
  assert.deepEqual(complaints, []);
});

/** Expects the functions of SQL's answer in the table, whatever the filters leave out. @param {string} site @param {string} more */
async function listsFunctions(site, more) {
  const known = await sql(`function from fleetprof.hotspots('${site}', ${period}, top => 500${more})`);
  assert.ok(known.length > 0);
  assert.deepEqual((await page.locator('main tbody .function > a:not(.place)').allInnerTexts()).sort(), known.map((row) => row.function).sort());
}

test('functions are filtered by what their scripts are, chosen from a list or as a pattern', async () => {
  await open('/shop/functions?since=2d');
  await page.click('#more-filters');
  await page.click('#filter-host');
  const hosts = await sql(`name from fleetprof.cost_by('host', 'shop', ${period}) where name <> '(unattributed)'`);
  await page.locator('#panel-host .value').nth(hosts.length - 1).waitFor();
  assert.deepEqual(await page.locator('#panel-host .value .name').allInnerTexts(), hosts.map(({ name }) => name));
  await page.locator('#panel-host .value', { hasText: 'cdn.tracker.example' }).click();
  await arrived('/shop/functions?since=2d&host=cdn.tracker.example');
  await listsFunctions('shop', ", host => 'cdn.tracker.example'");
  await page.click('#filter-host');
  await page.fill('#panel-host input', '%shop.example');
  await page.press('#panel-host input', 'Enter');
  await arrived('/shop/functions?since=2d&host=%25shop.example');
  await listsFunctions('shop', ", host => '%shop.example'");
  assert.equal(await page.locator('#exclude-host').count(), 0, 'SQL has no parameter for the rest');
  await page.click('#clear-filters');
  await arrived('/shop/functions?since=2d');
  await open('/shop/functions?since=2d&package=nope');
  assert.match(await text('main .empty'), /No function matches/);
  assert.deepEqual(complaints, []);
});

// ---- keys ----

test('an interaction keeps the figures of the list', async () => {
  await open('/shop/interactions?since=2d');
  const [row] = await sql(`* from fleetprof.interactions('shop', ${period}) where target = 'button.more-reviews'`);
  await page.click('main tbody a:text-is("button.more-reviews")');
  await arrived('/shop/timing/');
  assert.equal(await text('nav [aria-current]'), 'Interactions');
  assert.match(await text('.facts'), new RegExp(`Interactions\\s+${row.count}\\s+p75\\s+${Math.round(row.p75_ms)} ms\\s[\\s\\S]*${(100 * row.processing_share).toFixed(1)} % processing`));
  assert.deepEqual(complaints, []);
});

test('a host, a script and a function of a long frame lead to their functions', async () => {
  await open('/shop/long-frames?since=2d');
  assert.match(await text('main tbody'), /onClick/);
  assert.equal(await page.locator('main tbody a:text-is("onClick")').count(), 0, 'no profile has it');
  for (const address of ['/shop/where?since=2d', '/shop/where?since=2d&by=resource', '/shop/long-frames?since=2d']) {
    await open(address);
    const link = page.locator('main tbody a[href*="/functions?"]').first();
    const params = new URL(await link.evaluate((/** @type {HTMLAnchorElement} */ { href }) => href)).searchParams;
    const wanted = params.get('q') ?? '';
    await link.click();
    await arrived('/shop/functions?');
    const rows = await screenRows();
    assert.ok(rows.length > 0, address);
    const known = await sql(`function, resource from fleetprof.hotspots('shop', ${period}, top => 500, host => '${params.get('host') ?? '%'}')`);
    assert.equal(rows.length, known.filter((row) => [row.function, row.resource].some((text) => wanted.toLowerCase().split('*').every((part) => text?.toLowerCase().includes(part)))).length, `${address}: ${wanted}`);
  }
  assert.deepEqual(complaints, []);
});
