// SPDX-License-Identifier: Apache-2.0
/**
 * Behind PgBouncer each command of fleetprof that asks the database gives what it gives without PgBouncer.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { build } from 'esbuild';

import { envelope, send } from '../behaviour/collector_client.mjs';
import { everyCommand } from '../behaviour/commands.mjs';
import { binDir, psqlProgram, repository, run, runOrThrow, startCollector, startPostgres, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { startPgBouncer } from './pgbouncer.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('pooler-commands');
const prefix = 'https://shop.example/assets/';

/** @type {import('../behaviour/stack.mjs').Postgres} */ let postgres;
/** @type {import('../behaviour/stack.mjs').Collector} */ let collector;
/** @type {string} of the kept session */ let session;
/** A file with function tables. */
const table = path.join(dir, 'tables.jsonl');
const owners = path.join(dir, 'CODEOWNERS');
/** A file whose upload is counted once. */
const upload = path.join(dir, 'upload.json');

/** A dump of Speed Tracer that is larger than a pooler's buffers. */
const dump = Array.from({ length: 4000 }, (_, i) =>
  JSON.stringify({ type: 11, time: i, sequence: i, data: { message: `entry ${(i * 7919) % 4001}` } })).join('\n');

/** Makes the function table of a bundle. */
async function makeTable() {
  fs.writeFileSync(path.join(dir, 'main.js'), 'export function priceOf(basket) { return basket.total; }\nglobalThis.price = priceOf({ total: 1 });\n');
  await build({ absWorkingDir: dir, entryPoints: ['main.js'], bundle: true, minify: true, sourcemap: true, outdir: 'dist', logLevel: 'error' });
  fs.writeFileSync(table, execFileSync(process.execPath, [path.join(repository, 'function_table/src/cli.js'), path.join(dir, 'dist/main.js')]));
}

before(async () => {
  await makeTable();
  fs.writeFileSync(owners, '* @org/all\n');
  fs.writeFileSync(upload, envelope({ id: '11111111-2222-4333-8444-555555555555' }));
  postgres = await startPostgres({ migrated: true });
  collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
  const to = `${collector.url}/v1/ingest/pk_demo`;
  for (const release of ['v1', 'v2']) {
    const body = envelope({ release, page: { url: 'http://127.0.0.1/', route: '/' }, vitals: [{ name: 'INP', value: 250, target: 'button', attribution: { inputDelay: 10, processingDuration: 200 } }, { name: 'TTFB', value: 90, server: 40, cache: 'MISS' }],
      measures: [{ name: 'ready', entryType: 'measure', startTime: 5, duration: 20 }] });
    assert.equal((await send(to, { body })).status, 204);
  }
  assert.equal((await send(`${to}?format=speed-tracer`, { body: dump })).status, 204);
  await waitFor(async () => (await postgres.sql('select from fleetprof.upload_log')).length === 3, { what: 'three uploads' });
  [{ session }] = await postgres.sql('select session_id::text as session from fleetprof.sessions');
});
after(async () => {
  await collector.stop();
  await postgres.stop();
});

/**
 * Each command with a database, and with what it is tried. Those that change something leave it as it was.
 * @type {() => Record<string, string[][]>}
 */
const tries = () => ({
  'migrate': [['migrate']],
  'top': [['top', '--csv'], ['top', '--measure', 'ready', '--csv']],
  'flame': [['flame', '--csv']],
  'timings': [['timings', '--csv']],
  'vitals': [['vitals', '--csv'], ['vitals', '--by', 'route', '--csv']],
  'vital-parts': [['vital-parts', '--csv'], ['vital-parts', '--by', 'route', '--csv']], 'vital-elements': [['vital-elements', 'INP', '--csv']],
  'ttfb': [['ttfb', '--csv'], ['ttfb', '--by', 'route', '--csv']],
  'interactions': [['interactions', '--csv']],
  'waits': [['waits', '%', '--csv']],
  'long-frames': [['long-frames', '--csv']],
  'cost': [['cost', 'party', '--csv']],
  'what-if': [['what-if', 'INP', '--csv']],
  'fix-first': [['fix-first', '--csv']],
  'summary': [['summary', '--csv']],
  'profiling-cost': [['profiling-cost', '--csv']],
  'budgets': [['budgets', '--csv']],
  'third-parties': [['third-parties', '--csv']],
  'chunks': [['chunks', '--csv']],
  'markers': [['markers', '--csv']],
  'coverage': [['coverage', '--csv']],
  'rates': [['rates', '--csv']],
  'hangs': [['hangs', '--csv']],
  'violations': [['violations', '--csv']],
  'callers': [['callers', 'work', '--csv'], ['callers', '--callees', 'work', '--csv']],
  'trend': [['trend', '--by', 'function', 'work', '--csv']],
  'compare': [['compare', 'v1', 'v2', '--csv'], ['compare', '--timings', 'v1', 'v2', '--csv'], ['compare', '--vitals', 'v1', 'v2', '--csv'],
    ['compare', '--by', 'host', 'v1', 'v2', '--csv'], ['compare', '--parts', 'v1', 'v2', '--csv']],
  'regressions': [['regressions', 'v2', '--csv']],
  'export': [['export', '--format', 'folded'], ['export', '--session', session, '--format', 'speedscope'],
    ['export', '--compare', 'v1', 'v2', '--format', 'speedscope']],
  'import': [['import', '--url', `${collector.url}/v1/ingest/pk_demo`, '--wait', upload]],
  'session list': [['session', 'list', '--csv']],
  'session export': [['session', 'export', session]],
  'session typical': [['session', 'typical', '--csv']],
  'sourcemap add': [['sourcemap', 'add', '--site', 'demo', '--release', 'v1', '--url-prefix', prefix, '--dry-run', table]],
  'sourcemap list': [['sourcemap', 'list', '--csv']],
  'sourcemap remove': [['sourcemap', 'remove', '--site', 'demo', '--all', '--dry-run']],
  'owners set': [['owners', 'set', '--site', 'demo', '--dry-run', owners]],
  'owners list': [['owners', 'list', '--csv']],
  'owners remove': [['owners', 'remove', '--site', 'demo', '--dry-run']],
  'report': [['report', '--site', 'demo', '-o', path.join(dir, 'report.html')]],
  'status': [['status', '--over=0', '--json']],
  'mcp': [['mcp']],
  'serve': [], // poolers.test.mjs
});

