// SPDX-License-Identifier: Apache-2.0
/**
 * The extension fleetprof_native beside programs: `migrate` takes it, or goes on without it; `status` and `doctor` name
 * it; questions have the same answers with each version of it. Skipped where its build lacks the server's headers.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binDir, collectorConfig, postgresBinDir, repository, run, runOrThrow, startPostgres, temporaryDir } from './stack.mjs';

const fleetprof = path.join(binDir, 'fleetprof');
const created = 'fleetprof: created the extension fleetprof_native: version 1\n';
const skip = !fs.existsSync(path.join(repository, 'build/trees/plain/native/fleetprof_native.so')) && 'without headers of a PostgreSQL server';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {string} */
let library;
before(async () => {
  if (skip) return;
  const directory = temporaryDir('native');
  fs.chmodSync(directory, 0o755);
  const stdout = await runOrThrow([path.join(repository, 'tests/native/installation'), directory, postgresBinDir()]);
  const bin = stdout.trim();
  library = path.join(directory, (await runOrThrow([path.join(bin, 'pg_config'), '--pkglibdir'])).trim(), 'fleetprof_native.so');
  postgres = await startPostgres({ bin });
});
after(() => postgres?.stop());

/** @param {string} database @param {string} [user] */
const migrate = (database, user) => run([fleetprof, 'migrate', '--database', postgres.conninfo(user, database)]);

/** @param {string} database @param {string} script @param {string} [user] */
const ask = async (database, script, user) =>
  (await runOrThrow([path.join(postgresBinDir(), 'psql'), '-XqAt', '-d', postgres.conninfo(user, database), '-c', script])).trim();

/** @param {string} database */
async function status(database) {
  const { stdout } = await run([fleetprof, 'status', '--json', '--database', postgres.conninfo('fleetprof_reader', database)]);
  const { database: [row], findings } = JSON.parse(stdout);
  return { native: row.native_version, findings: findings.filter((/** @type {any} */ { id }) => id === 'extension-unused') };
}

test('a superuser gets the extension, once; status names it', { skip }, async () => {
  const first = await migrate('fleetprof');
  assert.equal(first.code, 0, first.stderr);
  assert.ok(first.stderr.includes(created), first.stderr);
  const second = await migrate('fleetprof');
  assert.match(second.stderr, /^fleetprof: nothing to do: [^\n]*\n$/);
  assert.equal(await ask('fleetprof', 'select fleetprof_data.has_native()', 'fleetprof_reader'), 't');
  assert.deepEqual(await status('fleetprof'), { native: '1', findings: [] });
});

test('another role goes on without it, and hears who may create it', { skip }, async () => {
  await postgres.execute('create role deployer login createrole; create database hosted owner deployer');
  await postgres.execute('grant fleetprof_owner to deployer');
  const { code, stderr } = await migrate('hosted', 'deployer');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^fleetprof: going on without the extension fleetprof_native: a superuser may create it$/m);
  assert.match(stderr, /^fleetprof: the database is up to date/m);
  assert.deepEqual(await status('hosted'), { native: null, findings: [] });
  await ask('hosted', 'create extension fleetprof_native');
  assert.equal(await ask('hosted', 'select fleetprof_data.has_native()', 'fleetprof_reader'), 't');
});

test('a library that is missing does not stop a migration', { skip }, async () => {
  await postgres.execute('create database lost');
  fs.renameSync(library, `${library}.away`);
  const { code, stderr } = await migrate('lost');
  fs.renameSync(`${library}.away`, library);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^fleetprof: going on without the extension fleetprof_native: .*could not access file/m);
  assert.ok((await migrate('lost')).stderr.includes(created), 'the next one takes it');
});

test('another version is not used: SQL answers, the log has a line, status and migrate say so', { skip }, async () => {
  await ask('fleetprof', "update pg_extension set extversion = '0' where extname = 'fleetprof_native'");
  const from = postgres.server.output().length;
  assert.equal(await ask('fleetprof', "select count(*) from fleetprof.hotspots('shop')", 'fleetprof_reader'), '0');
  const lines = postgres.server.output().slice(from).split('\n').filter((line) => line.includes('fleetprof_native'));
  assert.equal(lines.length, 1, lines.join('\n'));
  assert.match(lines[0], /LOG: +fleetprof_native is version 0, this schema uses 1: sums are those of SQL$/);
  const { native, findings } = await status('fleetprof');
  assert.equal(native, '0');
  assert.equal(findings.length, 1);
  assert.equal(findings[0].seen, 'version 0; this schema uses 1');
  const { file } = await collectorConfig({ database: postgres.conninfo('fleetprof_writer') });
  const doctor = JSON.parse((await run([fleetprof, 'doctor', '--json', '-c', file])).stdout);
  assert.deepEqual(doctor.filter((/** @type {any} */ { id }) => id === 'extension-unused').map((/** @type {any} */ { seen }) => seen), ['version 0; this schema uses 1']);
  const { code, stderr } = await migrate('fleetprof');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^fleetprof: going on without the extension fleetprof_native: .*SQLSTATE 22023/m);
  await ask('fleetprof', "update pg_extension set extversion = '1' where extname = 'fleetprof_native'");
});
