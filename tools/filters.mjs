// SPDX-License-Identifier: Apache-2.0
/** The table of filters, schema/filters, for programs in JavaScript. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A row; schema/filters explains the columns. plain: the help without Markdown; option: of the command line, without --.
 * @typedef {{ name: string, of: 'loads' | 'sides' | 'samples' | 'vitals', default: string, placeholder: string, one: string, many: string, strata: 'always' | 'enough' | 'no' | '', help: string, plain: string, option: string }} Filter
 */

const repository = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Returns the rows of a table of filters. @param {string} text @returns {Filter[]} */
export function parse(text) {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const [name, of, usual, placeholder, one, many, strata, help] = line.split('|').map((cell) => cell.trim());
    return { name, of: /** @type {Filter['of']} */ (of), default: usual, placeholder, one, many, strata: /** @type {Filter['strata']} */ (strata), help, plain: help.replace(/`|\[|\]\([^)]*\)/g, ''), option: name.replaceAll('_', '-') };
  });
}

export const filters = parse(fs.readFileSync(path.join(repository, 'schema/filters'), 'utf8'));
/** The names of those that are columns of a segment. */
export const dimensions = filters.filter(({ of }) => of === 'loads' || of === 'sides').map(({ name }) => name);
