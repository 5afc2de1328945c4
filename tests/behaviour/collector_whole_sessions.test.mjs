// SPDX-License-Identifier: Apache-2.0
/**
 * A long session is one session: what its parts have in common (requests, timers, V8's code, events around others, the page)
 * crosses them, in whichever order they come.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { send } from './collector_client.mjs';
import { repository, startCollector, startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;
const sites = ['whole', 'parts', 'shuffled', 'gaps', 'scope', 'v8', 'profiled', 'profiled-parts'];
before(async () => {
  stack = await startStack({ config: { sites: sites.map((name) => ({ name, key: `pk_${name}` })) } });
  url = `${stack.collector.url}/v1/ingest`;
});
after(() => stack?.stop());

const data = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, 'tests/data', name), 'utf8');

/** @param {string[]} lines @param {number} count @returns {string[]} */
function cut(lines, count) {
  const size = Math.ceil(lines.length / count);
  return Array.from({ length: count }, (_, i) => `${lines.slice(i * size, (i + 1) * size).join('\n')}\n`).filter((part) => part !== '\n');
}

let windows = 0;
/**
 * Uploads parts, waits until they are in SQL and returns the session's id and that of a part's row, the last one's.
 * @param {string} site @param {string[]} parts @param {number[]} [order]
 */
async function upload(site, parts, order = parts.map((_, i) => i)) {
  const at = `${url}/pk_${site}/sessions`;
  const { session } = JSON.parse((await send(`${at}?window=${windows++}`, { body: '' })).body);
  for (const part of order) {
    const reply = await send(`${at}/${session}?part=${part}`, { body: parts[part] });
    assert.equal(reply.status, 204, reply.body);
  }
  assert.equal((await send(`${at}/${session}/stop`, { body: '' })).status, 204);
  const rows = () => stack.sql(`select session_id::text as id from fleetprof.sessions where load_id = '${session}' order by part`);
  const count = new Set(order).size;
  await waitFor(async () => (await rows()).length === count, { what: 'all parts in SQL' });
  const ids = (await rows()).map(({ id }) => id);
  return { session, id: ids[ids.length - 1], ids };
}

/** @param {string} site @param {string} body */
async function uploadWhole(site, body) {
  const count = async () => (await stack.sql(`select session_id::text as id from fleetprof.sessions where site = '${site}' order by received`));
  const known = (await count()).length;
  assert.equal((await send(`${url}/pk_${site}`, { body })).status, 204);
  await waitFor(async () => (await count()).length > known, { what: 'the dump in SQL' });
  return (await count())[known].id;
}

const reports = ['ui_thread_use', 'event_summary', 'log_messages', 'page_transitions', 'network_resources', 'network_graph', 'hints',
  'server_events', 'vm_states', 'js_profile', 'js_profile_bottom_up'];
/** All reports of a session. @param {string} id */
async function answers(id) {
  const sources = reports.map((report) => [report, `${report}(${id}) as row ${report === 'hints' ? "where rule <> 'Missing Parts'" : ''}`]);
  sources.push(['get_events', `get_events(${id}, 1) as row`], ['reduced', `get_events(${id}, 1, 'reduce_unique_types') as row`],
    ['top', `get_events(${id}, 1, max_depth => 1) as row`]);
  const [all] = await stack.sql(`select ${sources.map(([name, source]) => `(select json_agg(row) from fleetprof.${source}) as ${name}`).join(', ')}`);
  return all;
}

/** Returns the numbers of a site. @param {string} site */
const numbers = async (site) => ({
  events: await stack.sql(`select * from fleetprof.event_breakdown('${site}')`),
  frames: await stack.sql(`select function, resource, line, kind, self_ms, total_ms, samples::int from fleetprof.hotspots('${site}', top => null) order by 1, 2, 3, 4`),
  routes: await stack.sql(`select distinct route from fleetprof.upload_log where site = '${site}'`),
  marks: await stack.sql(`select name, count::int, min_ms, max_ms from fleetprof.timings('${site}')`),
});

