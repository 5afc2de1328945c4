// SPDX-License-Identifier: Apache-2.0
/**
 * The collector under a service manager: its notifications, sockets that outlive it, the watchdog.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { heavyUploads } from '../attack/attacks.mjs';
import { startFaultySystem } from '../chaos/faulty_system.mjs';
import { envelope, send } from './collector_client.mjs';
import { binDir, collectorConfig, repository, run, startCollector, startPostgres, startProcess, untilReady, waitFor } from './stack.mjs';

const variant = process.env.FLEETPROF_BUILD ? path.basename(process.env.FLEETPROF_BUILD) : 'plain';
const manager = path.join(repository, 'build/trees', variant, 'tests/tools/service_manager');

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(() => postgres.stop());

/**
 * Starts fleetprofd with both its sockets handed over, and waits until it says that it is ready.
 * @param {{ watchdogMs?: number, env?: NodeJS.ProcessEnv }} [options]
 */
async function startManaged({ watchdogMs = 60_000, env } = {}) {
  const { file, config } = await collectorConfig({ database: postgres.conninfo('fleetprof_writer') });
  const port = (/** @type {string} */ address) => address.split(':')[1];
  const server = startProcess('service_manager', [manager, String(watchdogMs), `ingest=${port(config.listen)}`,
    `admin=${port(config.admin)}`, '--', path.join(binDir, 'fleetprofd'), '-c', file], { env });
  const lines = () => server.output().split('\n');
  const count = (/** @type {string} */ line) => lines().filter((one) => one === line).length;
  await untilReady(server, () => count('told READY=1') > 0);
  return {
    server, file, config, lines, count,
    url: `http://${config.listen}/v1/ingest/pk_demo`,
    adminUrl: `http://${config.admin}`,
    pid: () => Number(lines().filter((line) => line.startsWith('started ')).at(-1)?.split(' ')[1]),
  };
}

test('notifies the service manager of the start, a reload and the stop', async () => {
  const managed = await startManaged();
  assert.ok((await fetch(`${managed.adminUrl}/readyz`)).ok);
  assert.ok(managed.lines().includes('told STATUS=Taking uploads (sites: 1)'));

  const sites = [...managed.config.sites, { name: 'other', key: 'pk_other' }];
  fs.writeFileSync(managed.file, JSON.stringify({ ...managed.config, sites }));
  process.kill(managed.pid(), 'SIGHUP');
  await waitFor(() => managed.lines().includes('told STATUS=Taking uploads (sites: 2)'), { what: 'end of the reload' });
  assert.equal(managed.count('told RELOADING=1'), 1);

  fs.writeFileSync(managed.file, 'listen: nowhere\n');
  process.kill(managed.pid(), 'SIGHUP');
  await waitFor(() => managed.count('told READY=1') === 3, { what: 'end of the reload that was refused' });
  assert.equal((await send(managed.url, { body: envelope() })).status, 204);

  await managed.server.stop();
  assert.equal(managed.count('told STOPPING=1'), 1);
  assert.equal(managed.count('ended 0'), 1);
});

test('a reload changes the windows and the retention, also of what is waiting already', async () => {
  const { file, config } = await collectorConfig({
    database: postgres.conninfo('fleetprof_writer'), flush: { min_window: '1h', max_window: '1h' },
  });
  const collector = startProcess('fleetprofd', [path.join(binDir, 'fleetprofd'), '-c', file]);
  const counted = async () => (await postgres.sql(
    `select count(*) as n from fleetprof.upload_log where release = 'windows'`))[0].n;
  const upload = async () => assert.equal((await send(`http://${config.listen}/v1/ingest/pk_demo`,
    { body: envelope({ release: 'windows' }) })).status, 204);
  await waitFor(() => fetch(`http://${config.admin}/readyz`), { what: 'collector' });
  await upload();
  await waitFor(async () => await counted() === 1, { what: 'first upload, for which no window is open' });
  await upload();
  await postgres.execute('select fleetprof_data.make_partitions(array[current_date - 10])');
  const partitions = async () => (await postgres.sql(
    `select count(*) as n from pg_class where relname ~ to_char(current_date - 10, '"^(upload|session|event)_"YYYYMMDD$') and relkind = 'r'`))[0].n;
  assert.ok(await partitions() > 0);
  assert.equal(await counted(), 1);

  fs.writeFileSync(file, JSON.stringify({
    ...config, flush: { min_window: '10ms' }, retention: { facts: '2d', upload_log: '2d', sessions: '2d', upload_ids: '2d' },
  }));
  process.kill(collector.pid, 'SIGHUP');
  await waitFor(async () => await counted() === 2, { what: 'second upload' });
  await waitFor(async () => await partitions() === 0, { what: 'end of the partitions that are too old now' });
  assert.doesNotMatch(collector.output(), /keeps its value until a restart/);
  await collector.stop();
});

