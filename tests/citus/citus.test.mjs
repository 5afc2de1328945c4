// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof on Citus: a coordinator, two workers and two collectors against one PostgreSQL that gets the same uploads.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { openLedger } from '../accidents/ledger.mjs';
import { startPgBouncer } from '../accidents/pgbouncer.mjs';
import { send } from '../behaviour/collector_client.mjs';
import { blocksOf } from '../behaviour/manual.mjs';
import { binDir, migrate, run, startCollector, startPostgres, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { startFaultySystem } from '../chaos/faulty_system.mjs';
import { ask, difference } from './answers.mjs';
import { createDatabase, execute, missingCitus, rows, startNode, withHosts } from './cluster.mjs';
import { asked, questions } from './questions.mjs';
import { formOf, formSize, sites, uploadOf } from './uploads.mjs';

/** @typedef {import('./cluster.mjs').Node} Node */
/**
 * @typedef {object} Place a collector whose uploads can be dated
 * @property {import('../behaviour/stack.mjs').Collector} collector
 * @property {import('../chaos/faulty_system.mjs').FaultySystem} system dates its uploads
 */

const skip = missingCitus() ?? false;
const database = 'fleetprof';
const hourMs = 3_600_000;
const thisHour = Math.floor(Date.now() / hourMs) * hourMs;
/** Hours in which uploads are received. All of a test's uploads are in the middle of one, whenever the test runs. */
const hours = {
  old: Math.floor(thisHour / (24 * hourMs)) * 24 * hourMs - 43 * hourMs,
  recent: thisHour - 3 * hourMs,
  fresh: thisHour,
};

/** @type {Node} */ let coordinator;
/** @type {Node[]} */ let workers;
/** @type {Node} */ let plain;
/** @type {Place[]} */ let places = [];
/** @type {Place} */ let single;
let sent = 0;

const isIt = (/** @type {Node} */ node) => node === plain ? 'one server' : 'Citus';

before(async () => {
  if (skip) return;
  coordinator = await startNode({ 'citus.shard_count': 8 });
  workers = [await startNode(), await startNode()];
  plain = Object.assign(await startPostgres(), { port: 5432 });
  await migrate(plain);
});

after(async () => {
  for (const { collector } of [...places, single].filter(Boolean)) await collector.server.stop('SIGKILL');
  for (const node of [coordinator, ...workers ?? [], plain].filter(Boolean)) await node.stop('SIGQUIT');
});

/** Runs `fleetprof migrate` as the manual has it. @param {string} on */
async function migrateCitus(on) {
  const [command] = blocksOf('citus.md', 'sh');
  return run(['sh', '-c', withHosts(command, hosts()).replace('dbname=fleetprof', `dbname=${on}`)],
    { env: { PATH: `${binDir}:${process.env.PATH}` } });
}

const hosts = () => Object.fromEntries([coordinator, ...workers].map((node, i) => [i === 0 ? 'coordinator.example' : `worker${i}.example`, node]));

/** @param {string} on a database that all nodes have */
async function joinNodes(on) {
  const [each, once] = blocksOf('citus.md', 'sql');
  for (const node of [coordinator, ...workers]) await execute(node, on, each);
  await execute(coordinator, on, withHosts(once, hosts()));
}

/** The manual's setting that makes queries faster. @param {string} on */
async function cacheConnections(on) {
  const [, , setting] = blocksOf('citus.md', 'sql');
  await execute(coordinator, on, setting.replace('database fleetprof', `database ${on}`));
}

/** @param {Node} node @param {string} on */
const rights = (node, on) => rows(node, on, `
  select oid::regprocedure::text as name, coalesce(proacl::text, '(public)') as rights, proconfig::text as settings
  from pg_proc where pronamespace::regnamespace::text in ('fleetprof', 'fleetprof_data')
  union all
  select oid::regclass::text, coalesce(relacl::text, '(owner)'), null
  from pg_class
  where relnamespace::regnamespace::text in ('fleetprof', 'fleetprof_data') and relkind in ('v', 'p')
    and oid::regclass::text <> 'fleetprof.schema_version'
  union all
  select nspname, nspacl::text, null from pg_namespace where nspname in ('fleetprof', 'fleetprof_data')
  order by 1`);

/** Functions, views and tables have the same rights on all nodes, and functions the same settings. @param {string} on */
async function assertSameRights(on) {
  const expected = await rights(coordinator, on);
  assert.ok(expected.length > 60);
  assert.ok(expected.every(({ rights: text }) => text !== '(public)'));
  for (const worker of workers) assert.deepEqual(await rights(worker, on), expected);
}

/** Functions that only collectors use, which connect to the coordinator. */
const coordinatorsOwn = ['fleetprof_data.draw_secret', 'fleetprof_data.turn'];

test('the manual\'s lines distribute an empty database, and say what is missing', { skip }, async () => {
  for (const node of [coordinator, ...workers]) await createDatabase(node, 'new');
  await execute(coordinator, 'new', 'create extension citus');
  const early = await migrateCitus('new');
  assert.notEqual(early.code, 0);
  assert.match(early.stderr, /the coordinator is not among the nodes of Citus; call citus_set_coordinator_host/);
  await execute(coordinator, 'new', 'drop extension citus');

  await joinNodes('new');
  const first = await migrateCitus('new');
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /distributed fleetprof_data\.frame_hours by group_id/);
  assert.match(first.stderr, /copied fleetprof_data\.segment to each node/);
  const left = await rows(coordinator, 'new', `
    select oid::regclass::text as name from pg_class
    where relnamespace = 'fleetprof_data'::regnamespace and relkind in ('r', 'p')
      and oid not in (select logicalrelid from pg_dist_partition)
    order by 1`);
  assert.deepEqual(left.map(({ name }) => name), coordinatorsOwn);
  await assertSameRights('new');

  const second = await migrateCitus('new');
  assert.match(second.stderr, /nothing to do/);
  const worker = await run([`${binDir}/fleetprof`, 'migrate', '-d', workers[0].conninfo('postgres', 'new')]);
  assert.notEqual(worker.code, 0);
  assert.match(worker.stderr, /this is a worker of Citus; connect to the coordinator/);
});

