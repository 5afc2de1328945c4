// SPDX-License-Identifier: Apache-2.0
/** From a file to an answer: import, then top, timings and export, against the real collector and PostgreSQL. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import pg from 'pg';

import { filters } from '../../tools/filters.mjs';
import { binDir, run, startStack, temporaryDir, waitFor } from './stack.mjs';
import { sendStep, stepBack } from './step.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('cli-analysis');
const script = 'https://shop.example/assets/with/a/path/that/is/rather/long/for/a/narrow/terminal/app.js';

/** Weights: 10 ms each, 30 ms on stacks, 10 ms unattributed. */
const upload = {
  release: 'r1',
  page: { url: 'https://shop.example/cart?secret=1' },
  sampleInterval: 10,
  trace: {
    resources: [script],
    frames: [{ name: 'outer', resourceId: 0, line: 1, column: 2 }, { name: '', resourceId: 0, line: 3, column: 4 },
      { name: 'parse' }],
    stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }, { frameId: 2, parentId: 1 }],
    samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 1 }, { timestamp: 20, stackId: 2 }, { timestamp: 30 }],
  },
  marks: [{ name: 'hero', entryType: 'mark', startTime: 120, duration: 0 }],
  measures: [{ name: 'render', entryType: 'measure', startTime: 100, duration: 50 }],
};

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let uploadFile;
/** @type {NodeJS.ProcessEnv} */
let env;

before(async () => {
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/cart'] }, { name: 'blog', key: 'pk_blog' },
      { name: 'lab', key: 'pk_lab' }, { name: 'only', key: 'pk_only' }, { name: 'sheet', key: 'pk_sheet' }, { name: 'wide', key: 'pk_wide' },
      { name: 'starved', key: 'pk_starved' }, { name: 'framed', key: 'pk_framed' }, { name: 'widget', key: 'pk_widget' }, { name: 'begun', key: 'pk_begun' }, { name: 'stepped', key: 'pk_stepped' },
      { name: 'own', key: 'pk_own', origins: ['https://www.own.example', 'http://127.0.0.1:8080'], first_party: ['owncdn.example'], ignore: ['https://tag.example.net/*'] }] },
  });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') };
  uploadFile = path.join(dir, 'upload.json');
  fs.writeFileSync(uploadFile, JSON.stringify(upload));
});
after(async () => { await stack?.stop(); });

/** @param {string[]} args */
function fleetprof(...args) {
  return run([program, ...args], { env });
}

