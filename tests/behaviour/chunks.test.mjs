// SPDX-License-Identifier: Apache-2.0
/** Chunks to split: from uploads over the collector to SQL, the command line and HTTP, also in parts of a page load. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { startReport } from './serve_tool.mjs';
import { binDir, run, startStack, waitFor } from './stack.mjs';

const origin = 'https://shop.example';
const [loads, profiled, running] = [60, 40, 5];
/** @type {import('./stack.mjs').Stack} */
let stack;

/** @param {string} file */
const response = (file) => ({ host: `${origin}/${file}`, kind: 'script', duration: 12, bytes: 1000 });

/** @param {string} file */
const trace = (file) => ({ resources: [`${origin}/${file}`], frames: [{ name: 'f', resourceId: 0, line: 1, column: 1 }],
  stacks: [{ frameId: 0 }], samples: [{ timestamp: 10, stackId: 0 }, { timestamp: 20, stackId: 0 }] });

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }] } });
  const url = `${stack.collector.url}/v1/ingest/pk_shop`;
  let uploads = 0;
  const send = async (/** @type {Record<string, unknown>} */ body) => {
    const reply = await fetch(url, { method: 'POST', body: JSON.stringify({ version: 1, sampleInterval: 10, id: randomUUID(), page: { url: `${origin}/cart` }, marks: [], ...body }) });
    assert.equal(reply.status, 204, await reply.text());
    uploads += 1;
  };
  for (let number = 0; number < loads; number += 1) {
    const release = number % 2 === 0 ? 'v1' : 'v2';
    const vendor = `vendor.${release === 'v1' ? '1a2b3c4d' : '5e6f7a8b'}.js`;
    const part = { release, load: randomUUID(), start: 0, duration: 30 };
    const resources = [response('app.js?user=7'), response(vendor), { host: origin, kind: 'css', duration: 3, bytes: 10 }];
    const profile = number < profiled ? { trace: trace(number < running ? vendor : 'app.js') } : {};
    // A third of the page loads come in two parts, the list of what they loaded first or last.
    if (number % 3 === 0) {
      await send({ ...part, part: 0, resources });
      await send({ ...part, part: 1, ...profile, ...number < profiled ? {} : { resources } });
    } else if (number % 3 === 1) {
      await send({ ...part, part: 0, ...profile });
      await send({ ...part, part: 1, resources, start: 40 });
    } else await send({ ...part, part: 0, resources, ...profile });
  }
  await waitFor(async () => (await stack.sql('select count(*)::int as n from fleetprof.upload_log'))[0].n === uploads, { what: 'the uploads' });
});
after(() => stack?.stop());

test('a page load counts once for a chunk that it loaded, and once for one that ran', async () => {
  const rows = await stack.sql("select * from fleetprof.chunks('shop')");
  const [vendor, app] = rows;
  assert.deepEqual(rows.map(({ script }) => script), [`${origin}/vendor.*.js`, `${origin}/app.js`]);
  const counts = { loads, page_loads: loads, profiled_loads: profiled };
  for (const [row, ran] of /** @type {[any, number][]} */ ([[vendor, running], [app, profiled - running]])) {
    for (const [name, count] of Object.entries({ ...counts, ran_loads: ran, bytes: 1000 * loads })) assert.equal(Number(row[name]), count, `${row.script} ${name}`);
    assert.equal(row.load_share, 1);
    assert.equal(row.ran_share, ran / profiled);
    assert.ok(row.ran_share_high > row.ran_share && row.ran_share_high < 1);
    assert.equal(row.free_share, 1 - row.ran_share_high);
  }
});

test('hosts keep their requests and bytes', async () => {
  const [{ host, requests, bytes }] = await stack.sql("select host, requests::int, bytes::int from fleetprof.third_parties('shop')");
  // Those of every third page load without a profile were said twice.
  const sent = loads + Array.from({ length: loads }, (_, number) => number).filter((number) => number >= profiled && number % 3 === 0).length;
  assert.deepEqual({ host, requests, bytes }, { host: 'shop.example', requests: 3 * sent, bytes: 2010 * sent });
});

test('the command line and HTTP say that they cost nothing, never that they are unused', async () => {
  const conninfo = stack.postgres.conninfo('fleetprof_reader');
  const { code, stdout } = await run([path.join(binDir, 'fleetprof'), 'chunks', '--site', 'shop', '--release', 'v2', '--database', conninfo]);
  assert.equal(code, 0);
  assert.match(stdout, /COST NOTHING IN %/);
  assert.match(stdout, /vendor\.\*\.js/);
  assert.doesNotMatch(stdout, /unused/i);
  const report = await startReport(conninfo);
  try {
    const { rows, columns } = await report.json('/api/v1/chunks?site=shop&release=v2&top=1');
    assert.equal(rows.length, 1);
    assert.ok(JSON.stringify(columns).includes('free_share'));
  } finally {
    await report.server.stop();
  }
});
