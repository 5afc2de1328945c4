// SPDX-License-Identifier: Apache-2.0
/**
 * Every answer equals the one from the uploads themselves: random uploads, flushes, seals and retention, then random
 * questions to all functions and views, held against a naive store.
 *
 * FLEETPROF_PROPERTY_SEED runs one seed. FLEETPROF_LONG makes it a long run, of FLEETPROF_PROPERTY_MINUTES.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { dimensions } from '../../tools/filters.mjs';
import { seededRandom } from '../chaos/random.mjs';
import { startPostgres } from './stack.mjs';
import { NaiveStore, dayUs, hourUs } from './store_naive.mjs';
import {
  differences, narrower, randomQuestion, subjectNames, toSql, wholeQuestion, within,
} from './store_questions.mjs';
import { killSealers, startSealer } from './store_sealer.mjs';
import { killWriters, newDatabase, startWriter } from './store_tool.mjs';

/** @typedef {import('../chaos/random.mjs').Random} Random */
/** @typedef {import('./store_questions.mjs').Question} Question */
/** @typedef {import('./store_sealer.mjs').Sealer} Sealer */
/** @typedef {import('./store_tool.mjs').Database} Database */
/** @typedef {import('./store_tool.mjs').Writer} Writer */

const long = process.env.FLEETPROF_LONG === '1';
const minutes = Number(process.env.FLEETPROF_PROPERTY_MINUTES ?? (long ? 10 : 0));
const chosen = process.env.FLEETPROF_PROPERTY_SEED;
const shownLines = 10;
const yearsUs = 40 * 365 * dayUs;
const retention = { facts_us: yearsUs, log_us: yearsUs, sessions_us: yearsUs };

/** The same dates in every run; a block of eight days begins here. */
const firstUs = 2464 * 8 * dayUs;

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  // A time zone with summer time, on purpose: blocks are of UTC days.
  postgres = await startPostgres({ migrated: true, settings: { timezone: 'America/New_York', fsync: 'off' } });
});
after(async () => {
  killSealers();
  killWriters();
  await postgres.stop();
});

/**
 * A run with one seed.
 * @typedef {object} Run
 * @property {Random} random
 * @property {NaiveStore} store
 * @property {Database} database
 * @property {Writer[]} writers
 * @property {Sealer} sealer changes with every retention
 * @property {number[]} hours in which uploads come, mostly
 * @property {number} firstSeed of the first upload
 * @property {number} nextSeed of the next one
 * @property {string[]} steps what happened, in words
 */

/** Few hours, at edges of blocks too. @param {Random} random */
function randomHours(random) {
  const days = Array.from({ length: 2 + random.below(3) }, () => random.pick([0, 1, 6, 7, 8, 9, 15, 16, random.below(24)]));
  const hours = Array.from({ length: 3 + random.below(4) }, () => random.pick([0, 3, 4, 7, 8, 20, 23, random.below(24)]));
  return days.flatMap((day) => hours.map((hour) => firstUs + day * dayUs + hour * hourUs));
}

/** One flush of one of the writers. @param {Run} run */
async function addUploads(run) {
  const { random, store, writers, hours } = run;
  const writer = random.pick(writers);
  const count = 1 + random.below(random.pick([1, 4, 25]));
  const seed = random.chance(0.1) ? Math.max(run.firstSeed, run.nextSeed - random.below(30)) : run.nextSeed;
  const atUs = random.pick(hours) + random.pick([0, hourUs - 1, random.below(hourUs)]);
  const stepUs = random.pick([0, 0, 60_000_000, hourUs, 4 * hourUs + 1, -hourUs]);
  run.steps.push(`${count} uploads from ${seed} on at ${atUs} + ${stepUs}`);
  await writer.form(seed, count, atUs, stepUs);
  await writer.flushed();
  for (let i = 0; i < count; i++) {
    store.add(/** @type {any} */ (await writer.describe(seed + i)), atUs + i * stepUs);
  }
  run.nextSeed = Math.max(run.nextSeed, seed + count);
}

/** A time of sealing: soon after an hour in which uploads came, or long after. @param {Run} run */
const randomNow = ({ random, hours }) =>
  random.pick(hours) + random.pick([1, 2, 4, 24, 24 * 8, 24 * 30]) * hourUs + random.below(300) * 1e6;

/** Seals some hours or blocks, or all that are over at a time. @param {Run} run */
async function seal(run) {
  const { random, sealer } = run;
  const nowUs = randomNow(run);
  if (random.chance(0.4)) {
    const times = 1 + random.below(6);
    run.steps.push(`${times} steps of sealing at ${nowUs}`);
    for (let left = times; left > 0; left--) await sealer.step(nowUs);
  } else {
    run.steps.push(`seal all at ${nowUs}`);
    await sealer.all(nowUs);
  }
}

