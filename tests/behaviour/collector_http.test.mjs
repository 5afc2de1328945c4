// SPDX-License-Identifier: Apache-2.0
/**
 * The collector's HTTP: every status of the contract, CORS, limits, the admin listener. There is no database: uploads
 * stay in the spool.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import zlib from 'node:zlib';

import { connect, counted, envelope, origin, send, sendUntil, spoolOnly, startLimited } from './collector_client.mjs';
import { startCollector, temporaryDir, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Collector} */
let collector;
/** @type {string} */
let url;
before(async () => {
  collector = await startCollector({ config: spoolOnly });
  url = `${collector.url}/v1/ingest/pk_shop`;
});
after(() => collector.stop());

/** @param {string} name @param {string} part */
const multipart = (name, part) => `--${name}\r\nContent-Disposition: form-data; name="a"\r\n\r\n${part}\r\n`;

describe('uploads that are taken', () => {
  const types = ['application/json', 'text/plain;charset=UTF-8', 'application/octet-stream', 'application/x-ndjson',
    'Application/JSON', undefined];
  for (const type of types) {
    test(`content type ${type}`, async () => {
      const reply = await send(url, { body: envelope(), headers: type ? { 'content-type': type } : {} });
      assert.equal(reply.status, 204);
      assert.equal(reply.body, '');
      assert.equal(reply.headers['content-length'], undefined);
    });
  }

  for (const [encoding, compress] of /** @type {const} */ ([['gzip', zlib.gzipSync], ['deflate', zlib.deflateSync],
    ['br', zlib.brotliCompressSync]])) {
    test(`content encoding ${encoding}`, async () => {
      const reply = await send(url, { body: compress(envelope()), headers: { 'content-encoding': encoding } });
      assert.equal(reply.status, 204);
    });
  }

  test('gzip that is not announced', async () => {
    const reply = await send(url, { body: zlib.gzipSync(envelope()), headers: { 'content-type': 'text/plain' } });
    assert.equal(reply.status, 204);
  });

  test('a body in chunks', async () => {
    const text = envelope();
    const reply = await send(url, { chunks: [text.slice(0, 10), text.slice(10, 11), text.slice(11)] });
    assert.equal(reply.status, 204);
  });

  test('a format that is named', async () => {
    assert.equal((await send(`${url}?format=self-profile`, { body: envelope() })).status, 204);
  });

  test('several parts of a form, counted one by one', async () => {
    const earlier = await collector.metrics();
    const body = `${multipart('xyz', envelope())}${multipart('xyz', envelope())}--xyz--\r\n`;
    const reply = await send(url, { body, headers: { 'content-type': 'multipart/form-data; boundary=xyz' } });
    assert.equal(reply.status, 204);
    const later = await collector.metrics();
    const name = 'fleetprof_uploads_accepted_total{site="shop"}';
    assert.equal(later[name] - earlier[name], 2);
  });

  test('parts of a form that is compressed, and compressed parts', async () => {
    const zipped = zlib.gzipSync(envelope());
    const body = zlib.gzipSync(Buffer.concat([
      Buffer.from('--a b\r\n\r\n'), zipped, Buffer.from(`\r\n--a b  \r\nX: y\r\n\r\n${envelope()}\r\n--a b--`)]));
    const headers = { 'content-type': 'multipart/form-data; boundary="a b"', 'content-encoding': 'gzip' };
    assert.equal((await send(url, { body, headers })).status, 204);
  });

  test('one megabyte arrives whole', async () => {
    const body = envelope({ ignored: 'x'.repeat(1_000_000) });
    assert.equal((await send(url, { body })).status, 204);
  });
});