/** Returns what --json prints; throws an error with stderr when the exit code is not 0. @param {string[]} args @returns {Promise<any[]>} */
async function json(...args) {
  const { code, stdout, stderr } = await fleetprof(...args, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

/** @param {string} site */
async function importFile(site) {
  const { code, stderr } = await fleetprof('import', '-c', stack.collector.file, '--site', site, uploadFile);
  assert.equal(code, 0, stderr);
}

/** @param {string} metric @param {number} value */
async function untilMetric(metric, value) {
  await waitFor(async () => (await stack.collector.metrics())[metric] === value, { what: `${metric} ${value}` });
}

test('before the first upload an empty answer says so', async () => {
  const { code, stdout, stderr } = await fleetprof('top');
  assert.equal(code, 0);
  assert.equal(stdout, '');
  assert.equal(stderr, 'fleetprof: nothing was counted in this database yet\n');
  assert.deepEqual(await json('top'), []);
});

test('an imported file is in the numbers; the only site need not be named', async () => {
  await importFile('shop');
  await untilMetric('fleetprof_uploads_flushed_total', 1);
  const frame = { kind: 'function', self_ms: 10, self_share: 0.25, uploads: 1, self_ms_per_load: 10, load_share: 1, is_agent: false, seen_share: 1, owner: null };
  const rows = await json('top');
  for (const row of rows) {
    assert.ok(Math.abs(row.busy_share - 1 / 3) < 1e-9, 'a third of the attributed time');
    assert.match(row.function_key, /^-?\d+$/);
    assert.deepEqual([row.generated_resource, row.generated_line, row.generated_column], [row.resource, row.line, row.column_number]);
    for (const name of ['busy_share', 'function_key', 'generated_resource', 'generated_line', 'generated_column']) delete row[name];
  }
  assert.deepEqual(rows, [
    { function: '(anonymous)', resource: script, line: 3, column_number: 4, ...frame, total_ms: 20, total_share: 0.5, total_ms_per_load: 20, samples: 2 },
    { function: 'outer', resource: script, line: 1, column_number: 2, ...frame, total_ms: 30, total_share: 0.75, total_ms_per_load: 30, samples: 3 },
    { function: 'parse', resource: null, line: null, column_number: null, ...frame, kind: 'builtin', total_ms: 10, total_share: 0.25, total_ms_per_load: 10, samples: 1 },
  ]);
});

test('the same file imported again adds nothing', async () => {
  await importFile('shop');
  await untilMetric('fleetprof_uploads_duplicate_total', 1);
  const [row] = await json('top');
  assert.equal(row.uploads, 1);
});

test('top prints time per page load first, then sums; piped, nothing is cut, tabs divide cells, and what they are of is apart', async () => {
  const { stdout, stderr } = await fleetprof('top', '--top', '2', '--since', '2h');
  const lines = stdout.split('\n');
  assert.equal(lines[0], 'FUNCTION\tWHERE\tSELF MS/LOAD\tTOTAL MS/LOAD\tLOADS %\tBUSY %\tSELF MS\tTOTAL MS\tSELF %\tTOTAL %\tSAMPLES\tUPLOADS\tOWNER');
  assert.deepEqual(lines[1].split('\t'),
    ['(anonymous)', `${script}:3:4`, '10.0', '20.0', '100.0', '33.3', '10.0', '20.0', '25.0', '50.0', '2', '1', '']);
  assert.deepEqual(lines.slice(3), ['']);
  const notes = stderr.split('\n');
  const [, since, until] = /** @type {RegExpExecArray} */ (/^1 page load in the hours from (\d{4}-\d\d-\d\d \d\d:\d\d) to (\d{4}-\d\d-\d\d \d\d:\d\d) \(UTC\)\.$/.exec(notes[0]));
  assert.equal(Date.parse(`${until}Z`) - Date.parse(`${since}Z`), 2 * 3600 * 1000);
  assert.match(notes[1], /^25\.0 % of 40\.0 ms of profiled time belongs to no visible stack \(idle, .*\); BUSY % is of the rest\.$/);
  assert.deepEqual(notes.slice(2), ['']);
});

/** @param {string} columns @param {string[]} options @returns {Promise<string[]>} the lines */
async function onTerminal(columns, ...options) {
  const { stdout } = await run(['script', '-qec', `stty cols ${columns}; '${program}' top --site shop ${options.join(' ')}`, '/dev/null'], { env: { ...env, TERM: 'dumb' } });
  assert.ok(!stdout.includes('\u001b'), 'no colours');
  return stdout.split('\r\n');
}

test('on a narrow terminal an address loses its start, never its end, and the last columns are left out', async () => {
  const [headings, first] = await onTerminal('80', '--top', '2');
  assert.match(headings, /^FUNCTION +WHERE +SELF MS\/LOAD TOTAL MS\/LOAD LOADS % BUSY %$/);
  assert.match(first, /^\(anonymous\) +…\S*app\.js:3:4 +10\.0 +20\.0 +100\.0 +33\.3$/);
  assert.equal([...headings].length, 80);
  const [wide, cut] = await onTerminal('140', '--top', '2');
  assert.match(wide, /BUSY % SELF MS TOTAL MS SELF % TOTAL % SAMPLES UPLOADS OWNER$/);
  assert.match(cut, /^\(anonymous\) +…\S*app\.js:3:4 /);
  assert.ok([...wide].length <= 140);
});

test('colours are for a terminal that has them, and wish for them', async () => {
  const shown = async (/** @type {string} */ command, /** @type {Record<string, string>} */ wish) => (
    await run(['script', '-qec', `stty cols 140; '${program}' ${command} --site shop`, '/dev/null'], { env: { ...env, NO_COLOR: '', ...wish } })).stdout;
  const plain = (/** @type {string} */ text) => text.replaceAll(/\u001b\[\d*m/g, '').replaceAll(/\s+/g, ' ').replace(/ Yellow: .*/, '');
  for (const [command, expected] of /** @type {[string, RegExp][]} */ ([['top', /\u001b\[1mFUNCTION/], ['flame', /\u001b\[33m│outer .*\u001b\[0m/]])) {
    const colourful = await shown(command, { TERM: 'xterm-256color' });
    assert.match(colourful, expected);
    for (const wish of /** @type {Record<string, string>[]} */ ([{ TERM: 'dumb' }, { TERM: 'xterm-256color', NO_COLOR: '1' }, { TERM: '' }])) {
      const dull = await shown(command, wish);
      assert.ok(!dull.includes('\u001b'), JSON.stringify(wish));
      assert.equal(plain(colourful).trim(), plain(dull).trim(), 'colours take no room');
    }
    assert.ok(!(await fleetprof(...command.split(' '))).stdout.includes('\u001b'), 'a pipe has none');
  }
});

test('notes are wrapped between words on a terminal', async () => {
  const { stdout } = await run(['script', '-qec', `stty cols 60; '${program}' top --site shop`, '/dev/null'], { env: { ...env, TERM: 'dumb' } });
  const notes = stdout.split('\r\n').slice(stdout.split('\r\n').indexOf('') + 1);
  assert.ok(notes.length > 3, stdout);
  for (const line of notes) assert.ok(line.length <= 60, line);
  assert.match(notes.join(' '), /^1 page load in the hours from .* 25\.0 % of 40\.0 ms of profiled time belongs to no visible stack/);
});

test('sentences and reasons are wrapped between words on a terminal, and whole in a pipe', async () => {
  for (const args of [['summary', '--site', 'shop'], ['summary', '--site', 'shpo'], ['top', '--site', 'shop', '--release', 'none of these'], ['doctor', '--list']]) {
    const { stdout, stderr } = await fleetprof(...args);
    const piped = (stdout + stderr).split('\n');
    assert.ok(piped.some((line) => [...line].length > 64), args.join(' '));
    const { stdout: shown } = await run(['script', '-qec', `stty cols 64; '${program}' ${args.map((arg) => `'${arg}'`).join(' ')}`, '/dev/null'], { env: { ...env, TERM: 'dumb' } });
    for (const line of shown.split('\r\n')) assert.ok([...line].length <= 64, line);
    const words = (/** @type {string} */ text) => text.replaceAll(/\s+/g, ' ').trim();
    assert.equal(words(shown), words(piped.join('\n')));
  }
});

test('a mistyped name gets the nearest one', async () => {
  for (const [args, meant] of /** @type {[string[], string][]} */ ([[['callers', 'outre'], 'outer'], [['trend', 'outr'], 'outer'], [['top', '--site', 'shpo'], 'shop'], [['top', '--route', '/cartt'], '/cart']])) {
    const { code, stderr } = await run([program, ...args, ...args.includes('--site') ? [] : ['--site', 'shop']], { env });
    assert.equal(code, 0, stderr);
    assert.match(stderr, new RegExp(`hint: Did you mean "${meant}"\\?\n`));
  }
});

for (const [what, args, found] of /** @type {[string, string[], boolean][]} */ ([
  ['its route', ['--route', '/cart'], true],
  ['another route', ['--route', '/other'], false],
  ['a pattern', ['--release', 'r%'], true],
  ['an absent environment', ['--environment', ''], true],
  ['an absent release', ['--release', ''], false],
  ['two minutes', ['--since', '2m'], true],
  ['the last week', ['--since', '1w', '--until', '1s'], true],
  ['a timestamp', ['--since', '2020-01-01', '--until', '2020-01-02'], false],
  ['no marker', ['--marker', '(none)'], true],
  ['a marker', ['--marker', 'gc'], false],
  ['the window thread', ['--thread', 'window'], false],
  ['every other filter', ['--variant', '', '--browser', '', '--os', '', '--device', ''], true],
  ['SQL in a filter', ['--route', "'; drop schema fleetprof cascade; --"], false],
])) {
  test(`filter: ${what}`, async () => {
    assert.equal((await json('top', ...args)).length > 0, found);
  });
}

/** The time of receipt of an upload in the database. */
const latest = /came in the hour from \d{4}-\d\d-\d\d \d\d:00 \(UTC\)\./;

test('an empty answer says why, and what there is', async () => {
  for (const [args, ...said] of /** @type {[string[], ...RegExp[]][]} */ ([
    [['--since', '2020-01-01', '--until', '2020-01-02'], /^fleetprof: nothing matches\n.*hint: The latest upload that these filters match came/,
      /\. Without --since, the period is one day\.\n$/, latest],
    [['--site', 'shpo'], /nothing was counted for a site named "shpo"\n.*hint: Did you mean "shop"\?\n.*hint: Give --site NAME: shop\.\n.*hint: If "shpo" is right, no upload has come yet: `fleetprof doctor URL' says why\.\n$/],
    [['--release', 'nope'], /nothing was counted for the release "nope" of site "shop"\n.*hint: Releases, most used first: r1\.\n.*hint: The latest upload of site "shop" came/, latest],
    [['--release', 'r1', '--route', '/nope%'], /for the route "\/nope%" of site "shop"\n.*hint: Routes, most used first: \/cart\./, latest],
    [['--browser', 'Netscape'], /for the browser "Netscape" of site "shop"\n.*hint: Browsers, most used first: '' \(none\)\./, latest],
    [['--os', 'BeOS'], /for the operating system "BeOS"/, latest],
    [['--release', ''], /nothing was counted without a release for site "shop"/, latest],
    [['--device', "' or true --"], /for the device class "' or true --"/, latest],
  ])) {
    for (const command of [['top'], ['timings'], ['export', '--format', 'folded']]) {
      const { code, stdout, stderr } = await fleetprof(...command, ...args);
      assert.deepEqual([code, stdout], [0, ''], args.join(' '));
      for (const part of said) assert.match(stderr, part);
    }
  }
  const glance = await fleetprof('summary', '--site', 'shop', '--route', '/nope');
  assert.match(glance.stderr, /^fleetprof: nothing was counted for the route "\/nope" of site "shop"\n.*hint: Routes, most used first: \/cart\./, glance.stdout);
  assert.equal((await fleetprof('summary', '--site', 'shop')).stderr, '');
  const { stderr } = await fleetprof('top', '--measure', 'nope');
  assert.match(stderr, /nothing was counted for the measure "nope" of site "shop"\n.*hint: Measures, most used first: render\.\n/);
  assert.match(stderr, latest);
});

test('where hours are no longer kept, an empty answer names the day of the latest upload', async () => {
  await stack.postgres.execute(`
    select fleetprof_data.make_partitions('{2026-01-05}');
    insert into fleetprof_data.segment values (1, 'old', '/', '', '', '', '', '', '', '', 0, '2026-01-05');
    insert into fleetprof_data.total_days values (1, '2026-01-05Z', 2, '{-1}', '{1}', '{1}', '{1}', '{1}', '{1}');
    insert into fleetprof_data.sealed values ('old', '2026-01-05Z', 2)`);
  try {
    const { stderr } = await fleetprof('top', '--site', 'old', '--since', '2026-02-01');
    assert.match(stderr, /nothing matches\n.*hint: The latest upload that these filters match came on 2026-01-05 \(UTC\)\. /);
  } finally {
    await stack.postgres.execute(`
      delete from fleetprof_data.segment where site = 'old'; delete from fleetprof_data.sealed where site = 'old';
      delete from fleetprof_data.total_days where group_id = 1`);
  }
});

test('a time that cannot be meant is wrong use: it says what to write', async () => {
  for (const [args, said] of /** @type {[string[], RegExp][]} */ ([
    [['--since', '5'], /--since: 5 has no unit\n.*hint: Write 5m, 5h or 5d\.\n$/],
    [['--until', '12'], /--until: 12 has no unit\n.*hint: Write 12m, 12h or 12d\.\n$/],
    [['--since', 'soon'], /--since: "soon" is not a time\n.*hint: Write how long ago, such as 30m, 2h, 1d or 1w, or a time/],
    [['--since', '5 minutes'], /--since: "5 minutes" is not a time/],
    [['--since', ''], /--since: "" is not a time/],
    [['--until', '2026-02-31'], /--until: "2026-02-31" is not a time/],
    [['--since', '99999999999999d'], /--since: "99999999999999d" is not a time/],
    [['--since', '2999-01-01'], /--since: 2999-01-01 .* is in the future\n$/],
    [['--since', 'infinity'], /--since: infinity is in the future\n$/],
    [['--since', '2026-05-02', '--until', '2026-05-01'], /the period ends before it begins\n.*detail: It begins at 2026-05-02 .* and ends at 2026-05-01 .*\.\n$/],
    [['--until', '2w'], /the period ends before it begins\n.*\n.*hint: Also give --since/],
  ])) {
    const { code, stdout, stderr } = await fleetprof('top', ...args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, said);
  }
  for (const args of [['--since', '20200101'], ['--since', 'yesterday', '--until', 'tomorrow'], ['--since', '-infinity']]) {
    const { code, stderr } = await fleetprof('top', ...args);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    assert.doesNotMatch(stderr, /^fleetprof:/m, args.join(' '));
  }
});

test('says what to do about a database without the schema, or one that the role may not read', async () => {
  for (const command of [['top'], ['timings'], ['export', '--format', 'folded'], ['session', 'list'], ['session', 'export', '1']]) {
    const none = await run([program, ...command, '-d', stack.postgres.conninfo('postgres', 'postgres')]);
    assert.equal(none.code, 2);
    assert.match(none.stderr, /error: .* does not exist\n.*hint: Is it the right database\? `fleetprof migrate' brings it/);
  }
  await stack.postgres.execute('create role nobody_of_ours login');
  const other = await run([program, 'top', '-d', stack.postgres.conninfo('nobody_of_ours')]);
  assert.equal(other.code, 2);
  assert.match(other.stderr, /permission denied for schema fleetprof\n.*hint: Reading takes the role fleetprof_reader, .*grant the role to "nobody_of_ours"\.\n/);
  const writer = await run([program, 'top', '-c', stack.collector.file]);
  assert.match(writer.stderr, /permission denied .*\n.*hint: .*grant the role to "fleetprof_writer"\.\n/);
  await stack.postgres.execute('grant fleetprof_reader to fleetprof_writer');
  const granted = await run([program, 'top', '-c', stack.collector.file, '--site', 'shop']);
  assert.equal(granted.code, 0, granted.stderr);
  await stack.postgres.execute('revoke fleetprof_reader from fleetprof_writer');
});

test("what the server refuses is said in PostgreSQL's words, exit 2", async () => {
  const { code, stderr } = await fleetprof('top', '--marker', 'nap');
  assert.equal(code, 2);
  assert.match(stderr, /error: no marker is named "nap"\n.*hint: Markers are/);
});

test('timings prints marks and measures', async () => {
  const rows = await json('timings');
  const close = (/** @type {number} */ value, /** @type {number} */ wanted) => Math.abs(value / wanted - 1) <= 0.016;
  assert.deepEqual(rows.map(({ name, kind, count }) => ({ name, kind, count })),
    [{ name: 'hero', kind: 'mark', count: 1 }, { name: 'render', kind: 'measure', count: 1 }]);
  assert.ok(close(rows[0].p50_ms, 120) && close(rows[1].p99_ms, 50));
  const { stdout, stderr: said } = await fleetprof('timings');
  assert.match(stdout, /^NAME\tKIND\tCOUNT\tP50 MS\tP75 MS\tP95 MS\tP99 MS\tMIN MS\tMAX MS\tMEAN MS\tLEFT OUT$/m);
  assert.match(said, /^Counts are of values/);
  assert.doesNotMatch(said, /left something out/);
  assert.match(stdout, /^hero\tmark\t1\t120\.0\t/m);
});

test('export writes folded stacks', async () => {
  const { code, stdout, stderr } = await fleetprof('export', '--format', 'folded');
  assert.equal(stderr, '');
  assert.equal(code, 0);
  const anonymous = `(anonymous) ${script}:3:4`;
  assert.equal(stdout, `outer 10000\nouter;${anonymous} 10000\nouter;${anonymous};parse 10000\n`);
});

test('a reader that had enough ends export without a word', async () => {
  const { code, stdout, stderr } = await run(['sh', '-c', `'${program}' export --format folded | true`], { env });
  assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '', stderr: '' });
});

test('of several sites one must be named; % is all of them', async () => {
  await importFile('blog');
  await untilMetric('fleetprof_uploads_flushed_total', 2);
  const { code, stderr } = await fleetprof('top');
  assert.equal(code, 2);
  assert.match(stderr, /no site was named, and the database has several\n.*hint: Give --site NAME: blog, shop\./);
  const [blog] = await json('top', '--site', 'blog');
  assert.equal(blog.uploads, 1, 'the same file counts once for each site');
  const [every] = await json('top', '--site', '%');
  assert.equal(every.uploads, 2);
});

/** A page load in which fleetprof's own agent ran for 10 ms and, with `withPage`, the page's `slow` for 10 ms inside a
 * measure. @param {boolean} withPage */
function withAgent(withPage) {
  const file = path.join(dir, `agent-${withPage}.json`);
  fs.writeFileSync(file, JSON.stringify({
    sampleInterval: 10,
    trace: {
      resources: ['https://shop.example/static/fleetprof.js', 'https://shop.example/app.js'],
      frames: [{ name: 'encode', resourceId: 0, line: 7, column: 1 }, { name: 'slow', resourceId: 1, line: 1, column: 1 }],
      stacks: [{ frameId: 0 }, { frameId: withPage ? 1 : 0 }],
      samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 1 }, { timestamp: 20 }],
    },
    measures: [{ name: 'work', entryType: 'measure', startTime: -5, duration: 30 }],
  }));
  return file;
}

test("the agent's own functions are left out, and said, unless they are asked for", async () => {
  for (const [site, withPage] of /** @type {[string, boolean][]} */ ([['lab', true], ['only', false]])) {
    const { code, stderr } = await fleetprof('import', '-c', stack.collector.file, '--site', site, '--wait', withAgent(withPage));
    assert.deepEqual([code, stderr], [0, '']);
  }
  assert.deepEqual((await json('top', '--site', 'lab')).map((row) => [row.function, row.is_agent]), [['slow', false]]);
  assert.deepEqual((await json('top', '--site', 'lab', '--agent')).map((row) => [row.function, row.is_agent]), [['encode', true], ['slow', false]]);
  assert.deepEqual((await json('top', '--site', 'lab', '--top', '1')).map((row) => row.function), ['slow'], 'the agent takes no place in the list');
  const { stderr: notes } = await fleetprof('top', '--site', 'lab');
  assert.match(notes, /\nfleetprof's own agent took 10\.0 ms per page load; --agent lists its functions\.\n$/);
  assert.doesNotMatch((await fleetprof('top', '--site', 'lab', '--agent')).stderr, /own agent/);
  const only = await fleetprof('top', '--site', 'only');
  assert.deepEqual([only.code, only.stdout], [0, '']);
  assert.equal(only.stderr, "fleetprof: only functions of fleetprof's own agent match; --agent lists them\n");
});

test('inside a measure shares are of the time inside it, and the footer names it', async () => {
  const { stdout, stderr } = await fleetprof('top', '--site', 'lab', '--measure', 'work');
  assert.match(stdout, /^slow\thttps:\/\/shop\.example\/app\.js:1:1\t10\.0\t10\.0\t100\.0\t50\.0\t/m);
  assert.match(stderr, /^Only what ran inside the measure "work"\.\n1 page load in the hours from /m);
  const [row] = await json('top', '--site', 'lab', '--measure', 'work');
  assert.deepEqual([row.function, row.self_ms_per_load, row.busy_share], ['slow', 10, 0.5]);
});

/** Fields by RFC 4180. @param {string} text @returns {string[][]} */
function parseCsv(text) {
  assert.ok(text.endsWith('\n'));
  return [...text.matchAll(/((?:"(?:[^"]|"")*"|[^",\n])*)(,|\n)/g)].reduce((rows, [, field, end]) => {
    rows[rows.length - 1].push(field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
    if (end === '\n') rows.push([]);
    return rows;
  }, /** @type {string[][]} */ ([[]])).slice(0, -1);
}

test('--csv has the names and values of --json, and no formula', async () => {
  const names = ['=1+1', '+1', '-1', '-2+3', '@SUM(A1)', '\tx', '\n=1', '＝1+1', '＋1', '－1', '＠a', '\u00ad\ufeff=1', '\u00ad\u200b=1', '\u00a0=1', '  =1', '\u3000\u2003＝1', ' \ufeff@x', '\v=1', '\x01=1', '\x85=1', '\u2068=1', '\u1680@x', '\u3164+1', '\u{e0020}=1', '﹦1', 'Ａ', 'a,b', ' a=b', 'say "x"', 'a\nb', 'größe', 'plain'];
  const file = path.join(dir, 'sheet.json');
  fs.writeFileSync(file, JSON.stringify({ ...upload, release: '=r', marks: [{ name: '=cmd', entryType: 'mark', startTime: 1, duration: 0 }], measures: [], trace: {
    resources: [script], frames: names.map((name) => ({ name, resourceId: 0, line: 1, column: 2 })),
    stacks: names.map((_, frameId) => ({ frameId })), samples: names.map((_, i) => ({ timestamp: 10 * i, stackId: i })),
  } }));
  const { code, stderr } = await fleetprof('import', '--wait', '-c', stack.collector.file, '--site', 'sheet', file);
  assert.equal(code, 0, stderr);
  for (const args of [['top'], ['flame'], ['markers'], ['timings'], ['coverage'], ['trend', 'plain'], ['vitals'], ['session', 'list'], ['sourcemap', 'list'], ['validate', file]]) {
    const site = ['session', 'sourcemap', 'validate'].includes(args[0]) ? [] : ['--site', 'sheet'];
    const { stdout, stderr: why, code: ended } = await fleetprof(...args, ...site, '--csv');
    assert.equal(ended, 0, why);
    const [header, ...rows] = parseCsv(stdout);
    const expected = await json(...args, ...site);
    assert.ok(header.length > 2 && header.every((name) => /^[a-z_0-9]+$/.test(name)), args.join(' '));
    assert.equal(rows.length, expected.length, args.join(' '));
    for (const [i, row] of expected.entries()) {
      assert.deepEqual(header, Object.keys(row), args.join(' '));
      const cells = Object.values(row).map((value) => (value === null ? '' : typeof value === 'object' ? undefined
        : typeof value === 'string' && /^[ \v\x01\x85\u00a0\u00ad\u1680\u3000\u2003\u200b\u2068\u3164\ufeff\u{e0020}]*[=+\-@\t\r\n＝＋－＠﹦]/u.test(value) && !/^-\d+$/.test(value) ? `'${value}` : value));
      for (const [k, cell] of cells.entries()) {
        if (typeof cell === 'number') assert.equal(Number(rows[i][k]), cell, `${args[0]} ${header[k]}`);
        else if (cell !== undefined) assert.equal(rows[i][k], String(cell), `${args[0]} ${header[k]}`);
      }
    }
  }
  const { stdout } = await fleetprof('top', '--site', 'sheet', '--csv', '--top', '50');
  const [header, ...rows] = parseCsv(stdout);
  const functions = rows.map((row) => row[header.indexOf('function')]);
  assert.deepEqual(functions.sort(), ["'=1+1", "'+1", '-1', "'-2+3", "'@SUM(A1)", "'\tx", "'\n=1", "'＝1+1", "'＋1", "'－1", "'＠a", "'\u00ad\ufeff=1", "'\u00ad\u200b=1", "'\u00a0=1", "'  =1", "'\u3000\u2003＝1", "' \ufeff@x", "'\v=1", "'\x01=1", "'\x85=1", "'\u2068=1", "'\u1680@x", "'\u3164+1", "'\u{e0020}=1", "'﹦1", 'Ａ', 'a,b', ' a=b', 'say "x"', 'a\nb', 'größe', 'plain'].sort());
  const { stdout: alone } = await fleetprof('regressions', '--site', 'sheet', '--csv');
  assert.match(alone, /^function_key,function,[a-z_0-9,]+\n$/, 'of a lone release only the names');
  const both = await fleetprof('top', '--json', '--csv');
  assert.deepEqual([both.code, both.stdout], [2, '']);
  assert.match(both.stderr, /--json and --csv exclude each other/);
});

/** Queries of commands that wait for a lock. */
const waiting = async () => (await stack.sql("select pid from pg_stat_activity where usename = 'fleetprof_reader' and wait_event_type = 'Lock'")).length;

/** Lets commands wait for a lock. @param {() => Promise<void>} during */
async function whileLocked(during) {
  const holder = new pg.Client({ host: stack.postgres.socketDir, port: 5432, database: 'fleetprof', user: 'postgres' });
  await holder.connect();
  try {
    await holder.query('begin; lock table fleetprof_data.frame in access exclusive mode');
    await during();
  } finally {
    await holder.end();
  }
}

test('callers takes a name or a key', async () => {
  for (const args of [[], ['outer', '--key', '1']]) {
    const { code, stderr } = await fleetprof('callers', '--site', 'shop', ...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /name a function or, by --key, its function_key/);
  }
});

test('the server ends the query of a command that was interrupted', () => whileLocked(async () => {
  const child = spawn(program, ['top', '--site', 'shop'], { env: { ...process.env, ...env }, stdio: 'ignore' });
  await waitFor(async () => await waiting() === 1, { what: 'query that waits' });
  child.kill('SIGINT');
  await waitFor(async () => await waiting() === 0, { what: 'end of the query' });
}));

test('a server that stops in the middle of a query is an error in few lines', () => whileLocked(async () => {
  const command = fleetprof('top', '--site', 'shop');
  await waitFor(async () => await waiting() === 1, { what: 'query that waits' });
  await stack.sql("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'fleetprof_reader'");
  const { code, stdout, stderr } = await command;
  assert.deepEqual([code, stdout], [2, '']);
  assert.match(stderr, /^fleetprof: error: the connection to the database was lost\nfleetprof: detail: .*terminating connection/);
  assert.ok(stderr.split('\n').length < 8, stderr);
}));

test('-o replaces a file whole, also behind a link, and writes to a pipe', async () => {
  const [pipe, file, link] = ['pipe', 'folded', 'link'].map((name) => path.join(dir, name));
  await run(['mkfifo', pipe]);
  fs.writeFileSync(file, 'before');
  fs.symlinkSync(file, link);
  const exported = (/** @type {string} */ name) => fleetprof('export', '--format', 'folded', '--site', 'shop', '-o', name);
  const reader = run(['cat', pipe]);
  assert.equal((await exported(pipe)).code, 0);
  const { stdout } = await reader;
  assert.match(stdout, /^\S.* \d+\n/);
  assert.ok(fs.lstatSync(pipe).isFIFO());
  assert.equal((await exported(link)).code, 0);
  assert.ok(fs.lstatSync(link).isSymbolicLink());
  assert.equal(fs.readFileSync(file, 'utf8'), stdout);
  assert.equal((await exported('-')).stdout, stdout, '- is standard output');
  assert.deepEqual(fs.readdirSync(dir).filter((name) => name.endsWith('.part')), []);
});

test('flame draws stacks as wide as their time, in the width of the terminal', async () => {
  const file = path.join(dir, 'wide.json');
  const frames = ['boot', 'größe\u001b[2J\u202e', '日本語日本語日本語', `narrow${'\u{e0100}'.repeat(1000)}`, `idle${'\u0301'.repeat(1000)}`].map((name) => ({ name, resourceId: 0, line: 1, column: 2 }));
  const stacks = [{ frameId: 0 }, { frameId: 1, parentId: 0 }, { frameId: 2, parentId: 0 }, { frameId: 3, parentId: 2 }, { frameId: 4 }];
  // boot 80 of 100 samples: 40 in größe, 40 in 日本語, of which 1 in narrow.
  const stackIds = [...Array(40).fill(1), ...Array(39).fill(2), 3, ...Array(20).fill(4)];
  fs.writeFileSync(file, JSON.stringify({ ...upload, marks: [], measures: [], trace: { resources: ['https://shop.example/\u202esj.ppa'], frames, stacks,
    samples: [...stackIds, undefined].map((stackId, i) => ({ timestamp: 10 * i, stackId })) } }));
  const { code, stderr } = await fleetprof('import', '--wait', '-c', stack.collector.file, '--site', 'wide', file);
  assert.equal(code, 0, stderr);
  const { stdout, stderr: note } = await fleetprof('flame', '--site', 'wide', '--width', '40');
  const lines = stdout.split('\n');
  assert.deepEqual(lines, [
    `│(all) 100 %${'─'.repeat(28)}`,
    `│boot 80.0 %${'─'.repeat(20)}│idle\u0301\u0301\u0301\u0301───`,
    '│größe?[2J?─────│日本語日本語日…',
    '']);
  assert.equal(note, '100 % is 1000.0 ms, the time of all stacks. Cells below 3 columns are left out.\n');
  const shallow = await fleetprof('flame', '--site', 'wide', '--depth', '1');
  assert.match(shallow.stdout, /^│\(all\) 100 %─+\n│boot 80\.0 %─{84}│idle\u0301{4} 20\.0 %─+\n$/);
  assert.match(shallow.stderr, /, and deeper levels: --depth\.\n$/);
  const { stdout: onTerminal } = await run(['script', '-qec', `stty cols 60; '${program}' flame --site wide`, '/dev/null'], { env: { ...env, TERM: 'dumb' } });
  assert.equal(onTerminal.split('\r\n')[0], `│(all) 100 %${'─'.repeat(48)}`);
  const { stdout: table } = await fleetprof('top', '--site', 'wide');
  assert.match(table, /größe\\x1b\[2J\?\t/);
  const { stdout: tableOnTerminal } = await run(['script', '-qec', `stty cols 200; '${program}' top --site wide`, '/dev/null'], { env: { ...env, TERM: 'dumb' } });
  for (const each of [table, tableOnTerminal]) assert.match(each, /boot\s+https:\/\/shop\.example\/\?sj\.ppa:1:2\s/);
  for (const [args, things] of /** @type {[string[], string][]} */ ([[['flame'], 'stacks'], [['cost', 'party'], 'samples']])) {
    const none = await fleetprof(...args, '--site', 'wide', '--marker', 'gc');
    assert.deepEqual([none.code, none.stderr], [0, `fleetprof: the page loads that match have no ${things}\n`]);
  }
});

test('markers has the time of each marker, and all of it', async () => {
  const rows = await json('markers', '--site', 'wide');
  assert.deepEqual(rows, [{ marker: '(none)', samples: 100, self_ms: 1000, share: 1000 / 1010 }, { marker: '(unattributed)', samples: 1, self_ms: 10, share: 10 / 1010 }]);
  assert.deepEqual((await json('markers', '--site', 'wide', '--marker', '(none)')).length, 1);
  const { stdout, stderr } = await fleetprof('markers', '--site', 'wide');
  assert.equal(stdout, 'MARKER\tSAMPLES\tSELF MS\tSHARE %\n(none)\t100\t1000.0\t99.0\n(unattributed)\t1\t10.0\t1.0\n');
  assert.match(stderr, /^SHARE % is of profiled time\. /);
});

test('cost says whose code it is; --fold makes one frame of a package', async () => {
  const hosts = ['https://static.own.example/a.js', 'https://x.owncdn.example/b.js', 'https://unpkg.com/react-dom@18.2.0/c.js', 'https://tag.example.net/t.js'];
  const file = path.join(dir, 'own.json');
  fs.writeFileSync(file, JSON.stringify({
    page: { url: 'https://www.own.example/' }, sampleInterval: 10,
    trace: {
      resources: hosts,
      frames: hosts.map((_, resourceId) => ({ name: `of${resourceId}`, resourceId, line: 1, column: 1 })).concat({ name: 'inner', resourceId: 2, line: 2, column: 1 }),
      stacks: [{ frameId: 0 }, { frameId: 2, parentId: 0 }, { frameId: 4, parentId: 1 }, { frameId: 1, parentId: 2 }, { frameId: 3 }],
      samples: [0, 1, 2, 3, 4].map((stackId) => ({ timestamp: 10 * stackId, stackId })),
    },
  }));
  const { code, stderr } = await fleetprof('import', '-c', stack.collector.file, '--site', 'own', '--user-agent', 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36', file);
  assert.equal(code, 0, stderr);
  await waitFor(async () => (await json('cost', 'party', '--site', 'own')).length > 0, { what: 'the upload' });
  const of = async (/** @type {string} */ by) => Object.fromEntries((await json('cost', by, '--site', 'own')).map(({ name, self_ms: ms }) => [name, ms]).filter(([, ms]) => ms > 0));
  assert.deepEqual(await of('party'), { first: 20, third: 30 });
  assert.deepEqual(await of('entity'), { 'own.example': 10, 'owncdn.example': 10, 'unpkg.com': 20, 'example.net': 10 });
  assert.deepEqual(await of('package'), { 'react-dom': 20, '(no package)': 20, '(ignored)': 10 });
  const { stdout } = await fleetprof('cost', 'party', '--site', 'own');
  assert.match(stdout, /^NAME\tSELF MS\tSHARE %\tSAMPLES\tUPLOADS\nthird\t30\.0\t60\.0\t/);

  // The functions of each group.
  const functions = async (/** @type {string[]} */ ...args) => (await json('top', '--site', 'own', ...args)).map(({ function: name, self_ms: ms }) => `${name} ${ms}`).sort();
  assert.deepEqual(await functions('--package', 'react-dom'), ['inner 10', 'of2 10']);
  assert.deepEqual(await functions('--party', 'third'), ['inner 10', 'of2 10', 'of3 10']);
  assert.deepEqual(await functions('--host', '%.own%.example', '--top', '1'), ['of0 10']);
  assert.deepEqual(await functions('--party', 'third', '--package', '(ignored)'), ['of3 10']);
  const [wanted] = await json('top', '--site', 'own', '--host', 'tag.example.net');
  assert.deepEqual([wanted.function, wanted.self_share, wanted.busy_share, wanted.load_share], ['of3', 0.2, 0.2, 1], 'shares are of all time');
  assert.match((await fleetprof('top', '--site', 'own', '--package', 'react-dom')).stderr, /^Only functions of the package "react-dom"; shares are of all time\.\n1 page load in .*\n0\.0 % of 50\.0 ms of profiled time /);
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['--package', 'react-don'], /^fleetprof: nothing was counted for the package "react-don" of site "own"\n.*Did you mean "react-dom"\?\n.*hint: Packages, most time first: \(no package\), react-dom, \(ignored\)\.\n$/],
    [['--host', 'unpkg.com', '--party', 'first'], /^fleetprof: nothing matches: no function has all of this together\n$/],
    [['--party', 'third', '--route', '/nope'], /^fleetprof: nothing was counted for the route "\/nope"/],
    [['--party', 'third', '--measure', 'nope'], /^fleetprof: nothing was counted for the measure "nope"/],
  ])) {
    const none = await fleetprof('top', '--site', 'own', ...args);
    assert.equal(none.stdout, '');
    assert.match(none.stderr, message);
  }
  const folded = async (/** @type {string[]} */ ...args) => (await fleetprof('export', '--format', 'folded', '--site', 'own', ...args)).stdout.trimEnd().split('\n');
  assert.deepEqual(await folded('--fold', 'package'), ['of0 10000', 'of0;(react-dom) 20000', 'of0;(react-dom);of1 10000', '(ignored) 10000'].sort());
  assert.deepEqual(await folded('--fold', 'caller'), ['(ignored) 10000', 'of0 30000', 'of0;of1 10000']);
  assert.deepEqual((await json('callers', 'of1', '--site', 'own', '--fold', 'package')).map(({ function: name }) => name), ['(react-dom)']);
  const hidden = await fleetprof('callers', 'inner', '--site', 'own', '--fold', 'package');
  assert.match(hidden.stderr, /no such function is on any folded stack: inner\n.*--fold package hides functions of packages/);
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['export', '--format', 'folded', '--fold', 'party'], /--fold is package or caller, not "party"/],
    [['cost'], /name by what to list time/], [['cost', 'party', 'host'], /one BY at a time/], [['cost', 'colour', '--site', 'own'], /cost cannot be listed by "colour"/],
  ])) {
    const wrong = await fleetprof(...args);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, message);
  }
});

