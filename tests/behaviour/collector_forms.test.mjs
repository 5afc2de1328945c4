// SPDX-License-Identifier: Apache-2.0
/**
 * Forms: the uploads of one request are durable together or not at all.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector[]} */
const running = [];
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(async () => {
  for (const collector of running) if (collector.server.running()) await collector.server.stop('SIGKILL');
  await postgres.stop();
});

/** @param {Record<string, unknown>} config */
async function start(config) {
  const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer'), ...config } });
  running.push(collector);
  return collector;
}

/** @param {string} name */
const site = (name) => ({ name, key: `pk_${name}` });

/** @param {string[]} parts */
const form = (parts) => ({
  body: `${parts.map((part) => `--b\r\n\r\n${part}\r\n`).join('')}--b--`,
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
});

/**
 * How many uploads each release of a site has in SQL.
 * @param {string} name
 * @returns {Promise<Record<string, number>>}
 */
async function counted(name) {
  const rows = await postgres.sql(
    `select release, count(*) as uploads from fleetprof.upload_log where site = '${name}' group by release`);
  return Object.fromEntries(rows.map(({ release, uploads }) => [release, uploads]));
}

/** @param {import('./stack.mjs').Collector} collector */
const flushed = (collector) => waitFor(
  async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0,
  { what: 'empty backlog' });

/** An upload with a record of about 100 KB, always of the same size. @param {string} release */
function large(release) {
  const frames = Array.from({ length: 800 }, (_, i) => ({ name: `${1000 + i}${'x'.repeat(90)}` }));
  return envelope({
    release,
    trace: {
      resources: [], frames, stacks: frames.map((_, i) => ({ frameId: i })),
      samples: frames.map((_, i) => ({ timestamp: i, stackId: i })),
    },
  });
}

test('a form of three counts three uploads', async () => {
  const collector = await start({ sites: [site('three')] });
  const url = `${collector.url}/v1/ingest/pk_three`;
  assert.equal((await send(url, form(['a', 'b', 'c'].map((release) => envelope({ release }))))).status, 204);
  await flushed(collector);
  assert.deepEqual(await counted('three'), { a: 1, b: 1, c: 1 });
  const metrics = await collector.metrics();
  assert.equal(metrics['fleetprof_uploads_accepted_total{site="three"}'], 3);
  assert.equal(metrics.fleetprof_uploads_flushed_total, 3);
  await collector.stop();
});

test('a form that a full spool refuses leaves nothing, though its first part would have fitted', async () => {
  /** Fills a spool with large uploads while the database is away. @param {number} most */
  const fill = async (most) => {
    const collector = await start({
      database: 'host=/nonexistent dbname=fleetprof',
      spool: { path: path.join(temporaryDir('spool'), 'spool'), max_bytes: '4MiB', segment_bytes: '1MiB' },
      sites: [site('full')],
    });
    const url = `${collector.url}/v1/ingest/pk_full`;
    let fitted = 0;
    while (fitted < most && (await send(url, { body: large('filler') })).status === 204) fitted++;
    return { collector, url, fitted };
  };

  const first = await fill(1000);
  assert.ok(first.fitted > 10 && first.fitted < 1000, `${first.fitted} fitted`);
  await first.collector.server.stop('SIGKILL');

  // As full as before, with as many uploads, but not blocked yet.
  const { collector, url, fitted } = await fill(first.fitted);
  assert.equal(fitted, first.fitted);
  const refused = await send(url, form([envelope({ release: 'form' }), large('form'), envelope({ release: 'form' })]));
  assert.equal(refused.status, 503);
  assert.equal(refused.headers['retry-after'], '30');
  await collector.server.stop('SIGKILL');

  const again = await start({ ...collector.config, database: postgres.conninfo('fleetprof_writer') });
  await flushed(again);
  assert.deepEqual(await counted('full'), { filler: fitted });
  await again.stop();
});

test('a kill amid forms leaves all of a form or none of it, and all where 204 was said', async () => {
  let collector = await start({ sites: [site('killed')] });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  /** @type {Set<string>} */
  const acknowledged = new Set();
  let sent = 0;
  let enough = false;
  const clients = Array.from({ length: 16 }, async () => {
    while (!enough) {
      const release = `r${sent++}`;
      const url = `${collector.url}/v1/ingest/pk_killed`;
      const reply = await send(url, { ...form(Array(3).fill(envelope({ release }))), agent }).catch(() => undefined);
      if (reply?.status === 204) acknowledged.add(release);
      else await waitFor(() => enough || collector.server.running());
    }
  });
  for (let kills = 1; kills <= 4; kills++) {
    await waitFor(() => acknowledged.size >= kills * 100, { intervalMs: 1, what: 'uploads' });
    await collector.server.stop('SIGKILL');
    collector = await start(collector.config);
  }
  enough = true;
  await Promise.all(clients);
  agent.destroy();
  await flushed(collector);
  const uploads = await counted('killed');
  assert.deepEqual([...new Set(Object.values(uploads))], [3]);
  for (const release of acknowledged) assert.equal(uploads[release], 3, release);
  await collector.stop();
});
