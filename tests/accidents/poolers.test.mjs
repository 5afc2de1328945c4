// SPDX-License-Identifier: Apache-2.0
/**
 * Behind PgBouncer everything works, in session and in transaction mode, with as few connections as a small plan has;
 * and nothing stays behind in a session that others use next.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';

import { assertNoDifference, hourUs, startFlushes, startUs, tiles } from '../behaviour/seal_tool.mjs';
import { binDir, run, runOrThrow, startCollector, startPostgres, startProcess, freePort, waitFor } from '../behaviour/stack.mjs';
import { openLedger } from './ledger.mjs';
import { startPgBouncer } from './pgbouncer.mjs';

const fleetprof = path.join(binDir, 'fleetprof');
const rounds = process.env.FLEETPROF_LONG === '1' ? 40 : 6;
const uploadsPerRound = 25;

/**
 * Returns what the pool's sessions would leave to their next user: settings, temporary objects, locks.
 * @param {import('../behaviour/stack.mjs').Postgres} postgres
 */
async function leftBehind(postgres) {
  const pooled = `pid in (select pid from pg_stat_activity where usename ~ '^fleetprof_' and state = 'idle')`;
  return {
    locks: await postgres.sql(`select locktype, objid from pg_locks where ${pooled} and locktype in ('advisory', 'relation')`),
    temporary: await postgres.sql(`select relname as name from pg_class where relpersistence = 't'
      union all select proname from pg_proc where pronamespace::regnamespace::text ~ '^pg_temp'`),
  };
}

/** Settings that a session of the pool has and that no pooler makes. @param {string} conninfo */
async function strangeSettings(conninfo) {
  const names = (await runOrThrow(['psql', '-XqAt', '-d', conninfo, '-c',
    `select name from pg_settings where source = 'session' order by name`])).split('\n').filter(Boolean);
  // PgBouncer passes these on for each client.
  const passed = ['application_name', 'client_encoding', 'DateStyle', 'standard_conforming_strings', 'TimeZone', 'IntervalStyle'];
  return names.filter((name) => !passed.includes(name));
}

/** How many statements a session of the pool keeps prepared. @param {string} conninfo */
const preparedStatements = async (conninfo) =>
  Number(await runOrThrow(['psql', '-XqAt', '-d', conninfo, '-c', 'select count(*) from pg_prepared_statements']));

/** @param {import('../behaviour/stack.mjs').Postgres} postgres */
const cutSessions = (postgres) => postgres.sql(`select pg_terminate_backend(pid) from pg_stat_activity
  where usename ~ '^fleetprof_' and backend_type = 'client backend'`);

/** @param {string} conninfo */
async function startReport(conninfo) {
  const address = `127.0.0.1:${await freePort()}`;
  const server = startProcess('serve', [fleetprof, 'serve', '--listen', address, '--database', conninfo]);
  await waitFor(async () => (await fetch(`http://${address}/`)).ok, { what: 'serve' });
  return { server, url: `http://${address}` };
}

/** @param {{ metrics: () => Promise<Record<string, number>> }[]} collectors */
const housekept = (collectors) => waitFor(async () => {
  const metrics = await Promise.all(collectors.map((collector) => collector.metrics()));
  return metrics.every(({ fleetprof_last_housekeeping_timestamp_seconds: kept }) => kept > 0);
}, { what: 'housekeeping of each' });

/** A collector logs that a session was cut, never that a session lacks something. @param {import('../behaviour/stack.mjs').Collector} collector */
const assertOnlyCut = ({ server }) => assert.doesNotMatch(server.output(), /does not exist|already exists|level=error/);

