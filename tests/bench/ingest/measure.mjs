// SPDX-License-Identifier: Apache-2.0
/** One measurement of one of the programs under load. */
import { runOrThrow, waitFor } from '../../behaviour/stack.mjs';
import { startSealTool } from '../../behaviour/seal_tool.mjs';
import { benchProgram } from './peers.mjs';
import { memoryMiB, threadCpuMicroseconds, treeCpuMicroseconds } from './processes.mjs';

/**
 * rate 0: full load; count 0: as many as the seconds allow.
 * @typedef {{ bodies: string, connections: number, seconds: number, rate: number, count: number }} Load
 *
 * @typedef {import('./peers.mjs').Postgres} Postgres
 * @typedef {import('./peers.mjs').Collector} Collector
 * @typedef {import('./peers.mjs').Peer} Peer
 */

/**
 * @param {number} port
 * @param {Load} load
 * @returns {Promise<{ requests: number, duration_us: number, p50_us: number, p99_us: number, max_us: number }>}
 */
async function post(port, { bodies, connections, seconds, rate, count }) {
  return JSON.parse(await runOrThrow([benchProgram('load'), String(port), bodies, String(connections), String(seconds), String(rate), String(count)]));
}

/** Returns the bytes that the database has written so far. @param {Postgres} postgres */
async function databaseBytes(postgres) {
  const [{ wal, disk }] = await postgres.sql(
    "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal, pg_database_size('fleetprof')::float8 as disk");
  return { wal, disk };
}

/**
 * The cost per upload in processor time and database bytes, measured around `run`, which returns the number of
 * uploads, and the checkpoint after it. PostgreSQL's time is that of all its processes.
 * @template {{ uploads: number }} T
 * @param {Postgres} postgres
 * @param {number} pid
 * @param {() => Promise<T>} run
 */
async function costOf(postgres, pid, run) {
  const bytes = await databaseBytes(postgres);
  const cpu = [treeCpuMicroseconds(pid), treeCpuMicroseconds(postgres.server.pid)];
  const result = await run();
  await postgres.execute('checkpoint');
  const after = [treeCpuMicroseconds(pid), treeCpuMicroseconds(postgres.server.pid)];
  const { wal, disk } = await databaseBytes(postgres);
  const { uploads } = result;
  return {
    ...result,
    cpu_us: (after[0] - cpu[0]) / uploads,
    databaseCpu_us: (after[1] - cpu[1]) / uploads,
    walBytes: (wal - bytes.wal) / uploads,
    diskBytes: (disk - bytes.disk) / uploads,
    peakMiB: memoryMiB(pid, 'VmHWM'),
  };
}

/** Processor time of the collector's threads. @param {number} pid */
function threadTimes(pid) {
  const { writer, spool, sealer, ...others } = threadCpuMicroseconds(pid);
  return { writer, spool, sealer, http: Object.values(others).reduce((sum, time) => sum + time, 0) };
}

/** Waits until the sealer has nothing to do: it looks again within six seconds. @param {number} pid */
async function sealerRests(pid) {
  let { sealer } = threadTimes(pid);
  let since = performance.now();
  await waitFor(() => {
    const { sealer: now } = threadTimes(pid);
    if (now - sealer > 1000) [sealer, since] = [now, performance.now()];
    return performance.now() - since > 6000;
  }, { timeoutMs: 300_000, what: 'sealer to rest', intervalMs: 200 });
}

/**
 * fleetprofd: the rate counts until the last upload is in SQL, `lag` is how long that took after the last reply.
 * @param {Postgres} postgres
 * @param {Collector} collector
 * @param {Load} load
 */
