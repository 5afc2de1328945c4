// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: trouble is said in words, of databases, servers and answers. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';

import { binDir, freePort, run, startPostgres, startProcess, temporaryDir, waitFor } from '../../behaviour/stack.mjs';
import { arrived, complaints, exported, newPage, open, origin, page, press, ready, renewPage, serve, stack, text } from './page.mjs';

test('a slow database, and one that goes away in mid-answer, are said so', async () => {
  const { process: hasty, url } = await serve(`${stack.postgres.conninfo('fleetprof_reader')} application_name=hasty`, ['--statement-timeout', '2']);
  const lock = stack.execute("set application_name = 'lock'; begin; lock table fleetprof_data.segment; select pg_sleep(120)").catch(() => {});
  const busy = (/** @type {string} */ name, /** @type {string} */ event) => waitFor(async () =>
    (await stack.sql(`select from pg_stat_activity where application_name = '${name}' and ${event}`)).length, { what: name });
  try {
    await busy('lock', "wait_event = 'PgSleep'");
    await page.goto(`${url}/shop/functions?since=2d`);
    await ready();
    assert.match(await text('main .failure'), /longer than the report's server waits|locked/);
    const gone = page.goto(`${origin}/shop/functions?since=2d`);
    await busy('fleetprof serve', "state = 'active' and wait_event_type = 'Lock'");
    await stack.postgres.stop('SIGQUIT');
    await gone;
    await ready();
    assert.match(await text('main .failure'), /database (went away|is stopping|cannot be reached|is busy)/);
  } finally {
    await stack.postgres.start();
    await lock;
    await hasty.stop();
  }
});

test('a database of another version, and one without data, are said so', async () => {
  const name = "name = 'functions/hotspots.sql'";
  const [{ version }] = await stack.sql(`select version from fleetprof.schema_version where ${name}`);
  await stack.execute(`update fleetprof.schema_version set checksum = 'x' || checksum, version = '9.9.9' where ${name}`);
  const { process: other, url } = await serve(stack.postgres.conninfo('fleetprof_reader'));
  await page.goto(`${url}/shop`);
  await ready();
  assert.match(await text('main .failure'), /another version of fleetprof/);
  await other.stop();
  await stack.execute(`update fleetprof.schema_version set checksum = substr(checksum, 2), version = '${version}' where ${name}`);
  const empty = await startPostgres();
  const { code, stderr } = await run([path.join(binDir, 'fleetprof'), 'migrate', '--database', empty.conninfo()]);
  assert.equal(code, 0, stderr);
  const { process: bare, url: blank } = await serve(empty.conninfo('fleetprof_reader'));
  for (const address of ['/', '/shop', '/shop/functions']) {
    await page.goto(blank + address);
    await ready();
    assert.match(await text('main .empty'), /\.$/, address);
  }
  await bare.stop();
  await empty.stop();
});

test('an answer without rows says why, in a sentence', async () => {
  for (const view of ['overview', 'flame', 'functions', 'compare', 'timings', 'timing/x', 'vitals', 'interactions', 'long-frames', 'where', 'coverage', 'function/123', 'sessions', 'session/123']) {
    await open(`/nobody/${view}`);
    assert.match(await text('main .empty'), /\.$/, view);
  }
  assert.deepEqual(complaints, []);
});

test('what cannot be meant is said in the words of the server', async () => {
  await open('/shop/flame?since=nonsense');
  assert.match(await text('main .failure'), /since/);
  await open('/shop/nowhere');
  assert.match(await text('main .failure'), /There is no view “nowhere”\./);
  await open('/shop/constructor');
  assert.match(await text('main .failure'), /There is no view “constructor”\./);
  await open('/shpo/flame');
  assert.match(await text('.anecdote'), /No upload of a site “shpo” is in the database\./);
  await open('/shop/flame?route=%2Fnowhere');
  assert.equal(await page.isVisible('.anecdote'), false);
  await open('/shop/flame?since=1h&until=2d');
  assert.match(await text('main .failure'), /later than/);
});

/** Runs something while no question is answered. @param {() => Promise<void>} act */
async function whileSlow(act) {
  const busy = (/** @type {string} */ name, /** @type {string} */ event) => waitFor(async () =>
    (await stack.sql(`select from pg_stat_activity where application_name = '${name}' and ${event}`)).length, { what: name });
  const lock = stack.execute("set application_name = 'slow'; begin; lock table fleetprof_data.segment; select pg_sleep(300)").catch(() => {});
  await busy('slow', "wait_event = 'PgSleep'");
  const end = () => stack.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'slow'");
  try {
    await act();
  } finally {
    await end();
    await lock;
  }
}

test('a slow database shows at once what is asked, for how long, and lets it be cancelled', async () => {
  await open('/shop/coverage?since=2d');
  for (const isFirst of [false, true]) {
    await whileSlow(async () => {
      if (isFirst) {
        await renewPage();
        await page.goto(`${origin}/shop/functions?since=2d`);
      } else {
        await page.keyboard.press('g');
        await page.keyboard.press('n');
      }
      await page.waitForSelector('main .waiting');
      assert.equal(await text('h1'), 'shop Functions');
      assert.equal(await text('main'), 'Asking the database …', 'nothing of the view before');
      await page.waitForSelector('#cancel');
      assert.match(await text('.asking'), /^Asking for functions … \d+ s/);
      await page.click('#cancel');
      await ready();
      assert.match(await text('main .failure'), /You cancelled this question\./);
    });
    await page.click('#again');
    await arrived('/shop/functions?since=2d');
    assert.match(await text('main table'), /sortReviews/);
    assert.equal(await page.isVisible('.asking'), false);
  }
  assert.deepEqual(complaints, []);
});

test('parts of the overview that a slow database keeps waiting can be cancelled', async () => {
  await whileSlow(async () => {
    await page.goto(`${origin}/shop?since=2d`);
    await page.waitForSelector('.cards .skeleton');
    await page.waitForSelector('#cancel');
    assert.match(await text('.asking'), /^Asking for overview … \d+ s/);
    await page.click('#cancel');
    await ready();
    assert.equal(await page.locator('main .skeleton').count(), 0);
    assert.match(await text('.cards'), /You cancelled this question\./);
  });
  await page.locator('.cards').getByRole('button', { name: 'Try again' }).first().click();
  await page.waitForSelector('.card[aria-label=INP]');
  assert.deepEqual(complaints, []);
});

test('an empty period leads to the newest day, and filters that match nothing to the rest', async () => {
  for (const view of ['', '/functions', '/flame', '/vitals', '/where']) {
    await open(`/shop${view}?since=30d&until=20d`);
    assert.match(await text('main .empty'), /^Nothing in this period\. Show the newest day It ends \d{4}-\d\d-\d\d \d\d:00 UTC\.$/, view);
    await page.click('main .empty a');
    await page.waitForSelector('main :is(.finding .verdict, table, canvas)');
    await ready();
    await open(`/shop${view}?since=2d&route=%2Fnowhere`);
    assert.match(await text('main .empty'), /^No profiled page load of this period matches these filters\. Remove one:\s+route: \/nowhere ×\s+Without filters there are 448 profiled page loads\.$/, view);
    await page.click('main .empty button');
    await arrived(`/shop${view}?since=2d`);
    assert.equal(await page.locator('main .empty').count(), 0, view);
  }
  assert.deepEqual(complaints, []);
});

test('a site without data shows the steps to its first upload, and itself when that comes', async () => {
  for (const address of ['/new', '/new/functions']) {
    await open(address);
    assert.match(await text('main .empty'), /no upload yet\. Three steps lead to the first:[\s\S]*data-endpoint[\s\S]*fleetprof doctor[\s\S]*Sites with data: [^\n]*shop/);
    assert.match(await text('main [role=status]'), /Waiting for the first upload/);
  }
  await page.route('**/api/v1/sites', async (route) => {
    const body = await (await route.fetch()).json();
    const at = body.columns.findIndex((/** @type {{ name: string }} */ { name }) => name === 'site');
    await route.fulfill({ json: { ...body, rows: body.rows.map((/** @type {any[]} */ row) => row.map((cell, i) => (i === at && cell === 'shop' ? 'new' : cell))) } });
  });
  await page.waitForSelector('main p.empty');
  assert.match(await text('main .empty'), /^No profiled page load matches these filters/);
  assert.deepEqual(complaints, []);
});

test('a database that goes away is said so, and comes back', async () => {
  await stack.postgres.stop('SIGQUIT');
  await open('/shop/functions?since=2d');
  assert.match(await text('main .failure h2'), /\.$/);
  await stack.postgres.start();
  await waitFor(async () => {
    await page.click('#again');
    await ready();
    return await page.locator('main table').count() > 0;
  }, { what: 'an answer after the database is back' });
});

test('a server that goes away, and an answer that is cut, end in sentences', async () => {
  await open('/shop/coverage?since=2d');
  await page.route('**/api/v1/timings?**', (route) => route.fulfill({ contentType: 'application/json', body: '{"columns":[{"na' }));
  await press('g', 't');
  assert.match(await text('main .failure'), /cannot be read[\s\S]*cut this one/);
  await page.route('**/api/v1/vitals?**', (route) => route.abort());
  await press('g', 'v');
  assert.match(await text('main .failure'), /did not answer in full/);
  await page.route('**/api/v1/flamegraph_columns?**', (route) => route.fulfill({ contentType: 'application/json', body: '{"tree":{"frames":{},"level":[0,2],"frame":[-1,-1],"self":[0,0],"total":[1,1],"samples":[1,1]}}' }));
  await press('g', 'f');
  assert.match(await text('main .failure'), /cannot show this answer[\s\S]*not in order/);
});

test('a part that fails is called missing, and is not in a saved file', async () => {
  const refuse = (/** @type {import('playwright-core').Route} */ route) => route.fulfill({ status: 503, contentType: 'application/problem+json', json: { title: 'The query took too long', detail: 'Ask for less.' } });
  await page.route('**/api/v1/histogram?**', refuse);
  await open('/shop/vital/LCP?since=2d');
  assert.match(await text('main'), /^A part of this view is missing: The query took too long\. Ask for less\./);
  assert.match(await text('main'), /This part is missing\./);
  assert.doesNotMatch(await text('main'), /no value of 0 or more/);
  const file = path.join(temporaryDir('report'), 'report.html');
  fs.writeFileSync(file, await exported('#export-file'));
  const { page: saved } = await newPage();
  await saved.goto(pathToFileURL(file).href);
  await ready(saved);
  assert.match(await saved.locator('main').innerText(), /A part of this view is missing: This saved report does not contain this\./);
  await saved.context().close();
  await page.route('**/api/v1/vital_hotspots?**', refuse);
  await page.click('#export');
  await page.click('#export-file');
  assert.match(await text('dialog'), /The view is not saved[\s\S]*The query took too long\. Ask for less\./);
});

test('a database without the schema is said so', async () => {
  const empty = startProcess('fleetprof serve', [path.join(binDir, 'fleetprof'), 'serve', '--listen', `127.0.0.1:${await freePort()}`, '-d', stack.postgres.conninfo('postgres', 'postgres'), '--allow-writer']);
  const url = await waitFor(() => /http:\/\/127\.0\.0\.1:\d+/.exec(empty.output())?.[0] ?? (empty.running() ? '' : 'ended'), { what: 'an address' });
  if (url !== 'ended') {
    await page.goto(`${url}/shop`);
    await ready();
    assert.match(await text('main .failure'), /schema|migrate/i);
    await empty.stop();
  } else {
    assert.match(empty.output(), /schema|migrate/i);
  }
});

// ---- one file ----
