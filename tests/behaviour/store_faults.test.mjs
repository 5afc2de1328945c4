// SPDX-License-Identifier: Apache-2.0
/**
 * Spool to SQL while things break: the numbers stay those of an undisturbed run.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startPostgres, temporaryDir, waitFor } from './stack.mjs';
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

/** Ends the writer's backends; gives their number. @param {import('./store_tool.mjs').Database} database */
async function killBackends(database) {
  const rows = await database.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = 'fleetprof_writer'`);
  return rows.length;
}

/**
 * A proxy between libpq and PostgreSQL, on a unix socket. `swallow` gets the number of a commit and decides whether
 * its reply is lost together with the connection.
 * @param {(commit: number) => boolean} swallow
 */
async function startProxy(swallow) {
  const dir = temporaryDir('proxy');
  let commits = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(path.join(postgres.socketDir, '.s.PGSQL.5432'));
    let mute = false;
    client.on('data', (bytes) => {
      if (bytes.includes('commit\0') && swallow(++commits)) mute = true;
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (mute) client.destroy();
      else client.write(bytes);
    });
    for (const [one, other] of [[client, upstream], [upstream, client]]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  await new Promise((resolve) => { server.listen(path.join(dir, '.s.PGSQL.5432'), () => resolve(undefined)); });
  return { dir, commits: () => commits, close: () => server.close() };
}

test('backends killed at random moments: every upload is counted once', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  let appended = 0;
  for (let round = 0; round < 9; round++) {
    await writer.append(appended + 1, 40);
    appended += 40;
    // Breaks sometimes during the session's start, sometimes during a flush or the wait for uploads.
    await waitFor(() => killBackends(database), { intervalMs: round });
    if (round % 3 === 2) await writer.flushed();
  }
  await writer.flushed();
  await assertCounted(database, writer, range(1, appended));
  await writer.quit();
});

test('a commit whose reply is lost is not counted again', async () => {
  const database = await newDatabase(postgres);
  // Odd commits are the dictionaries', even ones the facts'.
  const proxy = await startProxy((commit) => commit === 2 || commit === 5);
  const writer = await startWriter({ conninfo: database.conninfo().replace(/host=\S+/, `host=${proxy.dir}`) });
  for (const first of [1, 101, 201]) {
    await writer.append(first, 100);
    await writer.flushed();
  }
  await assertCounted(database, writer, range(1, 300));
  assert.equal(await writer.metric('flush_errors_total'), 2);
  assert.equal(await writer.metric('uploads_duplicate_total'), 0);
  assert.ok(proxy.commits() >= 6);
  await writer.quit();
  proxy.close();
});

test('a collector killed between append, flush, commit and trim counts nothing twice and loses nothing', async () => {
  const database = await newDatabase(postgres);
  const spoolDir = path.join(temporaryDir('spool'), 'spool');
  let appended = 0;
  for (let round = 0; round < 8; round++) {
    const writer = await startWriter({ conninfo: database.conninfo(), spoolDir, settings: { window_us: 1000 } });
    for (let i = 0; i <= round % 4; i++) {
      await writer.append(appended + 1, 60);
      appended += 60;
    }
    await writer.kill();
  }
  const writer = await startWriter({ conninfo: database.conninfo(), spoolDir });
  await writer.flushed();
  await assertCounted(database, writer, range(1, appended));
  await writer.quit();
});

test('PostgreSQL stopped, crashed and started again: the spool absorbs it', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  let appended = 0;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGQUIT'])) {
    await writer.append(appended + 1, 100);
    await postgres.stop(signal);
    await waitFor(async () => await writer.metric('database_up') === 0);
    await writer.append(appended + 101, 100);
    appended += 200;
    await waitFor(async () => await writer.metric('spool_backlog_records') >= 100);
    await waitFor(async () => await writer.metric('spool_backlog_age_seconds') >= 1);
    await postgres.start();
    await writer.flushed();
  }
  await assertCounted(database, writer, range(1, appended));
  assert.equal(await writer.metric('database_up'), 1);
  // An outage is logged when it begins and when it ends, not at every try.
  assert.ok(writer.log().split('\n').length < 20, writer.log());
  await writer.quit();
});

test('a database that hangs does not hold up the stop; what is left is flushed by the next start', async () => {
  const database = await newDatabase(postgres);
  let writer = await startWriter({ conninfo: database.conninfo(), settings: { stop_us: 300_000 } });
  await writer.append(1, 10);
  await writer.flushed();
  const lock = database.execute(`begin; lock table fleetprof_data.frame_recent;
    select pg_advisory_lock(1); select pg_sleep(60)`).catch(() => {});
  await waitFor(async () => (await database.sql("select from pg_locks where locktype = 'advisory' and objid = 1")).length > 0);
  await writer.append(11, 10);
  await waitFor(async () => (await database.sql(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")).length > 0);
  // Though nothing ends while it hangs.
  await waitFor(async () => await writer.metric('spool_backlog_age_seconds') >= 2, { what: 'age of the backlog' });
  const began = performance.now();
  await writer.quit();
  assert.ok(performance.now() - began < 3000);
  // The server notices that nobody waits for the statement any more.
  await waitFor(async () => (await database.sql(`select from pg_stat_activity
    where datname = current_database() and usename = 'fleetprof_writer'`)).length === 0);
  await database.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`);
  await lock;

  writer = await startWriter({ conninfo: database.conninfo(), spoolDir: writer.spoolDir });
  await writer.flushed();
  await assertCounted(database, writer, range(1, 20));
  await writer.quit();
});

