// SPDX-License-Identifier: Apache-2.0
/** Plugin for webpack: writes the function table of a build. */
import { optionsOf, writeTable } from './build.js';
import { TableError } from './function_table.js';

const name = 'FleetprofFunctionTable';

/**
 * The members of a compiler that the plugin uses.
 * @typedef {{ context: string, watchMode: boolean, hooks: { afterEmit: { tap(name: string, done: (compilation: Compilation) => void): void } } }} Compiler
 * @typedef {{ errors: Error[], warnings: Error[], outputOptions: { path?: string }, chunks: Iterable<{ files: Iterable<string> }>, children: Compilation[], getAsset(name: string): Readonly<Asset> | undefined }} Compilation
 * @typedef {{ info: { related?: Record<string, null | string | string[]> } }} Asset
 */

/** @param {string} name */
const withoutQuery = (name) => name.replace(/\?.*$/, '');

/**
 * Returns the files of a compilation's chunks, each with its source map: other files were copied, not built.
 * @param {Compilation} compilation @param {Compilation} whole the one that has the assets @returns {[string, string | null][]}
 */
function filesOf(compilation, whole) {
  const own = [...compilation.chunks].flatMap(({ files }) => [...files]).flatMap((file) => {
    const asset = whole.getAsset(file);
    const map = [asset?.info.related?.sourceMap ?? []].flat()[0];
    return asset ? [/** @type {[string, string | null]} */ ([withoutQuery(file), map ? withoutQuery(map) : null])] : [];
  });
  return [...own, ...compilation.children.flatMap((child) => filesOf(child, whole))];
}

/** The plugin. The build needs source maps: `devtool: 'hidden-source-map'` makes some that no script names. */
export default class FleetprofFunctionTable {
  /** @param {import('./build.js').PluginOptions} [options] */
  constructor(options) {
    this.options = optionsOf(options);
  }

  /** @param {Compiler} compiler */
  apply(compiler) {
    compiler.hooks.afterEmit.tap(name, (compilation) => {
      if (compiler.watchMode || compilation.errors.length > 0) return;
      try {
        const warning = writeTable(compilation.outputOptions.path ?? '.', new Map(filesOf(compilation, compilation)), { ...this.options, context: compiler.context });
        if (warning) compilation.warnings.push(new Error(warning));
      } catch (error) {
        if (!(error instanceof TableError)) throw error;
        compilation.errors.push(error);
      }
    });
  }
}
