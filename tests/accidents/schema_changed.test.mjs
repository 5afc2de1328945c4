// SPDX-License-Identifier: Apache-2.0
/**
 * Somebody changes fleetprof's tables. What the database then refuses for its own reasons waits in the spool; only a record
 * that is bad by itself is quarantined.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, run, startCollector, startPostgres, waitFor } from '../behaviour/stack.mjs';
import { newDatabase, refuseValues } from '../behaviour/store_tool.mjs';
import { openLedger } from './ledger.mjs';

const site = { name: 'shop', key: 'pk_shop' };
const visitor = { site: site.name, key: site.key };
const good = { release: 'good' };
const later = { release: 'later' }; // needs rows in all dictionaries
const bad = { release: 'bad' };

/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
before(async () => { postgres = await startPostgres({ migrated: true }); });
after(() => postgres?.stop());

async function openShop() {
  const database = await newDatabase(postgres);
  const config = { database: database.conninfo('fleetprof_writer'), sites: [site], flush: { min_window: '50ms', max_window: '1s' } };
  const collector = await startCollector({ config });
  const ledger = openLedger();
  /** @param {string} name */
  const metric = async (name) => (await collector.metrics())[`fleetprof_${name}`];
  return {
    database, collector, ledger, metric,
    /** @param {Record<string, unknown>[]} bodies one after the other */
    upload: async (...bodies) => {
      for (const body of bodies) assert.equal(await ledger.upload(collector.url, { ...visitor, body }), 204);
    },
    /** @param {number} uploads */
    flushed: (uploads) => waitFor(async () => await metric('uploads_flushed_total') === uploads,
      { what: `${uploads} flushed uploads` }),
    refusing: () => waitFor(async () => await metric('database_state{state="refusing"}') === 1,
      { what: 'state "refusing"' }),
    /** Waits for so many further flushes that fail. @param {number} failures */
    triedAgain: async (failures) => {
      const earlier = await metric('flush_errors_total');
      await waitFor(async () => await metric('flush_errors_total') >= earlier + failures, { what: 'further tries' });
    },
    /** Returns a finding of `fleetprof status`. @param {string} id */
    finding: async (id) => {
      const { stdout } = await run([path.join(binDir, 'fleetprof'), 'status', '--json', '--over', '0', '--collector', collector.config.admin]);
      /** @type {{ id: string, seen: string }[]} */
      const findings = JSON.parse(stdout).findings;
      return findings.find((found) => found.id === id)?.seen ?? assert.fail(`no finding ${id} in ${stdout}`);
    },
    quarantined: () => fs.readdirSync(collector.config.spool.path).filter((name) => /^refused-[0-9a-f]{16}$/.test(name)).length,
    close: async () => {
      await collector.stop();
      await database.drop();
    },
  };
}

/**
 * A change that somebody may make, what then refuses uploads, the server's error, and the remedy that is printed.
 * @typedef {object} Change
 * @property {string} what
 * @property {string} sql
 * @property {string} object
 * @property {string} table
 * @property {RegExp} error
 * @property {string} remedy '': none that is a statement; `undo` ends it
 * @property {string} [undo]
 */