test('restarts under load refuse no connection and lose no upload', async () => {
  const managed = await startManaged();
  /** @type {string[]} */
  const ids = [];
  let over = false;
  const client = async () => {
    while (!over) {
      const id = randomUUID();
      const { status } = await send(managed.url, { body: envelope({ id, release: 'restarts' }) });
      // 503 is an answer: the same upload is accepted a moment later.
      if (status === 204) ids.push(id);
      else assert.equal(status, 503);
    }
  };
  const clients = [client(), client(), client(), client()];
  for (let restart = 1; restart <= 8; restart++) {
    const sent = ids.length;
    process.kill(managed.server.pid, 'SIGUSR1');
    await waitFor(() => managed.count('told READY=1') === restart + 1 && ids.length > sent + 20,
      { what: 'uploads after a restart' });
  }
  over = true;
  await Promise.all(clients);
  assert.deepEqual(managed.lines().filter((line) => line.startsWith('ended')), Array(8).fill('ended 0'), managed.server.output());

  await waitFor(async () => (await postgres.sql(
    `select count(*) as n from fleetprof.upload_log where release = 'restarts'`))[0].n === ids.length,
  { what: 'each upload, once, in SQL' });
  await managed.server.stop();
});

test('a stop answers each upload that waits for its turn', async () => {
  const collector = await startCollector({ config: {
    database: postgres.conninfo('fleetprof_writer'), http: { threads: 1 }, sites: [{ name: 'demo', key: 'pk_demo', formats: ['opera-scope'] }],
  } });
  const { sessions } = heavyUploads(); // each takes a good part of a second
  const replies = Array.from({ length: 24 }, () => send(`${collector.url}/v1/ingest/pk_demo`, sessions));
  await waitFor(async () => (await collector.metrics()).fleetprof_body_bytes_total >= replies.length * sessions.body.length, { what: 'all bodies' });
  await collector.stop(); // in time, and without an error
  const statuses = (await Promise.all(replies)).map(({ status }) => status);
  assert.deepEqual(statuses.filter((status) => status !== 204 && status !== 503), []);
});

test('the watchdog is fed, but not while a disk that hangs keeps uploads waiting', async (t) => {
  const faults = await startFaultySystem();
  if (!faults) return t.skip('a sanitizer is preloaded already');
  const managed = await startManaged({ watchdogMs: 200, env: faults.env });
  const fed = () => managed.count('told WATCHDOG=1');
  await waitFor(() => fed() >= 3, { what: 'watchdog that is fed' });

  faults.set({ syncDelayUs: 3_000_000 });
  const before = fed();
  const reply = send(managed.url, { body: envelope() });
  await delay(2_000);
  assert.ok(fed() <= before + 4, `fed ${fed() - before} times`);
  assert.equal((await reply).status, 204);
  faults.heal();
  const then = fed();
  await waitFor(() => fed() >= then + 3, { what: 'watchdog that is fed again' });
  await managed.server.stop();
});

test('refuses a descriptor of the service manager that is not a listening socket', async () => {
  const { file } = await collectorConfig({ database: postgres.conninfo('fleetprof_writer') });
  const { code, stderr } = await run(['sh', '-c',
    'LISTEN_PID=$$ LISTEN_FDS=1 LISTEN_FDNAMES=ingest exec "$0" -c "$1" 3</dev/null', path.join(binDir, 'fleetprofd'), file]);
  assert.equal(code, 2);
  assert.match(stderr, /the service manager's socket ingest is not a listening stream socket/);
});

for (const [names, message] of /** @type {[string, RegExp][]} */ ([
  ['ingest:admin:ingest', /several sockets are named ingest; .* empty ListenStream=/],
  ['admin:fleetprofd.socket:ingest', /a socket is named fleetprofd\.socket; .*FileDescriptorName=/],
])) {
  test(`refuses sockets at which nobody would answer: ${names}`, async () => {
    const { file } = await collectorConfig({ database: postgres.conninfo('fleetprof_writer') });
    const { code, stderr } = await run(['sh', '-c',
      'LISTEN_PID=$$ LISTEN_FDS=3 LISTEN_FDNAMES="$2" exec "$0" -c "$1" 3</dev/null 4</dev/null 5</dev/null',
      path.join(binDir, 'fleetprofd'), file, names]);
    assert.equal(code, 2);
    assert.match(stderr, message);
  });
}
