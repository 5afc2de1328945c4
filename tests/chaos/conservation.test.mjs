// SPDX-License-Identifier: Apache-2.0
/**
 * Conservation: whatever breaks meanwhile, each acknowledged upload is in SQL exactly once, nothing else
 * is, and every sum is right to the microsecond.
 *
 * FLEETPROF_CHAOS_SEED and FLEETPROF_CHAOS_FAULTS choose the run; FLEETPROF_LONG makes it a long one.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import { startPostgres, waitFor } from '../behaviour/stack.mjs';
import { startClients } from './clients.mjs';
import { startPlace, untilFlushed } from './collectors.mjs';
import { differences } from './conservation.mjs';
import { contentDifferences } from './contents.mjs';
import { lanes, runFaults } from './faults.mjs';
import { emptyLedger, inWords } from './ledger.mjs';
import { seededRandom } from './random.mjs';
import { startReader } from './reader.mjs';
import { liveInThePast, sealedBlocks, untilSealed } from './sealing.mjs';

const long = process.env.FLEETPROF_LONG === '1';
const faultCount = Number(process.env.FLEETPROF_CHAOS_FAULTS ?? (long ? 500 : 25));
const seeds = process.env.FLEETPROF_CHAOS_SEED ? [Number(process.env.FLEETPROF_CHAOS_SEED)]
  : long ? [1, 2, 3] : [Date.now() % 1_000_000];
const healMs = 300_000;
const shownDifferences = 20;

/** @param {string[]} lines @param {string} seed */
const report = (lines, seed) =>
  `${lines.length} differences, ${seed}\n${lines.slice(0, shownDifferences).join('\n')}`;

for (const seed of seeds) {
  test(`${faultCount} faults, seed ${seed}: what was acknowledged is counted once, and nothing else`, async (t) => {
    const name = `seed ${seed}, ${faultCount} faults`;
    const random = seededRandom(seed);
    const postgres = await startPostgres({ migrated: true });
    const database = postgres.conninfo('fleetprof_writer');
    const places = [
      await startPlace({ name: 'first collector', database, onSmallDisk: true }),
      await startPlace({ name: 'second collector', database, onSmallDisk: false }),
    ];
    const ledger = emptyLedger();
    const endPast = liveInThePast(places, random.branch());
    const endReading = startReader(postgres, random.branch());
    const end = startClients({ doors: places, clients: 12, pauseMs: 150, random, ledger });

    /** @param {number} more @param {string} when */
    const replies = async (more, when) => {
      const { replies: before } = ledger;
      await waitFor(() => ledger.replies > before + more, { timeoutMs: healMs, what: `204s ${when}` });
    };
    const done = await runFaults(lanes(places, postgres), faultCount, random, () => replies(80, 'after a fault'));

    await endPast();
    for (const place of places) place.system?.heal();
    await end();
    for (const place of places) {
      const endFresh = startClients({ doors: [place], clients: 1, pauseMs: 1, random, ledger });
      await replies(1, `of ${place.name} after all faults`);
      await endFresh();
    }
    for (const place of places) await untilFlushed(place, healMs);
    await untilSealed(postgres, healMs);
    const { reads, lines: torn } = await endReading();
    for (const place of places) await place.stop();
    t.diagnostic(`${name}: ${[...done].map(([kind, count]) => `${count} × ${kind}`).join(', ')}`);
    t.diagnostic(inWords(ledger));
    const blocks = await sealedBlocks(postgres.sql);
    t.diagnostic(`${reads} snapshots read, sealed blocks: ${blocks.join(', ')}`);

    const lines = [...await differences(ledger, postgres.sql), ...torn, ...await contentDifferences(ledger, postgres)];
    if (reads < 10) lines.push(`reader: ${reads} snapshots only`);
    if (places.some(({ system }) => system) && blocks.length === 0) lines.push('sealing: nothing was sealed');
    for (const place of places) {
      const refused = fs.readdirSync(place.spool).filter((file) => file.startsWith('refused-'));
      lines.push(...refused.map((file) => `${place.name}: ${file} was set aside`));
    }
    await postgres.stop();
    assert.equal(lines.length, 0, report(lines, name));
  });
}
