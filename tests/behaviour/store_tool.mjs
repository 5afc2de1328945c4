// SPDX-License-Identifier: Apache-2.0
/**
 * Helpers that the store's tests share: a separate database for each test, the tool that drives a spool and a writer, and an
 * independent count of what SQL must have.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import readline from 'node:readline';
import { vitals as allVitals } from '../../tools/vitals.mjs';
import { buildDir, psqlProgram, repository, runOrThrow, sqlOver, temporaryDir, waitFor } from './stack.mjs';

const variant = path.resolve(buildDir) === path.join(repository, 'build') ? 'plain' : path.basename(buildDir);
export const toolsDir = process.env.FLEETPROF_TEST_TOOLS ?? path.join(repository, 'build/trees', variant, 'tests/tools');

let databases = 0;

/**
 * @typedef {object} Database
 * @property {(user?: string) => string} conninfo
 * @property {(script: string, user?: string) => Promise<string>} execute
 * @property {(text: string, user?: string) => Promise<any[]>} sql rows as objects
 * @property {() => Promise<void>} drop
 *
 * Makes a database: a copy of `template` (the migrated one), or empty.
 * @param {import('./stack.mjs').Postgres} postgres
 * @param {{ empty?: boolean }} [options]
 * @returns {Promise<Database>}
 */
export async function newDatabase(postgres, { empty = false } = {}) {
  const name = `test_${++databases}`;
  /** @param {string} statement */
  const outside = (statement) => runOrThrow([psqlProgram(), '-Xq', '-d', postgres.conninfo('postgres', 'postgres'), '-c', statement]);
  await outside(`create database ${name} template ${empty ? 'template0' : 'fleetprof'}`);
  if (!empty) {
    // Rights on a database are not part of a template's copy.
    await runOrThrow([psqlProgram(), '-Xq', '-d', postgres.conninfo('postgres', name), '-c',
      `grant create on database ${name} to fleetprof_owner`]);
  }
  const conninfo = (user = 'fleetprof_writer') => postgres.conninfo(user, name);
  /** @param {string} script */
  const execute = (script, user = 'postgres') => runOrThrow(
    [psqlProgram(), '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', conninfo(user)], { input: script });
  return {
    conninfo,
    execute,
    sql: sqlOver({ socketDir: postgres.socketDir, port: 5432, database: name }),
    drop: async () => { await outside(`drop database ${name} with (force)`); },
  };
}

/**
 * Makes the database refuse rows for their values, as it does those that it cannot store: a record with one is bad by itself.
 * @param {string} table of fleetprof_data
 * @param {string} condition on NEW
 */
export const refuseValues = (table, condition) => `
  create function public.refuse_value() returns trigger language plpgsql as $$ begin
    raise 'bad value' using errcode = 'data_exception'; end $$;
  create trigger poison before insert on fleetprof_data.${table} for each row when (${condition}) execute function public.refuse_value();`;

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
/** Stops processes that failed tests left behind; for `after`. */
export const killWriters = () => { for (const child of running) child.kill('SIGKILL'); };
process.on('exit', killWriters);

/**
 * @typedef {object} Delta a delta as describe prints it
 * @property {string} id
 * @property {string} load
 * @property {string} site
 * @property {number} samples
 * @property {number} profiled_us
 * @property {number} unattributed_us
 * @property {number} unseen_us
 * @property {[string, number, number, number][]} frames id, samples, self_us, total_us
 * @property {[string, number, number, string, string][]} timings id, count, sum_us, name, kind
 * @property {[string, number, number, number, number, number, unknown[], number, number][]} measured timing's id, samples,
 *   profiled_us, unattributed_us, rows, unattributed samples, the rows, window_us, page loads
 * @property {[string, string, string, number][]} left_out timing's id, what, source, how many
 * @property {number} part
 * @property {[string, string, number, string, string, string, string, [string, number][], string][]} vitals id, name, value_us,
 *   ids of the timings for values, good and poor ones and the element ('': none), those of the parts and their time
 *
 * @typedef {object} Writer
 * @property {string} spoolDir
 * @property {(seed: number, count: number, receivedUs?: number) => Promise<void>} append durable when it resolves
 * @property {(seed: number) => Promise<Delta>} describe
 * @property {(seed: number, count: number, receivedUs?: number, stepUs?: number) => Promise<void>} form the same, all
 *   in one record, each so long after the one before
 * @property {(seed?: number) => Promise<void>} damage appends a record that cannot be read, the seed's delta
 *   before what is broken
 * @property {(name: string) => Promise<number>} metric
 * @property {(timeoutMs?: number) => Promise<void>} flushed resolves when nothing waits in the spool
 * @property {() => string} log
 * @property {() => Promise<void>} quit
 * @property {() => Promise<void>} kill
 */

