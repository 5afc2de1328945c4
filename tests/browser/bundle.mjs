// SPDX-License-Identifier: Apache-2.0
/**
 * Bundles a test's application as a site does for production.
 */
import path from 'node:path';

import esbuild from 'esbuild';

import { repository } from '../behaviour/stack.mjs';

/** @param {string} source may have JSX @param {boolean} [development] a build for developers */
export async function bundle(source, development = false) {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: source, resolveDir: path.join(repository, 'tests/browser'), loader: 'jsx' },
    bundle: true, minify: true, jsx: 'automatic', write: false, format: 'iife', target: 'es2022', logLevel: 'error',
    define: { 'process.env.NODE_ENV': development ? '"development"' : '"production"', 'process.env.__NEXT_TEST_MODE': 'false',
      __VUE_OPTIONS_API__: 'true', __VUE_PROD_DEVTOOLS__: 'false', __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false' },
  });
  return outputFiles[0].text;
}
