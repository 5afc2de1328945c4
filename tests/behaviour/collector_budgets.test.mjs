// SPDX-License-Identifier: Apache-2.0
/**
 * A site's budgets: requests over them get 429 with the time to retry, the others are accepted, and no other site
 * is affected.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { connect, envelope, send } from './collector_client.mjs';
import { startCollector, waitFor } from './stack.mjs';

const origin = 'https://shop.example';
const body = envelope();
const unlike = body.length * 5 + 300; // five bodies and some

/** @param {string} name @param {Record<string, unknown>} [budgets] */
const site = (name, budgets) => ({ name, key: `pk_${name}`, origins: [origin], ...budgets && { budgets } });

const sites = [
  site('few', { requests_per_second: 1, burst: '3s' }),
  site('small', { bytes_per_second: Math.ceil(unlike / 2), burst: '2s' }),
  site('chunks', { bytes_per_second: Math.ceil(unlike / 2), burst: '2s' }),
  site('stream', { bytes_per_second: 100, burst: '1s' }),
  site('returns', { bytes_per_second: Math.ceil(unlike / 2), burst: '2s' }),
  site('reloaded', { requests_per_second: 1, burst: '2s' }),
  site('free'),
];

/** @type {import('./stack.mjs').Collector} */
let collector;
before(async () => {
  // Uploads wait in the spool: there is no database.
  collector = await startCollector({ config: { database: 'host=/nonexistent', sites } });
});
after(() => collector.stop());

/** @param {string} name @param {import('./collector_client.mjs').Request} [request] */
const upload = (name, request = { body }) => send(`${collector.url}/v1/ingest/pk_${name}`,
  { ...request, headers: { origin, ...request.headers } });

/** @param {() => Promise<import('./collector_client.mjs').Reply>} ask how often it is taken before it is refused */
async function untilRefused(ask) {
  for (let taken = 0; taken < 200; taken++) {
    const reply = await ask();
    if (reply.status !== 204) return { taken, reply };
  }
  assert.fail('none of 200 was refused');
}

test('requests past the burst get 429, which says how and when to go on', async () => {
  const { taken, reply } = await untilRefused(() => upload('few'));
  assert.ok(taken === 3 || taken === 4, `${taken} were taken`);
  assert.equal(reply.status, 429);
  assert.equal(reply.headers['retry-after'], '1');
  assert.equal(reply.headers['access-control-allow-origin'], origin);
  assert.equal(reply.headers['access-control-expose-headers'], 'Retry-After, Fleetprof-Refused');
  assert.equal(reply.problem.title, 'Too Many Requests');
  assert.match(reply.problem.detail, /requests_per_second/);
  assert.ok((await collector.metrics())['fleetprof_uploads_refused_total{site="few",reason="budget_requests"}'] > 0);

  assert.equal((await upload('free')).status, 204);
  const preflight = await upload('few', { method: 'OPTIONS' });
  assert.equal(preflight.status, 204);
  await delay(Number(reply.headers['retry-after']) * 1000);
  assert.equal((await upload('few')).status, 204);
});

test('what is refused on its headers costs nothing', async () => {
  await waitFor(async () => (await upload('few')).status === 204, { what: 'budget' });
  for (let i = 0; i < 10; i++) {
    assert.equal((await upload('few', { body, headers: { 'content-type': 'image/png' } })).status, 415);
    assert.equal((await upload('few', { body, headers: { origin: 'https://evil.example' } })).status, 403);
  }
});

