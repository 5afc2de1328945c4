// SPDX-License-Identifier: Apache-2.0
/**
 * Long sessions: a capture that is started, uploaded in parts and stopped, one at a time per browser window.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { connect, envelope, send } from './collector_client.mjs';
import { startCollector, startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;
before(async () => {
  stack = await startStack();
  url = `${stack.collector.url}/v1/ingest/pk_demo/sessions`;
});
after(() => stack?.stop());

/** @param {string} [query] */
async function start(query = '') {
  const reply = await send(url + query, { body: '' });
  assert.equal(reply.status, 201, reply.body);
  const { session } = JSON.parse(reply.body);
  assert.equal(reply.headers.location, `sessions/${session}`, 'relative to …/sessions');
  return session;
}

/** @param {number} time */
const dump = (time) => `{"type":1,"time":${time},"duration":2}\n{"type":3,"time":${time + 5},"duration":1}\n`;

test('a dump in parts is one session: each part durable, in order, counted once', async () => {
  const session = await start();
  for (const part of [0, 1, 2, 1, 0]) {
    const reply = await send(`${url}/${session}?part=${part}`, { body: dump(part * 100) });
    assert.equal(reply.status, 204, reply.body);
  }
  assert.equal((await send(`${url}/${session}/stop`, { body: '' })).status, 204);
  const parts = () => stack.sql(`select part, events from fleetprof.sessions where load_id = '${session}' order by part`);
  await waitFor(async () => (await parts()).length === 3, { what: 'all parts in SQL' });
  assert.deepEqual(await parts(), [0, 1, 2].map((part) => ({ part, events: 2 })));
  for (const part of [0, 1, 2]) {
    assert.deepEqual(await stack.sql(`select start_ms, type from fleetprof.sessions, fleetprof.get_events(session_id, 1)
      where load_id = '${session}' and part = ${part}`),
    [0, 100, 200].flatMap((at) => [{ start_ms: at, type: 'LAYOUT' }, { start_ms: at + 5, type: 'PAINT' }]), 'the whole session');
  }
  const [sums] = await stack.sql("select sum(count)::int as count, sum(self_ms) as self_ms from fleetprof.event_breakdown('demo')");
  assert.deepEqual(sums, { count: 6, self_ms: 9 });
});

