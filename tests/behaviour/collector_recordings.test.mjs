// SPDX-License-Identifier: Apache-2.0
/**
 * A recording of Opera Scope that shows several sessions: each is an upload of its own, from the request to SQL and back.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';

import { send } from './collector_client.mjs';
import { binDir, repository, run, startCollector, startStack, waitFor } from './stack.mjs';

const file = path.join(repository, 'tests/data/opera-scope/recording-two.txt');
const recording = fs.readFileSync(file, 'utf8');
/** The lines of session 5 and of 6; skipped lines belong to the session that was named last. */
const own = [[0, 1, 3, 5, 6, 7, 8, 12, 14, 16], [2, 4, 9, 10, 11, 13, 15, 17]]
  .map((numbers) => numbers.map((number) => `${recording.split('\n')[number]}\n`).join(''));

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./stack.mjs').Collector} keeps what is sent byte for byte */
let raw;
before(async () => {
  stack = await startStack();
  raw = await startCollector({ config: {
    database: stack.postgres.conninfo('fleetprof_writer'), privacy: { keep_raw: true }, sites: [{ name: 'raw', key: 'pk_raw' }],
  } });
});
after(async () => {
  await raw?.stop();
  await stack?.stop();
});

/** @param {string} route @param {string | Uint8Array} body @param {Record<string, string>} [headers] */
const post = (route, body, headers = {}) =>
  send(`${stack.collector.url}/v1/ingest/pk_demo`, { body, headers: { referer: `https://shop.example${route}`, ...headers } });

/** Returns what the database counted and kept for a page, in the order of the sessions. @param {string} route @param {number}
 * count */