for (const name of ['stream.ndjson', 'v8.ndjson', 'early.ndjson']) {
  test(`${name} in parts gives the same reports as in one piece, and in order the same numbers`, async () => {
    const lines = data(`speed-tracer/${name}`).split('\n').filter((line) => line !== '');
    // The version stands at the head of a saved page.
    if (name === 'early.ndjson') lines.unshift('<html><div id="traceData" version="0.8">');
    const whole = await answers(await uploadWhole('whole', `${lines.join('\n')}\n`));
    const parts = cut(lines, 4);
    const inOrder = parts.flatMap((_, i) => (i > 0 ? [i, i - 1, i] : [0, 0]));
    const { ids } = await upload('parts', parts, inOrder);
    for (const id of ids) assert.deepEqual(await answers(id), whole);
    assert.deepEqual(await numbers('parts'), await numbers('whole'));
    if (name === 'v8.ndjson') return; // its ticks need the order
    const order = parts.map((_, i) => i).reverse();
    if (name === 'early.ndjson') order.unshift(...order.splice(-1)); // the head comes first
    assert.deepEqual(await answers((await upload('shuffled', parts, [...order, ...order])).id), whole, 'from the last to the first, and all again');
  });
}

test('an early change of page begins with its request, which came in the part before', async () => {
  const lines = [
    '{"type":24,"time":-1,"data":{"resourceId":"4","url":"https://shop.example/old?a"}}',
    '{"type":16,"time":7,"data":{"url":"https://shop.example/old?a"}}',
    '{"type":16,"time":9,"data":{"url":"https://shop.example/never-asked"}}'];
  const { id } = await upload('gaps', lines.map((line) => `${line}\n`));
  assert.deepEqual(await stack.sql(`select at_ms, url from fleetprof.page_transitions(${id})`),
    [{ at_ms: -1, url: 'https://shop.example/old' }, { at_ms: 9, url: 'https://shop.example/never-asked' }]);
});

test('requests and timers that one part opens another one ends', async () => {
  const { id } = await upload('gaps', [
    '{"type":2147483646,"time":0,"data":{"url":"https://shop.example/a"}}\n{"type":12,"time":5,"data":{"identifier":7,"url":"https://shop.example/b.js","requestMethod":"GET"}}\n',
    '{"type":5,"time":6,"data":{"timerId":3,"timeout":250,"singleShot":true}}\n',
    '{"type":7,"time":300,"duration":2,"data":{"timerId":3}}\n{"type":14,"time":320,"data":{"identifier":7,"didFail":false}}\n',
  ], [2, 0, 1]);
  assert.deepEqual(await stack.sql(`select url, method, start_ms, end_ms from fleetprof.network_resources(${id})`),
    [{ url: 'https://shop.example/b.js', method: 'GET', start_ms: 5, end_ms: 320 }]);
  const [{ detail }] = await stack.sql(`select detail from fleetprof.get_events(${id}, 1, types => '{TIMER_FIRED}')`);
  assert.deepEqual(detail, { timerId: 3, timeout: 250, singleShot: true });
});

test('a part that never comes is named', async () => {
  const record = (/** @type {number} */ time) => `{"type":1,"time":${time},"duration":2}\n`;
  const { id, ids } = await upload('gaps', Array.from({ length: 9 }, (_, i) => record(i * 10)), [2, 5, 8, 1]);
  assert.deepEqual((await stack.sql(`select part, last_part, part_id::text as id, events::int, is_missing from fleetprof.session_parts(${id})`))
    .map(({ part, last_part, id: row, events, is_missing }) => (is_missing ? [part, last_part] : [part, last_part, row, events])),
  [[0, 0], [1, 1, ids[0], 1], [2, 2, ids[1], 1], [3, 4], [5, 5, ids[2], 1], [6, 7], [8, 8, ids[3], 1]]);
  const [hint] = await stack.sql(`select rule, severity, description from fleetprof.hints(${id})`);
  assert.deepEqual(hint, { rule: 'Missing Parts', severity: 1, description: 'parts 0, 3 to 4, 6 to 7 of the session are missing' });
  assert.deepEqual((await stack.sql(`select start_ms from fleetprof.get_events(${id}, 1)`)).map(({ start_ms }) => start_ms), [10, 20, 50, 80]);
  await assert.rejects(stack.sql('select * from fleetprof.session_parts(1)'), /session 1 is not kept/);
});