/** @type {Change[]} each upload is refused */
const refuseAll = [
  { what: 'adds a column that must not be null',
    sql: `alter table fleetprof_data.upload add column note text not null default '';
      alter table fleetprof_data.upload alter column note drop default`,
    object: 'column note, not null', table: 'upload', error: /23502, column note/,
    remedy: 'alter table fleetprof_data.upload alter column note drop not null' },
  { what: 'adds such a column to a dictionary',
    sql: `alter table fleetprof_data.segment add column note text not null default '';
      alter table fleetprof_data.segment alter column note drop default`,
    object: 'column note, not null', table: 'segment', error: /23502, column note/,
    remedy: 'alter table fleetprof_data.segment alter column note drop not null' },
  { what: 'adds a constraint that no upload meets',
    sql: 'alter table fleetprof_data.upload add constraint house check (public.release_of() = 1) not valid',
    object: 'constraint house', table: 'upload', error: /23514, constraint house/,
    remedy: 'alter table fleetprof_data.upload drop constraint house' },
  { what: 'adds a deferred constraint that refuses each commit',
    sql: `create constraint trigger house after insert on fleetprof_data.upload_id
      deferrable initially deferred for each row execute function public.refuse()`,
    object: 'trigger house (function public.refuse)', table: 'upload_id', error: /23514, constraint house/,
    remedy: 'drop trigger house on fleetprof_data.upload_id' },
  { what: "adds a trigger to the spool's position",
    sql: `create trigger house before update on fleetprof_data.spool_position
      for each row execute function public.refuse()`,
    object: 'trigger house (function public.refuse)', table: 'spool_position', error: /23514, constraint house/,
    remedy: 'drop trigger house on fleetprof_data.spool_position' },
  { what: 'adds a trigger whose text is too long for its column',
    sql: `create trigger house before insert on fleetprof_data.upload_id
      for each row execute function public.overflow()`,
    object: 'trigger house (function public.overflow)', table: 'upload_id', error: /22001/,
    remedy: 'drop trigger house on fleetprof_data.upload_id' },
  { what: 'adds a trigger that writes where the collector may not',
    sql: `create trigger house before insert on fleetprof_data.segment
      for each row execute function public.audit()`,
    object: 'trigger house (function public.audit)', table: 'segment', error: /42501/,
    remedy: 'drop trigger house on fleetprof_data.segment' },
  { what: 'adds a trigger that needs a table which is gone',
    sql: `create trigger house before insert on fleetprof_data.segment
      for each row execute function public.audit(); drop table public.audited`,
    object: 'trigger house (function public.audit)', table: 'segment', error: /42P01/,
    remedy: 'drop trigger house on fleetprof_data.segment' },
  { what: 'gives a column of their own a default that fails',
    sql: `alter table fleetprof_data.segment add column note integer;
      alter table fleetprof_data.segment alter column note set default public.fail()`,
    object: 'default of column note', table: 'segment', error: /22012/,
    remedy: 'alter table fleetprof_data.segment alter column note drop default' },
  { what: 'lets the database number a column',
    sql: 'alter table fleetprof_data.segment alter column rate_ppm add generated always as identity',
    object: 'identity column rate_ppm', table: 'segment', error: /428C9/,
    remedy: 'alter table fleetprof_data.segment alter column rate_ppm drop identity' },
];

