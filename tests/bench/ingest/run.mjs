#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// How many uploads a second, end to end: durable at the reply, and then in SQL; and what one costs.
//
// One run measures, in turn, round after round and on the same machine: fleetprofd; Fastify with pg and a jsonb
// column; our HTTP layer with COPY into jsonb; nginx answering 204; inflating and parsing alone; and the spool
// beside SQLite. In the end all of a size is sealed, which counts too. docs/internals/benchmarks.md says how to read it.
//
//   node tests/bench/ingest/run.mjs [--seconds 10] [--rounds 5] [--sizes small,medium,large | none] [--connections 64]
//                                   [--curve medium] [--uploads 1000000] [--growth medium]
//
// --curve adds the cost by window size and by number of uploads (100 to 100,000, or to --uploads) of one size, and the
// disk that all of these take once they are sealed; --growth the
// cost by number of segments and by days in the database.
import path from 'node:path';
import { parseArgs } from 'node:util';

import { migrate, runOrThrow, startPostgres, temporaryDir } from '../../behaviour/stack.mjs';
import { sizes, writeBodies } from './bodies.mjs';
import { generate } from '../query/generate.mjs';
import { shapeOf, Site } from '../query/site.mjs';
import { measureFleetprof, measurePeer, measureSealing, storedBytes } from './measure.mjs';
import { benchProgram, createTraceTable, startFastify, startFleetprof, startJsonbCopy, startNginx204 } from './peers.mjs';
import { memoryMiB } from './processes.mjs';
import { median, medians, printAims, printCurve, printGrowth, printSize } from './report.mjs';

/**
 * @typedef {import('./peers.mjs').Postgres} Postgres
 * @typedef {import('./measure.mjs').Load} Load
 */

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '5' },
    sizes: { type: 'string', default: Object.keys(sizes).join() },
    connections: { type: 'string', default: '64' },
    curve: { type: 'string' },
    growth: { type: 'string' },
    uploads: { type: 'string', default: '100000' },
  },
});
const rounds = Number(options.rounds);
const hourAndDelay = 3600 + 130; // s; then an hour is due that has just begun
const grownScale = 0.02; // of the query benchmark's site
const curveRate = 300; // uploads a second that two busy cores keep up with at every window
/** @type {Load} */
const load = { bodies: '', connections: Number(options.connections), seconds: Number(options.seconds), rate: 0, count: 0 };
const settings = {
  fsync: 'on', synchronous_commit: 'on', shared_buffers: '256MB', max_wal_size: '4GB', checkpoint_timeout: '15min', wal_compression: 'lz4',
  autovacuum: 'off', // each vacuums where it is measured
  jit: 'on', // as PostgreSQL has it
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
  const { uploads: first } = await measureFleetprof(postgres, collector, { ...load, bodies, seconds: 1 }); // partitions, plans, caches
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await measureFleetprof(postgres, collector, { ...load, bodies }));
    for (const [index, peer] of peers.entries()) theirs[index].push(await measurePeer(postgres, peer, { ...load, bodies }));
    limits.push((await jsonOf('parse_limit', bodies, '1')).cpu_us);
    stages.push(await jsonOf('stages', bodies, '1'));
    half.push(await measureFleetprof(postgres, collector, { ...load, bodies, rate: median(ours.map(({ perSecond }) => perSecond)) / 2 }));
  }
  for (const peer of peers) await peer.stop();
  await collector.stop();
  const uploads = [...ours, ...half].reduce((sum, { uploads: some }) => sum + some, first);
  const sealing = await measureSealing(postgres, uploads, hourAndDelay);
  const stored = await storedBytes(postgres, uploads);
  const blocks = await measureSealing(postgres, uploads, 17 * 86_400);
  const storedAfter = await storedBytes(postgres, uploads);
  await postgres.stop();
  return {
    size, ...made, idleMiB, uploads, sealing, stored, blocks, storedAfter, fleetprof: medians(ours), half: medians(half), stages: medians(stages), limit_us: median(limits),
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
  for (let uploads = 100; uploads <= Number(options.uploads); uploads *= 10) {
    const collector = await startFleetprof(postgres);
    byCount.push(await measureFleetprof(postgres, collector, { ...load, bodies, seconds: 3600, count: uploads }));
    await collector.stop();
  }
  const uploads = [...byWindow, ...byCount].reduce((sum, one) => sum + one.uploads, 0);
  await measureSealing(postgres, uploads, hourAndDelay);
  const stored = { uploads, ...await storedBytes(postgres, uploads) };
  await postgres.stop();
  return { size, rate: curveRate, byWindow, byCount, stored };
}

/** Cost of 10,000 uploads in a fresh collector. @param {string} size @param {string} bodies */
async function measureGrowth(size, bodies) {
  const counted = { ...load, bodies, seconds: 3600, count: 10_000 };
  const bySegments = [];
  for (const segments of [1, 10, 100, 1000]) {
    writeBodies(bodies, size, { segments });
    bySegments.push(await costInNewDatabase(counted, async () => {}));
  }
  writeBodies(bodies, size);
  const byDays = [];
  for (const days of [1, 8, 30]) {
    const lastDay = Math.floor(Date.now() / 86_400_000) - 1;
    byDays.push({ days, ...await costInNewDatabase(counted, async (postgres) => {
      await generate(postgres, new Site(shapeOf(grownScale)),
        { firstDay: lastDay + 1 - days, days, lastHours: 24, hourDays: Math.min(days, 14), drawnDays: 2, fresh: false });
      await postgres.execute(`insert into fleetprof_data.upload_id select gen_random_uuid(), 1, now() - random() * interval '${days} days' from generate_series(1, ${days * 20_000});
        vacuum analyze`);
    }) });
  }
  return { size, bySegments, byDays };
}

/** @param {Load} counted @param {(postgres: Postgres) => Promise<void>} fill */
async function costInNewDatabase(counted, fill) {
  const postgres = await startPostgres({ settings });
  await migrate(postgres);
  await fill(postgres);
  const collector = await startFleetprof(postgres);
  await measureFleetprof(postgres, collector, { ...counted, count: 1000 });
  const cost = await measureFleetprof(postgres, collector, counted);
  await collector.stop();
  const sealing = await measureSealing(postgres, cost.uploads + 1000, hourAndDelay);
  const [{ segments }] = await postgres.sql("select count(*) as segments from fleetprof_data.segment where site = 'demo'");
  await postgres.stop();
  return { ...cost, segments, sealing };
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
if (options.growth) printGrowth(await measureGrowth(options.growth, path.join(dir, 'bodies')));
if (results.length > 0) {
  const spool = await runOrThrow([benchProgram('spool_bench'), dir]);
  console.log(`\nSpool, durable records of 20 kB a second by group size\n${spool}`);
  printAims(results, spool);
}
