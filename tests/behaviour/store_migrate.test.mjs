// SPDX-License-Identifier: Apache-2.0
/**
 * Migrations: of an empty database, twice, by several at once, by roles with few rights, of changed functions and
 * views, and the refusals.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binDir, repository, run, runOrThrow, startPostgres, temporaryDir } from './stack.mjs';
import { newDatabase } from './store_tool.mjs';

const schema = path.join(repository, 'schema');
const tables = fs.readdirSync(path.join(schema, 'tables')).sort().map((name) => `tables/${name}`);
const definitions = fs.readFileSync(path.join(schema, 'order'), 'utf8').trim().split('\n');

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => { postgres = await startPostgres(); });
after(() => postgres.stop());

/** @param {import('./store_tool.mjs').Database} database */
function migrate(database, user = 'postgres') {
  return run([path.join(binDir, 'fleetprof'), 'migrate', '--database', database.conninfo(user)]);
}

/** @param {{ code: number | null, stdout: string, stderr: string }} result */
const said = ({ stdout, stderr }) => stdout + stderr;

/** @param {import('./store_tool.mjs').Database} database */
async function migrated(database) {
  const result = await migrate(database);
  assert.equal(result.code, 0, said(result));
  return said(result);
}

/**
 * All functions and views, each with its definition, rights and comment.
 * @param {import('./store_tool.mjs').Database} database
 */
function catalogue(database) {
  return database.sql(`
    select oid::regprocedure::text as name, pg_get_functiondef(oid) as definition, proacl::text as rights,
      obj_description(oid, 'pg_proc') as comment
    from pg_proc where pronamespace::regnamespace::text in ('fleetprof', 'fleetprof_data')
    union all
    select oid::regclass::text, pg_get_viewdef(oid), relacl::text, obj_description(oid, 'pg_class')
    from pg_class where relnamespace::regnamespace::text in ('fleetprof', 'fleetprof_data') and relkind = 'v'
    order by 1`);
}

test('an empty database gets every file once, in order; a second run finds nothing to do', async () => {
  const database = await newDatabase(postgres, { empty: true });
  const first = await migrated(database);
  assert.deepEqual(first.match(/applied \S+/g), tables.map((name) => `applied ${name}`));
  assert.match(first, new RegExp(`created functions and views: ${definitions.length} files`));
  assert.match(first, /the database is up to date/);
  const second = await migrated(database);
  assert.match(second, new RegExp(`nothing to do: ${tables.length} table files, ${definitions.length} files of functions and views`));
  assert.doesNotMatch(second, /applied|created|changed|dropped/);
  const versions = await database.sql('select name, version, applied from fleetprof.schema_version order by name collate "C"');
  assert.deepEqual(versions.map(({ name }) => name), [...tables, ...definitions].sort());
  const [, version] = /fleetprof (\S+)/.exec((await run([path.join(binDir, 'fleetprof'), '--version'])).stdout) ?? [];
  assert.deepEqual([...new Set(versions.map((row) => row.version))], [version]);
});

test("a database's own settings change neither the schema nor what a second run finds", async () => {
  const plain = await newDatabase(postgres, { empty: true });
  await migrated(plain);
  const database = await newDatabase(postgres, { empty: true });
  const name = /dbname=(\w+)/.exec(database.conninfo())?.[1];
  const settings = [
    'standard_conforming_strings = off', 'quote_all_identifiers = on', "statement_timeout = '50ms'",
    "idle_in_transaction_session_timeout = '1ms'", 'search_path = public', 'check_function_bodies = off',
    "default_transaction_isolation = 'repeatable read'", "datestyle = 'SQL, DMY'", "timezone = 'Asia/Kathmandu'",
  ];
  await postgres.execute(settings.map((setting) => `alter database ${name} set ${setting};`).join('\n'));
  assert.match(await migrated(database), /up to date/);
  assert.match(await migrated(database), /nothing to do/);
  await postgres.execute(`alter database ${name} reset all`);
  assert.deepEqual(await catalogue(database), await catalogue(plain));
});

