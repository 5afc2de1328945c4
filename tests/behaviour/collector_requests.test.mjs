// SPDX-License-Identifier: Apache-2.0
/**
 * Requests that Chromium sent (beacons, fetch with keepalive, in page unload), byte for byte except the path: those
 * with a trace are accepted and add up, the others are refused for the right reason. Skipped without the recordings.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import zlib from 'node:zlib';

import { connect } from './collector_client.mjs';
import { sumsOf } from './oracle.mjs';
import { repository, startStack, waitFor } from './stack.mjs';

const dir = path.join(repository, '../shared/requests');

/** @param {Buffer} recording */
function parse(recording) {
  const end = recording.indexOf('\r\n\r\n');
  return { head: recording.subarray(0, end).toString('latin1'), body: recording.subarray(end + 4) };
}

/** The status that the contract gives for a request, determined without the collector's code.
 * @param {{ head: string, body: Buffer }} request */
function expected({ head, body }) {
  if (head.startsWith('OPTIONS')) return { status: 204, trace: undefined };
  if (/^content-type: application\/x-www-form-urlencoded/im.test(head)) return { status: 415, trace: undefined };
  if (/^content-type: multipart/im.test(head)) return { status: 422, trace: undefined };
  try {
    const text = (body[0] === 0x1f ? zlib.gunzipSync(body) : body).toString();
    const value = JSON.parse(text);
    return value.samples ? { status: 204, trace: value } : { status: 422, trace: undefined };
  } catch {
    return { status: 400, trace: undefined };
  }
}

test('every recorded request gets what the contract says', { skip: !fs.existsSync(dir) }, async (context) => {
  const stack = await startStack({ config: { sites: [{ name: 'demo', key: 'pk_demo', origins: ['http://127.0.0.1:8111'] }] } });
  let traces = 0;
  let samples = 0;
  for (const file of fs.readdirSync(dir).filter((name) => name.endsWith('.http')).sort()) {
    const request = parse(fs.readFileSync(path.join(dir, file)));
    const { status, trace } = expected(request);
    await context.test(`${file}: ${status}`, async () => {
      const { socket, text } = await connect(stack.collector.url);
      socket.write(request.head.replace(/^(\w+) \S+/, '$1 /v1/ingest/pk_demo'), 'latin1');
      socket.write('\r\n\r\n');
      socket.write(request.body);
      await waitFor(() => text().includes('\r\n\r\n'), { what: 'reply', intervalMs: 1 });
      socket.destroy();
      assert.equal(Number(text().slice(9, 12)), status, text());
      assert.match(text(), /^access-control-allow-origin: http:\/\/127\.0\.0\.1:8111\r$/im);
    });
    if (trace) {
      traces++;
      samples += sumsOf(trace).samples;
    }
  }
  assert.ok(traces >= 5, `${traces} traces`);
  await waitFor(async () => (await stack.sql('select 1 from fleetprof.upload_log')).length >= traces, { what: 'traces in SQL' });
  assert.deepEqual(await stack.sql(`select (select count(*) from fleetprof.upload_log) as uploads,
    (select sum(samples) from fleetprof.markers('demo')) as samples`), [{ uploads: traces, samples }]);
  await stack.stop();
});