test('the collector\'s role makes and drops partitions', { skip }, async () => {
  await execute(coordinator, 'new', "select fleetprof_data.make_partitions('{2026-01-01}')", 'fleetprof_writer');
  /** Counts partitions on a worker, where Citus hides them as a rule. @param {Node} worker */
  const count = async (worker) => Number(await execute(worker, 'new', `set citus.override_table_visibility = off;
    select count(*) from pg_class where relkind = 'r' and relname ~ '_20(25|26)[0-9]{4}_[0-9]+$'`));
  for (const worker of workers) assert.ok(await count(worker) > 0);
  await execute(coordinator, 'new', `select fleetprof_data.move_horizon('2026-06-01', '2026-06-01');
    do $$ begin
    while (select fleetprof_data.drop_partition('2027-01-01', '2027-01-01', '2027-01-01', '2027-01-01')) is not null loop end loop; end $$`,
  'fleetprof_writer');
  for (const worker of workers) assert.equal(await count(worker), 0);
});

test('behind a pooler in transaction mode a database is distributed, and a collector counts in it', { skip }, async () => {
  for (const node of [coordinator, ...workers]) await createDatabase(node, 'pooled');
  const pooler = await startPgBouncer(coordinator, { mode: 'transaction', size: 2, database: 'pooled' });
  // The servers have fleetprof's roles: the database is migrated first (docs/citus.md, Limits).
  const empty = await run([`${binDir}/fleetprof`, 'migrate', '-d', pooler.conninfo('postgres')]);
  assert.equal(empty.code, 0, empty.stderr);
  await joinNodes('pooled');
  const program = [`${binDir}/fleetprof`, 'migrate', '--citus', '-d', pooler.conninfo('postgres')];
  const first = await run(program);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /distributed fleetprof_data\.frame_hours by group_id/);
  assert.match((await run(program)).stderr, /nothing to do/);
  await assertSameRights('pooled');
  const collector = await startCollector({ config: { database: pooler.conninfo() } });
  const ledger = openLedger();
  for (let i = 0; i < 40; i++) assert.equal(await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo' }), 204);
  // Without a limit the rows are made on the workers, and lose the names of their columns.
  await ledger.settle('Citus behind a pooler', (text) => rows(coordinator, 'pooled', `${text} limit 1000`), { timeoutMs: 240_000 });
  await waitFor(async () => (await collector.metrics()).fleetprof_last_housekeeping_timestamp_seconds > 0, { what: 'housekeeping', timeoutMs: 240_000 });
  const top = await run([`${binDir}/fleetprof`, 'top', '--site', 'demo', '--csv', '-d', pooler.conninfo('fleetprof_reader')]);
  assert.ok(top.stdout.split('\n').length > 2, top.stderr);
  assert.doesNotMatch(collector.server.output(), /does not exist|already exists|level=error/);
  await collector.stop();
  await pooler.stop();
});

