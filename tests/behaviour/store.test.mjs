// SPDX-License-Identifier: Apache-2.0
/**
 * Spool to SQL with a real PostgreSQL: each upload counts once, despite retries, restarts and refusals.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { migrate, startPostgres, temporaryDir, waitFor } from './stack.mjs';
import { assertCounted, killWriters, newDatabase, range, refuseValues, startWriter } from './store_tool.mjs';

const dayUs = 86_400_000_000;
const nowUs = () => Date.now() * 1000;

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  // A time zone with summer time, on purpose.
  postgres = await startPostgres({ migrated: true, settings: { timezone: 'America/New_York' } });
});
after(async () => {
  killWriters();
  await postgres.stop();
});

test('every upload of a spool is in SQL once, with all its sums', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 800);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 800));
  assert.equal(await writer.metric('uploads_flushed_total'), 800);
  assert.equal(await writer.metric('flush_errors_total'), 0);
  await writer.quit();
});

test('one upload and then silence is flushed by time', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { window_us: 250_000 } });
  await writer.append(1, 1);
  await writer.flushed(5_000);
  await assertCounted(database, writer, [1]);
  await writer.quit();
});

/**
 * Appends 40 uploads of random seeds every 50 ms for as long as `goesOn`. Returns how often a busy machine left so long
 * between two that the collector was not busy.
 * @param {import('./store_tool.mjs').Writer} writer @param {() => Promise<boolean>} goesOn
 */
async function keepBusy(writer, goesOn) {
  let next = performance.now();
  let last = next;
  let pauses = 0;
  await waitFor(async () => {
    const began = performance.now();
    if (began < next) return false;
    next += 50;
    await writer.append(Math.floor(Math.random() * 1e9), 40);
    pauses += Number(performance.now() - last > 95);
    last = began;
    return !await goesOn();
  }, { intervalMs: 5, timeoutMs: 90_000, what: 'flush under load' });
  return pauses;
}

test('a busy collector gathers uploads, and flushes them when it is no longer busy', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { window_us: 100_000, max_window_us: 60_000_000 } });
  await writer.append(1, 1);
  await writer.flushed();
  const began = performance.now();
  const pauses = await keepBusy(writer, async () => performance.now() - began < 2000);
  const flushes = await writer.metric('flushes_total');
  assert.ok(flushes <= 3 + pauses, `${flushes} flushes, ${pauses} pauses`);
  await writer.flushed(10_000);
  await writer.quit();
});

test('a busy collector flushes a full window, and one that has waited for half of max_window', async () => {
  const database = await newDatabase(postgres);
  for (const { maxWindowUs, uploads } of [{ maxWindowUs: 3_600_000_000, uploads: 9500 }, { maxWindowUs: 2_000_000, uploads: 40 }]) {
    const writer = await startWriter({
      conninfo: database.conninfo(), settings: { window_us: 1000, max_window_us: maxWindowUs, routes: 1 },
    });
    await writer.append(1, 1);
    await writer.flushed();
    const flushes = await writer.metric('flushes_total');
    await writer.append(2, uploads);
    await keepBusy(writer, async () => await writer.metric('flushes_total') === flushes);
    await writer.quit();
  }
});

test('the same id counts once: in a window, in a later one, after a restart', async () => {
  const database = await newDatabase(postgres);
  let writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 50);
  await writer.append(1, 60);
  await writer.flushed();
  await writer.append(40, 40);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 79));
  assert.equal(await writer.metric('uploads_duplicate_total'), 50 + 21);
  await writer.quit();

  writer = await startWriter({ conninfo: database.conninfo(), spoolDir: writer.spoolDir });
  await writer.append(1, 79);
  await writer.append(80, 1);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 80));
  await writer.quit();
});

