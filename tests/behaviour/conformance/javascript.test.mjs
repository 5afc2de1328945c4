// SPDX-License-Identifier: Apache-2.0
/** The JavaScript integrations: Express, Fastify, Node's own server, and a handler of fetch. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';

import express from 'express';
import Fastify from 'fastify';

import { respond, servers } from '../../../conformance/application.mjs';
import { fleetprof as fetchHandler } from '../../../integrations/javascript/fetch.js';
import { fleetprof } from '../../../integrations/javascript/node.js';
import { freePort, repository, startProcess, temporaryDir, untilReady } from '../stack.mjs';
import { key, keyFile, listen, testServers } from './contract.mjs';

/** @param {import('../../../conformance/application.mjs').Setting} setting */
const rateOf = (setting) => parseFloat(/** @type {any} */ (setting).rate) / 100;

/** Each part of the server with its middleware: none where it is off. @type {[string, ReturnType<typeof fleetprof>][]} */
const parts = Object.entries(servers).flatMap(([name, setting]) => (setting
  ? [[name, fleetprof({ rate: rateOf(setting), site: 'shop', keyFile: setting.key ? keyFile : undefined })]] : []));

async function startExpress() {
  const app = express();
  for (const [name, middleware] of parts) app.use(`/${name}`, /** @type {any} */ (middleware));
  app.disable('x-powered-by').use(/** @type {any} */ (respond));
  return listen(app);
}

async function startFastify() {
  const app = Fastify({ maxParamLength: 1000 });
  for (const [name, middleware] of parts) {
    app.addHook('onRequest', (request, reply, done) => {
      if (request.url.startsWith(`/${name}/`)) middleware(request.raw, reply.raw);
      done();
    });
  }
  app.all('/*', (request, reply) => {
    reply.hijack();
    respond(request.raw, reply.raw);
  });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), stop: () => app.close() };
}

/** A server without a framework, which gives all fields to writeHead: as an object, or names and values in turn. */
function startPlain() {
  const find = Object.fromEntries(parts);
  return listen((request, response) => {
    find[String(request.url).split('/')[1]]?.(request, response);
    const { writeHead } = response;
    response.writeHead = /** @type {any} */ ((/** @type {number} */ status) => {
      const fields = response.getHeaders();
      for (const name of Object.keys(fields)) response.removeHeader(name);
      const inTurn = Object.entries(fields).flatMap(([name, values]) => [values ?? []].flat().flatMap((value) => [name, value]));
      return /** @type {any} */ (writeHead).call(response, status, 'Said', (request.url?.startsWith('/all/') ? inTurn : fields));
    });
    respond(request, response);
  });
}

/** A proxy at the edge. @param {string} application */
function startEdge(application) {
  const pass = (/** @type {Request} */ request) => fetch(`${application}${new URL(request.url).pathname}`,
    { method: request.method, headers: request.headers, redirect: 'manual' });
  /** @type {Record<string, (request: Request) => Promise<Response>>} */
  const handlers = Object.fromEntries(Object.entries(servers).map(([name, setting]) => [name, setting
    ? fetchHandler({ rate: rateOf(setting), site: 'shop', key: setting.key ? key.toString('hex') : undefined }, pass) : pass]));
  return listen(async (request, response) => {
    const answer = await handlers[String(request.url).split('/')[1]](new Request(`http://edge.test${request.url}`,
      { method: request.method, headers: /** @type {[string, string][]} */ (Object.entries(request.headers)) }));
    response.writeHead(answer.status, /** @type {any} */ ([...answer.headers].flat()));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
}

/** Cloudflare's runtime is too large to be installed for one test: it runs where WORKERD names its program. */
const { WORKERD: workerd } = process.env;

/** @param {string} application */
async function startWorker(application) {
  const dir = temporaryDir('workerd');
  for (const name of ['decision.js', 'fetch.js']) fs.copyFileSync(`${repository}/integrations/javascript/${name}`, `${dir}/${name}`);
  fs.writeFileSync(`${dir}/worker.js`, `import { fleetprof } from './fetch.js';
const pass = (request) => fetch(request, { redirect: 'manual' });
const handlers = {};
for (const [name, setting] of Object.entries(${JSON.stringify(servers)})) {
  handlers[name] = setting ? fleetprof({ rate: parseFloat(setting.rate) / 100, site: 'shop', key: setting.key ? '${key.toString('hex')}' : undefined }, pass) : pass;
}
export default { fetch: (request) => handlers[new URL(request.url).pathname.split('/')[1]](request) };\n`);
  const port = await freePort();
  const modules = ['worker.js', 'fetch.js', 'decision.js'].map((name) => `(name = "${name}", esModule = embed "${name}")`);
  fs.writeFileSync(`${dir}/config.capnp`, `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "application", external = (address = "${new URL(application).host}", http = ()))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]);
const main :Workerd.Worker = (modules = [${modules.join(', ')}], compatibilityDate = "2026-01-01", globalOutbound = "application");\n`);
  const server = startProcess('workerd', [String(workerd), 'serve', `${dir}/config.capnp`], { deathSignal: 'SIGTERM' });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, () => fetch(`${url}/off/`).then(() => true, () => false));
  return { url, stop: () => server.stop('SIGTERM') };
}

testServers([
  { name: 'Express', start: startExpress },
  { name: 'Fastify', start: startFastify },
  { name: "Node's HTTP server", start: startPlain },
  { name: 'a handler of fetch', start: startEdge },
  { name: 'a worker of Cloudflare', skip: !workerd && 'WORKERD names no program', start: startWorker },
]);

test('a mistake in the options is named before the first request', () => {
  for (const make of [/** @type {(options: any) => unknown} */ (fleetprof), (/** @type {any} */ options) => fetchHandler(options, () => new Response())]) {
    assert.throws(() => make({ rate: 2 }), /fleetprof: rate 2 is not 0, and not from 0.000001 to 1/);
    assert.throws(() => make({ rate: undefined }), /rate undefined/);
    assert.throws(() => make({ rate: 1, site: 'a shop', keyFile, key: key.toString('hex') }), /site "a shop" is not/);
  }
  assert.throws(() => fetchHandler({ rate: 1, site: 'shop', key: 'short' }, () => new Response()), /the key is not 32 to 128 bytes/);
  assert.throws(() => fleetprof({ rate: 1, site: 'shop', keyFile: `${repository}/VERSION` }), /the first key is not 32 to 128 bytes/);
});
