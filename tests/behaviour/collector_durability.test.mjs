// SPDX-License-Identifier: Apache-2.0
/**
 * 204 means durable, and durable means counted once, despite kills, a missing database and retries.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { startCollector, startPostgres, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector[]} */
const running = [];
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(async () => {
  for (const collector of running) if (collector.server.running()) await collector.stop();
  await postgres.stop();
});

let sites = 0;

/** A site for this test alone, so that tests do not see each other's numbers. */
function newSite() {
  const name = `site${++sites}`;
  return { name, key: `pk_${name}` };
}

/** @param {Record<string, unknown>} config */
async function start(config) {
  const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer'), ...config } });
  running.push(collector);
  return collector;
}

/** @param {import('./stack.mjs').Collector} collector @param {{ key: string }} site */
const ingest = (collector, site) => `${collector.url}/v1/ingest/${site.key}`;

/** All sums of a site in the database.
 * @param {{ name: string }} site */
async function numbers(site) {
  const [logged] = await postgres.sql(
    `select count(*) as uploads, count(distinct upload_id) as ids from fleetprof.upload_log where site = '${site.name}'`);
  const [spot] = await postgres.sql(
    `select samples, uploads, self_ms, total_ms from fleetprof.hotspots('${site.name}')`);
  return { logged: logged.uploads, ids: logged.ids, ...spot };
}

/** The sums of this many small traces: three samples of 10 ms each. @param {number} count */
const exactly = (count) => ({
  logged: count, ids: count, samples: 3 * count, uploads: count, self_ms: 30 * count, total_ms: 30 * count,
});

/** @param {{ name: string }} site @param {number} count */
async function untilCounted(site, count) {
  await waitFor(async () => (await numbers(site)).logged >= count, { what: `${count} uploads in SQL` });
  assert.deepEqual(await numbers(site), exactly(count));
}

/** Holds a lock for which the writer must wait. @returns {Promise<() => Promise<unknown>>} lets go of it */
async function holdWriter() {
  const table = 'fleetprof_data.spool_position';
  const lock = postgres.execute(`begin; lock table ${table} in access exclusive mode; select pg_sleep(600);`).catch(() => {});
  await waitFor(async () => (await postgres.sql(`select 1 from pg_locks where mode = 'AccessExclusiveLock' and granted
    and relation = '${table}'::regclass`)).length, { what: 'lock' });
  return async () => {
    await postgres.sql(`select pg_cancel_backend(pid) from pg_stat_activity where query ~ 'pg_sleep' and pid <> pg_backend_pid()`);
    await lock;
  };
}

test('kill -9 between 204 and flush, and between commit and trim: after a restart the numbers are exact', async () => {
  const site = newSite();
  let collector = await start({ sites: [site] });
  const letGo = await holdWriter();
  const replies = await Promise.all(Array.from({ length: 100 }, () => send(ingest(collector, site), { body: envelope() })));
  assert.ok(replies.every(({ status }) => status === 204));
  await collector.server.stop('SIGKILL');
  await letGo();
  assert.equal((await numbers(site)).logged, 0, 'nothing was flushed');

  const spool = collector.config.spool.path;
  fs.cpSync(spool, `${spool}.before`, { recursive: true });
  collector = await start(collector.config);
  await untilCounted(site, 100);
  await collector.server.stop('SIGKILL');

  // The database has committed; the spool does not know yet.
  fs.rmSync(spool, { recursive: true });
  fs.renameSync(`${spool}.before`, spool);
  collector = await start(collector.config);
  assert.equal((await send(ingest(collector, site), { body: envelope() })).status, 204);
  await untilCounted(site, 101);
  await collector.stop();
});

test('killed again and again amid uploads that clients retry: each counts once', async () => {
  const site = newSite();
  let collector = await start({ sites: [site], flush: { min_window: '1ms', max_window: '1s' } });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  const ids = Array.from({ length: 600 }, () => randomUUID());
  const waiting = [...ids];
  let acknowledged = 0;
  const clients = Array.from({ length: 16 }, async () => {
    for (let id = waiting.pop(); id; id = waiting.pop()) {
      const body = envelope({ id });
      await waitFor(async () => (await send(ingest(collector, site), { body, agent })).status === 204,
        { intervalMs: 5, what: '204' });
      acknowledged++;
    }
  });
  for (const share of [0.2, 0.4, 0.6, 0.8]) {
    await waitFor(() => acknowledged > share * ids.length, { intervalMs: 1, what: 'uploads' });
    await collector.server.stop('SIGKILL');
    collector = await start(collector.config);
  }
  await Promise.all(clients);
  agent.destroy();
  await untilCounted(site, ids.length);
  await collector.stop();
});

