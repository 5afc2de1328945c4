// SPDX-License-Identifier: Apache-2.0
/**
 * The columns of each command that prints rows: --json has SQL's names and values, or the members that the manual lists.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { everyCommand } from './commands.mjs';
import { binDir, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const script = 'https://shop.example/app.js';
const dir = temporaryDir('columns');

/** @type {import('./stack.mjs').Stack} */ let stack;

/** A page load with something of each question. @param {string} release @param {number} part of the time */
const page = (release, part) => ({
  release,
  page: { url: 'https://shop.example/', route: '/' },
  trace: {
    resources: [script],
    frames: [{ name: 'outer', resourceId: 0, line: 1, column: 2 }, { name: 'work', resourceId: 0, line: 3, column: 7 }],
    stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
    samples: Array.from({ length: 30 }, (_, i) => ({ timestamp: 10 * i, stackId: i % 10 < part ? 1 : 0, ...i % 7 === 0 ? { marker: 'gc' } : {} })),
  },
  marks: [{ name: 'hero', entryType: 'mark', startTime: 40, duration: 0 }],
  measures: [{ name: 'ready', entryType: 'measure', startTime: 5, duration: 200 }],
  vitals: [{ name: 'LCP', value: 1200, attribution: { timeToFirstByte: 100, resourceLoadDelay: 200, resourceLoadDuration: 300 } }, { name: 'INP', value: 250, target: 'button', start: 20, duration: 250 },
    { name: 'TTFB', value: 300, server: 120, cache: 'MISS' }],
  responses: [{ type: 'pointer', start: 20, duration: 700, target: 'button' }],
  interactions: [{ type: 'pointer', start: 20, processingStart: 50, processingEnd: 90, duration: 250, target: 'button' }],
  frames: [{ start: 20, duration: 120, blocking: 70, scripts: [{ invoker: 'BUTTON.onclick', url: script, function: 'work', start: 20, duration: 60, forced: 10, forcedStyle: 4, forcedLayout: 6 }], style: 5, layout: 7 }],
  resources: [{ host: 'fonts.example', kind: 'css', count: 3, duration: [12, 14], bytes: 5000, opaque: 1 }, { host: script, kind: 'script', duration: 9, bytes: 700 }],
});

const dump = '{"type":1,"time":10,"duration":5,"children":[{"type":2,"time":11,"duration":2}]}\n{"type":12,"time":30}\n{"type":nonsense}';
const table = path.join(dir, 'table.jsonl');
const owners = path.join(dir, 'CODEOWNERS');
const good = path.join(dir, 'good.json');
const bad = path.join(dir, 'bad.json');

