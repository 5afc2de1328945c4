/**
 * Sealing with a real PostgreSQL: whatever happens, each fact is in SQL once, at every span.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrate, startPostgres } from './stack.mjs';
import { killSealers, hourUs, dayUs, startFlushes, startSealTool } from './seal_tool.mjs';
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
  console.error("check", performance.now());
  const [{ differences }] = await database.sql('select public.differences()');
  console.error("checked", performance.now());
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