test('two collectors that get the same uploads count them once, at the same time, without deadlock', async () => {
  const database = await newDatabase(postgres);
  // Enough segments that two flushes touch the same ones.
  const settings = { routes: 2000 };
  const spools = await Promise.all([range(1, 1000), range(1, 1000).reverse()].map(async (seeds) => {
    const writer = await startWriter({ conninfo: 'host=/nonexistent', settings });
    for (let i = 0; i < seeds.length; i += 50) await writer.append(Math.min(seeds[i], seeds[i + 49]), 50);
    await writer.quit();
    return writer.spoolDir;
  }));
  // Both get one window with all uploads, and start at the same moment.
  const gate = database.execute(`begin; set statement_timeout = '20s';
    lock table fleetprof_data.segment in exclusive mode;
    select pg_advisory_lock(1);
    do $$ begin
      while (select count(*) from pg_stat_activity where usename = 'fleetprof_writer' and wait_event_type = 'Lock') < 2 loop
        perform pg_sleep(0.01), pg_stat_clear_snapshot();
      end loop;
    end $$;
    commit`);
  await waitFor(async () => (await database.sql("select from pg_locks where locktype = 'advisory' and objid = 1")).length > 0);
  const writers = await Promise.all(spools.map((spoolDir) => startWriter({ conninfo: database.conninfo(), spoolDir, settings })));
  await gate;
  for (const writer of writers) await writer.flushed();
  await assertCounted(database, writers[0], range(1, 1000));
  const counts = await Promise.all(writers.map((writer) => writer.metric('uploads_flushed_total')));
  assert.deepEqual(counts.sort((one, other) => one - other), [0, 1000]);
  assert.equal(await writers[0].metric('flush_errors_total') + await writers[1].metric('flush_errors_total'), 0);
  const [{ deadlocks }] = await database.sql('select deadlocks from pg_stat_database where datname = current_database()');
  assert.equal(deadlocks, 0);
  for (const writer of writers) await writer.quit();
});

test('a segment keeps the time of its first upload, whichever collector brings it, and when', async () => {
  const database = await newDatabase(postgres);
  const settings = { routes: 1 };
  const wrong = async () => (await database.sql(`select segment_id, first_seen, received
    from fleetprof_data.segment
    left join (select segment_id, min(received) as received from fleetprof_data.upload group by segment_id) as log using (segment_id)
    where first_seen is distinct from received`));
  const hour = Math.floor(nowUs() / 3_600_000_000) * 3_600_000_000 - 7_200_000_000;
  const writer = await startWriter({ conninfo: database.conninfo(), settings });
  const other = await startWriter({ conninfo: database.conninfo(), settings });
  let seed = 1;
  for (const [collector, receivedUs] of /** @type {[import('./store_tool.mjs').Writer, number][]} */ ([
    [writer, hour + 2_000_001], [writer, hour + 3_000_000], [other, hour + 1_500_000], [writer, hour + 1_499_999],
    [writer, hour + 1_499_998], [other, hour + 3_600_000_000], [writer, hour - 1], [other, hour],
  ])) {
    await collector.append(seed, 40, receivedUs);
    await collector.flushed();
    seed += 40;
    assert.deepEqual(await wrong(), []);
  }
  // An upload that was counted before changes nothing.
  await other.append(1, 40, hour + 4_000_000);
  await other.flushed();
  assert.deepEqual(await wrong(), []);
  await writer.quit();
  await other.quit();
});

test('an upload that the database refuses is set aside alone', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  const poison = await writer.describe(333);
  await database.execute(refuseValues('upload', `new.upload_id = '${poison.id}'`));
  await writer.append(1, 500);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 500).filter((seed) => seed !== 333));
  assert.equal(await writer.metric('uploads_quarantined_total'), 1);
  const aside = fs.readdirSync(writer.spoolDir).filter((name) => /^refused-[0-9a-f]{16}$/.test(name));
  assert.equal(aside.length, 1, fs.readdirSync(writer.spoolDir).join());
  assert.match(writer.log(), /upload set aside.*reason=refused.*22000/);
  await writer.append(501, 10);
  await writer.flushed();
  await writer.quit();
});

test('a name that the database refuses does not stop the dictionaries of others', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  const others = new Set();
  for (const seed of range(1, 6)) for (const [id] of (await writer.describe(seed)).frames) others.add(id);
  let poison = 7;
  /** @type {string | undefined} a frame that the others do not have */
  let own;
  for (; !own; poison++) own = (await writer.describe(poison)).frames.map(([id]) => id).find((id) => !others.has(id));
  await database.execute(refuseValues('frame', `new.frame_id = ${own}`));
  await writer.append(1, 6);
  await writer.append(poison - 1, 1);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 6));
  await writer.quit();
});

test('a record that cannot be read is set aside, and what follows is counted', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 5);
  await writer.damage();
  await writer.append(6, 5);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 10));
  assert.equal(await writer.metric('uploads_quarantined_total'), 1);
  await writer.quit();
});

