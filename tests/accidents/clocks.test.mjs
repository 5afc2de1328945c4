// SPDX-License-Identifier: Apache-2.0
/**
 * Wrong clocks: nothing that is stored is destroyed for them, and each acknowledged upload counts in an hour that is kept.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { startFaultySystem } from '../chaos/faulty_system.mjs';
import { binDir, postgresBinDir, run, runOrThrow, startCollector, startPostgres, waitFor } from '../behaviour/stack.mjs';
import { newDatabase } from '../behaviour/store_tool.mjs';
import { openLedger } from './ledger.mjs';
import { shiftedClock } from './shifted_clock.mjs';

const dayUs = 86_400_000_000;
const site = { name: 'shop', key: 'pk_shop' };
const visitor = { site: site.name, key: site.key };

/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
const clock = shiftedClock();
before(async () => {
  // A time zone with summer time: what is by days is by days of UTC.
  postgres = await startPostgres({ migrated: true, settings: { timezone: 'America/New_York' }, env: clock.env });
});
after(() => postgres?.stop());

/** Waits until a new collector has kept house. @param {import('../behaviour/stack.mjs').Collector} collector */
const housekept = (collector) => waitFor(async () => (await collector.metrics()).fleetprof_last_housekeeping_timestamp_seconds !== 0,
  { what: 'housekeeping' });

/** Lets a collector keep house now. @param {import('../behaviour/stack.mjs').Collector} collector */
async function keepHouse(collector) {
  const looked = async () => (await collector.metrics()).fleetprof_last_housekeeping_timestamp_seconds;
  const earlier = await looked();
  process.kill(collector.server.pid, 'SIGHUP');
  await waitFor(async () => await looked() !== earlier, { what: 'housekeeping' });
}

/** Which reasons against destruction a collector names. @param {import('../behaviour/stack.mjs').Collector} collector */
const refusalsOf = async (collector) => Object.entries(await collector.metrics())
  .filter(([name, value]) => name.startsWith('fleetprof_retention_refused{') && value === 1)
  .map(([name]) => /** @type {string} */ (/reason="(.*)"/.exec(name)?.[1]));

/** Uploads one after the other and waits until they are counted.
 * @param {import('../behaviour/stack.mjs').Collector} collector @param {import('./ledger.mjs').Ledger} ledger @param {number} count */
async function upload(collector, ledger, count) {
  const flushed = async () => (await collector.metrics()).fleetprof_uploads_flushed_total;
  const earlier = await flushed();
  for (let i = 0; i < count; i++) assert.equal(await ledger.upload(collector.url, visitor), 204);
  await waitFor(async () => await flushed() === earlier + count, { what: 'flush' });
}

/**
 * A database and the collectors that write to it, one after the other, on one spool.
 */
