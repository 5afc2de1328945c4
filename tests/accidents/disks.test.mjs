// SPDX-License-Identifier: Apache-2.0
/**
 * Disks that are full or slow: that of the spool, and PostgreSQL's.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { runOrThrow, startCollector, startPostgres, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { errors, startFaultySystem } from '../chaos/faulty_system.mjs';
import { openLedger } from './ledger.mjs';

const mayMount = process.getuid?.() === 0;
const shop = { site: 'demo', key: 'pk_demo' };

/**
 * Uploads until the condition holds; returns how often each status came.
 * @param {import('./ledger.mjs').Ledger} ledger @param {string} url @param {() => boolean | Promise<boolean>} isEnough
 * @param {Record<string, unknown>} [body]
 */
async function uploadUntil(ledger, url, isEnough, body) {
  /** @type {Record<number, number>} */
  const statuses = {};
  await waitFor(async () => {
    const status = await ledger.upload(url, { ...shop, body });
    statuses[status] = (statuses[status] ?? 0) + 1;
    return isEnough();
  }, { intervalMs: 5, what: 'the state that uploads bring about' });
  return statuses;
}

test('the disk of the spool is full for a while: 503, and nothing that was acknowledged is lost', async () => {
  const system = await startFaultySystem();
  if (!system) return; // sanitizers must be loaded first
  const postgres = await startPostgres({ migrated: true });
  const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') }, env: system.env });
  const ledger = openLedger();
  for (let i = 0; i < 50; i++) assert.equal(await ledger.upload(collector.url, shop), 204);
  system.set({ failingWrites: 1_000_000, error: errors.ENOSPC });
  let refused = 0;
  for (let i = 0; i < 20; i++) refused += Number(await ledger.upload(collector.url, shop) === 503);
  assert.equal(refused, 20);
  const ready = await fetch(`${collector.adminUrl}/readyz`);
  assert.equal(ready.status, 503, await ready.text());
  system.heal();
  await uploadUntil(ledger, collector.url, () => ledger.acknowledged() >= 100);
  await ledger.settle('the disk of the spool is full for a while', postgres.sql);
  await collector.stop();
  await postgres.stop();
});

test('the disk of the spool takes a second for each sync: uploads share syncs, and all are counted', async () => {
  const system = await startFaultySystem();
  if (!system) return;
  const postgres = await startPostgres({ migrated: true });
  const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') }, env: system.env });
  const ledger = openLedger();
  system.set({ syncDelayUs: 1_000_000 });
  const began = performance.now();
  const statuses = await Promise.all(Array.from({ length: 200 }, () => ledger.upload(collector.url, shop)));
  assert.deepEqual([...new Set(statuses)], [204]);
  assert.ok(performance.now() - began < 60_000, 'not one after the other');
  system.heal();
  await ledger.settle('the disk of the spool is slow', postgres.sql);
  await collector.stop();
  await postgres.stop();
});

test("PostgreSQL's disk is full for a while: uploads wait in the spool and count once", { skip: !mayMount }, async () => {
  const postgres = await startPostgres({ migrated: true });
  // A tablespace on a small disk of its own, for what is made from now on.
  const disk = temporaryDir('small');
  await runOrThrow(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'fleetprof', disk]);
  try {
    const space = path.join(disk, 'space');
    fs.mkdirSync(space);
    await runOrThrow(['chown', 'postgres', space]);
    await postgres.execute(`create tablespace small location '${space}'`);
    await postgres.execute("grant create on tablespace small to public; alter database fleetprof set default_tablespace = 'small'");
    const tables = await postgres.execute("select format('alter table fleetprof_data.%I set tablespace small;', tablename) from pg_tables where schemaname = 'fleetprof_data' and tablename in ('upload_id', 'frame', 'stack', 'resource')");
    await postgres.execute(tables);
    const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
    const ledger = openLedger();
    for (let i = 0; i < 50; i++) assert.equal(await ledger.upload(collector.url, shop), 204);
    const filler = path.join(disk, 'filler');
    const handle = fs.openSync(filler, 'w');
    try {
      for (;;) fs.writeSync(handle, Buffer.alloc(1 << 14));
    } catch (error) {
      assert.equal(/** @type {NodeJS.ErrnoException} */ (error).code, 'ENOSPC');
    }
    fs.closeSync(handle);
    // New names and ids need room that there is not.
    let number = 0;
    const failed = async () => (await collector.metrics()).fleetprof_flush_errors_total > 0;
    while (!await failed()) {
      assert.ok(number < 20_000, 'a flush must fail');
      const frames = Array.from({ length: 40 }, (_, at) => ({ name: `f${number}_${at}`, resourceId: 0, line: 1, column: at + 1 }));
      const status = await ledger.upload(collector.url, {
        ...shop,
        body: { trace: { resources: ['https://shop.example/app.js'], frames, stacks: frames.map((_, frameId) => ({ frameId })), samples: frames.map((_, stackId) => ({ timestamp: stackId * 10, stackId })) } },
      });
      assert.equal(status, 204, 'the spool takes uploads');
      number += 1;
    }
    assert.match(collector.server.output(), /No space left on device|could not extend file/);
    fs.rmSync(filler);
    await ledger.settle("PostgreSQL's disk is full for a while", postgres.sql, { timeoutMs: 120_000 });
    assert.equal((await collector.metrics()).fleetprof_uploads_quarantined_total, 0, 'no record is to blame');
    await collector.stop();
    await postgres.stop();
  } finally {
    await runOrThrow(['umount', '--lazy', disk]);
  }
});