/** Parts of a session, missing ones as [first, last, true]. @param {string} id */
const partsOf = async (id) => (await stack.sql(`select part, last_part, is_missing from fleetprof.session_parts(${id})`))
  .map((row) => [row.part, row.last_part, row.is_missing]);

test('parts in other formats are not missing', async () => {
  const at = `${url}/pk_gaps/sessions`;
  const { session } = JSON.parse((await send(`${at}?window=${windows++}`, { body: '' })).body);
  const record = (/** @type {number} */ time) => `{"type":1,"time":${time},"duration":2}\n`;
  const bodies = [record(0), data('short-20ms.json'), record(20), '[{"name":"ready","entryType":"mark","startTime":5,"duration":0}]', record(40)];
  for (const [part, body] of [...bodies.entries(), [7, record(70)]]) {
    const reply = await send(`${at}/${session}?part=${part}`, { body: String(body) });
    assert.equal(reply.status, 204, reply.body);
  }
  await waitFor(async () => (await stack.sql(`select from fleetprof.upload_log where load_id = '${session}'`)).length === 6, { what: 'all parts in SQL' });
  const [{ id }] = await stack.sql(`select session_id::text as id from fleetprof.sessions where load_id = '${session}' and part = 2`);
  assert.deepEqual(await partsOf(id), [[0, 0, false], [2, 2, false], [4, 4, false], [5, 6, true], [7, 7, false]]);
  assert.deepEqual((await stack.sql(`select description from fleetprof.hints(${id})`)).map((row) => row.description),
    ['parts 5 to 6 of the session are missing']);
});

test('parts of other sessions in the browser are not missing, and a part without a load misses none', async () => {
  /** @param {string | undefined} load @param {number} part @param {number} sessionID */
  const envelope = (load, part, sessionID) => JSON.stringify({ load, part, 'opera-scope': { version: '1.0',
    timelines: [{ request: [sessionID, 1], reply: [null, [[10, 1, 0, 1, [1, 2], 1, null]]] }] } });
  const load = '123e4567-e89b-42d3-a456-426614174abd';
  for (const body of [envelope(load, 0, 1), envelope(load, 1, 2), envelope(load, 3, 2), envelope(undefined, 3, 77)]) {
    assert.equal((await send(`${url}/pk_scope`, { body })).status, 204);
  }
  const kept = () => stack.sql(`select session_id::text as id from fleetprof.sessions where load_id = '${load}' or source_id = 77 order by load_id, part`);
  await waitFor(async () => (await kept()).length === 4, { what: 'all parts in SQL' });
  const [, , last, alone] = await kept();
  assert.deepEqual(await partsOf(last.id), [[1, 1, false], [2, 2, true], [3, 3, false]]);
  assert.deepEqual(await partsOf(alone.id), [[3, 3, false]]);
});

test('events around others are found in other parts, and what two parts list counts once', async () => {
  /** An event of type 10. @param {number} id @param {number | null} parent */
  const event = (id, parent) => [10, id, 0, 1, [id, id + 10], id, parent];
  const list = (/** @type {any[]} */ ...events) => `["profiler",3,0,2,[7,1]]\n${JSON.stringify(['profiler', 3, 0, 2, [null, events]])}\n`;
  const { id } = await upload('scope', [list(event(1, null), event(3, 9)), list(event(9, 1), event(1, null)), list(event(4, 3), event(5, 77))], [2, 0, 1]);
  const rows = (/** @type {string} */ more) => stack.sql(`select id, parent_id from fleetprof.get_events(${id}, 1${more}) order by id`);
  const tree = [[1, null], [3, 9], [4, 3], [5, null], [9, 1]].map(([event_id, parent_id]) => ({ id: event_id, parent_id }));
  assert.deepEqual(await rows(''), tree);
  assert.deepEqual(await rows(', event_id => 1'), tree.filter((row) => [3, 4, 9].includes(Number(row.id))));
  assert.deepEqual(await rows(', max_depth => 2'), tree.filter((row) => [1, 5, 9].includes(Number(row.id))));
});

