// SPDX-License-Identifier: Apache-2.0
/**
 * Idempotency-Key: an upload without an id counts once under its request's key, in every format.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';

import { envelope, send, smallTrace } from './collector_client.mjs';
import { repository, startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => { stack = await startStack(); });
after(() => stack?.stop());

/** @param {string} name */
const data = (name) => fs.readFileSync(path.join(repository, 'tests/data', name));

/** @param {string | Uint8Array} body @param {Record<string, string>} [headers] */
const post = (body, headers) => send(`${stack.collector.url}/v1/ingest/pk_demo`, { body, headers });

/** The ids of the uploads that were counted while the action ran. @param {() => Promise<void>} action */
async function counted(action) {
  const ids = async () => (await stack.sql('select upload_id::text as id from fleetprof.upload_log')).map(({ id }) => id);
  const known = await ids();
  await action();
  await waitFor(async () => (await stack.collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty backlog' });
  return (await ids()).filter((id) => !known.includes(id));
}

for (const [what, body] of /** @type {[string, string | Uint8Array][]} */ ([
  ['a bare trace', JSON.stringify(smallTrace)],
  ['an envelope', envelope()],
  ['a page of performance.getEntries()', JSON.stringify([{ name: 'hero', entryType: 'mark', startTime: 1, duration: 0 }])],
  ['a map of marks', '{"hero":[1,2]}'],
  ['a dump of Speed Tracer', data('speed-tracer/stream.ndjson')],
  ['a recording of Opera Scope', data('opera-scope/recording.jsonl')],
  ['a compressed trace', zlib.gzipSync(JSON.stringify(smallTrace))],
])) {
  test(`${what} counts once under the key of its request`, async () => {
    const key = randomUUID();
    const ids = await counted(async () => {
      for (const text of [key, key.toUpperCase(), `"${key}"`]) {
        const reply = await post(body, { 'idempotency-key': text });
        assert.equal(reply.status, 204, reply.body);
      }
    });
    assert.deepEqual(ids, [key]);
  });
}

test('an id of its own wins over the key', async () => {
  const [id, key] = [randomUUID(), randomUUID()];
  assert.deepEqual(await counted(async () => {
    for (const header of [key, randomUUID()]) await post(envelope({ id }), { 'idempotency-key': header });
  }), [id]);
});

test('each part of a form counts once under the key of the form', async () => {
  const own = randomUUID();
  const parts = [envelope(), envelope({ id: own }), '{"hero":[1]}'];
  const form = `${parts.map((part) => `--b\r\n\r\n${part}\r\n`).join('')}--b--`;
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'idempotency-key': randomUUID() };
  const ids = await counted(async () => {
    for (let i = 0; i < 3; i++) assert.equal((await post(form, headers)).status, 204);
  });
  assert.equal(ids.length, 3);
  assert.ok(ids.includes(own));
});

test('a key that is not a UUID is refused', async () => {
  for (const key of ['', '1', `{${randomUUID()}}`, `${randomUUID()}0`, `"${randomUUID()}`, 'z'.repeat(36)]) {
    const reply = await post(envelope(), { 'idempotency-key': key });
    assert.equal(reply.status, 400, key);
    assert.match(reply.problem.detail, /Idempotency-Key must be a UUID/);
  }
});

test('without a key an upload without an id counts each time', async () => {
  assert.equal((await counted(async () => { for (let i = 0; i < 2; i++) await post(envelope()); })).length, 2);
});
