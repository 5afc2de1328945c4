// SPDX-License-Identifier: Apache-2.0
/**
 * Mistakes of those who set fleetprof up: each one that reaches the collector leaves a line or a metric
 * that names it, and the message would help.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import zlib from 'node:zlib';

import { errors, startFaultySystem } from '../chaos/faulty_system.mjs';
import { connect, envelope, send, seriesOf, spoolOnly } from './collector_client.mjs';
import { binDir, collectorConfig, migrate, run, runOrThrow, startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';

/** @typedef {import('./stack.mjs').Collector} Collector */

const origin = 'https://shop.example';
const refused = 'fleetprof_uploads_refused_total';

/** A token of the key, as docs/page_token.md describes it. @param {Buffer} key @param {string} site @param {number} [time] */
function newToken(key, site, time = Math.floor(Date.now() / 1000)) {
  const hmac = (/** @type {string} */ text) => crypto.createHmac('sha256', key).update(text);
  const signed = ['v1', hmac('fleetprof key id').digest('hex').slice(0, 8), site, 10_000, time,
    crypto.randomBytes(12).toString('base64url')].join('.');
  return `${signed}.${hmac(signed).digest('base64url')}`;
}

/** Lines of the log that have all of these words. @param {Collector} collector @param {...string} words */
const lines = (collector, ...words) => collector.server.output().split('\n')
  .filter((line) => words.every((word) => line.includes(word)));

