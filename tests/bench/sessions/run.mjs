#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measures each report over hostile kept sessions: processor time of the backend that answers, warm.
// docs/internals/benchmarks.md says how to read it.
//
//   node tests/bench/sessions/run.mjs [--sessions requests,headers] [--reports hints] [--repeats 3] [--answers FILE] [--keep] [DUMP…]
//
// DUMP: real dumps of Speed Tracer to ask as well. --answers writes a digest of each answer: two builds that answer alike write the
// same file. --keep leaves the database running until Ctrl-C.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

import pg from 'pg';

import { send } from '../../behaviour/collector_client.mjs';
import { migrate, startCollector, startPostgres, waitFor } from '../../behaviour/stack.mjs';
import { median } from '../ingest/report.mjs';
import { hostile } from './hostile.mjs';

/** @typedef {import('./hostile.mjs').HostileSession} HostileSession */

const { values: options, positionals: dumps } = parseArgs({
  allowPositionals: true,
  options: {
    sessions: { type: 'string' },
    reports: { type: 'string' },
    repeats: { type: 'string', default: '3' },
    answers: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const aimMs = 1000;
const longest = '20s'; // an answer that takes longer is not waited for
const repeats = Number(options.repeats);
const modes = ['all', 'reduce_unique_types', 'reduce_unique_events', 'reduce_all'];
const ofEvents = (/** @type {number} */ timeline) => Object.fromEntries([
  ...modes.map((mode) => [`get_events ${mode}`, `get_events(ID, ${timeline}, '${mode}')`]),
  ['get_events max_depth', `get_events(ID, ${timeline}, max_depth => 3)`],
  ['session_parts', 'session_parts(ID)'],
  ['timelines', 'timelines where session_id = ID'],
  ['sessions', 'sessions where session_id = ID'],
]);
const questions = {
  'speed-tracer': {
    ...Object.fromEntries(['ui_thread_use', 'event_summary', 'log_messages', 'page_transitions', 'network_resources', 'network_graph', 'hints',
      'server_events', 'vm_states', 'js_profile', 'js_profile_bottom_up'].map((name) => [name, `${name}(ID)`])),
    'js_profile_bottom_up, all nodes': 'js_profile_bottom_up(ID, min_share => 0)',
    ...ofEvents(1),
  },
  'opera-scope': ofEvents(3),
};

const postgres = await startPostgres({ settings: { shared_buffers: '512MB', fsync: 'off', max_wal_size: '4GB', autovacuum: 'off' } });
await migrate(postgres);
const site = { name: 'bench', key: 'pk_bench' };
// Larger than by default, so that a body may be as large as limits.max_inflated.
const limits = { upload_memory: '1GiB' };
const spool = { path: path.join(postgres.socketDir, 'spool'), max_bytes: '1GiB', segment_bytes: '128MiB' };
const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer'), sites: [site], limits, spool } });
const client = new pg.Client({ host: postgres.socketDir, user: 'fleetprof_reader', database: 'fleetprof' });
await client.connect();
await client.query(`set max_parallel_workers_per_gather = 0; set search_path = fleetprof; set statement_timeout = '${longest}'`);
const pid = (await client.query('select pg_backend_pid() as pid')).rows[0].pid;

/** Uploads a session's parts; returns the session_id of one of them. @param {HostileSession} session @returns {Promise<string>} */
async function store({ bodies, format }) {
  const parts = bodies();
  const newest = async () => (await postgres.sql('select session_id::text as id from fleetprof.sessions order by received')).map(({ id }) => id);
  const before = (await newest()).length;
  let url = `${collector.url}/v1/ingest/${site.key}`;
  if (parts.length > 1 && format === 'speed-tracer') {
    const { session } = JSON.parse((await send(`${url}/sessions`, { body: '' })).body);
    url += `/sessions/${session}`;
  }
  for (const [part, text] of parts.entries()) {
    const reply = await send(`${url}?format=${format}${url.endsWith(site.key) ? '' : `&part=${part}`}`,
      { body: gzipSync(text, { level: 1 }), headers: { 'content-encoding': 'gzip' } });
    if (reply.status !== 204) throw new Error(`${reply.status} ${reply.body}`);
    if (reply.headers['fleetprof-refused']) process.stderr.write(`${reply.headers['fleetprof-refused']} records were refused\n`);
  }
  const stored = async () => (await newest()).length === before + parts.length;
  await waitFor(stored, { what: 'session in SQL', timeoutMs: 300_000, intervalMs: 500 });
  return /** @type {string} */ ((await newest()).at(-1));
}

/** Returns how many rows an answer has, or why there is none. @param {string} source */
const asked = async (source) => {
  try {
    return (await client.query({ text: `select * from ${source}`, rowMode: 'array' })).rowCount ?? 0;
  } catch (error) {
    const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
    if (code === '57014') return `more than ${longest}`;
    if (code !== '54000') throw error; // a limit that the manual states
    return message;
  }
};

const processorMs = () => Number(fs.readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** Measures how fast the machine is: before each question, in the same backend. */
const loop = 'select md5(i::text) from generate_series(1, 200000) as i';
/** @type {number[]} */
const loops = [];

/** Asks once to warm up, and once more; again only what comes near the aim. @param {string} source */
async function measure(source) {
  let rows = /** @type {number | string} */ (0);
  /** @type {number[]} */
  const spent = [];
  const begun = processorMs();
  await client.query(`select count(*) from (${loop} offset 0) as loop`);
  loops.push(processorMs() - begun);
  for (let round = 0; round <= repeats && !(round >= 2 && spent[0] < aimMs / 2); round += 1) {
    const before = processorMs();
    rows = await asked(source);
    if (round > 0 || String(rows).startsWith('more than')) spent.push(processorMs() - before);
    if (String(rows).startsWith('more than')) break;
  }
  return { ms: median(spent), least: Math.min(...spent), most: Math.max(...spent), rows };
}

/** @param {string} source @returns {Promise<string>} */
async function digest(source) {
  if (/^sessions |^session_parts/.test(source)) return ''; // they have ids and times
  try {
    return (await client.query(`select count(*) || ' ' || coalesce(md5(string_agg(md5(answer::text), ' ')), '') as digest from (select * from ${source}) as answer`)).rows[0].digest;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
}

/** @type {Record<string, HostileSession>} */
const sessions = {
  ...Object.fromEntries(Object.entries(hostile).filter(([name]) => !options.sessions || options.sessions.split(',').includes(name))),
  ...Object.fromEntries(dumps.map((file) => [path.basename(file), { bodies: () => [fs.readFileSync(file, 'utf8')], format: /** @type {const} */ ('speed-tracer') }])),
};
/** @type {Map<string, Array<{ session: string, ms: number, least: number, most: number, rows: number | string }>>} */
const times = new Map();
const answers = [];
for (const [name, session] of Object.entries(sessions)) {
  const id = await store(session);
  process.stderr.write(`${name}: session ${id}, load average ${os.loadavg()[0].toFixed(1)}\n`);
  for (const [report, template] of Object.entries(questions[session.format])) {
    if (options.reports && !options.reports.split(',').includes(report)) continue;
    const source = template.replace('ID', id);
    if (options.answers) answers.push(`${name}: ${report}: ${await digest(source)}`);
    if (repeats > 0) times.set(report, [...times.get(report) ?? [], { session: name, ...await measure(source) }]);
  }
}
if (options.answers) fs.writeFileSync(options.answers, `${answers.join('\n')}\n`);

loops.sort((a, b) => a - b);
if (repeats > 0) console.log(`The loop (${loop}) takes ${median(loops).toFixed(0)} ms (${loops[0].toFixed(0)} to ${loops.at(-1)?.toFixed(0)})\nProcessor time, ms: median of at most ${repeats} (least to most), of the three sessions that take longest`);
for (const [report, taken] of times) {
  taken.sort((a, b) => b.ms - a.ms);
  console.log(`${taken[0].ms <= aimMs ? 'met   ' : 'MISSED'} ${report.padEnd(32)} ${taken.slice(0, 3).map(({ session, ms, least, most, rows }) =>
    `${session} ${ms.toFixed(0)} (${least.toFixed(0)} to ${most.toFixed(0)}; ${typeof rows === 'number' ? `${rows} rows` : rows})`).join(', ')}`);
}
if (options.keep) {
  console.log(`\n${postgres.conninfo()}`);
  const awake = setInterval(() => {}, 60_000); // a handler alone keeps no process running
  await new Promise((resolve) => { process.once('SIGINT', resolve); });
  clearInterval(awake);
}
await client.end();
await collector.stop();
await postgres.stop();