test('a spool restored from an old copy takes a new id and counts only what is new', async () => {
  const database = await newDatabase(postgres);
  const dir = temporaryDir('spool');
  const spoolDir = path.join(dir, 'spool');
  let writer = await startWriter({ conninfo: database.conninfo(), spoolDir });
  await writer.append(1, 100);
  await writer.flushed();
  await writer.quit();
  fs.cpSync(spoolDir, path.join(dir, 'copy'), { recursive: true });

  writer = await startWriter({ conninfo: database.conninfo(), spoolDir });
  await writer.append(101, 100);
  await writer.flushed();
  await writer.quit();
  fs.rmSync(spoolDir, { recursive: true });
  fs.renameSync(path.join(dir, 'copy'), spoolDir);

  writer = await startWriter({ conninfo: database.conninfo(), spoolDir });
  await writer.append(201, 50);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 250));
  assert.match(writer.log(), /old copy/);
  assert.deepEqual(await database.sql('select count(*) from fleetprof_data.spool_position'), [{ count: 2 }]);
  await writer.quit();
});

test('a copy that takes new uploads before the database is back loses none of them', async () => {
  const database = await newDatabase(postgres);
  const dir = temporaryDir('spool');
  const spoolDir = path.join(dir, 'spool');
  let writer = await startWriter({ conninfo: database.conninfo(), spoolDir });
  await writer.append(1, 10);
  await writer.flushed();
  await writer.quit();
  fs.cpSync(spoolDir, path.join(dir, 'copy'), { recursive: true });
  writer = await startWriter({ conninfo: database.conninfo(), spoolDir });
  await writer.append(11, 10);
  await writer.flushed();
  await writer.quit();

  await postgres.stop();
  writer = await startWriter({ conninfo: database.conninfo(), spoolDir: path.join(dir, 'copy') });
  await writer.append(21, 30);
  await postgres.start();
  await writer.flushed();
  await assertCounted(database, writer, range(1, 50));
  await writer.quit();
});

test('a position that somebody else moved loses nothing: upload ids say what was counted', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 3);
  await writer.flushed();
  // Moved back: records that are read again are recognised by their upload ids.
  await database.execute('update fleetprof_data.spool_position set position = 0');
  await writer.append(4, 3);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 6));
  // Moved forward during a flush: the ids decide whether records 7 to 9 were counted.
  const moved = database.execute(`begin; set statement_timeout = '20s';
    update fleetprof_data.spool_position set position = 9;
    select pg_advisory_lock(1);
    do $$ begin
      while not exists (select from pg_stat_activity where usename = 'fleetprof_writer' and wait_event = 'transactionid') loop
        perform pg_sleep(0.01), pg_stat_clear_snapshot();
      end loop;
    end $$;
    commit`);
  await waitFor(async () => (await database.sql("select from pg_locks where locktype = 'advisory' and objid = 1")).length > 0);
  await writer.append(7, 3);
  await moved;
  await writer.append(10, 3);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 12));
  await writer.quit();
});

test('a position far ahead that somebody else wrote holds up no flush', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { routes: 1 } });
  await writer.append(1, 3);
  await writer.flushed();
  await database.execute('update fleetprof_data.spool_position set position = 1000');
  // Several flushes of the same segments, none of which can move the position.
  for (const first of [4, 7, 10, 13]) {
    await writer.append(first, 3);
    await writer.flushed();
  }
  await assertCounted(database, writer, range(1, 15));
  assert.equal(await writer.metric('uploads_quarantined_total'), 0);
  await writer.quit();
});

