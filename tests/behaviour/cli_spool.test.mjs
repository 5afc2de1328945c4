// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof spool inspect and verify: they report what is in a spool and where it is damaged, and change nothing,
 * also beside a running collector.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { binDir, repository, run, runOrThrow, startCollector, temporaryDir } from './stack.mjs';

const [first, second] = ['0000000000000001.seg', '0000000000000002.seg'];
const headerLength = 8192;

/** @type {import('./stack.mjs').Collector[]} */
const running = [];
after(async () => { for (const collector of running) if (collector.server.running()) await collector.stop(); });

/** A copy of a spool with two segments: three records, then four and a torn one. */
function copySpool() {
  const copy = path.join(temporaryDir('spool'), 'spool');
  fs.cpSync(path.join(repository, 'tests/data/spool-v1/spool'), copy, { recursive: true });
  return copy;
}

/** @param {string[]} args */
const spool = (...args) => run([path.join(binDir, 'fleetprof'), 'spool', ...args]);

/** @param {string} directory names, lengths and content of all files */
function fingerprint(directory) {
  return Object.fromEntries(fs.readdirSync(directory).sort().map((name) =>
    [name, createHash('sha256').update(fs.readFileSync(path.join(directory, name))).digest('hex')]));
}

/** @param {string} directory @returns {Promise<{ code: number | null, rows: any[] }>} */
async function verify(directory) {
  const before = fingerprint(directory);
  const { code, stdout, stderr } = await spool('verify', '--json', directory);
  assert.equal(stderr, '');
  assert.deepEqual(fingerprint(directory), before, 'nothing was changed');
  return { code, rows: JSON.parse(stdout) };
}

/** @param {string} directory @param {string} name @param {number} offset @param {number} [count] */
function flip(directory, name, offset, count = 1) {
  const file = path.join(directory, name);
  const bytes = fs.readFileSync(file);
  for (let i = 0; i < count; i++) bytes[offset + i] ^= 0x5a;
  fs.writeFileSync(file, bytes);
}

/** Where the records of a segment lie. @param {string} file @returns {{ offset: number, length: number }[]} */
function records(file) {
  const bytes = fs.readFileSync(file);
  const found = [];
  for (let offset = headerLength; offset + 20 < bytes.length;) {
    const length = Math.ceil((20 + bytes.readUInt32LE(offset)) / 8) * 8;
    if (offset + length > bytes.length) break;
    found.push({ offset, length });
    offset += length;
  }
  return found;
}

test('inspect lists segments with their records, and changes nothing', async () => {
  const directory = copySpool();
  fs.writeFileSync(path.join(directory, 'refused-0000000000000005'), 'record');
  fs.writeFileSync(path.join(directory, 'damaged-0000000000000001-0000000000002000'), 'bytes');
  fs.writeFileSync(path.join(directory, 'notes.txt'), 'mine');
  const before = fingerprint(directory);
  const { code, stdout, stderr } = await spool('inspect', '--json', directory);
  assert.deepEqual([code, stderr], [0, '']);
  const rows = JSON.parse(stdout);
  assert.deepEqual(rows.map((/** @type {any} */ { file, kind, version, first_sequence, last_sequence, records: count, uploads, waiting }) =>
    [file, kind, version, first_sequence, last_sequence, count, uploads, waiting]), [
    ['state', 'state', null, null, 0, null, null, null],
    [first, 'segment', 1, 1, 3, 3, 3, 3],
    [second, 'segment', 1, 4, 7, 4, 5, 4],
    ['damaged-0000000000000001-0000000000002000', 'set aside', null, null, null, null, null, null],
    ['refused-0000000000000005', 'refused', null, 5, 5, null, null, null],
  ]);
  assert.match(rows[0].id, /^[0-9a-f-]{36}$/);
  assert.equal(rows[0].position, 0);
  assert.notEqual(rows[1].id, rows[2].id);
  assert.equal(rows[1].file_bytes, fs.statSync(path.join(directory, first)).size);
  assert.equal(rows[2].damaged_bytes, 0);
  assert.ok(rows[2].unfinished_bytes > 0);
  assert.equal(rows[4].file_bytes, 6);
  assert.deepEqual(fingerprint(directory), before);

  const table = await spool('inspect', directory);
  assert.match(table.stdout, /^FILE\tKIND\t/);
  assert.match(table.stderr, /: 7 records, 7 of them after position 0\n$/);
});

