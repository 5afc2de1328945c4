// SPDX-License-Identifier: Apache-2.0
/** Bundles with the bundlers that people use, each with the plugin that writes the function table. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import swc from '@swc/core';
import esbuild from 'esbuild';
import { rollup } from 'rollup';
import { minify as terser } from 'terser';
import webpack from 'webpack';

import forEsbuild from '../../function_table/src/esbuild.js';
import forRollup from '../../function_table/src/rollup.js';
import ForWebpack from '../../function_table/src/webpack.js';

export const shapes = fileURLToPath(new URL('shapes', import.meta.url));

/**
 * Bundles a script into dir/app.js, with dir/function-table.jsonl beside it.
 * @callback Bundle
 * @param {string} entry @param {string} dir @param {string} root directory that paths of sources lose
 * @returns {Promise<unknown>}
 */

/** @param {import('rollup').Plugin} minifier @returns {Bundle} */
const withRollup = (minifier) => async (entry, dir, root) => {
  const build = await rollup({ input: entry, plugins: [minifier, forRollup({ root })] });
  await build.write({ dir, entryFileNames: 'app.js', format: 'iife', sourcemap: 'hidden' });
  await build.close();
};

/** @param {webpack.Configuration} configuration */
export const runWebpack = (configuration) => new Promise((resolve, reject) => {
  const compiler = webpack(configuration);
  compiler.run((error, stats) => compiler.close((late) => {
    const failed = error ?? late ?? (stats?.hasErrors() ? new Error(stats.toString('errors-only')) : null);
    if (failed) reject(failed);
    else resolve(stats);
  }));
});

/** @type {Record<string, Bundle>} */
export const bundlers = {
  esbuild: (entry, dir, root) => esbuild.build({
    entryPoints: { app: entry }, outdir: dir, bundle: true, minify: true, sourcemap: 'external', target: 'es2022', logLevel: 'silent', plugins: [forEsbuild({ root })],
  }),
  'rollup + terser': withRollup({
    name: 'terser',
    renderChunk: async (code) => {
      const { code: small = '', map } = await terser(code, { sourceMap: true });
      return { code: small, map: /** @type {string} */ (map) };
    },
  }),
  'rollup + swc': withRollup({
    name: 'swc',
    renderChunk: async (code) => {
      const { code: small, map } = await swc.minify(code, { sourceMap: true, compress: true, mangle: true });
      return { code: small, map: /** @type {string} */ (map) };
    },
  }),
  webpack: (entry, dir, root) => runWebpack({
    context: path.dirname(entry), mode: 'production', devtool: 'hidden-source-map', entry: { app: entry }, output: { path: dir, filename: '[name].js' },
    plugins: [new ForWebpack({ root })],
  }),
};