for (const mode of /** @type {const} */ (['session', 'transaction'])) {
  // In session mode each client keeps a connection: two collectors have two each, and readers come and go.
  const size = mode === 'session' ? 6 : 2;

  test(`a pooler in ${mode} mode, sessions cut again and again: two collectors, the report and the command line`, async () => {
    const postgres = await startPostgres();
    const pooler = await startPgBouncer(postgres, { mode, size });
    await runOrThrow([fleetprof, 'migrate', '--database', pooler.conninfo('postgres')]);
    const again = await run([fleetprof, 'migrate', '--database', pooler.conninfo('postgres')]);
    assert.match(again.stdout + again.stderr, /nothing to do/);
    const ledger = openLedger();
    const collectors = await Promise.all([1, 2].map(() => startCollector({ config: { database: pooler.conninfo() } })));
    const report = await startReport(pooler.conninfo('fleetprof_reader'));
    for (let round = 0; round < rounds; round++) {
      const [{ before }] = await postgres.sql('select count(*) as before from fleetprof.upload_log');
      await Promise.all(collectors.flatMap(({ url }) => Array.from({ length: uploadsPerRound }, () =>
        ledger.upload(url, { site: 'demo', key: 'pk_demo' }))));
      await waitFor(async () => (await postgres.sql('select count(*) as now from fleetprof.upload_log'))[0].now > before, { what: 'flush' });
      await cutSessions(postgres);
    }
    assert.equal(ledger.acknowledged(), rounds * uploadsPerRound * 2);
    await ledger.settle(`pooler in ${mode} mode, sessions cut`, postgres.sql);
    await housekept(collectors);

    await waitFor(async () => (await fetch(`${report.url}/api/v1/sites`)).ok, { what: 'answer of the report' });
    for (let i = 0; i < 5; i++) {
      const top = await runOrThrow([fleetprof, 'top', '--site', 'demo', '--csv', '--database', pooler.conninfo('fleetprof_reader')]);
      assert.ok(top.split('\n').length > 2, top);
    }
    const status = await run([fleetprof, 'status', '--config', collectors[0].file]);
    assert.match(status.stdout, /fleetprof on .*as fleetprof_/, status.stdout + status.stderr);
    assert.doesNotMatch(status.stdout + status.stderr, /database-|does not exist/);
    const doctor = await run([fleetprof, 'doctor', '-c', collectors[0].file]);
    assert.doesNotMatch(doctor.stdout + doctor.stderr, /database-/, doctor.stdout);
    collectors.forEach(assertOnlyCut);
    if (mode === 'transaction') {
      assert.deepEqual(await leftBehind(postgres), { locks: [], temporary: [] });
      for (const user of ['postgres', 'fleetprof_writer', 'fleetprof_reader'])
        for (let i = 0; i < 4; i++) {
          assert.deepEqual(await strangeSettings(pooler.conninfo(user)), [], user);
          assert.equal(await preparedStatements(pooler.conninfo(user)), 0, user);
        }
    }
    await report.server.stop();
    for (const collector of collectors) await collector.stop();
    await pooler.stop();
    await postgres.stop();
  });

  test(`a pooler in ${mode} mode, sessions cut again and again: two collectors seal`, async () => {
    const postgres = await startPostgres({ migrated: true });
    const pooler = await startPgBouncer(postgres, { mode, size });
    const database = { ...postgres, conninfo: pooler.conninfo, drop: async () => {} };
    const flushes = await startFlushes(database, { seed: 31 });
    for (const site of ['one', 'two', 'three'])
      for (let hour = 0; hour < 60; hour += 4) await flushes.flush(site, [startUs + hour * hourUs]);
    const collectors = await Promise.all([1, 2].map(() => startCollector({ config: { database: pooler.conninfo() } })));
    const sealed = async () => (await postgres.sql('select count(*) as count from fleetprof_data.unsealed'))[0].count;
    for (let cut = 0, waiting = await sealed(); cut < 3 && waiting > 0; cut++) {
      const before = waiting;
      waiting = await waitFor(async () => { const now = await sealed(); return now < before ? now + 1 : 0; }, { what: 'seal' }) - 1;
      await cutSessions(postgres);
    }
    await waitFor(async () => (await tiles(database)).filter(({ span }) => span === 3).length === 3, { what: 'blocks' });
    await assertNoDifference(database);
    collectors.forEach(assertOnlyCut);
    for (const collector of collectors) await collector.stop();
    await pooler.stop();
    await postgres.stop();
  });
}

/** @param {import('./pgbouncer.mjs').PgBouncer} pooler @param {string} command of PgBouncer's console */
const tell = (pooler, command) =>
  runOrThrow(['psql', '-XqAt', '-d', pooler.conninfo('postgres').replace('dbname=fleetprof', 'dbname=pgbouncer'), '-c', command]);