test('trend follows a function, a group or a timing', async () => {
  const trend = async (/** @type {string[]} */ ...args) => (await json('trend', ...args)).map(({ value_ms: ms, uploads }) => [ms, uploads]);
  assert.deepEqual(await trend('of0', '--site', 'own'), [[10, 1]]);
  for (const [by, name, ms, uploads] of /** @type {[string, string, number, number | null][]} */ ([
    ['package', 'react-dom', 20, 1], ['package', '(ignored)', 10, 1], ['party', 'third', 30, 1], ['entity', 'example.net', 10, 1],
    ['device', 'desktop', 50, 1], ['marker', '(none)', 50, null], ['function', 'of0', 10, 1],
  ])) assert.deepEqual(await trend('--by', by, name, '--site', 'own'), [[ms, uploads]], `${by} ${name}`);
  const [{ function_key: key }] = (await json('top', '--site', 'own')).filter(({ function: name }) => name === 'of0');
  assert.deepEqual(await trend('--key', key, '--site', 'own'), [[10, 1]]);
  const { stdout, stderr } = await fleetprof('trend', '--by', 'party', 'third', '--site', 'own', '--step', 'day');
  assert.match(stdout, /^FROM \(UTC\)\t.*\tRELEASES\n[0-9-]{10} 00:00\t30\.0\t.*\t█{20}\t1\t.*\n$/);
  assert.equal(stderr, 'MS is self time per page load; it lies in the range with 95 % or more, if uploads are independent.\n');
  assert.match((await fleetprof('trend', 'of0', '--site', 'own', '--since-when')).stderr, /\nNo lasting change is seen; that takes 72 hours, 12 of them after it\.\n$/);
  const mistyped = await fleetprof('trend', 'oF0', '--site', 'own');
  assert.equal(mistyped.code, 0);
  assert.match(mistyped.stderr, /^fleetprof: no such function is on any stack in this period: oF0\n.*hint: Did you mean "of0"\?\n.*hint: `fleetprof top' lists functions; case counts\.\n$/);
  for (const args of [['package', 'reactt'], ['route', '/nowhere']]) {
    const none = await fleetprof('trend', '--by', ...args, '--site', 'own');
    assert.equal(none.code, 0);
    assert.match(none.stderr, new RegExp(`by ${args[0]}, nothing that took time is called "${args[1]}" in this period\n.*\`fleetprof cost ${args[0]}' lists the names`));
  }
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [[], /name a function; by --measure, a measure/], [['a', 'b'], /one name at a time/], [['--measure', 'a', 'b'], /name a function/],
    [['--measure', 'a', '--by', 'vital'], /leave one out/], [['--by', 'host'], /name a function/], [['--key', '-1', 'a'], /name a function/],
    [['--key', '-1', '--measure', 'a'], /name a function/], [['--key', '-1', '--by', 'host'], /--key KEY is the key of a function/], [['--by', 'colour', 'red', '--site', 'own'], /there is no trend by "colour"/],
  ])) {
    const wrong = await fleetprof('trend', ...args);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, message);
  }
});

