// SPDX-License-Identifier: Apache-2.0
/** Walks schema/vitals: each vital in the agent, the collector, SQL, the command line, HTTP, the report, Grafana and the manual. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { rows as reportRows } from '../../report/src/vital_rows.js';
import { files as dashboards } from '../../tools/dashboards.mjs';
import { vitals } from '../../tools/vitals.mjs';
import { startReport } from './serve_tool.mjs';
import { binDir, repository, run, runOrThrow, startStack, temporaryDir, waitFor } from './stack.mjs';

const names = vitals.map(({ name }) => name);
const read = (/** @type {string} */ file) => fs.readFileSync(path.join(repository, file), 'utf8');

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./serve_tool.mjs').Report} */
let report;

/** @param {{ name: string, value: number }[]} list */
const upload = (list) => fetch(`${stack.collector.url}/v1/ingest/pk_shop`, {
  method: 'POST', body: JSON.stringify({ page: { url: 'https://shop.example/' }, vitals: list }),
});

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }] } });
  // One value of each that is just good, one in between, and one just poor.
  for (const place of [0, 1, 2]) {
    const list = vitals.map(({ name, unit, good, poor }) => ({ name, value: [good, poor, poor + 1][place] / (unit === 'ms' ? 1 : 1000) }));
    assert.equal((await upload(list)).status, 204);
  }
  await waitFor(async () => (await stack.collector.metrics()).fleetprof_uploads_flushed_total === 3, { what: 'three uploads' });
  report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
});
after(async () => {
  await report?.server.stop();
  await stack?.stop();
});

/** The places that ask for the vitals. @type {Record<string, () => Promise<any[]>>} */
const surfaces = {
  SQL: () => stack.sql("select * from fleetprof.vitals('shop')", 'fleetprof_reader'),
  'the command line': async () => JSON.parse(await runOrThrow([path.join(binDir, 'fleetprof'), 'vitals', '--json', '--site', 'shop', '--database', stack.postgres.conninfo('fleetprof_reader')])),
  HTTP: async () => {
    const { columns, rows } = await report.json('/api/v1/vitals?site=shop');
    return rows.map((/** @type {any[]} */ row) => Object.fromEntries(columns.map((/** @type {{ name: string }} */ { name }, /** @type {number} */ place) => [name, row[place]])));
  },
};

for (const [surface, ask] of Object.entries(surfaces)) {
  test(`${surface} has each vital, in order, with its unit and rated by its thresholds`, async () => {
    const rows = await ask();
    assert.deepEqual(rows.map(({ name, unit }) => ({ name, unit })), vitals.map(({ name, unit }) => ({ name, unit })));
    for (const { name, count, good_share: good, needs_improvement_share: middling, poor_share: poor } of rows) {
      assert.equal(Number(count), 3, name);
      for (const share of [good, middling, poor]) assert.ok(Math.abs(share - 1 / 3) < 1e-3, `${name}: ${share}`);
    }
  });
}

test('SQL takes each by its name, and lists them where it knows no such vital', async () => {
  for (const name of names) await stack.sql(`select * from fleetprof.vital_hotspots('${name}', 'shop')`, 'fleetprof_reader');
  await assert.rejects(stack.sql("select * from fleetprof.vital_hotspots('XYZ', 'shop')", 'fleetprof_reader'), /no vital is named "XYZ"/);
});

test('the collector lists them where it knows no such vital', async () => {
  const reply = await upload([{ name: 'XYZ', value: 1 }]);
  assert.equal(reply.status, 422);
  assert.match(await reply.text(), new RegExp(`must be one of ${names.join(', ')}`));
});

test('--help, the report, the dashboards and the manual have them', async () => {
  assert.match((await runOrThrow([path.join(binDir, 'fleetprof'), 'vitals', '--help'])).replace(/\s+/g, ' '), new RegExp(`\\(${names.join(', ')}\\)`));
  assert.deepEqual(reportRows, vitals.map(({ name, unit, good, poor }) => ({ name, unit, good, poor })));
  const { templating: { list } } = JSON.parse(dashboards.get('vitals.json') ?? '');
  assert.deepEqual(new Set(list.find((/** @type {{ name: string }} */ { name }) => name === 'vital').query.split(',')), new Set(names));
  const documented = [...read('docs/numbers.md').matchAll(/^\| `([A-Z]+)` \| ([\w ]+) \| (\d+) \| (\d+) \| .{10,} \|$/gm)];
  assert.deepEqual(documented.map(([, name, unit, good, poor]) => ({ name, unit, good: Number(good), poor: Number(poor) })), reportRows);
});

