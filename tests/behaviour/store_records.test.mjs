// SPDX-License-Identifier: Apache-2.0
/**
 * The uploads of one spool record are counted all or none, whether the database or the bytes make one fail.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { startPostgres } from './stack.mjs';
import { assertCounted, killWriters, newDatabase, range, refuseValues, startWriter } from './store_tool.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(async () => {
  killWriters();
  await postgres.stop();
});

test('a record of many uploads counts each of them, known ones once', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.form(1, 64);
  await writer.append(65, 3);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 67));
  // Some of these are already counted, by their ids; the others count.
  await writer.form(60, 20);
  await writer.flushed();
  await assertCounted(database, writer, range(1, 79));
  assert.equal(await writer.metric('uploads_flushed_total'), 79);
  assert.equal(await writer.metric('uploads_duplicate_total'), 8);
  await writer.quit();
});

test('a record of which the database refuses one upload is set aside whole', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  const poison = await writer.describe(12);
  await database.execute(refuseValues('upload', `new.upload_id = '${poison.id}'`));
  await writer.append(1, 9);
  await writer.form(10, 5);
  await writer.append(20, 9);
  await writer.flushed();
  await assertCounted(database, writer, [...range(1, 9), ...range(20, 9)]);
  assert.equal(await writer.metric('uploads_quarantined_total'), 5);
  assert.equal(fs.readdirSync(writer.spoolDir).filter((name) => /^refused-[0-9a-f]{16}$/.test(name)).length, 1);
  assert.match(writer.log(), /upload set aside.*reason=refused.*uploads=5/);
  await writer.quit();
});

test('nothing of a record is counted when what follows its first upload cannot be read', async () => {
  const database = await newDatabase(postgres);
  const writer = await startWriter({ conninfo: database.conninfo() });
  await writer.append(1, 3);
  await writer.damage(4);
  await writer.append(5, 3);
  await writer.flushed();
  await assertCounted(database, writer, [...range(1, 3), ...range(5, 3)]);
  assert.equal(await writer.metric('uploads_quarantined_total'), 2);
  assert.match(writer.log(), /upload set aside.*reason=damaged.*uploads=2/);
  await writer.quit();
});