/** Drops hours before a day. @param {Run} run */
async function dropHours(run) {
  const { random, store, database } = run;
  const keptUs = Date.now() * 1000 - random.pick(run.hours) - random.below(3) * dayUs;
  await run.sealer.quit();
  run.sealer = startSealer(database.conninfo(), { ...retention, hours_us: keptUs });
  await run.sealer.house();
  const [{ us }] = await database.sql(
    "select case when hours_from > '-infinity' then extract(epoch from hours_from) * 1000000 end as us from fleetprof_data.horizon");
  store.hoursFromUs = us ?? -Infinity;
  run.steps.push(`drop hours before ${us}`);
}

/** Adds a level of cohorts, for hours in which nothing is sealed yet. @param {Run} run */
async function addLevel({ random, store, database, steps }) {
  // Every level keeps the frame.
  const kept = random.shuffled(dimensions.filter((name) => name !== 'frame')).slice(0, random.below(4));
  const last = Math.max(...store.uploads.map(({ bucketUs }) => bucketUs));
  const sinceUs = store.uploads.length === 0 ? random.pick([-Infinity, firstUs + 9 * dayUs]) : last + hourUs;
  const since = sinceUs === -Infinity ? '-infinity' : new Date(sinceUs / 1000).toISOString();
  steps.push(`a level of ${kept} since ${since}`);
  await database.execute(`insert into fleetprof_data.cohort_level (level, dimensions, since, added)
    select max(level) + 1, '{${['site', ...kept]}}', '${since}', '-infinity' from fleetprof_data.cohort_level`);
}

/** @type {((run: Run) => Promise<void>)[]} */
const actions = [addUploads, addUploads, addUploads, addUploads, seal, seal, seal, dropHours, addLevel];

/** @param {Run} run @param {Question[]} questions @returns {Promise<string[][]>} differences by question */
async function ask({ database, store }, questions) {
  const script = questions.map((question) => `${toSql(question)};`).join('\n');
  const answers = (await database.execute(script, 'fleetprof_reader')).trim().split('\n');
  return questions.map((question, i) => differences(question, JSON.parse(answers[i]), store));
}

/** The narrowest question that differs, as far as one step after the other leads to it. @param {Run} run @param {Question} question */
async function narrowest(run, question) {
  for (;;) {
    const questions = narrower(question, run.store);
    const found = questions.length > 0 ? await ask(run, questions) : [];
    const next = questions.find((_, i) => found[i].length > 0);
    if (!next) return question;
    question = next;
  }
}

/** @param {Run} run @param {Question[]} questions @param {string} name */
async function check(run, questions, name) {
  const asked = questions.map((question) => within(question, run.store));
  const found = await ask(run, asked);
  const wrong = asked.filter((_, i) => found[i].length > 0);
  if (wrong.length === 0) return;
  const question = await narrowest(run, wrong[0]);
  const [lines] = await ask(run, [question]);
  assert.fail(`${name}: ${wrong.length} of ${asked.length} answers differ after\n  ${run.steps.join('\n  ')}
${toSql(question)}
of ${run.store.select(question.filters).length} uploads:\n  ${lines.slice(0, shownLines).join('\n  ')}`);
}

/** @param {number} seed */
async function runSeed(seed) {
  const random = seededRandom(seed);
  const database = await newDatabase(postgres);
  const settings = { ...retention, values: 3 };
  const writers = [
    await startWriter({ conninfo: database.conninfo(), settings }),
    await startWriter({ conninfo: database.conninfo(), settings }),
  ];
  /** @type {Run} */
  const run = {
    random, database, writers, store: new NaiveStore(),
    sealer: startSealer(database.conninfo(), { ...retention, hours_us: yearsUs }), hours: randomHours(random), firstSeed: 1000 * seed, nextSeed: 1000 * seed, steps: [],
  };
  const name = `seed ${seed}`;
  if (random.chance(0.5)) await addLevel(run);
  await addUploads(run);
  for (let left = 3 + random.below(5); left > 0; left--) {
    for (let steps = 1 + random.below(6); steps > 0; steps--) await random.pick(actions)(run);
    await check(run, Array.from({ length: 12 }, () => randomQuestion(random, run.store)), name);
  }
  await check(run, subjectNames.map((subject) => wholeQuestion(subject)), name);
  for (const process of [run.sealer, ...writers]) await process.quit();
  for (const { spoolDir } of writers) fs.rmSync(spoolDir, { recursive: true });
  await database.drop();
}

/** @returns {Iterable<number>} */
function* seeds() {
  if (chosen !== undefined) yield Number(chosen);
  else if (minutes === 0) yield* [1, 2, Date.now() % 1_000_000];
  else {
    const end = performance.now() + minutes * 60_000;
    for (let seed = Date.now() % 1_000_000; performance.now() < end; seed++) yield seed;
  }
}

test('all functions and views answer as if they read every upload', async (t) => {
  let count = 0;
  for (const seed of seeds()) {
    await runSeed(seed);
    count++;
  }
  t.diagnostic(`${count} seeds`);
});