export async function measureFleetprof(postgres, collector, load) {
  const { pid } = collector.server;
  const before = await collector.metrics();
  const threads = threadTimes(pid);
  const result = await costOf(postgres, pid, async () => {
    const began = performance.now();
    const { requests, duration_us, p50_us, p99_us, max_us } = await post(Number(new URL(collector.url).port), load);
    const answered = performance.now();
    await waitFor(async () => {
      const { fleetprof_uploads_flushed_total: flushed } = await collector.metrics();
      return flushed - before.fleetprof_uploads_flushed_total >= requests;
    }, { timeoutMs: 300_000, what: 'count in SQL like the replies\'' });
    const done = performance.now();
    await sealerRests(pid);
    return {
      uploads: requests, perSecond: requests * 1000 / (done - began), ackedPerSecond: requests * 1e6 / duration_us,
      lag_ms: done - answered, p50_us, p99_us, max_us,
    };
  });
  const [metrics, after] = [await collector.metrics(), threadTimes(pid)];
  const { uploads } = result;
  return {
    ...result,
    http_us: (after.http - threads.http) / uploads,
    spool_us: (after.spool - threads.spool) / uploads,
    writer_us: (after.writer - threads.writer) / uploads,
    sealer_us: (after.sealer - threads.sealer) / uploads,
    perSync: uploads / (metrics.fleetprof_spool_commits_total - before.fleetprof_spool_commits_total),
    perFlush: uploads / (metrics.fleetprof_flushes_total - before.fleetprof_flushes_total),
    rows: (metrics.fleetprof_flush_rows_total - before.fleetprof_flush_rows_total) / uploads,
  };
}

/** Lists the tables that autovacuum would have vacuumed by now, by its thresholds. @param {Postgres} postgres */
async function dueVacuums(postgres) {
  const rows = await postgres.sql(`
    select format('vacuum %I.%I', schemaname, relname) as text from pg_stat_all_tables
    where schemaname in ('fleetprof_data', 'pg_toast')
      and (n_dead_tup > 50 + 0.2 * n_live_tup or n_ins_since_vacuum > 1000 + 0.2 * n_live_tup)`);
  return rows.map(({ text }) => text).join(';');
}

/**
 * Measures the sealing that the collector put off, up to a moment, and the vacuum of the tables that autovacuum would take.
 * @param {Postgres} postgres without collectors
 * @param {number} uploads over which the cost is spread
 * @param {number} ahead of now, seconds
 */
export async function measureSealing(postgres, uploads, ahead) {
  const tool = startSealTool(postgres.conninfo('fleetprof_writer'));
  const result = await costOf(postgres, tool.pid, async () => {
    const { error } = await tool.all((Date.now() + ahead * 1000) * 1000);
    if (error) throw new Error(`sealing: ${error}`);
    await postgres.execute(await dueVacuums(postgres));
    return { uploads };
  });
  await tool.quit();
  return result;
}

/** Bytes of packed rows in the database, compressed, without the free space in their files. @param {Postgres} postgres */
async function packedBytes(postgres) {
  const tables = await postgres.sql(`
    select attrelid::regclass::text as name, string_agg(format('pg_column_size(%I)', attname), ' + ') as size
    from pg_attribute
    where attrelid in (select oid from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind in ('r', 'p') and relname ~ '_(recent|hours|days)$')
      and attnum > 0
    group by attrelid`);
  const [{ bytes }] = await postgres.sql(`select sum(bytes)::float8 as bytes from (${
    tables.map(({ name, size }) => `select sum(28 + ${size}) as bytes from ${name}`).join(' union all ')}) every`);
  return bytes;
}

/** Bytes of an upload in the database, by what they are for. @param {Postgres} postgres @param {number} uploads */
export async function storedBytes(postgres, uploads) {
  const rows = await postgres.sql(`
    select
      case
        when relname ~ '_hours_[0-9]+$' then 'hours'
        when relname ~ '_days_[0-9]+$' then 'days'
        when relname ~ '_recent$' then 'recent'
        when relname ~ '^upload_[0-9]+$' then 'log'
        when relname in ('upload_id', 'load_id') then 'ids'
        else 'names'
      end as place,
      sum(pg_table_size(oid) + pg_indexes_size(oid))::float8 as bytes
    from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' group by 1`);
  const places = Object.fromEntries(rows.map(({ place, bytes }) => [place, bytes / uploads]));
  return { ...places, packed: await packedBytes(postgres) / uploads };
}

/** One of the others. @param {Postgres} postgres @param {Peer} peer @param {Load} load */
export async function measurePeer(postgres, peer, load) {
  const result = await costOf(postgres, peer.pid, async () => {
    const { requests, duration_us, p50_us, p99_us, max_us } = await post(peer.port, load);
    await postgres.execute('vacuum trace');
    return { uploads: requests, perSecond: requests * 1e6 / duration_us, p50_us, p99_us, max_us };
  });
  await peer.emptied();
  return result;
}
