#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// DuckDB over Parquet, in a process of its own, whose processor time is known: what somebody would build who
// keeps raw samples in columns.
//
//   node duckdb.mjs load DIR             makes DIR/frames, DIR/stacks and their dictionaries from what writeKeys wrote
//   node duckdb.mjs query DIR THREADS    reads a JSON array of statements from stdin; prints their times and rows as JSON
//
// One row per upload and function, and one per upload and stack: fewer than one row per sample. Rows are sorted by hour,
// route and release, as a job that compacts files would leave them, so that a filter by route and release skips the others.
import fs from 'node:fs';
import path from 'node:path';

// Not among the packages of all tests: it is large, and not every registry has it for every platform.
const { DuckDBInstance } = await import(/** @type {string} */ ('@duckdb/node-api'));

const [command, dir, threads = '1'] = process.argv.slice(2);
const instance = await DuckDBInstance.create(':memory:', threads === 'default' ? {} : { threads });
const connection = await instance.connect();
const csv = (/** @type {string} */ file, options = '') => `(select * from read_csv(${quoted(file)}, header = true${options}))`;
const quoted = (/** @type {string} */ file) => `'${path.join(dir, file).replaceAll("'", "''")}'`;

/** Rows of each upload from the sums over uploads, which they add up to. @param {string} table @param {string} key @param {string[]} columns */
async function expand(table, key, columns) {
  const split = columns.map((column) => `(${column} // uploads + (i < ${column} % uploads)::bigint)::integer as ${column}`);
  fs.mkdirSync(path.join(dir, table), { recursive: true });
  for (const file of fs.readdirSync(path.join(dir, 'keys')).filter((name) => name.startsWith(`${table}-`))) {
    await connection.run(`copy (
      select received, upload, route, release, browser, ${key}, ${split.join()}
      from (
        select *, unnest(range(uploads)) as i, hash(segment, hour, (i + ${key} * 7) % whole) as upload,
          to_timestamp(hour * 3600 + upload % 3600) as received
        from ${csv(path.join('keys', file))} as sum
        join ${csv('segment.csv', ", types = {'release': 'varchar'}")} as segment using (segment)
      )
      order by hour, route, release, received, upload
    ) to ${quoted(path.join(table, file.replace(/csv$/, 'parquet')))} (format parquet)`);
  }
}

async function load() {
  await connection.run("set memory_limit = '4GB'; set preserve_insertion_order = false");
  await expand('frames', 'frame', ['samples', 'self_us', 'total_us']);
  await expand('stacks', 'stack', ['samples', 'self_us']);
  await connection.run(`copy ${csv('frame.csv')} to ${quoted('frame.parquet')}`);
  // Each stack with all below it, made once: a query need not walk the tree.
  await connection.run(`copy (
    with recursive above (stack, ancestor) as (
      select stack, stack from ${csv('stack.csv')} as root
      union all
      select above.stack, parent from above join ${csv('stack.csv')} as s on s.stack = ancestor where parent >= 0)
    select * from above) to ${quoted('ancestor.parquet')}`);
  await connection.run(`copy ${csv('stack.csv')} to ${quoted('stack.parquet')}`);
}

async function query() {
  process.chdir(dir);
  const results = [];
  for (const { sql, repeats } of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    await connection.run(sql); // warm
    const times = [];
    let rows;
    for (let round = 0; round < repeats; round += 1) {
      const before = process.cpuUsage();
      rows = (await connection.runAndReadAll(sql)).getRowsJson();
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
    }
    results.push({ times, rows });
  }
  console.log(JSON.stringify(results));
}

await (command === 'load' ? load() : query());
