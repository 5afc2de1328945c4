// SPDX-License-Identifier: Apache-2.0
/**
 * The command line without memory: whichever allocation of a run fails, alone or with all later ones, the command
 * works as usual or ends with status 2 and says so. It never prints half a result, makes half a change or counts
 * twice.
 *
 * failing_memory.c makes allocations fail. A run has up to thousands: each test run picks others at random, and many
 * more with FLEETPROF_LONG; FLEETPROF_MEMORY_SEED picks the same ones again.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { seededRandom } from '../chaos/random.mjs';
import { envelope, send } from './collector_client.mjs';
import { failingMemory } from './failing_memory.mjs';
import { binDir, repository, run, runOrThrow, startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';

const seed = Number(process.env.FLEETPROF_MEMORY_SEED ?? Math.floor(Math.random() * 2 ** 32));
const random = seededRandom(seed);
const dir = temporaryDir('cli-memory');
const fleetprof = path.join(binDir, 'fleetprof');
const data = (/** @type {string} */ name) => path.join(repository, 'tests/data', name);
const files = [data('fibonacci-recursion.json'), data('opera-scope/manual.json')];

/** How many runs of a command to make; runs with a sanitizer are slow. */
let triesMax = process.env.FLEETPROF_LONG === '1' ? 1000 : 10;

/** @type {NodeJS.ProcessEnv} */
let memory;
/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector} */
let collector;
/** The id of the upload that is kept whole. */
let session = '';

before(async () => {
  memory = await failingMemory(dir);
  if (/lib[at]san/.test(await runOrThrow(['ldd', fleetprof]))) triesMax /= 5;
  postgres = await startPostgres({ migrated: true });
  collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
  for (const file of files) await send(`${collector.url}/v1/ingest/pk_demo`, { body: fs.readFileSync(file) });
  await waitFor(async () => (await uploads()) === 2, { what: 'uploads in SQL' });
  [{ session }] = await postgres.sql('select session_id::text as session from fleetprof.sessions');
});
after(async () => {
  await collector.stop();
  await postgres.stop();
});

async function uploads() {
  return Number((await postgres.sql('select count(*) from fleetprof.upload_log'))[0].count);
}

/** @param {string[]} args @param {string} [failing] @param {NodeJS.ProcessEnv} [env] */
const runWithout = (args, failing = '0', env = {}) => run([fleetprof, ...args], { env: {
  ...memory,
  FLEETPROF_FAIL_ALLOCATION: failing,
  ...env,
} });

/** Numbers of some of a run's allocations, spread over the run. @param {number} count */
function choose(count) {
  const step = Math.max(1, count / triesMax);
  const first = random.share() * step;
  return Array.from({ length: Math.ceil((count - first) / step) }, (_, i) => 1 + Math.floor(first + i * step));
}

/** The lines of a table, without the padding of its columns. @param {string} text */
const linesOf = (text) => text.split('\n').map((line) => line.trim().replace(/ +/g, ' ')).filter(Boolean);

/**
 * Fails unless the output before memory ran out is complete: JSON, or the expected lines, or their number.
 * @param {string} stdout @param {string} expected
 */
