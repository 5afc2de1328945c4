// SPDX-License-Identifier: Apache-2.0
/**
 * The manual's recipe for DuckDB and notebooks does what it says: its file and its answer have what SQL has. Without a
 * command `duckdb`, its query asks PostgreSQL, into which the file is read.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { startFleet } from '../browser/report_fleet.mjs';
import { startReport } from './serve_tool.mjs';
import { binDir, postgresBinDir, repository, run, runOrThrow, temporaryDir } from './stack.mjs';

const text = fs.readFileSync(path.join(repository, 'docs/cookbook.md'), 'utf8').split('\n## In DuckDB and notebooks\n')[1];
const blockOf = (/** @type {string} */ language) => /** @type {RegExpExecArray} */ (RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``).exec(text))[1];
const [exporting, asking] = blockOf('sh').trimEnd().split('\n');
const [, query] = /** @type {RegExpExecArray} */ (/^duckdb -c "([^"]*)"$/.exec(asking));
const dir = temporaryDir('notebook');

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let reader;
/** @type {any[]} */
let wanted;
before(async () => {
  stack = await startFleet({ perHour: 2, hostile: false });
  reader = stack.postgres.conninfo('fleetprof_reader');
  wanted = await stack.sql(query.replace("'top.csv'", "fleetprof.hotspots('shop', since => now() - interval '2 days', top => 1000) where not is_agent"));
  await runOrThrow(['sh', '-c', `cd ${dir} && ${exporting}`], { env: { PATH: `${binDir}:${process.env.PATH}`, FLEETPROF_DATABASE: reader } });
});
after(() => stack?.stop());

const lines = () => wanted.map(({ resource, ms }) => `${resource},${Number(ms)}`);

test('the file gives the answer of SQL', async () => {
  assert.equal(wanted.length, 3);
  assert.ok(wanted.every(({ ms }) => ms > 0));
  const file = path.join(dir, 'top.csv');
  const printed = await runOrThrow([`${postgresBinDir()}/psql`, '-XqtA', '-F,', '-v', 'ON_ERROR_STOP=1', '-d', stack.postgres.conninfo('postgres'),
    '-c', "create temp table top_csv as select * from fleetprof.hotspots('shop') limit 0",
    '-c', `\\copy top_csv from '${file}' (format csv, header match)`, '-c', query.replace("'top.csv'", 'top_csv')]);
  assert.deepEqual(printed.trimEnd().split('\n'), lines());
});

test('DuckDB gives it', async (t) => {
  if ((await run(['sh', '-c', 'command -v duckdb'])).code !== 0) return t.skip('no duckdb here');
  const printed = await runOrThrow(['sh', '-c', `cd ${dir} && duckdb -csv -noheader -c "${query}"`]);
  assert.deepEqual(printed.trimEnd().split('\n').map((line) => line.replace(/\.0$/, '')), lines());
});

test('a notebook gives it', async () => {
  const report = await startReport(reader);
  try {
    const cell = blockOf('js').replace('http://127.0.0.1:8602', report.url);
    const AsyncFunction = /** @type {any} */ ((async () => {}).constructor);
    /** @type {any[]} */
    const table = await new AsyncFunction(`${cell}; return table;`)();
    for (const { resource, ms } of wanted) {
      const sum = table.reduce((all, row) => all + (row.resource === resource && !row.is_agent ? row.self_ms : 0), 0);
      assert.equal(Math.round(sum), Number(ms));
    }
  } finally {
    await report.server.stop();
  }
});