test('trend says since when a level is another one, and with which release', async () => {
  const body = (/** @type {string} */ release, /** @type {number} */ samples) => ({
    ...upload, release, marks: [], measures: [],
    trace: { ...upload.trace, samples: Array.from({ length: samples }, (_, i) => ({ timestamp: 10 * i, stackId: 0 })) },
  });
  await sendStep(stack, { site: 'stepped', key: 'pk_stepped', agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36' }, [body('1', 20), body('2', 30)]);
  const [{ begins }] = await stack.sql(`select to_char((date_trunc('hour', now()) - interval '${stepBack} hours') at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as begins`);
  const [{ function_key: key }] = await json('top', '--site', 'stepped', '--since', '7d');
  for (const name of [['outer'], ['--key', key]]) {
    const { stdout, stderr } = await fleetprof('trend', ...name, '--site', 'stepped', '--since', '7d', '--since-when');
    assert.equal(stderr.split('\n').at(-2), `Higher by 50 % since ${begins} UTC (between ${begins} and ${begins}), release 2 began ${begins}.`, stdout);
    assert.match(stdout, new RegExp(`^${begins}\t.*\t2$`, 'm'), 'the row in which the release began names it');
  }
  const idle = { ...body('1', 0), trace: { ...body('1', 20).trace, samples: Array.from({ length: 20 }, (_, i) => ({ timestamp: 10 * i })) } };
  await sendStep(stack, { site: 'begun', key: 'pk_begun', agent: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36' }, [idle, body('2', 30)]);
  const { stdout, stderr } = await fleetprof('trend', 'outer', '--site', 'begun', '--since', '7d', '--since-when');
  assert.equal(stderr.split('\n').at(-2), `New since ${begins} UTC (between ${begins} and ${begins}), release 2 began ${begins}.`, stdout);
});

test('all filters and what they leave out may be given at once', async () => {
  const dimensions = filters.filter(({ of }) => of === 'loads').map(({ option }) => option);
  const given = (/** @type {string[]} */ names) => names.flatMap((name) => [`--${name}`, '%', '--exclude', `${name}=x`]).concat('--site', 'own', '--since', '1d', '--until', '0s');
  const most = [...given(dimensions), ...given(['release']).slice(0, 4)];
  const all = [...most, '--marker', '(none)', '--exclude', 'marker=gc'];
  for (const args of [
    ['top', '--measure', 'render', '--top', '5', ...all], ['flame', '--fold', 'package', ...all], ['callers', 'of0', '--fold', 'package', ...all],
    ['cost', 'host', ...all], ['markers', ...all], ['export', '--format', 'folded', '--fold', 'package', ...all],
    ['export', '--format', 'speedscope', '--fold', 'package', ...all], ['trend', 'of0', '--step', 'day', ...most], ['vitals', '--by', 'route', ...most],
    ['timings', ...most], ['coverage', ...most],
    ['compare', '--top', '5', '--before-since', '3d', '--before-until', '2d', ...given(dimensions)],
    ['compare', 'a', 'b', '--vitals', ...given(dimensions)], ['regressions', '--least-change', '5', ...given(dimensions)],
    ['export', '--format', 'speedscope', '--compare', 'a', 'b', '--before-since', '3d', '--before-until', '2d', ...given(dimensions)],
  ]) {
    const { code, stderr } = await fleetprof(...args);
    assert.equal(code, 0, `${args}: ${stderr}`);
  }
});

test('--exclude leaves out what a filter selects', async () => {
  const uploads = async (/** @type {string[]} */ ...args) => (await json('cost', 'device', '--site', 'own', ...args)).filter(({ uploads: count }) => count > 0).map(({ name }) => name);
  assert.deepEqual(await uploads('--exclude', 'browser=Fire%', '--exclude', 'route=/admin'), ['desktop']);
  assert.deepEqual(await uploads('--exclude', 'browser=Chr%'), []);
  const empty = await fleetprof('top', '--site', 'own', '--exclude', 'os=Linux');
  assert.deepEqual([empty.code, empty.stdout], [0, '']);
  assert.match(empty.stderr, /^fleetprof: nothing matches: no upload has all of these values together$/m);
  assert.deepEqual(await json('top', '--site', 'own', '--exclude', 'marker='), []);
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['top', '--exclude', 'browser'], /--exclude takes FILTER=PATTERN, such as browser=Headless%, not "browser"/],
    [['top', '--exclude', 'site=x'], /--exclude has no filter "site"; it has marker, release, route, environment, variant, browser, os, device, thread, frame, traffic/],
    [['timings', '--exclude', 'marker=gc'], /--exclude has no filter "marker"; it has release, route,/],
    [['compare', '1', '2', '--exclude', 'release=gc'], /--exclude has no filter "release"; it has route,/],
    [['top', '--exclude', 'os=a', '--exclude', 'os=b'], /--exclude os is given twice/],
  ])) {
    const wrong = await fleetprof(...args);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, message);
  }
});

