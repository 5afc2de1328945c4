// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof for Vite: the agent's tag in each page, the decision of `vite` and `vite preview`, the function table of a build.
 *
 *   plugins: [fleetprof({ site: 'shop', endpoint: '/v1/ingest/pk_shop' })]
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { fleetprof as decider } from '@fleetprof/express';
import { checkOptions, releaseOf, uploadLine } from '@fleetprof/express/build';
import functionTable from '@fleetprof/function-table/vite';

const { resolve } = createRequire(import.meta.url);

/** Returns the agent's script, and its name: that begins with `fleetprof`, and has the version. @param {boolean} vitals */
function agentOf(vitals) {
  const { version } = JSON.parse(fs.readFileSync(resolve('fleetprof-agent/package.json'), 'utf8'));
  const build = vitals ? 'fleetprof.vitals' : 'fleetprof';
  return { name: `${build}-${version}.js`, source: fs.readFileSync(resolve(`fleetprof-agent/dist/${build}.js`)) };
}

/** Returns options of the agent as attributes of its tag: sampleInterval is data-sample-interval. @param {Record<string, unknown>} options */
const attributesOf = (options) => Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)
  .map(([name, value]) => [`data-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, String(value)]));

/** Only pages' scripts: Vite also builds for servers. @param {{ config: { consumer: string } }} environment */
const isForPages = ({ config }) => config.consumer === 'client';

/**
 * Returns the plugin.
 * @param {import('@fleetprof/express/build').Options} options
 * @returns {import('vite').PluginOption}
 */
export default function fleetprof(options) {
  checkOptions(options);
  const { site, endpoint, rate = 1, keyFile, vitals = false, table = {} } = options;
  const decide = decider({ rate, site, keyFile });
  const agent = agentOf(vitals);
  const tableFile = table.file ?? '../function-table.jsonl';
  const writer = functionTable({ ...table, file: tableFile });
  let ownsMaps = false;
  /** Maps that nobody asked for but this plugin. @type {Set<string>} */
  const maps = new Set();
  /** The directory of the bundle, when its table is written. @type {string | undefined} */
  let built;
  /** @type {import('vite').ResolvedConfig} */
  let config;
  /** @type {string | undefined} */
  let release;
  const agentFile = () => path.posix.join(config.build.assetsDir, agent.name);

  /** @param {import('vite').Connect.Server} middlewares */
  const serve = (middlewares) => {
    middlewares.use(/** @type {any} */ (decide));
    middlewares.use((request, response, next) => {
      if (String(request.url).split('?')[0] !== `${config.base}${agentFile()}`) return next();
      response.writeHead(200, { 'Content-Type': 'text/javascript', 'Cache-Control': 'no-cache' }).end(agent.source);
    });
  };

  return [{ ...writer, applyToEnvironment: (environment) => isForPages(environment) && Boolean(environment.config.build.sourcemap) }, {
    name: 'fleetprof',
    enforce: 'post',
    config(given, { command }) {
      ownsMaps = command === 'build' && given.build?.sourcemap === undefined;
      return ownsMaps ? { build: { sourcemap: 'hidden' } } : undefined;
    },
    configResolved(resolved) {
      config = resolved;
      release = releaseOf(config.root, options.release);
      if (!release) config.logger.warn('fleetprof: the release has no name: there is no git, and no version in package.json');
      if (config.command === 'build' && !config.build.sourcemap) config.logger.warn('fleetprof: build.sourcemap is false: there is no function table, and reports show minified names');
    },
    configureServer: { order: 'pre', handler: ({ middlewares }) => serve(middlewares) },
    configurePreviewServer: { order: 'pre', handler: ({ middlewares }) => serve(middlewares) },
    transformIndexHtml: { order: 'post', handler(_, { path: page }) {
      const isFound = /^(\/|https?:)/.test(config.base);
      const src = isFound ? config.base + agentFile() : path.posix.relative(path.posix.dirname(page), `/${agentFile()}`);
      const crossorigin = /^(https?:)?\/\//.test(config.base) ? { crossorigin: '' } : {};
      return [{ tag: 'script', injectTo: 'head-prepend', attrs: { src, ...crossorigin, ...attributesOf({ endpoint, release, environment: config.mode, ...options.agent }) } }];
    } },
    applyToEnvironment: isForPages,
    generateBundle: { order: 'post', handler({ dir }, bundle) {
      this.emitFile({ type: 'asset', fileName: agentFile(), source: agent.source });
      if (!ownsMaps || config.build.sourcemap !== 'hidden') return;
      for (const [name, output] of Object.entries(bundle)) {
        const map = output.type === 'chunk' ? output.sourcemapFileName ?? `${name}.map` : /\.[cm]?js\.map$/.test(name) && name;
        if (map) maps.add(path.resolve(String(dir), map));
      }
    } },
    writeBundle: { order: 'post', sequential: true, handler({ dir }) { built = path.resolve(String(dir)); } },
    closeBundle() {
      for (const map of maps) fs.rmSync(map, { force: true });
      const file = built && path.resolve(built, tableFile);
      if (file && fs.existsSync(file) && !this.meta.watchMode) config.logger.info(`fleetprof: the function table is made; into the database:\n  ${uploadLine(site, release, config.base, path.relative('.', file))}`);
    },
  }];
}
