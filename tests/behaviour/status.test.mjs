// SPDX-License-Identifier: Apache-2.0
/**
 * `fleetprof status`: the numbers of collectors and database, what is wrong with them, and what it says when one of
 * them, or both, are away.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { binDir, collectorConfig, freePort, repository, run, startCollector, startPostgres, startProcess, temporaryDir, waitFor } from './stack.mjs';

const fleetprof = path.join(binDir, 'fleetprof');
const nowhere = 'host=/nonexistent dbname=fleetprof';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector} */
let collector;
before(async () => {
  postgres = await startPostgres({ migrated: true });
  await postgres.execute('create database empty; create role stranger login');
  collector = await startCollector({
    config: { database: postgres.conninfo('fleetprof_writer'), sites: [{ name: 'demo', key: 'pk_demo', origins: ['http://127.0.0.1'] }, { name: 'other', key: 'pk_other' }] },
  });
  for (let i = 0; i < 3; i++) await upload(collector);
  await waitFor(async () => (await collector.metrics()).fleetprof_uploads_flushed_total === 3, { what: 'flush' });
  await waitFor(async () => (await postgres.sql(`select count(*)::int as partitions from pg_inherits i
    join pg_class c on c.oid = i.inhparent where relname = 'upload'`))[0].partitions > 0, { what: 'partitions' });
});
after(async () => {
  await collector.stop();
  await postgres.stop();
});

/** @param {import('./stack.mjs').Collector} to @param {Record<string, string>} [headers] */
const upload = (to, headers = {}) => send(`${to.url}/v1/ingest/pk_demo`, { headers, body: envelope({ marks: [{ name: 'm', entryType: 'mark', startTime: 1, duration: 0 }] }) });

/** Without measuring, which takes a second, unless the arguments say so. @param {string[]} args */
async function status(args) {
  const { code, stdout, stderr } = await run([fleetprof, 'status', '--json', '--over=0', ...args], { env: { FLEETPROF_DATABASE: '' } });
  const seen = stdout ? JSON.parse(stdout) : undefined;
  const ids = [...new Set((seen?.findings ?? []).map((/** @type {any} */ finding) => finding.id))].sort();
  if (code !== 2) assert.equal(code, seen.findings.some((/** @type {any} */ finding) => finding.severity === 'wrong') ? 1 : 0, stdout);
  return { code, stderr, ids, ...seen };
}

/** Status of the running collector with other settings. @param {Record<string, unknown>} settings @param {string[]} [args] */
async function with_(settings, args = []) {
  const { file } = await collectorConfig({ ...collector.config, ...settings });
  return status(['-c', file, ...args]);
}

test('a right set-up: numbers, and nothing wrong', async () => {
  const { code, stderr, ids, collectors, sites, refusals, database } = await status(['-c', collector.file]);
  assert.deepEqual({ code, stderr, ids, refusals }, { code: 0, stderr: '', ids: [], refusals: [] });
  const [one] = collectors;
  assert.equal(one.collector, collector.config.admin);
  assert.match(one.version, /^\d+\.\d+\.\d+$/);
  assert.deepEqual([one.error, one.backlog_records, one.backlog_age_s, one.database_state, one.uploads_per_second], [null, 0, 0, 'reachable', null]);
  assert.equal(one.spool_max_bytes, 64 * 2 ** 20);
  assert.ok(one.spool_bytes > 0 && one.disk_free_bytes > 0 && one.last_flush_s >= 0);
  assert.deepEqual(sites.map((/** @type {any} */ { site, uploads, refused }) => [site, uploads, refused]), [['demo', 3, 0], ['other', 0, 0]]);
  assert.equal(sites[1].last_upload_s, null);
  const [row] = database;
  assert.equal(row.recent_uploads, 3);
  assert.ok(row.bytes > 1e6 && row.partitions > 10 && row.last_counted_s >= 0, JSON.stringify(row));
  assert.deepEqual([row.schema_version, row.replica_behind_s, row.missing_partitions], [one.version, null, null]);
  assert.equal(row.last_day > row.first_day, true);
});

test('people read the same, with units', async () => {
  const { code, stdout } = await run([fleetprof, 'status', '-c', collector.file], { env: { FLEETPROF_DATABASE: '' } });
  assert.equal(code, 0);
  assert.match(stdout, /^COLLECTOR\tVERSION\tUP\tUPLOADS\/S/);
  assert.match(stdout, /^Uploads since the collector started, [\d.]+ \w+ ago:\nSITE\t/m);
  assert.match(stdout, /^demo\t0\.0\t0\.0\t3\t0\t/m);
  assert.match(stdout, /^other\t0\.0\t0\.0\t0\t0\tnot yet$/m);
  assert.match(stdout, /^database: +fleetprof on \S+, as fleetprof_reader; PostgreSQL \d\S*, schema of \d\S*, \d+ [KM]iB$/m);
  assert.match(stdout, /^counted: +3 uploads in five minutes, the latest [\d.]+ s ago$/m);
  assert.match(stdout, /\nNothing is wrong\.\n$/);
});