test('a stop flushes what is left when the database answers', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { window_us: 60_000_000 } });
  await writer.append(1, 5);
  await writer.flushed();
  await writer.append(6, 5);
  const other = await startWriter({ conninfo: database.conninfo() });
  await writer.quit();
  await assertCounted(database, other, range(1, 10));
  await other.quit();
});

test('a read-only server is not a place to flush to: tried again, nothing set aside', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 5);
  await writer.flushed();
  await database.execute('alter role fleetprof_writer set default_transaction_read_only = on');
  await killBackends(database);
  await writer.append(6, 5);
  await waitFor(() => /read-only/.test(writer.log()));
  await database.execute('alter role fleetprof_writer reset default_transaction_read_only');
  await writer.flushed();
  await assertCounted(database, writer, range(1, 10));
  assert.equal(await writer.metric('uploads_quarantined_total'), 0);
  await writer.quit();
});

test('a partition that vanishes is made again, and no upload is blamed for it', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 5);
  await writer.flushed();
  await database.execute(`do $$ declare child name; begin
    for child in select relname from pg_class where relname ~ '_2\\d{7}$' and relkind = 'r' loop
      execute format('drop table fleetprof_data.%I', child);
    end loop; end $$;
    delete from fleetprof_data.upload_id`);
  await writer.append(6, 5);
  await writer.flushed();
  assert.equal(await writer.metric('uploads_quarantined_total'), 0);
  assert.deepEqual(await database.sql('select count(*) from fleetprof_data.upload'), [{ count: 5 }]);
  await writer.quit();
});

test('a query that holds a partition past its retention holds up no flush', async () => {
  const database = await newDatabase(postgres);
  await database.sql('select fleetprof_data.trust_clock(now())'); // before a history is made up
  let writer = await startWriter({ conninfo: database.conninfo(), settings: { log_us: 60 * 86_400_000_000 } });
  await writer.append(1, 5, (Date.now() - 50 * 86_400_000) * 1000);
  await writer.flushed();
  await writer.quit();
  const query = database.execute('begin; select count(*) from fleetprof_data.upload; select pg_advisory_lock(1); select pg_sleep(60)')
    .catch(() => {});
  await waitFor(async () => (await database.sql("select from pg_locks where locktype = 'advisory' and objid = 1")).length > 0);

  writer = await startWriter({ conninfo: database.conninfo(), spoolDir: writer.spoolDir, settings: { sealing: 1, log_us: 40 * 86_400_000_000 } });
  await waitFor(() => /lock timeout/.test(writer.log()));
  await writer.append(6, 5);
  await writer.flushed();
  assert.doesNotMatch(writer.log(), /fleetprof migrate/);
  await database.sql('select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like \'%pg_sleep%\' and pid <> pg_backend_pid()');
  await query;
  await assertCounted(database, writer, range(1, 10));
  await writer.quit();
});