test('what an earlier version copied to each node goes back to the coordinator', { skip }, async () => {
  for (const table of coordinatorsOwn) {
    await execute(coordinator, 'pooled', `select create_reference_table('${table}'); select truncate_local_data_after_distributing_table('${table}')`,
      'fleetprof_owner');
  }
  const contents = () => rows(coordinator, 'pooled', `select taken_by::text as value, obj_description('fleetprof_data.turn'::regclass) as comment,
    col_description('fleetprof_data.turn'::regclass, 1) as of_column, relacl::text as rights
    from fleetprof_data.turn cross join pg_class where pg_class.oid = 'fleetprof_data.turn'::regclass`);
  const before = await contents();
  const result = await run([`${binDir}/fleetprof`, 'migrate', '-d', coordinator.conninfo('postgres', 'pooled')]);
  assert.equal(result.code, 0, result.stderr);
  for (const table of coordinatorsOwn) assert.match(result.stderr, new RegExp(`moved ${table} to the coordinator`));
  assert.deepEqual(await rows(coordinator, 'pooled', `select logicalrelid::text as name from pg_dist_partition where logicalrelid::text = any ('{${coordinatorsOwn}}')`), []);
  assert.deepEqual(await contents(), before);
  assert.equal(before.length, 1);
});

test('a worker that joins later gets its part, and the rights', { skip }, async () => {
  const third = await startNode();
  workers.push(third);
  const [each, , , grow] = blocksOf('citus.md', 'sql');
  await createDatabase(third, 'new');
  await execute(third, 'new', each);
  await execute(coordinator, 'new', withHosts(grow, hosts()));
  await waitFor(async () => {
    const [{ state }] = await rows(coordinator, 'new', 'select state from citus_rebalance_status()');
    assert.notEqual(state, 'failed');
    return state === 'finished';
  }, { timeoutMs: 90_000, intervalMs: 250, what: 'end of the rebalancing' });
  const result = await migrateCitus('new');
  assert.equal(result.code, 0, result.stderr);
  await assertSameRights('new');
  const [{ n }] = await rows(coordinator, 'new', `
    select count(distinct nodeport)::int as n from citus_shards where table_name::text = 'fleetprof_data.frame_hours'`);
  assert.equal(n, 3);
  workers.pop();
  await third.stop('SIGQUIT');
  const down = await migrateCitus('new');
  assert.notEqual(down.code, 0);
  assert.match(down.stderr, new RegExp(`role fleetprof_\\w+ on worker 127\\.0\\.0\\.1:${third.port}: .*connect`));
});

/** @param {Node} node @returns {Promise<Place>} */
async function startPlace(node) {
  const system = await startFaultySystem();
  assert.ok(system);
  const collector = await startCollector({
    config: { database: node.conninfo('fleetprof_writer'), sites, flush: { min_window: '100ms', max_window: '5s' } }, env: system.env,
  });
  return { collector, system };
}

