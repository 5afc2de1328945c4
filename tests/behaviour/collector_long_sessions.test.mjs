/**
 * Long sessions: a capture that is started, uploaded in parts and stopped, one at a time in a window.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;
before(async () => {
  stack = await startStack();
  url = `${stack.collector.url}/v1/ingest/pk_demo/sessions`;
});
after(() => stack?.stop());

/** @param {string} [query] */
async function start(query = '') {
  const reply = await send(url + query, { body: '' });
  assert.equal(reply.status, 201, reply.body);
  const { session } = JSON.parse(reply.body);
  assert.equal(reply.headers.location, `sessions/${session}`, 'relative to …/sessions');
  return session;
}

/** @param {number} time */
const dump = (time) => `{"type":1,"time":${time},"duration":2}\n{"type":3,"time":${time + 5},"duration":1}\n`;

test('a dump in parts is one session: each part durable, in order, counted once', async () => {
  const session = await start();
  for (const part of [0, 1, 2, 1, 0]) {
    const reply = await send(`${url}/${session}?part=${part}`, { body: dump(part * 100) });
    assert.equal(reply.status, 204, reply.body);
  }
  assert.equal((await send(`${url}/${session}/stop`, { body: '' })).status, 204);
  const parts = () => stack.sql(`select part, events from fleetprof.sessions where load_id = '${session}' order by part`);
  await waitFor(async () => (await parts()).length === 3, { what: 'all parts in SQL' });
  assert.deepEqual(await parts(), [0, 1, 2].map((part) => ({ part, events: 2 })));
  assert.deepEqual(await stack.sql(`select start_ms, type from fleetprof.sessions, fleetprof.get_events(session_id, 1)
    where load_id = '${session}' order by part, start_ms`),
  [0, 100, 200].flatMap((at) => [{ start_ms: at, type: 'LAYOUT' }, { start_ms: at + 5, type: 'PAINT' }]));
  const [sums] = await stack.sql("select sum(count)::int as count, sum(self_ms) as self_ms from fleetprof.event_breakdown('demo')");
  assert.deepEqual(sums, { count: 6, self_ms: 9 });
});

test('one runs in a window at a time', async () => {
  const session = await start('?window=3');
  const second = await send(`${url}?window=3`, { body: '' });
  assert.equal(second.status, 400);
  assert.match(second.problem.detail, /a session runs for this window/);
  const other = await start('?window=4');
  assert.equal((await send(`${url}/${session}/stop`, { body: '' })).status, 204);
  const next = await start('?window=3');
  for (const id of [other, next]) assert.equal((await send(`${url}/${id}/stop`, { body: '' })).status, 204);
});

test('what was stopped, or never ran, takes no part and is not stopped', async () => {
  const session = await start('?window=5');
  await send(`${url}/${session}/stop`, { body: '' });
  for (const id of [session, '123e4567-e89b-42d3-a456-426614174000']) {
    for (const [address, body] of [[`${url}/${id}?part=0`, dump(0)], [`${url}/${id}/stop`, '']]) {
      const reply = await send(address, { body });
      assert.equal(reply.status, 400, address);
      assert.match(reply.problem.detail, /no such session runs here/);
    }
  }
});

test('a part says which one it is, and is one upload', async () => {
  const session = await start('?window=6');
  for (const query of ['', '?part=', '?part=-1', '?part=1.5', '?part=2147483648', '?part=x']) {
    const reply = await send(`${url}/${session}${query}`, { body: dump(0) });
    assert.equal(reply.status, 400, query);
    assert.match(reply.problem.detail, /\?part= and a whole number/);
  }
  const form = await send(`${url}/${session}?part=0`,
    { body: '--x\r\n\r\n{}\r\n--x--\r\n', headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  assert.equal(form.status, 415);
  assert.equal((await send(`${url}?window=x`, { body: '' })).status, 400);
  assert.equal((await send(`${url}/${session}?part=0`, { body: '{"type":"x"}' })).status, 422, 'a bad part is refused');
  assert.equal((await send(`${url}/${session}?part=0`, { body: envelope() })).status, 204, 'and the next try is taken');
});

test('paths, methods and sites are as everywhere', async () => {
  const base = stack.collector.url;
  for (const path of ['sessions/x', 'sessions/', `sessions/123e4567-e89b-42d3-a456-426614174000/`,
    'sessions/123e4567-e89b-42d3-a456-426614174000/start', 'sessionsx']) {
    assert.equal((await send(`${base}/v1/ingest/pk_demo/${path}`, { body: '' })).status, 404, path);
  }
  assert.equal((await send(url, { method: 'GET' })).status, 405);
  assert.equal((await send(`${base}/v1/ingest/pk_other/sessions`, { body: '' })).status, 403);
  assert.equal((await send(url, { body: '', headers: { origin: 'https://evil.example' } })).status, 403);
  assert.equal((await send(url, { method: 'OPTIONS' })).status, 204, 'a preflight');
});
