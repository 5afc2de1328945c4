/** Plugin for Rollup, Rolldown and Vite: writes the function table of a build. */
import path from 'node:path';

import { optionsOf, writeTable } from './build.js';

/**
 * What the plugin uses of a plugin's context.
 * @typedef {{ meta: { watchMode: boolean } }} Context
 */

/**
 * Returns the plugin. The build needs source maps: `sourcemap: 'hidden'` makes some that no script names.
 * @param {import('./build.js').PluginOptions} [options]
 */
export default function fleetprof(options) {
  const wanted = optionsOf(options);
  return {
    name: 'fleetprof-function-table',
    /** Vite: not while it serves. */
    apply: /** @type {const} */ ('build'),
    writeBundle: {
      order: /** @type {const} */ ('post'),
      sequential: true,
      /** @this {Context} @param {{ dir?: string, file?: string }} output @param {Record<string, { type: string }>} bundle */
      handler(output, bundle) {
        if (this.meta.watchMode) return;
        const base = path.resolve(output.dir ?? path.dirname(output.file ?? '.'));
        writeTable(base, Object.keys(bundle).filter((name) => bundle[name].type === 'chunk'), wanted);
      },
    },
  };
}
