// SPDX-License-Identifier: Apache-2.0
/**
 * The shop's application: Express, helmet with its default policy, pages rendered on the server.
 * One process serves all hosts; each host has its own options.
 */
import { once } from 'node:events';
import net from 'node:net';

import express from 'express';
import helmet from 'helmet';

/**
 * @typedef {object} Options of one host
 * @property {string} [policy] the application's own Document-Policy
 * @property {string} [cacheControl] of its pages
 * @property {Record<string, string[]>} [csp] directives of Content-Security-Policy that differ from helmet's
 * @property {'pass' | 'first'} [serviceWorker]
 * @property {Record<string, unknown> | null} [agent] attributes of the agent's tag that differ; null: no tag
 * @property {boolean} [hangs] its pages have an image that never comes, so that they never end loading
 * @property {string} [witness] a classic script for after the agent's, at /witness.js
 * @property {boolean} [fallback] answers every unknown path with a page and 200, as single-page applications do
 */

/** The application's report on its own time. */
export const ownTiming = 'app;desc="render";dur=1.5, db;dur=0.3';

/**
 * The attributes of the agent's tag.
 * @param {string} name the host's
 * @param {string} server
 * @param {Options} options
 */
function agentTag(name, server, { agent = {} }) {
  return agent && {
    'data-endpoint': '/v1/ingest/pk_shop', 'data-release': name, 'data-environment': server, 'data-after-load': '200',
    ...agent,
  };
}

/**
 * Renders one page of a host, for the application and for the files that a web server serves itself.
 * @param {import('./build.mjs').Build} build
 * @param {{ name: string, server: string, path: string, options: Options }} page
 */
export function renderPage(build, { name, server, path, options }) {
  return build.render({
    path, agent: agentTag(name, server, options), hangs: options.hangs ?? false, witness: options.witness !== undefined,
    state: { serviceWorker: options.serviceWorker !== undefined },
  });
}

/**
 * @typedef {object} App
 * @property {string} url
 * @property {{ host: string, type: string, body: unknown }[]} reports what browsers sent to /reports
 * @property {string[]} statements what pages sent to /statements
 * @property {() => void} stop
 */

/**
 * Starts the application.
 * @param {import('./build.mjs').Build} build
 * @param {(name: string) => Options | undefined} optionsOf the options of `NAME.SERVER.shop.example`, by NAME
 * @returns {Promise<App>}
 */
export async function startApp(build, optionsOf) {
  /** @type {App['reports']} */
  const reports = [];
  /** @type {string[]} */
  const statements = [];
  const app = express();
  app.disable('x-powered-by');

  app.post('/reports', express.json({ type: 'application/reports+json' }), (request, response) => {
    for (const { type, body } of request.body) reports.push({ host: request.hostname, type, body });
    response.sendStatus(204);
  });

  app.post('/statements', express.text(), (request, response) => {
    statements.push(request.body);
    response.sendStatus(204);
  });

  app.use((request, response, next) => {
    const options = optionsOf(request.hostname.split('.')[0]) ?? {};
    response.locals.options = options;
    response.set('Reporting-Endpoints', `default="https://${request.headers.host}/reports"`);
    response.set('Server-Timing', ownTiming);
    if (options.policy) response.set('Document-Policy', options.policy);
    helmet({ contentSecurityPolicy: { directives: options.csp ?? {} } })(request, response, next);
  });

  /** @type {import('express').RequestHandler} */
  const sendPage = (request, response) => {
    const [name, server] = request.hostname.split('.');
    const { options } = response.locals;
    if (options.cacheControl) response.set('Cache-Control', options.cacheControl);
    response.type('html').send(renderPage(build, { name, server, path: request.path, options }));
  };
  app.get('/', sendPage);
  app.get('/product/:id/', sendPage);

  app.get('/never.gif', () => {});

  app.get('/witness.js', (request, response, next) => {
    const { witness } = response.locals.options;
    if (witness) response.type('js').send(witness);
    else next();
  });

  app.use((request, response, next) => {
    if (response.locals.options.fallback) sendPage(request, response, next);
    else response.status(404).type('html').send('<!doctype html><title>Not found</title>');
  });

  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  // httpd reuses connections, and answers 502 if the application closes one at that moment.
  server.keepAliveTimeout = 0;
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, reports, statements, stop: () => { server.close(); server.closeAllConnections(); } };
}
