#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/** fleetprof-function-table: reads bundled scripts and their source maps, prints function tables. */
import path from 'node:path';
import { parseArgs } from 'node:util';

import { EmptyMapError, TableError, tableOfFile } from './function_table.js';

const usage = `usage: fleetprof-function-table [--base DIR] [--root DIR] SCRIPT...

Prints the functions of bundled scripts with what they were before, for \`fleetprof sourcemap add\`.
Each SCRIPT is a .js file, or .js.gz, with its source map in it, named by it, or beside it as SCRIPT.map.
Maps need not be deployed.

  --base DIR  names of scripts begin below this directory (default: that of the first SCRIPT);
              \`fleetprof sourcemap add --url-prefix\` is the URL of this directory
  --root DIR  paths of sources below this directory lose it (default: the working directory)

Exit code: 0 fine, 1 a script has no usable source map, 2 wrong use.
`;

function main() {
  let given;
  try {
    given = parseArgs({ allowPositionals: true, options: { base: { type: 'string' }, root: { type: 'string' }, help: { type: 'boolean' } } });
  } catch (error) {
    process.stderr.write(`fleetprof-function-table: ${/** @type {Error} */ (error).message}\n${usage}`);
    return 2;
  }
  if (given.values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (given.positionals.length === 0) {
    process.stderr.write(usage);
    return 2;
  }
  const base = path.resolve(given.values.base ?? path.dirname(given.positionals[0]));
  return printTables(given.positionals, base, path.resolve(given.values.root ?? '.'));
}

/** Prints the tables of scripts; returns the exit code. @param {string[]} scripts @param {string} base @param {string} root */
function printTables(scripts, base, root) {
  const say = (/** @type {string} */ text) => process.stderr.write(`fleetprof-function-table: ${text}\n`);
  let printed = 0;
  let failed = 0;
  /** @type {EmptyMapError[]} */
  const empty = [];
  for (const script of scripts) {
    const file = path.resolve(script);
    try {
      if (!file.startsWith(base + path.sep)) throw new TableError(`${script}: is not below ${base}; name a directory of all scripts with --base`);
      process.stdout.write(tableOfFile(file, { base, root, warn: (text) => say(`warning: ${text}`) }).text);
      printed += 1;
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      if (error instanceof EmptyMapError) empty.push(error);
      else {
        say(error.message);
        failed += 1;
      }
    }
  }
  // Beside scripts with sources, such a script is the bundler's own code.
  for (const error of empty) say(printed > 0 ? `warning: ${error.message}: left out` : error.message);
  return failed > 0 || (empty.length > 0 && printed === 0) ? 1 : 0;
}

process.exitCode = main();
