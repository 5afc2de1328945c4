// SPDX-License-Identifier: Apache-2.0
/**
 * Dumps and sessions of the older formats, from the upload to SQL: the same sums as other formats, and kept sessions
 * that can be read back event by event, in every mode of the original service.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { send } from './collector_client.mjs';
import { binDir, repository, run, startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => { stack = await startStack(); });
after(() => stack?.stop());

/** @param {string} name */
const read = (name) => fs.readFileSync(path.join(repository, 'tests/data', name), 'utf8');
const us = (/** @type {number} */ ms) => Math.floor(ms * 1000 + 0.5);

/**
 * Uploads, and waits until the session is kept; its id.
 * @param {string} body
 * @returns {Promise<string>}
 */
async function upload(body) {
  const kept = async () => (await stack.sql('select session_id::text as id from fleetprof.sessions')).map(({ id }) => id);
  const before = await kept();
  const reply = await send(`${stack.collector.url}/v1/ingest/pk_demo`, { body });
  assert.equal(reply.status, 204, reply.body);
  /** @type {string[]} */
  let found = [];
  await waitFor(async () => {
    found = (await kept()).filter((id) => !before.includes(id));
    return found.length > 0;
  }, { what: 'session in SQL' });
  assert.equal(found.length, 1);
  return found[0];
}

/** Events and own time of all uploads together, and the time of the functions that profiles found. */
async function breakdown() {
  const [sums] = await stack.sql(`select count, events.self_ms, functions.self_ms as profiled_ms
    from (select coalesce(sum(count), 0)::int as count, coalesce(sum(self_ms), 0) as self_ms from fleetprof.event_breakdown('demo')) as events,
      (select coalesce(sum(self_ms), 0) as self_ms from fleetprof.hotspots('demo', top => null) where kind <> 'event') as functions`);
  return { count: sums.count, self: us(sums.self_ms), profiled: us(sums.profiled_ms) };
}

/** @param {string} id @param {number} timeline @param {string} [mode] @param {string} [more] */
const events = (id, timeline, mode = 'all', more = '') =>
  stack.sql(`select * from fleetprof.get_events(${id}, ${timeline}, '${mode}'${more})`);

/** Converts a positional Event of the service to a comparable line. @param {any[]} event */
const listed = ([type, time, overhead, hits]) => [type, us(time), us(overhead), hits].join(' ');
const typeNumbers = ['', 'GENERIC', 'PROCESS', 'DOCUMENT_PARSING', 'CSS_PARSING', 'SCRIPT_COMPILATION',
  'SCRIPT_THREAD_EVALUATION', 'REFLOW', 'STYLE_RECALCULATION', 'CSS_SELECTOR_MATCHING', 'LAYOUT', 'PAINT'];
/** @param {any} row */
const given = (row) => [typeNumbers.indexOf(row.type), us(row.time_ms), us(row.overhead_ms), row.hits].join(' ');

test('an Opera Scope session gives its own events back, and the service\'s own reductions of them', async () => {
  const body = JSON.parse(read('opera-scope/page-load.json'));
  const id = await upload(JSON.stringify({ ...body, page: { route: '/scope' } }));
  const lists = body['opera-scope'].timelines;
  assert.deepEqual((await events(id, 1)).map(given).sort(), lists[0].reply[1].map(listed).sort());
  assert.deepEqual((await events(id, 2)).map(given).sort(), lists[1].reply[1].map(listed).sort());
  assert.deepEqual((await events(id, 1, 'reduce_unique_types')).map(given).sort(), lists[2].reply[1].map(listed).sort(),
    'REDUCE_UNIQUE_TYPES of the raw events is what the service said');
  assert.deepEqual((await events(id, 1, 'reduce_unique_events', ', event_id => 6, types => \'{CSS_SELECTOR_MATCHING}\''))
    .map(given).sort(), lists[3].reply[1].map(listed).sort(), 'also REDUCE_UNIQUE_EVENTS');
  const [generic] = lists[4].reply[1];
  assert.deepEqual((await events(id, 1, 'reduce_all')).map(given), [listed(generic)], 'and REDUCE_ALL, except the process');
});