/**
 * Dates uploads to ten minutes past an hour. The collectors' clocks stay those of the databases: more than two days off,
 * they would be wrong, and uploads would count in the hour of now. @param {number} hour
 */
function setHour(hour) {
  const pastUs = (Date.now() - hour - 600_000) * 1000;
  for (const { system } of [...places, single]) system.set({ pastUs });
}

/** @param {Place} place @param {import('./uploads.mjs').Upload} upload */
async function post({ collector }, { site, body, headers }) {
  const reply = await send(`${collector.url}/v1/ingest/pk_${site}`, { body, headers });
  assert.equal(reply.status, 204, reply.body);
}

/**
 * Sends uploads, each to one of the cluster's collectors, some to both, and to the single server's.
 * @param {string} phase
 * @param {number} count
 */
async function sendAll(phase, count) {
  for (let i = 0; i < count; i++) {
    const upload = uploadOf(phase, i);
    const to = i % 10 === 9 ? places : [places[Math.floor(i / 3) % places.length]];
    await Promise.all([...to, single].map((place) => post(place, upload)));
  }
  sent += count;
}

/** Waits until all that was sent is counted, once, on both sides. */
async function counted() {
  for (const node of [coordinator, plain]) {
    await waitFor(async () => {
      const [{ n }] = await rows(node, database, 'select count(*)::int as n from fleetprof_data.upload');
      assert.ok(n <= sent, `${n} of ${sent} uploads`);
      return n === sent;
    }, { timeoutMs: 240_000, intervalMs: 200, what: `${sent} uploads on ${isIt(node)}` });
  }
}

test('a database in use is distributed while uploads come', { skip }, async () => {
  await migrate(coordinator);
  places = [await startPlace(coordinator), await startPlace(coordinator)];
  single = await startPlace(plain);
  setHour(hours.old);
  await sendAll('before', 60);
  await counted();
  await joinNodes(database);
  const [worker] = workers;
  await execute(worker, database, `set citus.enable_ddl_propagation = off; alter role fleetprof_owner nologin;
    alter database ${database} set default_transaction_read_only = on`);
  const refused = await migrateCitus(database);
  assert.notEqual(refused.code, 0);
  assert.match(refused.stderr, new RegExp(`role fleetprof_owner on worker 127\\.0\\.0\\.1:${worker.port}: .*read-only transaction`));
  await execute(worker, database, `set citus.enable_ddl_propagation = off; set default_transaction_read_only = off;
    alter database ${database} reset default_transaction_read_only`);
  const [result] = await Promise.all([migrateCitus(database), sendAll('meanwhile', 60)]);
  assert.equal(result.code, 0, result.stderr);
  await counted();
  const [{ bytes }] = await rows(coordinator, database, `
    select sum(pg_relation_size(oid))::int as bytes from pg_class
    where oid in (select logicalrelid from pg_dist_partition)`);
  assert.equal(bytes, 0, 'the coordinator keeps no copy of what it has distributed');
  await assertSameRights(database);
  await cacheConnections(database);
  for (const { collector } of places) assert.doesNotMatch(collector.server.output(), /housekeeping failed/);
});

test('hours of two releases are counted', { skip }, async () => {
  for (let i = 0; i < 26; i++) {
    setHour(hours.old + (i + 1) * hourMs);
    for (const place of [places[i % 2], single]) await post(place, formOf(i));
    sent += formSize;
  }
  await counted();
});

test('a worker that is killed in the middle of a flush loses nothing', { skip }, async () => {
  setHour(hours.recent);
  const [worker] = workers;
  const failures = async () => {
    const all = await Promise.all(places.map(({ collector }) => collector.metrics()));
    return all.reduce((sum, metrics) => sum + metrics.fleetprof_flush_errors_total, 0);
  };
  const before = await failures();
  const sending = sendAll('killed', 120);
  await waitFor(async () => (await rows(worker, database, `
    select 1 from pg_stat_activity
    where backend_xid is not null and usename = 'fleetprof_writer' and pid <> pg_backend_pid()`)).length > 0,
  { intervalMs: 5, what: 'flush' });
  await worker.stop('SIGQUIT');
  await waitFor(async () => await failures() > before, { what: 'failed flush' });
  await worker.start();
  await sending;
  await counted();
  for (const { collector } of places) assert.doesNotMatch(collector.server.output(), /fleetprof migrate/);
});

