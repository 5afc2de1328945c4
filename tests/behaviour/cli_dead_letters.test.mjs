// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof spool dead-letters: an operator lists and inspects refused uploads, and sends them again once the
 * collector's configuration or the database allows them.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';

import { envelope, send, smallTrace } from './collector_client.mjs';
import { binDir, freePort, run, startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';
import { refuseValues } from './store_tool.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector[]} */
const running = [];
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(async () => {
  for (const collector of running) if (collector.server.running()) await collector.stop();
  await postgres.stop();
});

const sites = [{ name: 'shop', key: 'pk_shop' }, { name: 'blog', key: 'pk_blog' }];
const invalid = envelope({ trace: { frames: [], resources: [], stacks: [], samples: [{ timestamp: 1, stackId: 7 }] } });

/** @param {Record<string, unknown>} [config] */
async function start(config = {}) {
  const collector = await startCollector({
    config: { database: postgres.conninfo('fleetprof_writer'), sites,
      dead_letters: { path: path.join(temporaryDir('letters'), 'letters') }, ...config },
  });
  running.push(collector);
  return collector;
}

/** @param {import('./stack.mjs').Collector} collector @param {string} [key] */
const ingest = (collector, key = 'pk_shop') => `${collector.url}/v1/ingest/${key}`;

/** @param {string[]} args */
const deadLetters = (...args) => run([path.join(binDir, 'fleetprof'), 'spool', 'dead-letters', ...args]);

/** @param {import('./stack.mjs').Collector} collector @returns {Promise<Record<string, any>[]>} */
async function list(collector) {
  const { code, stdout, stderr } = await deadLetters('list', '--json', '-c', collector.file);
  assert.deepEqual([code, stderr], [0, '']);
  return JSON.parse(stdout);
}

/** @param {import('./stack.mjs').Collector} collector @param {number} count */
async function untilListed(collector, count) {
  await waitFor(async () => (await list(collector)).length >= count, { what: `${count} letters` });
  return list(collector);
}

/** @param {string} site */
const logged = async (site) => (await postgres.sql(`select upload_id from fleetprof.upload_log where site = '${site}'`)).length;

test('list and show tell what was refused, and why', async () => {
  const collector = await start();
  assert.deepEqual(await list(collector), []);
  assert.deepEqual(await deadLetters('list', '-c', collector.file), { code: 0, stdout: '', stderr: '' });
  const zipped = zlib.gzipSync(invalid);
  await send(ingest(collector), { body: zipped, headers: { 'content-type': 'text/plain', 'content-encoding': 'gzip' } });
  await send(`${ingest(collector, 'pk_blog')}?format=user-timing`, { body: '{ not JSON' });
  const [first, second] = await untilListed(collector, 2);
  const { id, received, detail, ...rest } = first;
  assert.deepEqual(rest, { kind: 'letter', site: 'shop', status: 422, body_bytes: zipped.length, pointer: '/trace/samples/0/stackId',
    offset: null, origin: null, content_type: 'text/plain', content_encoding: 'gzip', format: null, uploads: null });
  assert.match(id, /^[0-9a-f]{16}$/);
  assert.ok(Math.abs(Date.parse(received) - Date.now()) < 60_000);
  assert.match(detail, /stackId|stack/);
  assert.equal(second.site, 'blog');
  assert.equal(second.status, 400);
  assert.equal(second.format, 'user-timing');
  assert.equal(typeof second.offset, 'number');

  const table = await deadLetters('list', '-c', collector.file);
  assert.match(table.stdout, /^ID\tRECEIVED\tSITE\tSTATUS\tBYTES\tWHERE\tWHY\n/);
  assert.ok(table.stdout.includes(`${id}\t${received}\tshop`));

  const shown = await deadLetters('show', id, '-c', collector.file);
  assert.match(shown.stdout, /^status +422$/m);
  assert.match(shown.stdout, /^pointer +\/trace\/samples\/0\/stackId$/m);
  assert.deepEqual(JSON.parse((await deadLetters('show', id, '--json', '-c', collector.file)).stdout), [first]);
  assert.deepEqual(JSON.parse((await deadLetters('list', '--json', '--directory', collector.config.dead_letters.path)).stdout),
    [first, second]);
  const body = await deadLetters('show', second.id, '--body', '-c', collector.file);
  assert.equal(body.stdout, '{ not JSON');
});

test('nothing in a letter can steer a terminal', async () => {
  const collector = await start();
  await send(`${ingest(collector)}?format=%1b[2J%c2%9b2J%e2%80%ae`, { body: '{"\u001b[2J' });
  const [{ id }] = await untilListed(collector, 1);
  for (const args of [['list'], ['show', id]]) {
    const { stdout } = await deadLetters(...args, '-c', collector.file);
    assert.ok(stdout.includes(id));
    assert.doesNotMatch(stdout, /[\u001b\u009b\u202e]/);
  }
});

test('on a terminal a body shows no byte that could steer it; piped it is as it was received', async () => {
  const collector = await start();
  const sent = Buffer.concat([Buffer.from('{"é\t\n\u001b[2J\u202e\u{e0041}'), Buffer.from([0x00, 0x9b, 0x1f, 0xc3])]);
  await send(ingest(collector), { body: sent });
  const [{ id }] = await untilListed(collector, 1);
  const line = `'${path.join(binDir, 'fleetprof')}' spool dead-letters show --body ${id} -c '${collector.file}'`;
  const { stdout, code } = await run(['script', '-qec', line, '/dev/null']);
  assert.equal(code, 0, stdout);
  const escaped = String.raw`\u001b[2J\u202e\udb40\udc41\u0000\ufffd\u001f\ufffd`;
  assert.equal(stdout.replaceAll('\r\n', '\n'), `{"é\t\n${escaped}`);
  const copy = path.join(temporaryDir('body'), 'copy');
  await run(['sh', '-c', `${line} > '${copy}'`]);
  assert.deepEqual(fs.readFileSync(copy), sent);
});

test('a replay uploads what is allowed now, removes it, and writes the new reason to the rest', async () => {
  const collector = await start({ limits: { samples: 2 } });
  const part = envelope({ id: randomUUID() });
  const bodies = /** @type {[string, string | Uint8Array, Record<string, string>][]} */ ([
    ['pk_shop', envelope(), {}],
    ['pk_blog', zlib.gzipSync(envelope({ id: randomUUID() })), { 'content-encoding': 'gzip' }],
    ['pk_shop', `--b\r\n\r\n${part}\r\n--b--`, { 'content-type': 'multipart/form-data; boundary=b' }],
    ['pk_shop', invalid, {}],
    ['pk_shop', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }],
  ]);
  for (const [key, body, headers] of bodies) await send(ingest(collector, key), { body, headers });
  const before = await untilListed(collector, 5);
  assert.deepEqual(before.map(({ status }) => status), [413, 413, 413, 422, 415]);
  await collector.stop();

  // The limit is lifted. The refused column's message is worded differently now.
  const config = { ...collector.config, limits: { samples: 1000, stacks: 10 } };
  const next = await start(config);
  const { code, stdout, stderr } = await deadLetters('replay', '--all', '-c', next.file);
  assert.equal(stdout, '3 of 5 accepted\n');
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`^${before[3].id}: /trace/samples/0/stackId: .*\n${before[4].id}: .*Content-Type.*\n$`));
  const left = await list(next);
  assert.deepEqual(left.map(({ id }) => id), [before[3].id, before[4].id], 'and the collector kept none of them once more');
  assert.deepEqual(left.map(({ received }) => received), [before[3].received, before[4].received]);
  assert.equal((await deadLetters('show', left[0].id, '--body', '-c', next.file)).stdout, invalid);
  await waitFor(async () => (await logged('shop')) === 2 && (await logged('blog')) === 1, { what: 'uploads in SQL' });
});

