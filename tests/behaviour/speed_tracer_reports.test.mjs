// SPDX-License-Identifier: Apache-2.0
/**
 * Speed Tracer's own reports in SQL, also over real dumps where available: each equals an independent computation
 * from the records.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { seededRandom } from '../chaos/random.mjs';
import { send } from './collector_client.mjs';
import { readDump } from './speed_tracer_oracle.mjs';
import { randomDump } from './speed_tracer_random.mjs';
import * as oracle from './speed_tracer_reports_oracle.mjs';
import { repository, startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => { stack = await startStack(); });
after(() => stack?.stop());

/** @param {string} body @returns {Promise<string>} the session's id */
async function upload(body) {
  const sessions = async () => (await stack.sql('select session_id::text as id from fleetprof.sessions')).map(({ id }) => id);
  const known = await sessions();
  const reply = await send(`${stack.collector.url}/v1/ingest/pk_demo`, { body });
  assert.equal(reply.status, 204, reply.body);
  return waitFor(async () => (await sessions()).find((id) => !known.includes(id)), { what: 'session in SQL' });
}

/** Rounds off the last bits of a double. @param {any} value @returns {any} */
function rounded(value) {
  if (typeof value === 'number') return Math.round(value * 1e6) / 1e6 + 0;
  if (Array.isArray(value)) return value.map(rounded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]));
}

/** @param {any} actual @param {any} expected @param {string} what */
const same = (actual, expected, what) => assert.deepEqual(rounded(actual), rounded(expected), what);