test('a start and a stop need neither a body nor its length', async () => {
  /** @param {string} address */
  const post = async (address) => {
    const { socket, text } = await connect(stack.collector.url);
    socket.write(`POST ${new URL(address).pathname}?window=7 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await once(socket, 'close');
    return text();
  };
  const started = await post(url);
  assert.match(started, /^HTTP\/1\.1 201 /);
  const { session } = JSON.parse(started.split('\r\n\r\n')[1]);
  assert.match(await post(`${url}/${session}?part=0`), /^HTTP\/1\.1 411 /);
  assert.match(await post(`${url}/${session}/stop`), /^HTTP\/1\.1 204 /);
});

test('a window that is too large gets the largest one in its refusal', async () => {
  const reply = await send(`${url}?window=4294967296`, { body: '' });
  assert.deepEqual([reply.status, reply.problem.detail], [400, 'window must be a whole number from 0 to 4294967295']);
  const session = await start('?window=4294967295');
  const second = await send(`${url}?window=4294967295`, { body: '' });
  assert.match(second.problem.detail, /a session is already running for this window/);
  assert.equal((await send(`${url}/${session}/stop`, { body: '' })).status, 204);
});

test('one runs in a window at a time', async () => {
  const session = await start('?window=3');
  const second = await send(`${url}?window=3`, { body: '' });
  assert.equal(second.status, 400);
  assert.match(second.problem.detail, /a session is already running for this window/);
  const other = await start('?window=4');
  assert.equal((await send(`${url}/${session}/stop`, { body: '' })).status, 204);
  const next = await start('?window=3');
  for (const id of [other, next]) assert.equal((await send(`${url}/${id}/stop`, { body: '' })).status, 204);
});

test('what was stopped, or never ran, takes no part and is not stopped', async () => {
  const session = await start('?window=5');
  await send(`${url}/${session}/stop`, { body: '' });
  for (const id of [session, '123e4567-e89b-42d3-a456-426614174000']) {
    for (const [address, body] of [[`${url}/${id}?part=0`, dump(0)], [`${url}/${id}/stop`, '']]) {
      const reply = await send(address, { body });
      assert.equal(reply.status, 400, address);
      assert.match(reply.problem.detail, /no such session is running here/);
    }
  }
});

test('a part says which one it is, and is one upload', async () => {
  const session = await start('?window=6');
  for (const query of ['', '?part=', '?part=-1', '?part=1.5', '?part=2147483648', '?part=x']) {
    const reply = await send(`${url}/${session}${query}`, { body: dump(0) });
    assert.equal(reply.status, 400, query);
    assert.match(reply.problem.detail, /\?part= must be a whole number/);
  }
  const form = await send(`${url}/${session}?part=0`,
    { body: '--x\r\n\r\n{}\r\n--x--\r\n', headers: { 'content-type': 'multipart/form-data; boundary=x' } });
  assert.equal(form.status, 415);
  assert.equal((await send(`${url}?window=x`, { body: '' })).status, 400);
  assert.equal((await send(`${url}/${session}?part=0`, { body: '{"type":"x"}' })).status, 422, 'a bad part is refused');
  assert.equal((await send(`${url}/${session}?part=0`, { body: envelope() })).status, 204, 'and the next try is taken');
});

test('parts that come at once are each counted once, whichever is answered first', async () => {
  const session = await start('?window=7');
  const replies = await Promise.all(Array.from({ length: 24 }, (_, i) =>
    send(`${url}/${session}?part=${i % 6}`, { body: dump((i % 6) * 100) })));
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [204]);
  const parts = () => stack.sql(`select part, events from fleetprof.sessions where load_id = '${session}' order by part`);
  await waitFor(async () => (await parts()).length === 6, { what: 'all parts in SQL' });
  assert.equal((await send(`${url}/${session}?part=0`, { body: dump(900) })).status, 204, 'another body under a number that was taken');
  assert.equal((await send(`${url}/${session}?part=9`, { body: dump(0) })).status, 204, 'numbers may be left out');
  await waitFor(async () => (await parts()).length === 7, { what: 'the last part in SQL' });
  assert.deepEqual(await parts(), [0, 1, 2, 3, 4, 5, 9].map((part) => ({ part, events: 2 })));
  const [first] = await stack.sql(`select min(start_ms) as start from fleetprof.sessions, fleetprof.get_events(session_id, 1)
    where load_id = '${session}' and part = 0`);
  assert.equal(first.start, 0, 'counts for nothing');
});

/** @param {string} session */
const kept = (session) => stack.sql(`select session_id::text as id, part from fleetprof.sessions where load_id = '${session}' order by part`);
/** @param {string} [session] */
const runs = async (session) => (await stack.sql('select load_id from fleetprof.running_sessions')).some(({ load_id }) => load_id === session);
/** @param {string} [id] */
const release = async (id = '') => (await stack.sql(`select fleetprof.release_session(${id})::int as released`, 'fleetprof_writer'))[0].released;

test('what runs is not forgotten, neither by its id nor with all; what was stopped is', async () => {
  const [running, stopped] = [await start('?window=8'), await start('?window=81')];
  for (const session of [running, stopped]) {
    for (const part of [0, 1]) await send(`${url}/${session}?part=${part}`, { body: dump(0) });
  }
  await send(`${url}/${stopped}/stop`, { body: '' });
  await waitFor(async () => (await kept(running)).length === 2 && !await runs(stopped), { what: 'all parts and the stop in SQL' });
  const [{ id }] = await kept(running);
  await assert.rejects(release(id), new RegExp(`session ${id} is a part of ${running}, which still runs`));
  assert.equal(await release((await kept(stopped))[1].id), 1, 'a part of what was stopped');
  assert.ok(await release() >= 1, 'all that does not run');
  assert.deepEqual([(await kept(running)).length, (await kept(stopped)).length], [2, 0]);
  assert.equal((await stack.sql(`select count(*)::int as events from fleetprof_data.event where session_id = ${id}`))[0].events, 2);
  await send(`${url}/${running}/stop`, { body: '' });
  await waitFor(async () => !await runs(running), { what: 'the stop in SQL' });
  assert.equal(await release(id), 1);
});

/** @param {string} and */
const writers = (and) => stack.sql(`select pid from pg_stat_activity where ${and}`);

/** Blocks the database's tables for uploads until the returned function is called. @param
 * {import('node:test').TestContext} t */
async function holdUploads(t) {
  const held = stack.postgres.execute('begin; lock table fleetprof_data.upload_id; select pg_sleep(60)').catch(() => {});
  await waitFor(async () => (await writers("wait_event = 'PgSleep'")).length === 1, { what: 'the lock' });
  const letGo = async () => {
    await stack.sql("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'");
    await held;
  };
  t.after(letGo);
  return letGo;
}

test('a session runs in SQL from its first part there to its last', async (t) => {
  const session = await start('?window=82');
  await send(`${url}/${session}?part=0`, { body: dump(0) });
  await waitFor(async () => (await kept(session)).length === 1, { what: 'the first part in SQL' });
  assert.ok(await runs(session), 'known no later than its first part');
  // The database is blocked for a while, so it learns of the stop before it has the last parts.
  const letGo = await holdUploads(t);
  const waits = "usename = 'fleetprof_writer' and wait_event_type = 'Lock' and query like 'insert into fleetprof_data.upload_id%'";
  for (const part of [1, 2, 3]) assert.equal((await send(`${url}/${session}?part=${part}`, { body: dump(0) })).status, 204);
  assert.equal((await send(`${url}/${session}/stop`, { body: '' })).status, 204);
  await waitFor(async () => (await writers(waits)).length === 1, { what: 'a flush that waits' });
  await stack.sql(`select pg_terminate_backend(pid) from pg_stat_activity where ${waits}`);
  await waitFor(async () => (await stack.sql(`select from fleetprof_data.long_session
    where load_id = '${session}' and stopped_position is not null`)).length === 1, { what: 'the word of the stop' });
  assert.equal((await kept(session)).length, 1);
  assert.ok(await runs(session), 'its last parts are not there');
  await stack.postgres.execute(`update fleetprof_data.long_session set expires = now() where load_id = '${session}'`);
  await waitFor(async () => (await writers(waits)).length === 1, { what: 'the next flush' });
  await stack.sql(`select pg_terminate_backend(pid) from pg_stat_activity where ${waits}`);
  await waitFor(() => runs(session), { what: 'the next word, for as long as they are not there' });
  await letGo();
  await waitFor(async () => !await runs(session), { what: 'the stop in SQL' });
  assert.deepEqual((await kept(session)).map(({ part }) => part), [0, 1, 2, 3], 'all parts came before');
});

/** Limits flushes to ten parts, and makes the database note for each part whether its session was running. */
const takeFew = () => stack.postgres.execute(`create table public.taken (taking bigint, runs boolean);
  create function public.take() returns trigger language plpgsql security definer as $$
  begin
    insert into public.taken values (txid_current(), exists (select from fleetprof.running_sessions where load_id = new.load_id));
    if (select count(*) from public.taken where taking = txid_current()) > 10 then
      raise data_exception using message = 'too many at once';
    end if;
    return null;
  end $$;
  create trigger take after insert on fleetprof_data.session for each row execute function public.take()`);

/** A recording of two sessions: each has a row. */
const recording = [7, 8].map((id) => `["profiler",3,0,2,[${id},1]]\n["profiler",3,0,2,[null,[[${id},1,0,1,null,1]]]]\n`).join('');

for (const [how, body, rows] of /** @type {const} */ ([['stopped', dump(0), 1], ['stopped in recordings', recording, 2], ['cut short by a kill', dump(0), 1]])) {
  test(`a session that was ${how} before the database heard of it runs there until all parts are there`, async (t) => {
    const config = { database: stack.postgres.conninfo('fleetprof_writer') };
    let collector = await startCollector({ config });
    const ingest = `${collector.url}/v1/ingest/pk_demo`;
    const letGo = await holdUploads(t);
    await send(ingest, { body: envelope() });
    await waitFor(async () => (await writers("usename = 'fleetprof_writer' and wait_event_type = 'Lock' and query like 'insert into fleetprof_data.upload_id%'")).length === 1, { what: 'a flush that waits' });
    const { session } = JSON.parse((await send(`${ingest}/sessions`, { body: '' })).body);
    for (let part = 0; part < 30; part++) assert.equal((await send(`${ingest}/sessions/${session}?part=${part}`, { body })).status, 204);
    await takeFew();
    if (how !== 'cut short by a kill') {
      assert.equal((await send(`${ingest}/sessions/${session}/stop`, { body: '' })).status, 204);
      await letGo();
    } else {
      await collector.server.stop('SIGKILL');
      await letGo();
      collector = await startCollector({ config: collector.config });
    }
    await waitFor(async () => (await kept(session)).length === 30 * rows, { what: 'all parts in SQL' });
    await waitFor(async () => !await runs(session), { what: 'its end' });
    const taken = await stack.sql('select min(runs::int) as runs from public.taken group by taking order by taking');
    await stack.postgres.execute('drop table public.taken; drop function public.take cascade');
    assert.ok(taken.length >= 3, `${taken.length} times`);
    assert.deepEqual(taken.slice(0, -1).map(({ runs }) => runs), taken.slice(1).map(() => 1));
    await collector.stop();
  });
}

test('a database that was restored hears again what runs', async () => {
  const session = await start('?window=83');
  await waitFor(() => runs(session), { what: 'the session in SQL' });
  await stack.postgres.execute(`delete from fleetprof_data.long_session;
    select pg_terminate_backend(pid) from pg_stat_activity where usename = 'fleetprof_writer'`);
  await send(`${url}/${session}?part=0`, { body: dump(0) });
  await waitFor(async () => (await kept(session)).length === 1, { what: 'the part in SQL' });
  assert.ok(await runs(session));
  await send(`${url}/${session}/stop`, { body: '' });
});

test('with each word on what runs it runs for longer, and what was stopped was stopped where it was', async () => {
  const [session, stopped] = [await start('?window=84'), await start('?window=85')];
  await waitFor(() => runs(stopped), { what: 'both in SQL' });
  const stop = async () => (await stack.sql(`select stopped_position::text as position from fleetprof_data.long_session where load_id = '${stopped}'`))[0].position;
  await send(`${url}/${stopped}/stop`, { body: '' });
  await waitFor(async () => await stop() !== null, { what: 'the stop in SQL' });
  const position = await stop();
  await send(`${url}/${session}?part=0`, { body: dump(0) });
  await stack.postgres.execute(`update fleetprof_data.long_session set expires = now() where load_id = '${session}'`);
  assert.ok(!await runs(session));
  const third = await start('?window=86');
  await waitFor(() => runs(session), { what: 'the next word' });
  assert.equal(await stop(), position);
  for (const id of [session, third]) await send(`${url}/${id}/stop`, { body: '' });
});

test('as many as can run are known in SQL, and hold up no upload', async () => {
  const names = Array.from({ length: 9 }, (_, i) => `site${i}`);
  const collector = await startCollector({ config: { database: stack.postgres.conninfo('fleetprof_writer'),
    sites: names.map((name) => ({ name, key: `pk_${name}` })) } });
  const at = (/** @type {string} */ name) => `${collector.url}/v1/ingest/pk_${name}/sessions`;
  for (let window = 0; window < 128; window++) {
    const replies = await Promise.all(names.slice(0, 8).map((name) => send(`${at(name)}?window=${window}`, { body: '' })));
    assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201]);
  }
  assert.equal((await send(at('site8'), { body: '' })).status, 503, 'one more');
  const count = async () => (await stack.sql(`select count(*)::int as count from fleetprof_data.long_session
    where stopped_position is null and expires > now()`))[0].count;
  await waitFor(async () => await count() >= 1024, { what: 'all of them in SQL' });
  assert.equal((await send(`${collector.url}/v1/ingest/pk_site8`, { body: envelope() })).status, 204);
  await waitFor(async () => (await stack.sql("select from fleetprof.upload_log where site = 'site8'")).length === 1, { what: 'the upload in SQL' });
  await collector.stop();
  await waitFor(async () => await count() < 1024, { what: 'the stop of all in SQL' });
});

test('with its collector a session ends, in SQL too', async () => {
  const config = { database: stack.postgres.conninfo('fleetprof_writer'), sites: [{ name: 'demo', key: 'pk_demo' }] };
  const collector = await startCollector({ config });
  const { session } = JSON.parse((await send(`${collector.url}/v1/ingest/pk_demo/sessions`, { body: '' })).body);
  await waitFor(() => runs(session), { what: 'the session in SQL' });
  await collector.stop();
  assert.ok(!await runs(session), 'stopped with it');
  const killed = await startCollector({ config: collector.config });
  const { session: lost } = JSON.parse((await send(`${killed.url}/v1/ingest/pk_demo/sessions`, { body: '' })).body);
  await waitFor(() => runs(lost), { what: 'the session in SQL' });
  await killed.server.stop('SIGKILL');
  assert.ok(await runs(lost), 'nobody said otherwise');
  const next = await startCollector({ config: collector.config });
  await waitFor(async () => !await runs(lost), { what: 'the word of the collector that came after' });
  await next.stop();
});

test('an Opera session comes in lists of events, each part with its own', async () => {
  const session = await start('?window=9');
  const list = (/** @type {number} */ part) => `["profiler",3,0,2,[7,${part + 1}]]\n["profiler",3,0,2,[null,[[7,${part + 1},0,1,null,1]]]]\n`;
  for (const part of [1, 0]) assert.equal((await send(`${url}/${session}?part=${part}`, { body: list(part) })).status, 204);
  const rows = () => stack.sql(`select part, timeline_id, time_ms, source_id from fleetprof.sessions
    join fleetprof.timelines using (session_id), fleetprof.get_events(session_id, timeline_id) where load_id = '${session}' order by part`);
  await waitFor(async () => (await rows()).length === 2, { what: 'both parts in SQL' });
  assert.deepEqual(await rows(), [0, 1].map((part) => ({ part, timeline_id: part + 1, time_ms: part + 1, source_id: 7 })));
});

test('starts and stops are paid for, and refused to who asks not to be watched', async () => {
  const collector = await startCollector({ config: { database: stack.postgres.conninfo('fleetprof_writer'), privacy: { honour_gpc: true },
    sites: [{ name: 'poor', key: 'pk_poor', budgets: { requests_per_second: 1, burst: '3s' } }, { name: 'rich', key: 'pk_rich' }] } });
  const at = (/** @type {string} */ site) => `${collector.url}/v1/ingest/pk_${site}/sessions`;
  assert.equal((await send(at('rich'), { body: '', headers: { 'sec-gpc': '1' } })).status, 403);
  const statuses = [];
  for (let window = 0; window < 8; window++) statuses.push((await send(`${at('poor')}?window=${window}`, { body: '' })).status);
  assert.deepEqual(statuses.slice(0, 3), [201, 201, 201]);
  assert.ok(statuses.slice(3).includes(429), statuses.join());
  assert.equal((await send(at('rich'), { body: '' })).status, 201, 'others have their own');
  await collector.stop();
});

test('a site runs a limited number, and a refusal says when to try again', async () => {
  const started = [];
  let reply = await send(`${url}?window=2000`, { body: '' });
  for (; reply.status === 201; reply = await send(`${url}?window=${2000 + started.length}`, { body: '' })) {
    started.push(JSON.parse(reply.body).session);
    assert.ok(started.length <= 128, 'the 129th is refused');
  }
  assert.equal(reply.status, 429, reply.body);
  assert.match(reply.problem.detail, /at most 128 sessions of a site/);
  assert.equal(reply.headers['retry-after'], '60');
  assert.equal((await send(`${url}/${started.pop()}/stop`, { body: '' })).status, 204);
  started.push(await start('?window=3000'));
  for (const id of started) assert.equal((await send(`${url}/${id}/stop`, { body: '' })).status, 204);
});

test('a restart forgets what runs, not what was answered', async () => {
  const config = { database: stack.postgres.conninfo('fleetprof_writer'), sites: [{ name: 'demo', key: 'pk_demo' }] };
  const before = await startCollector({ config });
  const at = (/** @type {{ url: string }} */ collector) => `${collector.url}/v1/ingest/pk_demo/sessions`;
  const { session } = JSON.parse((await send(at(before), { body: '' })).body);
  assert.equal((await send(`${at(before)}/${session}?part=0`, { body: dump(0) })).status, 204);
  await before.stop();
  const after = await startCollector({ config: before.config });
  const part = await send(`${at(after)}/${session}?part=1`, { body: dump(0) });
  assert.equal(part.status, 400);
  assert.match(part.problem.detail, /the collector was restarted; start a new one/);
  assert.equal((await send(at(after), { body: '' })).status, 201, 'the window is free');
  const parts = () => stack.sql(`select part from fleetprof.sessions where load_id = '${session}'`);
  await waitFor(async () => (await parts()).length === 1, { what: 'the part in SQL' });
  await after.stop();
});

test('paths, methods and sites are as everywhere', async () => {
  const base = stack.collector.url;
  for (const path of ['sessions/x', 'sessions/', `sessions/123e4567-e89b-42d3-a456-426614174000/`,
    'sessions/123e4567-e89b-42d3-a456-426614174000/start', 'sessionsx']) {
    assert.equal((await send(`${base}/v1/ingest/pk_demo/${path}`, { body: '' })).status, 404, path);
  }
  assert.equal((await send(url, { method: 'GET' })).status, 405);
  assert.equal((await send(`${base}/v1/ingest/pk_other/sessions`, { body: '' })).status, 403);
  assert.equal((await send(url, { body: '', headers: { origin: 'https://evil.example' } })).status, 403);
  assert.equal((await send(url, { method: 'OPTIONS' })).status, 204, 'a preflight');
});
