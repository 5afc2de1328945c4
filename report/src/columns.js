// SPDX-License-Identifier: Apache-2.0
/** Columns of tables, with the labels of the catalogue of questions. */
import { columns } from './question_rows.js';

/**
 * Returns columns of a question, in the order of `own`, which has what a view says or shows in another way.
 * @template {keyof typeof columns} Name
 * @param {Name} question @param {{ [column in keyof typeof columns[Name]]?: Partial<import('./table.js').Column> }} own by name
 */
export const columnsOf = (question, own) => Object.entries(own).map(([name, more]) => {
  const [label, kind] = /** @type {Record<string, [string, string]>} */ (columns[question])[name];
  return /** @type {import('./table.js').Column} */ ({ name, label, kind, ...more });
});