function checkWhole(stdout, expected) {
  if (stdout === '' || stdout === expected) return;
  if (/^\[/.test(expected)) {
    assert.ok(Array.isArray(JSON.parse(stdout)));
    return;
  }
  const lines = new Set(linesOf(expected));
  for (const line of linesOf(stdout)) assert.ok(lines.has(line) || /^(imported )?\d of \d (files|accepted)(; \d (was|were) not tried)?$/.test(line), line);
  assert.ok(stdout.endsWith('\n'));
}

/**
 * Runs a command repeatedly, with a different allocation failing each time.
 * @param {() => string[]} prepare gives the arguments of a run
 * @param {(args: string[]) => Promise<void> | void} [check] checks what the run has left behind
 */
async function tryAll(prepare, check = () => {}) {
  const counts = path.join(dir, 'count');
  const expected = await runWithout(prepare(), '0', { FLEETPROF_ALLOCATIONS: counts });
  const count = Number(fs.readFileSync(counts, 'utf8'));
  assert.ok(count > 20, `${count} allocations`);
  for (const failing of choose(count).flatMap((n) => [`${n}`, `${n}+`])) {
    const args = prepare();
    const found = await runWithout(args, failing);
    const context = `allocation ${failing} of ${count}, seed ${seed}, ended with ${found.code}: ${found.stdout}${found.stderr}`;
    try {
      if (found.code !== expected.code) assert.equal(found.code, 2);
      if (found.code !== expected.code || found.stderr !== expected.stderr) {
        // libcurl has its own messages when it runs out of memory for a URL or an address.
        assert.match(found.stderr, /memory|^fleetprof: error: could not upload .*\nfleetprof: detail: ./i);
        assert.doesNotMatch(found.stderr, /Sanitizer|runtime error/);
        checkWhole(found.stdout, expected.stdout);
      } else {
        assert.equal(found.stdout, expected.stdout);
      }
      await check(args);
    } catch (error) {
      throw new Error(`${args.join(' ')}: ${context}`, { cause: error });
    }
  }
}

for (const [name, ...args] of [
  ['validate', 'validate', ...files],
  ['validate --json', 'validate', '--json', ...files],
  ['spool inspect', 'spool', 'inspect', data('spool-v1/spool')],
  ['spool inspect --json', 'spool', 'inspect', '--json', data('spool-v1/spool')],
  ['spool verify', 'spool', 'verify', data('spool-v1/spool')],
]) {
  test(`${name}: prints what it should, or that there is no memory`, () => tryAll(() => args));
}

test('on a terminal a table is whole and cut as ever, or there is none', async () => {
  const counts = path.join(dir, 'terminal-count');
  // Without the preloaded library for script and its shell.
  const { LD_PRELOAD: library, ...others } = memory;
  const runOnTerminal = (/** @type {string} */ failing) => run(['script', '-qec',
    `stty cols 60; exec env LD_PRELOAD='${library}' '${fleetprof}' validate '${files[0]}'`, '/dev/null'],
  { env: { ...others, TERM: 'dumb', FLEETPROF_FAIL_ALLOCATION: failing, FLEETPROF_ALLOCATIONS: counts } });
  const expected = await runOnTerminal('0');
  assert.match(expected.stdout, /^…\S*recursion\.json /m);
  const count = Number(fs.readFileSync(counts, 'utf8'));
  assert.ok(count > 20, `${count} allocations`);
  for (const failing of choose(count).flatMap((n) => [`${n}`, `${n}+`])) {
    const { code, stdout } = await runOnTerminal(failing);
    if (stdout === expected.stdout) continue;
    assert.equal(code, 2, `allocation ${failing} of ${count}, seed ${seed}: ${stdout}`);
    // A whole table, or none, and then why.
    const rest = stdout.startsWith(expected.stdout) ? stdout.slice(expected.stdout.length) : stdout;
    const messages = rest.replaceAll(/\r\n(?!fleetprof: |$)/g, ' '); // they are wrapped
    assert.match(messages, /^(fleetprof: error: .*memory.*\r\n)+$/);
  }
});

// top and pprof have their period: it must not end at the minute of the run.
for (const command of [['top', '--since', '2020-01-01', '--until', '2100-01-01'], ['top', '--json'], ['timings', '--json'], ['flame', '--width', '80'], ['export', '--format', 'folded'],
  ['export', '--format', 'pprof', '--since', '2020-01-01', '--until', '2100-01-01'], ['export', '--format', 'gecko', '--session', 'the one'], ['session', 'list'],
  ['session', 'export', 'the one'], ['session', 'export', '1'], ['migrate']]) {
  test(`${command.join(' ')}: prints what it should, or that there is no memory`, () =>
    tryAll(() => [...command.map((word) => (word === 'the one' ? session : word)), '--database', postgres.conninfo(command[0] === 'migrate' ? 'postgres' : 'fleetprof_reader')]));
}

test('import: a file is counted once, and said to be accepted only if it was', async () => {
  await tryAll(() => ['import', '-c', collector.file, ...files]);
  await tryAll(() => ['import', '--json', '-c', collector.file, files[1]]);
  // The uploads that before() sent have random ids.
  await waitFor(async () => (await collector.metrics())['fleetprof_spool_backlog_records'] === 0, { what: 'an empty spool' });
  assert.equal(await uploads(), 4);
});

/* ---- dead letters ---- */

const invalid = envelope({ trace: { frames: [], resources: [], stacks: [], samples: [{ timestamp: 1, stackId: 7 }] } });
const [acceptable, refused] = [['00064413d5c3a1f0.letter', envelope({ id: undefined })], ['00064413d5c3a1f1.letter', invalid]];

/** A directory with two letters; a replay of the first is accepted, of the second refused. */
function makeLetters() {
  const letters = fs.mkdtempSync(path.join(dir, 'letters-'));
  for (const [name, body] of [acceptable, refused]) {
    const head = { version: 1, received_us: 1795245309176231, site: 'demo', status: 413, detail: 'too many samples', body_bytes: body.length };
    fs.writeFileSync(path.join(letters, name), `${JSON.stringify(head)}\n${body}`);
  }
  return letters;
}

for (const command of [['list'], ['list', '--json'], ['show', '00064413d5c3a1f1'], ['show', '--body', '00064413d5c3a1f1']]) {
  test(`spool dead-letters ${command.join(' ')}: prints what it should, or that there is no memory`, () => {
    const letters = makeLetters();
    return tryAll(() => ['spool', 'dead-letters', ...command, '--directory', letters]);
  });
}

/** Fails unless each letter is unchanged or in the state after a replay. @param {string} letters */
function checkLetters(letters) {
  const names = fs.readdirSync(letters).sort();
  assert.deepEqual(names.filter((name) => name !== acceptable[0]), [refused[0]]);
  for (const name of names) {
    const [head, ...body] = fs.readFileSync(path.join(letters, name), 'utf8').split('\n');
    const { status, detail, pointer } = JSON.parse(head);
    assert.equal(body.join('\n'), name === acceptable[0] ? acceptable[1] : refused[1]);
    if (status === 413) assert.equal(detail, 'too many samples');
    else assert.deepEqual([name, status, pointer], [refused[0], 422, '/trace/samples/0/stackId']);
  }
}

test('spool dead-letters replay: a letter is accepted once, has its new reason, or is as it was', async () => {
  const known = await uploads();
  await tryAll(() => ['spool', 'dead-letters', 'replay', '--all', '-c', collector.file, '--directory', makeLetters()],
    (args) => checkLetters(/** @type {string} */ (args.at(-1))));
  await waitFor(async () => (await uploads()) === known + 1, { what: 'the letter in SQL' });
});
