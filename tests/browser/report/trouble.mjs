// SPDX-License-Identifier: Apache-2.0
/** Tests of the report: trouble is said in words, of databases, servers and answers. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';

import { binDir, freePort, run, startPostgres, startProcess, temporaryDir, waitFor } from '../../behaviour/stack.mjs';
import { complaints, exported, newPage, open, origin, page, press, ready, serve, stack, text } from './page.mjs';

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
