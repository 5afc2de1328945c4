#!/usr/bin/env node
// How many uploads a second, end to end: durable at the reply, and then in SQL.
//
// One run measures, in turn and on the same machine: fleetprofd with PostgreSQL; a Fastify server that
// inserts the JSON into a jsonb column of the same PostgreSQL; and inflating and parsing alone, the limit.
// wrk posts the same gzip body over 16 connections. fleetprofd's rate counts until the last upload is in SQL.
//
//   node tests/bench/ingest/run.mjs [--seconds 10] [--rounds 3] [--uploads 100000]
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';

import { buildDir, freePort, migrate, repository, runOrThrow, startCollector, startPostgres, startProcess,
  temporaryDir, waitFor } from '../../behaviour/stack.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    uploads: { type: 'string', default: '0' },
  },
});
const seconds = Number(options.seconds);
const here = path.join(repository, 'tests/bench/ingest');
const traces = ['react-prod-sync-3s.json', 'coi-react-vue-misc-8s.json'];
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));
const durable = { settings: { fsync: 'on', synchronous_commit: 'on', shared_buffers: '256MB', max_wal_size: '4GB' } };

/** @param {number[]} numbers */
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Processor seconds of a process, its ended children included. @param {number} pid */
function cpuSeconds(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
}

/** Processor seconds of a process and all that it started. @param {number} pid @returns {number} */
function treeCpuSeconds(pid) {
  const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean);
  return children.reduce((sum, child) => sum + treeCpuSeconds(Number(child)), cpuSeconds(pid));
}

/** @param {number} pid @param {'VmHWM' | 'VmRSS'} field @returns {number} MiB */
function memoryMiB(pid, field) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}

/**
 * @param {string} url
 * @param {string} body
 * @param {number} forSeconds
 * @returns {Promise<{ requests: number, errors: number, duration_us: number, p50_us: number, p99_us: number }>}
 */
async function load(url, body, forSeconds) {
  const output = await runOrThrow(['wrk', '-t', '1', '-c', '16', '-d', `${forSeconds}s`, '--latency',
    '-s', path.join(here, 'post.lua'), url], { env: { BENCH_BODY: body } });
  const result = JSON.parse(/** @type {string} */ (output.trim().split('\n').pop()));
  if (result.errors > 0) throw new Error(`${result.errors} of ${result.requests} requests failed\n${output}`);
  return result;
}

async function startFleetprof() {
  const postgres = await startPostgres(durable);
  await migrate(postgres);
  const collector = await startCollector({
    config: { database: postgres.conninfo('fleetprof_writer'), spool: { path: `${temporaryDir('spool')}/spool`, max_bytes: '4GiB' } },
  });
  return { postgres, collector };
}

/** @param {string} body */
async function measureFleetprof(body) {
  const { postgres, collector } = await startFleetprof();
  const { pid } = collector.server;
  const idleMiB = memoryMiB(pid, 'VmRSS');
  const cpu = [cpuSeconds(pid), treeCpuSeconds(postgres.server.pid)];
  const began = performance.now();
  const { requests, p50_us, p99_us } = await load(`${collector.url}/v1/ingest/pk_demo`, body, seconds);
  // wrk leaves the requests in flight when its time is up: the collector's own count is the true one.
  const uploads = await waitFor(async () => {
    const metrics = await collector.metrics();
    const accepted = metrics['fleetprof_uploads_total{status="accepted"}'];
    return accepted >= requests && metrics.fleetprof_spool_backlog_records === 0
      && accepted === (await postgres.sql('select count(*) as n from fleetprof.upload_log'))[0].n && accepted;
  }, { timeoutMs: 120_000, what: 'count in SQL like the collector\'s' });
  const elapsed = (performance.now() - began) / 1000;
  const result = {
    perSecond: uploads / elapsed, p50_us, p99_us,
    cpu_us: (cpuSeconds(pid) - cpu[0]) * 1e6 / uploads,
    databaseCpu_us: (treeCpuSeconds(postgres.server.pid) - cpu[1]) * 1e6 / uploads,
    idleMiB, peakMiB: memoryMiB(pid, 'VmHWM'), uploads,
  };
  await collector.stop();
  await postgres.stop();
  return result;
}

/**
 * The collector's memory over many uploads at full load, at every quarter of them.
 * @param {string} body
 * @param {number} uploads at least
 * @returns {Promise<{ uploads: number, MiB: number }[]>}
 */
