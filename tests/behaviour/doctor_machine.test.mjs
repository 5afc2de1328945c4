// SPDX-License-Identifier: Apache-2.0
/**
 * `fleetprof doctor` without a URL, on the collector's machine: each mistake of configuration, database, spool and
 * admin listener gives its finding and no other.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { doctor } from './doctor_site.mjs';
import { makeCertificate } from '../site/certificate.mjs';
import { collectorConfig, freePort, runOrThrow, startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector} */
let collector;
before(async () => {
  postgres = await startPostgres({ migrated: true });
  await postgres.execute(`create database empty; create role bystander login; grant fleetprof_reader to bystander;
    create role stranger login`);
  collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
  await waitFor(async () => (await collector.metrics())['fleetprof_database_state{state="reachable"}'] === 1, { what: 'database' });
  await waitFor(async () => (await postgres.sql(`select count(*)::int as partitions from pg_inherits i
    join pg_class c on c.oid = i.inhparent where relname = 'upload'`))[0].partitions > 0, { what: 'partitions' });
});
after(async () => {
  await collector.stop();
  await postgres.stop();
});

/** @param {string} file @param {string[]} [args] @param {NodeJS.ProcessEnv} [env] */
async function examine(file, args = [], env = {}) {
  const { code, stderr, findings } = await doctor(['-c', file, ...args], env);
  assert.equal(stderr, '');
  assert.equal(code, findings.some(({ severity }) => severity === 'wrong') ? 1 : 0);
  return findings;
}

/** Doctor's findings about the running collector's configuration with other settings. @param {Record<string, unknown>} settings */
async function findings(settings) {
  const { file } = await collectorConfig({ ...collector.config, ...settings });
  return examine(file);
}

/** @param {any[]} all */
const ids = (all) => [...new Set(all.map(({ id }) => id))].sort();

test('a right set-up has no findings', async () => {
  assert.deepEqual(await examine(collector.file), []);
});

test('an invalid configuration is shown with its places', async () => {
  const found = await findings({ listen: 'nowhere', sites: [] });
  assert.deepEqual(ids(found), ['config-invalid']);
  assert.ok(found.some(({ seen }) => /fleetprof\.yaml:\d+:\d+: listen/.test(seen)), JSON.stringify(found));
});

test('a configuration that is not there cannot be checked', async () => {
  const { code, stderr } = await doctor(['-c', '/nonexistent/fleetprof.yaml']);
  assert.equal(code, 2);
  assert.match(stderr, /nonexistent/);
});

test('a database that is away', async () => {
  assert.deepEqual(ids(await findings({ database: 'host=/nonexistent dbname=fleetprof' })), ['database-unreachable']);
});

test('a database without the schema, and one that is not there', async () => {
  assert.deepEqual(ids(await findings({ database: postgres.conninfo('fleetprof_writer', 'empty') })), ['database-not-migrated']);
  const found = await findings({ database: postgres.conninfo('fleetprof_writer', 'nothing') });
  assert.deepEqual(ids(found), ['database-not-migrated']);
  assert.match(found[0].seen, /createdb nothing/);
});

test('a role that may only read, and one that may nothing', async () => {
  const found = await findings({ database: postgres.conninfo('bystander') });
  assert.deepEqual(ids(found), ['database-rights']);
  assert.match(found[0].seen, /bystander lacks .*insert on/);
  assert.deepEqual(ids(await findings({ database: postgres.conninfo('stranger') })), ['database-rights']);
});

test('a server that does not let the role in', async () => {
  const hba = path.join(postgres.socketDir, 'data/pg_hba.conf');
  const before = fs.readFileSync(hba, 'utf8');
  fs.writeFileSync(hba, `local fleetprof fleetprof_writer peer\n${before}`);
  try {
    await postgres.execute('select pg_reload_conf()');
    await waitFor(async () => ids(await examine(collector.file))[0] === 'database-login', { what: 'refused login' });
  } finally {
    fs.writeFileSync(hba, before);
    await postgres.execute('select pg_reload_conf()');
  }
  await waitFor(async () => (await examine(collector.file)).length === 0, { what: 'login again' });
});

test('a schema that is older, and one that is newer', async () => {
  const last = `(select max(name) from fleetprof.schema_version where name like 'tables/%')`;
  await postgres.execute(`create table kept as select * from fleetprof.schema_version where name = ${last};
    delete from fleetprof.schema_version where name = ${last}`);
  const older = await examine(collector.file);
  await postgres.execute(`insert into fleetprof.schema_version select * from kept;
    update kept set name = 'tables/9999_later.sql'; insert into fleetprof.schema_version select * from kept`);
  const newer = await examine(collector.file);
  await postgres.execute(`delete from fleetprof.schema_version where name = 'tables/9999_later.sql'; drop table kept`);
  for (const [found, word] of /** @type {const} */ ([[older, 'older'], [newer, 'newer']])) {
    assert.deepEqual(ids(found), ['database-outdated']);
    assert.match(found[0].seen, new RegExp(word));
  }
});

