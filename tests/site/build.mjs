// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the shop as a bundler does: minified, with names that carry a hash of the contents.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import esbuild from 'esbuild';

import { repository } from '../behaviour/stack.mjs';

const source = fileURLToPath(new URL('app', import.meta.url));

/**
 * The addresses of what pages load.
 * @typedef {{ agent: string, client: string, style: string, worker: string }} Assets
 *
 * @typedef {object} Build
 * @property {string} dir has assets/ (hashed names), sw/pass.js and sw/first.js in it
 * @property {(page: { path: string, agent: Record<string, unknown> | null, hangs: boolean, witness: boolean,
 *   state: object }) => string} render a whole document as text
 */

/**
 * Builds into a directory.
 * @param {string} dir
 * @returns {Promise<Build>}
 */
export async function buildSite(dir) {
  const common = /** @type {const} */ ({ bundle: true, minify: true, jsx: 'automatic', metafile: true,
    define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'error' });
  const builds = await Promise.allSettled([
    esbuild.build({ ...common, outdir: path.join(dir, 'assets'), entryNames: '[name].[hash]', target: 'es2022',
      entryPoints: ['client.jsx', 'worker.js', 'style.css'].map((name) => path.join(source, name)) }),
    esbuild.build({ ...common, outdir: path.join(dir, 'sw'), target: 'es2022',
      entryPoints: { pass: path.join(source, 'sw_pass.js'), first: path.join(source, 'sw_first.js') } }),
    esbuild.build({ ...common, outfile: path.join(dir, 'render.cjs'), platform: 'node', format: 'cjs',
      entryPoints: [path.join(source, 'render.jsx')] }),
  ]);
  await esbuild.stop();
  const failed = builds.find(({ status }) => status === 'rejected');
  if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason;
  const { metafile } = /** @type {PromiseFulfilledResult<esbuild.BuildResult<{ metafile: true }>>} */ (builds[0]).value;
  const built = Object.entries(metafile.outputs);
  const addressOf = (/** @type {string} */ name) => {
    const [file] = built.find(([, { entryPoint }]) => path.basename(entryPoint ?? '') === name) ?? [];
    if (!file) throw new Error(`esbuild made nothing of ${name}`);
    return `/assets/${path.basename(file)}`;
  };
  /** @type {Assets} */
  const assets = {
    agent: addAgent(path.join(dir, 'assets')), client: addressOf('client.jsx'), style: addressOf('style.css'),
    worker: addressOf('worker.js'),
  };
  const { default: { render } } = await import(pathToFileURL(path.join(dir, 'render.cjs')).href);
  return { dir, render: (page) => render({ ...page, assets }) };
}

/**
 * Copies the agent, as the manual says: under a name that changes with it.
 * @param {string} dir
 */
function addAgent(dir) {
  const text = fs.readFileSync(path.join(repository, 'agent/dist/fleetprof.debug.js'));
  const hash = crypto.createHash('sha256').update(text).digest('hex').slice(0, 8);
  fs.writeFileSync(path.join(dir, `fleetprof.${hash}.js`), text);
  return `/assets/fleetprof.${hash}.js`;
}
