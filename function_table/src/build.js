// SPDX-License-Identifier: Apache-2.0
/** Shared by the plugins for bundlers: the function table of a build that is on disk. */
import fs from 'node:fs';
import path from 'node:path';

import { tableName, tableOfFile } from './function_table.js';

/**
 * @typedef {object} PluginOptions
 * @property {string} [file] where the table is written, from the directory of the bundle on (default: function-table.jsonl)
 * @property {string} [root] paths of sources below this directory lose it (default: the working directory)
 */

/**
 * Returns the options of a plugin with their defaults.
 * @param {PluginOptions} [options]
 * @returns {Required<PluginOptions>}
 */
export function optionsOf(options = {}) {
  for (const [name, value] of Object.entries(options)) {
    if (name !== 'file' && name !== 'root') throw new TypeError(`fleetprof function table: there is no option "${name}"; there are file and root`);
    if (value !== undefined && (typeof value !== 'string' || value === '')) throw new TypeError(`fleetprof function table: ${name} is the path of a ${name === 'file' ? 'file' : 'directory'}`);
  }
  return { file: options.file ?? tableName, root: path.resolve(options.root ?? '.') };
}

/**
 * Writes the table of a build's scripts; of scripts without functions only if there are no others.
 * Throws a TableError that says which script has no usable source map.
 * @param {string} base directory of the bundle
 * @param {Iterable<[string, string | null | undefined]>} files names below it, of any kind, each with that of its source map if the bundler says it
 * @param {Required<PluginOptions> & { context?: string }} options context: where webpack's paths begin
 * @returns {string | null} a warning
 */
export function writeTable(base, files, { file, root, context }) {
  const scripts = [...files].filter(([name]) => /\.[cm]?js$/i.test(name)).sort(([a], [b]) => (a < b ? -1 : 1));
  if (scripts.length === 0) return null;
  /** @type {string[]} */
  const warnings = [];
  const warn = (/** @type {string} */ text) => { warnings.push(text); };
  const tables = scripts.map(([name, map]) => tableOfFile(path.join(base, name), { base, root, map: map ? path.join(base, map) : undefined, context, isOwnMap: true, warn }));
  const full = tables.filter(({ rows }) => rows.length > 0);
  const target = path.resolve(base, file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, (full.length > 0 ? full : tables).map(({ text }) => text).join(''));
  if (full.length === 0) warnings.push(`${target}: names nothing: no function of the build's scripts comes from its sources`);
  return warnings.length > 0 ? warnings.join('\n') : null;
}