async function openShop() {
  const database = await newDatabase(postgres);
  const ledger = openLedger();
  const system = await startFaultySystem();
  if (!system) throw new Error('this build cannot be given another clock');
  /** @type {import('../behaviour/stack.mjs').Collector | undefined} */
  let collector;
  const running = () => collector ?? assert.fail('no collector runs');
  const shop = {
    database,
    ledger,
    collector: running,
    /** Boots both, each with a clock that is so many days ahead. @param {{ database?: number, collector?: number }} ahead */
    boot: async ({ database: databaseDays = 0, collector: collectorDays = 0 } = {}, settings = {}) => {
      await collector?.stop();
      await postgres.stop();
      clock.set(databaseDays);
      await postgres.start();
      system.set({ clockOffsetUs: collectorDays * dayUs });
      collector = await startCollector({
        config: { ...collector?.config, database: database.conninfo('fleetprof_writer'), sites: [site], ...settings }, env: system.env,
      });
      await housekept(running());
    },
    /** Starts a collector beside the first one, on a spool of its own. @param {number} days its clock is ahead */
    startSecond: async (days) => {
      const own = await startFaultySystem();
      own?.set({ clockOffsetUs: days * dayUs });
      const second = await startCollector({ config: { database: database.conninfo('fleetprof_writer'), sites: [site] }, env: own?.env });
      await housekept(second);
      return second;
    },
    /** Both clocks jump while the servers run, and the collector looks at them. @param {number} days ahead of the real time */
    jump: async (days) => {
      clock.set(days);
      system.set({ clockOffsetUs: days * dayUs });
      await keepHouse(running());
    },
    /** Changes settings while the collector runs. @param {Record<string, unknown>} settings */
    reload: async (settings) => {
      fs.writeFileSync(running().file, JSON.stringify({ ...running().config, ...settings }));
      await keepHouse(running());
    },
    /** Returns the findings of `fleetprof status`. @param {import('../behaviour/stack.mjs').Collector[]} others further collectors */
    findings: async (...others) => {
      const collectors = [running(), ...others].flatMap(({ config }) => ['--collector', config.admin]);
      const { stdout } = await run([path.join(binDir, 'fleetprof'), 'status', '--json', '--over', '0', ...collectors,
        '-d', database.conninfo('fleetprof_reader')]);
      return /** @type {{ id: string, where: string, seen: string }[]} */ (JSON.parse(stdout).findings);
    },
    /** Days of the log's partitions, the oldest first. */
    days: async () => (await database.sql(`select right(c.relname, 8) as day from pg_inherits i
      join pg_class c on c.oid = i.inhrelid where i.inhparent = 'fleetprof_data.upload'::regclass order by 1`)).map(({ day }) => day),
    /** @param {number} count */
    upload: (count) => upload(running(), ledger, count),
    refusals: () => refusalsOf(running()),
    /** Counts what is stored: samples of functions, rows of the log, ids, dictionary rows. */
    stored: async () => (await database.sql(`select
      (select coalesce(sum(samples), 0) from fleetprof.hotspots('shop', '-infinity', 'infinity'))::int as samples,
      (select count(*) from fleetprof_data.upload)::int as logged,
      (select count(*) from fleetprof_data.upload_id)::int as ids,
      (select count(*) from fleetprof_data.frame)::int as frames`))[0],
    /** The ledger is right, each upload is under its real hour or a neighbour, and retention works. @param {string} accident */
    close: async (accident) => {
      await ledger.settle(accident, database.sql);
      await shop.stop();
    },
    stop: async () => {
      await collector?.stop();
      await database.drop();
    },
    /** Uploads whose hour is not now's. */
    misfiled: async () => (await database.sql(`select count(*)::int as n from fleetprof_data.upload
      where abs(extract(epoch from bucket - now())) > 7200`))[0].n,
  };
  return shop;
}

/** Returns the counts that these many uploads must store. @param {number} uploads */
const all = (uploads) => ({ samples: 3 * uploads, logged: uploads, ids: uploads, frames: 1 });

