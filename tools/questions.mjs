// SPDX-License-Identifier: Apache-2.0
/** The catalogue of questions, schema/questions, for programs in JavaScript. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { dimensions } from './filters.mjs';
import { vitals } from './vitals.mjs';

/**
 * Parameters of one row, or the filters of the function. Without a default one must be given.
 * @typedef {{ filters: string } | { names: string[], type: string, default: string | null, mayBeNull: boolean, options: string[], most: number | null, meaning: string }} Parameters
 *
 * Columns of one row. `as`: the question that also has them, with types; null: these are here.
 * @typedef {{ names: string[], types: string[], as: string | null, meaning: string }} Columns
 *
 * @typedef {object} Question
 * @property {string} name
 * @property {string} kind
 * @property {string} about
 * @property {{ route: string, command: string, order: string, time: string } | null} serves
 * @property {{ name: string, columns: string[] } | null} tool
 * @property {Parameters[]} takes
 * @property {Columns[]} gives
 * @property {string[]} example
 * @property {string[]} output
 */

const repository = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** The words that say which filters a function takes. */
const sets = ['filters', 'filters of samples', 'filters of both sides', 'dimensions of both sides', 'dimensions of each side'].flatMap((set) => [set, `${set} and vitals`]);

const list = (/** @type {string} */ text) => text.split(', ').filter(Boolean);

/** @type {Record<string, (question: Question, cells: string[], rest: string) => void>} */
const readers = {
  serves: (question, [route, command = '', order = '', time = '']) => { question.serves = { route, command, order, time }; },
  tool: (question, [name, columns = '']) => { question.tool = { name, columns: list(columns) }; },
  takes: (question, [names, type, options, meaning]) => {
    if (sets.includes(names)) { question.takes.push({ filters: names }); return; }
    const [, word, orNull, usual] = /^(.*?)( or null)?(?: = (.*))?$/.exec(type) ?? [];
    const most = /(?:^|, )at most (\d+)$/.exec(options)?.[1];
    question.takes.push({
      names: list(names), type: word, default: usual ?? null, mayBeNull: Boolean(orNull), options: list(options.replace(/(^|, )at most \d+$/, '')), most: most ? Number(most) : null, meaning,
    });
  },
  gives: (question, [columns, types, meaning]) => {
    const names = list(columns.replace(/ \[[^\]]*\]/g, '')).flatMap((column) => (column === '{{dimensions}}' ? dimensions : [column]));
    const as = types === '' ? /as in \[[^\]]*\]\(#(\w*)/.exec(meaning)?.[1] : null;
    if (as === undefined || names.some((name) => !/^\w+$/.test(name))) throw new Error(`${question.name}: ${columns} has no type, or no name`);
    question.gives.push({ names, types: list(types), as, meaning });
  },
  example: (question, _, rest) => question.example.push(rest),
  output: (question, _, rest) => question.output.push(rest),
};

/** Returns the entries of a catalogue. @param {string} text @returns {Question[]} */
export function parse(text) {
  /** @type {Question[]} */
  const all = [];
  const names = vitals.map(({ name }) => `\`${name}\``).join(', ');
  for (const line of text.replaceAll('{{vitals}}', () => names).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, word, rest] = /^(\w+) \| ?(.*)$/.exec(line) ?? [];
    const cells = rest?.split('|').map((cell) => cell.trim()) ?? [];
    const question = all.at(-1);
    if (word === 'question') all.push({ name: cells[0], kind: cells[1], about: cells[2], serves: null, tool: null, takes: [], gives: [], example: [], output: [] });
    else if (question && readers[word]) readers[word](question, cells, rest);
    else throw new Error(`schema/questions has the line "${line}"`);
  }
  return all;
}

export const questions = parse(fs.readFileSync(path.join(repository, 'schema/questions'), 'utf8'));

/** Returns a question. @param {string} name */
export function questionOf(name) {
  const question = questions.find((each) => each.name === name);
  if (!question) throw new Error(`schema/questions has no question ${name}`);
  return question;
}

/** Returns the row of a column where its type is: other questions have it as well. Null: all views have it. @param {Question} question @param {string} name @returns {Columns | null} */
function rowOf({ name: of, gives }, name) {
  const row = gives.find(({ names }) => names.includes(name));
  if (!row) throw new Error(`${of} has no column ${name} in schema/questions`);
  if (row.as === 'views') return null;
  return row.as === null ? row : rowOf(questionOf(row.as), name);
}

/** Returns the type of a column; '' of one that all views have. @param {Question} question @param {string} name */
export function typeOf(question, name) {
  const row = rowOf(question, name);
  if (!row) return '';
  return row.types.length === 1 ? row.types[0] : row.types[row.names.indexOf(name)];
}

/** The columns as tools/question-columns writes them, by question and name. @type {Map<string, { label: string, cell: string }>} */
const columns = new Map(execFileSync(path.join(repository, 'tools/question-columns'), ['questions', 'filters'].map((table) => path.join(repository, 'schema', table)), { encoding: 'utf8' })
  .trim().split('\n').map((line) => line.split('|')).map(([question, name, label, cell]) => [`${question} ${name}`, { label, cell }]));

/** Returns what people read above a column, without a capital and a percent sign, and its cell as in cli/kit/grid.h. @param {Question} question @param {string} name */
export function shownAs(question, name) {
  const column = columns.get(`${question.name} ${name}`);
  if (!column) throw new Error(`${question.name} has no column ${name} in schema/questions`);
  return column;
}
