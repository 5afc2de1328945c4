// SPDX-License-Identifier: Apache-2.0
/**
 * Counts the words of the manual that people write and read, by kind of page, and holds each page to its budget.
 *
 *     node tools/manual/words.mjs             prints words by kind; fails for a page above its line in docs/budget
 *     node tools/manual/words.mjs --pages     prints words by page, in the form of docs/budget
 *
 * A page's kind is the chapter of docs/README.md that names it first. A word has a letter or a digit. Not counted:
 * blocks that tools/reference.mjs writes, except the rows of log.md, which people write; code blocks; docs/internals/, which
 * is for people who change fleetprof; docs/README.md, which is a list.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = process.env.FLEETPROF_MANUAL ?? fileURLToPath(new URL('../..', import.meta.url));
const read = (/** @type {string} */ name) => fs.readFileSync(path.join(root, name), 'utf8');

/** Returns the number of words that people wrote. @param {string} page */
export function wordsOf(page) {
  const byHand = page
    .replace(/^<!-- reference: (\w+)[\s\S]*?^<!-- \/reference -->$/gm, (block, kind) => (kind === 'log' ? block : ''))
    .replace(/^<!-- .* -->$/gm, '')
    .replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '')
    .replace(/\]\([^)\s]*\)/g, ']'); // where a link leads is not read
  return byHand.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** Returns the pages of each kind, by their names in docs/. @returns {Map<string, string[]>} */
export function pagesByKind() {
  /** @type {Map<string, string[]>} */
  const kinds = new Map();
  const seen = new Set();
  for (const chapter of read('docs/README.md').split(/^## /m).slice(1)) {
    const names = [...chapter.matchAll(/\]\(([\w-]+\.md)/g)].map(([, name]) => name).filter((name) => !seen.has(name) && seen.add(name));
    if (names.length) kinds.set(chapter.split('\n')[0], names);
  }
  return kinds;
}

/** Returns the most words of each page. @returns {Map<string, number>} */
const budgets = () => new Map([...read('docs/budget').matchAll(/^ *(\d+) (\S+)$/gm)].map(([, most, name]) => [name, Number(most)]));

function check() {
  const budget = budgets();
  let all = 0;
  for (const [kind, names] of pagesByKind()) {
    let words = 0;
    for (const name of names) {
      const own = wordsOf(read(`docs/${name}`));
      const most = budget.get(name);
      if (most === undefined) fail(`${name} has no line in docs/budget`);
      else if (own > most) fail(`${name} has ${own} words, ${most} are its budget: cut, or link to where the fact stands already`);
      budget.delete(name);
      words += own;
    }
    console.log(`${String(words).padStart(6)} ${kind}`);
    all += words;
  }
  const together = budget.get('together') ?? 0;
  budget.delete('together');
  console.log(`${String(all).padStart(6)} words by hand; not counted: generated tables, code blocks, internals`);
  if (all > together) fail(`the manual has ${all} words, ${together} are its budget`);
  for (const name of budget.keys()) fail(`docs/budget names ${name}, but docs/README.md does not`);
}

/** @param {string} message */
function fail(message) {
  console.error(`tools/manual/words: ${message}`);
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--pages')) {
    for (const name of [...pagesByKind().values()].flat().sort()) console.log(`${String(wordsOf(read(`docs/${name}`))).padStart(6)} ${name}`);
  } else check();
}
