// SPDX-License-Identifier: Apache-2.0
/**
 * Refused bodies are kept for the operator, whole and with the reason, within their bounds, and never at the cost of
 * an upload. No database is needed: refused bodies never get there.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import zlib from 'node:zlib';

import { connect, envelope, send } from './collector_client.mjs';
import { run, runOrThrow, startCollector, temporaryDir, waitFor } from './stack.mjs';

const origin = 'https://shop.example';
const site = { name: 'shop', key: 'pk_shop', origins: [origin] };

/** @type {import('./stack.mjs').Collector[]} */
const running = [];
after(async () => { for (const collector of running) if (collector.server.running()) await collector.stop(); });

/** @param {Record<string, unknown>} [settings] of the dead letters @param {Record<string, unknown>} [config] */
async function start(settings = {}, config = {}) {
  const directory = path.join(temporaryDir('letters'), 'letters');
  const collector = await startCollector({
    config: { database: 'host=/nowhere', sites: [site], dead_letters: { path: directory, ...settings }, ...config },
  });
  running.push(collector);
  const url = `${collector.url}/v1/ingest/${site.key}`;
  return { collector, directory, url };
}

/** @typedef {{ file: string, head: Record<string, any>, body: Buffer }} Letter */

/** @param {string} directory @returns {Letter[]} the oldest first */
function letters(directory) {
  const names = fs.existsSync(directory) ? fs.readdirSync(directory).filter((name) => name.endsWith('.letter')) : [];
  return names.sort().map((name) => {
    const file = path.join(directory, name);
    const bytes = fs.readFileSync(file);
    const end = bytes.indexOf('\n');
    return { file, head: JSON.parse(bytes.subarray(0, end).toString()), body: bytes.subarray(end + 1) };
  });
}

/** @param {string} directory @param {number} count */
async function untilThere(directory, count) {
  await waitFor(() => letters(directory).length >= count, { what: `${count} letters` });
  return letters(directory);
}

