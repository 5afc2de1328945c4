// SPDX-License-Identifier: Apache-2.0
/**
 * The collector while a share of all allocations fails, in its own code and in libraries: it stays alive, counts what
 * it acknowledges once, refuses for the right reasons, and works again when memory is back.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { failingMemory, failOneIn } from './failing_memory.mjs';
import { binDir, runOrThrow, startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';

const rates = [1000, 200, 60, 25];
const uploadsPerRate = process.env.FLEETPROF_LONG === '1' ? 2000 : 150;
const clients = 4;
const invalid = envelope({ trace: { frames: [], resources: [], stacks: [], samples: [{ timestamp: 1, stackId: 7 }] } });

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(() => postgres.stop());

let again = 0;

/** A server without memory for a reply closes the connection. @param {Parameters<typeof send>} args */
const trySend = (...args) => send(...args).catch(() => undefined);

/** Retries like a client, until it gets a final answer. @param {Parameters<typeof send>} args */
async function sendStubbornly(...args) {
  for (let tries = 0; tries < 200; tries++) {
    const reply = await trySend(...args);
    if (reply && reply.status !== 503) return reply;
    if (reply) assert.ok(Number(reply.headers['retry-after']) > 0);
    again++;
  }
  throw new Error('200 tries were not enough');
}

test('what is acknowledged while allocations fail is counted once, and all goes on when they do not', async (t) => {
  if (/libtsan/.test(await runOrThrow(['ldd', path.join(binDir, 'fleetprofd')]))) return t.skip('ThreadSanitizer needs memory itself');
  const memory = await failingMemory(temporaryDir('memory'));
  const control = path.join(temporaryDir('memory'), 'one-in');
  failOneIn(control, 0);
  const collector = await startCollector({
    config: { database: postgres.conninfo('fleetprof_writer'), dead_letters: { path: path.join(temporaryDir('letters'), 'letters') } },
    env: { ...memory, FLEETPROF_FAIL_ONE_IN: control },
  });
  const ingest = `${collector.url}/v1/ingest/pk_demo`;
  /** @type {string[]} */
  const acknowledged = [];
  let refused = 0;
  let parts = 0;
  /** A long session of one part. @param {number} window */
  const runSession = async (window) => {
    const { status, headers } = await sendStubbornly(`${ingest}/sessions?window=${window}`, { body: '' });
    assert.equal(status, 201, 'no earlier start blocks this one after an answer was lost');
    const session = new URL(/** @type {string} */ (headers.location), `${ingest}/`).href;
    assert.equal((await sendStubbornly(`${session}?part=0`, { body: envelope() })).status, 204);
    parts++;
    // On the second try there may be nothing left to stop.
    assert.ok([204, 400].includes((await sendStubbornly(`${session}/stop`, { body: '' })).status));
  };
  const client = async (/** @type {number} */ number) => {
    for (let i = 0; i < uploadsPerRate / clients; i++) {
      const id = randomUUID();
      const { status } = await sendStubbornly(ingest, { body: envelope({ id }) });
      assert.equal(status, 204);
      acknowledged.push(id);
      if (i % 10 === 0) {
        assert.equal((await sendStubbornly(ingest, { body: invalid })).status, 422);
        refused++;
        await runSession(number);
      }
    }
  };
  for (const each of rates) {
    failOneIn(control, each);
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
    assert.ok(collector.server.running(), `one in ${each}`);
  }
  failOneIn(control, 0);
  assert.ok(again > uploadsPerRate / 10, `${again} requests had to be sent again`);

  // An upload without an answer may have been stored all the same, each time it was sent, under one id.
  await waitFor(async () => (await collector.metrics())['fleetprof_spool_backlog_records'] === 0, { what: 'an empty spool' });
  const rows = await postgres.sql('select upload_id::text as id from fleetprof.upload_log');
  const counted = new Set(rows.map(({ id }) => id));
  assert.deepEqual(acknowledged.filter((id) => !counted.has(id)), []);
  assert.equal(rows.length, acknowledged.length + parts);

  await waitFor(async () => {
    const metrics = await collector.metrics();
    return metrics['fleetprof_dead_letters_total{result="stored"}'] + metrics['fleetprof_dead_letters_total{result="dropped"}'] >= refused;
  }, { what: 'a letter of each refusal, or that it was dropped' });
  assert.equal((await send(ingest, { body: envelope() })).status, 204);
  await collector.stop();
});
