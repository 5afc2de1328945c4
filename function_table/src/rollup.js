/** Plugin for Rollup, Rolldown and Vite: writes the function table of a build. */
import fs from 'node:fs';
import path from 'node:path';

import { optionsOf, writeTable } from './build.js';

/**
 * What the plugin uses of a plugin's context.
 * @typedef {{ meta: { watchMode: boolean }, warn(message: string): void }} Context
 */

/**
 * Returns the plugin. The build needs source maps: `sourcemap: 'hidden'` makes some that no script names.
 * @param {import('./build.js').PluginOptions} [options]
 */
export default function fleetprof(options) {
  const wanted = optionsOf(options);
  /** The scripts of the build's outputs by directory, with their maps. @type {Map<string, Map<string, string | null | undefined>>} */
  const written = new Map();
  return {
    name: 'fleetprof-function-table',
    /** Vite: not while it serves. */
    apply: /** @type {const} */ ('build'),
    writeBundle: {
      order: /** @type {const} */ ('post'),
      sequential: true,
      /** @this {Context} @param {{ dir?: string, file?: string }} output @param {Record<string, { type: string, sourcemapFileName?: string | null }>} bundle */
      handler(output, bundle) {
        if (this.meta.watchMode) return;
        const base = path.resolve(output.dir ?? path.dirname(output.file ?? '.'));
        // Rolldown has a build for each output; a build may also replace the scripts of the one before.
        const scripts = new Map([...written.get(base) ?? []].filter(([name]) => fs.existsSync(path.join(base, name))));
        written.set(base, scripts);
        for (const [name, { type, sourcemapFileName }] of Object.entries(bundle)) if (type === 'chunk') scripts.set(name, sourcemapFileName);
        const warning = writeTable(base, scripts, wanted);
        if (warning) this.warn(warning);
      },
    },
  };
}