test('functions mean the same in a session where a backslash in a text escapes', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  // A body without its comments and its E'…' texts.
  const open = await database.sql(String.raw`
    select oid::regprocedure::text as name
    from pg_proc
    where pronamespace::regnamespace::text in ('fleetprof', 'fleetprof_data')
      and not coalesce(proconfig @> '{standard_conforming_strings=on}', false)
      and regexp_replace(regexp_replace(prosrc, '--[^\n]*', '', 'g'), 'E''([^\\'']|\\.)*''', '', 'g') like '%\\%'`);
  assert.deepEqual(open, []);
});

test('a function with another body is applied alone; views and rights of users stay', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  const before = await catalogue(database);
  await database.execute(`create role dashboard; grant execute on function fleetprof.timings to dashboard;
    create view public.my_timings as select * from fleetprof.timings('shop');
    create view public.my_segments as select * from fleetprof.segment;
    create or replace function fleetprof_data.bin_middle_us(bin smallint) returns double precision language sql return 7;
    update fleetprof.schema_version set checksum = 'another'
    where name in ('functions/timing_values.sql', 'functions/timings.sql', 'views/segment.sql')`);
  const output = await migrated(database);
  assert.deepEqual(output.match(/(changed|created|dropped|applied) \S+/g),
    ['changed views/segment.sql', 'changed functions/timing_values.sql', 'changed functions/timings.sql']);
  const after = await catalogue(database);
  const timings = after.find(({ name }) => name.startsWith('fleetprof.timings('));
  assert.match(timings.rights, /dashboard=X/);
  timings.rights = before.find(({ name }) => name === timings.name).rights;
  assert.deepEqual(after, before);
  assert.deepEqual(await database.sql('select count(*) from public.my_timings'), [{ count: 0 }]);
});

test('other columns or parameters: dropped and created again, with what of ours depends on it and rights of users', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  const before = await catalogue(database);
  await database.execute(`create role analyst; create role lead;
    grant select on fleetprof.stack_hourly to analyst with grant option;
    set role fleetprof_owner;
    -- Another result.
    drop function fleetprof.markers;
    create function fleetprof.markers(site text) returns table (a integer) language sql return 1;
    -- Another parameter only: create or replace would leave both.
    drop function fleetprof_data.stack_path cascade;
    create function fleetprof_data.stack_path(stack_id bigint, extra integer) returns text[] language sql return null::text[];
    -- A view that others of ours read has lost a column.
    alter view fleetprof_data.named_frame rename column function to title;
    reset role;
    grant execute on function fleetprof.markers to analyst;
    grant select on fleetprof.hotspot_hourly to analyst with grant option;
    update fleetprof.schema_version set checksum = 'another'
    where name in ('functions/markers.sql', 'functions/frames.sql', 'views/named_frame.sql')`);
  await database.execute('grant select on fleetprof.hotspot_hourly to lead', 'postgres');
  const output = await migrated(database);
  assert.deepEqual(output.match(/(changed|created|dropped|applied) \S+/g), [
    'changed functions/frames.sql', 'changed views/named_frame.sql', 'changed views/hotspot_hourly.sql',
    'changed views/stack_hourly.sql', 'changed functions/markers.sql']);
  const after = await catalogue(database);
  const rights = Object.fromEntries(after.map((row) => [row.name.replace(/\(.*/, ''), row.rights]));
  assert.match(rights['fleetprof.markers'], /analyst=X\//);
  assert.match(rights['fleetprof.hotspot_hourly'], /analyst=r\*\/.*lead=r\//);
  /** @param {Record<string, string>[]} rows */
  const without = (rows) => rows.map((row) => ({ ...row, rights: row.rights.replace(/,(analyst|lead)=[^,}]*/g, '') }));
  assert.deepEqual(without(after), before);
  assert.match(await migrated(database), /nothing to do/);
});

test('an object of a user that depends on a changed or dropped one is named, and nothing changes', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  await database.execute(`
    set role fleetprof_owner; alter view fleetprof.segment rename column site to place; reset role;
    create view public.mine as select place from fleetprof.segment;
    create materialized view public.my_copy as select * from public.mine;
    create function public.my_function(a fleetprof.segment) returns text language sql return 'x';
    update fleetprof.schema_version set checksum = 'another' where name in ('views/segment.sql', 'functions/filters.sql')`);
  const before = await catalogue(database);
  const versions = await database.sql('select * from fleetprof.schema_version order by name');
  const refused = await migrate(database);
  assert.equal(refused.code, 2);
  assert.match(said(refused), /your own objects depend on/);
  for (const name of ['view public.mine', 'materialized view public.my_copy', 'function public.my_function(fleetprof.segment)']) {
    assert.ok(said(refused).includes(name), said(refused));
  }
  assert.doesNotMatch(said(refused), /changed |cascade/i);
  assert.deepEqual(await catalogue(database), before);
  assert.deepEqual(await database.sql('select * from fleetprof.schema_version order by name'), versions);
  await database.execute('drop view public.mine cascade; drop function public.my_function');
  assert.match(await migrated(database), /changed views\/segment\.sql/);
});

