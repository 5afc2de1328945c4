// SPDX-License-Identifier: Apache-2.0
/**
 * The entries of the manual: what its tables name in their first column, and headings that are names.
 *
 *     node tests/manual_entries.mjs       prints them, in the form of tests/data/manual_entries
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** @param {string} docs the manual's folder @returns {string[]} paths of its pages */
export const pagesIn = (docs) => fs.readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md') && !name.startsWith('internals/decisions')).map((name) => path.join(docs, name)).sort();

/** @param {string} page @returns {string[]} */
export function entriesOf(page) {
  const cells = [...page.matchAll(/^\| (.*?[^\\]) \|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  const headings = [...page.matchAll(/^#{2,} `?([a-z][\w-]*)`?$/gm)].map(([, name]) => name);
  return [...cells.map((name) => name.replaceAll('\\|', '|')), ...headings];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const docs = process.argv[2] ?? fileURLToPath(new URL('../docs', import.meta.url));
  const all = new Set(pagesIn(docs).flatMap((page) => entriesOf(fs.readFileSync(page, 'utf8'))));
  console.log([...all].sort().join('\n'));
}
