// SPDX-License-Identifier: Apache-2.0
/**
 * A DBA works beside a running collector, and roles and databases have unusual settings: uploads go on meanwhile, and all
 * are counted.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import {
  binDir, freePort, postgresBinDir, repository, run, runOrThrow, startCollector, startPostgres, startProcess, temporaryDir, waitFor,
} from '../behaviour/stack.mjs';
import { openLedger } from './ledger.mjs';

const fleetprof = path.join(binDir, 'fleetprof');
const isRoot = process.getuid?.() === 0;

/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
/** @type {import('../behaviour/stack.mjs').Collector} */
let collector;
before(async () => {
  postgres = await startPostgres({ migrated: true });
  collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
});
after(async () => {
  await collector.stop();
  await postgres.stop();
});

/**
 * Uploads until the work is done, and at least 30 times; then compares.
 * @param {string} accident
 * @param {() => Promise<unknown>} work
 */
async function uploadDuring(accident, work) {
  const ledger = openLedger();
  let working = true;
  const done = work().finally(() => { working = false; });
  for (let i = 0; working || i < 30; i++) {
    await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' });
    await new Promise((resolve) => { setTimeout(resolve, 10); });
  }
  await done;
  await ledger.settle(accident, postgres.sql);
}

/** Each must be outside a transaction. */
const maintenance = {
  'REINDEX': ['reindex table fleetprof_data.upload_id', 'reindex table fleetprof_data.stack', 'reindex table fleetprof_data.unsealed'],
  'REINDEX CONCURRENTLY': ['reindex table concurrently fleetprof_data.upload_id', 'reindex table concurrently fleetprof_data.frame'],
  'VACUUM FULL': ['vacuum full fleetprof_data.upload_id', 'vacuum full fleetprof_data.frame', 'vacuum full fleetprof_data.upload'],
  'CLUSTER': ['cluster fleetprof_data.upload_id using upload_id_pkey', 'cluster fleetprof_data.segment using segment_pkey'],
  'VACUUM and ANALYZE': ['vacuum analyze', 'analyze fleetprof_data.total_recent'],
};
for (const [name, statements] of Object.entries(maintenance)) {
  test(`${name} beside a collector`, () => uploadDuring(name, async () => {
    for (const statement of statements)
      await runOrThrow([`${postgresBinDir()}/psql`, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', postgres.conninfo(), '-c', statement]);
  }));
}

test('pg_dump beside a collector, and the dump has what was counted before it', async () => {
  const file = path.join(temporaryDir('dump'), 'dump');
  const [{ before: counted }] = await postgres.sql('select count(*) as before from fleetprof.upload_log');
  await uploadDuring('pg_dump', () => runOrThrow([`${postgresBinDir()}/pg_dump`, '--format=custom', `--file=${file}`, postgres.conninfo()]));
  await postgres.execute('create database restored');
  await run([`${postgresBinDir()}/pg_restore`, '-d', postgres.conninfo('postgres', 'restored'), file]);
  const restored = await runOrThrow([`${postgresBinDir()}/psql`, '-XqAt', '-d', postgres.conninfo('postgres', 'restored'),
    '-c', 'select count(*) from fleetprof.upload_log']);
  assert.ok(Number(restored) >= counted, `${restored} of ${counted}`);
});

test('a lock on a table for four seconds: flushes wait for it', () => uploadDuring('a table is locked', () =>
  postgres.execute('begin; lock table fleetprof_data.upload_id; select pg_sleep(4); commit')));

test('a lock on a table for longer than flushes wait: they fail and are tried again',
  { skip: process.env.FLEETPROF_LONG === '1' ? false : 'takes 40 seconds; FLEETPROF_LONG=1' }, async () => {
    const { fleetprof_flush_errors_total: before } = await collector.metrics();
    await uploadDuring('a table is locked for 40 s', () =>
      postgres.execute('begin; lock table fleetprof_data.upload_id; select pg_sleep(40); commit'));
    assert.ok((await collector.metrics()).fleetprof_flush_errors_total > before);
    assert.match(collector.server.output(), /msg="flush failed.*lock timeout/);
  });

test('a long reader in the way of housekeeping: uploads go on, and the partition goes after the reader', async () => {
  await postgres.execute("select fleetprof_data.make_partitions(array['2020-01-01'::date])");
  const reader = postgres.execute('begin isolation level repeatable read; select count(*) from fleetprof_data.upload; select pg_sleep(600)')
    .catch(() => {});
  const partition = async () => (await postgres.sql("select to_regclass('fleetprof_data.upload_20200101') is not null as there"))[0].there;
  await waitFor(async () => (await postgres.sql("select from pg_stat_activity where query ~ 'pg_sleep.600' and state = 'active' and pid <> pg_backend_pid()")).length > 0);
  const other = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
  await uploadDuring('long reader', () => waitFor(async () => /lock timeout/.test(other.server.output()), { what: 'try of housekeeping' }));
  assert.equal(await partition(), true);
  await postgres.sql("select pg_terminate_backend(pid) from pg_stat_activity where query ~ 'pg_sleep.600' and pid <> pg_backend_pid()");
  await reader;
  await waitFor(async () => !await partition(), { what: 'drop of the partition' });
  await other.stop();
});

test('time-outs of the role and of the database: none of them ends a flush', async (t) => {
  t.after(() => postgres.execute('alter role fleetprof_writer reset all; alter database fleetprof reset all; '
    + 'alter role postgres in database fleetprof reset all; alter role fleetprof_reader reset all'));
  const [{ version }] = await postgres.sql("select current_setting('server_version_num')::integer as version");
  const limits = ["statement_timeout = '500ms'", "lock_timeout = '200ms'", "idle_in_transaction_session_timeout = '500ms'",
    "idle_session_timeout = '500ms'", "default_transaction_isolation = 'serializable'", ...(version >= 170_000 ? ["transaction_timeout = '500ms'"] : [])];
  await postgres.execute(limits.map((limit, i) => `alter ${i % 2 ? 'role fleetprof_writer' : 'database fleetprof'} set ${limit};`).join(''));
  // The test itself is not in a hurry.
  await postgres.execute(limits.map((limit) => `alter role postgres in database fleetprof set ${limit.replace(/= '\d.*/, '= 0')};`).join(''));
  const other = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
  const ledger = openLedger();
  const lock = postgres.execute('begin; lock table fleetprof_data.upload_id in exclusive mode; select pg_sleep(2); commit');
  for (let i = 0; i < 10; i++) await ledger.upload(other.url, { site: 'demo', key: 'pk_demo' });
  await lock;
  await waitFor(async () => (await other.metrics()).fleetprof_spool_backlog_records === 0);
  // The server closes the idle session; the next flush opens another, without a failure.
  await waitFor(async () => (await postgres.sql("select from pg_stat_activity where usename = 'fleetprof_writer' and state <> 'idle'")).length === 0);
  await waitFor(async () => /idle-session timeout/.test(postgres.server.output()), { what: 'end of an idle session' });
  await ledger.upload(other.url, { site: 'demo', key: 'pk_demo' });
  await ledger.settle('time-outs of role', postgres.sql);
  assert.doesNotMatch(other.server.output(), /lock timeout|idle-in-transaction|transaction timeout|57P05|level=error/, other.server.output());
  await other.stop();
  await postgres.execute('alter database fleetprof reset all');
  // Commands that ask have the limits of whoever asks.
  await postgres.execute("alter role fleetprof_reader set statement_timeout = '1ms'");
  const top = await run([fleetprof, 'top', '--site', 'demo', '--database', postgres.conninfo('fleetprof_reader')]);
  assert.deepEqual([top.code, /statement timeout/.test(top.stderr)], [2, true], top.stderr);
});

/** The cells of the manual's table, as statements that set them; "yours" is not set. @type {Record<string, string[]>} */
const limitsOfCells = {
  '60 s': ['60s'], '30 s': ['30s'], '2 s': ['2s'], '10 min': ['10min'], 'none': ['0'], 'yours': [], '`--statement-timeout`': ['77s'],
  '30 s; 2 s to drop a partition': ['30s'],
};

/** The time-outs that the manual names: by setting, then by the table's column. */
function limitsOfManual() {
  const page = fs.readFileSync(path.join(repository, 'docs/postgresql.md'), 'utf8');
  const [head, , ...rows] = page.split('\n## Time-outs\n')[1].split('\n## ')[0].split('\n').filter((line) => line.startsWith('|'))
    .map((line) => line.slice(2, -2).split(' | '));
  return Object.fromEntries(rows.map(([setting, ...cells]) =>
    [/[a-z_]+/.exec(setting)?.[0] ?? '', Object.fromEntries(cells.map((cell, i) => [head[i + 1], limitsOfCells[cell] ?? assert.fail(cell)]))]));
}

test("the manual's time-outs are those that transactions set", async () => {
  const dir = temporaryDir('log');
  if (isRoot) await runOrThrow(['chown', 'postgres:postgres', dir]);
  const own = await startPostgres({ settings: { log_statement: 'all', logging_collector: 'on', log_directory: dir, log_filename: 'log', log_file_mode: '0644' } });
  let read = 0;
  /** Returns the settings that were logged since the last call: "NAME = VALUE". */
  const saidSince = () => {
    const text = fs.readFileSync(path.join(dir, 'log'), 'latin1').slice(read);
    read += text.length;
    return [...new Set([...text.matchAll(/set local ([a-z_]+_timeout) = '?(\w+)/g)].map(([, name, value]) => `${name} = ${value}`))].sort();
  };
  await runOrThrow([fleetprof, 'migrate', '--database', own.conninfo()]);
  const migrate = saidSince();
  const other = await startCollector({ config: { database: own.conninfo('fleetprof_writer') } });
  await openLedger().upload(other.url, { site: 'demo', key: 'pk_demo' });
  await waitFor(async () => {
    const metrics = await other.metrics();
    return metrics.fleetprof_last_housekeeping_timestamp_seconds > 0 && metrics.fleetprof_uploads_flushed_total === 1;
  }, { what: 'flush and housekeeping' });
  await other.stop();
  const collector = saidSince();
  const address = `127.0.0.1:${await freePort()}`;
  const report = startProcess('serve', [fleetprof, 'serve', '--listen', address, '--statement-timeout', '77', '--database', own.conninfo('fleetprof_reader')]);
  await waitFor(async () => (await fetch(`http://${address}/api/v1/sites`)).ok, { what: 'answer of the report' });
  await report.stop();
  const serve = saidSince();

  const [{ version, dropping }] = await own.sql(`select current_setting('server_version_num')::integer as version,
    (select array_to_string(proconfig, ' ') from pg_proc where proname = 'drop_partition') as dropping`);
  const manual = Object.entries(limitsOfManual()).filter(([name]) => name !== 'transaction_timeout' || version >= 170_000);
  assert.equal(manual.length, version >= 170_000 ? 4 : 3);
  /** @param {string[]} columns */
  const limits = (...columns) => [...new Set(manual.flatMap(([name, by]) => columns.flatMap((column) => by[column].map((value) => `${name} = ${value}`))))].sort();
  assert.deepEqual(migrate, limits('`migrate`'));
  assert.deepEqual(collector, limits('collector', 'housekeeping'));
  assert.deepEqual(serve, limits('`serve`'));
  assert.match(dropping, /lock_timeout=2s/);
  await own.stop();
});

test('hosted PostgreSQL: no superuser, passwords for all roles', async () => {
  const dir = temporaryDir('hba');
  const hba = path.join(dir, 'pg_hba.conf');
  fs.writeFileSync(hba, 'local all postgres trust\nlocal all all scram-sha-256\n');
  if (isRoot) await runOrThrow(['chown', '-R', 'postgres:postgres', dir]);
  const hosted = await startPostgres({ settings: { hba_file: hba } });
  await hosted.execute("create role deployer login createrole password 'd'; alter database fleetprof owner to deployer");
  /** @param {string} user @param {string} password */
  const as = (user, password) => `${hosted.conninfo(user)} password=${password}`;
  await runOrThrow([fleetprof, 'migrate', '--database', as('deployer', 'd')]);
  await runOrThrow([`${postgresBinDir()}/psql`, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', as('deployer', 'd'), '-c',
    "alter role fleetprof_writer password 'w'; alter role fleetprof_reader password 'r'"]);
  await runOrThrow([fleetprof, 'migrate', '--database', as('deployer', 'd')]);
  const own = await startCollector({ config: { database: as('fleetprof_writer', 'w') } });
  const ledger = openLedger();
  for (let i = 0; i < 5; i++) await ledger.upload(own.url, { site: 'demo', key: 'pk_demo' });
  await ledger.settle('hosted PostgreSQL', hosted.sql);
  assert.deepEqual(await hosted.sql('select extname as name from pg_extension'), [{ name: 'plpgsql' }]);
  await waitFor(async () => (await own.metrics()).fleetprof_last_housekeeping_timestamp_seconds > 0, { what: 'housekeeping' });
  const top = await runOrThrow([fleetprof, 'top', '--site', 'demo', '--csv', '--database', as('fleetprof_reader', 'r')]);
  assert.ok(top.split('\n').length > 2, top);
  await own.stop();
  await hosted.stop();
});

test('a hot standby answers the command line and the report; a collector there says that it is read-only', async () => {
  const dir = temporaryDir('standby');
  if (isRoot) await runOrThrow(['chown', 'postgres:postgres', dir]);
  const data = path.join(dir, 'data');
  await runOrThrow([`${postgresBinDir()}/pg_basebackup`, '-R', '-X', 'stream', '-c', 'fast', '-D', data, '-d', postgres.conninfo('postgres', 'replication')],
    { user: 'postgres' });
  const server = startProcess('standby', [`${postgresBinDir()}/postgres`, '-D', data, '-c', 'listen_addresses=', '-c',
    `unix_socket_directories=${dir}`, '-c', 'max_connections=40', '-c', 'max_standby_streaming_delay=1s'], { user: 'postgres', deathSignal: 'SIGQUIT' });
  /** @param {string} user */
  const standby = (user) => `host=${dir} port=5432 dbname=fleetprof user=${user}`;
  await waitFor(() => runOrThrow([`${postgresBinDir()}/psql`, '-XqAt', '-d', standby('postgres'), '-c', 'select 1']), { what: 'standby' });
  const top = await runOrThrow([fleetprof, 'top', '--site', 'demo', '--csv', '--database', standby('fleetprof_reader')]);
  assert.ok(top.split('\n').length > 2, top);
  const address = `127.0.0.1:${await freePort()}`;
  const report = startProcess('serve', [fleetprof, 'serve', '--listen', address, '--database', standby('fleetprof_reader')]);
  await waitFor(async () => (await fetch(`http://${address}/api/v1/sites`)).ok, { what: 'answer of the report' });
  const misled = await startCollector({ config: { database: standby('fleetprof_writer') } });
  const ledger = openLedger();
  await ledger.upload(misled.url, { site: 'demo', key: 'pk_demo' });
  await waitFor(async () => (await misled.metrics())['fleetprof_database_state{state="read_only"}'] === 1, { what: 'state read_only' });
  // How far it is behind is known from the first transaction on that it replays.
  await postgres.execute('create table public.replayed (); drop table public.replayed');
  await waitFor(async () => {
    const status = await run([fleetprof, 'status', '--over=0', '-c', misled.file]);
    assert.match(status.stdout, /^replica: +\d.* behind the primary$/m, status.stdout + status.stderr);
    return true;
  }, { what: 'replica in status' });
  await misled.server.stop();
  await report.stop();

  // Replay that has waited for a reader long enough ends it.
  const reader = run([`${postgresBinDir()}/psql`, '-XqAt', '-d', standby('fleetprof_reader'), '-c',
    'begin isolation level repeatable read; select count(*) from fleetprof_data.upload; select pg_sleep(600)']);
  await waitFor(async () => (await runOrThrow([`${postgresBinDir()}/psql`, '-XqAt', '-d', standby('postgres'), '-c',
    "select pid from pg_stat_activity where query ~ 'pg_sleep.600' and state = 'active' and pid <> pg_backend_pid()"])).trim() !== '', { what: 'reader' });
  await postgres.execute('begin; lock table fleetprof_data.upload; commit');
  assert.match((await reader).stderr, /conflict with recovery/);
  await server.stop('SIGINT');
});
