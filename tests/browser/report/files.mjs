// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: what is exported, and views that are saved. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';

import { binDir, repository, run, temporaryDir } from '../../behaviour/stack.mjs';
import { arrived, complaints, exported, newPage, open, page, period, press, ready, serve, sql, stack, text } from './page.mjs';

test('exports have the rows in view, and nothing that a spreadsheet would run', async () => {
  await open('/shop/functions?since=2d&q=sort');
  const rows = JSON.parse((await exported('#export-json')).toString());
  assert.deepEqual([...new Set(rows.map((/** @type {any} */ row) => row.function))], ['sortReviews']);
  await open('/hostile/functions?since=2d');
  const csv = (await exported('#export-csv')).toString();
  assert.match(csv, /^function_key,function,resource,line|^function,resource,line/);
  assert.match(csv, /,?'=1\+1,/);
  assert.match(csv, /"'=HYPERLINK\(""http/);
  for (const line of csv.split('\r\n').slice(1)) assert.doesNotMatch(line.replace(/^-?\d+,/, ''), /^"?[=@\t]/);
});

test('the table in view is copied as Markdown, with a link', async () => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await open('/hostile/functions?since=2d');
  await page.click('#export');
  await page.click('#export-markdown');
  await page.getByText('Copied.').first().waitFor();
  const [link, blank, head, rule, ...rows] = (await page.evaluate(() => navigator.clipboard.readText())).trimEnd().split('\n');
  assert.match(link, /^\[fleetprof: functions\]\(http:\/\/[^()]*\/hostile\/functions\?[^()]*\)$/);
  assert.deepEqual([blank, /^\| function \| resource/.test(head)], ['', true], head);
  for (const line of [rule, ...rows]) assert.equal(line.split('|').length, head.split('|').length, line);
});

test('a file of all sites says so in its name', async () => {
  await open('/-/flame?since=2d');
  await page.click('#export');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#export-folded')]);
  assert.equal(download.suggestedFilename(), 'fleetprof-all-sites.folded.txt');
});

test('the graph in view is exported for other tools', async () => {
  await open('/shop/flame?since=2d');
  const stacks = (await sql(`folded as line from fleetprof.folded('shop', ${period})`)).map(({ line }) => line);
  const total = stacks.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  const folded = (await exported('#export-folded')).toString().trimEnd().split('\n');
  // Places of one function are one in the graph: two releases have anonymous functions at two.
  const plain = (/** @type {string[]} */ lines) => [...new Set(lines.map((line) => line.replace(/ https:[^; ]+/g, '').replace(/ \d+$/, '')))].sort();
  assert.deepEqual(plain(folded), plain(stacks));
  assert.equal(folded.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0), total);
  const speedscope = JSON.parse((await exported('#export-speedscope')).toString());
  const [profile] = speedscope.profiles;
  const [{ loads }] = await sql(`sum(loads)::int as loads from fleetprof.summary('shop', ${period})`);
  const about = /: (.*)$/s.exec(speedscope.name)?.[1] ?? '';
  assert.match(about, /^Flame graph · shop · since: 20\d\d-[\d-]+T[\d:.]+Z · until: 20\d\d-[\d-]+T[\d:.]+Z$/);
  assert.deepEqual([speedscope.name, profile.name], Array(2).fill(`µs per page load, of ${loads}: ${about}`));
  assert.deepEqual([profile.endValue, profile.weights.reduce((/** @type {number} */ sum, /** @type {number} */ us) => sum + us)].map((us) => Math.round(us * loads)), [total, total]);
  assert.deepEqual(profile.samples.map((/** @type {number[]} */ stack) => stack.map((frame) => speedscope.shared.frames[frame].name).join(';')).sort().filter((/** @type {string} */ path, /** @type {number} */ i, /** @type {string[]} */ all) => path !== all[i - 1]), plain(folded));
  const chrome = JSON.parse((await exported('#export-chrome')).toString());
  assert.deepEqual([chrome.endTime, chrome.timeDeltas.length], [total, chrome.samples.length]);
  const byId = new Map(chrome.nodes.map((/** @type {any} */ node) => [node.id, node]));
  for (const { children } of chrome.nodes) for (const child of children) assert.ok(byId.has(child));
  const pprof = await exported('#export-pprof');
  assert.ok(pprof.includes('sortReviews') && pprof.includes('microseconds'));
  const svg = (await exported('#export-svg')).toString();
  assert.ok(svg.startsWith('<svg ') && svg.includes('sortReviews'));
  assert.match(svg, new RegExp(`ms per page load, of ${loads} page loads · Flame graph · shop · since: 20[^<]* · until: 20`));
  for (const entry of await page.locator('.legend li:has(.swatch:not(.rest))').allInnerTexts()) assert.ok(svg.includes(`>${entry.trim()}</text>`), entry);
  assert.match(svg, /<title>sortReviews [\d.]+ ms per page load<\/title><rect [^>]*fill="hsl\(52 /, 'own scripts');
  const png = await exported('#export-png');
  assert.deepEqual([png.subarray(1, 4).toString(), png.readUInt32BE(16)], ['PNG', 1200]);
  // The export has what is in view.
  await page.focus('.icicle canvas');
  await press('ArrowDown', 'x');
  assert.doesNotMatch((await exported('#export-folded')).toString(), /(^|;)boot[; ]/m);
  assert.deepEqual(complaints, []);
});

test('a picture that the browser cannot draw is said so', async () => {
  await open('/shop/flame?since=2d');
  await page.evaluate(() => { HTMLImageElement.prototype.decode = () => Promise.reject(new DOMException('', 'EncodingError')); });
  await page.click('#export');
  await page.click('#export-png');
  await page.waitForSelector('.told:has-text("This browser cannot draw the picture; the SVG has it.")');
  assert.deepEqual(complaints, []);
});

// ---- hostile names ----

test('a view that is saved as a file opens from disk and asks nobody', async () => {
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  // The file answers for the table in view.
  await page.locator('.tabs a:not([aria-current]), main > form').evaluateAll((all) => all.forEach((each) => each.remove()));
  const sight = await text('main');
  const hours = await page.getAttribute('.strip', 'aria-label');
  const file = path.join(temporaryDir('report'), 'report.html');
  fs.writeFileSync(file, await exported('#export-file'));
  const { page: saved, complaints: heard } = await newPage();
  /** @type {string[]} */
  const requests = [];
  saved.on('request', (request) => { if (!/^(data|file):/.test(request.url())) requests.push(request.url()); });
  await saved.goto(pathToFileURL(file).href);
  await ready(saved);
  assert.equal(await saved.locator('main').innerText(), sight, 'it begins with the comparison');
  assert.equal(await saved.getAttribute('.strip', 'aria-label'), hours);
  // Keys lead to what the file has, and the name of the page to where it begins.
  for (const key of ['f', 's', 't']) {
    await saved.keyboard.press('g');
    await saved.keyboard.press(key);
  }
  await saved.keyboard.press('?');
  assert.deepEqual((await saved.locator('dialog kbd').allInnerTexts()).filter((key) => key.startsWith('g ')), ['g h', 'g c']);
  await saved.keyboard.press('Escape');
  await saved.waitForSelector('dialog', { state: 'detached' });
  assert.equal(await saved.locator('main').innerText(), sight);
  await saved.evaluate(() => { location.hash = '/shop/flame'; });
  await saved.waitForSelector('main .failure:has-text("does not contain this")');
  await saved.click('.brand');
  await arrived('/shop/compare', saved);
  assert.equal(await saved.locator('main').innerText(), sight);
  await saved.goBack();
  await saved.waitForSelector('main .failure:has-text("does not contain this")');
  await saved.keyboard.press('g');
  await saved.keyboard.press('c');
  await arrived('/shop/compare', saved);
  assert.equal(await saved.locator('main').innerText(), sight);
  assert.deepEqual([requests, heard], [[], []]);
  await saved.context().close();
});

test('a saved report says when and from what, has the functions that it found, and leads nowhere else', async () => {
  const folder = temporaryDir('report');
  const byPage = path.join(folder, 'page.html');
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await page.waitForSelector('main table .function a');
  fs.writeFileSync(byPage, await exported('#export-file'));
  const files = [byPage];
  for (const more of [['--compare', '2.2.9', '2.3.0'], ['--since', '2d']]) {
    files.push(path.join(folder, `${more[0]}.html`));
    const { code, stderr } = await run([path.join(binDir, 'fleetprof'), 'report', '-d', stack.postgres.conninfo('fleetprof_reader'), '--site', 'shop', '-o', files.at(-1) ?? '', ...more]);
    assert.equal(code, 0, stderr);
  }
  for (const file of files) {
    const { page: saved, complaints: heard } = await newPage();
    await saved.goto(pathToFileURL(file).href);
    await ready(saved);
    const isComparison = !file.includes('since');
    if (!isComparison) {
      await saved.click('nav a:has-text("Functions")');
      await arrived('/shop/functions', saved);
    }
    await saved.waitForSelector('main table .function a:has-text("sortReviews")');
    assert.match(await saved.locator('.saved').innerText(), /^Saved 20\d\d-\d\d-\d\d \d\d:\d\d UTC from shop · /);
    assert.equal(await saved.locator('.filters').count(), 0);
    const views = await saved.locator('nav[aria-label="Views"] a').allInnerTexts();
    assert.deepEqual(views.includes('Compare'), isComparison, views.join());
    await saved.locator('main table .function a:has-text("sortReviews")').first().click();
    await arrived('/shop/function', saved);
    assert.equal(await saved.locator('h2.name').innerText(), 'sortReviews');
    assert.match(await saved.locator('main').innerText(), /Values of the trend \(\d+\)/);
    assert.deepEqual(await saved.locator('main .failure, main .warning').allInnerTexts(), []);
    // Whatever is still a link has an answer.
    const links = [...new Set(await saved.locator('nav[aria-label="Views"] a, main a[href^="#"]').evaluateAll((all) => all.map((each) => each.getAttribute('href') ?? '')))];
    assert.ok(links.length > 0);
    for (const link of links.slice(0, 12)) {
      await saved.evaluate((to) => { location.hash = to; }, link);
      await ready(saved);
      assert.equal(await saved.locator('main > .failure').count(), 0, link);
    }
    assert.deepEqual(heard, []);
    await saved.context().close();
  }
});

test('a saved view offers no choice that it has no answer for', async () => {
  const file = path.join(temporaryDir('report'), 'report.html');
  const groups = '.tabs a';
  for (const [view, kept] of [['where?since=2d&by=browser', 'browser'], ['vital/INP?since=2d&by=device', 'device']]) {
    await open(`/shop/${view}`);
    assert.ok(await page.locator(groups).count() > 5);
    fs.writeFileSync(file, await exported('#export-file'));
    const { page: saved } = await newPage();
    await saved.goto(pathToFileURL(file).href);
    await ready(saved);
    assert.deepEqual((await saved.locator(groups).allInnerTexts()).filter((text) => !['hours', 'days'].includes(text)), [kept]);
    await saved.context().close();
  }
});

test('the manual is linked where serve has it, and nothing else of the folder', async () => {
  const folder = temporaryDir('manual');
  const { code, stderr } = await run([process.execPath, path.join(repository, 'tools/manual/build.mjs'), folder]);
  assert.equal(code, 0, stderr);
  fs.writeFileSync(path.join(folder, 'a.conf'), 'secret');
  fs.symlinkSync('/etc/passwd', path.join(folder, 'a.txt'));
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await page.waitForSelector('main a.help', { state: 'attached' });
  assert.equal(await page.locator('.help:visible').count(), 0);
  const { process: helpful, url } = await serve(stack.postgres.conninfo('fleetprof_reader'), ['--manual', folder]);
  for (const name of ['a.conf', 'a.txt', 'none.html', '.html', '..%2fVERSION.md', 'images/../a.conf']) assert.equal((await fetch(`${url}/help/${name}`)).status, 404, name);
  await page.goto(`${url}/shop/compare?before=2.2.9&after=2.3.0`);
  await page.waitForSelector('main a.help[href="/help/comparison.html"]:visible');
  const [manual] = await Promise.all([page.context().waitForEvent('page'), page.click('#manual')]);
  await manual.waitForSelector('h1');
  assert.equal(new URL(manual.url()).pathname, '/help/comparison.html');
  await manual.fill('input[type=search]', 'vitals');
  await manual.waitForSelector('.results a');
  await page.goto(`${url}/help/flame`);
  await ready();
  assert.match(await text('h1'), /^help /, 'a site may have this name');
  assert.deepEqual(complaints, []);
  await helpful.stop();
});

// ---- pictures ----