test('a flush appends one row per kind, segment and hour, and notes what is unsealed', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { routes: 1 } });
  await writer.append(1, 300);
  await writer.flushed();
  await writer.append(301, 300);
  await writer.flushed();
  const kinds = ['total', 'frame', 'frame_marker', 'stack', 'timing', 'timing_bin', 'measure', 'measure_frame'];
  const keys = { total: 'marker', timing_bin: 'timing_id', measure_frame: 'timing_id', frame_marker: 'frame_id', measure: 'timing_id' };
  const arrays = kinds.map((kind) => `
    select s.site, r.bucket, r.spool_id, r.position, r.group_id, '${kind}' as kind,
      cardinality(r.${keys[/** @type {keyof keys} */ (kind)] ?? `${kind}_id`}) as entries
    from fleetprof_data.${kind}_recent r join fleetprof_data.segment s on s.segment_id = r.group_id`).join(' union all ');
  const [{ wrong, flushes }] = await database.sql(`
    select count(*) filter (where p.entries is distinct from u.entries) as wrong, count(distinct u.position) as flushes
    from (select site, bucket, spool_id, position, sum(entries) as entries from (${arrays}) a group by 1, 2, 3, 4) p
    full join fleetprof_data.unsealed u using (site, bucket, spool_id, position)`);
  assert.equal(wrong, 0);
  assert.ok(flushes >= 2);
  const found = await database.sql(`select kind, min(entries) as least from (${arrays}) a group by 1 order by 1`);
  assert.deepEqual(found.map(({ kind }) => kind), [...kinds].sort());
  assert.ok(found.every(({ least }) => least > 0), JSON.stringify(found));
  // Sorted by the key, which the sealer relies on.
  const [{ unsorted }] = await database.sql(`select count(*) as unsorted from fleetprof_data.frame_recent
    where frame_id <> (select array_agg(id order by id) from unnest(frame_id) id)`);
  assert.equal(unsorted, 0);
  // No flush can be written twice.
  await assert.rejects(database.execute('insert into fleetprof_data.total_recent select * from fleetprof_data.total_recent limit 1'), /duplicate key/);
  await writer.quit();
});

test('partitions are UTC days, over the end of a month and in any time zone', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { facts_us: 20_000 * dayUs, log_us: 20_000 * dayUs } });
  const midnightUs = Date.UTC(2025, 1, 1) * 1000;
  await writer.append(1, 1, midnightUs - 1);
  await writer.append(2, 1, midnightUs);
  // Clocks go forward in New York on this day.
  await writer.append(3, 1, Date.UTC(2025, 2, 9, 7) * 1000);
  await writer.flushed();
  const rows = await database.sql(`select tableoid::regclass::text as partition, to_char(bucket at time zone 'UTC', 'YYYY-MM-DD HH24') as hour
    from fleetprof_data.upload order by bucket`);
  assert.deepEqual(rows, [
    { partition: 'fleetprof_data.upload_20250131', hour: '2025-01-31 23' },
    { partition: 'fleetprof_data.upload_20250201', hour: '2025-02-01 00' },
    { partition: 'fleetprof_data.upload_20250309', hour: '2025-03-09 07' },
  ]);
  const [{ bounds }] = await database.sql(
    "select pg_get_expr(relpartbound, oid) as bounds from pg_class where relname = 'upload_20250131'");
  assert.match(bounds, /FROM \('2025-01-30 19:00:00-05'\) TO \('2025-01-31 19:00:00-05'\)/);
  await writer.quit();
});

test('partitions are made ahead, without any upload', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { sealing: 1 } });
  const partitions = await waitFor(async () => {
    const rows = await database.sql(`select right(relname, 8) as day from pg_class
      where relname like 'upload_2%' and relkind = 'r' order by 1`);
    return rows.length === 3 && rows;
  });
  const days = [0, 1, 2].map((ahead) => new Date(Date.now() + ahead * 86_400_000).toISOString().slice(0, 10).replaceAll('-', ''));
  assert.deepEqual(partitions.map(({ day }) => day), days);
  await writer.quit();
});

test('a clock that is behind the retention or ahead of the database gets the database\'s hour', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo(), settings: { facts_us: 100 * dayUs, log_us: 10 * dayUs } });
  await writer.append(1, 2, nowUs() - 102 * dayUs);
  await writer.append(3, 3, nowUs() - 50 * dayUs);
  await writer.append(6, 4, nowUs() + 365 * dayUs);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 9));
  assert.equal(await writer.metric('uploads_misdated_total'), 6);
  const [{ logged }] = await database.sql('select count(*) as logged from fleetprof_data.upload');
  assert.equal(logged, 6);
  const [{ ahead }] = await database.sql('select count(*) as ahead from fleetprof_data.segment_fact where bucket > now()');
  assert.equal(ahead, 0);
  await writer.quit();
});