test('a pooler in statement mode is named with the remedy by everything that connects; after it, all uploads are counted', async () => {
  const postgres = await startPostgres({ migrated: true });
  const pooler = await startPgBouncer(postgres, { mode: 'statement' });
  const remedy = /pool_mode = transaction/;
  const collector = await startCollector({ config: { database: pooler.conninfo() } });
  const report = await startReport(pooler.conninfo('fleetprof_reader'));
  const ledger = openLedger();
  for (let i = 0; i < 20; i++) await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' });
  await waitFor(() => /msg="flush failed.*state=failing.*hint=".*pool_mode = transaction/.test(collector.server.output()), { what: 'hint of the log' });
  const reader = ['--database', pooler.conninfo('fleetprof_reader')];
  const commands = {
    migrate: [['migrate', '--database', pooler.conninfo('postgres')], 2],
    top: [['top', '--site', 'demo', ...reader], 2],
    export: [['export', '--site', 'demo', '--format', 'folded', ...reader], 2],
    'session list': [['session', 'list', ...reader], 2],
    'session export': [['session', 'export', '1', ...reader], 2],
    'sourcemap list': [['sourcemap', 'list', ...reader], 2],
    'sourcemap remove': [['sourcemap', 'remove', '--site', 'demo', '--all', '--database', pooler.conninfo()], 2],
    status: [['status', '--config', collector.file], 1],
    doctor: [['doctor', '-c', collector.file], 1],
  };
  for (const [name, [args, code]] of Object.entries(commands)) {
    const said = await run([fleetprof, .../** @type {string[]} */ (args)]);
    assert.equal(said.code, code, `${name}: ${said.stdout}${said.stderr}`);
    assert.match(said.stdout + said.stderr, remedy, name);
    if (name === 'status' || name === 'doctor') assert.match(said.stdout, /database-pooler/);
  }
  const answer = await fetch(`${report.url}/api/v1/sites`);
  assert.equal(answer.status, 503);
  assert.match(await answer.text(), remedy);

  await tell(pooler, "set pool_mode = 'transaction'");
  await ledger.settle('pooler in statement mode', postgres.sql);
  await waitFor(async () => (await fetch(`${report.url}/api/v1/sites`)).ok, { what: 'answer of the report' });
  await report.server.stop();
  await collector.stop();
  await pooler.stop();
  await postgres.stop();
});

test('a paused pooler: status and doctor say so in time, uploads wait and are counted after it', async () => {
  const postgres = await startPostgres({ migrated: true });
  const pooler = await startPgBouncer(postgres, { mode: 'transaction', size: 1 });
  const collector = await startCollector({ config: { database: pooler.conninfo() } });
  const ledger = openLedger();
  await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' });
  await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'flush' });
  await tell(pooler, 'PAUSE');
  for (let i = 0; i < 20; i++) await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' });
  for (const command of [['status', '--config', collector.file], ['doctor', '-c', collector.file]]) {
    const said = await run(['timeout', '40', fleetprof, ...command]);
    assert.equal(said.code, 1, said.stdout + said.stderr);
    assert.match(said.stdout, /wrong: database-unreachable[^]*no answer|wrong: database-unreachable[^]*does not answer/);
  }
  await tell(pooler, 'RESUME');
  assert.equal(ledger.acknowledged(), 21);
  await ledger.settle('pooler paused', postgres.sql);
  await collector.stop();
  await pooler.stop();
  await postgres.stop();
});

/** How many clients of a role the pooler has. @param {import('./pgbouncer.mjs').PgBouncer} pooler @param {string} user */
const clientsOf = async (pooler, user) => (await tell(pooler, 'SHOW CLIENTS')).split('\n').filter((line) => line.split('|')[1] === user).length;

test("a pooler's query_wait_timeout ends a wait: the collector tries again, commands say it", async () => {
  const postgres = await startPostgres({ migrated: true });
  const pooler = await startPgBouncer(postgres, { mode: 'transaction', size: 1, settings: { query_wait_timeout: 1 } });
  const collector = await startCollector({ config: { database: pooler.conninfo() } });
  const ledger = openLedger();
  await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' });
  await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'flush' });
  const occupied = [];
  for (const user of ['fleetprof_writer', 'fleetprof_reader']) {
    occupied.push(run(['psql', '-XqAt', '-d', pooler.conninfo(user), '-c', 'begin; select pg_sleep(600)']));
    await waitFor(async () => (await postgres.sql(`select from pg_stat_activity where usename = '${user}' and query ~ 'pg_sleep.600'`)).length > 0,
      { what: `the only connection of ${user}` });
  }
  const { fleetprof_flush_errors_total: errors } = await collector.metrics();
  for (let i = 0; i < 20; i++) assert.equal(await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' }), 204);
  await waitFor(async () => (await collector.metrics()).fleetprof_flush_errors_total >= errors + 2, { what: 'second try' });
  assert.match(collector.server.output(), /msg="flush failed.*query_wait_timeout/);
  const top = await run([fleetprof, 'top', '--site', 'demo', '--database', pooler.conninfo('fleetprof_reader')]);
  assert.equal(top.code, 2, top.stdout);
  assert.match(top.stderr, /query_wait_timeout/);
  await postgres.sql("select pg_terminate_backend(pid) from pg_stat_activity where query ~ 'pg_sleep.600' and pid <> pg_backend_pid()");
  await Promise.all(occupied);
  await ledger.settle('query_wait_timeout of a pooler', postgres.sql);
  await collector.stop();
  await pooler.stop();
  await postgres.stop();
});