test('large details are compressed with lz4', async (t) => {
  const [{ known }] = await stack.sql("select 'lz4' = any(enumvals) as known from pg_settings where name = 'default_toast_compression'");
  if (!known) return t.skip('this server was built without it');
  const id = await upload(JSON.stringify({ type: 11, time: 0, data: { message: 'a long message '.repeat(400) } }));
  const stored = await stack.sql(`select pg_column_compression(detail) as method from fleetprof_data.event where session_id = ${id}`);
  assert.deepEqual(stored, [{ method: 'lz4' }]);
});

/** As Dragonfly asks: all events except selectors, then the selectors of the event that was clicked. */
test('what was asked for inside an event of an earlier list stands inside it', async () => {
  const id = await upload(JSON.stringify({ 'opera-scope': { version: '1.1', session: [1, 2, [[1, 3]]], timelines: [
    { request: [1, 1, 1, null, null, [7, 8]], reply: [null, [[7, 1, 0, 1, [0, 9], 4], [8, 2, 0, 1, [1, 8], 5, 4, 2]]] },
    { request: [1, 1, 1, 5, null, [9]], reply: [null, [[9, 0.5, 0, 3, [2, 3], 6, 5], [9, 0.25, 0, 3, [3, 4], 7, 5]]] },
  ] } }));
  assert.deepEqual((await events(id, 1)).map((row) => [row.id, row.parent_id, row.time_ms, row.total_ms]),
    [[4, null, 1, 3.75], [5, 4, 2, 2.75], [6, 5, 0.5, 0.5], [7, 5, 0.25, 0.25]]);
  assert.deepEqual((await events(id, 1, 'all', ', event_id => 5')).map((row) => row.id), [6, 7]);
});

test('types that came summed up alone are given as they came', async () => {
  const selectors = [[9, 0.25, 0.5, 90, null, null, null, null, null, null, ['#a p']], [9, 0.125, 0, 12, null, null, null, null, null, null, ['#a']]];
  const id = await upload(JSON.stringify({ 'opera-scope': { version: '1.0', session: [1, 2, [[1, 3]]], timelines: [
    { request: [1, 1, 1, null, null, [7, 8]], reply: [null, [[8, 2, 0, 1, [1, 8], 5, null, 40]]] },
    { request: [1, 1, 3, 5, null, [9]], reply: [null, selectors] },
  ] } }));
  /** @param {string} [more] */
  const reduced = async (more) => (await events(id, 1, 'reduce_unique_events', more)).map((row) => [row.type, row.detail?.selector, row.time_ms, row.hits]);
  const types = ", types => '{CSS_SELECTOR_MATCHING}'";
  assert.deepEqual(await reduced(types), [['CSS_SELECTOR_MATCHING', '#a p', 0.25, 90], ['CSS_SELECTOR_MATCHING', '#a', 0.125, 12]]);
  assert.deepEqual(await reduced(), [['STYLE_RECALCULATION', undefined, 2, 1]], 'nothing that was unreduced is mixed with them');
  assert.deepEqual(await reduced(", types => '{CSS_SELECTOR_MATCHING,STYLE_RECALCULATION}'"), [['STYLE_RECALCULATION', undefined, 2, 1]]);
  assert.deepEqual(await events(id, 1, 'reduce_unique_types', types), [], 'they are of another mode');
  assert.deepEqual(await reduced(`${types}, max_depth => 1`), []);
});

test('only unreduced events are in sums, each once', async () => {
  const lists = JSON.parse(read('opera-scope/page-load.json'))['opera-scope'].timelines;
  /** @type {Map<string, { count: number, self: number }>} */
  const sums = new Map();
  for (const [type, time] of [...lists[0].reply[1], ...lists[1].reply[1]]) {
    const sum = sums.get(typeNumbers[type]) ?? { count: 0, self: 0 };
    sums.set(typeNumbers[type], { count: sum.count + 1, self: sum.self + us(time) });
  }
  const rows = await stack.sql("select event_type, count, self_ms from fleetprof.event_breakdown('demo', route => '/scope')");
  assert.deepEqual(rows.map((row) => [row.event_type, { count: row.count, self: us(row.self_ms) }]).sort(), [...sums].sort());
});

