// SPDX-License-Identifier: Apache-2.0
/**
 * get_events returns, row by row, the hand-computed tables of the generated Opera Scope sessions, which are in
 * tests/data/opera-scope/expected.md.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { send } from './collector_client.mjs';
import { repository, startStack, waitFor } from './stack.mjs';

const data = path.join(repository, 'tests/data/opera-scope');

/**
 * @typedef {{ kind: string, rows: string[][] }} Table kind: a mode, or `filter`
 * @typedef {{ file: string, session: number, timeline: number, tables: Table[] }} Section
 */

/**
 * Sections and their tables; a table's kind is the mode that the line above it begins with, or its first heading.
 * @param {string} text
 * @returns {Section[]}
 */
function parse(text) {
  return text.split(/^## /m).slice(1).map((section) => {
    const title = /^`([^`]+)`, session (\d+), timeline (\d+)\n/.exec(section);
    assert.ok(title, section.slice(0, 60));
    const tables = section.split('\n\n').filter((block) => block.startsWith('| ')).map((block) => {
      const lines = block.trim().split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
      const above = section.slice(0, section.indexOf(block));
      const mode = [...above.matchAll(/^`(all|reduce_\w+)`/gm)].at(-1)?.[1];
      return { kind: lines[0][0] === 'filter' ? 'filter' : String(mode), rows: lines.slice(2) };
    });
    return { file: title[1], session: Number(title[2]), timeline: Number(title[3]), tables };
  });
}

const sections = parse(fs.readFileSync(path.join(data, 'expected.md'), 'utf8'));

/** @type {import('./stack.mjs').Stack} */
let stack;
/** By file and the session's number in it. @type {Map<string, string>} */
const ids = new Map();

before(async () => {
  stack = await startStack();
  for (const file of new Set(sections.map((section) => section.file))) {
    const known = [...ids.values()];
    const reply = await send(`${stack.collector.url}/v1/ingest/pk_demo`, { body: fs.readFileSync(path.join(data, file)) });
    assert.equal(reply.status, 204, `${file}: ${reply.body}`);
    const wanted = new Set(sections.filter((section) => section.file === file).map(({ session }) => session));
    await waitFor(async () => {
      const kept = (await stack.sql('select session_id::text as id, source_id from fleetprof.sessions')).filter(({ id }) => !known.includes(id));
      for (const { id, source_id } of kept) ids.set(`${file} ${source_id}`, id);
      return kept.length === wanted.size;
    }, { what: `${file} in SQL` });
  }
});
after(() => stack?.stop());

/** @param {Section} section @param {string} mode @param {string} [filter] */
const events = ({ file, session, timeline }, mode, filter = '') =>
  stack.sql(`select * from fleetprof.get_events(${ids.get(`${file} ${session}`)}, ${timeline}, '${mode}'${filter && `, ${filter}`})`);

const us = (/** @type {string | number} */ ms) => Math.round(Number(ms) * 1000);
/** @param {(string | number)[]} sums self, overhead in ms, hits */
const sum = ([self, overhead, hits]) => [us(self), us(overhead), Number(hits)];
const sumOf = (/** @type {any} */ row) => [us(row.time_ms), us(row.overhead_ms), row.hits];

/** The ids in `2 to 10` or `7, 8, 9` or `none`. @param {string} text */
function range(text) {
  const [, first, last] = /^(\d+) to (\d+)$/.exec(text) ?? [];
  if (first !== undefined) return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  return text === 'none' ? [] : text.split(', ').map(Number);
}

/** A row's detail and URL as the tables write them. @param {any} row */
const described = ({ detail, resource }) => [
  ...Object.entries(detail ?? {}).map(([name, value]) =>
    `\`${name}\` ${name === 'area' ? ['x', 'y', 'w', 'h', 'ox', 'oy'].filter((key) => key in value).map((key) => value[key]).join(', ') : value}`),
  ...(resource === null ? [] : [`\`${resource}\``])].sort().join('; ');
/** @param {string} text */
const describedAs = (text) => text.split(/, (?=`)/).filter(Boolean).sort().join('; ');

/** @param {Section} section @param {string[][]} expected */
async function checkAll(section, expected) {
  const rows = await events(section, 'all');
  const levels = new Map();
  for (const row of [...rows].sort((a, b) => a.id - b.id)) levels.set(row.id, (levels.get(row.parent_id) ?? 0) + 1);
  assert.deepEqual(rows.sort((a, b) => a.id - b.id).map((row) => [row.id, row.type, row.parent_id, levels.get(row.id), ...sumOf(row),
    us(row.start_ms), us(row.end_ms), row.child_count]), expected.map(([id, type, parent, level, self, overhead, hits, start, end, children]) =>
    [Number(id), type, parent === '' ? null : Number(parent), Number(level), ...sum([self, overhead, hits]), us(start), us(end),
      children === 'not said' ? 0 : Number(children)]));
}

/** @param {Section} section @param {string} mode @param {string[][]} expected */
async function checkReduced(section, mode, expected) {
  const all = await events(section, 'all');
  const rows = await events(section, mode);
  assert.equal(expected.reduce((count, row) => count + Number(row.at(-1)), 0), all.filter(({ type }) => type !== 'PROCESS').length,
    'each event is in one row');
  const given = rows.map((row) => [row.type, ...(mode === 'reduce_unique_events' ? [described(row)] : []), ...sumOf(row)]);
  const wanted = expected.map((row) => [row[0], ...(mode === 'reduce_unique_events' ? [describedAs(row[1])] : []), ...sum(row.slice(-4, -1))]);
  assert.deepEqual(given.sort(), wanted.sort());
}

/** @param {Section} section @param {string[]} row */
async function checkFilter(section, [text, listed, ...sums]) {
  const filter = /^`([^`]+)`/.exec(text)?.[1] ?? '';
  assert.deepEqual((await events(section, 'all', filter)).map(({ id }) => id).sort((a, b) => a - b), range(listed), text);
  const reduced = await events(section, 'reduce_all', filter);
  assert.deepEqual(reduced.map((row) => [row.type, row.detail, row.resource, ...sumOf(row)]),
    sums[0] === '' ? [] : [['GENERIC', null, null, ...sum(sums)]], text);
  for (const mode of ['reduce_unique_types', 'reduce_unique_events']) {
    const parts = await events(section, mode, filter);
    const total = parts.map(sumOf).reduce((a, b) => a.map((value, i) => value + b[i]), [0, 0, 0]);
    assert.deepEqual(total, sums[0] === '' ? [0, 0, 0] : sum(sums), `${mode}, ${text}`);
  }
}

test('the tables cover all modes of every session', () => {
  assert.deepEqual([...new Set(sections.map(({ file }) => file))].sort(),
    fs.readdirSync(data).filter((name) => !name.endsWith('.md')).sort());
  assert.deepEqual([...new Set(sections.flatMap(({ tables }) => tables.map(({ kind }) => kind)))].sort(),
    ['all', 'filter', 'reduce_unique_events', 'reduce_unique_types']);
});

for (const section of sections) {
  for (const { kind, rows } of section.tables) {
    test(`${section.file}, session ${section.session}, timeline ${section.timeline}: ${kind}`, async () => {
      if (kind === 'filter') for (const row of rows) await checkFilter(section, row);
      else if (kind === 'all') await checkAll(section, rows);
      else await checkReduced(section, kind, rows);
    });
  }
}