test('wherever times are, a line says what the browser did not see', async () => {
  // 400 ms were watched; two samples, 300 ms apart, own 250 ms of the gap between them, and half of an interval at each end.
  const starved = { ...upload, release: 'starved', start: 0, duration: 400, measures: [{ name: 'task', entryType: 'measure', startTime: 0, duration: 200 }],
    trace: { ...upload.trace, samples: [{ timestamp: 5, stackId: 0 }, { timestamp: 395, stackId: 0 }] } };
  const calm = { ...starved, release: 'calm', measures: [], trace: { ...upload.trace,
    samples: Array.from({ length: 40 }, (_, i) => ({ timestamp: 10 * i + 5, stackId: 0 })) } };
  for (const [i, body] of [starved, calm].entries()) {
    const file = path.join(dir, `seen-${i}.json`);
    fs.writeFileSync(file, JSON.stringify(body));
    const { code, stderr } = await fleetprof('import', '--wait', '-c', stack.collector.file, '--site', 'starved', file);
    assert.equal(code, 0, stderr);
  }
  const of = ['--site', 'starved', '--release', 'starved'];
  const lastLine = (/** @type {string} */ text) => text.trimEnd().split('\n').at(-1);
  assert.equal(lastLine((await fleetprof('top', ...of)).stderr),
    'The browser looked in 65.0 % of the time that was watched; what ran in the rest is unseen, so all times are lower bounds.');
  assert.equal(lastLine((await fleetprof('top', ...of, '--measure', 'task')).stderr),
    'The browser looked in 65.0 % of the measure\'s time; what ran in the rest is unseen, so all times are lower bounds.');
  assert.doesNotMatch((await fleetprof('top', '--site', 'starved', '--release', 'calm')).stderr, /unseen/);
  assert.deepEqual((await json('markers', ...of)).map(({ marker, self_ms: ms, share }) => [marker, ms, share]),
    [['(none)', 260, 1], ['(unseen)', 140, null]]);
  assert.deepEqual((await json('coverage', ...of)).map(({ seen_share: seen }) => seen), [0.65]);
  const { stderr } = await fleetprof('compare', 'starved', 'calm', '--site', 'starved');
  assert.match(stderr, /^Seen: 65 % of the earlier side's time, 100 % of the later one's\. /m);
});

