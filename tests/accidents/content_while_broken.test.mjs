// SPDX-License-Identifier: Apache-2.0
/**
 * Nobody can ask, or nobody can upload, while all servers run: `fleetprof status` and `fleetprof doctor` try one question
 * and one upload before they say that nothing is wrong, say what failed with the server's own words, and their remedy
 * is one.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { send } from '../behaviour/collector_client.mjs';
import { doctor } from '../behaviour/doctor_site.mjs';
import { binDir, collectorConfig, freePort, run, runOrThrow, startCollector, startPostgres, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { openLedger } from './ledger.mjs';

const fleetprof = path.join(binDir, 'fleetprof');
const ledger = openLedger();
const tokenKey = path.join(temporaryDir('key'), 'token.key');

/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
/** @type {import('../behaviour/stack.mjs').Collector} */
let collector;

before(async () => {
  fs.writeFileSync(tokenKey, `${'01'.repeat(32)}\n`);
  postgres = await startPostgres({ migrated: true });
  collector = await startCollector({
    config: {
      database: postgres.conninfo('fleetprof_writer'),
      sites: [
        { name: 'shop', key: 'pk_shop', origins: ['https://shop.example'] },
        { name: 'strict', key: 'pk_strict', origins: ['https://strict.example'], require_token: true, token_keys: [tokenKey] },
        { name: 'poor', key: 'pk_poor', budgets: { requests_per_second: 1, burst: '1s' } },
        { name: 'dumps', key: 'pk_dumps', formats: ['speed-tracer'] },
        { name: 'scopes', key: 'pk_scopes', formats: ['opera-scope'], require_token: true, token_keys: [tokenKey] },
        { name: 'old', key: 'pk_old', formats: ['opera-scope', 'speed-tracer'] },
      ],
    },
  });
  await ledger.upload(collector.url, { site: 'shop', key: 'pk_shop' });
  await waitFor(async () => (await collector.metrics()).fleetprof_uploads_flushed_total === 1, { what: 'flush' });
});
after(async () => {
  await collector.stop();
  await postgres.stop();
});

/** @param {string[]} args @returns {Promise<any[]>} findings */
async function status(args) {
  const { code, stdout, stderr } = await run([fleetprof, 'status', '--json', '--over=0', ...args], { env: { FLEETPROF_DATABASE: '' } });
  assert.equal(stderr, '');
  const { findings } = JSON.parse(stdout);
  assert.equal(code, findings.some((/** @type {any} */ { severity }) => severity === 'wrong') ? 1 : 0, stdout);
  return findings;
}

/** Returns the findings of both tools, by a configuration. @param {string} [file] @returns {Promise<Record<string, any[]>>} */
async function findings(file = collector.file) {
  const [ofDoctor, ofStatus] = await Promise.all([doctor(['-c', file]), status(['-c', file])]);
  assert.equal(ofDoctor.stderr, '');
  return { doctor: ofDoctor.findings, status: ofStatus };
}

/** @param {any[]} found */
const ids = (found) => [...new Set(found.map(({ id }) => id))].sort();

async function assertContent() {
  assert.deepEqual(await findings(), { doctor: [], status: [] });
}

/** Both must find these. @param {string[]} wanted @param {RegExp} words @param {string} [file] */
async function assertFound(wanted, words, file) {
  for (const [tool, found] of Object.entries(await findings(file))) {
    assert.deepEqual(ids(found), wanted, `${tool}: ${JSON.stringify(found)}`);
    assert.match(found.map(({ seen }) => seen).join('\n'), words, tool);
  }
}

/** @param {string[]} options @returns {() => Promise<string>} */
const migrate = (...options) => () => runOrThrow([fleetprof, 'migrate', '-d', postgres.conninfo(), ...options]);
/** @param {string} statements */
const sql = (statements) => () => postgres.execute(statements);

test('everything is right, for sites that demand tokens, have budgets, or take only older formats', async () => {
  for (let i = 0; i < 3; i++) await assertContent();
});