describe('requests that are refused', () => {
  /** @type {[string, number, string, import('./collector_client.mjs').Request, RegExp][]} */
  const cases = [
    ['another path', 404, '/', { body: envelope() }, /\/v1\/ingest/],
    ['a path with nothing behind it', 404, '/v1/ingest/', { body: envelope() }, /\/v1\/ingest/],
    ['a path below the key', 404, '/v1/ingest/pk_shop/', { body: envelope() }, /\/v1\/ingest/],
    ['GET', 405, '/v1/ingest/pk_shop', { method: 'GET' }, /POST/],
    ['PUT', 405, '/v1/ingest/pk_shop', { method: 'PUT', body: envelope() }, /POST/],
    ['a method nobody knows', 405, '/v1/ingest/pk_shop', { method: 'SEARCH', body: '{}' }, /POST/],
    ['an unknown key', 403, '/v1/ingest/pk_other', { body: envelope() }, /key/],
    ['an unknown key with another case', 403, '/v1/ingest/PK_SHOP', { body: envelope() }, /key/],
    ['an empty body', 400, '/v1/ingest/pk_shop', { body: '' }, /empty/],
    ['a form', 415, '/v1/ingest/pk_shop',
      { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' } }, /Content-Type/],
    ['a picture', 415, '/v1/ingest/pk_shop', { body: 'x', headers: { 'content-type': 'image/png' } }, /Content-Type/],
    ['an unknown encoding', 415, '/v1/ingest/pk_shop',
      { body: envelope(), headers: { 'content-encoding': 'compress' } }, /Content-Encoding/],
    ['an unknown format', 415, '/v1/ingest/pk_shop?format=har', { body: envelope() }, /format/],
    ['a form without boundary', 400, '/v1/ingest/pk_shop',
      { body: envelope(), headers: { 'content-type': 'multipart/form-data' } }, /boundary/],
    ['a form that ends early', 400, '/v1/ingest/pk_shop',
      { body: multipart('b', envelope()), headers: { 'content-type': 'multipart/form-data; boundary=b' } }, /boundary/],
    ['a form without parts', 422, '/v1/ingest/pk_shop',
      { body: '--b--\r\n', headers: { 'content-type': 'multipart/form-data; boundary=b' } }, /no part/],
    ['a good part and a bad one', 422, '/v1/ingest/pk_shop',
      { body: `${multipart('b', envelope())}${multipart('b', '{}')}--b--`,
        headers: { 'content-type': 'multipart/form-data; boundary=b' } }, /^part 2: /],
    ['65 parts', 413, '/v1/ingest/pk_shop',
      { body: `${multipart('b', envelope()).repeat(65)}--b--`,
        headers: { 'content-type': 'multipart/form-data; boundary=b' } }, /64 parts/],
    ['a body over the limit', 413, '/v1/ingest/pk_shop', { body: Buffer.alloc(9 << 20, 32) }, /limits\.max_body/],
    ['a body over the limit in chunks', 413, '/v1/ingest/pk_shop',
      { chunks: Array.from({ length: 9 }, () => Buffer.alloc(1 << 20, 32)) }, /limits\.max_body/],
    ['a bomb', 413, '/v1/ingest/pk_shop', { body: zlib.gzipSync(Buffer.alloc(65 << 20, 32)) }, /limits\.max_inflated/],
  ];
  for (const [what, status, where, request, detail] of cases) {
    test(`${what}: ${status}`, async () => {
      const { accepted, refused } = await counted(collector);
      const reply = await send(collector.url + where, request);
      assert.equal(reply.status, status, reply.body);
      assert.equal(reply.headers['content-type'], 'application/problem+json');
      assert.equal(reply.headers.vary, 'Origin');
      assert.equal(reply.problem.type, 'about:blank');
      assert.equal(reply.problem.status, status);
      assert.equal(reply.problem.title, http.STATUS_CODES[status]?.replace('Payload Too Large', 'Content Too Large')
        .replace('Unprocessable Entity', 'Unprocessable Content'));
      assert.match(reply.problem.detail, detail);
      if (status === 405) assert.equal(reply.headers.allow, 'POST, OPTIONS');
      const later = await counted(collector);
      assert.equal(later.accepted, accepted);
      assert.equal(later.refused - refused, 1);
      assert.equal((await send(url, { body: envelope() })).status, 204, 'the next good one works');
    });
  }

  test('HEAD: 405 without a body', async () => {
    const reply = await send(url, { method: 'HEAD' });
    assert.equal(reply.status, 405);
    assert.equal(reply.body, '');
  });

  test('no length at all: 411', async () => {
    const { socket, text } = await connect(collector.url);
    socket.write('POST /v1/ingest/pk_shop HTTP/1.1\r\nHost: a\r\n\r\n');
    await waitFor(() => text().includes('\r\n\r\n'), { what: 'reply' });
    assert.match(text(), /^HTTP\/1\.1 411 /);
    assert.match(text(), /"status":411/);
    socket.destroy();
  });

  test('text of a request comes back escaped or not at all', async () => {
    const evil = '</script><img src=x onerror=alert(1)>"\\u0000';
    const tries = [
      send(`${collector.url}/${encodeURIComponent(evil)}`, { body: '{}' }),
      send(`${url}?format=${encodeURIComponent(evil)}`, { body: envelope() }),
      send(url, { body: JSON.stringify({ trace: { ...JSON.parse(envelope()).trace, stacks: { [evil]: evil } } }) }),
      send(url, { body: JSON.stringify({ marks: { [evil]: evil } }) }),
    ];
    for (const reply of await Promise.all(tries)) {
      assert.ok(reply.status >= 400);
      assert.equal(reply.headers['x-content-type-options'], 'nosniff');
      assert.ok(!/[^\x20-\x7e]/.test(reply.body), reply.body);
      assert.ok(reply.problem, 'it is JSON');
    }
  });
});

describe('CORS', () => {
  /** @type {[string, string, string | undefined, number][]} */
  const matrix = [
    ['pk_shop', 'a listed origin', origin, 204],
    ['pk_shop', 'another listed origin', 'http://127.0.0.1:8080', 204],
    ['pk_shop', 'no origin', undefined, 204],
    ['pk_shop', 'a foreign origin', 'https://evil.example', 403],
    ['pk_shop', 'null where it is not listed', 'null', 403],
    ['pk_shop', 'an origin that begins like a listed one', `${origin}.evil.example`, 403],
    ['pk_shop', 'a listed origin with another port', `${origin}:444`, 403],
    ['pk_shop', 'a listed origin with another scheme', 'http://shop.example', 403],
    ['pk_shop', 'an empty origin', '', 403],
    ['pk_file', 'null where it is listed', 'null', 204],
    ['pk_file', 'an origin that another site lists', origin, 403],
    ['pk_server', 'no origin', undefined, 204],
    ['pk_server', 'any origin, none listed', origin, 403],
    ['pk_none', 'any origin, no such site', origin, 403],
  ];
  for (const [key, what, given, status] of matrix) {
    for (const method of ['POST', 'OPTIONS']) {
      test(`${method} to ${key}: ${what}`, async () => {
        /** @type {Record<string, string>} */
        const headers = given === undefined ? {} : { origin: given };
        const body = method === 'POST' ? envelope() : undefined;
        const reply = await send(`${collector.url}/v1/ingest/${key}`, { method, headers, body });
        assert.equal(reply.status, status);
        assert.equal(reply.headers.vary, 'Origin');
        const admitted = given !== undefined && status === 204;
        assert.equal(reply.headers['access-control-allow-origin'], admitted ? given : undefined);
        assert.equal(reply.headers['access-control-allow-credentials'], admitted ? 'true' : undefined);
        const preflight = admitted && method === 'OPTIONS';
        assert.equal(reply.headers['access-control-allow-methods'], preflight ? 'POST' : undefined);
        assert.equal(reply.headers['access-control-allow-headers'],
          preflight ? 'content-type, content-encoding, idempotency-key' : undefined);
        assert.equal(reply.headers['access-control-max-age'], preflight ? '7200' : undefined);
        assert.equal(reply.headers['access-control-expose-headers'],
          admitted && !preflight ? 'Retry-After, Fleetprof-Refused' : undefined);
      });
    }
  }

  test('a preflight allows what tracing libraries add to requests, and only names', async () => {
    const own = 'content-type, content-encoding, idempotency-key';
    /** @type {[string, string][]} */
    const cases = [
      ['traceparent, baggage', `${own}, traceparent, baggage`], ['x-Datadog-Trace-Id', `${own}, x-Datadog-Trace-Id`],
      ['a'.repeat(1024), `${own}, ${'a'.repeat(1024)}`], ['a'.repeat(1025), own],
      ['a"b', own], ['a\u00e9', own], ['a\tb', own], ['a;b', own], ['', own],
    ];
    for (const [requested, allowed] of cases) {
      const reply = await send(url, { method: 'OPTIONS', headers: { origin, 'access-control-request-headers': requested } });
      assert.deepEqual([reply.status, reply.headers['access-control-allow-headers']], [204, allowed]);
    }
    const foreign = await send(url, { method: 'OPTIONS', headers: { origin: 'https://other.example', 'access-control-request-headers': 'a' } });
    assert.deepEqual([foreign.status, foreign.headers['access-control-allow-headers']], [403, undefined]);
  });

  test('errors carry the headers of an admitted origin', async () => {
    /** @type {[number, import('./collector_client.mjs').Request][]} */
    const cases = [
      [400, { body: '{' }], [405, { method: 'PUT', body: '{}' }], [413, { body: Buffer.alloc(9 << 20, 32) }],
      [415, { body: 'x', headers: { 'content-type': 'image/png' } }], [422, { body: '{}' }],
    ];
    for (const [status, request] of cases) {
      const reply = await send(url, { ...request, headers: { ...request.headers, origin } });
      assert.equal(reply.status, status);
      assert.equal(reply.headers['access-control-allow-origin'], origin);
      assert.equal(reply.headers['access-control-allow-credentials'], 'true');
    }
  });
});

describe('limits and privacy', () => {
  test('Sec-GPC is refused where it is honoured, and only there', async () => {
    const other = await startCollector({ config: { ...spoolOnly, privacy: { honour_gpc: true } } });
    const there = `${other.url}/v1/ingest/pk_shop`;
    const reply = await send(there, { body: envelope(), headers: { 'sec-gpc': '1', origin } });
    assert.equal(reply.status, 403);
    assert.match(reply.problem.detail, /Sec-GPC/);
    assert.equal(reply.headers['access-control-allow-origin'], origin);
    assert.equal((await send(there, { body: envelope(), headers: { 'sec-gpc': '0' } })).status, 204);
    assert.equal((await send(url, { body: envelope(), headers: { 'sec-gpc': '1' } })).status, 204);
    await other.stop();
  });

  test('a full spool is 503 with Retry-After, and not ready', async () => {
    const dir = temporaryDir('spool');
    const other = await startCollector({
      config: { ...spoolOnly, sites: spoolOnly.sites.slice(0, 1), spool: { path: path.join(dir, 's'), max_bytes: '4MiB', segment_bytes: '1MiB' } },
    });
    const there = `${other.url}/v1/ingest/pk_shop`;
    const names = Array.from({ length: 2000 }, (_, i) => ({ name: `${i}${'x'.repeat(90)}` }));
    const body = envelope({
      trace: {
        resources: [], frames: names, stacks: names.map((_, i) => ({ frameId: i })),
        samples: names.map((_, i) => ({ timestamp: i, stackId: i })),
      },
    });
    const reply = await sendUntil(() => send(there, { body, headers: { origin } }), (status) => status !== 204);
    assert.equal(reply.status, 503);
    assert.equal(reply.headers['retry-after'], '30');
    assert.equal(reply.headers['access-control-allow-origin'], origin);
    assert.match(reply.problem.detail, /max_bytes|full/);
    const metrics = await other.metrics();
    for (const name of ['http_responses_total{class="5xx"}', 'uploads_refused_total{site="shop",reason="spool_full"}']) {
      assert.equal(metrics[`fleetprof_${name}`], 1, name);
    }
    const ready = await send(`${other.adminUrl}/readyz`, { method: 'GET' });
    assert.equal(ready.status, 503);
    assert.match(ready.body, /^not ready: .*max_bytes/);
    assert.equal((await send(`${other.adminUrl}/healthz`, { method: 'GET' })).status, 200);
    await other.stop();
  });

  test('what does not fit the working memory is 413', async () => {
    const other = await startLimited({ upload_memory: '1MiB', max_inflated: '1MiB', max_body: '1MiB' });
    const samples = Array.from({ length: 20_000 }, (_, i) => ({ timestamp: i, stackId: 0 }));
    const body = envelope({ trace: { resources: [], frames: [{ name: 'f' }], stacks: [{ frameId: 0 }], samples } });
    const reply = await send(`${other.url}/v1/ingest/pk_shop`, { body });
    assert.equal(reply.status, 413);
    assert.match(reply.problem.detail, /memory/);
    assert.equal((await send(`${other.url}/v1/ingest/pk_shop`, { body: envelope() })).status, 204);
    await other.stop();
  });
});

describe('the admin listener', () => {
  test('answers its three pages, to GET and HEAD only', async () => {
    for (const [page, type, text] of /** @type {const} */ ([
      ['/healthz', 'text/plain; charset=utf-8', /^alive\n$/],
      ['/readyz', 'text/plain; charset=utf-8', /^ready\ndatabase: unreachable: there is no connection to it; for \d+ s now, the spool keeps uploads\n$/],
      ['/metrics', 'text/plain; version=0.0.4; charset=utf-8', /^# TYPE fleetprof_uploads_accepted_total counter$/m]])) {
      const reply = await send(collector.adminUrl + page, { method: 'GET' });
      assert.equal(reply.status, 200);
      assert.equal(reply.headers['content-type'], type);
      assert.match(reply.body, text);
      const head = await send(collector.adminUrl + page, { method: 'HEAD' });
      assert.equal(head.status, 200);
      assert.equal(head.body, '');
      const post = await send(collector.adminUrl + page, { body: 'x' });
      assert.equal(post.status, 405);
      assert.equal(post.headers.allow, 'GET, HEAD');
    }
    assert.equal((await send(`${collector.adminUrl}/`, { method: 'GET' })).status, 404);
  });

  test('has no uploads, and the public listener has none of its pages', async () => {
    assert.equal((await send(`${collector.adminUrl}/v1/ingest/pk_shop`, { body: envelope() })).status, 404);
    for (const page of ['/healthz', '/readyz', '/metrics'])
      assert.equal((await send(collector.url + page, { method: 'GET' })).status, 404);
  });

  test('counts what happened', async () => {
    const earlier = await collector.metrics();
    const body = zlib.gzipSync(envelope());
    await send(url, { body });
    await send(url, { body: '{' });
    const later = await collector.metrics();
    /** @param {string} name */
    const grown = (name) => later[`fleetprof_${name}`] - earlier[`fleetprof_${name}`];
    assert.equal(grown('uploads_accepted_total{site="shop"}'), 1);
    assert.equal(grown('uploads_refused_total{site="shop",reason="not_json"}'), 1);
    assert.equal(grown('http_responses_total{class="2xx"}'), 1);
    assert.equal(grown('http_responses_total{class="4xx"}'), 1);
    assert.equal(grown('body_bytes_total'), body.length + 1);
    assert.equal(grown('inflated_bytes_total'), envelope().length);
    assert.equal(grown('ack_seconds_count'), 1);
    assert.equal(later.fleetprof_database_up, 0);
  });
});
