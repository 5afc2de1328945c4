// SPDX-License-Identifier: Apache-2.0
/**
 * A database whose transactions are slow whatever they hold: the backlog drains, since windows stay large.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startCollector, startPostgres, waitFor } from '../behaviour/stack.mjs';
import { newDatabase } from '../behaviour/store_tool.mjs';
import { openLedger } from './ledger.mjs';

const site = { name: 'shop', key: 'pk_shop' };
const visitor = { site: site.name, key: site.key };

/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
before(async () => { postgres = await startPostgres({ migrated: true }); });
after(() => postgres?.stop());

/** @param {import('../behaviour/store_tool.mjs').Database} database @param {string} table @param {string} seconds an expression */
const slowDown = (database, table, seconds) => database.execute(`
  create function public.slow() returns trigger language plpgsql as $$ begin perform pg_sleep(${seconds}); return new; end $$;
  create trigger slow before insert or update on fleetprof_data.${table} for each row execute function public.slow()`);

test('each transaction takes 1.5 s more than flush.max_window allows: the backlog drains all the same', { timeout: 60_000 }, async () => {
  const database = await newDatabase(postgres);
  const collector = await startCollector({ config: {
    database: database.conninfo('fleetprof_writer'), sites: [site], flush: { min_window: '50ms', max_window: '1s' },
  } });
  const ledger = openLedger();
  assert.equal(await ledger.upload(collector.url, visitor), 204);
  await waitFor(async () => (await collector.metrics()).fleetprof_uploads_flushed_total === 1, { what: 'first flush' });
  await slowDown(database, 'spool_position', '1.5');
  // For ten flushes, so that windows had time to shrink.
  const flushes = async () => (await collector.metrics()).fleetprof_flushes_total;
  while (await flushes() < 10) {
    assert.equal(await ledger.upload(collector.url, visitor), 204);
    assert.ok((await collector.metrics()).fleetprof_flush_window_records >= 256);
    await waitFor(() => true, { intervalMs: 1 });
  }
  // Waiting uploads go with the next two flushes: the one that runs, and one for all the rest.
  const before_ = await flushes();
  await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty spool' });
  assert.ok(await flushes() - before_ <= 3, `${await flushes() - before_} flushes for the rest`);
  await ledger.settle('each transaction takes 1.5 s', database.sql);
  await collector.stop();
  await database.drop();
});

test('each record takes 10 ms: windows shrink to what flush.max_window allows, and not below 256 records', { timeout: 60_000 }, async () => {
  const database = await newDatabase(postgres);
  const config = { database: database.conninfo('fleetprof_writer'), sites: [site], flush: { min_window: '50ms', max_window: '1s' } };
  // A backlog of 700 records, collected while nobody could write them.
  await database.execute('alter table fleetprof_data.spool_position rename to aside');
  const collector = await startCollector({ config });
  const ledger = openLedger();
  for (let i = 0; i < 700; i += 25) {
    const statuses = await Promise.all(Array.from({ length: 25 }, () => ledger.upload(collector.url, visitor)));
    assert.ok(statuses.every((status) => status === 204));
  }
  await slowDown(database, 'upload_id', '0.01');
  await database.execute('alter table fleetprof_data.aside rename to spool_position');
  await waitFor(async () => (await collector.metrics()).fleetprof_uploads_flushed_total === 700, { what: '700 uploads' });
  const { fleetprof_flush_window_records: records } = await collector.metrics();
  assert.ok(records >= 256 && records <= 1024, `${records} records`);
  await ledger.settle('each record takes 10 ms', database.sql);
  await collector.stop();
  await database.drop();
});

test('a statement manages 100 records before its time limit ends it: all are counted', { timeout: 60_000 }, async () => {
  const database = await newDatabase(postgres);
  await database.execute(`
    create function public.limited() returns trigger language plpgsql as $$ begin
      if (select count(*) from added) > 100 then raise 'canceling statement due to statement timeout' using errcode = 'query_canceled'; end if;
      return null; end $$;
    create trigger limited after insert on fleetprof_data.upload_id referencing new table as added
      for each statement execute function public.limited();
    alter table fleetprof_data.spool_position rename to aside`);
  const collector = await startCollector({ config: { database: database.conninfo('fleetprof_writer'), sites: [site] } });
  const ledger = openLedger();
  for (let i = 0; i < 600; i += 25) {
    await Promise.all(Array.from({ length: 25 }, () => ledger.upload(collector.url, visitor)));
  }
  await database.execute('alter table fleetprof_data.aside rename to spool_position');
  await ledger.settle('a statement manages 100 records', database.sql, { timeoutMs: 40_000 });
  await collector.stop();
  await database.drop();
});