before(async () => {
  fs.writeFileSync(table, '{"fleetprof_function_table":1,"script":"app.js","functions":2}\n[1,2,"start","src/main.ts",1,1,"",false]\n[3,7,"sum","src/sum.ts",2,1,"left-part",false]\n');
  fs.writeFileSync(owners, '* @org/all\n/src/ @org/web\n/src/sum.ts\n');
  fs.writeFileSync(good, envelope({ id: '11111111-2222-4333-8444-555555555555', release: 'v1', page: { url: 'https://shop.example/', route: '/' } }));
  fs.writeFileSync(bad, '{"frames":[],"resources":[],"stacks":[],"samples":[{"timestamp":1,"stackId":7}]}');
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', sample_keep: '100%', performance_budgets: ['INP p75 <= 200ms', 'JS mean <= 1ms'] }], dead_letters: { path: path.join(dir, 'letters') } } });
  const to = `${stack.collector.url}/v1/ingest/pk_shop`;
  for (const [release, part] of /** @type {[string, number][]} */ ([['v1', 3], ['v1', 4], ['v2', 6], ['v2', 7]])) {
    const { status, body } = await send(to, { body: envelope(page(release, part)) });
    assert.equal(status, 204, body);
  }
  // Page loads whose vitals may be sent again: of these one knows what they would be without what ran.
  for (let number = 0; number < 100; number += 1) {
    const { vitals, ...rest } = page('v2', 7);
    const { status, body } = await send(to, { body: envelope({ ...rest, load: randomUUID(), drawn: number % 2 === 0, vitals: vitals.map((vital) => ({ ...vital, id: vital.name, navigationType: 'navigate' })) }) });
    assert.equal(status, 204, body);
  }
  assert.equal((await send(`${to}?format=speed-tracer`, { body: dump })).status, 204);
  assert.equal((await send(to, { body: fs.readFileSync(bad, 'utf8') })).status, 422);
  const hang = { type: 'crash', url: 'https://shop.example/', body: { reason: 'unresponsive', stack: 'at spin (https://shop.example/app.js:3:7)' } };
  assert.equal((await send(to.replace('ingest', 'reports'), { body: JSON.stringify([hang, { ...hang, type: 'document-policy-violation', body: { policyId: 'js-profiling' } }]) })).status, 204);
  await waitFor(async () => (await stack.sql('select from fleetprof.upload_log')).length === 106, { what: '106 uploads' });
  // A page load of an hour that has ended, with a verified rate.
  await stack.postgres.execute(`
    insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen)
    values (1, 'shop', '/rated', '', '', '', '', '', 'desktop', 'window', 10000, current_date);
    insert into fleetprof_data.total_recent (group_id, bucket, spool_id, position, marker, uploads, loads, samples, self_us, profiled_us2, unseen_us)
    values (1, date_bin('1 hour', now(), 'epoch') - interval '2 hours', gen_random_uuid(), 0, '{-1}', '{1}', '{1}', '{1}', '{10000}', '{1e8}', '{0}');`);
  fs.writeFileSync(path.join(dir, 'no-database.yaml'), JSON.stringify({ ...stack.collector.config, database: `host=${dir} dbname=fleetprof` }));
  const added = await run([program, 'sourcemap', 'add', '--site', 'shop', '--release', 'v1', '--url-prefix', 'https://shop.example/', table,
    '--database', stack.postgres.conninfo('fleetprof_writer')]);
  assert.equal(added.code, 0, added.stderr);
  const set = await run([program, 'owners', 'set', '--site', 'shop', owners, '--database', stack.postgres.conninfo('fleetprof_writer')]);
  assert.equal(set.code, 0, set.stderr);
});
after(() => stack?.stop());

