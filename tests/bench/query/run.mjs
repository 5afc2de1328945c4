#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures the questions on a large site: processor time of the backend that answers, warm, beside jsonb and DuckDB.
// docs/internals/benchmarks.md says how to read it.
//
//   node tests/bench/query/run.mjs [--days 30] [--hour-days 2] [--drawn-days 3] [--scale 1] [--seed 1] [--repeats 5]
//                                  [--raw-hours 2] [--traces 500] [--keep]
//
// --hour-days: how many days have hours. --raw-hours: how many hours DuckDB gets, at least 2; --traces: how many raw traces jsonb gets;
// both are scaled to the day. --keep leaves the database running until Ctrl-C.
// DuckDB has a package.json of its own: npm install --prefix tests/bench/query --ignore-scripts
import fs from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { migrate, startPostgres, temporaryDir } from '../../behaviour/stack.mjs';
import { median } from '../ingest/report.mjs';
import { generate, timeOf } from './generate.mjs';
import { duckdbFlamegraph, duckdbHotspots, duckdbMissing, jsonbFlamegraph, jsonbHotspots, KeyFiles, loadTraces } from './peers.mjs';
import { shapeOf, Site, siteName } from './site.mjs';

const { values: options } = parseArgs({
  options: {
    days: { type: 'string', default: '30' },
    'hour-days': { type: 'string', default: '2' },
    'drawn-days': { type: 'string', default: '3' },
    scale: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    repeats: { type: 'string', default: '5' },
    'raw-hours': { type: 'string', default: '2' },
    traces: { type: 'string', default: '500' },
    keep: { type: 'boolean', default: false },
  },
});
if (duckdbMissing) throw new Error(duckdbMissing);
const days = Number(options.days);
const repeats = Number(options.repeats);
const rawHours = Number(options['raw-hours']);
const traces = Number(options.traces);
const firstDay = 20_727; // the last of its eight days, so that 30 days are a day, three blocks and some days
const lastHours = 14;
const end = (firstDay + days - 1) * 24 + lastHours;
const sealedEnd = end - 1;
const route = '/search'; // the third one: some 100,000 hourly rows of functions in 24 hours, with the release

const site = new Site(shapeOf(Number(options.scale), Number(options.seed)));
const release = `2026.10.${site.shape.releases - 1}`; // the second one: 30 % of uploads

/**
 * A question: how fleetprof is asked, what is aimed at, and how the others answer it.
 * @typedef {object} Question
 * @property {string} name
 * @property {string} sql
 * @property {number} [aim] milliseconds
 * @property {'hotspots' | 'flamegraph'} [peer]
 * @property {Record<string, string>} filters
 * @property {number} from hour
 * @property {number} to hour
 */

/** @param {string} name @param {number} from @param {number} to @param {Record<string, string>} [filters] @param {number} [aim] @returns {Question} */
function question(name, from, to, filters = {}, aim = undefined) {
  const [called] = name.split(',');
  const args = [`'${siteName}'`, `since => '${timeOf(from)}'`, `until => '${timeOf(to)}'`, ...Object.entries(filters).map(([key, value]) => `${key} => '${value}'`)];
  const peer = called === 'hotspots' || called === 'flamegraph' ? called : undefined;
  return { name, sql: `select * from fleetprof.${called}(${args.join()}${peer === 'flamegraph' ? ', min_share => 0' : ''})`, aim, peer, filters, from, to };
}

const day = /** @type {[number, number]} */ ([sealedEnd - 24, sealedEnd]);
const openDay = /** @type {[number, number]} */ ([end - 24, end]);
const month = /** @type {[number, number]} */ ([firstDay * 24, sealedEnd]);
const questions = [
  question('hotspots, 24 h, site', ...day, {}, 80),
  question('hotspots, 24 h, release', ...day, { release }, 40),
  question('hotspots, 24 h, page and release', ...day, { route, release }, 25),
  question('hotspots, month, site', ...month, {}, 100),
  question('flamegraph, 24 h, site', ...day, {}, 350),
  question('flamegraph, month, site', ...month, {}, 400),
  question('markers, 24 h, site', ...day),
  question('markers, month, site', ...month),
  question('timings, 24 h, site', ...day),
  question('timings, month, site', ...month),
  question('hotspots, 24 h, browser (no sums)', ...day, { browser: 'Opera' }),
  question('hotspots, 24 h to now, site', ...openDay),
  question('hotspots, 24 h to now, release', ...openDay, { release }),
  question('hotspots, 24 h to now, page and release', ...openDay, { route, release }),
  question('flamegraph, 24 h to now, site', ...openDay),
];

/**
 * Returns the questions about one function and about two releases.
 * @param {string} key function_key
 * @returns {Question[]}
 */