test('on a terminal of 80 columns no line is longer', async () => {
  const line = `stty cols 80; '${fleetprof}' status --over=0 -c '${collector.file}'`;
  const { stdout } = await run(['script', '-qec', line, '/dev/null'], { env: { FLEETPROF_DATABASE: '', TERM: 'dumb' } });
  assert.match(stdout, /Nothing is wrong/);
  for (const text of stdout.split(/\r?\n/)) assert.ok([...text].length <= 80, text);
});

test('days are written in one form, whatever date style the reader has', async () => {
  await postgres.execute("alter role fleetprof_reader set datestyle = 'SQL, DMY'");
  const { stdout } = await run([fleetprof, 'status', '-c', collector.file], { env: { FLEETPROF_DATABASE: '' } });
  await postgres.execute('alter role fleetprof_reader reset datestyle');
  assert.match(stdout, /^partitions: +\d+, for \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d$/m);
});

test('rates are measured, and refusals of now are wrong, those of earlier a note', async () => {
  let done = false;
  const traffic = (async () => {
    while (!done) {
      assert.equal((await upload(collector)).status, 204);
      assert.equal((await upload(collector, { origin: 'http://elsewhere.example' })).status, 403);
    }
  })();
  const now = await status(['-c', collector.file, '--over=1']).finally(() => { done = true; });
  await traffic;
  assert.deepEqual(now.ids, ['uploads-refused']);
  assert.match(now.findings[0].seen, /^site demo: \d+ of \d+ just now, most for the reason origin$/);
  assert.ok(now.collectors[0].uploads_per_second > 0 && now.collectors[0].refused_per_second > 0, JSON.stringify(now.collectors));
  assert.ok(now.sites[0].uploads_per_second > 0);
  assert.deepEqual([now.refusals[0].site, now.refusals[0].reason], ['demo', 'origin']);
  for (let i = 0; i < 10; i++) await upload(collector, { origin: 'http://elsewhere.example' });
  assert.deepEqual((await status(['-c', collector.file])).ids, ['uploads-refused-earlier']);
});

// From here on, some uploads were refused earlier.
const earlier = 'uploads-refused-earlier';

test('the database is away, the collector is away, both are', async () => {
  const noDatabase = await with_({ database: nowhere });
  assert.deepEqual(noDatabase.ids, ['database-unreachable', earlier]);
  assert.deepEqual([noDatabase.collectors.length, noDatabase.database], [1, []]);
  const admin = `127.0.0.1:${await freePort()}`;
  const noCollector = await with_({ admin });
  assert.deepEqual(noCollector.ids, ['collector-stopped']);
  assert.equal(noCollector.collectors[0].uploads_per_second, null);
  assert.ok(noCollector.collectors[0].error.includes('onnect'), noCollector.collectors[0].error);
  assert.equal(noCollector.database.length, 1);
  const noSocket = await with_({ admin: 'unix:/nonexistent/admin.sock' });
  assert.deepEqual(noSocket.ids, ['collector-stopped']);
  assert.equal(noSocket.collectors[0].error, 'nothing answers on the socket /nonexistent/admin.sock');
  const neither = await with_({ admin, database: nowhere });
  assert.deepEqual([neither.code, neither.ids], [1, ['collector-stopped', 'database-unreachable']]);
});

test('several collectors; one is on a unix socket, cannot write, and its spool fills', async () => {
  const socket = path.join(temporaryDir('admin'), 'admin.sock');
  const port = await freePort();
  const { file, config } = await collectorConfig({
    listen: `127.0.0.1:${port}`, admin: `unix:${socket}`, database: nowhere, flush: { min_window: '10ms', max_window: '50ms' },
    spool: { path: path.join(temporaryDir('s'), 's'), max_bytes: '4MiB', segment_bytes: '1MiB' },
  });
  const away = startProcess('fleetprofd', [path.join(binDir, 'fleetprofd'), '-c', file]);
  await waitFor(async () => (await send(`http://localhost/readyz`, { method: 'GET', socketPath: socket })).status === 200, { what: 'start' });
  const names = Array.from({ length: 2000 }, (_, i) => ({ name: `${i}${'x'.repeat(90)}` }));
  const body = envelope({ trace: {
    resources: [], frames: names, stacks: names.map((_, i) => ({ frameId: i })), samples: names.map((_, i) => ({ timestamp: i, stackId: i })),
  } });
  await waitFor(async () => (await send(`http://127.0.0.1:${port}/v1/ingest/pk_demo`, { body })).status === 503, { what: 'full spool', intervalMs: 1 });
  const args = ['--collector', collector.adminUrl, '--collector', config.admin, '-d', postgres.conninfo('fleetprof_reader')];
  const { ids, collectors } = await status(args);
  assert.deepEqual(ids, ['collector-database', 'collector-not-ready', 'spool-filling', earlier]);
  assert.deepEqual(collectors.map((/** @type {any} */ one) => [one.collector, one.database_state]), [[collector.adminUrl, 'reachable'], [config.admin, 'unreachable']]);
  await waitFor(async () => (await status(['-c', file])).ids.includes('backlog'), { what: 'old backlog' });
  assert.equal((await away.stop()).code, 0);
});