for (const { accident, breaks, finds, words, remedy } of [
  {
    accident: 'a function that everybody asks is dropped',
    breaks: 'drop function fleetprof.hotspots',
    finds: ['question-failed', 'schema-incomplete'],
    words: /fleetprof\.hotspots as fleetprof_reader: function .* does not exist \(SQLSTATE 42883\); .*fleetprof migrate/,
    remedy: migrate(),
  },
  {
    accident: 'a function that no trial asks is dropped',
    breaks: 'drop function fleetprof.third_parties',
    finds: ['schema-incomplete'],
    words: /function fleetprof\.third_parties/,
    remedy: migrate(),
  },
  {
    accident: 'a view is dropped',
    breaks: 'drop view fleetprof.sessions cascade',
    finds: ['question-failed', 'schema-incomplete'],
    words: /view fleetprof\.sessions/,
    remedy: migrate(),
  },
  {
    accident: 'a view is replaced by a broken one',
    breaks: `do $$ begin execute format('create or replace view fleetprof.sessions as select * from (%s) as it where 1 / (now() < ''epoch'')::integer = 1',
      rtrim(pg_get_viewdef('fleetprof.sessions'::regclass), ';')); end $$`,
    finds: ['question-failed'],
    words: /fleetprof\.sessions as fleetprof_reader: division by zero/,
    remedy: migrate('--repair'),
  },
  {
    accident: 'the right to read a table is revoked',
    breaks: 'revoke select on fleetprof_data.segment from fleetprof_reader',
    finds: ['question-failed'],
    words: /permission denied for .* segment \(SQLSTATE 42501\); a right was taken away/,
    remedy: migrate('--repair'),
  },
  {
    accident: 'the right to read packed facts is revoked',
    breaks: 'revoke select on fleetprof_data.timing_recent from fleetprof_reader',
    finds: ['question-failed'],
    words: /fleetprof\.timings as fleetprof_reader: permission denied/,
    remedy: migrate('--repair'),
  },
  {
    accident: 'the right to call a function is revoked',
    breaks: 'revoke execute on function fleetprof.hotspots from fleetprof_reader',
    finds: ['question-failed'],
    words: /fleetprof\.hotspots as fleetprof_reader: permission denied for function hotspots/,
    remedy: migrate('--repair'),
  },
  {
    accident: 'a function gets a search_path of its own',
    breaks: 'alter function fleetprof.vitals set search_path = nowhere',
    finds: ['question-failed'],
    words: /fleetprof\.vitals as fleetprof_reader: .* does not exist .*migrate --repair/,
    remedy: migrate('--repair'),
  },
  {
    accident: 'the function of flame graphs gets one',
    breaks: 'alter function fleetprof.flamegraph set search_path = nowhere',
    finds: ['question-failed'],
    words: /fleetprof\.flamegraph as fleetprof_reader: .* does not exist .*migrate --repair/,
    remedy: migrate('--repair'),
  },
  {
    accident: 'the reader gets a time limit of a millisecond',
    breaks: "alter role fleetprof_reader set statement_timeout = '1ms'",
    finds: ['question-failed'],
    words: /canceling statement due to statement timeout \(SQLSTATE 57014\); the role's statement_timeout ends it/,
    remedy: sql('alter role fleetprof_reader reset statement_timeout'),
  },
  {
    accident: 'the reader gets a time limit in this database',
    breaks: "alter role fleetprof_reader in database fleetprof set statement_timeout = '1ms'",
    finds: ['question-failed'],
    words: /the role's statement_timeout ends it/,
    remedy: sql('alter role fleetprof_reader in database fleetprof reset statement_timeout'),
  },
]) {
  test(`${accident}: found, and the remedy is one`, async () => {
    await postgres.execute(breaks);
    await assertFound(finds, words);
    await remedy();
    await assertContent();
  });
}

