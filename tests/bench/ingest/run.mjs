#!/usr/bin/env node
// How many uploads a second, end to end: durable at the reply, and then in SQL; and what one costs.
//
// One run measures, in turn, round after round and on the same machine: fleetprofd; Fastify with pg and a jsonb
// column; our HTTP layer with COPY into jsonb; nginx answering 204; inflating and parsing alone; and the spool
// beside SQLite. docs/benchmarks.md says how to read it.
//
//   node tests/bench/ingest/run.mjs [--seconds 5] [--rounds 5] [--sizes small,medium,large | none] [--connections 64]
//                                   [--curve medium] [--uploads 1000000]
//
// --curve adds the cost by window size and by number of uploads (1,000 to 100,000, or to --uploads) of one size.
import path from 'node:path';
import { parseArgs } from 'node:util';

import { migrate, runOrThrow, startPostgres, temporaryDir } from '../../behaviour/stack.mjs';
import { sizes, writeBodies } from './bodies.mjs';
import { measureFleetprof, measurePeer } from './measure.mjs';
import { benchProgram, createTraceTable, startFastify, startFleetprof, startJsonbCopy, startNginx204 } from './peers.mjs';
import { memoryMiB } from './processes.mjs';
import { median, medians, printAims, printCurve, printSize } from './report.mjs';

/**
 * @typedef {import('./peers.mjs').Postgres} Postgres
 * @typedef {import('./measure.mjs').Load} Load
 */

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: Object.keys(sizes).join() },
    connections: { type: 'string', default: '64' },
    curve: { type: 'string' },
    uploads: { type: 'string', default: '100000' },
  },
});
const rounds = Number(options.rounds);
const curveRate = 300; // uploads a second that two busy cores keep up with at every window
/** @type {Load} */
const load = { bodies: '', connections: Number(options.connections), seconds: Number(options.seconds), rate: 0, count: 0 };
const settings = {
  fsync: 'on', synchronous_commit: 'on', shared_buffers: '256MB', max_wal_size: '4GB', checkpoint_timeout: '15min', wal_compression: 'lz4',
};

/** @param {string} program @param {string[]} args of a program that prints a line of JSON */
const jsonOf = async (program, ...args) => JSON.parse(await runOrThrow([benchProgram(program), ...args]));

/** All figures of one size of body. @param {string} size @param {string} bodies */
async function measureSize(size, bodies) {
  const made = writeBodies(bodies, size);
  const postgres = await startPostgres({ settings });
  await migrate(postgres);
  await createTraceTable(postgres);
  const collector = await startFleetprof(postgres);
  const idleMiB = memoryMiB(collector.server.pid, 'VmRSS');
  const peers = [await startFastify(postgres), await startJsonbCopy(postgres), await startNginx204(bodies)];
  const ours = [];
  const half = [];
  /** @type {Record<string, number>[][]} */
  const theirs = peers.map(() => []);
  const limits = [];
  const stages = [];
  await measureFleetprof(postgres, collector, { ...load, bodies, seconds: 1 }); // partitions, plans, caches
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await measureFleetprof(postgres, collector, { ...load, bodies }));
    for (const [index, peer] of peers.entries()) theirs[index].push(await measurePeer(postgres, peer, { ...load, bodies }));
    limits.push((await jsonOf('parse_limit', bodies, '1')).cpu_us);
    stages.push(await jsonOf('stages', bodies, '1'));
    half.push(await measureFleetprof(postgres, collector, { ...load, bodies, rate: median(ours.map(({ perSecond }) => perSecond)) / 2 }));
  }
  for (const peer of peers) await peer.stop();
  await collector.stop();
  await postgres.stop();
  return {
    size, ...made, idleMiB, fleetprof: medians(ours), half: medians(half), stages: medians(stages), limit_us: median(limits),
    peers: peers.map(({ name }, index) => ({ name, ...medians(theirs[index]) })),
  };
}

/** Cost by window and by number of uploads. @param {string} size @param {string} bodies */
async function measureCurves(size, bodies) {
  writeBodies(bodies, size);
  const postgres = await startPostgres({ settings });
  await migrate(postgres);
  const byWindow = [];
  for (const seconds of [0.1, 0.3, 1, 3, 10]) {
    const collector = await startFleetprof(postgres, { min_window: `${seconds * 1000}ms`, max_window: '60s' });
    byWindow.push({ seconds, ...await measureFleetprof(postgres, collector, { ...load, bodies, rate: curveRate, seconds: Math.max(5, 2.2 * seconds) }) });
    await collector.stop();
  }
  const byCount = [];
  for (let uploads = 1000; uploads <= Number(options.uploads); uploads *= 10) {
    const collector = await startFleetprof(postgres);
    byCount.push(await measureFleetprof(postgres, collector, { ...load, bodies, seconds: 3600, count: uploads }));
    await collector.stop();
  }
  await postgres.stop();
  return { size, rate: curveRate, byWindow, byCount };
}

const dir = temporaryDir('bench');
console.log(`${rounds} rounds of ${load.seconds} s over ${load.connections} connections, everything in turn in each round; medians.`);
const results = [];
for (const size of options.sizes === 'none' ? [] : options.sizes.split(',')) {
  const result = await measureSize(size, path.join(dir, 'bodies'));
  printSize(result);
  results.push(result);
}
if (options.curve) printCurve(await measureCurves(options.curve, path.join(dir, 'bodies')));
if (results.length > 0) {
  const spool = await runOrThrow([benchProgram('spool_bench'), dir]);
  console.log(`\nSpool, durable records of 20 kB a second by group size\n${spool}`);
  printAims(results, spool);
}