test('bytes past the burst are refused by the length that is announced', async () => {
  const { taken, reply } = await untilRefused(() => upload('small'));
  assert.ok(taken >= 5, `${taken} were taken`);
  assert.equal(reply.status, 429);
  assert.match(reply.problem.detail, /bytes_per_second/);
  assert.equal(reply.headers['retry-after'], '1');
  assert.ok((await collector.metrics())['fleetprof_uploads_refused_total{site="small",reason="budget_bytes"}'] > 0);

  // Not one byte of the body is needed to know.
  const { socket, text } = await connect(collector.url);
  socket.write(`POST /v1/ingest/pk_small HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: ${8 << 20}\r\n\r\n`);
  await waitFor(() => text().includes('bytes_per_second'), { what: 'refusal' });
  assert.match(text(), /^HTTP\/1.1 429/);
  const [, seconds] = /** @type {RegExpMatchArray} */ (text().match(/^Retry-After: (\d+)\r$/m));
  assert.ok(Number(seconds) >= 1 && Number(seconds) <= 2, 'a full bucket takes its burst');
  socket.destroy();
});

test('bytes in chunks are charged as they come', async () => {
  const { taken, reply } = await untilRefused(() => upload('chunks', { chunks: [body.slice(0, 100), body.slice(100)] }));
  assert.ok(taken >= 5, `${taken} were taken`);
  assert.equal(reply.status, 429);
  assert.match(reply.problem.detail, /bytes_per_second/);
  assert.equal(reply.headers['retry-after'], '1');
});

test('an upload larger than the whole bucket is also taken in chunks when the bucket is full', async () => {
  const chunks = [0, 60, 120, 180].map((at) => body.slice(at, at === 180 ? undefined : at + 60));
  assert.equal((await upload('stream', { chunks })).status, 204);
  const { status, headers } = await upload('stream', { chunks });
  assert.equal(status, 429);
  assert.ok(Number(headers['retry-after']) >= Math.floor((body.length - 100) / 100), headers['retry-after']);
});

test('what was announced and never sent is given back', async () => {
  for (let i = 0; i < 20; i++) {
    const { socket, closed } = await connect(collector.url);
    socket.write(`POST /v1/ingest/pk_returns HTTP/1.1\r\nHost: x\r\nContent-Length: ${unlike - 100}\r\n\r\n{`);
    await waitFor(async () => (await collector.metrics()).fleetprof_connections === 1, { what: 'connection' });
    socket.destroy();
    await closed;
    await waitFor(async () => (await collector.metrics()).fleetprof_connections === 0, { what: 'end of the connection' });
  }
  const { taken } = await untilRefused(() => upload('returns'));
  assert.ok(taken >= 5, `${taken} were taken`);
});

test('a reload changes the rate and keeps the level', async () => {
  await untilRefused(() => upload('reloaded'));
  const reload = async (/** @type {Record<string, unknown>} */ budgets) => {
    const lines = () => collector.server.output().split('configuration reloaded').length;
    const before = lines();
    fs.writeFileSync(collector.file, JSON.stringify(
      { ...collector.config, sites: [...sites.filter(({ name }) => name !== 'reloaded'), site('reloaded', budgets)] }));
    process.kill(collector.server.pid, 'SIGHUP');
    await waitFor(() => lines() > before, { what: 'reload' });
  };
  await reload({ requests_per_second: 1, burst: '2s' });
  const { taken } = await untilRefused(() => upload('reloaded'));
  assert.ok(taken <= 1, `${taken} were taken from an empty bucket`);
  await reload({ requests_per_second: 1_000_000 });
  for (let i = 0; i < 50; i++) assert.equal((await upload('reloaded')).status, 204);
  const began = performance.now();
  await reload({ requests_per_second: 1, burst: '2s' });
  const left = await untilRefused(() => upload('reloaded'));
  const refilled = Math.ceil((performance.now() - began) / 1000);
  assert.ok(left.taken <= 2 + refilled, `${left.taken} were taken from a bucket that was cut to 2, and ${refilled} at most since`);
});

test('the log names each site that gets 429 once a minute', () => {
  const lines = collector.server.output().split('\n').filter((line) => line.includes('spent its budget'));
  for (const name of ['few', 'small', 'chunks', 'reloaded']) {
    const own = lines.filter((line) => line.includes(`site="${name}"`) || line.includes(`site=${name}`));
    assert.equal(own.length, 1, `${name}: ${own.join('\n')}`);
  }
});