test('a reader who may not log in: asked by `set role` with its settings, else said that nobody asked', async () => {
  const hba = path.join(postgres.socketDir, 'data/pg_hba.conf');
  const open = fs.readFileSync(hba, 'utf8');
  fs.writeFileSync(hba, `local all fleetprof_reader reject\n${open}`);
  await postgres.execute('select pg_reload_conf()');
  const refused = async () => (await run(['psql', '-Xqc', 'select 1', '-d', postgres.conninfo('fleetprof_reader')])).code !== 0;
  await waitFor(refused, { what: 'refused login' });
  await assertFound(['question-unasked'], /the role fleetprof_writer may not ask, and cannot become fleetprof_reader/);
  await postgres.execute("grant fleetprof_reader to fleetprof_writer; alter role fleetprof_reader set statement_timeout = '1ms'");
  await assertFound(['question-failed'], /as fleetprof_reader: .*the role's statement_timeout ends it/);
  await postgres.execute('alter role fleetprof_reader reset statement_timeout');
  await assertContent();
  await postgres.execute('revoke select on fleetprof_data.segment from fleetprof_reader; revoke fleetprof_reader from fleetprof_writer');
  fs.writeFileSync(hba, open);
  await postgres.execute('select pg_reload_conf()');
  await waitFor(async () => !(await refused()), { what: 'login' });
  await assertFound(['question-failed'], /permission denied/);
  await migrate('--repair')();
  await assertContent();
});

test('even a superuser asks as the reader', async () => {
  await postgres.execute('revoke execute on function fleetprof.timings from fleetprof_reader');
  const found = await status(['--collector', collector.config.admin, '-d', postgres.conninfo()]);
  assert.deepEqual(ids(found), ['question-failed']);
  await migrate('--repair')();
});

// ---- uploads ----

/** The running collector's configuration, changed. @param {(config: any) => void} change */
async function changed(change) {
  const config = structuredClone(collector.config);
  change(config);
  return (await collectorConfig(config)).file;
}

for (const { accident, change, words } of /** @type {{ accident: string, change: (config: any) => void, words: RegExp }[]} */ ([
  {
    accident: 'a new key that the running collector has not read',
    change: ({ sites }) => { sites[0].key = 'pk_new'; },
    words: /^site shop: status 403: .* \(unknown_key\); it runs with another configuration: systemctl reload fleetprofd$/,
  },
  {
    accident: 'a new origin that the running collector has not read',
    change: ({ sites }) => { sites[0].origins = ['https://new.example']; },
    words: /^site shop: status 403: .*\(origin\); .*reload/,
  },
  {
    accident: 'a new token key that the running collector has not read',
    change: ({ sites }) => {
      sites[1].token_keys = [`${tokenKey}.new`];
      fs.writeFileSync(`${tokenKey}.new`, `${'02'.repeat(32)}\n`);
    },
    words: /^site strict: status 403: .*\(token_\w+\); it has other token keys/,
  },
])) {
  test(`${accident}: found, until it is reloaded`, async () => {
    const before = fs.readFileSync(collector.file);
    const file = await changed(change);
    await assertFound(['upload-failed'], words, file);
    fs.copyFileSync(file, collector.file);
    process.kill(collector.server.pid, 'SIGHUP');
    await waitFor(async () => (await status(['-c', file])).length === 0, { what: 'reload' });
    await assertContent();
    fs.writeFileSync(collector.file, before);
    process.kill(collector.server.pid, 'SIGHUP');
    await waitFor(async () => (await status(['-c', collector.file])).length === 0, { what: 'reload' });
  });
}

/** @param {http.RequestListener} answer @returns {Promise<{ port: number, close: () => void }>} */
async function listen(answer) {
  const server = http.createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  return { port, close: () => { server.close(); server.closeAllConnections(); } };
}

for (const code of [200, 403, 413, 502, 503]) {
  test(`another server answers at the collector's address, with ${code}: found`, async () => {
    const other = await listen((request, response) => { request.resume(); response.writeHead(code, { 'content-type': 'text/html' }).end('<h1>no</h1>'); });
    await assertFound(['upload-failed'], new RegExp(`something other than this collector answers at .*status ${code}`),
      await changed((config) => { config.listen = `127.0.0.1:${other.port}`; }));
    other.close();
  });
}

test('nobody listens at the configured address, or somebody who says nothing: found, in time', async () => {
  const port = await freePort();
  await assertFound(['upload-failed'], /nothing answers at `listen`: .*onnect/, await changed((config) => { config.listen = `127.0.0.1:${port}`; }));
  await assertFound(['upload-failed'], /nothing answers at \/nonexistent\/ingest\.sock/, await changed((config) => { config.listen = 'unix:/nonexistent/ingest.sock'; }));
  const silent = net.createServer(() => {}).listen(0, '127.0.0.1').unref();
  await once(silent, 'listening');
  const began = performance.now();
  await assertFound(['upload-failed'], /nothing answers at `listen`: .*timed out/i,
    await changed((config) => { config.listen = `127.0.0.1:${/** @type {net.AddressInfo} */ (silent.address()).port}`; }));
  assert.ok(performance.now() - began < 25_000);
  silent.close();
});

// ---- what the public address says ----

/** A page with the agent's tag, and a proxy to the collector that has one flaw. @param {(upload: http.IncomingMessage, response: http.ServerResponse) => void} proxy */
const site = (proxy) => listen((request, response) => {
  if (request.url?.startsWith('/v1/')) return proxy(request, response);
  request.resume();
  if (request.url?.startsWith('/fleetprof')) return response.setHeader('content-type', 'text/javascript').end('let a;');
  response.writeHead(200, {
    'content-type': 'text/html', 'document-policy': 'js-profiling=?0', 'server-timing': 'fleetprof;desc="0"',
  }).end('<!doctype html><head><script src="/fleetprof-0.1.0.js" data-endpoint="/v1/ingest/pk_shop"></script>');
});

/** Passes an upload on, as much of its body as fits. @param {number} most @returns {Parameters<typeof site>[0]} */
const pass = (most) => async (request, response) => {
  const chunks = await request.toArray();
  const body = Buffer.concat(chunks).subarray(0, most);
  const reply = await send(`${collector.url}${request.url}`, { body, headers: { 'content-type': 'text/plain' } });
  response.writeHead(reply.status, /** @type {any} */ (reply.headers)).end(reply.body);
};

for (const [flaw, proxy, id] of /** @type {[string, Parameters<typeof site>[0], string][]} */ ([
  ['answers 413', (request, response) => { request.resume(); response.writeHead(413).end(); }, 'body-limit'],
  ['answers 502', (request, response) => { request.resume(); response.writeHead(502).end(); }, 'collector-down'],
  ['answers 403', (request, response) => { request.resume(); response.writeHead(403).end(); }, 'upload-refused'],
  ['cuts bodies at 100 bytes', pass(100), 'upload-refused'],
  ['cuts bodies at 1 MB', pass(1e6), ''],
  ['hangs up', (request) => { request.destroy(); }, 'endpoint-unreachable'],
])) {
  test(`the public address is a proxy that ${flaw}: ${id ? 'found' : 'no upload is lost'}`, async () => {
    const proxied = await site(proxy);
    const { findings: found } = await doctor(['--repeat', '1', `http://127.0.0.1:${proxied.port}/`]);
    assert.deepEqual(ids(found).filter((one) => one !== 'rate-zero'), id ? [id] : [], JSON.stringify(found));
    proxied.close();
  });
}

test('nothing was lost or counted twice meanwhile, and no trial was counted', async () => {
  await ledger.upload(collector.url, { site: 'shop', key: 'pk_shop' });
  await ledger.settle('questions and uploads fail while all servers run', postgres.sql);
  const [{ uploads }] = await postgres.sql('select sum(uploads)::int as uploads from fleetprof.sites()');
  assert.equal(uploads, 2);
});