test('what no file defines any more is dropped, but never from under an object of a user', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  const before = await catalogue(database);
  await database.execute(`set role fleetprof_owner;
    create view fleetprof.gone_view as select 1 as a;
    create view fleetprof.gone_too as select * from fleetprof.gone_view;
    -- One that depends on a view whose columns change, in a file that is applied before.
    create view fleetprof.gone_first as select last_seen from fleetprof.segment;
    alter view fleetprof.segment rename column site to place;
    update fleetprof.schema_version set checksum = 'another' where name = 'views/segment.sql';
    update fleetprof.schema_version set checksum = 'another', objects = objects || 'view fleetprof.gone_first'::text
    where name = 'functions/filters.sql';
    create function fleetprof_data.gone_function(a integer) returns integer language sql return a;
    insert into fleetprof.schema_version (name, checksum, objects, version) values
      ('views/gone.sql', 'x', '{view fleetprof.gone_view,view fleetprof.gone_too}', '0.0.1');
    update fleetprof.schema_version set checksum = 'another', objects = objects || 'function fleetprof_data.gone_function'::text
    where name = 'functions/folded.sql';
    reset role;
    create view public.mine as select * from fleetprof.gone_too`);
  const refused = await migrate(database);
  assert.equal(refused.code, 2);
  assert.match(said(refused), /depend on.*view public\.mine/);
  await database.execute('drop view public.mine');
  const output = await migrated(database);
  assert.deepEqual(output.match(/dropped \S+ \S+/g)?.sort(), ['dropped function fleetprof_data.gone_function',
    'dropped view fleetprof.gone_too', 'dropped view fleetprof.gone_view']);
  assert.deepEqual(await catalogue(database), before);
  assert.deepEqual(await database.sql("select name from fleetprof.schema_version where name = 'views/gone.sql'"), []);
  assert.match(await migrated(database), /nothing to do/);
});

test('a function or view that somebody dropped comes back', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  const before = await catalogue(database);
  await database.execute('drop view fleetprof.upload_log; drop function fleetprof.hints');
  assert.match(await migrated(database), /changed views\/upload_log\.sql\n.*changed functions\/speed_tracer\/hints\.sql\n/);
  assert.deepEqual(await catalogue(database), before);
});