/** Rows of commands that are rows of SQL, in the same order or not. @type {[string, string][]} */
const questions = [
  ['top', "select * from fleetprof.hotspots('shop')"],
  ['top --measure ready', "select * from fleetprof.measure_hotspots('ready', 'shop')"],
  ['flame', "select * from fleetprof.flamegraph('shop')"],
  ['markers', "select * from fleetprof.markers('shop')"],
  ['timings', "select * from fleetprof.timings('shop')"],
  ['callers sum', "select * from fleetprof.callers('sum', 'shop')"],
  ['callers --callees start', "select * from fleetprof.callees('start', 'shop')"],
  ['trend sum', "select * from fleetprof.trend('function', 'sum', 'hour', 'shop')"],
  ['compare v1 v2', "select * from fleetprof.compare_releases('shop', 'v1', 'v2')"],
  ['compare --timings v1 v2', "select * from fleetprof.compare_timings('shop', 'v1', 'v2')"],
  ['compare --vitals v1 v2', "select * from fleetprof.compare_vitals('shop', 'v1', 'v2')"],
  ['compare --by host v1 v2', "select * from fleetprof.compare_costs('host', 'shop', 'v1', 'v2')"],
  ['compare --parts v1 v2', "select * from fleetprof.change_parts('shop', 'v1', 'v2')"],
  ['vitals', "select * from fleetprof.vitals('shop')"],
  ['vitals --by route', "select * from fleetprof.vitals_by('route', 'shop')"],
  ['vital-parts', "select * from fleetprof.vital_parts('shop')"],
  ['vital-parts --by route', "select * from fleetprof.vital_parts_by('route', 'shop')"],
  ['vital-elements INP', "select * from fleetprof.vital_elements('INP', 'shop')"],
  ['ttfb', "select * from fleetprof.ttfb_parts('shop')"],
  ['ttfb --by route', "select * from fleetprof.ttfb_parts_by('route', 'shop')"],
  ['interactions', "select * from fleetprof.interactions('shop')"],
  ['waits %', "select * from fleetprof.waits('%', 'shop')"],
  ['interactions --by device', "select * from fleetprof.interactions_by('device', 'shop')"],
  ['long-frames', "select * from fleetprof.long_frames('shop')"],
  ['what-if INP', "select * from fleetprof.what_if('INP', 'shop')"],
  ['summary', "select * from fleetprof.overview('shop')"],
  ['summary --site %', 'select * from fleetprof.overview_of_sites()'],
  ['fix-first', "select * from fleetprof.fix_first('shop')"],
  ['session typical', "select *, session_id::text from fleetprof.typical_load('shop')"],
  ['budgets', "select * from fleetprof.budgets('shop')"],
  ['profiling-cost', "select * from fleetprof.profiling_cost('shop')"],
  ['third-parties', "select * from fleetprof.third_parties('shop')"],
  ['chunks', "select * from fleetprof.chunks('shop')"],
  ['cost party', "select * from fleetprof.cost_by('party', 'shop')"],
  ['cost package', "select * from fleetprof.cost_by('package', 'shop')"],
  ['coverage', "select * from fleetprof.coverage('shop')"],
  ['rates', "select * from fleetprof.rates('shop')"],
  ['hangs', "select * from fleetprof.hangs('shop')"],
  ['violations', "select * from fleetprof.violations('shop')"],
  ['sourcemap list', 'select * from fleetprof.function_tables'],
  ['owners list', 'select * from fleetprof.code_owners'],
  ['session list', "select *, session_id::text, source_id::text, window_id::text from fleetprof.sessions"],
];

/** Rows in one order, with times as commands write them. @param {any[]} rows */
const canonical = (rows) => rows.map((row) => JSON.stringify(row, Object.keys(row).sort()).replaceAll(/(T\d\d:\d\d:\d\d)(?:\.\d+)?\+00:00"/g, '$1Z"')).sort();

/** @param {string} command @param {string[]} more @returns {Promise<any[]>} */
async function rowsOf(command, ...more) {
  const { code, stdout, stderr } = await run([program, ...command.split(' '), '--json', ...more]);
  assert.ok(code === 0 || code === 1, `${command}: ${stderr}`);
  return JSON.parse(stdout);
}

for (const [command, sql] of questions) {
  test(`fleetprof ${command}: the columns and values of SQL`, async () => {
    const expected = await stack.sql(sql, 'fleetprof_reader');
    const rows = await rowsOf(command, '--database', stack.postgres.conninfo('fleetprof_reader'));
    assert.ok(expected.length > 0, sql);
    assert.deepEqual(Object.keys(rows[0]).sort(), Object.keys(expected[0]).sort());
    assert.deepEqual(canonical(rows), canonical(expected));
  });
}

const manual = fs.readFileSync(path.join(repository, 'docs/cli.md'), 'utf8');

/** The words in backquotes of a part of the manual. @param {RegExp} part */
const membersIn = (part) => [...(part.exec(manual)?.[1] ?? assert.fail(`${part}`)).matchAll(/`([a-z_]+)`/g)].map(([, name]) => name);
const ofValidate = () => membersIn(/\| member of `--json`, per upload \| meaning \|\n\|---\|---\|\n((?:\| `.*\| .*\n)+)/)
  .filter((name) => !['upload_log', 'text', 'refused', 'count', 'first', 'unit'].includes(name));

/** Rows of other commands, and where the manual lists their members. @type {[string, () => string[], () => string[]][]} */
const others = [
  ['validate', () => [good, bad], ofValidate],
  ['import', () => ['--url', `${stack.collector.url}/v1/ingest/pk_shop`, good, bad],
    () => [...membersIn(/\n`--json` has (`file`, `accepted`[^]*?), and for accepted/), ...membersIn(/for accepted uploads the report:\n(.*), as for/)]],
  ['sourcemap add', () => ['--site', 'shop', '--release', 'v1', '--url-prefix', 'https://shop.example/', table, '--dry-run', '--database', stack.postgres.conninfo('fleetprof_writer')],
    () => membersIn(/\n`--json` has (`url`, .*)\./)],
  ['sourcemap remove', () => ['--site', 'shop', '--all', '--dry-run', '--database', stack.postgres.conninfo('fleetprof_writer')], () => membersIn(/`--json` \((`removed`)\)/)],
  ['owners set', () => ['--site', 'shop', owners, '--dry-run', '--database', stack.postgres.conninfo('fleetprof_writer')], () => membersIn(/`--json` has (`patterns`, .*)\./)],
  ['owners remove', () => ['--site', 'shop', '--dry-run', '--database', stack.postgres.conninfo('fleetprof_writer')], () => membersIn(/forgets those of a site \(`--json`: (`removed`)\)/)],
  ['spool inspect', () => [stack.collector.config.spool.path],
    () => membersIn(/\| `inspect --json` \| meaning \|\n\|---\|---\|\n((?:\| `.*\n)+)/).filter((name, i, all) => all.indexOf(name) === i)],
  ['spool dead-letters list', () => ['-c', stack.collector.file], () => membersIn(/`list` and `show` have `--json`: ([^]*?) for a record/).filter((name) => !['letter', 'record'].includes(name))],
  ['spool dead-letters replay', () => ['--all', '--url', `${stack.collector.url}/v1/ingest/pk_shop`, '-c', stack.collector.file],
    () => membersIn(/one object per letter: (`id`.*)\./)],
];