for (const days of [500, 15, -20, -365, -450]) {
  const ahead = `${Math.abs(days)} days ${days > 0 ? 'ahead' : 'behind'}`;
  for (const [who, wrong] of /** @type {[string, { database?: number, collector?: number }][]} */ ([
    ['the database boots', { database: days }], ['the collector boots', { collector: days }],
  ])) {
    test(`${who} ${ahead}: nothing is dropped, and its uploads count today`, { timeout: 60_000 }, async () => {
      const shop = await openShop();
      await shop.boot();
      await shop.upload(4);
      await shop.boot(wrong);
      assert.deepEqual(await shop.refusals(), ['clocks_differ']);
      assert.match(shop.collector().server.output(), /level=warn msg="retention does not believe the clocks.*reason=clocks_differ/);
      await shop.upload(3);
      assert.deepEqual(await shop.stored(), all(7));
      await shop.boot();
      assert.deepEqual(await shop.refusals(), []);
      assert.deepEqual(await shop.stored(), all(7));
      assert.equal(await shop.misfiled(), 0);
      await shop.close(`${who} ${ahead}`);
    });
  }

  test(`both boot ${ahead}: nothing is dropped, and all uploads are kept`, { timeout: 60_000 }, async () => {
    const shop = await openShop();
    await shop.boot();
    await shop.upload(4);
    await shop.boot({ database: days, collector: days });
    assert.deepEqual(await shop.refusals(), [days > 0 ? 'clock_ahead' : 'clock_behind']);
    await shop.upload(3);
    assert.deepEqual(await shop.stored(), all(7));
    await shop.boot();
    assert.deepEqual(await shop.refusals(), []);
    assert.deepEqual(await shop.stored(), all(7));
    assert.equal(await shop.misfiled(), days > 0 ? 3 : 0);
    await shop.close(`both boot ${ahead}`);
  });
}

test('a site without visitors for ten days, across summer time: retention works each day', { timeout: 60_000 }, async () => {
  const shop = await openShop();
  // America/New_York changes its clocks on 14 March 2027 and on 7 November 2027.
  for (const change of ['2027-03-14', '2027-11-07']) {
    const first = Math.round((Date.parse(`${change}T06:30:00Z`) - Date.now()) / 86_400_000) - 5;
    if (change === '2027-03-14') {
      await shop.boot({ database: first, collector: first });
      await shop.upload(1);
    } else {
      await shop.jump(first);
      assert.deepEqual(await shop.refusals(), ['clock_ahead']);
      await shop.database.execute(`select fleetprof_data.trust_clock(now())`);
    }
    for (let day = first; day < first + 10; day++) {
      await shop.jump(day);
      assert.deepEqual(await shop.refusals(), [], `${day - first} days later`);
      const [oldest] = await shop.days();
      const kept = new Date(Date.now() + (day - 14) * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
      assert.ok(oldest >= kept, `${oldest} is kept on day ${day - first}`);
    }
  }
  assert.equal((await shop.stored()).samples, 3, 'the log row went in its time, the numbers stay');
  await shop.stop();
});

test('servers that were off for ten days: retention resumes on the seventh day, by itself', { timeout: 60_000 }, async () => {
  const shop = await openShop();
  await shop.boot();
  await shop.upload(2);
  await shop.boot({ database: 10, collector: 10 });
  await shop.upload(1);
  // A jump begins the watch again.
  for (const day of [10, 11, 30, 31, 32, 33, 34, 35]) {
    await shop.jump(day);
    assert.deepEqual(await shop.refusals(), ['clock_ahead'], `day ${day}`);
    assert.deepEqual(await shop.stored(), all(3));
  }
  await shop.jump(36);
  assert.deepEqual(await shop.refusals(), []);
  assert.equal((await shop.stored()).logged, 0, 'older than retention.upload_log');
  assert.equal((await shop.stored()).samples, 9);
  assert.match(shop.collector().server.output(), /level=info msg="partition dropped" table=upload_\d{8} /);
  await shop.stop();
});

test('a dump that is a month old is restored: nothing is dropped before somebody says what time it is', { timeout: 60_000 }, async () => {
  const old = await openShop();
  await old.boot({ database: -31, collector: -31 });
  await old.upload(3);
  const dump = await runOrThrow([`${postgresBinDir()}/pg_dump`, '-d', old.database.conninfo('postgres')]);
  await old.stop();
  const shop = await openShop();
  await shop.database.execute('drop schema fleetprof, fleetprof_data cascade');
  await runOrThrow([`${postgresBinDir()}/psql`, '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', shop.database.conninfo('postgres')], { input: dump });
  await shop.boot();
  await shop.upload(2);
  assert.deepEqual(await shop.refusals(), ['clock_ahead']);
  assert.deepEqual(await shop.stored(), all(5));
  const finding = (await shop.findings()).find(({ id }) => id === 'retention-refused') ?? assert.fail('no finding');
  // Pasted as it is: it becomes the server's user, who is a superuser of PostgreSQL.
  const [command] = /(?:runuser|sudo|psql) .*$/.exec(finding.seen) ?? assert.fail(finding.seen);
  await runOrThrow(['sh', '-c', `PATH=${postgresBinDir()}:$PATH; ${command}`]);
  await shop.jump(0.01);
  assert.deepEqual(await shop.refusals(), []);
  assert.deepEqual(await shop.stored(), { samples: 15, logged: 2, ids: 2, frames: 1 });
  assert.deepEqual((await shop.findings()).filter(({ id }) => id === 'retention-refused'), []);
  await shop.close('a dump that is a month old is restored');
});

test('trust_clock is for one run, and only for the time that the database has', { timeout: 60_000 }, async () => {
  const shop = await openShop();
  await shop.boot();
  await shop.upload(2);
  await assert.rejects(shop.database.execute(`select fleetprof_data.trust_clock(now() + interval '3 days')`), /the database's clock says/);
  await assert.rejects(shop.database.execute(`select fleetprof_data.trust_clock(now())`.replace('now()', 'null')), /needs the time/);
  for (const role of ['fleetprof_writer', 'fleetprof_reader']) {
    await assert.rejects(shop.database.execute('select fleetprof_data.trust_clock(now())', role), /permission denied/);
  }
  // The collector's clock stays wrong: each run needs the word again.
  await shop.boot({ collector: 30 });
  assert.deepEqual(await shop.refusals(), ['clocks_differ']);
  await shop.database.execute('select fleetprof_data.trust_clock(now())');
  await shop.reload({ retention: { upload_log: '3d' } });
  assert.deepEqual(await shop.refusals(), []);
  await shop.reload({ retention: { upload_log: '4d' } });
  assert.deepEqual(await shop.refusals(), ['clocks_differ']);
  await shop.boot();
  await shop.close('trust_clock is for one run');
});

test('a database that is born under a wrong clock: uploads are kept, and trust_clock mends it', { timeout: 60_000 }, async () => {
  const shop = await openShop();
  await shop.boot({ database: 500, collector: 500 });
  assert.deepEqual(await shop.refusals(), []);
  await shop.upload(2);
  await shop.boot();
  assert.deepEqual(await shop.refusals(), ['clock_behind']);
  await shop.upload(2);
  assert.deepEqual(await shop.stored(), all(4));
  assert.ok((await shop.findings()).some(({ id }) => id === 'retention-refused'));
  await shop.database.execute('select fleetprof_data.trust_clock(now())');
  await shop.boot();
  assert.deepEqual(await shop.refusals(), []);
  await shop.upload(2);
  assert.deepEqual(await shop.stored(), all(6));
  assert.equal(await shop.misfiled(), 4);
  await shop.close('a database that is born under a wrong clock');
});

for (const [who, wrong] of /** @type {[string, { database?: number, collector?: number }][]} */ ([
  ['the database is 500 days behind', { database: -500 }], ['the database is 20 days behind', { database: -20 }],
  ['the collector is 500 days behind', { collector: -500 }],
])) {
  test(`a database is first used while the clock of ${who}: its uploads count today`, { timeout: 60_000 }, async () => {
    const shop = await openShop();
    await shop.boot(wrong);
    assert.deepEqual(await shop.refusals(), ['clocks_differ']);
    await shop.upload(4);
    for (let boots = 0; boots < 2; boots++) {
      await shop.boot();
      assert.deepEqual(await shop.refusals(), []);
      assert.deepEqual(await shop.stored(), all(4));
      assert.equal(await shop.misfiled(), 0);
    }
    await shop.close(`a database is first used while the clock of ${who}`);
  });
}

for (const [wrong, refusal, misfiled] of /** @type {[{ database: number, collector: number }, string, number][]} */ ([
  [{ database: -500, collector: -450 }, 'clock_ahead', 4], [{ database: -20, collector: -500 }, 'clock_ahead', 4],
  [{ database: 500, collector: 15 }, 'clock_behind', 4], [{ database: -500, collector: 500 }, 'clock_behind', 4],
])) {
  const clocks = `the database's is ${wrong.database} days ahead, the collector's ${wrong.collector}`;
  test(`a database is first used while both clocks are wrong and differ: ${clocks}`, { timeout: 60_000 }, async () => {
    const shop = await openShop();
    await shop.boot(wrong);
    assert.deepEqual(await shop.refusals(), ['clocks_differ']);
    await shop.upload(4);
    for (let boots = 0; boots < 2; boots++) {
      await shop.boot();
      assert.deepEqual(await shop.refusals(), [refusal], 'the newest stored hour is a witness');
      assert.deepEqual(await shop.stored(), all(4));
      assert.equal(await shop.misfiled(), misfiled);
    }
    await shop.upload(2);
    assert.equal(await shop.misfiled(), misfiled, 'what follows counts today');
    await shop.close(`a database is first used while ${clocks}`);
  });
}

for (const [what, database, first, second, misfiled] of /** @type {[string, number, number, number, number][]} */ ([
  ["one collector's clock is 5 days ahead", 0, 0, 5, 0], ["one collector's clock is 500 days behind", 0, 0, -500, 0],
  ["the database's and one collector's are 5 days ahead", 5, 0, 5, 3], ["the database's and one collector's are 20 days behind", -20, 0, -20, 0],
  ['all three differ', -20, 0, 15, 3],
])) {
  test(`two collectors on a database, ${what}: nothing is dropped, all is kept`, { timeout: 60_000 }, async () => {
    const shop = await openShop();
    await shop.boot();
    await shop.upload(2);
    await shop.boot({ database, collector: first });
    const other = await shop.startSecond(second);
    await shop.upload(3);
    await upload(other, shop.ledger, 3);
    // In turns: what one notes of the clocks is not a witness for the other.
    for (const collector of [shop.collector(), other, shop.collector()]) await keepHouse(collector);
    assert.deepEqual(await shop.refusals(), database === first ? [] : ['clocks_differ']);
    assert.notDeepEqual(await refusalsOf(other), []);
    const found = await shop.findings(other);
    const refused = found.filter(({ id }) => id === 'retention-refused');
    assert.equal(refused.length, 1, JSON.stringify(found));
    if (database === first) assert.equal(refused[0].where, other.config.admin);
    // A collector that found the other one sealing looks again soon.
    const isLate = async () => (await shop.findings(other)).some(({ id }) => id === 'sealing-late');
    await waitFor(async () => !await isLate(), { what: 'hours as old as the believed clock says' });
    assert.deepEqual(await shop.stored(), all(8));
    await other.stop();
    await shop.boot();
    assert.deepEqual(await shop.refusals(), []);
    assert.deepEqual(await shop.stored(), all(8));
    assert.equal(await shop.misfiled(), misfiled);
    await shop.close(`two collectors on a database, ${what}`);
  });
}

test('a retention that is shortened by mistake drops 64 partitions, each with a line in the log, and no names', { timeout: 60_000 }, async () => {
  const shop = await openShop();
  await shop.boot();
  await shop.upload(2);
  for (const day of [1, 16]) {
    await shop.database.execute(`select fleetprof_data.make_partitions(array(
      select ((now() at time zone 'UTC')::date - n)::date from generate_series(${day}, ${day + 14}) n))`);
  }
  const partitions = async () => (await shop.database.sql(`select count(*)::int as n from pg_inherits i
    join pg_class c on c.oid = i.inhrelid where c.relkind = 'r' and c.relnamespace = 'fleetprof_data'::regnamespace`))[0].n;
  const before = await partitions();
  await shop.reload({ retention: { hours: '3d', facts: '3d', upload_log: '3d', sessions: '3d' } });
  assert.equal(await partitions(), before - 64);
  const lines = shop.collector().server.output().split('\n').filter((line) => line.includes('msg="partition dropped"'));
  assert.equal(lines.length, 64);
  assert.match(shop.collector().server.output(), /level=warn msg="retention drops more in an hour" dropped=64/);
  // The oldest days went first, and whole.
  const dropped = lines.map((line) => /** @type {string} */ (/_(\d{8}) /.exec(line)?.[1]));
  assert.deepEqual(dropped, [...dropped].sort());
  // Somebody sees it: what is left stays.
  const wanted = { hours: '400d', facts: '400d', upload_log: '400d', sessions: '400d' };
  await shop.reload({ retention: wanted });
  assert.equal(await partitions(), before - 64);
  // Else each further run drops as many, until all are gone.
  for (let run = 0; await partitions() > 150; run++) {
    assert.ok(run < 30, `${await partitions()} partitions are left`);
    await shop.reload({ retention: { hours: '3d', facts: '3d', upload_log: '3d', sessions: '3d' } });
  }
  assert.deepEqual(await shop.stored(), all(2));
  await shop.close('a retention that is shortened by mistake');
});