test('times are of pages at the top, and of pages in frames when asked', async () => {
  const send = async (/** @type {string} */ site, /** @type {string | undefined} */ frame) => {
    const name = `${frame ?? 'top'}Work`;
    const file = path.join(dir, `frame-${site}-${name}.json`);
    fs.writeFileSync(file, JSON.stringify({ ...upload, frame, measures: [], trace: { ...upload.trace, frames: [{ name }], stacks: [{ frameId: 0 }],
      samples: Array.from({ length: 16 }, (_, i) => ({ timestamp: 10 * i, stackId: 0 })) } }));
    const { code, stderr } = await fleetprof('import', '--wait', '-c', stack.collector.file, '--site', site, file);
    assert.equal(code, 0, stderr);
  };
  await send('framed', undefined);
  await send('framed', 'same-origin');
  await send('framed', 'cross-origin');
  await send('widget', 'cross-origin');
  const names = async (/** @type {string[]} */ ...args) => (await json('top', '--site', 'framed', ...args)).map((row) => row.function).sort();
  const [row] = await json('top', '--site', 'framed');
  assert.equal(row.function, 'topWork');
  assert.equal(row.self_ms_per_load, row.self_ms);
  assert.deepEqual(await names(), ['topWork']);
  assert.deepEqual(await names('--frame', 'cross-origin'), ['cross-originWork']);
  assert.deepEqual(await names('--frame', '%'), ['cross-originWork', 'same-originWork', 'topWork']);
  assert.deepEqual(await names('--frame', '%', '--exclude', 'frame=top'), ['cross-originWork', 'same-originWork']);
  assert.deepEqual((await json('cost', 'frame', '--site', 'framed')).filter(({ uploads }) => uploads > 0).map(({ name }) => name).sort(),
    ['cross-origin', 'same-origin', 'top']);
  assert.deepEqual(await json('coverage', '--site', 'framed').then(([{ loads }]) => loads), 1);
  const { code, stdout, stderr } = await fleetprof('top', '--site', 'widget');
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /nothing matches: all that would is of pages in frames\n.*--frame '%'/);
});

test('in messages of level debug1 a question says which rows it reads', async () => {
  const ask = (/** @type {string[]} */ ...args) => run([program, ...args, '--site', 'shop'], { env: { ...env, PGOPTIONS: '-c client_min_messages=debug1' } });
  const { code, stderr } = await ask('top');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^DEBUG: {2}sites: 1; segments: \d+; fresh rows: from [-0-9]{10} \d\d:00 to [-0-9]{10} \d\d:00; groups of sealed rows: \d+ \(.*\); blocks: .* \(UTC\)$/m);
  // First what the filters select, then the blocks by hour.
  const trend = await ask('trend', 'outer', '--csv');
  assert.equal(trend.stderr.match(/^DEBUG: {2}sites: 1;/gm)?.length, 2, trend.stderr);
  assert.doesNotMatch((await fleetprof('top', '--site', 'shop')).stderr, /sites: 1;/);
});