test('--repair brings back what somebody changed or revoked, also rights on tables', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  /** Returns each role's rights on each function, view and table, whatever the order of the grants. */
  const rights = () => database.sql(`select object, role, array_agg(privilege order by privilege) as privileges from (
    select oid::regprocedure::text as object, r.role::regrole::text as role, privilege_type as privilege from pg_proc
      cross join (values ('fleetprof_reader'), ('fleetprof_writer')) r (role) cross join aclexplode(proacl)
      where pronamespace::regnamespace::text ~ '^fleetprof' and grantee = r.role::regrole
    union all select oid::regclass::text, r.role::regrole::text, privilege_type from pg_class
      cross join (values ('fleetprof_reader'), ('fleetprof_writer')) r (role) cross join aclexplode(relacl)
      where relnamespace::regnamespace::text ~ '^fleetprof' and grantee = r.role::regrole
  ) as granted group by 1, 2 order by 1, 2`);
  const definitions = async () => (await catalogue(database)).map(({ name, definition }) => [name, definition]);
  const before = [await definitions(), await rights()];
  await database.execute(`alter function fleetprof.hotspots set search_path = nowhere;
    revoke execute on function fleetprof.timings from fleetprof_reader;
    revoke select on all tables in schema fleetprof, fleetprof_data from fleetprof_reader, fleetprof_writer;
    revoke insert on all tables in schema fleetprof_data from fleetprof_writer`);
  assert.notDeepEqual([await definitions(), await rights()], before);
  assert.match(await migrated(database), /nothing to do/);
  const repaired = await run([path.join(binDir, 'fleetprof'), 'migrate', '--repair', '--database', database.conninfo('postgres')]);
  assert.equal(repaired.code, 0, said(repaired));
  assert.match(said(repaired), /repaired functions, views and rights: \d+ files\n/);
  assert.deepEqual([await definitions(), await rights()], before);
});

test('several at once, in one database and in others of the cluster, do it once', async () => {
  await newDatabase(postgres, { empty: true });
  const one = await newDatabase(postgres, { empty: true });
  const other = await newDatabase(postgres, { empty: true });
  const results = await Promise.all([one, other, one, other, one, other].map((database) => migrate(database)));
  for (const result of results) assert.equal(result.code, 0, said(result));
  assert.equal(results.map(said).join().match(/applied tables\/0001/g)?.length, 2);
  assert.equal(results.map(said).join().match(/created functions and views/g)?.length, 2);
});

test('the roles come into being at once with other databases\' too', async () => {
  const fresh = await startPostgres();
  try {
    const databases = await Promise.all([newDatabase(fresh, { empty: true }), newDatabase(fresh, { empty: true })]);
    const results = await Promise.all(databases.map((database) => migrate(database)));
    for (const result of results) assert.equal(result.code, 0, said(result));
  } finally {
    await fresh.stop();
  }
});

test('everything belongs to fleetprof_owner', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrate(database);
  const foreign = await database.sql(`select c.oid::regclass::text as name from pg_class c
    where c.relnamespace::regnamespace::text in ('fleetprof', 'fleetprof_data') and c.relowner <> 'fleetprof_owner'::regrole
    union all select p.oid::regprocedure::text from pg_proc p
    where p.pronamespace::regnamespace::text in ('fleetprof', 'fleetprof_data') and p.proowner <> 'fleetprof_owner'::regrole`);
  assert.deepEqual(foreign, []);
});

test('a database that a later version migrated is refused and left alone', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  const versions = 'select name, checksum, version from fleetprof.schema_version order by name';
  /** @type {[string, RegExp][]} */
  const newer = [
    ["update fleetprof.schema_version set version = '10.0.0', checksum = 'later' where name = 'functions/hotspots.sql'",
      /newer than this program: fleetprof 10\.0\.0 applied functions\/hotspots\.sql, this is \d/],
    ["insert into fleetprof.schema_version values ('tables/9999_future.sql', 'x', '{}', '0.1.0')",
      /newer than this program: it has tables\/9999_future\.sql/],
  ];
  for (const [change, message] of newer) {
    const original = await database.sql('select * from fleetprof.schema_version');
    await database.execute(`${change}; comment on table fleetprof.schema_version is 'later'`);
    const before = await database.sql(versions);
    const result = await migrate(database);
    assert.equal(result.code, 2);
    assert.match(said(result), message);
    assert.deepEqual(await database.sql(versions), before);
    assert.deepEqual(await database.sql("select obj_description('fleetprof.schema_version'::regclass) as comment"), [{ comment: 'later' }]);
    await database.execute(`truncate fleetprof.schema_version; insert into fleetprof.schema_version
      select * from json_populate_recordset(null::fleetprof.schema_version, '${JSON.stringify(original).replaceAll("'", "''")}')`);
  }
  await migrated(database);
});

