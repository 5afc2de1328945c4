/**
 * Sealing with a real PostgreSQL: whatever happens, each fact is in SQL once, at every span.
 */
import assert from 'node:assert/strict';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { migrate, startPostgres, temporaryDir, waitFor } from './stack.mjs';
import { dayUs, hourUs, killSealers, random, startFlushes, startSealTool } from './seal_tool.mjs';
import { newDatabase } from './store_tool.mjs';

/** A block of eight days begins here. */
const startUs = Math.floor(Date.UTC(2026, 0, 20) * 1000 / (8 * dayUs)) * 8 * dayUs;
const delayUs = 120_000_000;

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  postgres = await startPostgres({ settings: { timezone: 'America/New_York' } });
  await migrate(postgres);
});
after(async () => {
  killSealers();
  await postgres.stop();
});

/** @param {import('./store_tool.mjs').Database} database */
async function assertNoDifference(database) {
  const [{ differences }] = await database.sql('select public.differences()');
  assert.equal(differences, '');
}

/** @param {import('./store_tool.mjs').Database} database */
const tiles = (database) => database.sql(`select site, span, ((extract(epoch from bucket) * 1000000 - ${startUs}) / ${hourUs})::int as hour
  from fleetprof_data.sealed order by site, bucket`);

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

/**
 * A proxy to PostgreSQL that ends the connection at the n-th message of the client.
 * @param {(message: number) => boolean} cut
 */
async function startProxy(cut) {
  const dir = temporaryDir('proxy');
  let messages = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(path.join(postgres.socketDir, '.s.PGSQL.5432'));
    client.on('data', (bytes) => {
      if (cut(++messages)) client.destroy();
      else upstream.write(bytes);
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
    // Units that fail are left out for a minute.
    const answer = await sealer.all(startUs + dayUs + delayUs + ++tries * 61_000_000);
    if (!answer.error) break;
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
  assert.equal((await one.step(startUs + 3 * hourUs)).did, 'hour');
  const busy = await other.step(startUs + 3 * hourUs);
  assert.deepEqual([busy.did, busy.waiting > 0], ['busy', true]);
  assert.equal((await other.house()).busy, true);
  await one.all(startUs + 3 * hourUs);
  assert.equal((await other.step(startUs + 3 * hourUs)).did, 'nothing');
  assert.equal((await other.house()).busy, false);
  await one.quit();
  await other.quit();
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
  assert.equal((await sealer.all(now + 122_000_000)).hours, 1);
  await assertNoDifference(database);
  await sealer.quit();
});

test('levels: one for later hours is left out, a wrong one is an error', async () => {
  const database = await newDatabase(postgres);
  const flushes = await startFlushes(database, { seed: 10 });
  const sealer = startSealTool(database.conninfo());
  await flushes.flush('one', [startUs, startUs + hourUs]);
  await database.execute(`insert into fleetprof_data.cohort_level values (7, '{device,site,route}', to_timestamp(${(startUs + hourUs) / 1e6}))`);
  await sealer.all(startUs + 3 * hourUs);
  const levels = await database.sql(`select c.level, count(distinct r.bucket) as hours from fleetprof_data.total_hours r
    join fleetprof_data.cohort c using (group_id) group by 1 order by 1`);
  assert.deepEqual(levels, [{ level: 1, hours: 2 }, { level: 2, hours: 2 }, { level: 7, hours: 1 }]);
  assert.deepEqual(await database.sql('select distinct site, route, release, device, browser from fleetprof_data.cohort where level = 7 order by route'),
    [1, 2, 3].map((n) => ({ site: 'one', route: `/r${n}`, release: null, device: 'desktop', browser: null })));
  await flushes.flush('one', [startUs + 2 * hourUs]);
  for (const [i, dimensions] of ['{route}', '{site,browzer}'].entries()) {
    await database.execute(`update fleetprof_data.cohort_level set dimensions = '${dimensions}' where level = 7`);
    assert.match((await sealer.all(startUs + (10 + i) * hourUs)).error, /cohort_level: level 7 lacks site, or names a dimension/);
  }
  await sealer.quit();
});
