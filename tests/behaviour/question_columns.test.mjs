// SPDX-License-Identifier: Apache-2.0
/** tools/question-columns: what the command line shows above the columns of the catalogue of questions, and how. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { dimensions } from '../../tools/filters.mjs';
import { questions, shownAs } from '../../tools/questions.mjs';
import { repository, run, temporaryDir } from './stack.mjs';

const dir = temporaryDir('question_columns');

/** Writes the columns of a catalogue. @param {string[]} rows */
async function write(...rows) {
  const [source, output] = ['questions', 'columns.h'].map((name) => path.join(dir, name));
  fs.writeFileSync(source, `${rows.join('\n')}\n`);
  const { code, stderr } = await run([path.join(repository, 'tools/question-columns'), source, path.join(repository, 'schema/filters'), output]);
  return { code, stderr, text: fs.readFileSync(output, 'utf8') };
}

/** @param {string} text @param {string} question */
const columnsOf = (text, question) => [...(new RegExp(`#define FP_COLUMNS_OF_${question}\\(COLUMN\\)([^]*?)\n\n`).exec(text)?.[1] ?? assert.fail(question))
  .matchAll(/COLUMN\((.*)\)/g)].map(([, column]) => column);

test('the name and the type of a column say its heading and its cell', async () => {
  const { text } = await write('question | q | rows | what',
    'gives | name, function_key | text | x', 'gives | self_ms, self_ms_per_load, self_share, share | double precision | x',
    'gives | uploads, is_agent, since | bigint, boolean, timestamptz | x');
  assert.deepEqual(columnsOf(text, 'Q'), [
    '"name", "NAME", TEXT', '"function_key", "FUNCTION KEY", TEXT',
    '"self_ms", "SELF MS", MS', '"self_ms_per_load", "SELF MS/LOAD", MS', '"self_share", "SELF %", SHARE', '"share", "SHARE %", SHARE',
    '"uploads", "UPLOADS", INTEGER', '"is_agent", "IS AGENT", BOOLEAN', '"since", "SINCE", TIME',
  ]);
});

test('a bracket says what its name and type do not, for questions with the same column as well', async () => {
  const { text } = await write('question | first | rows | what',
    'gives | name [vital as word], unit [as word], script [as path] | text | x', 'gives | load_share [loads], change [as share] | double precision | x',
    'question | second | rows | what', 'gives | value | text | x', 'gives | load_share, name | | as in [`first`](#first)',
    'question | third | rows | what', 'gives | name | | as in [`second`](#second), for this row');
  assert.deepEqual(columnsOf(text, 'FIRST'), ['"name", "VITAL", WORD', '"unit", "UNIT", WORD', '"script", "SCRIPT", PATH', '"load_share", "LOADS %", SHARE', '"change", "CHANGE %", SHARE']);
  assert.deepEqual(columnsOf(text, 'SECOND'), ['"value", "VALUE", TEXT', '"load_share", "LOADS %", SHARE', '"name", "VITAL", WORD']);
  assert.deepEqual(columnsOf(text, 'THIRD'), ['"name", "VITAL", WORD']);
});

test('a column that cannot be shown is named', async () => {
  for (const [row, problem] of /** @type {[string, RegExp][]} */ ([
    ['gives | name [as sentence] | text | x', /questions:2: a column is shown as word, path or share, not as sentence/],
    ['gives | name | | x', /questions:2: a column has a type, or is as in another question/],
    ['gives | name | | as in [`other`](#other)', /other has no column name/],
    ['gives | name [vital] | | as in [`other`](#other)', /questions:2: a column as in another question has the label of that one/],
  ])) {
    const { code, stderr } = await write('question | q | rows | what', row);
    assert.notEqual(code, 0, row);
    assert.match(stderr, problem, row);
  }
});

test('the dimensions that all views have are texts under their own names', async () => {
  const { text } = await write('question | v | view | what', 'gives | site, {{dimensions}} | | as in [all views](#views)', 'gives | count | bigint | x');
  assert.ok(dimensions.length > 10, `${dimensions.length}`);
  assert.deepEqual(columnsOf(text, 'V'), [...['site', ...dimensions].map((name) => `"${name}", "${name.toUpperCase().replaceAll('_', ' ')}", TEXT`), '"count", "COUNT", INTEGER']);
});

test('no table of the command line writes a heading that the catalogue has', async () => {
  const { text } = await write(fs.readFileSync(path.join(repository, 'schema/questions'), 'utf8'));
  const known = new Set([...text.matchAll(/COLUMN\("\w+", "(.*)", \w+\)/g)].map(([, heading]) => heading));
  assert.ok(known.has('SELF MS/LOAD') && known.size > 100, `${known.size}`);
  const ask = path.join(repository, 'cli/ask');
  const written = fs.readdirSync(ask).flatMap((file) => [...fs.readFileSync(path.join(ask, file), 'utf8').matchAll(/\.heading = "([^"]*)"/g)].map(([, heading]) => `${file}: ${heading}`));
  assert.ok(written.length > 3, `${written.length}`);
  assert.deepEqual(written.filter((each) => known.has(each.split(': ')[1])), []);
});

test('the labels that the report shows are those of the command line', async () => {
  const { text } = await write(fs.readFileSync(path.join(repository, 'schema/questions'), 'utf8'));
  const all = questions.filter(({ kind }) => kind === 'rows' || kind === 'view');
  assert.ok(all.length > 40, `${all.length}`);
  for (const question of all) {
    const names = question.gives.flatMap((row) => row.names);
    const headings = columnsOf(text, question.name.toUpperCase()).map((column) => (/^"\w+", "(.*)", /.exec(column) ?? assert.fail(column))[1].replace(/ %$/, ''));
    assert.deepEqual(headings, names.map((name) => shownAs(question, name).label.toUpperCase()), question.name);
  }
  assert.throws(() => shownAs(questions[0], 'nothing'), /hotspots has no column nothing in schema\/questions/);
});