/** Waits until both sides have sealed all hours that are over, into the same blocks. @returns {Promise<string[]>} the blocks */
async function sealed() {
  const done = async () => {
    const [one, other] = await Promise.all([plain, coordinator].map(async (node) => (await rows(node, database, `
      select 'waits' as what, site, bucket::text, 0 as span from fleetprof_data.unsealed where bucket < '${new Date(thisHour).toISOString()}'
      union all select 'sealed', site, bucket::text, span from fleetprof_data.sealed order by 1, 2, 3, 4`))
      .map(({ what, site, bucket, span }) => `${what} ${site} ${bucket} ${span}`)));
    assert.deepEqual(other, one);
    assert.ok(one.length > 0 && one.every((line) => line.startsWith('sealed')), one.join('\n'));
    // A day, or the eight days that it was the last one of.
    assert.ok(one.some((line) => /[23]$/.test(line)), one.join('\n'));
    return one;
  };
  return waitFor(done, { timeoutMs: 240_000, intervalMs: 300, what: 'same blocks on both sides' });
}

test('hours are sealed into blocks, and late uploads are added to them', { skip }, async () => {
  const blocks = await sealed();
  setHour(hours.old);
  await sendAll('late', 40);
  await counted();
  assert.deepEqual(await sealed(), blocks);
  setHour(hours.fresh);
  await sendAll('fresh', 40);
  await counted();
});

test('function tables and names of scripts reach all nodes', { skip }, async () => {
  const [{ url }] = await rows(plain, database, `select resource as url from fleetprof.hotspots('shop', since => null, until => null, top => null)
    where resource like '%/react%' limit 1`);
  const places = await rows(plain, database, `select distinct generated_line as line, generated_column as column
    from fleetprof.hotspots('shop', since => null, until => null, top => null) where resource = '${url}' and generated_column > 0 order by 1, 2`);
  assert.ok(places.length > 20);
  const script = path.basename(url);
  const file = path.join(temporaryDir('table'), 'table.jsonl');
  fs.writeFileSync(file, [{ fleetprof_function_table: 1, script, functions: places.length },
    ...places.map(({ line, column }, i) => [line, column, `written${i % 90}`, `src/part${i % 7}.ts`, i + 1, 1, i % 3 === 0 ? 'react-dom' : '', i % 10 === 0])]
    .map((line) => `${JSON.stringify(line)}\n`).join(''));
  for (const node of [plain, coordinator]) {
    const added = await run([`${binDir}/fleetprof`, 'sourcemap', 'add', '-d', node.conninfo('fleetprof_writer', database),
      '--site', 'shop', '--release', '1.0', '--url-prefix', url.slice(0, -script.length), file]);
    assert.equal(added.code, 0, added.stderr);
    await execute(node, database, `select fleetprof_data.keep_scripts('{"shop": ["/js/*.bundle.js"]}')`, 'fleetprof_writer');
  }
  const names = `select distinct function_key, resource from fleetprof.hotspots('shop', since => null, until => null, top => null)
    where function like 'written%' order by 1, 2`;
  const expected = await rows(plain, database, names);
  assert.ok(expected.length > 20);
  assert.deepEqual(await rows(coordinator, database, names), expected);
});

test('every function and view gives the same rows', { skip }, async () => {
  const known = asked();
  const objects = await rows(coordinator, database, `
    select proname as name from pg_proc where pronamespace = 'fleetprof'::regnamespace
    union select relname from pg_class where relnamespace = 'fleetprof'::regnamespace and relkind = 'v'`);
  assert.deepEqual(objects.map(({ name }) => name).filter((name) => !known.includes(name)), []);
  await compare();
});