test('partitions that are missing', async () => {
  await postgres.execute(`begin; create schema aside;
    do $$ declare r record; begin
      for r in select c.oid::regclass::text as part, p.oid::regclass::text as parent from pg_inherits i
        join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent where p.relname = 'upload' loop
        execute format('alter table %s detach partition %s', r.parent, r.part);
        execute format('alter table %s set schema aside', r.part);
      end loop; end $$; commit`);
  const found = await examine(collector.file);
  assert.deepEqual(ids(found), ['database-partitions']);
  assert.match(found[0].seen, /fleetprof_data\.upload/);
  // A collector that has just started makes them while doctor looks.
  const looking = examine(collector.file);
  await waitFor(async () => (await postgres.sql(`select from pg_stat_activity where pid <> pg_backend_pid() and query ~ 'relispartition|pg_inherits'
    and state = 'idle' and usename = 'fleetprof_writer'`)).length > 0, { what: 'doctor in the database' });
  await postgres.execute(`drop schema aside cascade; select fleetprof_data.make_partitions(array[(now() at time zone 'UTC')::date])`);
  assert.deepEqual(await looking, []);
});

test('a spool whose place is missing, is a file, or is too small', async () => {
  const dir = temporaryDir('place');
  fs.writeFileSync(path.join(dir, 'file'), '');
  const max = { max_bytes: '64MiB' };
  assert.deepEqual(ids(await findings({ spool: { path: path.join(dir, 'no/spool'), ...max } })), ['spool-path']);
  assert.deepEqual(ids(await findings({ spool: { path: path.join(dir, 'file'), ...max } })), ['spool-path']);
  assert.deepEqual(ids(await findings({ spool: { path: path.join(dir, 'new'), max_bytes: '900TiB' } })), ['spool-space']);
});

test('a file that the collector cannot read', { skip: process.getuid?.() !== 0 && 'only root reads everything' }, async () => {
  const dir = temporaryDir('user'), key = path.join(dir, 'token.key'), spool = path.join(dir, 'spool');
  fs.chmodSync(dir, 0o755);
  fs.writeFileSync(key, `${'01'.repeat(32)}\n`, { mode: 0o600 });
  fs.mkdirSync(spool);
  fs.chownSync(spool, 65534, 65534);
  const { file } = await collectorConfig({
    ...collector.config, spool: { path: spool, max_bytes: '64MiB' },
    sites: [{ name: 'demo', key: 'pk_demo', token_keys: [key] }],
  });
  fs.chmodSync(path.dirname(file), 0o755);
  fs.chmodSync(postgres.socketDir, 0o755);
  const found = await examine(file);
  assert.deepEqual(ids(found), ['config-unreadable']);
  assert.equal(found[0].where, key);
});

test("over TLS, doctor looks into the home of the collector's user, not root's", { skip: process.getuid?.() !== 0 && 'only root becomes another user' }, async () => {
  const { certificate, key } = await makeCertificate();
  const hba = path.join(path.dirname(certificate), 'pg_hba.conf');
  fs.writeFileSync(hba, 'local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n');
  for (const file of [path.dirname(certificate), certificate, key, hba]) await runOrThrow(['chown', 'postgres', file]);
  const port = await freePort();
  const remote = await startPostgres({
    migrated: true,
    settings: { listen_addresses: '127.0.0.1', port, ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key, hba_file: hba },
  });
  await remote.execute("alter role fleetprof_writer password 'a b:c'");
  const [home, dir] = [temporaryDir('root'), temporaryDir('user')];
  fs.chmodSync(dir, 0o755);
  const [spool, passwords] = [path.join(dir, 'spool'), path.join(dir, 'passwords')];
  fs.mkdirSync(spool);
  fs.writeFileSync(passwords, `127.0.0.1:${port}:fleetprof:fleetprof_writer:a b\\:c\n`, { mode: 0o600 });
  for (const file of [spool, passwords]) fs.chownSync(file, 65534, 65534);
  const { file } = await collectorConfig({
    ...collector.config, spool: { path: spool, max_bytes: '64MiB' },
    database: `host=127.0.0.1 port=${port} dbname=fleetprof user=fleetprof_writer passfile=${passwords} sslmode=require`,
  });
  fs.chmodSync(path.dirname(file), 0o755);
  try {
    // No collector has made partitions there; it is let in.
    // Only the writer's password is known.
    assert.deepEqual(ids(await examine(file, [], { HOME: home })), ['database-partitions', 'question-unasked']);
  } finally {
    await remote.stop();
  }
});

