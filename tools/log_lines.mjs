// SPDX-License-Identifier: Apache-2.0
/** The lines that fleetprofd can log, as its sources have them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Levels from the least to the most serious; fields in the order of the line. @typedef {{ levels: string[], fields: string[] }} Line */

const repository = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');
const severities = ['info', 'warn', 'error'];

/** Sources of the collector, but the log's own. */
export const sources = /** @type {string[]} */ (fs.readdirSync(path.join(repository, 'collector'), { recursive: true }))
  .filter((file) => file.endsWith('.c') && file !== 'base/log.c').map((file) => path.join(repository, 'collector', file));

/** Arguments of each call of a function in C, as written. @param {string} code @param {string} name */
export function* calls(code, name) {
  for (const { index } of code.matchAll(new RegExp(`\\b${name}\\(`, 'g'))) {
    const args = [''];
    let depth = 0;
    const tokens = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\*.*?\*\/|[\s\S]/gs;
    tokens.lastIndex = index + name.length;
    for (let token; (token = tokens.exec(code)?.[0]) !== undefined;) {
      if (token === '(' && depth++ === 0) continue;
      if (token === ')' && --depth === 0) break;
      if (token === ',' && depth === 1) args.push('');
      else args[args.length - 1] += token;
    }
    yield args.map((arg) => arg.trim());
  }
}

/** @param {string} expression */
const literalsOf = (expression) => [...expression.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text);

/** One literal after the other is one text in C. @param {string} expression */
const textOf = (expression) => literalsOf(expression).join('');

/** @param {string[]} files @returns {Map<string, Line>} by message */
export function linesOf(files) {
  const lines = new Map();
  const add = (/** @type {string} */ message, /** @type {string} */ level, /** @type {string} */ fields) => {
    const known = lines.get(message) ?? { levels: [], fields: [] };
    const levels = [...level.matchAll(/FP_LOG_([A-Z]+)/g)].map(([, name]) => name.toLowerCase());
    const keys = literalsOf(fields).flatMap((text) => [...text.matchAll(/(\w+)=%/g)].map(([, key]) => key));
    lines.set(message, { levels: severities.filter((level) => [...known.levels, ...levels].includes(level)), fields: [...new Set([...known.fields, ...keys])] });
  };
  for (const file of files) {
    const code = fs.readFileSync(file, 'utf8');
    for (const [level, message, fields] of calls(code, 'fp_log')) {
      if (message === 'what') for (const [what] of [...calls(code, 'fail')].slice(1)) add(textOf(what), level, fields);
      else {
        assert.match(message, /^("|[A-Z_]+ ")/, `${file}: a message must be a literal, so that the manual can have it: ${message}`);
        add(textOf(message), level, fields);
      }
    }
  }
  return lines;
}
