// SPDX-License-Identifier: Apache-2.0
/**
 * Sealing with a real PostgreSQL: whatever happens, each fact is in SQL once, at every span.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { failingMemory, failOneIn } from './failing_memory.mjs';
import { startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';
import {
  assertNoDifference, dayUs, delayUs, hold, holdSite, hourUs, killSealers, random, startFlushes, startSealTool, startUs, tiles, waits,
} from './seal_tool.mjs';
import { newDatabase } from './store_tool.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  // Autovacuum also commits, which would count as statements of an idle collector.
  postgres = await startPostgres({ migrated: true, settings: { timezone: 'America/New_York', autovacuum: 'off' } });
});
after(async () => {
  killSealers();
  await postgres.stop();
});

test('an hour is sealed two minutes after its end, then its blocks, and no sum changes', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 1 });
  const sealer = startSealTool(database.conninfo());
  for (const hour of [0, 1, 5, 30]) {
    for (let i = 0; i < 3; i++) await flushes.flush('one', [startUs + hour * hourUs]);
  }
  await flushes.flush('two', [startUs, startUs + hourUs], { segments: [4, 5, 6, 7] });
  await assertNoDifference(database);

  const early = await sealer.step(startUs + hourUs + delayUs - 1_000_000);
  assert.equal(early.did, 'nothing');
  assert.equal(early.next_us, startUs + hourUs + delayUs);
  const first = await sealer.step(startUs + hourUs + delayUs);
  assert.deepEqual([first.did, first.bucket_us, first.span], ['hour', startUs, 0]);
  await assertNoDifference(database);
  assert.deepEqual(await tiles(database), [{ site: 'one', span: 0, hour: 0 }]);

  /** @type {number[]} */
  const spans = [];
  for (;;) {
    const step = await sealer.step(startUs + 8 * dayUs + delayUs);
    if (step.did === 'nothing') {
      assert.deepEqual([step.next_us, step.waiting], [-1, 0]);
      break;
    }
    spans.push(step.span);
    await assertNoDifference(database);
  }
  assert.deepEqual(await tiles(database), [{ site: 'one', span: 3, hour: 0 }, { site: 'two', span: 3, hour: 0 }]);
  // Hours, then 4 hours, days, 8 days.
  assert.deepEqual(spans, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3, 3]);
  await sealer.quit();
});

test('late data is added to every block that exists', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 2 });
  const sealer = startSealTool(database.conninfo());
  const hours = [0, 3, 4, 23, 24, 7 * 24, 8 * 24].map((hour) => startUs + hour * hourUs);
  await flushes.flush('one', hours);
  // At each of these times other blocks exist: hours, 4 hours, days, 8 days.
  for (const now of [hours[1] + hourUs, hours[2] + hourUs, hours[3] + hourUs, hours[4] + 9 * hourUs, hours[6] + hourUs]) {
    await sealer.all(now + delayUs);
    await flushes.flush('one', hours.filter((hour) => hour < now), { segments: [2, 3, 8] });
    // An hour in which the site had nothing.
    await flushes.flush('one', [startUs + 2 * hourUs, startUs + 30 * hourUs]);
    await assertNoDifference(database);
    await sealer.all(now + delayUs);
    await assertNoDifference(database);
  }
  assert.deepEqual((await tiles(database)).map(({ span, hour }) => [span, hour]), [[3, 0], [0, 8 * 24]]);
  await sealer.quit();
});

test('where hours were dropped, late data makes days', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 3 });
  const sealer = startSealTool(database.conninfo());
  await database.execute(`update fleetprof_data.horizon set hours_from = to_timestamp(${(startUs + 8 * dayUs) / 1e6})`);
  await flushes.flush('one', [startUs, startUs + 5 * hourUs, startUs + 30 * hourUs]);
  assert.equal((await sealer.step(startUs + 9 * dayUs)).did, 'hour');
  assert.deepEqual(await tiles(database), [{ site: 'one', span: 2, hour: 0 }]);
  await sealer.all(startUs + 9 * dayUs);
  assert.deepEqual(await tiles(database), [{ site: 'one', span: 3, hour: 0 }]);
  await flushes.flush('one', [startUs, startUs + 40 * hourUs]);
  await sealer.all(startUs + 9 * dayUs);
  await assertNoDifference(database);
  const [{ rows }] = await database.sql('select count(*) as rows from fleetprof_data.total_hours');
  assert.equal(rows, 0);
  await sealer.quit();
});

