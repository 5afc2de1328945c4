#!/usr/bin/env node
/** fleetprof-function-table: reads bundled scripts and their source maps, prints function tables. */
import path from 'node:path';
import { parseArgs } from 'node:util';

import { TableError, tableOfFile } from './function_table.js';

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
  let code = 0;
  for (const script of given.positionals) {
    const file = path.resolve(script);
    try {
      if (!file.startsWith(base + path.sep)) throw new TableError(`${script}: is not below ${base}; name a directory of all scripts with --base`);
      process.stdout.write(tableOfFile(file, { base, root: path.resolve(given.values.root ?? '.') }).text);
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
      process.stderr.write(`fleetprof-function-table: ${error.message}\n`);
      code = 1;
    }
  }
  return code;
}

process.exitCode = main();
