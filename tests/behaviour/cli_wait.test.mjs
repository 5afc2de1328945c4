// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof import --wait: when it returns, its uploads can be queried; if that takes too long, it says so. Uses real
 * collectors that flush slowly, and a real database.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, repository, run, startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('cli-wait');

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** Flushes every two seconds. @type {import('./stack.mjs').Collector} */
let slow;
/** Flushes once, and then not before an hour. @type {import('./stack.mjs').Collector} */
let stuck;

/** @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
const fleetprof = (args, env) => run([program, ...args], { env: { FLEETPROF_DATABASE: '', ...env } });

let marks = 0;
/** A file that was never imported. @param {object} [more] */
function freshFile(more = {}) {
  const full = path.join(dir, `${++marks}.json`);
  fs.writeFileSync(full, JSON.stringify({ marks: [{ name: `mark ${marks}`, entryType: 'mark', startTime: marks, duration: 0 }], ...more }));
  return full;
}

/** How many uploads of a site are counted. @param {string} site */
async function counted(site) {
  return Number((await postgres.sql(`select count(*) from fleetprof.upload_log where site = '${site}'`))[0].count);
}

/** Starts a collector and lets it flush once. @param {string} window @param {string[]} sites */
async function start(window, ...sites) {
  const collector = await startCollector({ config: {
    database: postgres.conninfo('fleetprof_writer'), flush: { min_window: window, max_window: '1h' },
    sites: sites.map((name) => ({ name, key: `pk_${name}` })),
  } });
  await fleetprof(['import', '-c', collector.file, '--site', sites[0], freshFile()]);
  await waitFor(async () => await counted(sites[0]) === 1, { what: 'the first flush' });
  return collector;
}

before(async () => {
  postgres = await startPostgres({ migrated: true });
  slow = await start('2s', 'shop', 'blog');
  stuck = await start('1h', 'stuck');
});
after(async () => {
  await slow?.stop();
  await stuck?.stop();
  await postgres?.stop();
});

test('session list says that an upload may come yet', async () => {
  const { code, stdout, stderr } = await fleetprof(['session', 'list', '-d', postgres.conninfo('fleetprof_reader')]);
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /^fleetprof: no upload is kept whole yet; uploads are counted in batches, within seconds\n$/);
});

test('without --wait it returns when the upload is accepted, with --wait when it is counted', async () => {
  const plain = await fleetprof(['import', '-c', stuck.file, freshFile()]);
  assert.deepEqual([plain.code, plain.stderr], [0, '']);
  assert.equal(await counted('stuck'), 1);
  const before = await counted('shop');
  const recording = path.join(repository, 'tests/data/opera-scope/recording-two.txt');
  const { code, stdout } = await fleetprof(['import', '-c', slow.file, '--site', 'shop', '--wait', freshFile(), recording]);
  assert.equal(code, 0);
  assert.match(stdout, /imported 2 of 2 files\n$/);
  assert.equal(await counted('shop'), before + 3, 'a file, and two sessions of a recording');
});

test('a role that only reads can wait', async () => {
  const before = await counted('shop');
  const { code, stderr } = await fleetprof(['import', '-c', slow.file, '--site', 'shop', '--wait', '-d', postgres.conninfo('fleetprof_reader'), freshFile()]);
  assert.deepEqual([code, stderr.replace(/^fleetprof: waiting until .*\n/, '')], [0, '']);
  assert.equal(await counted('shop'), before + 1);
});

test('a file that was counted before is not waited for, but is under another site', async () => {
  const file = freshFile();
  await fleetprof(['import', '-c', slow.file, '--site', 'shop', '--wait', file]);
  const again = await fleetprof(['import', '-c', slow.file, '--site', 'shop', '--wait=0', file]);
  assert.deepEqual([again.code, again.stderr], [0, '']);
  const before = await counted('blog');
  await fleetprof(['import', '-c', slow.file, '--site', 'blog', '--wait', file]);
  assert.equal(await counted('blog'), before + 1);
});

test('an id of its own is waited for; a refused file is not', async () => {
  const before = await counted('shop');
  const bad = path.join(dir, 'bad.json');
  fs.writeFileSync(bad, '{"frames":[');
  const { code } = await fleetprof(['import', '-c', slow.file, '--site', 'shop', '--wait', '--json', bad,
    freshFile({ id: '123e4567-e89b-42d3-a456-426614174000' })]);
  assert.equal(code, 1);
  assert.equal(await counted('shop'), before + 1);
  const none = await fleetprof(['import', '-c', slow.file, '--site', 'shop', '--wait', bad]);
  assert.doesNotMatch(none.stderr, /count/);
});

