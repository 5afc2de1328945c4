#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Asks two builds of the schema the same questions in turn, and prints what the second one takes of the first one's
// processor time. docs/internals/benchmarks.md says how to read it.
//
//   node tests/bench/query/pairs.mjs --before DIRECTORY [--sites 'medium,few namesakes,ceiling'] [--rounds 5] [--keep]
//
// DIRECTORY has the fleetprof of the build before; the one after is build/bin. The one before migrates and the site is
// generated; the one after migrates a copy. --keep leaves the databases running until Ctrl-C.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

import pg from 'pg';

import { binDir, runOrThrow, startPostgres } from '../../behaviour/stack.mjs';
import { median } from '../ingest/report.mjs';
import { generate, timeOf } from './generate.mjs';
import { shapeOf, Site, siteName } from './site.mjs';

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    sites: { type: 'string', default: 'medium,few namesakes,ceiling' },
    rounds: { type: 'string', default: '5' },
    keep: { type: 'boolean', default: false },
  },
});
if (!options.before) throw new Error('--before is missing: the directory of the fleetprof to compare with');
const rounds = Number(options.rounds);
const firstDay = 20_727;
const period = { firstDay, days: 2, lastHours: 14, hourDays: 2, drawnDays: 2, fresh: false };
const end = (firstDay + 1) * 24 + 13;

// Few segments: what is measured is the number of names, and each segment has as many draws as any may have.
const fewSegments = { ...shapeOf(), routes: 2, releases: 2, browsers: 1 };
/** @type {Record<string, import('./site.mjs').Shape>} */
const shapes = {
  medium: fewSegments,
  'few namesakes': { ...fewSegments, namesakes: 2 },
  ceiling: { ...fewSegments, functions: 50_000, namesakes: 2, stacks: 125_000 },
};

const period24 = `'${siteName}', since => '${timeOf(end - 24)}', until => '${timeOf(end)}'`;
const questions = {
  hotspots: `hotspots(${period24})`,
  'hotspots, release': `hotspots(${period24}, release => '2026.10.2')`,
  'hotspots, all functions': `hotspots(${period24}, top => null)`,
  'flamegraph, all nodes': `flamegraph(${period24}, min_share => 0)`,
  flamegraph: `flamegraph(${period24})`,
  'flamegraph_columns, 50,000 nodes': `flamegraph_columns(${period24})`,
  'flamegraph_columns, 5,000 nodes': `flamegraph_columns(${period24}, max_nodes => 5000)`,
};

/** @param {import('../../behaviour/stack.mjs').Postgres} postgres @param {string} database */
async function connect(postgres, database) {
  const client = new pg.Client({ host: postgres.socketDir, user: 'fleetprof_reader', database });
  await client.connect();
  await client.query('set max_parallel_workers_per_gather = 0');
  const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid');
  return { client, pid };
}

/** Milliseconds of user and system time, finer than the hundredths of a second in stat. @param {number} pid */
const processorMs = (pid) => Number(fs.readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;

/** @typedef {Awaited<ReturnType<typeof connect>>} Side */

/** @param {Side} side @param {string} sql */
async function timed({ client, pid }, sql) {
  const before = processorMs(pid);
  await client.query(sql);
  return processorMs(pid) - before;
}

/** Nodes of flamegraph_columns as rows: which functions it lists besides, and in which order, is open. @param {string} call */
const nodesOf = (call) => `
  with drawn as (select answer::jsonb as tree from fleetprof.${call} as answer),
  listed as (
    select function_key, place - 1 as frame
    from drawn, jsonb_array_elements_text(tree -> 'frames' -> 'function_key') with ordinality as listed (function_key, place))
  select md5(string_agg(concat_ws(' ', level, self, total, samples, function_key), ',' order by place)) as md5, count(*)
  from drawn, rows from (
    jsonb_array_elements_text(tree -> 'level'), jsonb_array_elements_text(tree -> 'self'), jsonb_array_elements_text(tree -> 'total'),
    jsonb_array_elements_text(tree -> 'samples'), jsonb_array_elements_text(tree -> 'frame')
  ) with ordinality as node (level, self, total, samples, frame, place)
  left join listed on listed.frame = node.frame::integer`;

/** @param {string} call */
const rowsOf = (call) => `select md5(string_agg(answer::text, E'\\n')) as md5, count(*) from fleetprof.${call} as answer`;

/** True if both sides answer the same, in the same order. @param {Side[]} sides @param {string} call */
async function isEqual(sides, call) {
  const answers = [];
  for (const { client } of sides) {
    const { rows } = await client.query(call.startsWith('flamegraph_columns') ? nodesOf(call) : rowsOf(call));
    answers.push(JSON.stringify(rows));
  }
  return answers[0] === answers[1];
}

/** @param {Side[]} sides before, after @param {string} name @param {string} call */
async function compare(sides, name, call) {
  const same = await isEqual(sides, call);
  /** @type {number[][]} */
  const spent = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    for (const [place, side] of sides.entries()) spent[place].push(await timed(side, `select * from fleetprof.${call}`));
  }
  const figures = (/** @type {number[]} */ [before, after]) => `${before.toFixed(0).padStart(9)}${after.toFixed(0).padStart(7)}${(after / before).toFixed(2).padStart(7)}`;
  const least = spent.map((times) => Math.min(...times));
  if (!same) process.exitCode = 1;
  console.log(`${name.padEnd(34)}${figures(spent.map(median))}${figures(least)}   ${same ? 'equal' : 'DIFFERENT'}`);
}

/** @param {import('../../behaviour/stack.mjs').Postgres} postgres @param {string} name */
async function compareSite(postgres, name) {
  const copy = `${name} after`;
  await runOrThrow([path.join(/** @type {string} */ (options.before), 'fleetprof'), 'migrate', '--database', postgres.conninfo()]);
  const site = new Site(shapes[name]);
  await generate(postgres, site, period);
  const admin = new pg.Client({ host: postgres.socketDir, user: 'postgres', database: 'postgres' });
  await admin.connect();
  await admin.query(`alter database fleetprof rename to "${name}"`);
  await admin.query(`create database "${copy}" template "${name}"`);
  await admin.query('create database fleetprof');
  await admin.end();
  await runOrThrow([path.join(binDir, 'fleetprof'), 'migrate', '--database', postgres.conninfo('postgres', `'${copy}'`)]);
  const sides = [await connect(postgres, name), await connect(postgres, copy)];
  console.log(`\n${name}: ${site.functions.length} functions, ${site.stacks.length} stacks; load average ${os.loadavg()[0].toFixed(1)} on ${os.cpus().length} cores`);
  console.log(`Processor time, ms; ${String(rounds).padStart(2)} rounds        median  after  ratio    least  after  ratio`);
  for (const [question, call] of Object.entries(questions)) await compare(sides, question, call);
  for (const { client } of sides) await client.end();
}

const postgres = await startPostgres({
  settings: { shared_buffers: '512MB', fsync: 'off', wal_level: 'minimal', max_wal_senders: 0, max_wal_size: '4GB', autovacuum: 'off' },
});
for (const name of options.sites.split(',')) await compareSite(postgres, name);
if (options.keep) {
  console.log(`\n${postgres.conninfo()}`);
  const awake = setInterval(() => {}, 60_000);
  await new Promise((resolve) => { process.once('SIGINT', resolve); });
  clearInterval(awake);
}
await postgres.stop();