test('a password in an address is not shown', async () => {
  const { collectors } = await status(['--collector', `http://user:secret@${collector.config.admin}/`, '-d', postgres.conninfo('fleetprof_reader')]);
  assert.equal(collectors[0].collector, collector.adminUrl);
  assert.equal(collectors[0].database_state, 'reachable');
});

test('something else at the address of the admin listener', async () => {
  const { ids, collectors } = await with_({}, ['--collector', collector.config.listen, '-d', postgres.conninfo('fleetprof_reader')]);
  assert.deepEqual(ids, ['admin-not-collector']);
  assert.match(collectors[0].error, /status 404/);
});

test('a schema of another version, and partitions that are missing', async () => {
  await postgres.execute(`create table kept as select * from fleetprof.schema_version;
    update fleetprof.schema_version set version = '0.0.9'`);
  assert.deepEqual((await status(['-c', collector.file])).ids, [earlier, 'versions-differ']);
  await postgres.execute(`delete from fleetprof.schema_version; insert into fleetprof.schema_version select * from kept; drop table kept;
    begin; create schema aside;
    do $$ declare r record; begin
      for r in select c.oid::regclass::text as part, p.oid::regclass::text as parent from pg_inherits i
        join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent where p.relname = 'upload' loop
        execute format('alter table %s detach partition %s', r.parent, r.part);
        execute format('alter table %s set schema aside', r.part);
      end loop; end $$; commit`);
  const { ids, database } = await status(['-c', collector.file]);
  await postgres.execute(`drop schema aside cascade; select fleetprof_data.make_partitions(array[(now() at time zone 'UTC')::date])`);
  assert.deepEqual([ids, database[0].missing_partitions], [['database-partitions', earlier], 'fleetprof_data.upload']);
});

test('a database without the schema, one that is not there, and a role that may not read', async () => {
  const of = (/** @type {string} */ conninfo) => status(['--collector', collector.config.admin, '-d', conninfo]);
  assert.deepEqual((await of(postgres.conninfo('fleetprof_reader', 'empty'))).ids, ['database-not-migrated', earlier]);
  assert.deepEqual((await of(postgres.conninfo('fleetprof_reader', 'nothing'))).ids, ['database-not-migrated', earlier]);
  const { ids, findings } = await of(postgres.conninfo('stranger'));
  assert.deepEqual(ids, ['database-reading', earlier]);
  assert.match(findings[0].seen, /permission denied/);
  assert.deepEqual((await of(postgres.conninfo('nobody_we_know'))).ids, ['database-reading', earlier]);
});

test('--watch prints again and again', async () => {
  const watching = startProcess('status', [fleetprof, 'status', '--json', '--over=0', '--watch=1', '-c', collector.file], { env: { FLEETPROF_DATABASE: '' } });
  await waitFor(() => (watching.output().match(/"findings"/g) ?? []).length >= 3, { what: 'third round' });
  await watching.stop();
});

for (const [what, args, message] of /** @type {[string, string[], RegExp][]} */ ([
  ['an address that is invalid', ['--collector', 'ftp://shop.example'], /admin listener, such as 127\.0\.0\.1:8601, not "ftp/],
  ['a path without a host', ['--collector', '/run/admin.sock'], /admin listener/],
  ['a password without a scheme', ['--collector', 'user:secret@127.0.0.1:1'], /admin listener/],
  ['a page', ['--collector', 'http://127.0.0.1:1/?x'], /admin listener/],
  ['no seconds', ['--watch=0'], /--watch takes a whole number of seconds from 1 to 3600/],
  ['a word for seconds', ['--over=soon'], /--over takes a whole number of seconds from 0 to 3600, not "soon"/],
  ['too many seconds', ['--over', '3601'], /--over takes/],
  ['a configuration that is not there', ['-c', '/nonexistent/fleetprof.yaml'], /nonexistent/],
])) {
  test(`wrong use: ${what}`, async () => {
    const { code, stdout, stderr } = await run([fleetprof, 'status', ...args], { env: { FLEETPROF_DATABASE: '' } });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, message);
  });
}

test('status reads no metric that a collector does not have', async () => {
  const dir = path.join(repository, 'cli/doctor');
  const source = fs.readdirSync(dir).filter((file) => file.startsWith('status')).map((file) => fs.readFileSync(path.join(dir, file), 'utf8')).join('');
  const names = new Set([...source.matchAll(/"((?:fleetprof|process)_[a-z_]+)"/g)].map(([, name]) => name));
  names.delete('fleetprof_reader');
  assert.ok(names.size > 10);
  const there = new Set(Object.keys(await collector.metrics()).map((key) => key.replace(/\{.*/, '')));
  assert.deepEqual([...names].filter((name) => !there.has(name)), []);
});
