// SPDX-License-Identifier: Apache-2.0
/**
 * The sealer's thread beside others, with a real PostgreSQL.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startCollector, startPostgres, waitFor } from './stack.mjs';
import { assertNoDifference, dayUs, end, hold, holdSite, hourUs, startFlushes, startUs, tiles, waits } from './seal_tool.mjs';
import { assertCounted, killWriters, newDatabase, range, startWriter } from './store_tool.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(async () => {
  killWriters();
  await postgres.stop();
});

test('a collector whose connection was cut works only once it has the lock again', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 15 });
  for (const site of ['one', 'two', 'three']) await flushes.flush(site, [startUs]);
  await holdSite(database, 'one');
  const collector = await startCollector({ config: { database: database.conninfo() } });
  await waitFor(() => waits(database, '^delete from fleetprof_data.unsealed'));
  const release = hold(database, "select pg_advisory_lock(hashtext('fleetprof.sealing'))");
  await waitFor(() => waits(database, 'pg_advisory_lock'));
  await end(database, '^delete from fleetprof_data.unsealed');
  await waitFor(async () => !await waits(database, 'pg_advisory_lock'));

  // It goes on with the other sites.
  await waitFor(async () => (await tiles(database)).length > 0 || (await database.sql(`select from pg_stat_activity
    where datname = current_database() and query = 'rollback' and pid <> pg_backend_pid()`)).length > 0);
  assert.deepEqual(await tiles(database), []);
  await release();
  await waitFor(async () => (await tiles(database)).filter(({ span }) => span === 3).length === 3, { what: 'blocks' });
  await assertNoDifference(database);
  await collector.stop();
});

test('housekeeping does not wait until everything is sealed', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 16 });
  const yesterdayUs = (Math.floor(Date.now() / 86_400_000) - 1) * dayUs;
  for (const site of ['one', 'two']) await flushes.flush(site, [yesterdayUs]);
  const release = await holdSite(database, 'two');
  const collector = await startCollector({ config: { database: database.conninfo() } });
  await waitFor(async () => (await collector.metrics()).fleetprof_last_housekeeping_timestamp_seconds > 0);
  await release();
  await waitFor(async () => (await tiles(database)).length === 2);
  await collector.stop();
});

test('housekeeping soon follows when the collector before gives up the lock', async () => {
  const database = await newDatabase(postgres);
  const release = hold(database, "select pg_advisory_lock(hashtext('fleetprof.sealing'))");
  await waitFor(async () => (await database.sql("select from pg_locks where locktype = 'advisory' and granted")).length > 0);
  const collector = await startCollector({ config: { database: database.conninfo() } });
  await waitFor(async () => (await database.sql(`select from pg_stat_activity
    where datname = current_database() and query = 'rollback' and pid <> pg_backend_pid()`)).length > 0);
  assert.equal((await collector.metrics()).fleetprof_last_housekeeping_timestamp_seconds ?? 0, 0);
  await release();
  await waitFor(async () => (await collector.metrics()).fleetprof_last_housekeeping_timestamp_seconds > 0,
    { what: 'housekeeping' });
  await collector.stop();
});

test('the sealer beside a writer seals late data at once', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { sealing: 1 } });
  const receivedUs = Math.floor(Date.now() / 3_600_000) * hourUs - 2 * hourUs;
  await writer.append(1, 30, receivedUs);
  await writer.flushed();
  await waitFor(async () => await writer.metric('seals_total') > 0 && await writer.metric('unsealed_entries') === 0);
  assert.deepEqual(await database.sql('select count(*) from fleetprof_data.frame_recent'), [{ count: 0 }]);
  await assertCounted(database, writer, range(1, 30));
  await writer.append(31, 30, receivedUs + hourUs / 2);
  await writer.append(61, 20);
  await writer.flushed();
  // The current hour waits for its end.
  await waitFor(async () => (await database.sql(`select from fleetprof_data.unsealed where bucket < now() - interval '62 minutes'`)).length === 0);
  await waitFor(async () => await writer.metric('unsealed_entries') > 0);
  assert.ok(await writer.metric('unsealed_age_seconds') < 3700);
  assert.equal(await writer.metric('seal_errors_total'), 0);
  assert.ok(await writer.metric('seal_entries_read_total') > 0);
  assert.ok(await writer.metric('seal_entries_written_total') > 0);
  await assertCounted(database, writer, range(1, 80));
  await writer.quit();
});

test('a stop does not wait for a seal that hangs, nor does a flush', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { sealing: 1 } });
  const receivedUs = Math.floor(Date.now() / 3_600_000) * hourUs - 2 * hourUs;
  // Making a day's partitions also waits for the lock: the days are there before it.
  await writer.append(11, 5, receivedUs);
  await writer.append(16, 5);
  await writer.flushed();
  await waitFor(async () => await writer.metric('last_housekeeping_timestamp_seconds') > 0 && await writer.metric('seals_total') > 0);
  const lock = database.execute('begin; lock table fleetprof_data.total_hours; select pg_advisory_lock(1); select pg_sleep(60)').catch(() => {});
  await waitFor(async () => (await database.sql("select from pg_locks where locktype = 'advisory' and objid = 1")).length > 0);
  await writer.append(1, 5, receivedUs);
  await waitFor(async () => (await database.sql(`select from pg_stat_activity
    where datname = current_database() and usename = 'fleetprof_writer' and wait_event_type = 'Lock'`)).length > 0);
  await writer.append(6, 5);
  await writer.flushed();
  const began = performance.now();
  await writer.quit();
  assert.ok(performance.now() - began < 3000);
  await database.sql('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()');
  await lock;
  const other = await startWriter({ conninfo: database.conninfo(), settings: { sealing: 1 } });
  await waitFor(async () => await other.metric('seals_total') > 0);
  await assertCounted(database, other, range(1, 20));
  await other.quit();
});