test('a spool without damage: exit 0, and a torn end is not damage', async () => {
  const directory = copySpool();
  assert.deepEqual(await verify(directory), { code: 0, rows: [] });
  const { code, stdout } = await spool('verify', directory);
  assert.equal(code, 0);
  assert.match(stdout, /^2 segments, 7 good records, 0 damaged bytes\n\d+ bytes after the last record .*torn/);
});

test('reports each kind of damage with its place: a payload, a frame, a short file, a header, a version', async () => {
  const directory = copySpool();
  const [, payload] = records(path.join(directory, first));
  const [, , frame] = records(path.join(directory, second));
  flip(directory, first, payload.offset + 40);
  flip(directory, second, frame.offset + 2);
  const expected = [
    { file: first, offset: payload.offset, bytes: payload.length, what: 'no valid record' },
    { file: second, offset: frame.offset, bytes: frame.length, what: 'no valid record' },
  ];
  assert.deepEqual(await verify(directory), { code: 1, rows: expected });
  const { code, stdout } = await spool('verify', directory);
  assert.equal(code, 1);
  assert.match(stdout, new RegExp(`^FILE\t.*\n${first}\t${payload.offset}\t${payload.length}\tno valid record\n`));

  // The last record of an older segment: nothing follows it, but the next header says where it ended.
  const cut = copySpool();
  const last = records(path.join(cut, first))[2];
  fs.truncateSync(path.join(cut, first), last.offset + 8);
  const short = await verify(cut);
  assert.equal(short.code, 1);
  assert.deepEqual(short.rows.map(({ offset, what }) => [offset, what]),
    [[last.offset, 'no valid record'], [last.offset + 8, 'missing: the file is too short']]);
  assert.equal(short.rows[0].bytes + short.rows[1].bytes, last.length);

  // One copy of a header is enough.
  const headers = copySpool();
  flip(headers, first, 20);
  assert.equal((await verify(headers)).code, 0);
  flip(headers, first, 4096 + 20);
  assert.deepEqual(await verify(headers), { code: 1, rows: [
    { file: first, offset: 0, bytes: fs.statSync(path.join(headers, first)).size, what: 'no valid header' },
  ] });

  const renamed = copySpool();
  fs.copyFileSync(path.join(renamed, first), path.join(renamed, '0000000000000009.seg'));
  assert.deepEqual((await verify(renamed)).rows.map(({ file, what }) => [file, what]),
    [['0000000000000009.seg', 'no valid header']], 'its records would be counted twice');

  const later = copySpool();
  for (const at of [8, 4096 + 8]) {
    const bytes = fs.readFileSync(path.join(later, second));
    bytes.writeUInt32LE(99, at);
    fs.writeFileSync(path.join(later, second), bytes);
  }
  const [{ file, what }] = (await verify(later)).rows;
  assert.deepEqual([file, what], [second, 'of another version, not read']);
});

test('reports a state file that cannot be used, and leaves it where it is', async () => {
  const directory = copySpool();
  flip(directory, 'state', 20);
  const { stdout } = await spool('inspect', '--json', directory);
  assert.equal(JSON.parse(stdout)[0].kind, 'unusable');
  assert.deepEqual(fs.readdirSync(directory).sort(), [first, second, 'state']);
});

