// SPDX-License-Identifier: Apache-2.0
/**
 * Records that are refused although their upload is accepted: the reply, SQL, the metrics, the log and the command line have
 * the same numbers, and each upload adds to them once.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { send } from './collector_client.mjs';
import { binDir, run, startStack, temporaryDir, waitFor } from './stack.mjs';

const dir = temporaryDir('refused-records');
/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;
const formats = ['dump', 'post', 'scope', 'recording', 'entries', 'form', 'session', 'files', 'quiet'];
before(async () => {
  stack = await startStack({ config: {
    sites: formats.map((name) => ({ name, key: `pk_${name}`, origins: ['https://shop.example'] })),
  } });
  url = `${stack.collector.url}/v1/ingest`;
});
after(() => stack?.stop());

/** Three of five records are bad; the tail, which is cut off, is one of them. */
const dump = ['{"type":12,"time":10}', '{"type":1,"time":11,"duration":5,"children":[{"type":2,"time":12,"duration":-1}]}',
  '{"type":nonsense}', '{"type":12,"time":30,"sequ'].join('\n');
const offsetOf = (/** @type {string} */ text) => dump.indexOf(text);
const post = JSON.stringify({ header: {}, data: [{ type: 12, time: 1 }, { type: 12, time: 'x' }, { type: 12, time: 2 }, 7] });
const scope = JSON.stringify({ 'opera-scope': { version: '1.1', session: [1, 2, [[1]]], timelines: [
  { request: [1, 1], reply: [null, [[10, 1, 0, 1], [10, -1, 0, 1], [10, 'x', 0, 1], [10, 1, 'x', 1]]] }] } });
const recording = ['["scope",1,0,1,[]]', ...[7, 8].map((id) =>
  `["profiler",3,0,2,[${id},1]]\n["profiler",3,0,2,[null,[[${id},1,0,1,null,1],[1,-1,0,1]]]]`)].map((line) => `${line}\n`).join('');
const mark = { name: 'hero', entryType: 'mark', startTime: 1, duration: 0 };
const other = { name: 'x', entryType: 'from-tomorrow', startTime: 1, duration: 0 };
const paint = { name: 'first-contentful-paint', entryType: 'paint', startTime: 9, duration: 0 };
const entries = JSON.stringify([mark, other, paint, other, mark]);

/** @param {string} site */
const refusals = (site) => stack.sql(`select format, reason, records::int, uploads::int, first_place from fleetprof.refusals('${site}')
  order by format, reason`);
/** @param {string} site @param {number} uploads */
async function logged(site, uploads) {
  const rows = () => stack.sql(`select part, records_read, records_refused from fleetprof.upload_log where site = '${site}'
    order by received, part, records_read, records_refused`);
  await waitFor(async () => (await rows()).length >= uploads, { what: `${uploads} uploads in SQL` });
  return rows();
}
/** The metric's counts of a site, without those that are 0. @param {string} site */
async function counted(site) {
  const start = `fleetprof_records_refused_total{site="${site}",reason="`;
  return Object.fromEntries(Object.entries(await stack.collector.metrics())
    .filter(([name, value]) => name.startsWith(start) && value > 0)
    .map(([name, value]) => [name.slice(start.length, -2), value]));
}

/** The reasons for which each format refuses records: reason → records and the first place. */
const cases = /** @type {const} */ ([
  ['dump', 'speed-tracer', dump, 5, { negative_duration: [1, offsetOf('{"type":1,')], not_json: [1, offsetOf('{"type":non')], truncated: [1, offsetOf('{"type":12,"time":30')] }],
  ['post', 'speed-tracer', post, 4, { bad_time: [1, 'element 1'], not_object: [1, 'element 3'] }],
  ['scope', 'opera-scope', scope, 4, { no_overhead: [1, '/opera-scope/timelines/0/reply/1/3'], no_time: [2, '/opera-scope/timelines/0/reply/1/1'] }],
  ['entries', 'user-timing', entries, 5, { other_entry: [2, 'element 1'] }],
]);

for (const [site, format, body, read, expected] of cases) {
  test(`${site}: the reply, the log of uploads, refusals and metrics have the same numbers, once`, async () => {
    const reasons = Object.entries(/** @type {Record<string, readonly [number, number | string]>} */ (expected));
    const total = reasons.reduce((sum, [, [records]]) => sum + records, 0);
    const headers = { 'idempotency-key': `123e4567-e89b-42d3-a456-42661417400${formats.indexOf(site)}`, origin: 'https://shop.example' };
    for (let i = 0; i < 3; i++) {
      const reply = await send(`${url}/pk_${site}`, { body, headers });
      assert.equal(reply.status, 204, reply.body);
      assert.equal(reply.headers['fleetprof-refused'], String(total));
      assert.equal(reply.body, '');
      assert.equal(reply.headers['access-control-expose-headers'], 'Retry-After, Fleetprof-Refused');
    }
    const last = await send(`${url}/pk_${site}`, { body, headers: { 'idempotency-key': '00000000-e89b-42d3-a456-426614174000' } });
    assert.equal(last.headers['fleetprof-refused'], String(total));
    assert.deepEqual(await logged(site, 2), [0, 1].map(() => ({ part: 0, records_read: read, records_refused: total })));
    assert.deepEqual(await refusals(site), reasons.map(([reason, [records, place]]) => ({ format, reason, records: 2 * records, uploads: 2,
      first_place: typeof place === 'number' ? `byte ${place}` : place })));
    assert.deepEqual(await counted(site), Object.fromEntries(reasons.map(([reason, [records]]) => [reason, 4 * records])));
    if (format !== 'user-timing') {
      assert.deepEqual(await stack.sql(`select records_read, records_refused from fleetprof.sessions where site = '${site}'`),
        [0, 1].map(() => ({ records_read: read, records_refused: total })));
    }
  });
}