test("a pooler's client_idle_timeout closes idle connections: the next flush opens another, without a failure", async () => {
  const postgres = await startPostgres({ migrated: true });
  const pooler = await startPgBouncer(postgres, { mode: 'transaction', settings: { client_idle_timeout: 1 } });
  const collector = await startCollector({ config: { database: pooler.conninfo() } });
  const ledger = openLedger();
  for (let i = 0; i < 3; i++) {
    await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' });
    await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'flush' });
    await waitFor(async () => await clientsOf(pooler, 'fleetprof_writer') === 0, { what: 'end of idle connections' });
  }
  await ledger.settle('client_idle_timeout of a pooler', postgres.sql);
  assert.equal((await collector.metrics()).fleetprof_flush_errors_total, 0, collector.server.output());
  await collector.stop();
  await pooler.stop();
  await postgres.stop();
});

test('options in the connection string: PgBouncer refuses them, or drops them, and the settings of the role hold', async () => {
  const postgres = await startPostgres({ migrated: true });
  const options = " options='-c work_mem=9MB'";
  const strict = await startPgBouncer(postgres, { mode: 'transaction' });
  const refused = await run([fleetprof, 'top', '--database', strict.conninfo('fleetprof_reader') + options]);
  assert.equal(refused.code, 2, refused.stdout);
  assert.match(refused.stderr, /unsupported startup parameter/);
  const waiting = await startCollector({ config: { database: strict.conninfo() + options } });
  await waitFor(() => /msg="flush failed.*unsupported startup parameter/.test(waiting.server.output()), { what: 'failure' });
  await waiting.stop();
  await strict.stop();

  const lax = await startPgBouncer(postgres, { mode: 'transaction', settings: { ignore_startup_parameters: 'options' } });
  const collector = await startCollector({ config: { database: lax.conninfo() + options } });
  const ledger = openLedger();
  for (let i = 0; i < 5; i++) await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' });
  await ledger.settle('options behind a pooler', postgres.sql);
  /** @param {string} more */
  const memory = async (more) => (await runOrThrow(['psql', '-XqAt', '-d', lax.conninfo('fleetprof_reader') + more, '-c', 'show work_mem'])).trim();
  assert.equal(await memory(options), '4MB');
  await postgres.execute("alter role fleetprof_reader set work_mem = '9MB'");
  await cutSessions(postgres);
  assert.equal(await waitFor(() => memory(''), { what: 'answer' }), '9MB');
  await collector.stop();
  await lax.stop();
  await postgres.stop();
});

test('a collector uses two connections at most, each request of the report one', async () => {
  const postgres = await startPostgres({ migrated: true });
  const pooler = await startPgBouncer(postgres, { mode: 'transaction' });
  const collector = await startCollector({ config: { database: pooler.conninfo() } });
  const report = await startReport(pooler.conninfo('fleetprof_reader'));
  const ledger = openLedger();
  const questions = ['summary', 'hotspots', 'timings'];
  let working = true;
  /** @type {Record<string, number>} */
  const most = { fleetprof_writer: 0, fleetprof_reader: 0 };
  const watching = (async () => {
    while (working) for (const user of Object.keys(most)) most[user] = Math.max(most[user], await clientsOf(pooler, user));
  })();
  for (let round = 0; round < 10; round++) {
    const asked = questions.map((name) => fetch(`${report.url}/api/v1/${name}?site=demo`));
    await Promise.all(Array.from({ length: 20 }, () => ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' })));
    for (const answer of await Promise.all(asked)) assert.equal(answer.status, 200);
  }
  await ledger.settle('connections of a pooler', postgres.sql);
  await housekept([collector]);
  working = false;
  await watching;
  assert.ok(most.fleetprof_writer >= 1 && most.fleetprof_writer <= 2, JSON.stringify(most));
  assert.ok(most.fleetprof_reader >= 1 && most.fleetprof_reader <= questions.length, JSON.stringify(most));
  await report.server.stop();
  await collector.stop();
  await pooler.stop();
  await postgres.stop();
});
