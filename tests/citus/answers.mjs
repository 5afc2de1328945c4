// SPDX-License-Identifier: Apache-2.0
/**
 * Asks two databases the same queries and compares their rows, however floating sums were added up.
 */
import assert from 'node:assert/strict';

import { psqlProgram, run } from '../behaviour/stack.mjs';

const [field, record, end] = ['\x1f', '\x1e', '\x1d'];
/** A field that is a number (but not an id of 64 bits), or a floating number in a text. */
const number = new RegExp(`(?<=^|${field})-?\\d{1,15}(?=$|${field})|-?\\d+(?:\\.\\d+(?:e[+-]?\\d+)?|e[+-]?\\d+)`, 'gi');

/**
 * @typedef {object} Question
 * @property {string} sql one statement without a semicolon
 * @property {number} [tolerance] how much floating numbers may differ, relatively
 * @property {number} [least] smaller numbers may differ as much as this one
 *
 * @typedef {{ rows: string[], error: string }} Answer
 */

/**
 * Asks all in one session, as a dashboard would.
 * @param {string} conninfo
 * @param {string[]} statements
 * @param {string} [style] of dates
 * @returns {Promise<Answer[]>}
 */
export async function ask(conninfo, statements, style = 'ISO, YMD') {
  const script = statements.map((sql) => `${sql};\n\\echo '${end}':SQLSTATE :LAST_ERROR_MESSAGE\n`).join('');
  const { stdout, stderr } = await run([psqlProgram(), '-XqAt', '-F', field, '-R', record, '-d', conninfo], {
    input: `set datestyle = '${style}';\nset statement_timeout = '60s';\n\\set LAST_ERROR_MESSAGE ''\n${script}`,
  });
  const answers = stdout.split(end);
  assert.equal(answers.length, statements.length + 1, stderr);
  return statements.map((_, i) => {
    // The end mark of an answer precedes its state, in one line; then come the rows of the next answer.
    const rows = i === 0 ? answers[0] : answers[i].slice(answers[i].indexOf('\n') + 1);
    const state = answers[i + 1].slice(0, answers[i + 1].indexOf('\n'));
    return { rows: rows.replace(/\n$/, '').split(record).filter(Boolean), error: state.startsWith('00000') ? '' : state };
  });
}

/**
 * The same rows with their floating numbers apart, in an order that does not depend on those numbers' last digits.
 * @param {string[]} rows
 */
function sorted(rows) {
  return rows
    .map((row) => ({ text: row.replace(number, '#'), numbers: (row.match(number) ?? []).map(Number) }))
    .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : firstDifference(a.numbers, b.numbers)));
}

/** @param {number[]} a @param {number[]} b */
const firstDifference = (a, b) => a.map((value, i) => value - b[i]).find((difference) => difference !== 0) ?? 0;

/**
 * @param {Question} question
 * @param {Answer} expected
 * @param {Answer} actual
 * @returns {string | undefined} how they differ
 */
export function difference({ sql, tolerance = 1e-9, least = 1e-6 }, expected, actual) {
  if (expected.error !== actual.error) return `${sql}\n  expected ${expected.error || 'rows'}, got ${actual.error || 'rows'}`;
  if (expected.rows.length !== actual.rows.length) return `${sql}\n  expected ${expected.rows.length} rows, got ${actual.rows.length}`;
  const [wanted, given] = [sorted(expected.rows), sorted(actual.rows)];
  const bad = wanted.findIndex(({ text, numbers }, i) => text !== given[i].text
    || numbers.some((value, n) => Math.abs(value - given[i].numbers[n]) > tolerance * Math.max(Math.abs(value), least)));
  return bad < 0 ? undefined
    : `${sql}\n  expected ${JSON.stringify(wanted[bad]).slice(0, 400)}\n  got      ${JSON.stringify(given[bad]).slice(0, 400)}`;
}
