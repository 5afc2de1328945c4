// SPDX-License-Identifier: Apache-2.0
/**
 * A spool restored from an old copy, at a bad time: the database is down, and the collector is killed again before it
 * has reached it.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { envelope, send } from '../behaviour/collector_client.mjs';
import { startCollector, startPostgres, temporaryDir, waitFor } from '../behaviour/stack.mjs';

test('an old copy that outgrows the position it was at, before the database is back, loses nothing', async () => {
  const postgres = await startPostgres({ migrated: true });
  let collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
  const { config } = collector;
  const restart = async () => { collector = await startCollector({ config }); };
  const upload = async (/** @type {number} */ count) => {
    for (let i = 0; i < count; i++) {
      const { status } = await send(`${collector.url}/v1/ingest/pk_demo`, { body: envelope() });
      assert.equal(status, 204);
    }
  };
  const flushed = () => waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0,
    { what: 'empty backlog' });

  await upload(5);
  await flushed();
  await collector.server.stop('SIGKILL');
  const { path: spool } = config.spool;
  const copy = `${temporaryDir('copy')}/spool`;
  fs.cpSync(spool, copy, { recursive: true });
  await restart();
  await upload(20);
  await flushed();
  await collector.server.stop('SIGKILL');
  fs.rmSync(spool, { recursive: true });
  fs.cpSync(copy, spool, { recursive: true });

  await postgres.stop();
  await restart();
  await upload(30);
  await collector.server.stop('SIGKILL');
  await postgres.start();
  await restart();
  await upload(1);
  await flushed();
  await collector.stop();
  const [{ count }] = await postgres.sql('select count(*) as count from fleetprof.upload_log');
  await postgres.stop();
  assert.equal(count, 5 + 20 + 30 + 1);
});