test('an open hour is sealed when it is full, in steps of whole flushes', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 4 });
  const sealer = startSealTool(database.conninfo());
  await flushes.flush('one', [startUs]);
  assert.equal((await sealer.step(startUs + hourUs)).did, 'nothing');
  // Each flush counts as 512 entries, beside its own: 976 of them are full.
  const [{ entries }] = await database.sql('select entries from fleetprof_data.unsealed');
  await database.execute(`insert into fleetprof_data.unsealed select site, bucket, spool_id, position + n, 0 from fleetprof_data.unsealed, generate_series(1, ${Math.floor((500_000 - 512 - entries) / 512)}) n`);
  assert.equal((await sealer.step(startUs + hourUs)).did, 'nothing');
  await flushes.flush('one', [startUs + hourUs]);
  await database.execute(`insert into fleetprof_data.unsealed select site, bucket, '00000000-0000-4000-8000-000000000099', n, 0 from fleetprof_data.unsealed, generate_series(1, 2) n where entries = ${entries} limit 2`);
  const step = await sealer.step(startUs + hourUs);
  assert.deepEqual([step.did, step.bucket_us], ['hour', startUs]);
  assert.equal(step.read, entries);
  const after_ = await sealer.step(startUs + hourUs);
  assert.equal(after_.did, 'nothing');
  await sealer.all(startUs + 2 * hourUs);
  await sealer.quit();
});

/** The types of messages behind which the client waits for an answer: a query, the end of a batch or of a COPY, a goodbye. */
const answered = new Set([...'QScfX'].map((type) => type.charCodeAt(0)));

/**
 * Splits what a client of PostgreSQL sends behind each message that waits for an answer.
 * @param {Buffer} bytes
 * @param {boolean} isFirst the startup message has no type
 * @returns {{ pieces: Buffer[], rest: Buffer }}
 */
function splitMessages(bytes, isFirst) {
  const pieces = [];
  let begin = 0;
  let at = 0;
  for (;;) {
    const head = isFirst && at === 0 ? 0 : 1;
    if (bytes.length < at + head + 4) break;
    const next = at + head + bytes.readUInt32BE(at + head);
    if (bytes.length < next) break;
    if (head === 0 || answered.has(bytes[at])) {
      pieces.push(bytes.subarray(begin, next));
      begin = next;
    }
    at = next;
  }
  return { pieces, rest: bytes.subarray(begin) };
}

/**
 * A proxy to PostgreSQL that ends the connection at the n-th message of the client that waits for an answer.
 * @param {(message: number) => boolean} cut
 */
async function startProxy(cut) {
  const dir = temporaryDir('proxy');
  let messages = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(path.join(postgres.socketDir, '.s.PGSQL.5432'));
    /** @type {Buffer} */
    let rest = Buffer.alloc(0);
    let isFirst = true;
    client.on('data', (bytes) => {
      const split = splitMessages(Buffer.concat([rest, bytes]), isFirst);
      for (const piece of split.pieces) {
        isFirst = false;
        if (cut(++messages)) return client.destroy();
        upstream.write(piece);
      }
      rest = split.rest;
      return undefined;
    });
    upstream.on('data', (bytes) => client.write(bytes));
    for (const [one, other] of [[client, upstream], [upstream, client]]) {
      one.on('error', () => {});
      one.on('close', () => other.destroy());
    }
  });
  await new Promise((resolve) => { server.listen(path.join(dir, '.s.PGSQL.5432'), () => resolve(undefined)); });
  return { dir, messages: () => messages, close: () => server.close() };
}