function analyses(key) {
  const [from, to] = day;
  const period = `'${siteName}', since => '${timeOf(from)}', until => '${timeOf(to)}'`;
  const next = `2026.10.${site.shape.releases}`;
  return [
    { name: 'flamegraph_columns, 24 h, site', call: `flamegraph_columns(${period})`, aim: 400 },
    { name: 'callers, 24 h, top hotspot', call: `callers(null, ${period}, key => '${key}')`, aim: 150 },
    { name: 'callees, 24 h, top hotspot', call: `callees(null, ${period}, key => '${key}')`, aim: 150 },
    { name: 'trend, 24 h, top hotspot', call: `trend('function', '${key}', 'hour', ${period})`, aim: 60 },
    { name: 'compare_releases, 48 h', call: `compare_releases('${siteName}', '${release}', '${next}')`, aim: 250 },
  ].map(({ name, call, aim }) => ({ name, sql: `select * from fleetprof.${call}`, aim, filters: {}, from, to }));
}

/** Milliseconds of processor time that a statement takes in a backend; the median, after a first run. @param {pg.Client} client @param {number} pid @param {string} sql @param {number} times */
async function backendTime(client, pid, sql, times) {
  let rows = (await client.query(sql)).rowCount ?? 0;
  const spent = [];
  for (let round = 0; round < times; round += 1) {
    const before = processorMs(pid);
    rows = (await client.query(sql)).rowCount ?? 0;
    spent.push(processorMs(pid) - before);
  }
  return { ms: median(spent), least: Math.min(...spent), most: Math.max(...spent), rows };
}