/**
 * Finds a dump's records at every level from braces and strings alone.
 * @param {string} text
 * @returns {any[]}
 */
function scanRecords(text) {
  const found = [];
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at)) {
    const begin = at;
    for (let depth = 0; at < text.length; at++) {
      if (text[at] === '"') for (at++; text[at] !== '"' && at < text.length; at++) if (text[at] === '\\') at++;
      if (text[at] === '{') depth++;
      if (text[at] === '}' && --depth === 0) break;
    }
    try { found.push(JSON.parse(text.slice(begin, ++at))); } catch { /* no record */ }
  }
  return found;
}

/**
 * Own time by type number and the records of all levels, from the records alone.
 * @param {any[]} records
 */
function sumsByType(records) {
  /** @type {Map<number, { count: number, self: number }>} */
  const sums = new Map();
  let count = 0;
  const walk = (/** @type {any} */ record) => {
    count++;
    const children = record.children ?? [];
    const inside = children.reduce((/** @type {number} */ sum, /** @type {any} */ child) => sum + us(child.duration ?? 0), 0);
    const sum = sums.get(record.type) ?? { count: 0, self: 0 };
    sums.set(record.type, { count: sum.count + 1, self: sum.self + (record.duration === undefined ? 0 : us(record.duration) - inside) });
    children.forEach(walk);
  };
  records.forEach(walk);
  return { sums, count };
}

const dumps = path.join(repository, '../shared/lab/speedtracer');
const real = fs.existsSync(dumps) ? fs.readdirSync(dumps).filter((name) => name.endsWith('.ndjson')) : [];

for (const name of ['stream.ndjson', ...real]) {
  test(`the Speed Tracer dump ${name} is in SQL record by record, and its own times by type add up`, async () => {
    const file = name === 'stream.ndjson' ? path.join(repository, 'tests/data/speed-tracer', name) : path.join(dumps, name);
    const text = fs.readFileSync(file, 'latin1');
    const before = await breakdown();
    const id = await upload(text);
    const records = scanRecords(text);
    const { sums, count } = sumsByType(records);
    const [session] = await stack.sql(`select events, site, format from fleetprof.sessions where session_id = ${id}`);
    assert.deepEqual(session, { events: count, site: 'demo', format: 'speed-tracer' });
    // Custom types differ by name, and early dumps have other numbers; all others compare by number.
    const isEarly = records.some((record) => record.type >= 22 && record.type <= 24);
    const rows = await stack.sql(`select type_number, count(*) as count, sum(self_us)::bigint as self
      from fleetprof_data.event where session_id = ${id} group by type_number`);
    const total = [...sums.values()].reduce((sum, { self }) => sum + self, 0);
    assert.equal(rows.reduce((sum, row) => sum + Number(row.self), 0), total, 'own time of all records');
    if (!isEarly) {
      assert.deepEqual(rows.filter((row) => row.type_number >= 0).map((row) => [row.type_number, row.count, Number(row.self)]).sort(),
        [...sums].filter(([type]) => type >= 0).map(([type, sum]) => [type, sum.count, sum.self]).sort());
    }
    const after = await breakdown();
    assert.equal(after.count - before.count, count, 'also in the facts');
    // An event's own time excludes the profile inside it.
    const self = after.self - before.self;
    const profiled = after.profiled - before.profiled;
    assert.ok(self <= total && self >= total - profiled, `${self} of ${total} µs, ${profiled} µs in functions`);
    assert.equal(self < total, profiled > 0);
  });
}

/** @param {string[]} words */
const cli = (...words) => run([path.join(binDir, 'fleetprof'), 'session', ...words, '-d', stack.postgres.conninfo('fleetprof_reader')]);