test('a connection cut at any message: the next try continues, and no sum changes', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 5 });
  let at = 1;
  let cuts = 0;
  let since = 0;
  const proxy = await startProxy(() => {
    if (++since < at) return false;
    at++;
    cuts++;
    since = 0;
    return true;
  });
  const sealer = startSealTool(database.conninfo().replace(/host=\S+/, `host=${proxy.dir}`));
  const hours = [0, 1, 4].map((hour) => startUs + hour * hourUs);
  await flushes.flush('one', hours);
  await flushes.flush('one', hours, { segments: [3, 4, 5] });
  let tries = 0;
  let before_ = -1;
  for (;;) {
    since = 0;
    // Units that fail are left out, for an hour at most.
    const answer = await sealer.all(startUs + dayUs + delayUs + ++tries * 3_601_000_000);
    if (!answer.error && !answer.busy) break;
    if (answer.busy) await delay(10); // the backend of a cut connection has not ended yet
    const [{ n }] = await database.sql('select count(*) as n from fleetprof_data.sealed');
    // Checking takes long; it is enough when something moved, and now and then.
    if (n !== before_ || tries % 10 === 0) await assertNoDifference(database);
    before_ = n;
    assert.ok(tries < 1000);
  }
  assert.ok(cuts > 60, `${cuts} cuts`);
  await assertNoDifference(database);
  await sealer.quit();
  proxy.close();
});

test('whichever allocation fails: the next try continues, and no sum changes', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 21 });
  const dir = temporaryDir('memory');
  const control = path.join(dir, 'one-in');
  failOneIn(control, 0);
  const sealer = startSealTool(database.conninfo(), {}, { ...await failingMemory(dir), FLEETPROF_FAIL_ONE_IN: control });
  const hours = [0, 1, 4].map((hour) => startUs + hour * hourUs);
  let tries = 0;
  let failures = 0;
  for (const each of [1000, 300]) {
    await flushes.flush('one', hours);
    await flushes.flush('two', hours, { segments: [3, 4, 5] });
    failOneIn(control, each);
    for (let left = 25; left > 0; left--) {
      // Units that fail are left out, for an hour at most.
      const answer = await sealer.all(startUs + dayUs + delayUs + ++tries * 3_601_000_000);
      if (!answer.error) break;
      failures++;
    }
    await assertNoDifference(database);
  }
  failOneIn(control, 0);
  const { waiting } = await sealer.all(startUs + 2 * dayUs + delayUs + tries * 3_601_000_000);
  assert.equal(waiting, 0);
  await assertNoDifference(database);
  assert.ok(failures > 10, `${failures} failures`);
  await sealer.quit();
});

