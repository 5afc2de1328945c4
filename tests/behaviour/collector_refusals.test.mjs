// SPDX-License-Identifier: Apache-2.0
/**
 * Bad uploads, one per rule: each gets its status, place and message, leaves no trace in the database, and the next
 * good upload counts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { badUploads, goodTrace, smallLimits } from './cases/bad_uploads.mjs';
import { send } from './collector_client.mjs';
import { startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;
before(async () => {
  stack = await startStack({ config: { limits: smallLimits, sites: [{ name: 'demo', key: 'pk_demo' }] } });
  url = `${stack.collector.url}/v1/ingest/pk_demo`;
});
after(() => stack.stop());

const goodUpload = JSON.stringify({ trace: goodTrace });
let goodCount = 0;

async function sendGood() {
  assert.equal((await send(url, { body: goodUpload })).status, 204);
  goodCount++;
}

test('the trace from which the bad ones are made is good', sendGood);

test('there is a case for each rule', () => {
  assert.ok(badUploads.length >= 60, `${badUploads.length} cases`);
  const names = badUploads.map(({ what }) => what);
  assert.equal(new Set(names).size, names.length);
});

for (const { what, status, pointer, offset, detail, body, headers, query } of badUploads) {
  test(`${what}: ${status}`, async () => {
    const reply = await send(url + (query ?? ''), { body, headers });
    assert.equal(reply.status, status, reply.body);
    assert.equal(reply.headers['content-type'], 'application/problem+json');
    const { problem } = reply;
    assert.match(problem.detail, detail);
    assert.match(problem.detail, /^\S+( \S+){2,}$/, 'a sentence');
    if (pointer !== undefined) assert.equal(problem.pointer, pointer, problem.detail);
    if (offset !== undefined) assert.equal(problem.offset, offset, problem.detail);
    if (status === 422) assert.equal(typeof problem.pointer, 'string', 'the refusal of an invalid upload has a pointer');
    await sendGood();
  });
}

test('the database holds the good ones and nothing else', async () => {
  const counted = async () => Number((await stack.sql('select count(*) as n from fleetprof.upload_log'))[0].n);
  await waitFor(async () => await counted() >= goodCount, { what: 'all good uploads in SQL' });
  assert.equal(await counted(), goodCount);
  const hotspots = await stack.sql(`select function, samples, uploads from fleetprof.hotspots('demo') order by function`);
  assert.deepEqual(hotspots, [
    { function: 'inner', samples: goodCount, uploads: goodCount },
    { function: 'outer', samples: 2 * goodCount, uploads: goodCount },
  ]);
});
