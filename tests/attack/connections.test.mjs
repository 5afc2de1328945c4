// SPDX-License-Identifier: Apache-2.0
/**
 * Clients that hold connections without work: none keeps its connection beyond the deadline, and none locks the
 * others out.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { send } from '../behaviour/collector_client.mjs';
import { binDir, collectorConfig, run } from '../behaviour/stack.mjs';
import { startSiege } from './siege.mjs';

const long = process.env.FLEETPROF_LONG === '1';
const connections = 1024;
const request_timeout = '2s';
// No upload is large here: resident memory is the program, its threads and its connections.
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
  const outcome = await siege.under(t, 'idle', { clients: crowd, forMs: long ? 60_000 : 1500 }, most);
  assert.ok(outcome.ended >= crowd - connections, `${outcome.ended} were ended`);
});

test(`${crowd} idle connections, and room for them: each costs little memory`, async (t) => {
  const roomy = await startSiege({ limits: { connections: crowd + 100 } });
  const outcome = await roomy.under(t, 'idle', { clients: crowd, forMs: long ? 20_000 : 1000 },
    { ...most, residentMiB: most.residentMiB + crowd * 40 / 1024 });
  assert.equal(outcome.held, crowd);
  await roomy.stack.stop();
});

test('a cap on the connections of one address leaves the others alone', async (t) => {
  const connections_per_address = 50;
  const capped = await startSiege({ limits: { connections_per_address } });
  const outcome = await capped.under(t, 'idle', { clients: 500, from: '127.0.0.2', forMs: 1000 }, most);
  assert.equal(outcome.held, connections_per_address);
  await capped.stack.stop();
});

test('no start where so many open files are not allowed', async () => {
  for (const [allowed, limits, threads] of /** @type {const} */ ([[1000, {}, 2], [600, { connections: 16 }, 256]])) {
    const { file } = await collectorConfig({ database: 'host=/nonexistent', limits, http: { threads } });
    const { code, stderr } = await run(['sh', '-c', `ulimit -n ${allowed} && exec "$@"`, 'sh', path.join(binDir, 'fleetprofd'), '-c', file]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`limits\\.connections \\(\\d+\\) and http\\.threads \\(${threads}\\) need \\d+ open files, but ${allowed} are allowed`));
  }
});

test('slow clients of the admin listener keep no probe out', async (t) => {
  const { adminUrl } = siege.stack.collector;
  const { hostname, port } = new URL(adminUrl);
  /** @type {Set<net.Socket>} */
  const slow = new Set();
  const open = () => {
    const socket = net.connect(Number(port), hostname);
    slow.add(socket);
    socket.on('error', () => {}).on('close', () => { slow.delete(socket); });
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nX: ');
  };
  const drip = setInterval(() => {
    for (const socket of slow) socket.write('a');
    while (slow.size < 400) open();
  }, 100);
  t.after(() => {
    clearInterval(drip);
    for (const socket of slow) socket.destroy();
  });
  for (let i = 0; i < 20; i++) {
    for (const page of ['healthz', 'readyz', 'metrics']) {
      const late = delay(5000, undefined, { ref: false }).then(() => ({ status: 'no answer' }));
      const reply = await Promise.race([send(`${adminUrl}/${page}`, { method: 'GET' }), late]);
      assert.equal(reply.status, 200);
    }
    await delay(100);
  }
});

test('huge headers are refused', async (t) => {
  const outcome = await siege.under(t, 'hugeHeaders', { clients: 32, forMs: long ? 60_000 : 800 }, most);
  assert.deepEqual(Object.keys(outcome).sort(), ['422', '431']);
});