/** A record with a piece of the engine's log. @param {number} time @param {string[]} log */
const profile = (time, ...log) => `${JSON.stringify({ type: 2147483644, time, data: { format: 'v8', profileData: `${log.join('\n')}\n` } })}\n`;
const v8 = [
  profile(10, 'profiler,"begin",2', 'alias,t,tick', 'alias,cc,code-creation', 'profiler,"compression",8',
    'cc,LazyCompile,0x1000,256,"draw https://shop.example/a.js:7"', 'cc,LazyCompile,0x2000,256,"main https://shop.example/a.js:1"'),
  profile(20, 't,0x1010,0x1,0', 't,+1,#1:9'),
  '{"type":12,"time":30}\n',
  profile(40, 'code-move,0x1000,0x3000', 't,0x3010,0x1,0'),
  profile(50, 't,0x3010,0x1,0', 't,0x2010,0x1,0'),
];
/** Samples of functions, and how many are unattributed. @param {string} session */
async function samplesOf(session) {
  const [log] = await stack.sql(`select sum(samples)::int as samples, sum(unattributed_samples)::int as unattributed, sum(records_refused)::int as refused
    from fleetprof.upload_log where load_id = '${session}'`);
  return log;
}

test('aliases, code, its moves and the compression of V8 cross parts that come in order', async () => {
  const { session, id } = await upload('v8', v8);
  assert.deepEqual(await samplesOf(session), { samples: 5 + v8.length, unattributed: 0, refused: 0 });
  assert.deepEqual(await stack.sql("select function, line, self_ms from fleetprof.hotspots('v8') where kind = 'function' order by self_ms desc"),
    [{ function: 'draw', line: 7, self_ms: 8 }, { function: 'main', line: 1, self_ms: 2 }]);
  assert.deepEqual((await stack.sql(`select is_detached from fleetprof.session_parts(${id})`)).map((row) => row.is_detached), v8.map(() => false));
});

test('a part without the one before it guesses no code, and SQL says so', async () => {
  const { session, id } = await upload('v8', v8, [0, 1, 4, 2, 3]);
  assert.deepEqual((await stack.sql(`select part, is_detached from fleetprof.session_parts(${id})`)).map((row) => row.is_detached),
    [false, false, false, false, true]);
  assert.equal((await samplesOf(session)).samples, 3 + v8.length, 'nothing is known of the alias for ticks');
  const [hint] = await stack.sql(`select rule, description from fleetprof.hints(${id})`);
  assert.deepEqual(hint, { rule: 'Missing Parts', description: 'part 4 was decoded without what the part before it left: its JavaScript profile may lack code, or count twice' });
  // A profile that begins again needs nothing of the parts before.
  const again = await upload('v8', [v8[1], v8[0], v8[1]], [1, 2, 0]);
  assert.deepEqual((await stack.sql(`select is_detached from fleetprof.session_parts(${again.id})`)).map((row) => row.is_detached), [false, false, false]);
});

/** Records and profiles of them, each a line. The profile of 30 ms takes all of its event's time and more of the one inside. */
const profiled = [
  { type: 0, time: 0, duration: 9, sequence: 1 },
  { type: 0, time: 10, duration: 40, sequence: 2, data: { type: 'click' }, children: [
    { type: 15, time: 12, duration: 20, data: { scriptName: 'https://shop.example/a.js', scriptLine: 3 } }, { type: 1, time: 40, duration: 5 }] },
  { type: 2147483644, time: 51, sequence: 3, data: { format: 'v8', profileData:
    'profiler,"begin",1\ncode-creation,LazyCompile,0x1000,256,"draw https://shop.example/a.js:7"\nrepeat,20,tick,0x1010,0x1,0\nrepeat,10,tick,0x9,0x1,1\n' } },
  { type: 1, time: 60, duration: 3, sequence: 4 },
  { type: 2147483644, time: 64, sequence: 5, data: { format: 'v8', profileData: 'repeat,2,tick,0x1010,0x1,0\n' } },
  { type: 2147483644, time: 66, sequence: 6, data: { format: 'v8', profileData: 'tick,0x1010,0x1,0\n', isOrphaned: true } },
].map((record) => `${JSON.stringify(record)}\n`);

