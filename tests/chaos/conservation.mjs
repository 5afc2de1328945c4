/**
 * Compares what SQL says with what the clients were promised, number by number.
 */
import { frameKey } from '../behaviour/oracle.mjs';

/** @typedef {import('./clients.mjs').Ledger} Ledger */
/** @typedef {Map<string, number[]>} Numbers */

/** @param {Numbers} numbers @param {string} key @param {number[]} more */
function add(numbers, key, more) {
  const sum = numbers.get(key);
  numbers.set(key, sum ? sum.map((value, i) => value + more[i]) : more);
}

/** @param {{ site: string, release: string, route: string }} of */
const segmentKey = ({ site, release, route }) => `${site} ${release} ${route}`;

/** @param {number} ms */
const us = (ms) => Math.round(ms * 1000);

/**
 * What the acknowledged uploads add up to.
 * @param {Ledger} ledger
 * @returns {Record<string, Numbers>}
 */
function promised(ledger) {
  /** @type {Record<string, Numbers>} */
  const tables = { uploads: new Map(), frames: new Map(), stacks: new Map(), timings: new Map() };
  for (const upload of ledger.acknowledged.values()) {
    const segment = segmentKey(upload);
    const { sums, timings } = upload;
    add(tables.uploads, `${segment} ${upload.id}`,
      [1, sums.samples, sums.profiled_us, sums.unattributed_us, timings.length]);
    for (const [key, frame] of sums.frames) {
      add(tables.frames, `${segment}\t${key}`, [frame.self_us, frame.total_us, frame.samples]);
    }
    if (sums.samples > sums.unattributed_samples) {
      add(tables.stacks, segment, [sums.profiled_us - sums.unattributed_us, sums.samples - sums.unattributed_samples]);
    }
    for (const timing of timings) add(tables.timings, `${segment} ${timing.kind} ${timing.name}`, [1, timing.us]);
  }
  return tables;
}

/**
 * The same, as SQL has it.
 * @param {(text: string) => Promise<any[]>} sql
 * @returns {Promise<Record<string, Numbers>>}
 */
async function counted(sql) {
  /** @type {Record<string, Numbers>} */
  const tables = { uploads: new Map(), frames: new Map(), stacks: new Map(), timings: new Map() };
  for (const row of await sql('select * from fleetprof.upload_log')) {
    add(tables.uploads, `${segmentKey(row)} ${row.upload_id}`,
      [1, row.samples, us(row.profiled_ms), us(row.unattributed_ms), row.timings]);
  }
  for (const row of await sql(`select site, release, route, function, resource, line, column_number, kind,
      sum(self_ms) as self_ms, sum(total_ms) as total_ms, sum(samples) as samples
      from fleetprof.hotspot_hourly group by 1, 2, 3, 4, 5, 6, 7, 8`)) {
    const key = frameKey({ ...row, function: row.function === '(anonymous)' ? '' : row.function,
      resource: row.resource ?? '', column: row.column_number });
    add(tables.frames, `${segmentKey(row)}\t${key}`, [us(row.self_ms), us(row.total_ms), row.samples]);
  }
  for (const row of await sql(`select site, release, route, sum(self_us) as self_us, sum(samples) as samples
      from fleetprof_data.stack_fact join fleetprof_data.segment using (segment_id) group by 1, 2, 3`)) {
    add(tables.stacks, segmentKey(row), [row.self_us, row.samples]);
  }
  for (const row of await sql(`select site, release, route, kind, name, sum(count) as count, sum(sum_ms) as sum_ms
      from fleetprof.timing_hourly group by 1, 2, 3, 4, 5`)) {
    add(tables.timings, `${segmentKey(row)} ${row.kind} ${row.name}`, [row.count, us(row.sum_ms)]);
  }
  return tables;
}

/**
 * Rows whose hour is not what docs/schema.md promises: the hour of receipt by the collector's clock, or,
 * where that clock is beyond belief, the database's.
 */
const wrongHours = `
  select upload_id, received, bucket from fleetprof.upload_log
  where bucket > now() + interval '1 hour'
     or bucket < now() - interval '90 days'
     or bucket <> date_trunc('hour', received, 'UTC')
        and received between now() - interval '89 days' and now() + interval '50 minutes'`;

/**
 * Every difference in words; none when each acknowledged upload is counted exactly once and nothing else is.
 * @param {Ledger} ledger
 * @param {(text: string) => Promise<any[]>} sql
 * @returns {Promise<string[]>}
 */
export async function differences(ledger, sql) {
  const wanted = promised(ledger);
  const found = await counted(sql);
  const lines = [...ledger.surprises];
  for (const table of Object.keys(wanted)) {
    for (const [key, numbers] of wanted[table]) {
      const have = found[table].get(key);
      if (String(have) !== String(numbers)) {
        lines.push(`${table}: ${key}: promised ${numbers}, in SQL ${have ?? 'not at all'}`);
      }
    }
    for (const [key, numbers] of found[table]) {
      if (!wanted[table].has(key)) lines.push(`${table}: ${key}: not promised, in SQL ${numbers}`);
    }
  }
  const ids = new Set((await sql('select upload_id from fleetprof_data.upload_id')).map((row) => row.upload_id));
  if (ids.size !== ledger.acknowledged.size) {
    lines.push(`${ids.size} ids are known as counted, ${ledger.acknowledged.size} were promised`);
  }
  for (const row of await sql(wrongHours)) {
    lines.push(`hours: ${row.upload_id}: received ${row.received}, counted in ${row.bucket}`);
  }
  return lines;
}
