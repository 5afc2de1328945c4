// SPDX-License-Identifier: Apache-2.0
/** Plugin for esbuild: writes the function table of a build. */
import fs from 'node:fs';
import path from 'node:path';

import { optionsOf, writeTable } from './build.js';
import { TableError } from './function_table.js';

const name = 'fleetprof-function-table';

/**
 * True for a script that esbuild made: with source maps, one without a map was copied, by the loader `file` or `copy`.
 * @param {string} file @param {import('esbuild').Metafile['outputs']} outputs @param {import('esbuild').BuildOptions} options @param {string} dir
 */
function isBuilt(file, outputs, { sourcemap }, dir) {
  if (!sourcemap || !/\.[cm]?js$/i.test(file)) return true;
  return sourcemap === 'inline' ? fs.readFileSync(path.resolve(dir, file)).includes('sourceMappingURL=data:') : Object.hasOwn(outputs, `${file}.map`);
}

/**
 * Returns the plugin. The build needs source maps: `sourcemap: 'external'` makes some that no script names.
 * @param {import('./build.js').PluginOptions} [options]
 * @returns {import('esbuild').Plugin}
 */
export default function fleetprof(options) {
  const wanted = optionsOf(options);
  return {
    name,
    setup(build) {
      const { initialOptions: given } = build;
      const dir = path.resolve(given.absWorkingDir ?? '.');
      given.metafile = true;
      build.onEnd(({ metafile, errors }) => {
        if (errors.length > 0 || !metafile) return undefined;
        if (given.write === false) return { errors: [{ text: 'the function table needs scripts on disk: leave out write: false' }] };
        const base = path.resolve(dir, given.outdir ?? path.dirname(given.outfile ?? '.'));
        try {
          const files = Object.keys(metafile.outputs).filter((file) => isBuilt(file, metafile.outputs, given, dir));
          const warning = writeTable(base, files.map((file) => [path.relative(base, path.resolve(dir, file)), null]), wanted);
          return warning ? { warnings: [{ text: warning }] } : undefined;
        } catch (error) {
          if (!(error instanceof TableError)) throw error;
          return { errors: [{ text: error.message }] };
        }
      });
    },
  };
}