for (const [command, args, members] of others) {
  test(`fleetprof ${command}: the members that the manual lists`, async () => {
    const rows = await rowsOf(command, ...args());
    assert.ok(rows.length > 0, command);
    assert.deepEqual([...new Set(rows.flatMap((row) => Object.keys(row)))].sort(), members().sort());
  });
}

test('a damaged spool: the members of verify', async () => {
  const copy = path.join(dir, 'damaged');
  fs.cpSync(stack.collector.config.spool.path, copy, { recursive: true });
  for (const name of fs.readdirSync(copy).filter((one) => one.endsWith('.seg'))) {
    const bytes = fs.readFileSync(path.join(copy, name));
    for (const header of [0, 4096]) bytes.fill(0xaa, header + 20, header + 40);
    fs.writeFileSync(path.join(copy, name), bytes);
  }
  const [row] = await rowsOf('spool verify', copy);
  assert.deepEqual(Object.keys(row), membersIn(/`verify --json` has (.*?);/));
});

test('status and doctor: the members that the manual lists', async () => {
  const { stdout } = await run([program, 'status', '--over=0', '--json', '-c', stack.collector.file]);
  const status = JSON.parse(stdout);
  assert.deepEqual(Object.keys(status), membersIn(/is an object: (.*?) \(a row/).concat(membersIn(/none\), (`findings`)/)));
  for (const part of ['collectors', 'sites', 'refusals', 'database']) {
    assert.ok(status[part].length > 0, part);
    assert.deepEqual(Object.keys(status[part][0]), membersIn(new RegExp(`\\n\\| \`${part}\` \\| (.*) \\|\\n`)), part);
  }
  const findings = JSON.parse((await run([program, 'doctor', '--json', '-c', path.join(dir, 'no-database.yaml')])).stdout);
  assert.deepEqual(Object.keys(findings[0]), membersIn(/an array of findings: ([^]*?)\.\n/).filter((name) => !['wrong', 'note'].includes(name)));
});

test('each command with --json is here', async () => {
  const own = [...questions.map(([command]) => command), ...others.map(([command]) => command), 'spool verify', 'status', 'doctor', 'spool dead-letters show', 'regressions'];
  const all = (await everyCommand()).filter(({ help }) => help.includes('--json')).map(({ name }) => name);
  assert.deepEqual(all.filter((name) => !own.some((command) => command === name || command.startsWith(`${name} `))), []);
});