/** @type {Change[]} uploads of releases that begin with "bad" are refused, at least the second one */
const refuseSome = [
  { what: 'adds a check',
    sql: "alter table fleetprof_data.segment add constraint house check (release not like 'bad%')",
    object: 'constraint house', table: 'segment', error: /23514, constraint house/,
    remedy: 'alter table fleetprof_data.segment drop constraint house' },
  { what: 'adds a check to one partition',
    sql: `do $$ declare part name := 'upload_' || to_char(now() at time zone 'UTC', 'YYYYMMDD'); begin
      execute format('alter table fleetprof_data.%I add constraint house check (agent <> ''bad/1'')', part); end $$`,
    object: 'constraint house', table: 'upload_DAY', error: /23514, constraint house/,
    remedy: 'alter table fleetprof_data.upload_DAY drop constraint house' },
  { what: 'adds a check to all partitions',
    sql: "alter table fleetprof_data.upload add constraint house check (agent <> 'bad/1')",
    object: 'constraint house', table: 'upload', error: /23514, constraint house/,
    remedy: 'alter table fleetprof_data.upload drop constraint house' },
  { what: 'adds a unique index',
    sql: "create unique index house on fleetprof_data.segment (site) where release like 'bad%'",
    object: 'index house', table: 'segment', error: /23505, constraint house/,
    remedy: 'drop index fleetprof_data.house' },
  { what: 'adds a unique index to all partitions',
    sql: 'create unique index house on fleetprof_data.upload (bucket, agent)',
    object: 'index house', table: 'upload', error: /23505, constraint upload_\d{8}_bucket_agent_idx/,
    remedy: 'drop index fleetprof_data.house' },
  { what: 'adds a unique constraint to all partitions',
    sql: 'alter table fleetprof_data.upload add constraint house unique (bucket, agent)',
    object: 'constraint house', table: 'upload', error: /23505, constraint upload_\d{8}_bucket_agent_key/,
    remedy: 'alter table fleetprof_data.upload drop constraint house' },
  { what: 'adds an exclusion',
    sql: "alter table fleetprof_data.segment add constraint house exclude (site with =) where (release like 'bad%')",
    object: 'constraint house', table: 'segment', error: /23P01, constraint house/,
    remedy: 'alter table fleetprof_data.segment drop constraint house' },
  { what: 'wants a value where some uploads have none',
    sql: 'alter table fleetprof_data.upload alter column load_id set not null',
    object: 'column load_id, not null', table: 'upload', error: /23502, column load_id/,
    remedy: 'alter table fleetprof_data.upload alter column load_id drop not null' },
  { what: 'adds a foreign key',
    sql: `create table public.known (release text primary key); insert into public.known values ('sound');
      alter table fleetprof_data.segment add constraint house foreign key (release) references public.known`,
    object: 'constraint house', table: 'segment', error: /23503, constraint house/,
    remedy: 'alter table fleetprof_data.segment drop constraint house' },
  { what: 'adds a generated column that fails',
    sql: 'alter table fleetprof_data.segment add column note integer generated always as (1 / (length(release) - 4)) stored',
    object: 'generated column note', table: 'segment', error: /22012/,
    remedy: 'alter table fleetprof_data.segment alter column note drop expression' },
  { what: 'adds a check that fails',
    sql: 'alter table fleetprof_data.segment add constraint house check (1 / (length(release) - 4) < 2)',
    object: 'constraint house', table: 'segment', error: /22012/,
    remedy: 'alter table fleetprof_data.segment drop constraint house' },
  { what: 'adds an index that fails',
    sql: 'create index house on fleetprof_data.segment ((1 / (length(release) - 4)))',
    object: 'index house', table: 'segment', error: /22012/,
    remedy: 'drop index fleetprof_data.house' },
  { what: 'makes a column shorter',
    sql: 'alter table fleetprof_data.timing alter column function type varchar(5)',
    object: 'type of column function', table: 'timing', error: /22001/,
    remedy: 'alter table fleetprof_data.timing alter column function type text' },
  { what: 'checks a domain in place of a type',
    sql: `create domain public.short as text constraint house check (length(value) <= 5);
      alter table fleetprof_data.timing alter column function type public.short`,
    object: 'constraint house', table: 'short', error: /23514, constraint house/,
    remedy: 'alter domain public.short drop constraint house' },
  { what: 'adds a trigger that raises an exception',
    sql: `create trigger house before insert on fleetprof_data.segment
      for each row execute function public.veto()`,
    object: 'trigger house (function public.veto)', table: 'segment', error: /no badness here \(SQLSTATE P0001\)/,
    remedy: 'drop trigger house on fleetprof_data.segment' },
  { what: 'adds an index whose entries must be short',
    sql: 'create index house on fleetprof_data.timing (name)',
    object: 'index house', table: 'timing', error: /54000/,
    remedy: 'drop index fleetprof_data.house' },
];

