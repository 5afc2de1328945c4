// SPDX-License-Identifier: Apache-2.0
/** Page loads that one client repeats are a kind of traffic: who is a client, behind how many proxies, and what counts. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';

import { startCollector, startStack, waitFor } from './stack.mjs';

const usual = 10; // FP_SOURCES_USUAL_MAX

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./stack.mjs').Collector} without proxies */
let direct;
before(async () => {
  const config = { sites: [{ name: 'shop', key: 'pk_shop', origins: ['https://shop.example'] }] };
  stack = await startStack({ config: { ...config, http: { proxies: 2 } } });
  direct = await startCollector({ config: { ...config, database: stack.collector.config.database, http: { proxies: 0 } } });
});
after(async () => {
  await direct?.stop();
  await stack?.stop();
});

const browser = (/** @type {string} */ version) => `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
/** The headers of a browser behind two proxies; the first address is the client's own word. @param {string} address */
const via = (address) => ({ origin: 'https://shop.example', 'user-agent': browser('140'), 'x-forwarded-for': `6.6.6.6, ${address}, 10.0.0.1` });

const trace = { resources: ['https://shop.example/app.js'], frames: [{ name: 'work', resourceId: 0, line: 1, column: 1 }], stacks: [{ frameId: 0 }],
  samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 0 }] };

/** @param {string} release @param {Record<string, string>} headers @param {object} [more] @param {string} [url] */
async function post(release, headers, more = {}, url = stack.collector.url) {
  const body = JSON.stringify({ version: 1, id: randomUUID(), load: randomUUID(), release, sampleInterval: 10, trace, page: { url: 'https://shop.example/' }, ...more });
  assert.equal((await fetch(`${url}/v1/ingest/pk_shop`, { method: 'POST', headers, body })).status, 204);
}

/** Uploads of a release that are repeated traffic, and others. @param {string} release @param {number} count of all */
async function traffic(release, count) {
  const uploads = async () => (await stack.sql(`select traffic from fleetprof.upload_log where release = '${release}'`)).map((row) => row.traffic);
  await waitFor(async () => (await uploads()).length === count, { what: `uploads of ${release}` });
  const all = await uploads();
  return { repeated: all.filter((word) => word === 'repeated').length, others: all.filter((word) => word === '').length };
}

test('page loads of a client past the first ones are repeated, others are not', async () => {
  for (let n = 0; n < usual + 5; n += 1) await post('monitor', via('192.0.2.1'));
  await post('other', via('192.0.2.2'));
  await post('other', { ...via('192.0.2.1'), 'user-agent': browser('141') });
  assert.deepEqual(await traffic('monitor', usual + 5), { repeated: 5, others: usual });
  assert.deepEqual(await traffic('other', 2), { repeated: 0, others: 2 });
});

test('neighbours in a network of IPv6 are one client', async () => {
  for (let n = 0; n < usual + 5; n += 1) await post('ipv6', via(`2001:db8:1:2::${n}`));
  assert.deepEqual(await traffic('ipv6', usual + 5), { repeated: 5, others: usual });
});

test('parts of a page load count once, and are one kind of traffic', async () => {
  const load = randomUUID();
  for (let part = 0; part < 2 * usual; part += 1) await post('parts', via('192.0.2.3'), { load, part });
  for (let n = 1; n < usual; n += 1) await post('parts', via('192.0.2.3'));
  assert.deepEqual(await traffic('parts', 3 * usual - 1), { repeated: 0, others: 3 * usual - 1 });
});

test('an address with many browsers is not a client', async () => {
  for (let n = 0; n < 40; n += 1) await post('office', { ...via('192.0.2.4'), 'user-agent': browser(String(100 + n)) });
  for (let n = 0; n < 2 * usual; n += 1) await post('office', via('192.0.2.4'));
  assert.deepEqual(await traffic('office', 40 + 2 * usual), { repeated: 0, others: 40 + 2 * usual });
});

test('who is not a browser, or whose address nobody knows, repeats nothing', async () => {
  const { origin: _, ...noBrowser } = via('192.0.2.5');
  const { 'x-forwarded-for': _1, ...noAddress } = via('192.0.2.6');
  for (const headers of [noBrowser, noAddress])
    for (let n = 0; n < usual + 5; n += 1) await post('unknown', headers);
  // Without proxies the header is the client's own word.
  for (let n = 0; n < usual + 5; n += 1) await post('unknown', via('192.0.2.7'), {}, direct.url);
  assert.deepEqual(await traffic('unknown', 3 * (usual + 5)), { repeated: 0, others: 3 * (usual + 5) });
});

test('questions can leave it out', async () => {
  const uploads = async (/** @type {string} */ more) =>
    (await stack.sql(`select sum(uploads)::integer as uploads from fleetprof.trend('release', 'monitor', 'day', 'shop'${more})`))[0].uploads;
  assert.equal(await uploads(''), usual + 5);
  assert.equal(await uploads(", exclude_traffic => 'repeated'"), usual);
  assert.equal(await uploads(", traffic => 'repeated'"), 5);
});
