// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the page from src/ into dist/: `node report/build.mjs`. `--check` says whether dist/ is what would be built. Fails
 * if script and style together are larger than a slow connection should have to carry.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import esbuild from 'esbuild';

import { kindOf, labelOf } from './src/label.js';
import { filters } from '../tools/filters.mjs';
import { questionOf, questions, shownAs } from '../tools/questions.mjs';
import { vitals } from '../tools/vitals.mjs';

const room = path.dirname(fileURLToPath(import.meta.url));
const mostBytes = 75_000;

/** The page's copy of schema/filters. */
const filterRows = `// SPDX-License-Identifier: Apache-2.0
/** The rows of schema/filters. Made by report/build.mjs. @type {{ name: string, of: string, help: string }[]} */
export const rows = [
${filters.map(({ name, of, plain }) => `  { name: ${quoted(name)}, of: ${quoted(of)}, help: ${quoted(plain)} },`).join('\n')}
];
`;

/** Its copy of schema/vitals. */
const vitalRows = `// SPDX-License-Identifier: Apache-2.0
/** The rows of schema/vitals. Made by report/build.mjs. @type {{ name: string, unit: string, good: number, poor: number }[]} */
export const rows = [
${vitals.map(({ name, unit, good, poor }) => `  { name: ${quoted(name)}, unit: ${quoted(unit)}, good: ${good}, poor: ${poor} },`).join('\n')}
];
`;

/** Returns the names of a question's columns. @param {string} name */
function namesOf(name) {
  return questionOf(name).gives.flatMap(({ names }) => names);
}

/** How the report writes cells; others are texts. @type {Record<string, string>} */
const kinds = { SHARE: '%', MS: '#', INTEGER: '+' };

/** Returns a label as a heading; percentiles stay as they are. @param {string} label */
function capital(label) {
  return label.replace(/^[a-z](?!\d)/, (letter) => letter.toUpperCase());
}

/** Returns a column of the page's copy: its kind, and its label unless label.js has it from the name. @param {string} question @param {string} name */
function columnRow(question, name) {
  const { label, cell } = shownAs(questionOf(question), name);
  const written = capital(label);
  if (kindOf(name) && !kinds[cell]) throw new Error(`${question}: ${name} is a text, and label.js takes it for a number`);
  const row = (kinds[cell] === kindOf(name) ? '' : kinds[cell] ?? '') + (written === labelOf(name) ? '' : written);
  return row && `    ${name}: ${quoted(row)},\n`;
}

/** Returns the columns of a question that views show. @param {string} name */
const shownOf = (name) => namesOf(name).filter((column) => !unseen.test(column) && isUsed(name, column));

/** Columns that no view shows under their own heading. */
const unseen = /^(generated_|is_|function_key$|seen_share$)/;

/** The page's own files, but the copies that this script writes. */
const sources = ['src', 'src/views'].flatMap((folder) => fs.readdirSync(path.join(room, folder)).filter((name) => /(?<!_rows)\.js$/.test(name))
  .map((name) => fs.readFileSync(path.join(room, folder, name), 'utf8')));

/** True if a file names the question. @param {string} question */
const asks = (question) => sources.some((text) => text.includes(`'${question}'`));

/**
 * True if a file that names the question also has the column as a member of an object, as `columnsOf` takes it, or of an
 * explained question, in a list.
 * @param {string} question @param {string} column
 */
const isUsed = (question, column) => sources.some((text) => text.includes(`'${question}'`)
  && new RegExp(explained.includes(question) ? `'${column}'|\\b${column}: {` : `\\b${column}(?:: |,)`).test(text));

/** Questions whose rows a view shows as a table. */
const shown = ['sites', 'hotspots', 'timings', 'callers', 'function_by', 'cost_by', 'vitals', 'budgets', 'vital_parts', 'vital_elements', 'ttfb_parts', 'profiling_cost', 'interactions', 'waits', 'long_frames', 'third_parties',
  'compare_releases', 'compare_costs', 'change_parts', 'compare_timings', 'compare_vitals', 'coverage', 'sessions'];