test('a database of the numbered migrations before 0.1.0 is refused with what to do, and left alone', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await database.execute(`create schema fleetprof; create schema fleetprof_data;
    create table fleetprof.schema_version (number integer primary key, name text not null, checksum text not null, applied timestamptz default now());
    insert into fleetprof.schema_version (number, name, checksum) values (1, '0001_storage.sql', 'x');
    create table fleetprof_data.upload (a integer); insert into fleetprof_data.upload values (1)`);
  const result = await migrate(database);
  assert.equal(result.code, 2);
  assert.match(said(result), /before 0\.1\.0 .*cannot be upgraded.*nothing was changed.*export.*create a new database/);
  assert.deepEqual(await database.sql('select number, name from fleetprof.schema_version'), [{ number: 1, name: '0001_storage.sql' }]);
  assert.deepEqual(await database.sql('select a from fleetprof_data.upload'), [{ a: 1 }]);
});

test('a table file that was changed after it was applied is refused', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  await database.execute(`update fleetprof.schema_version set checksum = '0000000000000000' where name = '${tables[1]}'`);
  const result = await migrate(database);
  assert.equal(result.code, 2);
  assert.match(said(result), new RegExp(`${tables[1].replace('.', '\\.')} was applied in another form`));
});

test('a migration that fails leaves nothing of itself, and works when the reason is gone', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await database.execute('create schema fleetprof_data; create table fleetprof_data.upload_id (a int)');
  const failed = await migrate(database);
  assert.notEqual(failed.code, 0);
  assert.match(said(failed), /tables\/0001_storage\.sql: .*already exists/);
  assert.deepEqual(await database.sql('select * from fleetprof.schema_version'), []);
  assert.deepEqual(await database.sql("select relname from pg_class where relnamespace = 'fleetprof_data'::regnamespace"),
    [{ relname: 'upload_id' }]);
  await database.execute('drop schema fleetprof_data cascade');
  assert.equal((await migrate(database)).code, 0);
});

test('an owner with CREATEROLE needs no superuser; others get an error that says what is missing', async () => {
  const fresh = await startPostgres();
  try {
    const database = await newDatabase(fresh, { empty: true });
    const name = /dbname=(\w+)/.exec(database.conninfo())?.[1];
    await database.execute(`create role stranger login; create role deployer login createrole;
      alter database ${name} owner to deployer; revoke temporary on database ${name} from public`);
    const refused = await migrate(database, 'stranger');
    assert.notEqual(refused.code, 0);
    assert.match(said(refused), /superuser.*CREATEROLE/);
    const result = await migrate(database, 'deployer');
    assert.equal(result.code, 0, said(result));
    // Roles that are there are left as they are.
    await database.execute("alter role fleetprof_writer connection limit 7 password 'kept'");
    assert.equal((await migrate(database, 'deployer')).code, 0);
    const [writer] = await database.sql("select rolconnlimit, rolpassword is not null as password from pg_authid where rolname = 'fleetprof_writer'");
    assert.deepEqual(writer, { rolconnlimit: 7, password: true });
    // Later runs need only membership in the owner.
    await database.execute(`create role member login in role fleetprof_owner;
      update fleetprof.schema_version set checksum = 'another' where name = 'functions/folded.sql'`);
    const upgraded = await migrate(database, 'member');
    assert.equal(upgraded.code, 0, said(upgraded));
    assert.match(said(upgraded), /changed functions\/folded\.sql/);
  } finally {
    await fresh.stop();
  }
});

test("a database whose rights for everybody are taken away later keeps the roles'", async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrated(database);
  await postgres.execute(`revoke all on database ${/dbname=(\w+)/.exec(database.conninfo())?.[1]} from public`);
  const rights = await database.sql(`select rolname as role, has_database_privilege(oid, current_database(), 'connect') as connect,
    has_database_privilege(oid, current_database(), 'temporary') as temporary
    from pg_roles where rolname like 'fleetprof%' order by rolname`);
  assert.deepEqual(rights, [
    { role: 'fleetprof_owner', connect: false, temporary: true },
    { role: 'fleetprof_reader', connect: true, temporary: false },
    { role: 'fleetprof_writer', connect: true, temporary: true },
  ]);
});

