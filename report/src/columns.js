// SPDX-License-Identifier: Apache-2.0
/** Columns of tables, with the labels of the catalogue of questions. */
import { zone } from './format.js';
import { kindOf, labelOf } from './label.js';
import { columns } from './question_rows.js';

const kinds = /** @type {Record<string, 'share' | 'number' | 'count'>} */ ({ '%': 'share', '#': 'number', '+': 'count' });

/** Returns the label and the kind of a column of the catalogue. @param {string} name @param {string | undefined} written */
export function labelled(name, written = '') {
  const kind = kinds[written[0]];
  return { label: ((kind ? written.slice(1) : written) || labelOf(name)).replace('UTC', zone), kind: kind ?? kinds[kindOf(name) ?? ''] ?? /** @type {const} */ ('text') };
}

/**
 * Returns columns of a question, in the order of `own`, which has what a view says or shows in another way.
 * @template {keyof typeof columns} Name
 * @param {Name} question @param {{ [column in keyof typeof columns[Name]]?: Partial<import('./table.js').Column> }} own by name
 */
export const columnsOf = (question, own) => Object.entries(own).map(([name, more]) => {
  return /** @type {import('./table.js').Column} */ ({ name, ...labelled(name, /** @type {Record<string, string | undefined> | undefined} */ (columns[question])?.[name]), ...more });
});