test('housekeeping drops what is past its retention and prunes what nobody needs', async () => {
  const database = await newDatabase(postgres);
  let writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 20, nowUs() - 50 * dayUs);
  await writer.append(21, 20, nowUs() - 5 * dayUs);
  await writer.append(41, 20);
  await writer.flushed();
  await writer.quit();
  await database.execute(`
    update fleetprof_data.upload_id set counted = now() - interval '8 days' where upload_id in (select upload_id from fleetprof_data.upload_id limit 7);
    update fleetprof_data.load_id set counted = now() - interval '8 days' where load_id in (select load_id from fleetprof_data.load_id limit 2);
    update fleetprof_data.frame set last_seen = last_seen - 51 where frame_id in (select frame_id from fleetprof_data.frame limit 4);
    update fleetprof_data.frame set last_seen = last_seen - 49 where frame_id in (select frame_id from fleetprof_data.frame where last_seen > current_date - 10 limit 5);
    update fleetprof_data.stack set last_seen = last_seen - 400`);
  const count = async (/** @type {string} */ table) => (await database.sql(`select count(*) from fleetprof_data.${table}`))[0].count;
  const before_ = { ids: await count('upload_id'), loads: await count('load_id'), frames: await count('frame') };

  writer = await startWriter({ conninfo: database.conninfo(), settings: { sealing: 1, facts_us: 40 * dayUs, log_us: 3 * dayUs } });
  await waitFor(async () => await writer.metric('last_housekeeping_timestamp_seconds') > 0);
  assert.equal(await count('stack'), 0);
  assert.equal(await count('upload_id'), before_.ids - 7);
  assert.equal(await count('load_id'), before_.loads - 2);
  assert.equal(await count('frame'), before_.frames - 4);
  assert.equal(await count('upload'), 20);
  assert.equal(await writer.metric('partitions_made_total') > 0, true);
  assert.equal(await writer.metric('partitions_dropped_total') > 0, true);
  const stacks = await writer.metric('rows_pruned_total') - 7 - 2 - 4;
  assert.ok(stacks > 0, `${stacks} stacks`);
  await writer.quit();
});

test('a dictionary row that is needed again is touched, once a day', async () => {
  const database = await newDatabase(postgres);
  const versions = async () => (await database.sql('select xmin::text from fleetprof_data.stack order by stack_id')).map(({ xmin }) => xmin);
  let writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 10);
  await writer.flushed();
  const first = await versions();
  await writer.append(1, 10);
  await writer.flushed();
  await writer.quit();
  writer = await startWriter({ conninfo: database.conninfo(), spoolDir: writer.spoolDir });
  await writer.append(1, 10);
  await writer.flushed();
  assert.deepEqual(await versions(), first);
  await writer.quit();

  await database.execute('update fleetprof_data.stack set last_seen = last_seen - 1');
  writer = await startWriter({ conninfo: database.conninfo(), spoolDir: writer.spoolDir });
  await writer.append(1, 10);
  await writer.flushed();
  const seen = await database.sql(`select last_seen = (now() at time zone 'UTC')::date as today, count(*) > 0 as some
    from fleetprof_data.stack group by 1`);
  assert.deepEqual(seen, [{ today: true, some: true }]);
  await writer.quit();
});

test('without the schema nothing is lost: after the migration the uploads are flushed', async () => {
  const database = await newDatabase(postgres, { empty: true });
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 20);
  await waitFor(() => /fleetprof migrate/.test(writer.log()));
  assert.equal(writer.log().match(/flush failed/g)?.length, 1);
  await migrate({ ...postgres, conninfo: () => database.conninfo('postgres') });
  await writer.flushed();
  await assertCounted(database, writer, range(1, 20));
  await writer.quit();
});

test('roles: the writer makes no tables, the reader reads all numbers and writes none', async () => {
  const database = await newDatabase(postgres);
  await assert.rejects(database.execute('create table fleetprof_data.own (a int)', 'fleetprof_writer'), /permission denied/);
  await assert.rejects(database.execute('drop table fleetprof_data.frame', 'fleetprof_writer'), /must be owner/);
  await assert.rejects(database.execute('update fleetprof_data.frame_recent set position = 0', 'fleetprof_writer'), /permission denied/);
  for (const table of ['segment', 'frame_fact', 'upload']) await database.execute(`table fleetprof_data.${table}`, 'fleetprof_reader');
  await assert.rejects(database.execute('delete from fleetprof_data.frame', 'fleetprof_reader'), /permission denied/);
  await assert.rejects(database.execute("select fleetprof_data.drop_partition('2030-01-01', '2030-01-01', '2030-01-01', '2030-01-01')", 'fleetprof_reader'), /permission denied/);
});