/** @param {number} pid */
const processorMs = (pid) => Number(fs.readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** @param {import('../../behaviour/stack.mjs').Postgres} postgres @param {string} user */
async function connect(postgres, user) {
  const client = new pg.Client({ host: postgres.socketDir, user, database: 'fleetprof' });
  await client.connect();
  await client.query('set max_parallel_workers_per_gather = 0');
  return { client, pid: (await client.query('select pg_backend_pid() as pid')).rows[0].pid };
}

/** @param {KeyFiles} keys @param {string} threads @returns {Promise<Map<Question, { perHour: number, at: number[] }>>} */
async function duckdbTimes(keys, threads) {
  const asked = questions.filter(({ peer, from }) => peer && from === day[0]);
  const windows = [rawHours / 2, rawHours];
  const statements = asked.flatMap(({ peer, filters }) => windows.map((hours) => ({
    sql: peer === 'hotspots' ? duckdbHotspots(sealedEnd - hours, sealedEnd, filters) : duckdbFlamegraph(sealedEnd - hours, sealedEnd),
    repeats,
  })));
  const results = await keys.query(threads, statements);
  return new Map(asked.map((one, place) => {
    const at = [0, 1].map((window) => median(results[2 * place + window].times));
    return [one, { at, perHour: Math.max(0, at[1] - at[0]) / (windows[1] - windows[0]) }];
  }));
}

/** Milliseconds over the question's hours, from those over the raw hours, by a straight line. @param {{ perHour: number, at: number[] }} times @param {Question} asked */
const scaled = ({ at, perHour }, { from, to }) => at[1] + perHour * (to - from - rawHours);

const ms = (/** @type {number} */ value) => (value < 10 ? value.toFixed(1) : value.toFixed(0)).padStart(8);

const postgres = await startPostgres({
  settings: { jit: 'on', shared_buffers: '1GB', fsync: 'off', wal_level: 'minimal', max_wal_senders: 0, max_wal_size: '8GB', wal_compression: 'lz4', autovacuum: 'off' },
});
const dir = temporaryDir('query');
await migrate(postgres);
const keys = new KeyFiles(dir, site, sealedEnd - rawHours, sealedEnd);
const counts = { frames: 0, stacks: 0, uploads: 0 };
const began = performance.now();
const period = { firstDay, days, lastHours, hourDays: Number(options['hour-days']), drawnDays: Number(options['drawn-days']), fresh: true };
const made = await generate(postgres, site, period, {
  watch: (segment, hour, facts) => {
    keys.add(segment, hour, facts);
    if (hour < day[0] || hour >= day[1]) return;
    counts.frames += facts.frame.size;
    counts.stacks += facts.stack.size;
    counts.uploads += facts.uploads;
  },
  progress: (number) => process.stderr.write(`day ${number - firstDay + 1} of ${days}, ${((performance.now() - began) / 1000).toFixed(0)} s\n`),
});
const millions = (/** @type {number} */ count) => `${(count / 1e6).toFixed(1)} M`;
console.log(`${site.segments.length} segments, ${site.functions.length} functions, ${site.stacks.length} stacks. 24 hours: ${millions(counts.frames)} hourly function rows, `
  + `${millions(counts.stacks)} of stacks, ${counts.uploads} uploads. ${days} days, ${options['hour-days']} of them with hours.`);
console.log(`"To now": the last hour waits in ${made.freshEntries} entries, not sealed.`);
console.log(`Made in ${((performance.now() - began) / 1000).toFixed(0)} s; load average ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} cores.`);
for (const row of await postgres.sql(`
  select case when parent.relname like '%\\_days' then 'days' else 'hours' end as place, sum(pg_total_relation_size(inhrelid))::float8 / 1e6 as mb
  from pg_inherits join pg_class parent on parent.oid = inhparent
  where parent.relnamespace = 'fleetprof_data'::regnamespace and parent.relname ~ '_(hours|days)$' and parent.relkind = 'p' group by 1`)) {
  console.log(`Disk, ${row.place}: ${row.mb.toFixed(0)} MB`);
}

const reader = await connect(postgres, 'fleetprof_reader');
const ours = new Map();
const [{ function_key: topKey }] = await postgres.sql(`${questions[0].sql.replace('*', 'function_key')} limit 1`);
for (const one of [...questions, ...analyses(topKey)]) ours.set(one, await backendTime(reader.client, reader.pid, one.sql, repeats));
await reader.client.end();

await loadTraces(postgres, dir, traces);
const owner = await connect(postgres, 'postgres');
/** @type {Record<string, number>} */
const perTrace = {
  hotspots: (await backendTime(owner.client, owner.pid, jsonbHotspots, 2)).ms / traces,
  flamegraph: (await backendTime(owner.client, owner.pid, jsonbFlamegraph, 2)).ms / traces,
};
await owner.client.end();
await keys.load();
const bytes = keys.parquetBytes();
const duckdb = await duckdbTimes(keys, '1');
const duckdbThreads = await duckdbTimes(keys, 'default');

/** Uploads that a question's filters select. @param {Question} one */
function uploadsOf({ from, to, filters }) {
  const names = { route: 1, release: 2, browser: 5 };
  const share = site.segments.filter(({ dimensions }) => Object.entries(filters).every(([name, value]) => dimensions[names[/** @type {'route'} */ (name)]] === value))
    .reduce((sum, { weight }) => sum + weight, 0);
  return counts.uploads * share * (to - from) / 24;
}

console.log(`\nProcessor time, ms: median of ${repeats} (least to most), and how many times as long the others take`);
console.log(`${''.padEnd(40)}     rows  fleetprof                    aim   jsonb      DuckDB, 1 thread   all threads`);
for (const [one, { ms: time, least, most, rows }] of ours) {
  const aim = one.aim === undefined ? '' : `${time <= one.aim ? 'met' : 'MISSED'} ${one.aim}`;
  const jsonb = one.peer && perTrace[one.peer] * uploadsOf(one);
  const peer = [...duckdb.keys()].find(({ peer: called, filters }) => called === one.peer && JSON.stringify(filters) === JSON.stringify(one.filters));
  const columnar = peer && [duckdb, duckdbThreads].map((times) => scaled(/** @type {any} */ (times.get(peer)), one));
  console.log(`${one.name.padEnd(40)} ${String(rows).padStart(8)} ${ms(time)} (${ms(least).trim()} to ${ms(most).trim()})`.padEnd(74) + aim.padEnd(12)
    + (jsonb ? `${(jsonb / time).toFixed(0)}×`.padStart(9) : ''.padStart(9)) + (columnar ? columnar.map((value) => `${ms(value)} ${(value / time).toFixed(1)}×`.padStart(18)).join('') : ''));
}
console.log(`\njsonb: ${perTrace.hotspots.toFixed(2)} ms of each trace for hotspots (self times only), ${perTrace.flamegraph.toFixed(2)} for the flame graph (own times by path), `
  + `over ${traces} medium traces; times the uploads selected.`);
console.log(`DuckDB: ${(keys.rows.frames / rawHours / 1e6).toFixed(1)} M rows an hour of (upload, function) in ${(bytes.frames / rawHours / 1e6).toFixed(0)} MB, `
  + `${(keys.rows.stacks / rawHours / 1e6).toFixed(1)} M of (upload, stack) in ${(bytes.stacks / rawHours / 1e6).toFixed(0)} MB. Measured over ${rawHours / 2} and ${rawHours} hours, then a straight line:`);
for (const [{ name }, { at, perHour }] of duckdb) console.log(`  ${name.padEnd(40)} ${at.map(ms).join('')} ms, ${perHour.toFixed(1)} ms an hour more`);

if (options.keep) {
  console.log(`\n${postgres.conninfo()}`);
  const awake = setInterval(() => {}, 60_000); // a handler alone keeps no process running
  await new Promise((resolve) => { process.once('SIGINT', resolve); });
  clearInterval(awake);
}
fs.rmSync(dir, { recursive: true });
await postgres.stop();