const byText = (/** @type {any} */ a, /** @type {any} */ b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

/** @param {string} id @param {oracle.Node[]} forest */
async function checkUse(id, forest) {
  const columns = 'at_ms as at, busy, smoothed';
  same(await stack.sql(`select ${columns} from fleetprof.ui_thread_use(${id})`), oracle.uiThreadUse(forest), 'use of the UI thread');
  const window = { from: 100_500, to: 2_200_250 };
  same(await stack.sql(`select ${columns} from fleetprof.ui_thread_use(${id}, 100.5, 2200.25)`),
    oracle.uiThreadUse(forest, window), 'use in a part');
}

/** @param {string} id @param {oracle.Node[]} forest */
async function checkSummary(id, forest) {
  const types = new Map((await stack.sql(`select event_id::int as event, type from fleetprof_data.event where session_id = ${id}`))
    .map(({ event, type }) => [event, type]));
  const label = (/** @type {oracle.Node} */ node) => types.get(node.id);
  for (const [from, to] of [[null, null], [0, 1000], [333.25, 777.125], [1e6, 1e6 + 1]]) {
    const window = from === null || to === null ? undefined : { from: from * 1000, to: to * 1000 };
    const rows = await stack.sql(`select event_type, self_ms from fleetprof.event_summary(${id}, ${from}, ${to})`);
    same(rows.map((row) => [row.event_type, row.self_ms]).sort(byText),
      [...oracle.eventSummary(forest, label, window)].sort(byText), `summary from ${from} to ${to}`);
  }
}

/** @param {string} id @param {oracle.Node[]} forest */
async function checkMarks(id, forest) {
  same(await stack.sql(`select at_ms as at, message, event_id::int as event, top_id::int as top from fleetprof.log_messages(${id})`),
    oracle.logMessages(forest).sort((a, b) => a.at - b.at || a.event - b.event), 'messages');
  same(await stack.sql(`select at_ms as at, url, is_refresh as again, dom_content_ms as "domContent", load_ms as load
    from fleetprof.page_transitions(${id})`), oracle.pageTransitions(forest), 'pages');
}

/** @param {string} id @param {oracle.Node[]} forest */
async function checkResources(id, forest) {
  const rows = await stack.sql(`select request_id as id, attempt::int as attempt, url, method, status, mime_type as mime,
    from_cache as cached, failed, redirected, bytes::float8 as size, start_ms as start, response_ms as response, end_ms as end,
    request_time_ms, response_time_ms, total_ms, has_query as query from fleetprof.network_resources(${id})`);
  const minus = (/** @type {any} */ a, /** @type {any} */ b) => (a === null || b === null ? null : a - b);
  const expected = oracle.networkResources(forest).map(({ requestHeaders, responseHeaders, ...one }) => ({
    ...one,
    request_time_ms: minus(one.response, one.start),
    response_time_ms: minus(one.end, one.response),
    total_ms: minus(one.end, one.start),
  }));
  const order = (/** @type {any[]} */ list) => rounded(list).map((/** @type {any} */ one) => Object.entries(one).sort(byText)).sort(byText);
  assert.deepEqual(order(rows), order(expected), 'requests');
}

/** @param {string} id @param {oracle.Node[]} forest */
async function checkTimers(id, forest) {
  assert.deepEqual(await stack.sql(`select id::int, detail -> 'timeout' as timeout, detail -> 'singleShot' as "singleShot"
    from fleetprof.get_events(${id}, 1) where type = 'TIMER_FIRED' order by id`), oracle.timers(forest), 'timers');
}

/** @param {string} id @param {oracle.Node[]} forest */
async function checkHints(id, forest) {
  const expected = oracle.hints(forest);
  const words = new Set(['the favicon', ...expected.map(([, , , some]) => some)]);
  const rows = (await stack.sql(`select rule, severity, at_ms, description from fleetprof.hints(${id})`))
    .map((row) => [row.rule, row.severity, row.at_ms, [...words].find((some) => row.description.includes(some)) ?? row.description]);
  assert.deepEqual(rounded(rows).sort(byText), rounded(expected).sort(byText), 'hints');
}

const realDumps = path.join(repository, '../shared/lab/speedtracer');
const ownDumps = path.join(repository, 'tests/data/speed-tracer');
const real = fs.existsSync(realDumps) ? fs.readdirSync(realDumps).sort().map((name) => path.join(realDumps, name)) : [];
const own = ['saved-page.html', 'early.ndjson', 'gwt-page.html'].map((name) => path.join(ownDumps, name));

/** @param {string} text @returns {Promise<oracle.Node[]>} */
async function check(text) {
  const id = await upload(text);
  const forest = oracle.plant(readDump(text));
  await checkUse(id, forest);
  await checkSummary(id, forest);
  await checkMarks(id, forest);
  await checkResources(id, forest);
  await checkHints(id, forest);
  await checkTimers(id, forest);
  return forest;
}

for (const file of [...own, ...real])
  test(`reports over ${path.basename(file)} are what its records say`, async () => { await check(fs.readFileSync(file, 'latin1')); });
if (real.length === 0) test('reports over real dumps', { skip: 'they are not at hand' }, () => {});

for (let seed = 1; seed <= 10; seed++)
  test(`reports over random dump ${seed} are what its records say`, async () => { await check(randomDump(seededRandom(seed))); });

/** An update record of a made-up request. @param {number} id @param {string} url @param {object} responseHeaders @param {object} [more] */
const update = (id, url, responseHeaders, more = {}) => ({ type: 2147483645, time: id, data: {
  identifier: id, url: `https://shop.example/${url}`, requestHeaders: {}, statusCode: 200, startTime: id * 10,
  responseReceivedTime: id * 10 + 3.5, endTime: id * 10 + 7, resourceSize: 1000, responseHeaders, ...more } });

test('every rule fires, redirects follow one another, and events cross each other in a made-up dump', async () => {
  const dated = { Date: 'Fri, 18 Jun 2010 22:43:07 GMT' };
  const year = { 'cache-control': 'public, max-age=31536000' };
  const script = { 'Content-Type': 'text/javascript', 'Content-Encoding': 'gzip' };
  const url = 'https://shop.example/hop';
  const forest = await check([
    { type: 0, time: 0, duration: 2000.001, data: { type: 'click' }, children: [
      { type: 1, time: 1, duration: 30 }, { type: 2, time: 40, duration: 45, children: [{ type: 1, time: 40, duration: 40 }] },
      { type: 1, time: 90, duration: 12, children: [{ type: 3, time: 90, duration: 11.5 }] }, { type: 11, time: 95, data: { message: 'drawn' } }] },
    { type: 17, time: 1990, duration: 30, data: { usedHeapSizeDelta: 5 }, usedHeapSize: 1, totalHeapSize: 2 },
    { type: 4, time: 2100, duration: 100, data: {} }, { type: 4, time: 2300, duration: 100.001, data: {} },
    { type: 2147483646, time: 5, data: { url: 'https://shop.example/a?b=1' } }, { type: 18, time: 30 }, { type: 19, time: 31 },
    { type: 2147483646, time: 50, data: { url: 'https://shop.example/a?b=2' } }, { type: 2147483646, time: 60, data: { url: 'https://shop.example/a?b=2#c' } },
    ...[0, 1, 2].flatMap((hop) => [
      { type: 2147483642, time: 400 + hop, data: { requestId: 'r', request: { url: url + hop, method: 'GET', headers: { Accept: `${hop}` } } } },
      { type: 12, time: 400.5 + hop, data: { requestId: 'r', url: url + hop, requestMethod: 'GET' } }]),
    { type: 13, time: 410, duration: 1, data: { requestId: 'r', statusCode: 404, mimeType: 'text/html' } },
    { type: 2147483640, time: 411, data: { requestId: 'r', lengthReceived: 10 } }, { type: 2147483640, time: 412, data: { requestId: 'r', dataLength: 5 } },
    { type: 14, time: 420, data: { requestId: 'r', didFail: true } },
    update(1, 'a.js?x', { ...script, ...year, Vary: 'Accept-Encoding' }), update(2, 'b.js', { ...script, ...year, 'Set-Cookie': 'a=b' }),
    update(3, 'c.css', { 'Content-Type': 'text/css', Vary: 'Cookie', ...dated, Expires: 'Sat, 19 Jun 2010 22:43:07 GMT' }),
    update(4, 'favicon.ico', { 'Content-Type': 'image/x-icon', 'Cache-Control': 'max-age=60' }), update(5, 'd.png', { 'Content-Type': 'image/png' }),
    update(6, 'e.png', { 'Content-Type': 'image/png', ...year }, { requestHeaders: { Cookie: 'a=b' }, resourceSize: 1_000_001 }),
    update(7, 'f', { 'Content-Type': 'text/html' }, { resourceSize: 500_001 }), update(8, 'shop.nocache.js', { ...script, ...year }),
    update(9, `${'0a'.repeat(16)}.cache.html`, { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' }, { resourceSize: 250_001 }),
    update(10, 'g.css', { 'Content-Type': 'text/css', Pragma: 'no-cache' }), update(11, 'h.swf', { 'Content-Type': 'application/x-flash', Expires: 'never', ...dated }),
  ].map((record) => JSON.stringify(record)).join('\n'));
  assert.deepEqual([...new Set(oracle.hints(forest).map(([rule]) => rule))].sort(), ['Frequent Layout activity', 'GWT Application Detection',
    'Long Duration Events', 'Resource Caching', 'Static Resource served from domains with cookies', 'Total Bytes Downloaded', 'Uncompressed Resource']);
  assert.deepEqual(oracle.networkResources(forest).filter(({ id }) => id === 'r').map(({ attempt, redirected }) => [attempt, redirected]),
    [[1, true], [2, true], [3, false]]);
});

/** The severities of all hints, by rule and in the order of time. @param {object[]} records */
async function severities(records) {
  const id = await upload(records.map((record) => JSON.stringify(record)).join('\n'));
  const rows = await stack.sql(`select rule, json_agg(json_build_array(at_ms, severity) order by at_ms, severity) as found
    from fleetprof.hints(${id}) group by rule order by rule`);
  return Object.fromEntries(rows.map(({ rule, found }) => [rule, found]));
}

test('hints begin just above or just at their thresholds', async () => {
  const layouts = (/** @type {number} */ time, /** @type {number[]} */ durations) => ({ type: 0, time, duration: 99, data: { type: 'click' },
    children: [{ type: 2, time, duration: 90, children: durations.map((duration) => ({ type: 1, time, duration })) }] });
  assert.deepEqual(await severities([
    ...[100, 100.001, 2000, 2000.001].map((duration, index) => ({ type: 3, time: index * 5000, duration })),
    { type: 3, time: 20_000, children: [{ type: 3, time: 20_000, duration: 5000 }] }, // none of them is at the top, and lasts
    layouts(30_000, [20, 20, 30]), layouts(31_000, [20, 20, 29.999]), layouts(32_000, [40, 40]),
    { type: 1, time: 33_000, duration: 99, children: [{ type: 1, time: 33_000, duration: 35 }, { type: 1, time: 33_050, duration: 40 }] },
  ]), {
    'Frequent Layout activity': [[30_000, 2]],
    'Long Duration Events': [[5000, 3], [10_000, 3], [15_000, 2]],
  });

  const month = 30 * 86400;
  const plain = { 'Cache-Control': 'no-cache' };
  const kept = (/** @type {string} */ type, /** @type {number} */ age) => ({ 'Content-Type': type, 'Content-Encoding': 'gzip', 'Cache-Control': `public, max-age=${age}`, Vary: 'accept-encoding' });
  const sized = (/** @type {number} */ id, /** @type {number} */ resourceSize, /** @type {string} */ type) =>
    update(id, 'a', { ...plain, 'Content-Type': type }, { resourceSize });
  assert.deepEqual(await severities([
    ...[500_000, 500_001, 1_000_000, 1_000_001].map((size, index) => sized(1 + index, size, 'image/png')),
    sized(5, 149, 'text/css'), sized(6, 150, 'text/css'), sized(7, 150, 'application/json'), sized(8, 150, 'text/html; charset=utf-8'),
    ...[month - 1, month, 11 * month - 1, 11 * month].map((age, index) => update(11 + index, 'a.js', kept('text/javascript', age))),
    ...[month - 1, month].map((age, index) => update(15 + index, 'favicon.ico', kept('image/x-icon', age))),
  ]), {
    'Resource Caching': [[110, 2], [120, 3], [130, 3], [150, 2]],
    'Total Bytes Downloaded': [[20, 3], [30, 3], [40, 2]],
    'Uncompressed Resource': [[60, 3], [80, 3]],
  });
});

test('both files of a GWT application are looked for in one page', async () => {
  const loader = (/** @type {number} */ id) => update(id, 'shop.nocache.js', { 'Content-Type': 'text/javascript', 'Content-Encoding': 'gzip', 'Cache-Control': 'public, max-age=99999999', Vary: 'accept-encoding' });
  const code = (/** @type {number} */ id, /** @type {number} */ resourceSize) => update(id, `${'0A'.repeat(16)}.cache.html`,
    { 'Content-Type': 'text/html', 'Content-Encoding': 'gzip' }, { resourceSize });
  const shown = (/** @type {number} */ time) => ({ type: 2147483646, time, data: { url: `https://shop.example/${time}` } });
  const records = [{ type: 3, time: 0, duration: 3 }, shown(5), loader(1), code(2, 250_000), shown(25), code(3, 999_999), shown(35), loader(4), shown(45), code(5, 250_001), loader(6), code(7, 500_001), code(8, 500_000)];
  const { 'GWT Application Detection': found } = await severities(records);
  assert.deepEqual(found, [[10, 1], [60, 1], [70, 2], [80, 3]]);
  await check(records.map((record) => JSON.stringify(record)).join('\n'));
});

test('a request of which the network stack alone tells has the times that it tells', async () => {
  const told = (/** @type {number} */ type, /** @type {number | undefined} */ time, /** @type {object} */ data) => ({ type, time, data });
  const request = { method: 'GET', url: 'https://shop.example/a.png' };
  const forest = await check([{ type: 3, time: 0, duration: 3 },
    told(2147483642, 10.5, { requestId: 'a', request }), told(2147483641, 20, { requestId: 'a', response: { status: 200, mimeType: 'image/png', headers: { 'Content-Type': 'image/png' } } }),
    told(2147483640, 21, { requestId: 'a', dataLength: 7 }), told(2147483639, 30, { requestId: 'a', didFail: false }),
    told(2147483642, 39, { requestId: 'b', request }), told(12, 40, { requestId: 'b', url: request.url, requestMethod: 'GET' }),
    told(14, 50, { requestId: 'b', didFail: false }), told(2147483639, 60, { requestId: 'b' }),
    told(2147483642, undefined, { requestId: 'c', request }), told(2147483639, undefined, { requestId: 'c' }),
  ].map((record) => JSON.stringify(record)).join('\n'));
  assert.deepEqual(oracle.networkResources(forest).map(({ start, response, end, mime }) => [start, response, end, mime]),
    [[10.5, 20, 30, 'image/png'], [40, null, 50, null], [null, null, null, null]]);
});

const deep = '[{"children":'.repeat(10_000) + '1' + '}]'.repeat(10_000);
/** Bodies that are refused, with the place that the reply names. @type {[string, string | Buffer, number, object][]} */
const refused = [
  ['words', 'hello', 422, { offset: 5 }],
  ['a page of something else', ' <html><body>{"type":1}</body></html>', 400, { offset: 1 }],
  ['a page without records', '<div id="traceData">\n</div>', 422, { offset: 27 }],
  ['a page of raw messages', '<div isRaw="true" id="traceData">{"type":1}', 415, { offset: 33 }],
  ['raw messages', '{"method":"Timeline.eventRecorded","record":{}}\n{}', 415, { offset: 0 }],
  ['a posted body whose data are an object', '{"header":{},"data":{"0":{"type":1}}}', 422, { pointer: '/data' }],
  ['a posted body with two data: the last counts', '{"header":{},"data":[3],"data":{"0":{"type":1}}}', 422, { pointer: '/data' }],
  ['a posted body without records', '{"header":{},"data":[]}', 422, { offset: 23 }],
  ['a posted body of bad records', '{"header":{},"data":[3,{"type":"x"}]}', 422, { pointer: '/data/0' }],
  ['a cut posted body without a whole record', '{"header":{},"data":[{"type":1,', 400, { offset: 21 }],
  ['no JSON in the braces', 'y {a}{b}', 400, { offset: 2 }],
  ['a truncated record', ' {"type":1,"time"', 400, { offset: 1 }],
  ['bytes that are not UTF-8', Buffer.from('\n{"type":1,"data":{"a":"\xFF"}}', 'latin1'), 400, { offset: 1 }],
  ['a type that is a text', ' {"type":"x"}\n{"time":true}', 422, { offset: 1 }],
  ['a time that is a text', '{"type":1,"time":"3"}', 422, { offset: 0 }],
  ['a huge time', '\n\n{"type":1,"time":1e300}', 422, { offset: 2 }],
  ['a duration below zero', '{"type":1,"duration":-1}', 422, { offset: 0 }],
  ['a duration that no session has', '{"type":1,"duration":1e14}', 422, { offset: 0 }],
  ['children that are an object', '{"type":1,"children":{}}', 422, { offset: 0 }],
  ['data that are a list', '{"type":1,"data":[]}', 422, { offset: 0 }],
  ['nesting 10,000 deep', `{"type":1}\n{"type":2,"children":${deep}}`, 413, { offset: 11 }],
  ['more events than a dump may have', '{"type":1}\n'.repeat(50_001), 413, { offset: 550_000 }],
];

test('what is not a dump is refused with its place, and nothing of it is stored', async () => {
  const stored = () => stack.sql(`select (select count(*)::int from fleetprof.upload_log) as uploads,
    (select count(*)::int from fleetprof.sessions) as sessions, (select count(*)::int from fleetprof_data.event) as events`);
  const [before] = await stored();
  for (const [what, body, status, place] of refused) {
    const reply = await send(`${stack.collector.url}/v1/ingest/pk_demo?format=speed-tracer`, { body });
    const { detail, offset, pointer } = JSON.parse(reply.body);
    assert.deepEqual({ status: reply.status, place: { ...(offset !== undefined && { offset }), ...(pointer !== undefined && { pointer }) } },
      { status, place }, `${what}: ${detail}`);
  }
  await upload('{"type":1,"time":0,"duration":1}'); // an upload taken before it would also be there
  assert.deepEqual(await stored(), [{ uploads: before.uploads + 1, sessions: before.sessions + 1, events: before.events + 1 }]);
});

test('a bad record among good ones costs itself alone', async () => {
  const bad = ['{"type":"x"}', '{"type":1,"time":1.}', '{"type":1,"children":{}}', '{a}', '{"type":1,"duration":-1,"children":[{"type":2}]}'];
  const id = await upload(['{"type":3,"time":1,"duration":2}', ...bad, '{"type":4,"time":5,"duration":2}'].join('\n'));
  assert.deepEqual(await stack.sql(`select type, start_us::int as start from fleetprof_data.event where session_id = ${id} order by event`),
    [{ type: 'PAINT', start: 1000 }, { type: 'RECALC_STYLE', start: 0 }, { type: 'PARSE_HTML', start: 5000 }]);
});