test('each command that takes a database is tried', async () => {
  const all = await everyCommand();
  assert.deepEqual(Object.keys(tries()).sort(), all.filter(({ help }) => help.includes('--database')).map(({ name }) => name).sort());
});

/** Leaves out what differs between two tries: times that pass, and what the database weighs. @param {string} text */
const lasting = (text) => text.replaceAll(/"(bytes|last_counted_s)": [\d.]+/g, '').replaceAll(/\d+(\.\d+)? (ms|s)\b/g, '');

/**
 * Opens both connections of a role's pool, so that in transaction mode each transaction has another session than the one before.
 * @param {import('./pgbouncer.mjs').PgBouncer} pooler @param {string} user @param {number} sessions that four transactions have
 */
async function fillPool(pooler, user, sessions) {
  const ask = (/** @type {string} */ statement, /** @type {number} */ times) =>
    runOrThrow([psqlProgram(), '-XqAt', '-d', pooler.conninfo(user), ...Array.from({ length: times }, () => ['-c', statement]).flat()]);
  await waitFor(async () => {
    await Promise.all([1, 2].map(() => ask('select pg_sleep(0.3)', 1)));
    return new Set((await ask('select pg_backend_pid()', 4)).trim().split('\n')).size === sessions;
  }, { what: `sessions of ${user}` });
}

/** The standard input of all: two questions for the one that reads it. */
const input = ['sites', 'coverage'].map((name, id) => `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: name === 'sites' ? {} : { site: 'demo' } } })}\n`).join('');

for (const mode of /** @type {const} */ (['session', 'transaction'])) {
  test(`a pooler in ${mode} mode: each command answers as without it`, async () => {
    const pooler = await startPgBouncer(postgres, { mode, size: 2, settings: { server_round_robin: 1 } });
    for (const user of ['postgres', 'fleetprof_reader']) await fillPool(pooler, user, mode === 'session' ? 1 : 2);
    for (const [name, commands] of Object.entries(tries())) {
      const user = /^(migrate|sourcemap (add|remove)|owners (set|remove))/.test(name) ? 'postgres' : 'fleetprof_reader';
      for (const command of commands) {
        const [direct, pooled] = [await run([program, ...command, '--database', postgres.conninfo(user)], { input }),
          await run([program, ...command, '--database', pooler.conninfo(user)], { input })];
        assert.equal(pooled.code, direct.code, `${command.join(' ')}: ${pooled.stderr}`);
        assert.equal(lasting(pooled.stdout), lasting(direct.stdout), command.join(' '));
        assert.equal(lasting(pooled.stderr), lasting(direct.stderr), command.join(' '));
        if (name === 'mcp') assert.equal(pooled.stdout.match(/"isError":false/g)?.length, 2, pooled.stdout);
        assert.ok(pooled.code === 0 || name === 'regressions', `${command.join(' ')}: ${pooled.stderr}`);
      }
    }
    await pooler.stop();
  });

  test(`a pooler in ${mode} mode: a kept session comes back whole, function tables are added and removed`, async () => {
    const pooler = await startPgBouncer(postgres, { mode, size: 2, settings: { server_round_robin: 1 } });
    for (const user of ['fleetprof_writer', 'fleetprof_reader']) await fillPool(pooler, user, mode === 'session' ? 1 : 2);
    const content = await runOrThrow([program, 'session', 'export', session, '--database', pooler.conninfo('fleetprof_reader')]);
    assert.equal(content.trimEnd().split('\n').length, dump.split('\n').length);
    const writer = ['--database', pooler.conninfo('fleetprof_writer')];
    const tables = () => postgres.sql('select site, release, url, functions from fleetprof.function_tables');
    const add = [program, 'sourcemap', 'add', '--site', 'demo', '--release', 'v1', '--url-prefix', prefix, table, ...writer];
    await runOrThrow([...add, '--dry-run']);
    assert.deepEqual(await tables(), []);
    await runOrThrow(add);
    const [{ url, functions }] = await tables();
    assert.deepEqual([url, functions > 0], [`${prefix}main.js`, true]);
    assert.match(await runOrThrow([program, 'sourcemap', 'list', '--csv', ...writer]), /,v1,https:\/\/shop\.example\/assets\/main\.js,/);
    await runOrThrow([program, 'sourcemap', 'remove', '--site', 'demo', '--all', ...writer]);
    assert.deepEqual(await tables(), []);
    await pooler.stop();
  });
}