test('a profile whose event came in the part before belongs to it, and its time counts once', async () => {
  const whole = await uploadWhole('profiled', profiled.join(''));
  const { session, id, ids } = await upload('profiled-parts', profiled, profiled.flatMap((_, i) => (i > 0 ? [i, i - 1, i] : [0])));
  assert.deepEqual(await answers(id), await answers(whole));
  const events = await stack.sql(`select id, detail -> 'profileOf' as of from fleetprof.get_events(${id}, 1) where type = 'PROFILE_DATA'`);
  assert.deepEqual(events, [{ id: 5, of: 2 }, { id: 7, of: 6 }, { id: 8, of: null }]);
  assert.deepEqual(await numbers('profiled-parts'), await numbers('profiled'));
  const sums = (/** @type {string} */ site) => stack.sql(`select
    (select round(sum(self_ms)) from fleetprof.hotspots('${site}', top => null)) as self_ms,
    (select round(sum(self_ms)) from fleetprof.markers('${site}')) as markers_ms,
    (select sum(samples)::int from fleetprof.markers('${site}')) as samples,
    (select round(sum(profiled_ms)) from fleetprof.upload_log where site = '${site}') as profiled_ms,
    (select sum(samples)::int from fleetprof.upload_log where site = '${site}') as logged`);
  // 9 + 40 + 3 ms of events at the top, and a tick of 1 ms that belongs to none.
  assert.deepEqual(await sums('profiled-parts'), [{ self_ms: 53, markers_ms: 53, samples: 41, profiled_ms: 53, logged: 41 }]);
  assert.deepEqual(await sums('profiled'), await sums('profiled-parts'));
  assert.deepEqual((await stack.sql(`select is_detached from fleetprof.session_parts(${id})`)).map((row) => row.is_detached), profiled.map(() => false));
  // A profile without its event belongs to none.
  await waitFor(async () => (await stack.sql(`select from fleetprof.running_sessions where load_id = '${session}'`)).length === 0, { what: 'the stop in SQL' });
  await stack.sql(`select fleetprof.release_session(${ids[1]})`, 'fleetprof_writer');
  const [{ detail }] = await stack.sql(`select detail from fleetprof.get_events(${id}, 1) where type = 'PROFILE_DATA'`);
  assert.equal(detail.profileOf, undefined);
});

test('a part that begins with the profile of an event that is not known is detached', async () => {
  const { id } = await upload('gaps', profiled, [0, 2]);
  assert.deepEqual((await stack.sql(`select part, is_detached from fleetprof.session_parts(${id}) where not is_missing`)),
    [{ part: 0, is_detached: false }, { part: 2, is_detached: true }]);
});

test('parts of a page load are one session, whichever collectors took them', async () => {
  const other = await startCollector({ config: { database: stack.postgres.conninfo('fleetprof_writer'), sites: [{ name: 'scope', key: 'pk_scope' }] } });
  const load = '123e4567-e89b-42d3-a456-426614174abc';
  /** @param {number} part @param {any[]} event */
  const envelope = (part, event) => JSON.stringify({ load, part, 'opera-scope': { version: '1.0',
    timelines: [{ request: [8, 1], reply: [null, [event]] }] } });
  const urls = [url, `${other.url}/v1/ingest`];
  for (const part of [2, 1, 0]) {
    const reply = await send(`${urls[part % 2]}/pk_scope`, { body: envelope(part, [10, 1, 0, 1, [part, part + 1], part + 1, part === 2 ? null : part + 2]) });
    assert.equal(reply.status, 204, reply.body);
  }
  const kept = () => stack.sql(`select session_id::text as id from fleetprof.sessions where load_id = '${load}'`);
  await waitFor(async () => (await kept()).length === 3, { what: 'all parts in SQL' });
  await other.stop();
  const [{ id }] = await kept();
  assert.deepEqual(await stack.sql(`select id, parent_id from fleetprof.get_events(${id}, 1)`),
    [{ id: 1, parent_id: 2 }, { id: 2, parent_id: 3 }, { id: 3, parent_id: null }]);
  assert.deepEqual((await stack.sql(`select id from fleetprof.get_events(${id}, 1, event_id => 3)`)).map((row) => row.id), [1, 2]);
});
