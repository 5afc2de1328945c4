// SPDX-License-Identifier: Apache-2.0
/** The development server of Vite keeps the contract with @fleetprof/vite, whatever answers behind it. */
import path from 'node:path';

import { createServer } from 'vite';

import { respond, servers } from '../../../conformance/application.mjs';
import { install } from '../packed.mjs';
import { temporaryDir } from '../stack.mjs';
import { keyFile, listen, testServers } from './contract.mjs';

/** Starts a server of Vite for each part, and what leads to them. */
async function start() {
  const root = temporaryDir('vite');
  await install(root, ['fleetprof-agent', '@fleetprof/function-table', '@fleetprof/express', '@fleetprof/vite']);
  const { default: fleetprof } = await import(path.join(root, 'node_modules/@fleetprof/vite/plugin.js'));
  /** @type {Record<string, import('vite').ViteDevServer>} */
  const parts = {};
  for (const [name, setting] of Object.entries(servers)) {
    const options = setting && { site: 'shop', endpoint: '/v1/ingest/pk_shop', release: 'v1', rate: parseFloat(setting.rate) / 100, keyFile: setting.key ? keyFile : undefined };
    parts[name] = await createServer({
      root, configFile: false, logLevel: 'error', appType: 'custom', server: { middlewareMode: true, ws: false, watch: null, cors: false },
      plugins: [options ? fleetprof(options) : [], { name: 'application', configureServer({ middlewares }) { middlewares.use(/** @type {any} */ (respond)); } }],
    });
  }
  const front = await listen((request, response) => (parts[String(request.url).split('/')[1]] ?? parts.off).middlewares(request, response));
  return { url: front.url, stop: async () => {
    await front.stop();
    for (const part of Object.values(parts)) await part.close();
  } };
}

testServers([{ name: "Vite's development server", start }]);