/** Asks both sides everything. */
async function compare(style = 'ISO, YMD') {
  const sessions = await rows(plain, database, `
    select session_id::text as id, coalesce(array_agg(distinct timeline_id::text) filter (where timeline_id is not null), '{}') as timelines
    from fleetprof_data.session left join fleetprof_data.timeline using (session_id) group by 1 order by 1`);
  const [hottest] = await rows(plain, database, `
    select function as name, function_key as key from fleetprof.hotspots('%', since => null, until => null, top => 1)`);
  const list = questions({
    first: new Date(hours.old - 100 * hourMs).toISOString(),
    end: new Date(thisHour + 2 * hourMs).toISOString(),
    hour: new Date(hours.recent).toISOString(),
    hottest,
    sessions: sessions.slice(0, 12),
  });
  const statements = list.map(({ sql }) => sql);
  const began = performance.now();
  const expected = await ask(plain.conninfo('fleetprof_reader'), statements, style);
  const middle = performance.now();
  const actual = await ask(coordinator.conninfo('fleetprof_reader'), statements, style);
  console.log(`# ${list.length} queries: ${Math.round(middle - began)} ms on one server, ${Math.round(performance.now() - middle)} ms on Citus`);
  const differences = list.map((question, i) => difference(question, expected[i], actual[i])).filter(Boolean);
  assert.equal(differences.length, 0, `${differences.length} of ${list.length} differ\n${differences.slice(0, 40).join('\n')}`);
  for (const [i, { sql }] of list.entries()) {
    if (sql.includes('.compare_releases(')) assert.match(expected[i].rows.join(), /slower|faster|no change seen/, sql);
  }
  const filled = expected.filter(({ rows: found }) => found.length > 0).length;
  assert.ok(filled > list.length / 2, `${filled} of ${list.length} have rows`);
}

test('times mean the same in a session with another style of dates', { skip }, async () => {
  const list = ['hotspots', 'timings', 'folded'].map((name) =>
    `select * from fleetprof.${name}('shop', since => to_timestamp(${hours.recent / 1000}), until => to_timestamp(${hours.recent / 1000 + 3600}))`);
  const expected = await ask(plain.conninfo('fleetprof_reader'), list, 'German');
  const actual = await ask(coordinator.conninfo('fleetprof_reader'), list, 'German');
  for (const [i, sql] of list.entries()) {
    assert.ok(expected[i].rows.length > 0, sql);
    assert.equal(difference({ sql }, expected[i], actual[i]), undefined);
  }
});

test('kept sessions are released on all nodes', { skip }, async () => {
  const left = 'select (select count(*) from fleetprof_data.session) + (select count(*) from fleetprof_data.timeline) + (select count(*) from fleetprof_data.event)';
  for (const node of [plain, coordinator]) {
    const [{ id }] = await rows(node, database, 'select min(session_id)::text as id from fleetprof.sessions');
    assert.equal(await execute(node, database, `select fleetprof.release_session(${id})`, 'fleetprof_writer'), '1\n');
  }
  const [expected, actual] = await Promise.all([plain, coordinator].map((node) => execute(node, database, left)));
  assert.equal(actual, expected);
  assert.notEqual(actual, '0\n');
  for (const node of [plain, coordinator]) {
    await execute(node, database, 'select fleetprof.release_session()', 'fleetprof_writer');
    assert.equal(await execute(node, database, left), '0\n');
  }
});

test('a later migration reaches all nodes', { skip }, async () => {
  await execute(coordinator, database, `drop function fleetprof.timings; revoke select on fleetprof.segment from fleetprof_reader;
    update fleetprof.schema_version set checksum = 'another' where name in ('views/segment.sql', 'functions/stacks.sql')`);
  const result = await run([`${binDir}/fleetprof`, 'migrate', '-d', coordinator.conninfo('postgres', database)]);
  assert.equal(result.code, 0, result.stderr);
  assert.match(result.stderr, /changed functions\/timings\.sql/);
  await assertSameRights(database);
});