test('from when on a wait is flagged is said alike wherever people read it', () => {
  const [, seconds] = /FP_INTERACTION_FLAGGED_US \(INT64_C\((\d+)\) \* 1000000\)/.exec(read('collector/rollup/vital.h')) ?? assert.fail();
  for (const [file, text, times] of /** @type {[string, string, number][]} */ ([
    ['cli/ask/reports.c', `of ${seconds} s and more`, 2], ['report/src/views/vitals.js', `INPs of ${seconds} s and more`, 1],
    ['report/src/views/interactions.js', `'${seconds} s and more`, 1], ['docs/numbers.md', `An INP of ${seconds} s or more`, 1],
  ])) assert.equal(read(file).split(text).length - 1, times, file);
});

test('the agent observes them', () => {
  const agent = read('agent/src/vitals.js');
  const observed = [...agent.matchAll(/^ +on([A-Z]+)\(/gm)].map(([, name]) => name);
  assert.deepEqual(new Set(observed), new Set(names));
  const [, members] = /^ +const \{ (target, .*) \} = attribution;$/m.exec(agent) ?? assert.fail();
  for (const { name, element } of vitals) assert.ok(element === '' || members.split(', ').includes(element), name);
});

/** Files of functions that a copy of schema/ gives, and the C header, with a table of vitals. @param {string} table */
async function made(table) {
  const dir = temporaryDir('vitals');
  fs.cpSync(path.join(repository, 'schema'), path.join(dir, 'schema'), { recursive: true });
  fs.writeFileSync(path.join(dir, 'schema/vitals'), table);
  const header = await run([path.join(repository, 'tools/vital-rows'), path.join(dir, 'schema/vitals'), path.join(dir, 'rows.h')]);
  if (header.code !== 0) throw new Error(header.stderr);
  await runOrThrow([path.join(repository, 'tools/expand-schema'), path.join(dir, 'schema'), path.join(dir, 'out')]);
  return { header: fs.readFileSync(path.join(dir, 'rows.h'), 'utf8'), sql: fs.readFileSync(path.join(dir, 'out/functions/vitals.sql'), 'utf8') };
}

test('a new vital is one line', async () => {
  const { header, sql } = await made(`${read('schema/vitals')}XYZ | score x 1000 | 7 | 9 | | shownElement | a vital of tomorrow\n`);
  assert.match(header, /, \\\n {4}ROW\(XYZ, "XYZ", 7, 9, true\)\n/);
  assert.match(header, /, \\\n {4}ELEMENT\(XYZ, "shownElement"\)\n/);
  assert.match(header, new RegExp(`"${names.join(', ')}, XYZ"`));
  assert.match(sql, new RegExp(`return '\\{${names.join(', ')}, XYZ\\}'::text\\[\\]`));
  assert.match(sql, /when 'XYZ' then 'score x 1000'$/m);
  assert.match(sql, new RegExp(`name: ${names.join(', ')}, XYZ, in this order`));
});

test('a row that is wrong is named', async () => {
  for (const [row, problem] of /** @type {[string, RegExp][]} */ ([
    ['lcp | ms | 1 | 2 | | | a name', /:\d+: a vital has a name in capitals/],
    ['XYZ | s | 1 | 2 | | | a unit', /:\d+: the unit is ms or score x 1000/],
    ['XYZ | ms | 2 | 2 | | | thresholds', /:\d+: good and poor are whole numbers, and poor is larger/],
    ['XYZ | ms | 1 | 2 | one member | | parts', /:\d+: a vital has no parts, or two to 5/],
    ['XYZ | ms | 1 | 2 | one, two member | | parts', /:\d+: a part has a name and a member of the attribution/],
    ['XYZ | ms | 1 | 2 | | an element | two words', /:\d+: an element is a member of the attribution, or empty/],
    ['XYZ | ms | 1 | 2 |', /a vital has seven columns/],
  ])) await assert.rejects(made(`${read('schema/vitals')}${row}\n`), problem, row);
});