test('beside a collector that takes uploads nothing is called damaged, and none is refused', async () => {
  const collector = await startCollector({
    config: { database: 'host=/nowhere', spool: { path: path.join(temporaryDir('spool'), 'spool'), max_bytes: '512MiB', segment_bytes: '1MiB' },
      sites: [{ name: 'demo', key: 'pk_demo' }] },
  });
  running.push(collector);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
  const long = 'x'.repeat(900);
  const frames = Array.from({ length: 40 }, (_, i) => ({ name: `${long}${i}` }));
  const body = envelope({ trace: { resources: [], frames, stacks: frames.map((_, frameId) => ({ frameId })),
    samples: frames.map((_, stackId) => ({ timestamp: 10 * stackId, stackId })) } });
  let uploading = true;
  let acknowledged = 0;
  const clients = Array.from({ length: 8 }, async () => {
    while (uploading) {
      assert.equal((await send(`${collector.url}/v1/ingest/pk_demo`, { body, agent })).status, 204);
      acknowledged++;
    }
  });
  let looks = 0;
  for (const until = performance.now() + 60_000; looks < 8 || acknowledged < 200; looks++) {
    assert.ok(performance.now() < until, `${looks} looks, ${acknowledged} uploads`);
    const { code, stdout, stderr } = await spool('verify', '-c', collector.file);
    assert.deepEqual([code, stderr], [0, ''], stdout);
  }
  uploading = false;
  await Promise.all(clients);
  agent.destroy();
  const rows = JSON.parse((await spool('inspect', '--json', '-c', collector.file)).stdout);
  const segments = rows.filter((/** @type {any} */ { kind }) => kind === 'segment');
  assert.ok(segments.length > 1);
  const sum = (/** @type {string} */ name) => segments.reduce((/** @type {number} */ total, /** @type {any} */ row) => total + row[name], 0);
  assert.equal(sum('records'), acknowledged);
  assert.equal(sum('waiting'), acknowledged);
});

test('reports what is not a file or belongs to another user, without waiting for it', async () => {
  const directory = copySpool();
  const [pipe, folder] = ['00000000000000aa.seg', '00000000000000ab.seg'];
  await runOrThrow(['mkfifo', path.join(directory, pipe)]);
  fs.mkdirSync(path.join(directory, folder));
  const { code, stdout } = await spool('verify', '--json', directory);
  assert.equal(code, 1);
  assert.deepEqual(JSON.parse(stdout).map((/** @type {any} */ { file, what }) => [file, what]),
    [[pipe, 'no valid header'], [folder, 'no valid header']]);

  const closed = copySpool();
  for (const name of [first, 'state']) fs.chmodSync(path.join(closed, name), 0);
  for (const name of [path.dirname(closed), closed]) fs.chmodSync(name, 0o755);
  fs.chmodSync(path.join(closed, second), 0o644);
  const others = (/** @type {string} */ command) =>
    run([path.join(binDir, 'fleetprof'), 'spool', command, '--json', closed], { user: 'postgres' });
  const inspected = JSON.parse((await others('inspect')).stdout);
  assert.deepEqual(inspected.map((/** @type {any} */ { file, kind }) => [file, kind]),
    [['state', 'unusable'], [first, 'cannot be opened'], [second, 'segment']]);
  const verified = await others('verify');
  assert.equal(verified.code, 1);
  assert.match(JSON.parse(verified.stdout)[0].what, /Permission denied/);
});

test('wrong use is said', async () => {
  const wrong = temporaryDir('wrong');
  fs.writeFileSync(path.join(wrong, 'notes.txt'), 'no spool');
  for (const [args, what] of /** @type {[string[], RegExp][]} */ ([
    [['verify', '/nowhere/at/all'], /could not read the directory/],
    [['verify', wrong], /is not the directory of a spool/],
    [['inspect', '--json', wrong], /is not the directory of a spool/],
    [['inspect', '/tmp', '/tmp'], /one directory at a time/],
    [['inspect', '-c', '/nowhere/at/all.yaml'], /could not read the configuration/],
    [[], /Usage: fleetprof spool COMMAND/],
  ])) {
    const { code, stderr } = await spool(...args);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, what);
  }
});