test('a refused body is kept as it came, with the reply that it got', async () => {
  const { collector, directory, url } = await start();
  const began = Date.now();
  const invalid = zlib.gzipSync(envelope({ trace: { frames: [], resources: [], stacks: [], samples: [{ timestamp: 1, stackId: 7 }] } }));
  const replies = [
    await send(`${url}?format=self-profile`, { body: invalid,
      headers: { origin, 'content-type': 'application/json', 'content-encoding': 'gzip' } }),
    await send(url, { body: '{"trace": nonsense}' }),
    await send(url, { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    await send(url, { body: 'x', headers: { 'content-encoding': 'compress' } }),
    await send(url, { body: 'no boundary', headers: { 'content-type': 'multipart/form-data' } }),
    await send(url, { body: '[]', chunks: undefined, headers: { 'content-type': 'text/plain' } }),
  ];
  assert.deepEqual(replies.map(({ status }) => status), [422, 400, 415, 415, 400, 422]);
  const kept = await untilThere(directory, replies.length);
  kept.forEach(({ head }, i) => {
    assert.equal(head.status, replies[i].status);
    assert.equal(head.detail, replies[i].problem.detail);
    assert.equal(head.pointer, replies[i].problem.pointer);
    assert.equal(head.offset, replies[i].problem.offset);
    assert.equal(head.site, 'shop');
    assert.ok(head.received_us / 1000 >= began - 1 && head.received_us / 1000 <= Date.now() + 1);
  });
  assert.deepEqual(kept[0].body, invalid);
  assert.equal(kept[0].head.pointer, '/trace/samples/0/stackId');
  assert.equal(kept[0].head.content_encoding, 'gzip');
  assert.equal(kept[0].head.content_type, 'application/json');
  assert.equal(kept[0].head.format, 'self-profile');
  assert.equal(kept[0].head.origin, origin);
  assert.equal(kept[1].body.toString(), '{"trace": nonsense}');
  assert.equal(kept[1].head.origin, undefined);
  assert.equal(kept[2].body.toString(), 'a=1');

  const metrics = await collector.metrics();
  assert.equal(metrics['fleetprof_dead_letters_total{result="stored"}'], replies.length);
  assert.equal(metrics['fleetprof_dead_letters_total{result="dropped"}'], 0);
  assert.equal(metrics.fleetprof_dead_letters_bytes, 4096 * replies.length);
});

test('letters are for their owner alone and hold neither cookies nor who sent them', async () => {
  const { directory, url } = await start();
  await send(url, { body: 'nonsense', headers: {
    cookie: 'session=secret', authorization: 'Bearer secret', 'x-forwarded-for': '192.0.2.1',
    'user-agent': 'Secret/1.0', referer: 'https://shop.example/secret',
  } });
  const [{ file }] = await untilThere(directory, 1);
  assert.equal(fs.statSync(directory).mode & 0o777, 0o700);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.doesNotMatch(fs.readFileSync(file, 'latin1'), /secret|192\.0\.2\.1|127\.0\.0\.1/i);
});

test('what was not admitted, is not whole, came with Sec-GPC or is replayed is not kept', async () => {
  const { collector, directory, url } = await start({}, { limits: { max_body: '1KiB' } });
  const large = 'x'.repeat(2000);
  const replies = [
    await send(`${collector.url}/v1/ingest/pk_unknown`, { body: 'nonsense' }),
    await send(url, { body: 'nonsense', headers: { origin: 'https://elsewhere.example' } }),
    await send(url, { body: 'nonsense', headers: { 'sec-gpc': '1' } }),
    await send(url, { body: 'nonsense', headers: { 'fleetprof-replay': '1' } }),
    await send(url, { body: large }),
    await send(url, { chunks: [large] }),
    await send(url, { chunks: [large], headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
    await send(url, { body: envelope() }),
  ];
  assert.deepEqual(replies.map(({ status }) => status), [403, 403, 400, 400, 413, 413, 415, 204]);
  const cut = await connect(collector.url);
  cut.socket.end(`POST /v1/ingest/${site.key} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nnonsense`);
  await cut.closed;
  assert.equal((await send(url, { body: 'the last' })).status, 400);
  assert.deepEqual((await untilThere(directory, 1)).map(({ body }) => body.toString()), ['the last']);
});

test('an inflated size or count over its limit keeps the body that was read', async () => {
  const { directory, url } = await start({}, { limits: { max_body: '1KiB', max_inflated: '2KiB' } });
  const bomb = zlib.gzipSync(Buffer.alloc(100_000));
  assert.equal((await send(url, { body: bomb })).status, 413);
  const [{ head, body }] = await untilThere(directory, 1);
  assert.equal(head.status, 413);
  assert.deepEqual(body, bomb);
});

test('past the ceiling the oldest go, also those of an earlier life and with a clock set back', async () => {
  const { collector, directory, url } = await start({ max_bytes: '1MiB' });
  const body = (/** @type {number} */ i) => `${i} ${'x'.repeat(100_000)}`;
  for (let i = 0; i < 5; i++) assert.equal((await send(url, { body: body(i) })).status, 400);
  const [oldest] = await untilThere(directory, 5);
  await collector.stop();
  // A letter dated in the future: later ones still sort after it.
  fs.renameSync(oldest.file, path.join(directory, 'ff00000000000000.letter'));
  fs.writeFileSync(path.join(directory, '0000000000000001.tmp'), 'torn');

  const next = await startCollector({ config: collector.config });
  running.push(next);
  await waitFor(async () => (await next.metrics()).fleetprof_dead_letters_bytes === 5 * 102400, { what: 'old letters in the metric' });
  const nextUrl = `${next.url}/v1/ingest/${site.key}`;
  for (let i = 5; i < 15; i++) assert.equal((await send(nextUrl, { body: body(i) })).status, 400);
  await waitFor(async () => (await next.metrics())['fleetprof_dead_letters_total{result="stored"}'] === 10, { what: 'letters' });
  const kept = letters(directory);
  const numbers = kept.map(({ body: text }) => Number(text.toString().split(' ')[0]));
  assert.deepEqual(numbers, Array.from({ length: numbers.length }, (_, i) => 15 - numbers.length + i));
  assert.ok(numbers.length >= 7, String(numbers));
  const metrics = await next.metrics();
  assert.equal(metrics['fleetprof_dead_letters_total{result="evicted"}'], 15 - numbers.length);
  assert.ok(metrics.fleetprof_dead_letters_bytes <= 1024 * 1024);
  assert.equal(metrics.fleetprof_dead_letters_bytes,
    kept.reduce((sum, { file }) => sum + Math.ceil(fs.statSync(file).size / 4096) * 4096, 0));
  assert.ok(!fs.existsSync(path.join(directory, '0000000000000001.tmp')));
});

test('a directory that cannot be used costs letters and nothing else, until it can', async () => {
  const { collector, directory, url } = await start({ path: path.join(temporaryDir('letters'), 'missing', 'letters') });
  const place = collector.config.dead_letters.path;
  assert.equal(letters(directory).length, 0);
  for (let i = 0; i < 3; i++) assert.equal((await send(url, { body: 'nonsense' })).status, 400);
  assert.equal((await send(url, { body: envelope() })).status, 204);
  await waitFor(async () => (await collector.metrics())['fleetprof_dead_letters_total{result="dropped"}'] === 3, { what: 'drops' });
  assert.equal(collector.server.output().match(/dead letters are dropped/g)?.length, 1);
  fs.mkdirSync(path.dirname(place));
  assert.equal((await send(url, { body: 'nonsense' })).status, 400);
  await untilThere(place, 1);
  fs.rmSync(place, { recursive: true });
  await waitFor(async () => {
    await send(url, { body: 'nonsense' });
    return letters(place).length;
  }, { what: 'letters in the recreated directory' });
});

test('a stop writes what is queued', async () => {
  const { collector, directory, url } = await start();
  const body = 'x'.repeat(1_000_000);
  await Promise.all(Array.from({ length: 10 }, () => send(url, { body })));
  await collector.stop();
  assert.equal(letters(directory).length, 10);
});

test('a flood of large refusals is answered as fast as without letters, and takes no more than its ceiling', async () => {
  const body = Buffer.alloc(4 * 1024 * 1024, 'x');
  /** @param {string} url how long it takes, in ms */
  const flood = async (url) => {
    const began = performance.now();
    for (let i = 0; i < 20; i++) assert.equal((await send(url, { body })).status, 400);
    return performance.now() - began;
  };
  const without = await start({ path: '' });
  const { collector, directory, url } = await start({ max_bytes: '16MiB' });
  const usual = await flood(without.url);
  const took = await flood(url);
  // Letters are written slowly: 80 MiB take ten seconds.
  assert.ok(took < 2 * usual + 2000, `${took} ms instead of ${usual}`);
  const metrics = await collector.metrics();
  if (took < 5000) assert.ok(metrics['fleetprof_dead_letters_total{result="dropped"}'] > 0);
  assert.ok(metrics.fleetprof_dead_letters_bytes <= 16 * 1024 * 1024);
  assert.ok(letters(directory).length <= 4);
});

test('a full disk costs letters and nothing else, and leaves no half of one', async (t) => {
  const disk = temporaryDir('disk');
  const { code, stderr } = await run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
  if (code !== 0) return t.skip(`no small disk can be made: ${stderr}`);
  try {
    const { collector, url } = await start({ path: path.join(disk, 'letters') });
    const place = collector.config.dead_letters.path;
    const body = 'x'.repeat(300_000);
    for (let i = 0; i < 6; i++) assert.equal((await send(url, { body })).status, 400);
    assert.equal((await send(url, { body: envelope() })).status, 204);
    await waitFor(async () => (await collector.metrics())['fleetprof_dead_letters_total{result="dropped"}'] === 3, { what: 'drops' });
    assert.deepEqual(letters(place).map(({ body: kept }) => kept.length), [300_000, 300_000, 300_000]);
    assert.equal(fs.readdirSync(place).length, 3);
    for (const { file } of letters(place).slice(0, 2)) fs.rmSync(file);
    assert.equal((await send(url, { body })).status, 400);
    await untilThere(place, 2);
    await collector.stop();
  } finally {
    await runOrThrow(['umount', '--lazy', disk]);
  }
});
