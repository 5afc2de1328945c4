// SPDX-License-Identifier: Apache-2.0
/**
 * Small bodies with high costs: memory stays within the configured bounds, the other site is served all the time, and
 * endless new names don't fill the database.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startSiege } from './siege.mjs';

const long = process.env.FLEETPROF_LONG === '1';
const mib = 1024 * 1024;
const threads = 2;
const limits = { upload_memory: 256 * mib, body_memory: 64 * mib, connections: 1024 };
const ceilings = { memory: 64 * mib };
// The bound that docs/configuration.md gives.
const residentMiB = 40 + 16 + ((threads + 1) * limits.upload_memory + limits.body_memory + ceilings.memory
  + limits.connections * 40 * 1024) / mib;

/** @type {import('./siege.mjs').Siege} */
let siege;
before(async () => { siege = await startSiege({ limits, ceilings, http: { threads } }); });
after(() => siege.stack.stop());

test('compression bombs, nested ones too, many at once', async (t) => {
  const outcome = await siege.under(t, 'bombs', { clients: 32, forMs: long ? 60_000 : 1000 },
    { residentMiB, databaseMiB: 16 });
  assert.deepEqual(Object.keys(outcome).sort(), ['400', '413', '415']);
});

test('forms of many parts, compressed ones too', async (t) => {
  const outcome = await siege.under(t, 'forms', { clients: 16, requests: long ? 20_000 : 96 },
    { residentMiB, databaseMiB: 16 });
  // Some get 503 and may retry: the site's share of the memory for bodies is used up.
  assert.deepEqual(Object.keys(outcome).filter((status) => status !== '503').sort(), ['204', '400', '413']);
});

test('what takes longest to decode of each format', async (t) => {
  const outcome = await siege.under(t, 'slowToDecode', { clients: 8, forMs: long ? 60_000 : 2000 },
    { residentMiB, databaseMiB: 512 });
  // Some get 429: the site's budget of bytes is spent.
  assert.deepEqual(Object.keys(outcome).filter((status) => status !== '429'), ['204']);
});

test('giant traces, all different', async (t) => {
  const outcome = await siege.under(t, 'giants', { clients: 4, requests: long ? 1000 : 6 },
    { residentMiB, databaseMiB: 512 });
  assert.deepEqual(Object.keys(outcome), ['204']);
});

test('names that never came before, at full speed', async (t) => {
  const outcome = await siege.under(t, 'randomNames', { clients: 16, forMs: long ? 600_000 : 1000 },
    { residentMiB, databaseMiB: 512 });
  assert.deepEqual(Object.keys(outcome), ['204']);
});
