/** Plugin for webpack: writes the function table of a build. */
import { optionsOf, writeTable } from './build.js';
import { TableError } from './function_table.js';

const name = 'FleetprofFunctionTable';

/**
 * What the plugin uses of a compiler.
 * @typedef {{ context: string, watchMode: boolean, hooks: { afterEmit: { tap(name: string, done: (compilation: Compilation) => void): void } } }} Compiler
 * @typedef {{ errors: Error[], outputOptions: { path?: string }, getAssets(): readonly { name: string }[] }} Compilation
 */

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
        writeTable(compilation.outputOptions.path ?? '.', compilation.getAssets().map((asset) => asset.name.replace(/\?.*$/, '')), { ...this.options, context: compiler.context });
      } catch (error) {
        if (!(error instanceof TableError)) throw error;
        compilation.errors.push(error);
      }
    });
  }
}