async function kept(route, count) {
  const rows = () => stack.sql(`select session_id::text as id, upload_id::text, source_id, window_id, timelines, events, body_bytes,
      s.load_id::text, s.part from fleetprof.sessions as s join fleetprof.upload_log using (upload_id)
    where s.route = '${route}' order by source_id, upload_id`);
  await waitFor(async () => (await rows()).length >= count, { what: `${count} sessions of ${route}` });
  await waitFor(async () => (await stack.collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty backlog' });
  const found = await rows();
  assert.equal(found.length, count);
  return found;
}

/** All sums of a page. @param {string} route */
const sums = async (route) => {
  const [row] = await stack.sql(`select (select json_agg(e order by e.event_type) from fleetprof.event_breakdown('demo', route => '${route}') as e) as types,
    (select json_agg(f order by f.ordinal) from fleetprof.flamegraph('demo', route => '${route}') as f) as flames,
    (select count(*)::int from fleetprof.upload_log where route = '${route}') as uploads`);
  return row;
};

/** @param {string} id */
const content = async (id) => {
  const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprof'), 'session', 'export', id, '-d', stack.postgres.conninfo('fleetprof_reader')]);
  assert.equal(code, 0, stderr);
  return stdout;
};

test('each session of a recording counts as if it had been sent alone', async () => {
  assert.equal((await post('/both', recording)).status, 204);
  for (const body of own) assert.equal((await post('/alone', body)).status, 204);
  const both = await kept('/both', 2);
  const alone = await kept('/alone', 2);
  const shape = (/** @type {any[]} */ rows) => rows.map(({ source_id, window_id, timelines, events }) => [source_id, window_id, timelines, events]);
  assert.deepEqual(shape(both), [[5, 2, 1, 2], [6, 3, 2, 2]]);
  assert.deepEqual(shape(alone), shape(both));
  const total = await sums('/both');
  assert.ok(total.types.length > 1 && total.flames.length > 2);
  assert.deepEqual(total, await sums('/alone'));
  const events = (/** @type {string} */ id) => stack.sql(`select * from fleetprof.get_events(${id}, 1)`);
  for (const i of [0, 1]) assert.deepEqual(await events(both[i].id), await events(alone[i].id));
  assert.notEqual(both[0].upload_id, both[1].upload_id);
  assert.equal(both[0].body_bytes + both[1].body_bytes, Buffer.byteLength(recording), 'what was received is shared out');
  assert.equal(both[0].body_bytes, Buffer.byteLength(own[0]));
});

test('sent again under its key it counts nothing twice, compressed neither', async () => {
  const key = { 'idempotency-key': randomUUID() };
  const packed = zlib.gzipSync(recording);
  assert.equal((await post('/again', packed, key)).status, 204);
  const first = await kept('/again', 2);
  assert.equal(first[0].body_bytes + first[1].body_bytes, packed.length);
  const before = await sums('/again');
  for (const body of [recording, packed]) assert.equal((await post('/again', body, key)).status, 204);
  assert.deepEqual(await kept('/again', 2), first);
  assert.deepEqual(await sums('/again'), before);
  assert.ok(first.every(({ upload_id }) => upload_id !== key['idempotency-key']));
});

test('import counts it once, and tells the ids under which its sessions are found', async () => {
  const url = `${stack.collector.url}/v1/ingest/pk_demo`;
  const options = ['--json', '--url', url, '--page', 'https://shop.example/imported', file];
  for (let i = 0; i < 2; i++) {
    const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprof'), 'import', ...options]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout).map((/** @type {any} */ row) => row.id), (await kept('/imported', 2)).map(({ upload_id }) => upload_id));
  }
});

test('in a form it is as many parts as it has sessions', async () => {
  const form = (/** @type {string[]} */ parts) => `${parts.map((part) => `--b\r\n\r\n${part}\r\n`).join('')}--b--`;
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'idempotency-key': randomUUID() };
  assert.equal((await post('/form', form([recording, own[1]]), headers)).status, 204);
  const first = await kept('/form', 3);
  assert.deepEqual(first.map(({ source_id }) => source_id), [5, 6, 6]);
  assert.equal((await post('/form', form([own[0], own[1], own[1]]), headers)).status, 204, 'numbered in one row');
  assert.deepEqual(await kept('/form', 3), first);
});

test('a part of a long session may have several sessions, all at that part\'s place', async () => {
  const url = `${stack.collector.url}/v1/ingest/pk_demo/sessions`;
  const { session } = JSON.parse((await send(url, { body: '' })).body);
  for (let i = 0; i < 2; i++) {
    const reply = await send(`${url}/${session}?part=1`, { body: recording, headers: { referer: 'https://shop.example/long' } });
    assert.equal(reply.status, 204, reply.body);
  }
  assert.deepEqual((await kept('/long', 2)).map(({ load_id, part, source_id }) => [load_id, part, source_id]), [[session, 1, 5], [session, 1, 6]]);
});

test('each is given back alone, and sent again it is the same', async () => {
  const both = await kept('/both', 2);
  for (const { id } of both) assert.equal((await post('/back', await content(id))).status, 204);
  const back = await kept('/back', 2);
  assert.deepEqual(await sums('/back'), await sums('/both'));
  for (const i of [0, 1]) {
    const text = await content(back[i].id);
    assert.equal(text, await content(both[i].id));
    assert.ok(!text.includes(`[${6 - i}]`), 'nothing of the other session is in it');
  }
});

test('under keep_raw each keeps its own lines byte for byte, one alone the whole body', async () => {
  const stored = async (/** @type {number} */ count) => {
    const rows = () => stack.sql("select session_id::text as id, is_raw from fleetprof.sessions where site = 'raw' order by received, source_id");
    await waitFor(async () => (await rows()).length === count, { what: `${count} raw sessions` });
    return rows();
  };
  assert.equal((await send(`${raw.url}/v1/ingest/pk_raw`, { body: recording.replaceAll('\n', ' \r\n') })).status, 204);
  const rows = await stored(2);
  assert.deepEqual(rows.map(({ is_raw }) => is_raw), [true, true]);
  for (const i of [0, 1]) assert.equal(await content(rows[i].id), own[i].replaceAll('\n', ' \r\n'));
  assert.equal((await send(`${raw.url}/v1/ingest/pk_raw`, { body: own[1] })).status, 204);
  assert.equal(await content((await stored(3))[2].id), own[1]);
});

test('one bad session refuses all, and the refusal says where', async () => {
  const bad = `${recording}["profiler",3,0,9,[7,1]]\n["profiler",3,0,9,[null,{}]]\n`;
  const reply = await post('/refused', bad);
  assert.equal(reply.status, 422);
  assert.match(reply.problem.detail, /^line 20, at \/4\/1: /);
  const many = Array.from({ length: 65 }, (_, i) => `["profiler",3,0,2,[${i + 1},1]]\n["profiler",3,0,2,[]]\n`);
  const refused = await post('/refused', many.join(''));
  assert.equal(refused.status, 413);
  assert.match(refused.problem.detail, /^line 130: session 65 is one too many/);
  assert.equal((await post('/many', many.slice(1).join(''))).status, 204);
  await kept('/many', 64);
  assert.deepEqual(await stack.sql("select from fleetprof.upload_log where route = '/refused'"), []);
});