test('an admin listener that is off, public, or has nobody behind it', async () => {
  assert.deepEqual(ids(await findings({ admin: undefined })), ['admin-off']);
  const port = await freePort();
  assert.deepEqual(ids(await findings({ admin: `127.0.0.1:${port}` })), ['collector-stopped']);
  assert.deepEqual(ids(await findings({ admin: `0.0.0.0:${port}` })), ['admin-public', 'collector-stopped']);
});

test('a collector that cannot write, whose uploads wait, and whose spool is full', async () => {
  const away = await startCollector({
    config: {
      database: 'host=/nonexistent dbname=fleetprof', flush: { min_window: '10ms', max_window: '50ms' },
      spool: { path: path.join(temporaryDir('s'), 's'), max_bytes: '4MiB', segment_bytes: '1MiB' },
    },
  });
  await waitFor(async () => (await away.metrics())['fleetprof_database_state{state="unreachable"}'] === 1, { what: 'outage' });
  assert.deepEqual(ids(await examine(away.file)), ['collector-database', 'database-unreachable']);

  const names = Array.from({ length: 2000 }, (_, i) => ({ name: `${i}${'x'.repeat(90)}` }));
  const body = envelope({ trace: {
    resources: [], frames: names, stacks: names.map((_, i) => ({ frameId: i })), samples: names.map((_, i) => ({ timestamp: i, stackId: i })),
  } });
  await waitFor(async () => (await send(`${away.url}/v1/ingest/pk_demo`, { body })).status === 503, { what: 'full spool', intervalMs: 1 });
  await waitFor(async () => (await away.metrics()).fleetprof_spool_backlog_age_seconds > 1, { what: 'old backlog' });
  assert.deepEqual(ids(await examine(away.file)), ['backlog', 'collector-database', 'collector-not-ready', 'database-unreachable']);
  await away.stop();
});

test('what profiling costs visitors: a note, and wrong if it is surely above 1 %', async () => {
  const sites = [{ name: 'fair', key: 'pk_fair' }, { name: 'costly', key: 'pk_costly' }, { name: 'young', key: 'pk_young' }];
  const asked = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer'), sites } });
  for (let i = 0; i < 30; i += 1) {
    for (const { name, key } of sites) {
      for (const drawn of [false, true]) {
        const value = (100 + 10 * i) * (drawn && name === 'costly' ? 1.5 : 1);
        const reply = await send(`${asked.url}/v1/ingest/${key}`, { body: envelope({ trace: undefined, drawn, vitals: [{ name: 'INP', value, navigationType: 'navigate' }] }) });
        assert.equal(reply.status, 204, reply.body);
      }
    }
  }
  await waitFor(async () => (await postgres.sql(`select sum(number)::int as count from fleetprof_data.timing_recent cross join unnest(count) as number`))[0].count >= 180, { what: 'all page loads in SQL' });
  // The same page loads in each of the 23 hours before, but on the young site.
  await postgres.execute(`do $$ declare kind text; begin
    perform fleetprof_data.make_partitions(array[(now() at time zone 'UTC')::date - 1]);
    foreach kind in array '{timing,timing_bin}'::text[] loop
      execute format('insert into fleetprof_data.%1$s_recent
        select (jsonb_populate_record(row, jsonb_build_object(''bucket'', bucket - hour * interval ''1 hour''))).*
        from fleetprof_data.%1$s_recent as row join fleetprof_data.segment on segment_id = group_id cross join generate_series(1, 23) as hour
        where site in (''fair'', ''costly'')', kind);
    end loop;
    insert into fleetprof_data.unsealed select site, bucket - hour * interval '1 hour', spool_id, position, entries
    from fleetprof_data.unsealed cross join generate_series(1, 23) as hour where site in ('fair', 'costly')
    on conflict do nothing;
  end $$`);
  const found = await examine(asked.file);
  assert.deepEqual(found.map(({ id, severity, where }) => [id, severity, where]), [
    ['profiling-costly', 'wrong', 'site costly, seven days'], ['profiling-cost', 'note', 'site fair, seven days']]);
  const [{ seen: costly }, { seen: fair }] = found;
  assert.match(costly, /^INP, p75: \+[45]\d\.\d %, 95 % between \+[34]\d\.\d % and \+[56]\d\.\d %: slower$/);
  assert.match(fair, /^INP, p75: [+-]0\.0 %, 95 % between -\d+\.\d % and \+\d+\.\d %: no change seen$/);
  // It is what the report and the command line have.
  const [{ change }] = await postgres.sql(`select change from fleetprof.profiling_cost('costly', since => now() - interval '7 days') where name = 'INP' and percentile = 75`);
  assert.ok(costly.includes(`+${(100 * change).toFixed(1)} %`), `${costly}: ${change}`);
  assert.deepEqual(ids(await examine(asked.file, ['--ignore', 'profiling-costly'])), ['profiling-cost']);
  await asked.stop();
});