test('a letter without an id counts once however often its replay is broken off', async () => {
  const collector = await start({ limits: { samples: 2 }, sites: [{ name: 'twice', key: 'pk_shop' }] });
  const form = `--b\r\n\r\n${envelope()}\r\n--b\r\n\r\n${envelope()}\r\n--b--`;
  await send(ingest(collector), { body: envelope() });
  await send(ingest(collector), { body: envelope() });
  await send(`${ingest(collector)}?format=self-profile`, { body: JSON.stringify(smallTrace) });
  await send(ingest(collector), { body: form, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
  await untilListed(collector, 4);
  const directory = collector.config.dead_letters.path;
  const copy = `${directory}.copy`;
  fs.cpSync(directory, copy, { recursive: true });
  await collector.stop();
  const next = await start({ ...collector.config, limits: {} });
  for (const place of [directory, copy]) {
    const { stdout, code } = await deadLetters('replay', '--all', '--directory', place, '-c', next.file);
    assert.deepEqual([stdout, code], ['4 of 4 accepted\n', 0]);
  }
  await next.stop();
  assert.equal(await logged('twice'), 5, 'two equal uploads are two, and so is a form of two');
});

test('a letter keeps the key of its request: sent again by the client and replayed, it counts once', async () => {
  const collector = await start({ limits: { samples: 2 }, sites: [{ name: 'keyed', key: 'pk_shop' }] });
  const key = randomUUID();
  const request = { body: JSON.stringify(smallTrace), headers: { 'idempotency-key': key } };
  assert.equal((await send(ingest(collector), request)).status, 413);
  await untilListed(collector, 1);
  await collector.stop();
  const next = await start({ ...collector.config, limits: {} });
  assert.equal((await send(ingest(next), request)).status, 204);
  const { stdout } = await deadLetters('replay', '--all', '-c', next.file);
  assert.equal(stdout, '1 of 1 accepted\n');
  await next.stop();
  assert.deepEqual(await postgres.sql("select upload_id::text as id from fleetprof.upload_log where site = 'keyed'"), [{ id: key }]);
});

test('--json holds every answer; a reason of the key leaves the letter as it is', async () => {
  const collector = await start();
  await send(ingest(collector), { body: invalid });
  const [before] = await untilListed(collector, 1);
  const { code, stdout, stderr } = await deadLetters('replay', before.id, '--json', '--directory', collector.config.dead_letters.path,
    '--url', ingest(collector, 'pk_wrong'));
  assert.deepEqual([code, stderr], [1, '']);
  const [{ detail, ...answer }] = JSON.parse(stdout);
  assert.deepEqual(answer, { id: before.id, accepted: false, status: 403, pointer: null, offset: null });
  assert.match(detail, /key/);
  assert.deepEqual(await list(collector), [before]);
});

test('a collector that cannot be reached ends the replay, and nothing is lost', async () => {
  const collector = await start();
  for (let i = 0; i < 2; i++) await send(ingest(collector), { body: invalid });
  const before = await untilListed(collector, 2);
  const { code, stderr } = await deadLetters('replay', '--all', '-c', collector.file,
    '--url', `http://127.0.0.1:${await freePort()}/v1/ingest/pk_shop`);
  assert.equal(code, 2);
  assert.equal(stderr.match(/could not upload/g)?.length, 1);
  assert.deepEqual(await list(collector), before);
});

test('a cut file and a letter that was dropped meanwhile hinder nobody', async () => {
  const collector = await start();
  await send(ingest(collector), { body: invalid });
  const [{ id }] = await untilListed(collector, 1);
  const cut = path.join(collector.config.dead_letters.path, '0000000000000001.letter');
  fs.writeFileSync(cut, '{"version":1,');
  fs.writeFileSync(path.join(collector.config.dead_letters.path, 'notes.txt'), 'mine');
  const rows = await list(collector);
  assert.deepEqual(rows.map((row) => row.id), ['0000000000000001', id]);
  assert.match(rows[0].detail, /not a whole letter/);
  const { code, stderr } = await deadLetters('replay', '0000000000000001', '-c', collector.file);
  assert.equal(code, 1);
  assert.match(stderr, /cannot be read/);
  const unknown = await deadLetters('show', 'ffffffffffffffff', '-c', collector.file);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no dead letter "ffffffffffffffff"/);
});

test('one upload that the database refuses, among good ones, is set aside alone, listed, and counted once it may', async () => {
  await postgres.execute(refuseValues('upload', "new.agent = 'poison/1'"));
  const collector = await start({ sites: [{ name: 'poisoned', key: 'pk_shop' }], flush: { min_window: '300ms', max_window: '2s' } });
  const uploads = Array.from({ length: 40 }, (_, i) => envelope({
    id: randomUUID(), agent: { name: i === 17 ? 'poison' : 'good', version: '1' }, page: { url: `https://shop.example/secret${i}` },
  }));
  const replies = await Promise.all(uploads.map((body) => send(ingest(collector), { body })));
  assert.ok(replies.every(({ status }) => status === 204));
  await waitFor(async () => (await logged('poisoned')) === 39, { what: '39 uploads in SQL' });
  await waitFor(async () => (await collector.metrics()).fleetprof_uploads_quarantined_total === 1, { what: 'record set aside' });

  const [row] = await untilListed(collector, 1);
  assert.match(row.id, /^refused-[0-9a-f]{16}$/);
  assert.equal(row.kind, 'record');
  assert.equal(row.site, 'poisoned');
  assert.equal(row.uploads, 1);
  assert.match(row.detail, /22000/);
  assert.doesNotMatch(row.detail, /secret/);

  const stillRefused = await deadLetters('replay', row.id, '-c', collector.file);
  assert.equal(stillRefused.code, 1);
  assert.match(stillRefused.stderr, new RegExp(`^${row.id}: .*22000`));
  assert.equal((await list(collector)).length, 1);

  await postgres.execute('drop trigger poison on fleetprof_data.upload');
  const spool = collector.config.spool.path;
  fs.cpSync(path.join(spool, row.id), path.join(spool, 'refused-00000000000fffff'));
  const { code, stdout, stderr } = await deadLetters('replay', '--all', '-c', collector.file);
  assert.deepEqual([code, stdout, stderr], [0, '2 of 2 accepted\n', '']);
  assert.deepEqual(await list(collector), []);
  assert.equal(fs.readdirSync(spool).filter((name) => name.startsWith('refused-')).length, 0);
  assert.equal(await logged('poisoned'), 40, 'its copy did not count again');
  const [sums] = await postgres.sql(`select samples, self_ms from fleetprof.hotspots('poisoned')`);
  assert.deepEqual(sums, { samples: 120, self_ms: 1200 });
});

test('wrong use is said', async () => {
  for (const [args, what] of /** @type {[string[], RegExp][]} */ ([
    [['show'], /no ID was given/],
    [['replay'], /give IDs, or --all/],
    [['replay', '--all', 'x'], /give IDs, or --all/],
    [['list', '--directory', '/nowhere/at/all'], /could not read the directory/],
    [['burn'], /spool dead-letters has no command "burn"/],
  ])) {
    const { code, stderr } = await deadLetters(...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, what);
  }
  const help = await run([path.join(binDir, 'fleetprof'), 'help', 'spool']);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /dead-letters replay +upload them again/);
});
