// SPDX-License-Identifier: Apache-2.0
/**
 * The collector's connections: clients that wait, leave or do not send HTTP; unix sockets; stop and reload during
 * uploads. There is no database: uploads stay in the spool.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connect, counted, ended, envelope, send, sendUntil, spoolOnly, startLimited } from './collector_client.mjs';
import { binDir, collectorConfig, freePort, run, startCollector, temporaryDir, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Collector} */
let collector;
/** @type {string} */
let url;
before(async () => {
  collector = await startCollector({ config: spoolOnly });
  url = `${collector.url}/v1/ingest/pk_shop`;
});
after(() => collector.stop());

describe('connections', () => {
  test('a connection is kept after small errors and after uploads', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    let sockets = 0;
    const createConnection = /** @type {any} */ (agent).createConnection.bind(agent);
    /** @type {any} */ (agent).createConnection = (/** @type {any[]} */ ...args) => { sockets++; return createConnection(...args); };
    const steps = /** @type {const} */ ([['{', 400], [envelope(), 204], ['{}', 422], ['x'.repeat(100_000), 400], [envelope(), 204]]);
    for (const [body, status] of steps) assert.equal((await send(url, { body, agent })).status, status);
    assert.equal((await send(`${collector.url}/v1/ingest/no`, { body: envelope(), agent })).status, 403);
    assert.equal((await send(`${collector.url}/`, { body: envelope(), agent })).status, 404);
    assert.equal((await send(url, { body: envelope(), agent })).status, 204);
    assert.equal(sockets, 1);
    agent.destroy();
  });

  test('a client that waits for 100 Continue is refused before it sends', async () => {
    const { socket, text, closed } = await connect(collector.url);
    socket.write('POST /v1/ingest/no HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n');
    await waitFor(() => text().includes('\r\n\r\n'), { what: 'reply' });
    assert.match(text(), /^HTTP\/1\.1 403 /);
    socket.destroy();
    await closed;
  });

  test('a client that waits for 100 Continue gets it when its upload is wanted', async () => {
    const { socket, text } = await connect(collector.url);
    const body = envelope();
    socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`);
    await waitFor(() => text().startsWith('HTTP/1.1 100 '), { what: '100 Continue' });
    socket.write(body);
    await waitFor(() => text().includes('HTTP/1.1 204 '), { what: '204' });
    socket.destroy();
  });

  test('clients that leave in mid-body leave nothing behind', async () => {
    const { accepted } = await counted(collector);
    for (const sent of ['{', '{"trace":', '{"trace":{}}'.repeat(1000)]) {
      const { socket, closed } = await connect(collector.url);
      socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n${sent}`, () => socket.destroy());
      await closed;
    }
    await waitFor(async () => (await collector.metrics()).fleetprof_connections === 0, { timeoutMs: 5_000, what: 'closed connections' });
    assert.equal((await counted(collector)).accepted, accepted);
    assert.equal((await send(url, { body: envelope() })).status, 204);
  });

  test('what is durable counts as accepted, though its client did not wait for the reply', async () => {
    const own = await startCollector({ config: spoolOnly });
    const body = envelope();
    for (let i = 0; i < 100; i += 1) {
      const { socket, closed } = await connect(own.url);
      socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => socket.resetAndDestroy());
      await closed;
    }
    await waitFor(async () => (await own.metrics()).fleetprof_connections === 0, { timeoutMs: 5_000, what: 'closed connections' });
    const { fleetprof_spool_backlog_records: durable } = await own.metrics();
    assert.ok(durable > 0);
    assert.equal((await counted(own)).accepted, durable);
    await own.stop();
  });

  test('clients that leave in mid-chunk or before their body are closed after limits.timeout', async () => {
    const other = await startLimited({ timeout: '1s' });
    for (const sent of ['Content-Length: 10\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n10\r\n{"tra']) {
      const { socket, closed } = await connect(other.url);
      socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\n${sent}`, () => socket.destroy());
      await closed;
    }
    await waitFor(async () => (await other.metrics()).fleetprof_connections === 0, { timeoutMs: 5_000, what: 'closed connections' });
    await other.stop();
  });

  test('a client that closes its side behind a whole request gets its reply', async () => {
    for (const [length, body] of [[`Content-Length: ${envelope().length}`, envelope()],
      ['Transfer-Encoding: chunked', `5\r\n${envelope().slice(0, 5)}\r\n${(envelope().length - 5).toString(16)}\r\n${envelope().slice(5)}\r\n0\r\n\r\n`]]) {
      const { socket, text, closed } = await connect(collector.url);
      socket.end(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\n${length}\r\n\r\n${body}`);
      await closed;
      assert.match(text(), /^HTTP\/1\.1 204 /);
    }
  });

  test('what is not HTTP is answered by the library and breaks nothing', async () => {
    const other = await startLimited({ timeout: '1s' });
    for (const bytes of ['\0\0\0\0\r\n\r\n', 'POST\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n',
      'POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n',
      'POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n',
      `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`]) {
      const { socket, closed } = await connect(other.url);
      socket.write(bytes, () => socket.end());
      await closed;
    }
    assert.equal((await send(`${other.url}/v1/ingest/pk_shop`, { body: envelope() })).status, 204);
    await other.stop();
  });

  test('a connection without traffic is closed after limits.timeout', async () => {
    const other = await startLimited({ timeout: '1s' });
    const { socket, closed } = await connect(other.url);
    socket.write('POST /v1/ingest/pk_shop HTTP/1.1\r\n');
    await Promise.race([closed, waitFor(() => socket.destroyed, { what: 'closed connection' })]);
    await other.stop();
  });

  test('bodies in flight share limits.body_memory', async () => {
    const other = await startLimited({ body_memory: '64KiB', max_body: '64KiB', timeout: '5s' });
    const hog = await connect(other.url);
    hog.socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: 60001\r\n\r\n${' '.repeat(60_000)}`);
    await waitFor(async () => (await other.metrics()).fleetprof_body_bytes_total >= 60_000, { what: 'body' });
    const ask = () => send(`${other.url}/v1/ingest/pk_shop`, { body: ' '.repeat(40_000) + envelope() });
    const reply = await sendUntil(ask, (status) => status === 503);
    assert.match(reply.problem.detail, /not enough memory/);
    assert.equal(reply.headers['retry-after'], '5');
    hog.socket.destroy();
    await sendUntil(ask, (status) => status === 204);
    assert.ok((await counted(other)).deferred >= 1);
    await other.stop();
  });

  test('many uploads at once are all acknowledged', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
    const replies = await Promise.all(Array.from({ length: 500 }, () => send(url, { body: envelope(), agent })));
    assert.deepEqual([...new Set(replies.map((reply) => reply.status))], [204]);
    agent.destroy();
  });
});

describe('a unix socket', () => {
  /** @param {string} socketPath */
  const config = (socketPath) => ({ ...spoolOnly, listen: `unix:${socketPath}` });

  test('takes uploads, has mode 0660, and is removed at the end', async () => {
    const socketPath = path.join(temporaryDir('socket'), 'ingest.sock');
    const other = await startCollector({ config: config(socketPath) });
    assert.equal(fs.statSync(socketPath).mode & 0o777, 0o660);
    const reply = await send('http://localhost/v1/ingest/pk_shop', { socketPath, body: envelope() });
    assert.equal(reply.status, 204);
    await other.stop();
    assert.ok(!fs.existsSync(socketPath));
  });

  test('left behind by a killed process is replaced', async () => {
    const socketPath = path.join(temporaryDir('socket'), 'ingest.sock');
    const first = await startCollector({ config: config(socketPath) });
    await first.server.stop('SIGKILL');
    assert.ok(fs.existsSync(socketPath));
    const second = await startCollector({ config: config(socketPath) });
    assert.equal((await send('http://localhost/v1/ingest/pk_shop', { socketPath, body: envelope() })).status, 204);
    await second.stop();
  });

  test('on which somebody listens is left alone, and so is a plain file', async () => {
    const socketPath = path.join(temporaryDir('socket'), 'ingest.sock');
    const first = await startCollector({ config: config(socketPath) });
    const { file } = await collectorConfig(config(socketPath));
    const second = await run([path.join(binDir, 'fleetprofd'), '-c', file]);
    assert.equal(second.code, 2);
    assert.match(second.stderr, /in use by a running process/);
    assert.equal((await send('http://localhost/v1/ingest/pk_shop', { socketPath, body: envelope() })).status, 204);
    await first.stop();
    fs.writeFileSync(socketPath, 'precious');
    const third = await run([path.join(binDir, 'fleetprofd'), '-c', file]);
    assert.equal(third.code, 2);
    assert.match(third.stderr, /not a socket/);
    assert.equal(fs.readFileSync(socketPath, 'utf8'), 'precious');
  });
});

describe('stopping', () => {
  test('SIGTERM lets a request that has begun finish, and takes no new connection', async () => {
    const other = await startCollector({ config: spoolOnly });
    const body = envelope();
    const slow = await connect(other.url);
    slow.socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`);
    await waitFor(async () => (await other.metrics()).fleetprof_body_bytes_total >= 20, { what: 'half a body' });
    process.kill(other.server.pid, 'SIGTERM');
    await waitFor(async () => (await send(`${other.adminUrl}/readyz`, { method: 'GET' })).body.startsWith('not ready: stopping\n'),
      { what: 'unreadiness' });
    await waitFor(() => send(`${other.url}/v1/ingest/pk_shop`, { body }).then(() => false, (error) => error.code === 'ECONNREFUSED'),
      { what: 'refused connection' });
    slow.socket.write(body.slice(20));
    await waitFor(() => slow.text().includes('\r\n\r\n'), { what: 'reply' });
    assert.match(slow.text(), /^HTTP\/1\.1 204 /);
    assert.match(slow.text(), /\r\nConnection: close\r\n/i);
    assert.deepEqual(await ended(other.server), { code: 0, signal: null });
  });

  test('SIGTERM amid many uploads: each is answered or its connection closed, none hangs', async () => {
    const other = await startCollector({ config: spoolOnly });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
    let acknowledged = 0;
    let over = false;
    const clients = Array.from({ length: 32 }, async () => {
      while (!over) {
        try {
          const { status } = await send(`${other.url}/v1/ingest/pk_shop`, { body: envelope(), agent });
          assert.ok(status === 204 || status === 503, String(status));
          if (status === 204) acknowledged++;
        } catch (error) {
          over = true;
        }
      }
    });
    await waitFor(() => acknowledged > 100, { what: 'uploads' });
    process.kill(other.server.pid, 'SIGTERM');
    await Promise.all(clients);
    agent.destroy();
    assert.deepEqual(await ended(other.server), { code: 0, signal: null });
    const again = await startCollector({ config: other.config });
    await waitFor(async () => (await again.metrics()).fleetprof_spool_backlog_records >= acknowledged, { what: 'backlog' });
    await again.stop();
  });

  test('a second SIGTERM ends at once', async () => {
    const other = await startCollector({ config: spoolOnly });
    const slow = await connect(other.url);
    slow.socket.write('POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{');
    await waitFor(async () => (await other.metrics()).fleetprof_body_bytes_total >= 1, { what: 'half a body' });
    process.kill(other.server.pid, 'SIGTERM');
    await waitFor(async () => (await send(`${other.adminUrl}/readyz`, { method: 'GET' })).status === 503, { what: 'unreadiness' });
    process.kill(other.server.pid, 'SIGTERM');
    assert.deepEqual(await ended(other.server), { code: null, signal: 'SIGTERM' });
    slow.socket.destroy();
  });
});

