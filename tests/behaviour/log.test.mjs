/**
 * docs/log.md has every line that fleetprofd can log, with its levels and fields, and no other.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository } from './stack.mjs';

/** @typedef {{ levels: string[], fields: string[] }} Line */

const page = fs.readFileSync(path.join(repository, 'docs/log.md'), 'utf8');

/** Sources of the collector, but the log's own. */
const sources = /** @type {string[]} */ (fs.readdirSync(path.join(repository, 'collector'), { recursive: true }))
  .filter((file) => file.endsWith('.c') && file !== 'base/log.c').map((file) => path.join(repository, 'collector', file));

/** Arguments of each call of a function in C, as written. @param {string} code @param {string} name */
function* calls(code, name) {
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
function linesOf(files) {
  const lines = new Map();
  const add = (/** @type {string} */ message, /** @type {string} */ level, /** @type {string} */ fields) => {
    const known = lines.get(message) ?? { levels: [], fields: [] };
    const levels = [...level.matchAll(/FP_LOG_([A-Z]+)/g)].map(([, name]) => name.toLowerCase());
    const keys = literalsOf(fields).flatMap((text) => [...text.matchAll(/(\w+)=%/g)].map(([, key]) => key));
    lines.set(message, { levels: [...new Set([...known.levels, ...levels])].sort(), fields: [...new Set([...known.fields, ...keys])] });
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

/** @returns {Map<string, Line>} */
function documented() {
  const rows = [...page.matchAll(/^\| ([a-z, ]+) \| `([^`]+)` \| (.*?) ?\| (.+?) \| ?(.*?) ?\|$/gm)];
  const lines = rows.map(([, levels, message, fields, meaning]) => {
    assert.ok(meaning.length > 5, message);
    return /** @type {[string, Line]} */ ([message, { levels: levels.split(', ').sort(), fields: [...fields.matchAll(/`(\w+)`/g)].map(([, key]) => key) }]);
  });
  assert.equal(new Set(lines.map(([message]) => message)).size, lines.length, 'a message stands twice');
  return new Map(lines);
}

test('the manual has every message with its levels and fields, and no other', () => {
  const logged = linesOf(sources);
  assert.ok(logged.size > 35, `${logged.size} messages`);
  assert.deepEqual(Object.fromEntries([...documented()].sort()), Object.fromEntries([...logged].sort()));
});

test('a message, a level or a field that is only in the code is noticed', () => {
  const file = path.join(repository, 'collector/writer/writer.c');
  const lines = linesOf([file]);
  assert.deepEqual(lines.get('flush failed, tried again until it works; the spool keeps uploads'),
    { levels: ['error', 'warn'], fields: ['state', 'failing_s', 'tries', 'detail', 'hint'] });
  assert.deepEqual(lines.get('connected to the database'), { levels: ['info'], fields: ['position'] });
  const [args] = calls('x(); fp_log(FP_LOG_INFO, "a, (b) \\" " "c", f(1, 2) ? "k=%d" : "l=%s", \')\', /* ) */ 3);', 'fp_log');
  assert.deepEqual(args, ['FP_LOG_INFO', '"a, (b) \\" " "c"', 'f(1, 2) ? "k=%d" : "l=%s"', "')'", '/* ) */ 3']);
});

test('every link of the page leads to a section', () => {
  const anchor = (/** @type {string} */ heading) => heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
  const links = [...page.matchAll(/\]\((\w+\.md)(?:#([\w-]+))?\)/g)];
  assert.ok(links.length > 10);
  for (const [, file, section] of links) {
    const headings = [...fs.readFileSync(path.join(repository, 'docs', file), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading));
    assert.ok(!section || headings.includes(section), `${file}#${section}`);
  }
});