async function measureMemory(body, uploads) {
  const { postgres, collector } = await startFleetprof();
  const marks = [];
  for (let sent = 0, quarter = 1; quarter <= 4;) {
    sent += (await load(`${collector.url}/v1/ingest/pk_demo`, body, 2)).requests;
    if (sent < uploads * quarter / 4) continue;
    marks.push({ uploads: sent, MiB: memoryMiB(collector.server.pid, 'VmRSS') });
    quarter = Math.floor(4 * sent / uploads) + 1;
  }
  await collector.stop();
  await postgres.stop();
  return marks;
}

/** @param {string} body */
async function measureFastify(body) {
  const postgres = await startPostgres(durable);
  const port = await freePort();
  const server = startProcess('fastify', ['node', path.join(here, 'fastify_jsonb.mjs'), String(port), postgres.socketDir]);
  await waitFor(() => fetch(`http://127.0.0.1:${port}/`), { what: 'answer of Fastify' });
  const cpu = [cpuSeconds(server.pid), treeCpuSeconds(postgres.server.pid)];
  const { requests, duration_us, p50_us, p99_us } = await load(`http://127.0.0.1:${port}/v1/ingest/pk_demo`, body, seconds);
  const result = {
    perSecond: requests / (duration_us / 1e6), p50_us, p99_us,
    cpu_us: (cpuSeconds(server.pid) - cpu[0]) * 1e6 / requests,
    databaseCpu_us: (treeCpuSeconds(postgres.server.pid) - cpu[1]) * 1e6 / requests,
    peakMiB: memoryMiB(server.pid, 'VmHWM'),
  };
  await server.stop('SIGTERM');
  await postgres.stop();
  return result;
}

/** @param {string} body @returns {Promise<number>} µs of processor time per upload */
async function measureLimit(body) {
  return JSON.parse(await runOrThrow([path.join(buildDir, 'trees/plain/tests/bench/parse_limit'), body, '2'])).cpu_us;
}

/** @template {Record<string, number>} T @param {T[]} rounds @returns {T} the median of each figure */
const medians = (rounds) => /** @type {T} */ (Object.fromEntries(
  Object.keys(rounds[0]).map((key) => [key, median(rounds.map((round) => round[key]))])));

/** @param {string} name @param {Record<string, number>} figures */
const print = (name, { perSecond, p50_us, p99_us, cpu_us, databaseCpu_us, peakMiB }) => console.log(
  `  ${name.padEnd(24)} ${perSecond.toFixed(0).padStart(7)} uploads/s   reply p50 ${(p50_us / 1000).toFixed(1)} ms p99 ${(p99_us / 1000).toFixed(1)} ms`
  + `   CPU/upload ${cpu_us.toFixed(0)} µs, database ${databaseCpu_us.toFixed(0)} µs   peak ${peakMiB.toFixed(0)} MiB`);

console.log(`Uploads over 16 connections for ${seconds} s, median of ${options.rounds} rounds; fleetprofd until the last is in SQL.`);
for (const trace of traces) {
  const json = fs.readFileSync(path.join(repository, 'tests/data', trace));
  const body = path.join(temporaryDir('bench'), 'body.gz');
  fs.writeFileSync(body, gzipSync(json));
  console.log(`\n${trace}: ${(json.length / 1024).toFixed(0)} KiB of JSON, ${(fs.statSync(body).size / 1024).toFixed(1)} KiB gzip`);
  const ours = [];
  const theirs = [];
  const limits = [];
  for (let round = 0; round < Number(options.rounds); round += 1) {
    ours.push(await measureFleetprof(body));
    theirs.push(await measureFastify(body));
    limits.push(await measureLimit(body));
  }
  const [fleetprof, fastify, limit] = [medians(ours), medians(theirs), median(limits)];
  print('fleetprofd', fleetprof);
  print('Fastify + pg jsonb', fastify);
  console.log(`  ${'inflate + parse alone'.padEnd(24)} ${(1e6 / limit).toFixed(0).padStart(7)} a second on one core, ${limit.toFixed(0)} µs each`);
  console.log(`  ratio to Fastify + jsonb: ${(fleetprof.perSecond / fastify.perSecond).toFixed(2)} x uploads/s; `
    + `collector's CPU is ${(fleetprof.cpu_us / limit).toFixed(2)} x inflate + parse (writer included); idle ${fleetprof.idleMiB.toFixed(0)} MiB`);
}

if (Number(options.uploads) > 0) {
  const body = path.join(temporaryDir('bench'), 'body.gz');
  fs.writeFileSync(body, gzipSync(fs.readFileSync(path.join(repository, 'tests/data', traces[0]))));
  const marks = await measureMemory(body, Number(options.uploads));
  console.log(`\nmemory: ${marks.map((mark) => `${mark.MiB.toFixed(1)} MiB after ${mark.uploads} uploads`).join(', ')}`);
}