test('the build refuses files of schema/ that could not be migrated', async () => {
  /** @type {[string, RegExp][]} */
  const mistakes = [
    ['rm order && grep -v hotspots.sql "$schema/order" >order', /order lists each file/],
    ['echo views/none.sql >>order', /order lists each file/],
    ['mv tables/0002_sessions.sql tables/0003_sessions.sql', /must be named tables\/0002_what\.sql/],
    ["echo 'create function fleetprof.f() returns integer language sql return 1;' >>functions/folded.sql", /by "create or replace"/],
    ["echo 'create table fleetprof.t (a integer);' >>views/segment.sql", /by "create or replace"/],
    ["echo 'create or replace view fleetprof.segment as select 1;' >>views/sessions.sql", /defined twice: view fleetprof\.segment/],
    ["echo '-- {{filter}}' >functions/folded.sql", /^functions\/folded\.sql:1: there is no macro {{filter}}/],
    ["echo '-- {{given}}' >functions/folded.sql", /^functions\/folded\.sql:1: {{given}} is in a function without {{filters}}/],
    ["echo 'select -- {{filters}}' >functions/folded.sql", /^functions\/folded\.sql:1: a macro stands on a line of its own/],
    ["echo '-- {{each after nothing: $name}}' >views/segment.sql", /^views\/segment\.sql:1: no dimension is named nothing/],
    ["echo 'colour | pages | null | PATTERN | colour | Colours | no | colours' >>filters", /^filters:\d+: a filter is of loads, sides, samples or vitals/],
    ["echo 'colour | loads' >>filters", /^filters:\d+: a filter has eight columns/],
    ["echo 'colour | loads | null | PATTERN | colour | Colours | some | colours' >>filters", /^filters:\d+: strata are always, enough or no/],
    [': >filters', /the table of filters has no dimension/],
  ];
  const build = 'tools=$1 schema=$2 mistake=$3; d=$(mktemp -d) && cp -r "$schema/." "$d" && cd "$d" && eval "$mistake" && '
    + '"$tools/embed-schema" "$d" "$d/out.c" "$d/out.d"; code=$?; rm -r "$d"; exit $code';
  /** @param {string} mistake */
  const embed = (mistake) => run(['bash', '-c', build, 'bash', path.join(repository, 'tools'), schema, mistake]);
  assert.equal((await embed('true')).code, 0);
  for (const [mistake, message] of mistakes) {
    const result = await embed(mistake);
    assert.equal(result.code, 1, mistake);
    assert.match(result.stderr, message);
  }
});

test('macros in files of schema/ keep the numbers of lines', async () => {
  const expanded = path.join(temporaryDir('expanded-schema'), 'schema');
  await runOrThrow([path.join(repository, 'tools/expand-schema'), schema, expanded]);
  const sources = fs.readdirSync(schema, { recursive: true, encoding: 'utf8' }).filter((name) => /^(functions|views)\/.*\.sql$/.test(name));
  assert.ok(sources.length > 50, `${sources.length}`);
  const lines = (/** @type {string} */ folder, /** @type {string} */ name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n');
  for (const name of sources) {
    const [before, after] = [lines(schema, name), lines(expanded, name)];
    assert.equal(after.length, before.length, name);
    before.forEach((line, i) => { if (!line.includes('{{')) assert.equal(after[i], line, `${name}:${i + 1}`); });
    assert.ok(!after.join('').includes('{{'), name);
  }
});

test('without Citus, --citus changes nothing and says what is missing', async () => {
  const database = await newDatabase(postgres, { empty: true });
  const result = await run([path.join(binDir, 'fleetprof'), 'migrate', '--citus', '--database', database.conninfo()]);
  assert.notEqual(result.code, 0);
  assert.match(said(result), /the database has no extension citus; docs\/citus\.md/);
  assert.deepEqual(await database.sql("select 1 from pg_namespace where nspname like 'fleetprof%'"), []);
});
