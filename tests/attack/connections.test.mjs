/**
 * Clients that cost a connection and no work: none of them keeps a connection for longer than it may,
 * and none keeps the others out.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { startSiege } from './siege.mjs';

const long = process.env.FLEETPROF_LONG === '1';
const connections = 1024;
const request_timeout = '2s';
// No upload is large here: what is resident is the program, its threads and its connections.
const most = { residentMiB: 64, databaseMiB: 16 };
// Our connections take descriptors too.
const files = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' })) || Infinity;
const crowd = Math.min(10_000, files - 2000);

/** @type {import('./siege.mjs').Siege} */
let siege;
before(async () => { siege = await startSiege({ limits: { connections, request_timeout } }); });
after(() => siege.stack.stop());

for (const attack of /** @type {const} */ (['slowHeaders', 'slowBodies', 'slowChunks'])) {
  test(`${attack}: each is ended, however much it sends`, async (t) => {
    const clients = 900;
    const ended = async () =>
      (await siege.stack.collector.metrics())['fleetprof_connections_ended_total{reason="slow"}'];
    const before = await ended();
    assert.deepEqual(await siege.under(t, attack, { clients }, most), { ended: clients });
    assert.equal(await ended() - before, clients);
  });
}

test(`${crowd} idle connections, many more than there may be: new ones are served all the same`, async (t) => {
  const outcome = await siege.under(t, 'idle', { clients: crowd, forMs: long ? 60_000 : 3000 }, most);
  assert.ok(outcome.ended >= crowd - connections, `${outcome.ended} were ended`);
});

test(`${crowd} idle connections, and room for them: each costs little memory`, async (t) => {
  const roomy = await startSiege({ limits: { connections: crowd + 100 } });
  const outcome = await roomy.under(t, 'idle', { clients: crowd, forMs: long ? 20_000 : 2000 },
    { ...most, residentMiB: most.residentMiB + crowd * 40 / 1024 });
  assert.equal(outcome.held, crowd);
  await roomy.stack.stop();
});

test('huge headers are refused', async (t) => {
  const outcome = await siege.under(t, 'hugeHeaders', { clients: 32, forMs: long ? 60_000 : 2000 }, most);
  assert.equal(outcome[204], undefined);
});