const helpers = `
  create function public.release_of() returns int language sql immutable as 'select 0';
  create function public.refuse() returns trigger language plpgsql as $$ begin
    raise 'no' using errcode = 'check_violation', constraint = 'house'; end $$;
  create function public.overflow() returns trigger language plpgsql as $$ begin
    raise 'no' using errcode = 'string_data_right_truncation'; end $$;
  create function public.veto() returns trigger language plpgsql as $$ begin
    if new.release like 'bad%' then raise 'no badness here'; end if; return new; end $$;
  create function public.fail() returns integer language plpgsql as $$ begin return 1 / 0; end $$;
  create table public.audited (release text);
  create function public.audit() returns trigger language plpgsql as $$ begin
    insert into public.audited values (new.release); return new; end $$;`;

/** 1,000 characters that do not compress. */
const longName = Array.from({ length: 1000 }, (_, i) => String.fromCodePoint(0x4e00 + (i * 7919) % 20_000)).join('');

/** Has what some changes refuse: a release, an agent that is another's, no page load, a mark with a long name, a script's function. */
const badly = (/** @type {number} */ number) => ({
  release: `bad${number}`, agent: { name: 'bad', version: '1' }, marks: [{ name: longName, entryType: 'mark', startTime: 1 }],
  frames: [{ start: 1, duration: 60, scripts: [{ invoker: 'x', invokerType: 'event-listener', url: 'https://shop.example/a.js',
    function: 'update', position: 1, start: 1, duration: 50 }] }],
});
let sent = 0;
/** Has nothing of that. */
const sound = () => ({ release: 'sound', load: randomUUID(), agent: { name: 'good', version: String(++sent) } });