test('each session of a recording has its own, and so has each part of a form and of a long session', async () => {
  const reply = await send(`${url}/pk_recording`, { body: recording });
  assert.deepEqual([reply.status, reply.headers['fleetprof-refused']], [204, '3'], reply.body);
  assert.deepEqual(await logged('recording', 2), [1, 2].map((records_refused) => ({ part: 0, records_read: 2, records_refused })));
  assert.deepEqual((await refusals('recording')).map(({ reason, records, uploads }) => [reason, records, uploads]),
    [['no_time', 2, 2], ['other_service', 1, 1]]);

  const form = [dump, entries, '{"marks":{"a":[1]}}', post].map((part) => `--x\r\n\r\n${part}\r\n`).join('');
  const formed = await send(`${url}/pk_form`, { body: `${form}--x--\r\n`, headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  assert.deepEqual([formed.status, formed.headers['fleetprof-refused']], [204, '7'], formed.body);
  assert.deepEqual((await logged('form', 4)).map(({ records_refused }) => records_refused).sort(), [0, 2, 2, 3]);
  assert.equal((await refusals('form')).length, 6);

  const { session } = JSON.parse((await send(`${url}/pk_session/sessions`, { body: '' })).body);
  for (const part of [1, 0, 1]) {
    const taken = await send(`${url}/pk_session/sessions/${session}?part=${part}`, { body: part === 0 ? post : dump });
    assert.equal(taken.headers['fleetprof-refused'], part === 0 ? '2' : '3');
  }
  assert.equal((await send(`${url}/pk_session/sessions/${session}/stop`, { body: '' })).headers['fleetprof-refused'], undefined);
  assert.deepEqual((await logged('session', 2)).map(({ part, records_refused }) => [part, records_refused]).sort(), [[0, 2], [1, 3]]);
});

test('nothing refused, nothing said', async () => {
  for (const body of ['{"type":12,"time":10}\n', '[]', JSON.stringify([mark])]) {
    const reply = await send(`${url}/pk_quiet`, { body });
    if (reply.status === 204) assert.equal(reply.headers['fleetprof-refused'], undefined);
  }
  const refused = await send(`${url}/pk_quiet`, { body: '{"type":"x"}' });
  assert.deepEqual([refused.status, refused.headers['fleetprof-refused']], [422, undefined]);
  assert.deepEqual((await logged('quiet', 2)).map(({ records_read, records_refused }) => [records_read, records_refused]), [[1, 0], [1, 0]]);
  assert.deepEqual([await refusals('quiet'), await counted('quiet')], [[], {}]);
});

test('validate and import say the same numbers', async () => {
  const files = Object.entries({ dump, post, scope, recording, entries }).map(([name, body]) => {
    fs.writeFileSync(path.join(dir, name), body);
    return path.join(dir, name);
  });
  const said = async (/** @type {string[]} */ args) => {
    const { stdout, stderr } = await run([path.join(binDir, 'fleetprof'), ...args, '--json', ...files]);
    assert.equal(stderr, '');
    return JSON.parse(stdout).map((/** @type {any} */ row) => [row.records_read, row.records_refused]);
  };
  const validated = await said(['validate']);
  assert.deepEqual(validated, [[5, 3], [4, 2], [4, 3], [2, 2], [2, 1], [5, 2]]);
  assert.deepEqual(await said(['import', '--url', `${url}/pk_files`]), validated);
  const rows = (await logged('files', validated.length)).map(({ records_read, records_refused }) => [records_read, records_refused]);
  assert.deepEqual(rows.sort(), validated.sort());
});

test('the fact adds up to the log of uploads, and the latest place is that of the latest', async () => {
  assert.deepEqual(await stack.sql(`select distinct site, sum(records_refused) over (partition by site)
      = (select coalesce(sum(records), 0) from fleetprof.refusals(site)) as adds_up from fleetprof.upload_log order by site`),
  [...formats].sort().map((site) => ({ site, adds_up: true })));
  await send(`${url}/pk_dump`, { body: `\n\n${dump}` });
  await logged('dump', 3);
  const [row] = await stack.sql("select first_place, uploads::int, latest = (select max(received) from fleetprof.upload_log where site = 'dump') as latest "
    + "from fleetprof.refusals('dump') where reason = 'not_json'");
  assert.deepEqual(row, { first_place: `byte ${offsetOf('{"type":non') + 2}`, uploads: 3, latest: true });
});

test('the log has one line a site and minute, without the text of uploads', async () => {
  const lines = () => stack.collector.server.output().split('\n').filter((line) => line.includes('records refused'));
  await waitFor(() => formats.every((site) => site === 'quiet' || lines().some((line) => line.includes(`site=${site} `))), { what: 'a line of each site' });
  for (const site of formats) assert.ok(lines().filter((line) => line.includes(`site=${site} `)).length <= 1 + (Number(site === 'dump')), site);
  assert.match(lines().find((line) => line.includes('site=scope ')) ?? '',
    /level=info msg="records refused" site=scope records=\d+ requests=\d+ reasons="no_time:\d+ no_overhead:\d+" format=opera-scope reason=no_time place=\/opera-scope\/timelines\/0\/reply\/1\/1$/);
  assert.ok(lines().every((line) => !line.includes('nonsense')));
});