describe('requests', () => {
  const key = crypto.randomBytes(32);
  const keyFile = path.join(temporaryDir('key'), 'token.key');
  fs.writeFileSync(keyFile, key.toString('hex'));
  const site = (/** @type {string} */ name, more = {}) => ({ name, key: `pk_${name}`, origins: [origin], ...more });
  /** @type {Collector} */
  let collector;
  before(async () => {
    collector = await startCollector({
      config: {
        database: 'host=/nonexistent dbname=fleetprof',
        limits: { max_body: '64KiB', max_inflated: '256KiB', samples: 100 },
        privacy: { honour_gpc: true },
        sites: [site('shop'), site('strict', { require_token: true, token_keys: [keyFile], token_uploads: 1 }),
          site('lenient', { token_keys: [keyFile] }), site('poor', { budgets: { requests_per_second: 1, burst: '1s' } }),
          site('thin', { budgets: { bytes_per_second: 100, burst: '1s' } })],
      },
    });
  });
  after(() => collector.stop());

  const body = envelope();
  const part = (/** @type {string} */ text) => `--b\r\n\r\n${text}\r\n`;
  const form = (/** @type {string} */ text) => ({ body: text, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
  const samples = Array.from({ length: 101 }, (_, i) => ({ timestamp: i }));
  const many = { resources: [], frames: [], stacks: [], samples };
  const twice = { body: zlib.gzipSync(zlib.gzipSync(body)), headers: { 'content-encoding': 'gzip' } };
  const late = newToken(key, 'strict', Math.floor(Date.now() / 1000) - 86_400);
  const early = newToken(key, 'strict', Math.floor(Date.now() / 1000) + 3600);
  const used = newToken(key, 'strict');
  const renamed = newToken(key, 'strict-new-name');
  const session = '/sessions/f81d4fae-7dec-41d0-a765-00a0c91e6bf6';

  /**
   * Each mistake; the site and the reason that report it; status, address, request; what else the line
   * in the log says.
   * @type {[string, string, string, number, string, import('./collector_client.mjs').Request, string][]}
   */
  const mistakes = [
    ['wrong key in the page', '', 'unknown_key', 403, '/v1/ingest/pk_secret_key', { body }, 'latest=pk_sec...'],
    ['a proxy that cuts the path', '', 'path', 404, '/pk_shop', { body }, 'a proxy must pass the whole path'],
    ['a path below the key', '', 'path', 404, '/v1/ingest/pk_shop/more', { body }, ''],
    ['origin not listed', 'shop', 'origin', 403, '/v1/ingest/pk_shop', { body, headers: { origin: 'https://www.shop.example' } },
      'latest=https://www.shop.example'],
    ['a preflight from an origin that is not listed', 'poor', 'origin', 403, '/v1/ingest/pk_poor',
      { method: 'OPTIONS', headers: { origin: 'https://www.shop.example' } }, 'latest=https://www.shop.example'],
    ['page over http', 'strict', 'origin', 403, '/v1/ingest/pk_strict', { body, headers: { origin: 'http://shop.example' } },
      'latest=http://shop.example'],
    ['visitor who asks not to share', 'shop', 'gpc', 403, '/v1/ingest/pk_shop', { body, headers: { 'sec-gpc': '1' } }, 'Sec-GPC'],
    ['token demanded, no key in the web server', 'strict', 'token_missing', 403, '/v1/ingest/pk_strict', { body }, 'Server-Timing'],
    ['site name differs', 'strict', 'token_forged', 403, '/v1/ingest/pk_strict', { body: envelope({ token: renamed }) }, 'another site'],
    ['page from a cache', 'strict', 'token_expired', 403, '/v1/ingest/pk_strict', { body: envelope({ token: late }) }, 'expired'],
    ['clocks that differ', 'strict', 'token_early', 403, '/v1/ingest/pk_strict', { body: envelope({ token: early }) }, 'future'],
    ['a page load that goes on sending', 'strict', 'token_used_up', 403, '/v1/ingest/pk_strict',
      { body: envelope({ token: used }) }, 'token_uploads'],
    ['GET', 'shop', 'method', 405, '/v1/ingest/pk_shop', { method: 'GET' }, 'POST'],
    ['no length', 'shop', 'length', 411, '/v1/ingest/pk_shop', {}, 'Content-Length'],
    ['a key for idempotency that is not a UUID', 'shop', 'header', 400, '/v1/ingest/pk_shop', { body, headers: { 'idempotency-key': 'x' } }, 'UUID'],
    ['a form of the wrong kind', 'shop', 'type', 415, '/v1/ingest/pk_shop',
      { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }, 'Content-Type'],
    ['an encoding nobody knows', 'shop', 'encoding', 415, '/v1/ingest/pk_shop', { body, headers: { 'content-encoding': 'lz4' } }, 'gzip'],
    ['a format nobody knows', 'shop', 'format', 415, '/v1/ingest/pk_shop?format=har', { body }, 'format'],
    ['body limit', 'shop', 'size', 413, '/v1/ingest/pk_shop', { body: Buffer.alloc(70_000, 32) }, 'limits.max_body'],
    ['body limit, in chunks', 'lenient', 'size', 413, '/v1/ingest/pk_lenient', { chunks: [Buffer.alloc(70_000, 32)] }, 'limits.max_body'],
    ['a bomb', 'shop', 'inflated_size', 413, '/v1/ingest/pk_shop', { body: zlib.gzipSync(Buffer.alloc(300_000, 32)) }, 'limits.max_inflated'],
    ['too many samples', 'shop', 'limit', 413, '/v1/ingest/pk_shop', { body: envelope({ trace: many }) }, 'limits.samples'],
    ['65 parts', 'lenient', 'limit', 413, '/v1/ingest/pk_lenient', form(`${part('{"m":[1]}').repeat(65)}--b--`), '64 parts'],
    ['not JSON', 'shop', 'not_json', 400, '/v1/ingest/pk_shop', { body: 'hello' }, 'not JSON'],
    ['an empty body', 'lenient', 'not_json', 400, '/v1/ingest/pk_lenient', { body: '' }, 'empty'],
    ['compression that was cut off', 'shop', 'compression', 400, '/v1/ingest/pk_shop', { body: zlib.gzipSync(body).subarray(0, 40) }, 'truncated'],
    ['compressed twice', 'shop', 'compressed_twice', 400, '/v1/ingest/pk_shop', twice, 'still compressed after it was inflated once'],
    ['a form that was cut off', 'shop', 'form', 400, '/v1/ingest/pk_shop', form(part(body)), 'closing boundary'],
    ['not an upload', 'shop', 'invalid', 422, '/v1/ingest/pk_shop', { body: '{}' }, ''],
    ['a bad part of a form', 'lenient', 'invalid', 422, '/v1/ingest/pk_lenient', form(`${part(body)}${part('{}')}--b--`), 'part 2'],
    ['an agent of the future', 'shop', 'version', 422, '/v1/ingest/pk_shop', { body: envelope({ version: 2 }) }, 'version'],
    ['a part of no session', 'shop', 'session', 400, `/v1/ingest/pk_shop${session}?part=0`, { body }, 'no such session'],
    ['a stop of no session', 'lenient', 'session', 400, `/v1/ingest/pk_lenient${session}/stop`, { body: '' }, 'no such session'],
    ['more requests than granted', 'poor', 'budget_requests', 429, '/v1/ingest/pk_poor', { body }, 'budgets.requests_per_second'],
    ['more bytes than granted', 'thin', 'budget_bytes', 429, '/v1/ingest/pk_thin', { body }, 'budgets.bytes_per_second'],
  ];

  const raw = async (/** @type {string} */ bytes) => {
    const { socket, text, closed } = await connect(collector.url);
    socket.write(bytes);
    await waitFor(() => text().includes('\r\n\r\n'), { what: 'reply' });
    socket.destroy();
    await closed;
    return Number(text().slice(9, 12));
  };

  for (const [what, label, reason, status, where, request, words] of mistakes) {
    test(`${what}: ${reason}`, async () => {
      const prepared = ['token_used_up', 'budget_requests', 'budget_bytes'].includes(reason);
      if (prepared) await waitFor(async () => (await send(collector.url + where, request)).status === status, { what: `${status}`, intervalMs: 1 });
      const earlier = seriesOf(await collector.metrics(), refused);
      if (reason === 'length') {
        assert.equal(await raw(`POST ${where} HTTP/1.1\r\nHost: a\r\n\r\n`), status);
      } else {
        assert.equal((await send(collector.url + where, request)).status, status);
      }
      const later = seriesOf(await collector.metrics(), refused);
      const series = `${label} ${reason}`;
      assert.deepEqual(later, { ...earlier, [series]: (earlier[series] ?? 0) + 1 }, 'it is counted once, and nothing else is');
      const [line] = lines(collector, `site=${label || '""'} reason=${reason} `);
      assert.match(line, /^time=\S+ level=warn msg="uploads refused" site=\S+ reason=\S+ status=\d+ count=1 detail=/);
      if (earlier[series] === undefined) assert.ok(line.includes(words), line);
      assert.ok(line.includes(`status=${status} `), line);
    });
  }

  test('what is not HTTP is counted too, though the library answers it', async () => {
    const earlier = await collector.metrics();
    assert.equal(await raw('what is this\r\n\r\n'), 400);
    assert.equal(await raw(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`), 431);
    const later = await collector.metrics();
    const grown = (/** @type {string} */ name) => later[name] - earlier[name];
    assert.equal(grown(`${refused}{site="",reason="malformed"}`), 2);
    assert.equal(grown('fleetprof_http_responses_total{class="4xx"}'), 2);
    assert.equal(lines(collector, 'reason=malformed').length, 1);
  });

  test('a site name that differs where tokens are not demanded: a metric names it', async () => {
    const name = 'fleetprof_page_tokens_total{verdict="forged"}';
    const earlier = await collector.metrics();
    assert.equal((await send(`${collector.url}/v1/ingest/pk_lenient`, { body: envelope({ token: renamed }) })).status, 204);
    assert.equal((await collector.metrics())[name] - earlier[name], 1);
  });

  test('no line has an address, a key or a token in full, or text of a body', async () => {
    for (const origin of ['https://x".shop.example', 'https://stranger.example'])
      await send(`${collector.url}/v1/ingest/pk_thin`, { body, headers: { origin } });
    await send(`${collector.url}/v1/ingest/pk_shop`, { body: '{"marks":{"visitor@example.org":["visitor@example.org"]}}' });
    const log = collector.server.output();
    for (const secret of ['127.0.0.1', 'pk_secret_key', late, early, used, renamed, 'visitor@example.org', 'stranger'])
      assert.ok(!log.includes(secret), secret);
    assert.ok(log.includes('latest="https://x\\".shop.example"'), log);
  });
});

test('100,000 refused requests leave a bounded log and the same series', async () => {
  const collector = await startCollector({
    config: { database: 'host=/nonexistent', sites: [{ name: 'shop', key: 'pk_shop', origins: [origin] }] },
  });
  const earlier = await collector.metrics();
  const kinds = [
    (/** @type {number} */ i) => `POST /v1/ingest/key${i} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`,
    (/** @type {number} */ i) => `POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nOrigin: https://o${i}.example\r\nContent-Length: 0\r\n\r\n`,
    (/** @type {number} */ i) => `GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`,
    (/** @type {number} */ i) => `POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: ${3 + String(i).length}\r\n\r\n"<${i}>`,
  ];
  const requests = 100_000;
  const clients = 4;
  await Promise.all(Array.from({ length: clients }, async (_, client) => {
    const { socket, closed } = await connect(collector.url);
    let answered = 0;
    socket.on('data', (text) => { answered += String(text).split('HTTP/1.1 4').length - 1; });
    for (let i = client; i < requests; i += clients * 100) {
      let batch = '';
      let sent = 0;
      for (let j = i; j < requests && sent < 100; j += clients, sent++) batch += kinds[Math.floor(j / clients) % kinds.length](j);
      const before_ = answered;
      socket.write(batch);
      // A status may be split between two pieces: what is counted below is the collector's own number.
      await waitFor(() => answered >= before_ + sent - 1, { intervalMs: 1, what: 'replies' });
    }
    socket.end();
    await closed;
  }));
  const later = await collector.metrics();
  assert.deepEqual(Object.keys(later), Object.keys(earlier), 'no series has come');
  assert.deepEqual(seriesOf(later, refused), {
    ' path': requests / 4, ' unknown_key': requests / 4, 'shop origin': requests / 4, 'shop not_json': requests / 4,
  });
  // At once, once a minute, and at the end.
  const refusals = () => lines(collector, 'msg="uploads refused"');
  assert.ok(refusals().length <= 8, refusals().join('\n'));
  await collector.stop();
  const told = refusals().map((line) => Number(/ count=(\d+) /.exec(line)?.[1]));
  assert.ok(told.length <= 12, refusals().join('\n'));
  assert.equal(told.reduce((a, b) => a + b, 0), requests, 'the stop leaves no refusal untold');
});

test('a key for a site that a reload renamed', async () => {
  const collector = await startCollector({ config: { database: 'host=/nonexistent',
    sites: [{ name: 'old', key: 'pk_a' }, { name: 'same', key: 'pk_b' }] } });
  assert.equal((await send(`${collector.url}/v1/ingest/pk_b`, { body: envelope() })).status, 204);
  fs.writeFileSync(collector.file, JSON.stringify({ ...collector.config, sites: [{ name: 'new', key: 'pk_a' }, { name: 'same', key: 'pk_b' }] }));
  process.kill(collector.server.pid, 'SIGHUP');
  await waitFor(() => lines(collector, 'configuration reloaded').length > 0, { what: 'reload' });
  const told = lines(collector, 'the old name keeps what was counted');
  assert.equal(told.length, 1);
  assert.match(told[0], /level=warn .* old=old new=new$/);
  const accepted = seriesOf(await collector.metrics(), 'fleetprof_uploads_accepted_total');
  assert.deepEqual(accepted, { same: 1 }, 'a site that stays keeps its count');
  await collector.stop();
});

test('a token key that the collector cannot read: no start, and the setting is named', async () => {
  const file = path.join(temporaryDir('key'), 'missing.key');
  const config = await collectorConfig({ database: 'host=/nonexistent', sites: [{ name: 'shop', key: 'pk', token_keys: [file] }] });
  const { code, stderr } = await run([path.join(binDir, 'fleetprofd'), '-c', config.file]);
  assert.equal(code, 2);
  assert.match(stderr, /token_keys: .*missing\.key.* cannot be read: No such file/);
});

describe('database', () => {
  /** @type {import('./stack.mjs').Postgres} */
  let postgres;
  before(async () => { postgres = await startPostgres(); });
  after(() => postgres.stop());

  const readiness = async (/** @type {Collector} */ collector) => {
    const reply = await send(`${collector.adminUrl}/readyz`, { method: 'GET' });
    return { status: reply.status, detail: /^database: (.*)$/m.exec(reply.body)?.[1] ?? '' };
  };

  /** Starts one, sends it an upload and waits for the state. @param {string} database @param {string} state */
  async function startFailing(database, state) {
    const collector = await startCollector({ config: { database } });
    assert.equal((await send(`${collector.url}/v1/ingest/pk_demo`, { body: envelope() })).status, 204);
    await assertState(collector, state, state === 'reachable' ? 1 : 0);
    return collector;
  }

  /** @param {Collector} collector @param {string} state @param {number} up */
  async function assertState(collector, state, up) {
    await waitFor(async () => (await collector.metrics())[`fleetprof_database_state{state="${state}"}`] === 1, { what: state });
    const metrics = await collector.metrics();
    assert.deepEqual(seriesOf(metrics, 'fleetprof_database_state'), { [state]: 1 });
    assert.equal(metrics.fleetprof_database_up, up);
    const { status, detail } = await readiness(collector);
    assert.equal(status, 200, 'the spool absorbs it');
    assert.match(detail, new RegExp(`^${state}: `));
    assert.equal(/; for \d+ s now, the spool keeps uploads$/.test(detail), up === 0, detail);
  }

  /** @param {Collector} collector @param {RegExp} detail @param {RegExp | undefined} hint */
  function assertLogged(collector, detail, hint) {
    const [line] = lines(collector, 'flush failed');
    assert.match(line, detail);
    if (hint) assert.match(line, hint);
    else assert.doesNotMatch(line, / hint=/);
  }

  test('away', async () => {
    const collector = await startFailing('host=/nonexistent dbname=fleetprof', 'unreachable');
    assertLogged(collector, /level=warn .*No such file or directory/, undefined);
    await collector.stop();
  });

  test('role, database or schema missing: the hint says what makes it, and making it helps', async () => {
    const missing = await startFailing(postgres.conninfo('fleetprof_writer'), 'not_migrated');
    assertLogged(missing, /role \\"fleetprof_writer\\" does not exist \(SQLSTATE 28000\)/, /hint=".*run fleetprof migrate, which makes it/);
    const nowhere = await startFailing(postgres.conninfo('postgres', 'nowhere'), 'not_migrated');
    assertLogged(nowhere, /database \\"nowhere\\" does not exist \(SQLSTATE 3D000\)/, /hint="run createdb nowhere, then fleetprof migrate"/);
    const empty = await startFailing(postgres.conninfo('postgres'), 'not_migrated');
    assertLogged(empty, /level=error .*SQLSTATE (42P01|3F000)/, /hint="run fleetprof migrate on the database fleetprof"/);
    await nowhere.stop();
    await migrate(postgres);
    for (const collector of [missing, empty]) {
      await waitFor(async () => (await collector.metrics()).fleetprof_uploads_flushed_total === 1, { what: 'flush' });
      await assertState(collector, 'reachable', 1);
      assert.equal(lines(collector, 'flushes work again').length, 1);
      await collector.stop();
    }
  });

  test('wrong role: not up, though it lets us in', async () => {
    const collector = await startFailing(postgres.conninfo('fleetprof_reader'), 'wrong_rights');
    assertLogged(collector, /level=error .*permission denied .*SQLSTATE 42501/, /hint=".*fleetprof_reader may not do that: connect as fleetprof_writer/);
    assert.doesNotMatch(collector.server.output(), /run fleetprof migrate/);
    await collector.stop();
  });

  test('rights that are lost while it runs', async () => {
    const collector = await startFailing(postgres.conninfo('fleetprof_writer'), 'reachable');
    await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'flush' });
    await postgres.execute('revoke insert on fleetprof_data.upload_id from fleetprof_writer');
    assert.equal((await send(`${collector.url}/v1/ingest/pk_demo`, { body: envelope() })).status, 204);
    await assertState(collector, 'wrong_rights', 0);
    const errors = async () => (await collector.metrics()).fleetprof_flush_errors_total;
    const tries = await errors();
    // It lets us in at each try: that is not taken for a database that works.
    /** @type {number[]} */
    const seen = [];
    await waitFor(async () => { seen.push((await collector.metrics()).fleetprof_database_up); return await errors() >= tries + 3; },
      { intervalMs: 5, what: 'tries' });
    assert.ok(!seen.includes(1));
    assert.equal(lines(collector, 'connected to the database').length, 1);
    assert.equal(lines(collector, 'flush failed').length, 1);
    await postgres.execute('grant insert on fleetprof_data.upload_id to fleetprof_writer');
    await assertState(collector, 'reachable', 1);
    await collector.stop();
  });

  test('peer authentication: the hint is the two lines that help', async () => {
    const data = path.join(postgres.socketDir, 'data');
    const hba = path.join(data, 'pg_hba.conf');
    const ident = path.join(data, 'pg_ident.conf');
    const given = [fs.readFileSync(hba, 'utf8'), fs.readFileSync(ident, 'utf8')];
    const write = async (/** @type {string} */ hbaLine, /** @type {string} */ identLine) => {
      fs.writeFileSync(hba, `${hbaLine}\n${given[0]}`);
      fs.writeFileSync(ident, `${given[1]}\n${identLine}\n`);
      await postgres.execute('select pg_reload_conf()');
    };
    await write('local all fleetprof_writer peer', '');
    const collector = await startFailing(postgres.conninfo('fleetprof_writer'), 'authentication');
    assertLogged(collector, /Peer authentication failed for user \\"fleetprof_writer\\" \(SQLSTATE 28000\)/, / hint=/);
    const [, hbaLine, identLine] = / hint="as the first line of pg_hba\.conf: ([^;]*); in pg_ident\.conf: ([^;]*); then reload/
      .exec(lines(collector, 'flush failed')[0]) ?? assert.fail(collector.server.output());
    assert.equal(identLine, `fleetprof ${os.userInfo().username} fleetprof_writer`);
    await write(`${hbaLine}\nlocal all fleetprof_writer reject`, identLine);
    await assertState(collector, 'reachable', 1);
    fs.writeFileSync(hba, given[0]);
    await postgres.execute('select pg_reload_conf()');
    await collector.stop();
  });

  test('a read-only server', async () => {
    await postgres.execute('alter role fleetprof_writer set default_transaction_read_only = on');
    const collector = await startFailing(postgres.conninfo('fleetprof_writer'), 'read_only');
    assertLogged(collector, /read-only transaction \(SQLSTATE 25006\)/, /hint="name all servers .*target_session_attrs=read-write/);
    await postgres.execute('alter role fleetprof_writer reset default_transaction_read_only');
    await assertState(collector, 'reachable', 1);
    await collector.stop();
  });

  test('a newer or older schema is reported, and is used as long as it works', async () => {
    const [{ newest }] = await postgres.sql("select max(name) as newest from fleetprof.schema_version where name like 'tables/%'");
    /** @type {[string, string][]} */
    const changes = [
      ['schema_newer', `create temp table more as select * from fleetprof.schema_version where name = '${newest}';
        update more set name = 'tables/9999_later.sql';
        insert into fleetprof.schema_version select * from more`],
      ['schema_older', `delete from fleetprof.schema_version where name = 'tables/9999_later.sql' or name = '${newest}'`],
    ];
    for (const [state, change] of changes) {
      await postgres.execute(change);
      const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
      await assertState(collector, state, 1);
      assert.equal(lines(collector, 'level=warn', 'another schema', `state=${state}`).length, 1);
      assert.equal((await send(`${collector.url}/v1/ingest/pk_demo`, { body: envelope() })).status, 204);
      await waitFor(async () => (await collector.metrics()).fleetprof_uploads_flushed_total === 1, { what: 'flush' });
      await collector.stop();
    }
  });
});

test('repeated failures are logged once a minute: refusals with their number, flushes with how long', async (t) => {
  const faults = await startFaultySystem();
  if (!faults) return t.skip('a sanitizer is preloaded already');
  const collector = await startCollector({ config: { database: 'host=/nonexistent', sites: [{ name: 'shop', key: 'pk_shop' }] }, env: faults.env });
  for (let i = 0; i < 5; i++) await send(`${collector.url}/v1/ingest/pk_wrong`, { body: envelope() });
  await waitFor(() => lines(collector, 'flush failed').length === 1, { what: 'line about the flush' });
  assert.equal(lines(collector, 'uploads refused').length, 1);
  for (let minute = 1; minute <= 2; minute++) {
    faults.set({ monotonicOffsetUs: minute * 61_000_000 });
    await waitFor(() => lines(collector, 'flush failed').length === minute + 1, { what: 'line of the next minute' });
    const [, seconds, tries] = / failing_s=(\d+) tries=(\d+) /.exec(lines(collector, 'flush failed')[minute]) ?? [];
    assert.ok(Number(seconds) >= minute * 60 && Number(tries) > minute, lines(collector, 'flush failed')[minute]);
  }
  await waitFor(() => lines(collector, 'uploads refused').length === 2, { what: 'summary' });
  assert.match(lines(collector, 'uploads refused')[1], / reason=unknown_key status=403 count=4 /);
  await collector.stop();
});

test('a spool that stays unwritable is logged once, not at each try', async (t) => {
  const faults = await startFaultySystem();
  if (!faults) return t.skip('a sanitizer is preloaded already');
  const collector = await startCollector({ config: spoolOnly, env: faults.env });
  const failures = async () => (await collector.metrics()).fleetprof_spool_errors_total;
  const upload = async () => (await send(`${collector.url}/v1/ingest/pk_server`, { body: envelope() })).status;
  for (let outage = 1; outage <= 2; outage++) {
    const before = await failures();
    faults.set({ error: errors.EIO, failingWrites: 1_000_000 });
    assert.equal(await upload(), 503);
    await waitFor(async () => await failures() > before + 3, { what: 'tries' });
    faults.heal();
    await waitFor(async () => await upload() === 204, { what: 'upload' });
    for (const message of ['spool segment was not made', 'spool refuses uploads', 'spool takes uploads again']) {
      // The answer may arrive before the line.
      await waitFor(() => lines(collector, message).length >= outage, { what: message });
      assert.equal(lines(collector, message).length, outage, message);
    }
  }
  await collector.stop();
});

test('a full disk that stays full is logged once, while uploads are counted', async (t) => {
  const disk = temporaryDir('disk');
  const { code, stderr } = await run(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', disk]);
  if (code !== 0) return t.skip(`no small disk can be made: ${stderr}`);
  const postgres = await startPostgres({ migrated: true });
  try {
    const collector = await startCollector({
      config: { database: postgres.conninfo('fleetprof_writer'), spool: { path: path.join(disk, 'spool'), max_bytes: '16MiB', segment_bytes: '4MiB' } },
    });
    fs.writeFileSync(path.join(disk, 'others'), '');
    await run(['dd', 'if=/dev/zero', `of=${disk}/others`, 'bs=4096']);
    await waitFor(async () => {
      assert.equal((await send(`${collector.url}/v1/ingest/pk_demo`, { body: envelope() })).status, 204);
      return (await collector.metrics()).fleetprof_spool_errors_total > 2;
    }, { what: 'tries to note the position' });
    assert.equal(lines(collector, 'spool state was not written').length, 1);
    assert.equal(lines(collector, 'level=error').length + lines(collector, 'level=warn').length, 1, collector.server.output());
    await collector.stop();
  } finally {
    await postgres.stop();
    await runOrThrow(['umount', '--lazy', disk]);
  }
});

test('a time limit for idle sessions looks like no outage', async () => {
  const postgres = await startPostgres({ migrated: true });
  await postgres.execute("alter role fleetprof_writer set idle_session_timeout = '200ms'");
  const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer') } });
  const sessions = () => postgres.sql(`select now() - state_change > interval '1 s' as is_idle from pg_stat_activity
    where usename = 'fleetprof_writer'`);
  for (let uploads = 1; uploads <= 2; uploads++) {
    assert.equal((await send(`${collector.url}/v1/ingest/pk_demo`, { body: envelope() })).status, 204);
    await waitFor(async () => (await collector.metrics()).fleetprof_uploads_flushed_total === uploads, { what: 'flush' });
    await waitFor(async () => (await sessions()).every(({ is_idle: isIdle }) => isIdle), { what: 'idle sessions' });
  }
  assert.equal((await collector.metrics()).fleetprof_flush_errors_total, 0, collector.server.output());
  assert.doesNotMatch(collector.server.output(), /level=(?:warn|error)/);
  await collector.stop();
  await postgres.stop();
});