/** The remedy, from the hint of the log's line. @param {string} output */
const hinted = (output) => {
  const line = output.split('\n').find((text) => text.includes('state=refusing')) ?? assert.fail('no line');
  assert.match(line, /level=error msg="flush failed, tried again until it works.*hint=/);
  return line;
};

/** Somebody changes the schema; what is refused waits, its cause is named, and the printed remedy ends it.
 * @param {Change} change @param {Record<string, unknown>[][]} bodies before, while refused, and later */
async function changeSchema({ what, sql, object, table, error, remedy, undo }, [first, refused, more]) {
  const shop = await openShop();
  await shop.upload(...first);
  await shop.flushed(first.length);
  await shop.database.execute(helpers);
  await shop.database.execute(sql);
  await shop.upload(...refused);
  await shop.refusing();
  await shop.upload(...more);
  await shop.triedAgain(3);
  assert.equal(await shop.metric('uploads_quarantined_total'), 0);
  assert.equal(shop.quarantined(), 0);
  assert.equal(await shop.metric('database_up'), 0);

  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  const place = `${table === 'short' ? 'public' : 'fleetprof_data'}.${table.replace('DAY', day)}`;
  const statement = remedy.replace('DAY', day);
  const line = hinted(shop.collector.server.output());
  assert.match(line, error);
  assert.ok(line.includes(`${object} of ${place}, which fleetprof did not make: repair it, or run as its owner: ${statement}"`), line);
  assert.equal(await shop.metric(`database_refused_by{object="${object}",table="${place}"}`), 1);
  const finding = await shop.finding('collector-database');
  assert.ok(finding.endsWith(`run as its owner: ${statement}`), finding);

  await shop.database.execute(undo ?? /run as its owner: (.*)$/.exec(finding)?.[1] ?? '');
  await shop.flushed(first.length + refused.length + more.length);
  await shop.ledger.settle(`somebody ${what}`, shop.database.sql);
  assert.deepEqual(Object.keys(await shop.collector.metrics()).filter((name) => name.includes('refused_by')), []);
  await shop.close();
}

for (const change of refuseAll) {
  test(`somebody ${change.what}: nothing is quarantined, and all is counted when it is undone`, { timeout: 60_000 }, () =>
    changeSchema(change, [Array(5).fill(good), Array(20).fill(later), Array(20).fill(later)]));
}

for (const change of refuseSome) {
  test(`somebody ${change.what} that refuses some uploads: none is quarantined, and all are counted when it is undone`, { timeout: 60_000 }, () =>
    changeSchema(change, [[sound(), sound()], [sound(), badly(1), sound(), badly(2), sound(), badly(3), sound()], [sound(), badly(4)]]));
}

/** Uploads of one release are bad by themselves: the database cannot store their data. */
const refuseBad = refuseValues('segment', "new.release = 'bad'");

for (const [what, bodies, quarantined] of /** @type {[string, Record<string, unknown>[], number][]} */ ([
  ['a bad record between good ones', [good, good, bad, good, good], 1],
  ['a bad record that is the last', [good, good, bad], 1],
  ['a bad record that is alone', [bad], 1],
  ['a burst of bad records between good ones', [good, ...Array(30).fill(bad), good], 30],
  ['bad and good records in turns', Array(20).fill([bad, good]).flat(), 20],
])) {
  test(`${what}: it alone is quarantined`, { timeout: 60_000 }, async () => {
    const shop = await openShop();
    await shop.upload(good);
    await shop.flushed(1);
    await shop.database.execute(refuseBad);
    const { ledger, collector } = shop;
    const others = openLedger();
    for (const body of bodies) {
      assert.equal(await (body === bad ? others : ledger).upload(collector.url, { ...visitor, body }), 204);
    }
    await waitFor(async () => await shop.metric('spool_backlog_records') === 0, { what: 'empty spool' });
    assert.equal(shop.quarantined(), quarantined);
    assert.equal(await shop.metric('uploads_quarantined_total'), quarantined);
    await ledger.settle(what, shop.database.sql);
    await shop.close();
  });
}

test('bursts of bad records before and behind good ones, and nothing follows: the good ones are counted', { timeout: 300_000 }, async () => {
  const shop = await openShop();
  await shop.upload(good);
  await shop.flushed(1);
  await shop.database.execute(`${refuseBad}; alter table fleetprof_data.spool_position rename to aside`);
  const others = openLedger();
  for (const [count, body, ledger] of /** @type {[number, Record<string, unknown>, typeof others][]} */ ([
    [100, bad, others], [400, good, shop.ledger], [100, bad, others],
  ])) {
    for (let i = 0; i < count; i += 25) {
      const sent = Array.from({ length: 25 }, () => ledger.upload(shop.collector.url, { ...visitor, body }));
      assert.ok((await Promise.all(sent)).every((status) => status === 204));
    }
  }
  await shop.database.execute('alter table fleetprof_data.aside rename to spool_position');
  await waitFor(async () => await shop.metric('uploads_flushed_total') === 401, { timeoutMs: 120_000, what: 'count of the good ones' });
  await shop.upload(good);
  await waitFor(async () => await shop.metric('spool_backlog_records') === 0, { timeoutMs: 120_000, what: 'empty spool' });
  assert.equal(shop.quarantined(), 200);
  await shop.ledger.settle('bursts of bad records before and behind good ones', shop.database.sql);
  await shop.close();
});

test('bad records without end, each alone: after three the spool waits for a good one, and then goes on', { timeout: 60_000 }, async () => {
  const shop = await openShop();
  await shop.upload(good);
  await shop.flushed(1);
  await shop.database.execute(refuseBad);
  const others = openLedger();
  const sendBad = () => others.upload(shop.collector.url, { ...visitor, body: bad });
  for (let i = 1; i <= 3; i++) {
    assert.equal(await sendBad(), 204);
    await waitFor(() => shop.quarantined() === i, { what: `${i} quarantined records` });
  }
  for (let i = 0; i < 3; i++) assert.equal(await sendBad(), 204);
  await shop.refusing();
  await shop.triedAgain(3);
  assert.equal(shop.quarantined(), 3);
  await shop.upload(good);
  await shop.flushed(2);
  assert.equal(shop.quarantined(), 6);
  await shop.ledger.settle('bad records without end', shop.database.sql);
  await shop.close();
});