test('killed sealers and backends, several sealers, late data, and readers all the time', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 6 });
  const draw = random(Number(process.env.FLEETPROF_SEED ?? 6));
  const now = startUs + 8 * dayUs + delayUs;
  const hours = [0, 1, 2, 3, 5, 27, 50].map((hour) => startUs + hour * hourUs);
  await flushes.flush('one', hours);
  await flushes.flush('two', hours.slice(2), { segments: [1, 2, 3, 4, 5] });
  let over = false;
  let looks = 0;
  const reader = (async () => {
    while (!over) {
      const [row] = await database.sql(`select s.*, l.uploads from public.uploads_seen() s,
        (select sum(u)::bigint as uploads from (select unnest(uploads) u from public.total_log) e) l`);
      assert.equal(row.by_segment, row.uploads);
      assert.equal(row.by_cohort, row.uploads);
      looks++;
    }
  })();
  let kills = 0;
  const killer = (async () => {
    while (!over) {
      await waitFor(() => draw(3) === 0, { intervalMs: draw(40) });
      const rows = await database.sql(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and usename = 'fleetprof_writer' limit 1`);
      kills += rows.length;
    }
  })();
  const watchers = Promise.all([reader, killer]);
  watchers.catch(() => {}); // awaited below
  for (let round = 0; round < 12; round++) {
    const sealers = [0, 1].map(() => startSealTool(database.conninfo()));
    const work = Promise.allSettled(sealers.map(async (sealer) => {
      for (let i = 0; i < 4; i++) await sealer.all(now + (round * 10 + i) * 61_000_000);
    }));
    await flushes.flush('one', [hours[0], ...hours.slice(1).filter(() => draw(3) === 0)], { segments: [1 + draw(6)] });
    await sealers[0].kill();
    await work;
    await sealers[1].quit();
  }
  over = true;
  await watchers;
  const sealer = startSealTool(database.conninfo());
  await sealer.all(now + dayUs);
  await assertNoDifference(database);
  assert.deepEqual((await tiles(database)).map(({ span }) => span), [3, 3]);
  assert.ok(kills > 0 && looks > 10, `${kills} kills, ${looks} looks`);
  await sealer.quit();
});

test('PostgreSQL crashes in the middle of a seal', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 7 });
  await flushes.flush('one', [startUs, startUs + hourUs]);
  const sealer = startSealTool(database.conninfo());
  // The seal waits for this lock, with its first rows written.
  const gate = database.execute(`begin; lock table fleetprof_data.measure_hours; select pg_advisory_lock(1); select pg_sleep(60)`).catch(() => {});
  await waitFor(async () => (await database.sql("select from pg_locks where locktype = 'advisory' and objid = 1")).length > 0);
  const step = sealer.step(startUs + 3 * hourUs);
  await waitFor(async () => (await database.sql(`select from pg_stat_activity
    where datname = current_database() and usename = 'fleetprof_writer' and wait_event_type = 'Lock'`)).length > 0);
  await postgres.stop('SIGQUIT');
  assert.match((await step).error, /./);
  await gate;
  await postgres.start();
  await assertNoDifference(database);
  assert.equal((await sealer.all(startUs + 3 * hourUs)).hours, 2);
  await assertNoDifference(database);
  await sealer.quit();
});

test('two sealers at once: one works, the other says so', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 8 });
  await flushes.flush('one', [startUs, startUs + hourUs]);
  const [one, other] = [startSealTool(database.conninfo()), startSealTool(database.conninfo())];
  const release = await holdSite(database, 'one');
  const step = one.step(startUs + 3 * hourUs);
  await waitFor(() => waits(database, '^delete from fleetprof_data.unsealed'));
  const busy = await other.step(startUs + 3 * hourUs);
  assert.deepEqual([busy.did, busy.waiting > 0], ['busy', true]);
  assert.equal((await other.house()).busy, true);
  await release();
  assert.equal((await step).did, 'hour');
  assert.equal((await other.step(startUs + 3 * hourUs)).did, 'hour');
  await one.all(startUs + 3 * hourUs);
  assert.equal((await other.step(startUs + 3 * hourUs)).did, 'nothing');
  assert.equal((await other.house()).busy, false);
  await one.quit();
  await other.quit();
});

test('a block is begun again when another collector had its turn in between', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 9 });
  await flushes.flush('one', [startUs, startUs + hourUs]);
  const one = startSealTool(database.conninfo());
  for (let i = 0; i < 2; i++) assert.equal((await one.step(startUs + 5 * hourUs)).did, 'hour');
  const release = hold(database, 'begin; lock table fleetprof_data.total_hours in share mode');
  await waitFor(async () => (await database.sql("select from pg_locks where mode = 'ShareLock' and relation = 'fleetprof_data.total_hours'::regclass")).length > 0);
  const step = one.step(startUs + 5 * hourUs);
  await waitFor(() => waits(database, 'total_hours'));
  const turn = database.execute(`begin; select pg_advisory_xact_lock(hashtext('fleetprof.sealing'));
    update fleetprof_data.turn set taken_by = gen_random_uuid(); commit`);
  await waitFor(() => waits(database, 'pg_advisory_xact_lock'));
  await release();
  await turn;
  assert.equal((await step).did, 'busy');
  assert.deepEqual((await tiles(database)).map(({ span }) => span), [0, 0]);
  assert.equal((await one.step(startUs + 5 * hourUs)).did, 'block');
  await assertNoDifference(database);
  await one.quit();
});

test('a large dictionary is pruned in short transactions', async () => {
  const database = await newDatabase(postgres);
  await database.execute("insert into fleetprof_data.stack select n, null, n, 1, '2020-01-01' from generate_series(1, 12000) n");
  const release = hold(database, 'begin; select from fleetprof_data.stack where stack_id = 12000 for update');
  await waitFor(async () => (await database.sql("select from pg_locks where mode = 'RowShareLock' and relation = 'fleetprof_data.stack'::regclass")).length > 0);
  const sealer = startSealTool(database.conninfo());
  const kept = sealer.house();
  // Batches have 5,000 rows each; the last one waits.
  await waitFor(async () => (await database.sql('select count(*) as stacks from fleetprof_data.stack'))[0].stacks === 2000);
  await release();
  assert.equal((await kept).pruned, 12_000);
  await sealer.quit();
});

/**
 * Stores a kept session and a row of the upload log, each so many days old.
 * @param {import('./store_tool.mjs').Database} database @param {{ session: number, upload: number }} days
 */
async function keepOne(database, { session, upload }) {
  const bucket = (/** @type {number} */ days) => `date_trunc('hour', now() - interval '${days} days', 'UTC')`;
  await database.execute(`
    select fleetprof_data.make_partitions(array[(now() at time zone 'UTC')::date - ${session}, (now() at time zone 'UTC')::date - ${upload}]);
    insert into fleetprof_data.segment
    select n, 'demo', '/', '', '', '', '', '', '', '', 0, (now() at time zone 'UTC')::date - case n when 1 then ${session} else ${upload} end
    from generate_series(1, 2) n;
    insert into fleetprof_data.session (segment_id, bucket, session_id, upload_id, part, received, format, version, page_url, is_raw, content_bytes, content)
    values (1, ${bucket(session)}, 5, gen_random_uuid(), 0, now(), 'speed-tracer', '', '', false, 0, '');
    insert into fleetprof_data.event values (1, ${bucket(session)}, 5, 1, 1, null, null, 'PAINT', 3, 0, 1, 1, 0, 1, 0, 1, 0);
    insert into fleetprof_data.upload
    values (${bucket(upload)}, gen_random_uuid(), now(), 2, null, 0, 'self-profile', '', false, 0, '', 0, 1, 0, 1, 0, 0, 0);`);
}

test('a segment stays as long as kept sessions and the upload log need it', async () => {
  const database = await newDatabase(postgres);
  await keepOne(database, { session: 13, upload: 13 });
  const named = () => database.sql(`select
    (select count(*) from fleetprof.sessions where site = 'demo') as sessions, (select count(*) from fleetprof.upload_log) as uploads,
    (select count(*) from fleetprof_data.segment) as segments`);
  const house = async (/** @type {Record<string, number>} */ settings) => {
    const sealer = startSealTool(database.conninfo(), { facts_us: 2 * dayUs, hours_us: dayUs, ...settings });
    await sealer.house();
    await sealer.quit();
  };
  await house({ log_us: 2 * dayUs, sessions_us: 30 * dayUs });
  assert.deepEqual(await named(), [{ sessions: 1, uploads: 0, segments: 2 }]);
  await house({ log_us: 2 * dayUs, sessions_us: 2 * dayUs });
  assert.deepEqual(await named(), [{ sessions: 0, uploads: 0, segments: 0 }]);

  await keepOne(database, { session: 13, upload: 13 });
  await house({ log_us: 14 * dayUs, sessions_us: 2 * dayUs });
  assert.deepEqual(await named(), [{ sessions: 0, uploads: 1, segments: 2 }]);
});

test('rows that contradict the queue are not sealed, and hold up nobody else', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 9 });
  await flushes.flush('bad', [startUs]);
  await flushes.flush('good', [startUs]);
  await database.execute(`update fleetprof_data.unsealed set entries = entries + 1 where site = 'bad'`);
  const sealer = startSealTool(database.conninfo());
  const now = startUs + 3 * hourUs;
  assert.match((await sealer.all(now)).error, /flushes left \d+ entries of a site and hour where they noted \d+/);
  assert.equal((await sealer.all(now)).hours, 1);
  assert.deepEqual(await tiles(database), [{ site: 'good', span: 0, hour: 0 }]);
  await assertNoDifference(database);
  // Tried again later, and repaired meanwhile.
  assert.match((await sealer.all(now + 61_000_000)).error, /noted/);
  await database.execute(`update fleetprof_data.unsealed set entries = entries - 1 where site = 'bad'`);
  // Left out for longer after the second failure.
  assert.equal((await sealer.all(now + 122_000_000)).hours, 0);
  assert.equal((await sealer.all(now + 182_000_000)).hours, 1);
  await assertNoDifference(database);
  await sealer.quit();
});

test('many hours that cannot be sealed hold up nobody else', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 17 });
  await flushes.flush('bad', [startUs]);
  await database.execute(`update fleetprof_data.unsealed set entries = entries + 1;
    insert into fleetprof_data.unsealed select site, bucket + interval '1 hour' * n, spool_id, position, 1
    from fleetprof_data.unsealed, generate_series(1, 100) n`);
  await flushes.flush('good', [startUs + 200 * hourUs]);
  const collector = await startCollector({ config: { database: database.conninfo() } });
  await waitFor(async () => (await tiles(database)).length > 0, { timeoutMs: 120_000 });
  assert.deepEqual((await tiles(database)).map(({ site }) => site), ['good']);
  assert.ok((await collector.metrics()).fleetprof_seal_errors_total > 100);
  await collector.stop();
});

/** @param {import('./store_tool.mjs').Database} database */
const partitions = async (database) => (await database.sql(`select relname from pg_class
  where relkind = 'r' and relname ~ '^total_(hours|days)_' order by 1`)).map(({ relname }) => relname.slice('total_'.length));

/** @param {number} daysAgo */
function dayName(daysAgo, length = 1) {
  const day = Math.floor((Date.now() / 86_400_000 - daysAgo) / length) * length;
  return new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
}

/** As the housekeeping of an empty database does. @param {{ sql: (statement: string) => Promise<unknown> }} database */
const trustClock = (database) => database.sql('select fleetprof_data.trust_clock(now())');

test('hours are dropped when every site has built the day and nothing of it waits', async () => {
  const database = await newDatabase(postgres);
  await trustClock(database);
  const flushes = await startFlushes(database, { seed: 11 });
  const todayUs = Math.floor(Date.now() / 86_400_000) * dayUs;
  const nowUs = Date.now() * 1000;
  const sealer = startSealTool(database.conninfo(), { hours_us: 20 * dayUs });
  await flushes.flush('one', [todayUs - 22 * dayUs, todayUs - 21 * dayUs]);
  await flushes.flush('two', [todayUs - 21 * dayUs + 2 * hourUs], { segments: [4] });
  const hours = async () => (await partitions(database)).filter((name) => name.startsWith('hours')).slice(0, 2);
  const both = [`hours_${dayName(22)}`, `hours_${dayName(21)}`];
  const horizon = async () => (await database.sql(`select hours_from = '-infinity' as none,
    case when isfinite(hours_from) then (extract(epoch from now() - hours_from) / 86400)::float8 end as days from fleetprof_data.horizon`))[0];

  // Nothing is sealed.
  await sealer.house();
  await sealer.house();
  assert.deepEqual(await hours(), both);
  assert.equal(Math.floor((await horizon()).days), 22);
  // The day is sealed by the hour only.
  await sealer.step(nowUs);
  await sealer.step(nowUs);
  await sealer.house();
  await sealer.house();
  assert.deepEqual(await hours(), both);
  await sealer.all(nowUs);
  // The horizon moves; the partitions stay until the next time, for who still reads by the old one.
  await sealer.house();
  assert.equal(Math.floor((await horizon()).days), 20);
  assert.deepEqual(await hours(), both);
  await assertNoDifference(database);
  assert.equal((await sealer.house()).dropped, 16);
  assert.deepEqual((await hours()).slice(0, 1), [`hours_${dayName(0)}`]);
  await assertNoDifference(database);
  // Late data: only days are there.
  await flushes.flush('one', [todayUs - 21 * dayUs + 3 * hourUs, todayUs - 30 * dayUs]);
  await flushes.flush('three', [todayUs - 21 * dayUs], { segments: [1] });
  await sealer.all(nowUs);
  await assertNoDifference(database);
  assert.ok((await tiles(database)).every(({ span }) => span >= 2));
  await sealer.quit();
});

test('what is past retention.facts goes, sealed or not', async () => {
  const database = await newDatabase(postgres);
  await trustClock(database);
  const flushes = await startFlushes(database, { seed: 12 });
  const todayUs = Math.floor(Date.now() / 86_400_000) * dayUs;
  const old = [todayUs - 70 * dayUs, todayUs - 52 * dayUs];
  let sealer = startSealTool(database.conninfo());
  await flushes.flush('one', old);
  await sealer.all(Date.now() * 1000);
  await flushes.flush('one', old);
  await flushes.flush('two', [...old, todayUs - 5 * dayUs]);
  await sealer.step(Date.now() * 1000);
  await sealer.quit();
  sealer = startSealTool(database.conninfo(), { facts_us: 40 * dayUs, hours_us: 60 * dayUs });
  await sealer.house();
  await sealer.house();
  const kept = await partitions(database);
  assert.ok(!kept.includes(`hours_${dayName(52)}`) && !kept.includes(`days_${dayName(52, 8)}`), kept.join());
  assert.ok(kept.includes(`hours_${dayName(5)}`) && kept.includes(`days_${dayName(5, 8)}`), kept.join());
  assert.deepEqual(await database.sql('select site from fleetprof_data.unsealed'), [{ site: 'two' }]);
  assert.deepEqual(await database.sql("select count(*) from fleetprof_data.frame_recent where bucket < now() - interval '40 days'"), [{ count: 0 }]);
  assert.deepEqual(await tiles(database), []);
  const [{ oldest }] = await database.sql('select extract(epoch from now() - hours_from) / 86400 < 42 as oldest from fleetprof_data.horizon');
  assert.equal(oldest, true);
  assert.equal((await sealer.all(Date.now() * 1000)).hours, 1);
  await sealer.quit();
});

test('levels: one for later hours is left out, a wrong one is an error', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 10 });
  const sealer = startSealTool(database.conninfo());
  await flushes.flush('one', [startUs, startUs + hourUs]);
  await assert.rejects(database.execute(`insert into fleetprof_data.cohort_level (level, dimensions) values (7, '{site}')`), /"since"/);
  await database.execute(`insert into fleetprof_data.cohort_level values (7, '{device,site,route}', to_timestamp(${(startUs + hourUs) / 1e6}), '-infinity')`);
  // Its sums would lack the rows that were sealed before.
  await database.execute("insert into fleetprof_data.cohort_level values (8, '{site,device}', '-infinity')");
  await sealer.all(startUs + 3 * hourUs);
  const levels = await database.sql(`select c.level, count(distinct r.bucket) as hours from fleetprof_data.total_hours r
    join fleetprof_data.cohort c using (group_id) group by 1 order by 1`);
  assert.deepEqual(levels, [{ level: 1, hours: 2 }, { level: 2, hours: 2 }, { level: 7, hours: 1 }]);
  assert.deepEqual(await database.sql('select distinct site, route, release, device, browser from fleetprof_data.cohort where level = 7 order by route'),
    [1, 2, 3].map((n) => ({ site: 'one', route: `/r${n}`, release: null, device: 'desktop', browser: null })));
  await flushes.flush('one', [startUs + 2 * hourUs]);
  for (const [i, dimensions] of ['{route}', '{site,browzer}'].entries()) {
    const spoil = () => database.execute(`update fleetprof_data.cohort_level set dimensions = '${dimensions}' where level = 7`);
    await assert.rejects(spoil, /cohort_level_dimensions_check/);
    await database.execute('alter table fleetprof_data.cohort_level drop constraint cohort_level_dimensions_check');
    await spoil();
    assert.match((await sealer.all(startUs + (10 + i) * hourUs)).error, /cohort_level: level 7 lacks site, or names a dimension/);
    await database.execute(`update fleetprof_data.cohort_level set dimensions = '{site}' where level = 7;
      alter table fleetprof_data.cohort_level add check (dimensions @> '{site}'
        and dimensions <@ '{site,route,release,environment,variant,browser,os,device,thread}')`);
  }
  await sealer.quit();
});

test('memory is bounded, however much a flush and its hour hold', async () => {
  const database = await newDatabase(postgres);
  await startFlushes(database, { seed: 13 });
  const sealer = startSealTool(database.conninfo());
  await sealer.step(0);
  const idle = await sealer.peakKiB();
  // 300 segments with 3,000 frames each, of 20,000: 50 MB of entries, and as much again in the hour already.
  await database.execute(`
    insert into fleetprof_data.segment select n, 'one', '/' || n % 50, 'v' || n % 3, '', '', '', '', '', '', 0, current_date from generate_series(1, 300) n;
    select fleetprof_data.make_partitions(array['${new Date(startUs / 1000).toISOString()}'::date])`);
  for (const position of [1, 2]) {
    await database.execute(`
      insert into fleetprof_data.frame_recent
      select s, '${new Date(startUs / 1000).toISOString()}', '00000000-0000-4000-8000-000000000001', ${position},
        array_agg(id order by id), array_agg(1), array_agg(1), array_agg(id), array_agg(id), array_agg(id), array_agg(1::real), array_agg(1::real), array_agg(1::real), array_agg(1::real)
      from generate_series(1, 300) s, lateral (select (s * 7 + n * 6) % 20000 as id from generate_series(1, 3000) n) e group by s;
      insert into fleetprof_data.unsealed values ('one', '${new Date(startUs / 1000).toISOString()}', '00000000-0000-4000-8000-000000000001', ${position}, 900000)`);
    const step = await sealer.step(startUs + 2 * hourUs);
    assert.equal(step.did, 'hour', step.error);
  }
  assert.equal((await sealer.all(startUs + 9 * dayUs)).blocks, 3);
  const [{ sums }] = await database.sql(`select array_agg(distinct s) as sums from (
    select span, sum(u) as s from (select span, group_id, unnest(samples) u from (table fleetprof_data.frame_hours union all table fleetprof_data.frame_days) r) e
    left join fleetprof_data.cohort c using (group_id) group by span, coalesce(c.level, 0)) x`);
  assert.equal(sums.length, 1);
  const grown = await sealer.peakKiB() - idle;
  assert.ok(grown < 24 * 1024, `${grown} KiB`);
  await sealer.quit();
});

test('a collector seals what others left, and then is quiet: one connection, no statement', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 14 });
  await flushes.flush('demo', [startUs, startUs + 5 * hourUs]);
  const [{ name }] = await database.sql('select current_database() as name');
  const collector = await startCollector({ config: { database: database.conninfo() } });
  await waitFor(async () => (await tiles(database)).some(({ span }) => span === 3), { what: 'eight days' });
  await assertNoDifference(database);
  const metrics = await collector.metrics();
  assert.equal(metrics.fleetprof_seals_total, 2);
  assert.equal(metrics.fleetprof_sealed_blocks_total, 4);
  assert.equal(metrics.fleetprof_seal_errors_total, 0);
  assert.ok(metrics.fleetprof_last_housekeeping_timestamp_seconds > 0);

  const backends = () => postgres.sql(`select pid, query_start, state_change from pg_stat_activity where datname = '${name}' order by pid`, 'postgres');
  await waitFor(async () => (await backends()).length === 1, { what: 'a closed connection', timeoutMs: 90_000, intervalMs: 500 });
  const commits = async () => (await postgres.sql(`select xact_commit + xact_rollback as n from pg_stat_database where datname = '${name}'`, 'postgres'))[0].n;
  // Statistics arrive late: wait until they rest, which a statement per second would prevent.
  let last = -1;
  await waitFor(async () => { const now = await commits(); const rests = now === last; last = now; return rests; }, { intervalMs: 5_000 });
  assert.equal((await backends()).length, 1);
  await collector.stop();
});
