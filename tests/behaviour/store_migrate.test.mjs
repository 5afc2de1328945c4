/**
 * Migrations: from nothing, twice, by several at once, by roles with few rights, and the refusals.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binDir, repository, run, startPostgres } from './stack.mjs';
import { newDatabase } from './store_tool.mjs';

const files = fs.readdirSync(path.join(repository, 'schema')).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();

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

test('migrating twice applies every file once, in order', async () => {
  const database = await newDatabase(postgres, { empty: true });
  const first = await migrate(database);
  assert.equal(first.code, 0, said(first));
  assert.deepEqual(said(first).match(/\d{4}_\w+\.sql/g), files);
  const second = await migrate(database);
  assert.equal(second.code, 0);
  assert.doesNotMatch(said(second), /applied/);
  const versions = await database.sql('select number, name from fleetprof.schema_version order by number');
  assert.deepEqual(versions, files.map((name, i) => ({ number: i + 1, name })));
});

test('several at once, in one database and in others of the cluster, do it once', async () => {
  await newDatabase(postgres, { empty: true });
  const one = await newDatabase(postgres, { empty: true });
  const other = await newDatabase(postgres, { empty: true });
  const results = await Promise.all([one, other, one, other, one, other].map((database) => migrate(database)));
  for (const result of results) assert.equal(result.code, 0, said(result));
  assert.equal(results.map(said).join().match(/applied 0001/g)?.length, 2);
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

test('a newer database is refused and left alone', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrate(database);
  await database.execute("insert into fleetprof.schema_version (number, name, checksum) values (9999, '9999_future.sql', 'x')");
  const result = await migrate(database);
  assert.notEqual(result.code, 0);
  assert.match(said(result), /newer than this program.*9999_future\.sql/);
});

test('a migration that was changed after it landed is refused', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await migrate(database);
  await database.execute("update fleetprof.schema_version set checksum = '0000000000000000' where number = 2");
  const result = await migrate(database);
  assert.notEqual(result.code, 0);
  assert.match(said(result), new RegExp(`${files[1].replace('.', '\\.')} was applied in another form`));
});

test('a migration that fails leaves nothing of itself, and works when the reason is gone', async () => {
  const database = await newDatabase(postgres, { empty: true });
  await database.execute('create schema fleetprof_data; create table fleetprof_data.upload_id (a int)');
  const failed = await migrate(database);
  assert.notEqual(failed.code, 0);
  assert.match(said(failed), /0001_storage\.sql: .*already exists/);
  assert.deepEqual(await database.sql('select * from fleetprof.schema_version'), []);
  assert.deepEqual(await database.sql("select relname from pg_class where relnamespace = 'fleetprof_data'::regnamespace"),
    [{ relname: 'upload_id' }]);
  await database.execute('drop schema fleetprof_data cascade');
  assert.equal((await migrate(database)).code, 0);
});

test('an owner with CREATEROLE needs no superuser; a stranger is told what is missing', async () => {
  const fresh = await startPostgres();
  try {
    const database = await newDatabase(fresh, { empty: true });
    const name = /dbname=(\w+)/.exec(database.conninfo())?.[1];
    await database.execute(`create role stranger login; create role deployer login createrole;
      alter database ${name} owner to deployer`);
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
  } finally {
    await fresh.stop();
  }
});