test('on a terminal waiting is the default, and --no-wait turns it off', async () => {
  const onTerminal = (/** @type {string[]} */ ...options) => run(['script', '-qec', `'${program}' import ${options.join(' ')} ${freshFile()}`, '/dev/null'], { env: { TERM: 'dumb' } });
  const before = await counted('shop');
  const waited = await onTerminal('-c', slow.file, '--site', 'shop');
  assert.equal(waited.code, 0);
  assert.equal(await counted('shop'), before + 1);
  const began = performance.now();
  const hurried = await onTerminal('-c', stuck.file, '--no-wait');
  assert.deepEqual([hurried.code, hurried.stdout], [0, 'imported 1 of 1 files\r\n']);
  assert.ok(performance.now() - began < 20_000, 'not the 30 s of a wait');
  const { stdout } = await onTerminal('--url', `${stuck.url}/v1/ingest/pk_stuck`);
  assert.match(stdout.replaceAll('\r\n', ' '), /the uploads are counted at the collector's next flush; name the database \(--database\) to wait for it/);
});

test('an upload that is not counted in time is said to be safe, and is not an error', async () => {
  const { code, stderr } = await fleetprof(['import', '-c', stuck.file, '--wait=1', freshFile(), freshFile()]);
  assert.equal(code, 0);
  assert.match(stderr, /^fleetprof: 2 uploads are not counted after 1 s, but safe in the collector's spool\n.*hint: .*log says why\.\n$/);
});

test('a database that cannot be asked is said, and is not an error', async () => {
  const file = freshFile();
  for (const [conninfo, why] of /** @type {[string, RegExp][]} */ ([
    ['host=/nonexistent', /detail: .*\/nonexistent/],
    [postgres.conninfo('postgres', 'postgres'), /detail: .*"fleetprof_data.upload_id" does not exist/],
  ])) {
    const { code, stderr } = await fleetprof(['import', '-c', stuck.file, '-d', conninfo, '--wait=5', file]);
    assert.equal(code, 0);
    assert.match(stderr, /^fleetprof: could not check whether the uploads are counted; they are safe in the collector's spool\n/);
    assert.match(stderr, why);
  }
});

test('a database that does not answer is not waited for any longer than was said', async () => {
  const locked = postgres.execute('begin; lock table fleetprof_data.upload_id; select pg_sleep(8); commit').catch(() => '');
  await waitFor(async () => (await postgres.sql(
    "select 1 from pg_locks where relation = 'fleetprof_data.upload_id'::regclass and mode = 'AccessExclusiveLock' and granted")).length > 0);
  const began = performance.now();
  const { code, stderr } = await fleetprof(['import', '-c', stuck.file, '--wait=1', freshFile()]);
  assert.equal(code, 0);
  assert.match(stderr, /could not check whether .*\n.*detail: the database does not answer\n$/);
  assert.ok(performance.now() - began < 6000);
  await postgres.sql("select pg_cancel_backend(pid) from pg_stat_activity where query like 'begin; lock%' or query like '%pg_sleep(8)%' and pid <> pg_backend_pid()");
  await locked;
});

test('--wait needs a database and a number, before anything is sent', async () => {
  for (const [args, said] of /** @type {[string[], RegExp][]} */ ([
    [['--wait'], /^fleetprof: error: --wait needs a database, and none was named\n.*hint: Give --database CONNINFO, .*\n$/],
    [['--wait=x'], /--wait takes a number of seconds from 0 to 3600, not "x"/],
    [['--wait=3601'], /--wait takes a number/],
    [['--wait='], /--wait takes a number/],
  ])) {
    const { code, stderr } = await fleetprof(['import', '--url', 'http://127.0.0.1:1/v1/ingest/pk_shop', ...args, freshFile()]);
    assert.equal(code, 2);
    assert.match(stderr, said);
    assert.doesNotMatch(stderr, /could not upload/);
  }
});

test('with a URL the database is the one that is named', async () => {
  const url = `${slow.url}/v1/ingest/pk_shop`;
  let before = await counted('shop');
  await fleetprof(['import', '--url', url, '--wait', freshFile()], { FLEETPROF_DATABASE: postgres.conninfo('fleetprof_writer') });
  assert.equal(await counted('shop'), before + 1);
  before = await counted('shop');
  await fleetprof(['import', '--url', url, '--wait', '-d', postgres.conninfo('fleetprof_writer'), freshFile()]);
  assert.equal(await counted('shop'), before + 1);
});