/** Questions whose one row is shown as a column, each name with its meaning. */
const explained = ['coverage'];

/** Returns the meanings of a question's columns, without Markdown. @param {string} name */
function meaningsOf(name) {
  return questionOf(name).gives.flatMap(({ names, meaning }) => names.filter((each) => isUsed(name, each)).map((each) => `    ${each}: ${quoted(meaning.replace(/`|\[|\]\([^)]*\)/g, ''))},\n`)).join('');
}

/** Its copy of schema/questions: the filters that each question takes, and the headings of its columns. */
const questionRows = `// SPDX-License-Identifier: Apache-2.0
/** Questions of schema/questions that the page asks, and the filters that they take, if not filters of page loads alone. Made by report/build.mjs. @type {Record<string, string>} */
export const filterSets = {
${questions.flatMap(({ serves, takes }) => takes.flatMap((row) => (serves && asks(serves.route) && 'filters' in row && row.filters !== 'filters' ? [`  ${serves.route}: ${quoted(row.filters.replace(/^dimensions/, 'filters'))},`] : []))).join('\n')}
};

/** Columns of the questions that views show as tables, as columns.js reads them: what their names say is in the type only. Made by report/build.mjs. */
export const columns = /** @type {{
${shown.map((name) => ` * ${name}: Record<${shownOf(name).map(quoted).join(' | ')}, string | undefined>,`).join('\n')}
 * }} */ ({
${shown.map((name) => [name, shownOf(name).map((column) => columnRow(name, column)).join('')]).filter(([, rows]) => rows).map(([name, rows]) => `  ${name}: {\n${rows}  },`).join('\n')}
});

/** The meanings of columns, where views say them. Made by report/build.mjs. */
export const meanings = {
${explained.map((name) => `  ${name}: {\n${meaningsOf(name)}  },`).join('\n')}
};
`;

/** @param {string} text */
function quoted(text) {
  return `'${text.replaceAll("'", "\\'")}'`;
}

/** True if a file has this text. @param {string} file @param {string} text */
const has = (file, text) => fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text;

for (const [table, text] of [['filter', filterRows], ['question', questionRows], ['vital', vitalRows]]) {
  const file = path.join(room, `src/${table}_rows.js`);
  if (!process.argv.includes('--check')) {
    fs.writeFileSync(file, text);
  } else if (!has(file, text)) {
    console.error(`report/src/${table}_rows.js is not what schema/${table}s gives: run node report/build.mjs`);
    process.exitCode = 1;
  }
}

/** @param {string} entry */
async function bundle(entry) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(room, 'src', entry)], bundle: true, minify: true, format: 'esm', target: ['chrome115', 'firefox115'], write: false,
    tsconfigRaw: '{}', legalComments: 'none', logLevel: 'error',
  });
  return outputFiles[0].text;
}

const files = {
  'report.js': await bundle('main.js'),
  'report.css': await bundle('style.css'),
  'index.html': fs.readFileSync(path.join(room, 'src/index.html'), 'utf8'),
};
const compressed = (/** @type {string} */ text) => gzipSync(text, { level: 9 }).length;
const size = compressed(files['report.js']) + compressed(files['report.css']);
if (size > mostBytes) {
  console.error(`script and style are ${size} bytes compressed; ${mostBytes} are allowed`);
  process.exitCode = 1;
}

const dist = path.join(room, 'dist');
if (process.argv.includes('--check')) {
  for (const [name, text] of Object.entries(files)) {
    if (has(path.join(dist, name), text)) continue;
    console.error(`report/dist/${name} is not what report/src gives: run node report/build.mjs`);
    process.exitCode = 1;
  }
} else {
  fs.mkdirSync(dist, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(dist, name), text);
    console.log(`${name}: ${text.length} bytes, ${compressed(text)} compressed`);
  }
}
