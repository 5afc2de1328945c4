/** Plugin for esbuild: writes the function table of a build. */
import path from 'node:path';

import { optionsOf, writeTable } from './build.js';
import { TableError } from './function_table.js';

const name = 'fleetprof-function-table';

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
          const warning = writeTable(base, Object.keys(metafile.outputs).map((file) => [path.relative(base, path.resolve(dir, file)), null]), wanted);
          return warning ? { warnings: [{ text: warning }] } : undefined;
        } catch (error) {
          if (!(error instanceof TableError)) throw error;
          return { errors: [{ text: error.message }] };
        }
      });
    },
  };
}
