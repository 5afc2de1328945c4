// SPDX-License-Identifier: Apache-2.0
/** fleetprof migrate against real PostgreSQL. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binDir, collectorConfig, repository, run, startPostgres, temporaryDir, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
before(async () => { postgres = await startPostgres(); });
after(async () => { await postgres.stop(); });

const tables = fs.readdirSync(path.join(repository, 'schema', 'tables')).sort();

/** @param {string} database a new one */
async function createDatabase(database) {
  await postgres.execute(`create database ${database}`);
  return postgres.conninfo('postgres', database);
}

/** @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
function migrate(args, env = {}) {
  return run([path.join(binDir, 'fleetprof'), 'migrate', ...args], { env: { FLEETPROF_DATABASE: '', ...env } });
}

test('an empty database gets tables, functions and views; the second run finds nothing to do', async () => {
  const conninfo = await createDatabase('twice');
  const first = await migrate(['-d', conninfo]);
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(first.stderr.match(/applied \S+/g), tables.map((name) => `applied tables/${name}`));
  assert.match(first.stderr, /created functions and views: \d+ files\n/);
  const second = await migrate(['-d', conninfo]);
  assert.equal(second.code, 0);
  assert.match(second.stderr, /^fleetprof: nothing to do: \d+ table files, \d+ files of functions and views\n$/);
});

test('a database that cannot hold UTF-8 is refused before anything is made', async () => {
  for (const [encoding, code] of [['LATIN1', 2], ['SQL_ASCII', 0]]) {
    const name = `encoded_${code}`;
    await postgres.execute(`create database ${name} encoding '${encoding}' locale 'C' template template0`);
    // Without an encoding, bytes are kept as they come.
    const refused = await migrate(['-d', postgres.conninfo('postgres', name)]);
    assert.equal(refused.code, code, refused.stderr);
    if (code === 0) continue;
    assert.equal(refused.stderr, [
      "fleetprof: the database's encoding is LATIN1; it must be UTF8",
      `fleetprof: hint: make another one: createdb --encoding=UTF8 --template=template0 ${name}`,
      'fleetprof: error: the database was not brought up to date', ''].join('\n'));
  }
});

test('two at once do the work once', async () => {
  const conninfo = await createDatabase('together');
  const both = await Promise.all([migrate(['-d', conninfo]), migrate(['-d', conninfo])]);
  assert.deepEqual(both.map(({ code }) => code), [0, 0]);
  const applied = both.flatMap(({ stderr }) => [...stderr.matchAll(/applied (\S+)/g)]);
  assert.equal(applied.length, tables.length);
});

test('the database comes from the environment, or from the configuration', async () => {
  const conninfo = await createDatabase('elsewhere');
  const { file } = await collectorConfig({ database: conninfo });
  const configured = await migrate(['-c', file]);
  assert.equal(configured.code, 0, configured.stderr);
  assert.match(configured.stderr, /applied/);
  const environment = await migrate([], { FLEETPROF_DATABASE: conninfo });
  assert.equal(environment.code, 0, environment.stderr);
  const nowhere = 'host=/nonexistent';
  const bothOptions = await migrate(['-d', conninfo, '-c', '/nonexistent'], { FLEETPROF_DATABASE: nowhere });
  assert.equal(bothOptions.code, 0, '-d comes first');
  const configFirst = await migrate(['-c', file], { FLEETPROF_DATABASE: nowhere });
  assert.equal(configFirst.code, 0, 'an option comes before the environment');
});

test('a role without the rights gets an error that says which rights it needs', async () => {
  await createDatabase('guarded');
  await postgres.execute('create role nobody_much login');
  const { code, stderr } = await migrate(['-d', postgres.conninfo('nobody_much', 'guarded')]);
  assert.equal(code, 2);
  assert.match(stderr, /SQLSTATE 42501/);
  assert.match(stderr, /superuser/);
  assert.match(stderr, /error: the database was not brought up to date/);
});

test('a missing database and peer authentication: what to do about them', async () => {
  const missing = await migrate(['-d', postgres.conninfo('postgres', 'nowhere')]);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /cannot connect: .*database "nowhere" does not exist \(SQLSTATE 3D000\)\n.*hint: .*createdb nowhere/);
  const [{ file }] = await postgres.sql("select current_setting('hba_file') as file");
  fs.writeFileSync(file, `local all peered peer\n${fs.readFileSync(file, 'utf8')}`);
  await postgres.execute('create role peered login; select pg_reload_conf()');
  await waitFor(async () => {
    const { code, stderr } = await migrate(['-d', postgres.conninfo('peered')]);
    assert.equal(code, 2);
    return /Peer authentication failed.*\n.*hint: .*run it as the system user peered.*pg_ident\.conf/.test(stderr);
  }, { what: 'the new pg_hba.conf' });
});

test('the same from a server that speaks German', async (t) => {
  // Its locale is for this server alone.
  const locales = temporaryDir('locales');
  const made = await run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', path.join(locales, 'de_DE.UTF-8')]).catch(() => undefined);
  if (!made || !fs.existsSync(path.join(locales, 'de_DE.UTF-8'))) return t.skip('no German locale can be made');
  fs.cpSync('/usr/lib/locale/C.utf8', path.join(locales, 'C.utf8'), { recursive: true });
  fs.chmodSync(locales, 0o755);
  process.env.LOCPATH = locales;
  const german = await startPostgres({ settings: { lc_messages: 'de_DE.UTF-8' } }).finally(() => { delete process.env.LOCPATH; });
  try {
    const missing = await migrate(['-d', german.conninfo('postgres', 'nowhere')]);
    if (!missing.stderr.includes('Datenbank')) return t.skip('PostgreSQL has no German messages');
    assert.match(missing.stderr, /hint: .*createdb nowhere/);
    const [{ file }] = await german.sql("select current_setting('hba_file') as file");
    fs.writeFileSync(file, `local all peered peer\n${fs.readFileSync(file, 'utf8')}`);
    await german.execute('create role peered login; select pg_reload_conf()');
    await waitFor(async () => (await migrate(['-d', german.conninfo('peered')])).stderr.includes('SQLSTATE 28000'), { what: 'the new pg_hba.conf' });
    assert.match((await migrate(['-d', german.conninfo('peered')])).stderr, /hint: .*run it as the system user peered.*pg_ident\.conf/);
  } finally {
    await german.stop();
  }
});

test('no server: PostgreSQL says why', async () => {
  const { code, stderr } = await migrate(['-d', 'host=/nonexistent dbname=x']);
  assert.equal(code, 2);
  assert.match(stderr, /cannot connect: .*\/nonexistent/);
});
