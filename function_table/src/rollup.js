// SPDX-License-Identifier: Apache-2.0
/** Plugin for Rollup, Rolldown and Vite: writes the function table of a build. */
import fs from 'node:fs';
import path from 'node:path';

import { optionsOf, writeTable } from './build.js';

/**
 * The members of a plugin's context that the plugin uses.
 * @typedef {{ meta: { watchMode: boolean }, warn(message: string): void }} Context
 */

/** A file of a bundle. @typedef {{ type: string, map?: object | null, sourcemapFileName?: string | null, source?: string | Uint8Array }} Output */

/**
 * Returns the scripts that the bundler made, with their maps. Vite emits workers as assets; an asset without a map is a
 * copy. Rolldown makes no map for a script without code of a source, such as a script that only re-exports.
 * @param {Record<string, Output>} bundle @param {boolean} hasMaps whether the output is to have maps
 * @returns {[string, string | null | undefined][]}
 */
function scriptsOf(bundle, hasMaps) {
  const isBuilt = (/** @type {string} */ name, /** @type {Output} */ { type, map, sourcemapFileName, source }) => (type === 'chunk'
    ? !hasMaps || map || sourcemapFileName
    : /\.[cm]?js$/i.test(name) && (Object.hasOwn(bundle, `${name}.map`) || Buffer.from(source ?? '').includes('sourceMappingURL=data:application/json')));
  return Object.entries(bundle).flatMap(([name, output]) => (isBuilt(name, output) ? [[name, output.sourcemapFileName]] : []));
}

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
    /** Vite: skips builds for a server. @param {{ config: { consumer: string } }} environment */
    applyToEnvironment: ({ config }) => config.consumer === 'client',
    writeBundle: {
      order: /** @type {const} */ ('post'),
      sequential: true,
      /** @this {Context} @param {{ dir?: string, file?: string, sourcemap?: unknown }} output @param {Record<string, Output>} bundle */
      handler(output, bundle) {
        if (this.meta.watchMode) return;
        const base = path.resolve(output.dir ?? path.dirname(output.file ?? '.'));
        // Rolldown has a build for each output; a build may also replace the scripts of the one before.
        const scripts = new Map([...written.get(base) ?? []].filter(([name]) => fs.existsSync(path.join(base, name))));
        written.set(base, scripts);
        for (const [name, map] of scriptsOf(bundle, Boolean(output.sourcemap))) scripts.set(name, map);
        const warning = writeTable(base, scripts, wanted);
        if (warning) this.warn(warning);
      },
    },
  };
}
