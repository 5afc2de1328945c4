// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof validate, import and session export over all formats: they report what is read, kept and refused, the same file counts
 * once, and a kept session can be exported and imported again.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { binDir, repository, run, temporaryDir } from './stack.mjs';

const dir = temporaryDir('cli-sessions');

/** @param {string[]} args @param {Parameters<typeof run>[1]} [options] */
const fleetprof = (args, options) => run([path.join(binDir, 'fleetprof'), ...args], options);

/** @param {string} name */
const data = (name) => path.join(repository, 'tests/data', name);

/** @param {string} name @param {string} content */
function file(name, content) {
  const full = path.join(dir, name);
  fs.writeFileSync(full, content);
  return full;
}

/** @param {string[]} files @returns {Promise<any[]>} */
async function validated(...files) {
  const { code, stdout, stderr } = await fleetprof(['validate', '--json', ...files]);
  assert.equal(stderr, '');
  assert.equal(code, 0);
  return JSON.parse(stdout);
}

/** @param {any} row of the report on a file's records */
const report = ({ truncated, records_read, records_kept, notes }) => ({ truncated, records_read, records_kept, notes });

// Two good records, one with a bad child; one that is not JSON; and one that was cut off before its end.
const lines = [
  '{"type":12,"time":10,"sequence":0}',
  '{"type":1,"time":11,"duration":5,"children":[{"type":2,"time":12,"duration":-1}],"sequence":1}',
  '{"type":nonsense}',
  '{"type":12,"time":30,"sequ',
];
const dump = lines.join('\n');
const offsets = lines.map((_, i) => lines.slice(0, i).join('\n').length + (i > 0 ? 1 : 0));

test('validate tells what of a dump was read, kept and refused, and the first place of each', async () => {
  const [row] = await validated(file('dump.ndjson', dump));
  assert.equal(row.valid, true);
  assert.equal(row.events, 2);
  assert.equal(row.timelines, 1);
  assert.deepEqual(report(row), {
    truncated: true, records_read: 5, records_kept: 2, notes: [
      { text: 'a record that is not JSON', refused: true, count: 1, first: offsets[2], unit: 'byte' },
      { text: 'a truncated record', refused: true, count: 1, first: offsets[3], unit: 'byte' },
      { text: 'a duration below zero', refused: true, count: 1, first: offsets[1], unit: 'byte' },
    ],
  });
});

test('validate says it in words under the table', async () => {
  const full = file('dump.ndjson', dump);
  const { code, stdout, stderr } = await fleetprof(['validate', full, data('three-1500ms.json')]);
  assert.equal(stderr, '');
  assert.equal(code, 0);
  const [, , , ...said] = stdout.split('\n');
  assert.deepEqual(said, [
    `${full}: 2 of 5 records kept, truncated: some of it is missing`,
    `  refused: a record that is not JSON (1, the first at byte ${offsets[2]})`,
    `  refused: a truncated record (1, the first at byte ${offsets[3]})`,
    `  refused: a duration below zero (1, the first at byte ${offsets[1]})`,
    '',
  ]);
});

test('records in an array are counted, not measured in bytes', async () => {
  const post = { header: { timeStamp: 1277201472123 }, data: [{ type: 12, time: 1 }, { type: 12, time: 'x' }, { type: 12, time: 2 }, 7] };
  const [row] = await validated(file('post.json', JSON.stringify(post)));
  assert.deepEqual(report(row), { truncated: false, records_read: 4, records_kept: 2, notes: [
    { text: 'a value among the records that is not an object', refused: true, count: 1, first: 3, unit: 'element' },
    { text: 'a time that is not a number, or beyond 2^53 microseconds', refused: true, count: 1, first: 1, unit: 'element' },
  ] });
});