test('PostgreSQL stopped: uploads are taken, the collector stays ready, nothing is lost', async () => {
  const site = newSite();
  const collector = await start({ sites: [site] });
  assert.equal((await send(ingest(collector, site), { body: envelope() })).status, 204);
  await untilCounted(site, 1);
  await postgres.stop();
  for (let i = 0; i < 50; i++) assert.equal((await send(ingest(collector, site), { body: envelope() })).status, 204);
  assert.equal((await send(`${collector.adminUrl}/readyz`, { method: 'GET' })).status, 200);
  await waitFor(async () => {
    const metrics = await collector.metrics();
    return metrics.fleetprof_spool_backlog_records === 50 && metrics.fleetprof_database_up === 0;
  }, { what: 'backlog' });
  await postgres.start();
  await untilCounted(site, 51);
  await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty backlog' });
  await collector.stop();
});

test('a collector that starts while PostgreSQL is away takes uploads, and keeps them over a stop', async () => {
  const site = newSite();
  await postgres.stop();
  let collector = await start({ sites: [site] });
  for (let i = 0; i < 10; i++) assert.equal((await send(ingest(collector, site), { body: envelope() })).status, 204);
  await collector.server.stop('SIGTERM', 25_000);
  await postgres.start();
  collector = await start(collector.config);
  await untilCounted(site, 10);
  await collector.stop();
});

test('one id counts once: one after the other, at once, in one form, and at two collectors', async () => {
  const site = newSite();
  const [one, two] = [await start({ sites: [site] }), await start({ sites: [site] })];
  const id = randomUUID();
  const body = envelope({ id });
  const part = `--b\r\n\r\n${body}\r\n`;
  const form = { body: `${part}${part}--b--`, headers: { 'content-type': 'multipart/form-data; boundary=b' } };
  const replies = [
    await send(ingest(one, site), { body }),
    await send(ingest(one, site), { body }),
    await send(ingest(one, site), form),
    ...await Promise.all(Array.from({ length: 20 }, (_, i) => send(ingest(i % 2 ? one : two, site), { body }))),
    await send(ingest(two, site), { body: envelope({ id: id.toUpperCase() }) }),
    await send(ingest(two, site), { body: envelope() }),
  ];
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [204]);
  for (const collector of [one, two])
    await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty backlog' });
  await one.stop();
  await two.stop();
  assert.deepEqual(await numbers(site), exactly(2));
});

test('SIGTERM flushes what is in the spool', async () => {
  const site = newSite();
  const collector = await start({ sites: [site], flush: { min_window: '1h', max_window: '1h' } });
  for (let i = 0; i < 20; i++) assert.equal((await send(ingest(collector, site), { body: envelope() })).status, 204);
  await collector.stop();
  assert.deepEqual(await numbers(site), exactly(20));
});

test('uploads without id count each, even when they are the same', async () => {
  const site = newSite();
  const collector = await start({ sites: [site] });
  for (let i = 0; i < 3; i++) await send(ingest(collector, site), { body: envelope() });
  await untilCounted(site, 3);
  await collector.stop();
});

test('one upload and then silence: it is in SQL within flush.max_window', async () => {
  const site = newSite();
  const maxWindowMs = 1000;
  const slackMs = 1500; // the machine's, not the collector's
  const collector = await start({ sites: [site], flush: { min_window: '200ms', max_window: `${maxWindowMs}ms` } });
  await waitFor(async () => (await collector.metrics()).fleetprof_database_up === 1, { what: 'connection' });
  for (let count = 1; count <= 3; count++) {
    assert.equal((await send(ingest(collector, site), { body: envelope() })).status, 204);
    const sent = performance.now();
    await waitFor(async () => (await numbers(site)).logged === count, { timeoutMs: maxWindowMs + slackMs, what: 'row in SQL' });
    assert.ok(performance.now() - sent <= maxWindowMs + slackMs);
  }
  await collector.stop();
});