test('a kept session is given back in its format, and sent again it is the same', async () => {
  for (const name of ['opera-scope/page-load.json', 'opera-scope/recording.jsonl', 'speed-tracer/stream.ndjson']) {
    const id = await upload(read(name).replace(/"id": "[^"]+",/, ''));
    const { code, stdout, stderr } = await cli('export', id);
    assert.equal(code, 0, stderr);
    const again = await upload(stdout);
    // Only the fact that the URL had a query is kept.
    const content = `select timeline, event, parent, event_id, type, start_us, duration_us, self_us, hits, resource, detail - 'hasQuery' as detail
      from fleetprof_data.event where session_id = `;
    assert.deepEqual(await stack.sql(`${content} ${again} order by event`), await stack.sql(`${content} ${id} order by event`), name);
  }
});

test('the list of sessions is a table, and JSON', async () => {
  const { code, stdout } = await cli('list', '--json');
  assert.equal(code, 0);
  const ids = await stack.sql('select session_id::text as id from fleetprof.sessions');
  assert.deepEqual(JSON.parse(stdout).map((/** @type {{ session_id: string }} */ row) => row.session_id).sort(),
    ids.map(({ id }) => id).sort(), 'ids can be read again, digit by digit');
  assert.match((await cli('list')).stdout, /SESSION.+FORMAT.+\n.+speed-tracer/);
});

test('a session that is not kept can\'t be given back', async () => {
  const { code, stderr } = await cli('export', '1');
  assert.equal(code, 2);
  assert.match(stderr, /session 1 is not kept/);
  assert.match((await cli('export', 'x')).stderr, /a session's id is a number, not "x"/);
});

test('nothing of a secret is kept of a session', async () => {
  const record = { type: 2147483642, time: 1, data: { requestId: '1', request: {
    url: 'https://user:hunter2@shop.example/a?hunter2=1', headers: { Cookie: 'hunter2', Accept: '*/*' }, requestFormData: 'hunter2' } } };
  const id = await upload(JSON.stringify(record));
  const [kept] = await events(id, 1);
  assert.match(JSON.stringify(kept.detail), /shop\.example\/a"/);
  const dump = JSON.stringify(await stack.sql(`select to_jsonb(e) as row from fleetprof_data.event as e where session_id = ${id}`));
  assert.doesNotMatch(dump, /hunter2/);
});

/** Texts that carry a secret in every way we know: neither `hunter2` nor `jane` may be stored. */
const leaks = ['https://jane:hunter2@shop.example/a?token=hunter2#hunter2', 'GET account?token=hunter2 HTTP/1.1',
  'see //jane:hunter2@shop.example/x, or jane@mail.example', '/u/jane%40mail.example?hunter2', 'mailto:jane@mail.example',
  'https://shop.example/u/jane@mail.example/a.js', 'a\nhttps://shop.example/?hunter2', 'a\\njane@mail.example', 'data:text/plain,hunter2',
  'https://shop.example/x;jsessionid=hunter2', 'GET / HTTP/1.1\r\nCookie: hunter2\r\nHost: x', 'Authorization: Bearer hunter2', 'Bearer hunter2',
  'a[href="reset?key=hunter2"]', 'password=hunter2', '{"password":"hunter2","user":"jane"}', 'eyJhbGciOiJIUzI1NiJ9.eyJodW50ZXIyIjoxfQ.hunter2'];

test('no text of any detail leaks a secret, nor who it was', async () => {
  const detail = (/** @type {string} */ text) => [
    [9, 1, 0, 1, null, null, null, null, null, null, [text]],
    [6, 1, 0, 1, null, null, null, null, null, null, null, [3, text]],
    ...[3, 4].map((type) => [type, 1, 0, 1, null, null, null, null, null, null, null, null, type === 3 ? [text] : null, type === 4 ? [text] : null]),
    [5, 1, 0, 1, null, null, null, null, null, null, null, null, null, null, [1, text]]];
  const list = [null, leaks.flatMap(detail)];
  const record = (/** @type {string} */ text) => JSON.stringify({ type: 11, time: 1, data: { message: text, [text]: text,
    headers: { cookie: text, 'x-own': text }, cookies: [text], list: [{ name: 'Cookie', value: text }, text] }, stackTrace: [{ url: text, functionName: 'f' }],
  children: [{ type: 15, time: 1, duration: 1, data: { scriptName: text, scriptLine: 1 } }, { type: -2, typeName: text, time: 1, duration: 1, data: {} }] });
  for (const body of [JSON.stringify({ 'opera-scope': { version: '1.0', url: leaks[0], session: [1], timelines: [{ request: [1, 1], reply: list }] } }),
    `["profiler",3,0,2,[1,1]]\n["profiler",3,0,2,${JSON.stringify(list)}]\n`,
    leaks.map(record).join('\n')]) {
    const id = await upload(body);
    const { stdout } = await cli('export', id);
    assert.ok(stdout.length > 500);
    const rows = await stack.sql(`select to_jsonb(e) as row from fleetprof_data.event as e where session_id = ${id}
      union all select to_jsonb(s) from fleetprof.sessions as s where session_id = ${id}`);
    for (const text of [stdout, ...rows.map(({ row }) => JSON.stringify(row))]) {
      assert.deepEqual([...text.matchAll(/.{0,80}(hunter2|jane|aHVudGVyMg|eyJodW50)/g)].map(([found]) => found), []);
    }
  }
  // Log messages are marks, and custom events frames, in all numbers.
  assert.deepEqual(await stack.sql(`select name from fleetprof_data.timing where name ~ 'hunter2|jane|eyJodW50'
    union all select function from fleetprof_data.frame where function ~ 'hunter2|jane|eyJodW50'`), []);
  assert.ok((await stack.sql("select from fleetprof_data.timing where name like '%(removed)%'")).length > 0);
});

test('a refused dump leaves nothing behind', async () => {
  const reply = await send(`${stack.collector.url}/v1/ingest/pk_demo?format=speed-tracer`,
    { body: '{"type":"x"}\n{"time":true}', headers: { referer: 'https://shop.example/refused' } });
  assert.ok([400, 422].includes(reply.status), String(reply.status));
  assert.deepEqual(await stack.sql("select from fleetprof.upload_log where route = '/refused'"), []);
});

test('a forgotten session is gone, its numbers stay', async () => {
  const [{ id }] = await stack.sql("select session_id::text as id from fleetprof.sessions where route = '/scope'");
  const count = () => stack.sql("select sum(count)::int as count from fleetprof.event_breakdown('demo', route => '/scope')");
  const before = await count();
  await stack.sql(`select fleetprof.release_session(${id})`, 'fleetprof_writer');
  await assert.rejects(events(id, 1), /no timeline 1/);
  assert.deepEqual(await count(), before);
});

test('retention drops sessions by the day, and says so when one is asked for; the numbers stay', async () => {
  const id = await upload(read('opera-scope/manual.json'));
  const sum = () => stack.sql("select sum(count)::int as count from fleetprof.event_breakdown('demo')");
  const before = await sum();
  const drop = async () => (await stack.sql("select fleetprof_data.drop_partition('1970-01-01', '1970-01-01', '1970-01-01', (now() + interval '2 days')::date) as name",
    'fleetprof_writer'))[0].name;
  const dropped = [];
  for (let name = await drop(); name !== null; name = await drop()) dropped.push(name);
  // A session that has lost its events would still be listed.
  assert.deepEqual([...new Set(dropped.map((name) => name.replace(/_\d+$/, '')))], ['session', 'event', 'timeline']);
  const { code, stdout, stderr } = await cli('export', id);
  assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
  assert.match(stderr, new RegExp(`session ${id} is not kept`));
  await assert.rejects(events(id, 1), /no timeline 1/);
  assert.deepEqual(await stack.sql('select session_id from fleetprof.sessions'), []);
  assert.deepEqual(await sum(), before);
});