describe('reload', () => {
  /** @param {import('./stack.mjs').Collector} of @param {Record<string, unknown>} config */
  async function reload(of, config) {
    const { output } = of.server;
    const before = output().length;
    fs.writeFileSync(of.file, typeof config === 'string' ? config : JSON.stringify(config, null, 1));
    process.kill(of.server.pid, 'SIGHUP');
    await waitFor(() => /configuration (not )?reloaded/.test(output().slice(before)), { what: 'reload' });
    return output().slice(before);
  }

  test('new sites and limits count for the next request; what cannot change is named', async () => {
    const other = await startCollector({ config: spoolOnly });
    const slow = await connect(other.url);
    const body = envelope();
    slow.socket.write(`POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
    await waitFor(async () => (await other.metrics()).fleetprof_body_bytes_total >= 9, { what: 'half a body' });

    const output = await reload(other, {
      ...other.config, listen: `127.0.0.1:${await freePort()}`, limits: { samples: 2 }, http: { threads: 3 },
      sites: [{ name: 'new', key: 'pk_new' }],
    });
    assert.match(output, /keeps its value until a restart" setting=listen/);
    assert.match(output, /setting=http\.threads/);
    assert.doesNotMatch(output, /setting=(limits|sites|admin)/);

    assert.equal((await send(`${other.url}/v1/ingest/pk_shop`, { body })).status, 403);
    const reply = await send(`${other.url}/v1/ingest/pk_new`, { body });
    assert.equal(reply.status, 413);
    assert.match(reply.problem.detail, /limits\.samples/);
    slow.socket.write(body.slice(9));
    await waitFor(() => slow.text().includes('\r\n\r\n'), { what: 'reply' });
    assert.match(slow.text(), /^HTTP\/1\.1 204 /, 'a running request keeps the rules it began with');
    slow.socket.destroy();
    await other.stop();
  });

  test('a bad file changes nothing and the log says why', async () => {
    const other = await startCollector({ config: spoolOnly });
    const output = await reload(other, /** @type {any} */ ('listen: 127.0.0.1:1\nsites: 5\nspol: {}\n'));
    assert.match(output, /configuration not reloaded.*:2:8: sites: must be a list/);
    assert.match(output, /configuration not reloaded.*:3:1: spol: is not a setting/);
    assert.equal((await send(`${other.url}/v1/ingest/pk_shop`, { body: envelope() })).status, 204);
    await other.stop();
  });

  test('amid uploads loses none', async () => {
    const other = await startCollector({ config: spoolOnly });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
    let over = false;
    const clients = Array.from({ length: 16 }, async () => {
      while (!over) assert.equal((await send(`${other.url}/v1/ingest/pk_shop`, { body: envelope(), agent })).status, 204);
    });
    for (let i = 0; i < 20; i++) await reload(other, other.config);
    over = true;
    await Promise.all(clients);
    agent.destroy();
    await other.stop();
  });
});

test('an address in use is said, and the exit code is 2', async () => {
  const { listen, admin } = collector.config;
  for (const [setting, address] of [['listen', listen], ['admin', admin], ['listen', 'unix:/no/such/folder/socket']]) {
    const { file } = await collectorConfig({ ...spoolOnly, [setting]: address });
    const { code, stderr } = await run([path.join(binDir, 'fleetprofd'), '-c', file]);
    assert.equal(code, 2);
    assert.ok(stderr.includes(`msg="${setting === 'admin' ? 'admin ' : ''}listener cannot be opened" detail="cannot listen on ${address}: `), stderr);
  }
});