test('of an envelope of Opera Scope it points to the place', async () => {
  const scope = { version: '1.1', session: [1, 2, [[1], [2]]], timelines: [
    { request: [1, 1], reply: [null, [[10, 1, 0, 1]]] }, { request: [1, 2], reply: [null, [[10, 1, 0, 1], [10, -1, 0, 1]]] } ] };
  const full = file('scope.json', JSON.stringify({ 'opera-scope': scope }));
  const [row] = await validated(full);
  const text = 'an event whose time is not a number of milliseconds from 0';
  const first = '/opera-scope/timelines/1/reply/1/1';
  assert.deepEqual(row.notes, [{ text, refused: true, count: 1, first, unit: 'pointer' }]);
  assert.ok((await fleetprof(['validate', full])).stdout.endsWith(`  refused: ${text} (1, the first at ${first})\n`));
});

test('names the lines of an Opera Scope recording that are not part of a session', async () => {
  const [row] = await validated(data('opera-scope/recording.jsonl'));
  const text = fs.readFileSync(data('opera-scope/recording.jsonl'), 'latin1');
  assert.equal(row.records_read, row.records_kept);
  assert.equal(row.events, row.records_kept);
  assert.ok(row.notes.length > 0);
  for (const note of row.notes) {
    assert.equal(note.unit, 'byte');
    assert.equal(note.first === 0 ? '\n' : text[note.first - 1], '\n', `${note.text} begins a line`);
  }
});

test('reports each session of a recording by its number', async () => {
  const full = data('opera-scope/recording-two.txt');
  const rows = await validated(full);
  assert.deepEqual(rows.map(({ file, session, events, timelines, profiled_ms }) => ({ file, session, events, timelines, profiled_ms })), [
    { file: full, session: 5, events: 2, timelines: 1, profiled_ms: 4.5 },
    { file: full, session: 6, events: 2, timelines: 2, profiled_ms: 2.25 },
  ]);
  assert.deepEqual(rows.map((row) => row.notes.length), [1, 0]);
  const lines = (await fleetprof(['validate', full])).stdout.split('\n');
  assert.match(lines[1], /recording-two\.txt, session 5\topera-scope\t.*\t4\.5\t.*\t2$/);
  assert.match(lines[2], /recording-two\.txt, session 6\topera-scope\t/);
  assert.match(lines[3], /recording-two\.txt: 2 sessions, each an upload$/);
  assert.match(lines[4], /recording-two\.txt, session 5: 2 of 2 records kept$/);
  assert.match(lines[5], /^ {2}refused: a frame of another service \(2, /);
  assert.match(lines[6], /recording-two\.txt, session 6: 2 of 2 records kept$/);
});

test('also reports what User Timing skips or finds out of order', async () => {
  const mark = (/** @type {string} */ name, /** @type {number} */ startTime) => ({ name, entryType: 'mark', startTime, duration: 0 });
  const full = file('entries.json', JSON.stringify([mark('b', 2), mark('a', 1), { entryType: 'element', name: 'x', startTime: 1, duration: 0 }, mark('c', 0)]));
  const [row] = await validated(full);
  assert.deepEqual(report(row), { truncated: false, records_read: 4, records_kept: 3, notes: [
    { text: 'an entry of a type that is not read', refused: true, count: 1, first: 2, unit: 'element' },
    { text: 'a mark that is earlier than the one before it', refused: false, count: 2, first: 1, unit: 'element' },
  ] });
  assert.match((await fleetprof(['validate', full])).stdout, /entries\.json: 3 of 4 entries kept\n {2}refused: an entry .* \(1, the first at element 2\)\n {2}noted: a mark .* \(2, the first at element 1\)\n$/);
});

test('a file of which there is nothing to tell has no report, one that is invalid neither', async () => {
  const bad = file('bad.ndjson', '{"type":12,"time":"x"}\n');
  const { code, stdout, stderr } = await fleetprof(['validate', data('three-1500ms.json'), bad]);
  assert.equal(code, 1);
  assert.match(stderr, /bad\.ndjson: /);
  assert.equal(stdout.trimEnd().split('\n').length, 2);
  const { stdout: json } = await fleetprof(['validate', '--json', bad]);
  assert.deepEqual(report(JSON.parse(json)[0]), { truncated: null, records_read: null, records_kept: null, notes: null });
});