/**
 * @param {{ conninfo: string, spoolDir?: string, settings?: Record<string, number> }} options
 * @returns {Promise<Writer>}
 */
export async function startWriter({ conninfo, spoolDir = path.join(temporaryDir('spool'), 'spool'), settings = {} }) {
  const args = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const child = spawn(path.join(toolsDir, 'writer_tool'), [conninfo, spoolDir, ...args]);
  running.add(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { log += text; });
  child.stdin.on('error', () => {});
  const exited = once(child, 'exit').then(([code, signal]) => { running.delete(child); return { code, signal }; });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let turn = Promise.resolve();
  /** @param {string} command @returns {Promise<any>} */
  const send = (command) => {
    const answer = turn.then(async () => {
      child.stdin.write(`${command}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`writer_tool ended at "${command}"\n${log}`);
      return JSON.parse(value);
    });
    turn = answer.catch(() => {});
    return answer;
  };
  /** @param {string} name */
  const metric = async (name) => {
    const text = await send('metrics');
    const [, value] = new RegExp(`^fleetprof_${name} (.*)$`, 'm').exec(text) ?? assert.fail(`no metric ${name}`);
    return Number(value);
  };
  const fixed = Math.floor(Date.now() * 1000);
  return {
    spoolDir,
    append: (seed, count, receivedUs) => send(`append ${seed} ${count}${receivedUs ? ` ${receivedUs}` : ''}`),
    describe: (seed) => send(`describe ${seed} ${fixed}`),
    form: (seed, count, receivedUs = 0, stepUs = 0) => send(`form ${seed} ${count} ${receivedUs} ${stepUs}`),
    damage: (seed = 0) => send(`damage ${seed}`),
    metric,
    flushed: async (timeoutMs = 120_000) => {
      const done = async () => {
        const { position, tail } = await send('position');
        return position === tail;
      };
      await waitFor(done, { timeoutMs, what: 'flush' }).catch((error) => { throw new Error(`${error.message}\n${log}`); });
    },
    log: () => log,
    quit: async () => {
      await send('quit');
      const { code, signal } = await exited;
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, log);
    },
    kill: async () => { child.kill('SIGKILL'); await exited; },
  };
}

/**
 * Compares SQL with the deltas of these seeds, each counted once.
 * @param {Database} database
 * @param {Writer} writer any that is running, for its descriptions
 * @param {number[]} seeds
 */
export async function assertCounted(database, writer, seeds) {
  const expected = { uploads: 0, loads: 0, samples: 0, profiled_us: 0, unattributed_us: 0, unseen_us: 0 };
  /** @type {Map<string, { uploads: number, samples: number, self_us: number, total_us: number }>} */
  const frames = new Map();
  /** @type {Map<string, { uploads: number, count: number, sum_us: number }>} */
  const timings = new Map();
  /** @type {Map<string, Record<'uploads' | 'loads' | 'samples' | 'profiled_us' | 'unattributed_us' | 'window_us', number>>} */
  const measured = new Map();
  const inside = { uploads: 0, self_us: 0 };
  const loads = new Set();
  const leftOut = new Set();
  let binless = 0;
  let attributed = 0;
  for (const seed of new Set(seeds)) {
    const delta = await writer.describe(seed);
    expected.uploads++;
    if (delta.load) loads.add(`${delta.site} ${delta.load}`);
    else expected.loads++;
    expected.samples += delta.samples;
    expected.profiled_us += delta.profiled_us;
    expected.unseen_us += delta.unseen_us;
    expected.unattributed_us += delta.unattributed_us;
    for (const [id, samples, selfUs, totalUs] of delta.frames) {
      const frame = frames.get(id) ?? { uploads: 0, samples: 0, self_us: 0, total_us: 0 };
      frames.set(id, frame);
      frame.uploads++;
      frame.samples += samples;
      frame.self_us += selfUs;
      frame.total_us += totalUs;
      attributed += selfUs;
    }
    for (const [id, count, sumUs, , kind] of delta.timings) {
      if (count === 0) continue; // the element of a vital
      if (kind === 'coverage') binless += count;
      const timing = timings.get(id) ?? { uploads: 0, count: 0, sum_us: 0 };
      timings.set(id, timing);
      timing.uploads++;
      timing.count += count;
      timing.sum_us += sumUs;
    }
    for (const [id, , source, missing] of delta.left_out) {
      const timing = timings.get(id) ?? { uploads: 0, count: 0, sum_us: 0 };
      timings.set(id, timing);
      timing.uploads++;
      timing.sum_us += missing;
      const known = `${id} ${delta.load}`;
      const counts = source !== '' || delta.load === '' || !leftOut.has(known) ? 1 : 0;
      if (source === '') leftOut.add(known);
      timing.count += counts;
      binless += counts;
    }
    for (const [id, samples, profiledUs, unattributedUs, rows, , , windowUs, counted] of delta.measured) {
      const measure = measured.get(id)
        ?? { uploads: 0, loads: 0, samples: 0, profiled_us: 0, unattributed_us: 0, window_us: 0 };
      measured.set(id, measure);
      measure.uploads += profiledUs > 0 ? 1 : 0;
      measure.loads += counted;
      measure.window_us += windowUs;
      measure.samples += samples;
      measure.profiled_us += profiledUs;
      measure.unattributed_us += unattributedUs;
      inside.uploads += rows;
      inside.self_us += profiledUs - unattributedUs;
    }
  }
  expected.loads += loads.size;
  const rated = await addLastVitals(writer, seeds, timings);

  const [totals] = await database.sql(`select coalesce(sum(uploads), 0) as uploads, coalesce(sum(loads), 0) as loads,
    coalesce(sum(samples), 0) as samples, coalesce(sum(profiled_us), 0) as profiled_us,
    coalesce(sum(unattributed_us), 0) as unattributed_us, coalesce(sum(unseen_us), 0) as unseen_us
    from fleetprof_data.segment_fact`);
  assert.deepEqual(totals, expected);
  assert.deepEqual(await byId(database, `select frame_id::text as id, sum(uploads) as uploads, sum(samples) as samples,
    sum(self_us) as self_us, sum(total_us) as total_us from fleetprof_data.frame_fact group by frame_id`), sorted(frames));
  assert.deepEqual(await byId(database, `select timing_id::text as id, sum(uploads) as uploads, sum(count) as count,
    sum(sum_us) as sum_us from fleetprof_data.timing_fact group by timing_id
    having sum(count) <> 0 or sum(uploads) <> 0 or sum(sum_us) <> 0`), sorted(timings));
  await assertNothingBelowZero(database);
  assert.deepEqual(await byId(database, `select timing_id::text as id, sum(uploads) as uploads, sum(loads) as loads,
    sum(samples) as samples, sum(profiled_us) as profiled_us, sum(unattributed_us) as unattributed_us, sum(window_us) as window_us
    from fleetprof_data.measure_fact group by timing_id`), sorted(measured));
  assert.deepEqual(await database.sql(`select coalesce(sum(uploads), 0) as uploads, coalesce(sum(self_us), 0) as self_us
    from fleetprof_data.measure_frame_fact`), [inside]);

  assert.deepEqual(await database.sql(`select segment_id, first_seen, received from fleetprof_data.segment
    join (select segment_id, min(received) filter (where received >= bucket and received < bucket + interval '1 hour') as received
      from fleetprof_data.upload group by segment_id) as log using (segment_id)
    where not isfinite(first_seen) or first_seen > received`), [], 'segments know their first upload');

  const [sums] = await database.sql(`select
    (select coalesce(sum(self_us), 0) from fleetprof_data.stack_fact) as stacks,
    (select coalesce(sum(self_us), 0) from fleetprof_data.marker_fact) as markers,
    (select coalesce(sum(self_us), 0) from fleetprof_data.frame_fact) as frames,
    (select coalesce(sum(count), 0) from fleetprof_data.timing_bin_fact)
      + (select coalesce(sum(negative), 0) from fleetprof_data.timing_fact) as values,
    (select count(*) from fleetprof_data.upload_id) as ids`);
  const values = [...timings.values()].reduce((sum, timing) => sum + timing.count, 0) - rated - binless;
  assert.deepEqual(sums, { stacks: attributed, markers: attributed, frames: attributed, values, ids: expected.uploads });
  await assertNamed(database);
}

/**
 * Adds the vitals' last values to the timings: those of the greatest parts.
 * @param {Writer} writer
 * @param {number[]} seeds
 * @param {Map<string, { uploads: number, count: number, sum_us: number }>} timings
 * @returns {Promise<number>} how many of the timings have no bin: of good and poor ones, and of parts
 */
async function addLastVitals(writer, seeds, timings) {
  /** @type {Map<string, { part: number, vital: Delta['vitals'][number] }>} */
  const last = new Map();
  for (const seed of new Set(seeds)) {
    const { part, vitals } = await writer.describe(seed);
    for (const vital of vitals) if (part >= (last.get(vital[0])?.part ?? 0)) last.set(vital[0], { part, vital });
  }
  let rated = 0;
  /** @param {string} id @param {number} us */
  const add = (id, us) => {
    const timing = timings.get(id) ?? { uploads: 0, count: 0, sum_us: 0 };
    timings.set(id, { uploads: timing.uploads + 1, count: timing.count + 1, sum_us: timing.sum_us + us });
  };
  for (const { vital: [, name, us, values, good, poor, element, parts] } of last.values()) {
    const row = allVitals.find((one) => one.name === name) ?? assert.fail(name);
    add(values, us);
    if (element !== '') add(element, us);
    for (const [part, partUs] of parts) add(part, partUs);
    const rating = us <= row.good * 1000 ? good : us > row.poor * 1000 ? poor : '';
    if (rating !== '') add(rating, 0);
    rated += parts.length + (rating === '' ? 0 : 1);
  }
  return rated;
}

/** No segment has less than nothing in an hour. @param {Database} database */
async function assertNothingBelowZero(database) {
  assert.deepEqual(await database.sql(`select segment_id, bucket, timing_id from fleetprof_data.timing_fact
    group by segment_id, bucket, timing_id having sum(count) < 0 or sum(uploads) < 0
    union all
    select segment_id, bucket, timing_id from fleetprof_data.timing_bin_fact
    group by segment_id, bucket, timing_id, bin having sum(count) < 0`), []);
}

/** Every fact's id has its dictionary row, and every stack its ancestors. @param {Database} database */
async function assertNamed(database) {
  const [missing] = await database.sql(`select
    (select count(*) from fleetprof_data.frame_fact f where not exists
      (select from fleetprof_data.frame d where d.frame_id = f.frame_id)) as frames,
    (select count(*) from fleetprof_data.stack_fact f where not exists
      (select from fleetprof_data.stack d where d.stack_id = f.stack_id)) as stacks,
    (select count(*) from fleetprof_data.stack s where s.parent_id is not null and not exists
      (select from fleetprof_data.stack p where p.stack_id = s.parent_id and p.level = s.level - 1)) as parents,
    (select count(*) from fleetprof_data.frame f where f.resource_id is not null and not exists
      (select from fleetprof_data.resource r where r.resource_id = f.resource_id)) as resources,
    (select count(*) from fleetprof_data.timing_fact f where not exists
      (select from fleetprof_data.timing d where d.timing_id = f.timing_id)) as timings,
    (select count(*) from fleetprof_data.segment_fact f where not exists
      (select from fleetprof_data.segment d where d.segment_id = f.segment_id)) as segments`);
  assert.deepEqual(missing, { frames: 0, stacks: 0, parents: 0, resources: 0, timings: 0, segments: 0 });
}

/** @param {Database} database @param {string} query */
async function byId(database, query) {
  return sorted(new Map((await database.sql(query)).map(({ id, ...row }) => [id, row])));
}

/** @template T @param {Map<string, T>} map */
function sorted(map) {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** @param {number} first @param {number} count */
export function range(first, count) {
  return Array.from({ length: count }, (_, i) => first + i);
}
