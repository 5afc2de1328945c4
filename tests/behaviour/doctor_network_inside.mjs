// SPDX-License-Identifier: Apache-2.0
/**
 * Runs for doctor_network.test.mjs in a network of its own, whose only interface has public, private and link-local
 * addresses: pages that try to send doctor inside. Prints one JSON object per case.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import process from 'node:process';
import { promisify } from 'node:util';

const fleetprof = process.argv[2];
const outside = '8.8.4.4';

/** Requests that arrived at an address inside, since the last case. @type {string[]} */
let inside = [];

/** @type {http.RequestListener} */
function answer(request, response) {
  const address = request.socket.localAddress?.replace('::ffff:', '');
  const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://any');
  if (address !== outside) inside.push(`${request.method} ${address} ${pathname}`);
  request.resume();
  const script = query.get('script');
  if (pathname === '/away') response.writeHead(302, { location: query.get('to') ?? '' }).end();
  else if (pathname.endsWith('.js')) response.setHeader('content-type', 'text/javascript').end('let a;');
  else if (pathname.startsWith('/v1/')) response.writeHead(204, { 'fleetprof-dry-run': 'accepted', 'access-control-allow-origin': request.headers.origin ?? '' }).end();
  else response.writeHead(200, { 'content-type': 'text/html', 'document-policy': 'js-profiling=?0', 'server-timing': 'fleetprof;desc="0"' })
    .end(`<!doctype html><head>${query.get('head') ?? ''}<script src="/fleetprof-0.1.0.js" data-endpoint="${query.get('endpoint') ?? '/v1/ingest/pk'}"></script>
      ${script ? `<script src="${script}" crossorigin></script>` : ''}`);
}

/** @param {string} name @param {string[]} args */
async function report(name, args) {
  inside = [];
  const { stdout, stderr, code } = await promisify(execFile)(fleetprof, ['doctor', '--json', '--repeat', '2', ...args])
    .then((out) => ({ ...out, code: 0 }), (error) => error);
  const findings = stdout ? JSON.parse(stdout).filter((/** @type {any} */ { id }) => id !== 'rate-zero') : [];
  console.log(JSON.stringify({ name, code, stderr, inside, findings: findings.map((/** @type {any} */ { id, seen }) => ({ id, seen })) }));
}

const server = http.createServer(answer).listen(8080, '::');
await once(server, 'listening');
const page = (/** @type {string} */ host, /** @type {Record<string, string>} */ query = {}, pathname = '/') => (
  `http://${host}:8080${pathname}?${new URLSearchParams(query)}`);

await report('nothing', [page('www.shop.example')]);
for (const host of ['127.0.0.1', '10.1.2.3', '169.254.169.254', '[::1]', '[fd00::1]', '[::ffff:10.1.2.3]', '[::ffff:7f00:1]', '0.0.0.0', '2130706433',
  'localhost', 'inner.other.example', 'mapped.other.example']) {
  await report(`redirect to ${host}`, ['--follow', page('www.shop.example', { to: page(host) }, '/away')]);
  await report(`script of ${host}`, [page('www.shop.example', { script: `http://${host}:8080/app.js` })]);
  await report(`script that redirects to ${host}`, [page('www.shop.example', { script: page('www.shop.example', { to: `http://${host}:8080/app.js` }, '/away') })]);
}
const inner = 'http://inner.shop.example:8080/v1/ingest/pk';
await report('endpoint inside', [page('www.shop.example', { endpoint: inner })]);
await report('endpoint inside, by base', ['--endpoint', '/v1/ingest/pk', page('www.shop.example', { head: '<base href="http://inner.shop.example:8080/">' })]);
await report('endpoint inside, named', ['--endpoint', inner, '--ignore', 'script-blind', page('www.shop.example', { endpoint: inner })]);
await report('direct inside', ['--direct', '10.1.2.3:8080', page('www.shop.example')]);
await report('page inside', [page('127.0.0.1', { script: 'http://10.1.2.3:8080/app.js' })]);
await report('endpoint of another site', [page('www.shop.example', { endpoint: 'http://www.other.example:8080/v1/ingest/pk' })]);
await report('endpoint of another name of the site', [page('www.shop.example', { endpoint: 'http://collector.shop.example:8080/v1/ingest/pk' })]);

// A name with two addresses: the public one answers once, then only the other one listens.
const once_ = http.createServer(async (request, response) => {
  response.setHeader('connection', 'close');
  answer(request, response);
  once_.close();
  http.createServer(answer).listen(8090, '127.0.0.1').unref();
}).listen(8090, outside);
await once(once_, 'listening');
await report('rebinding', ['http://both.example:8090/']);
server.close();
server.closeAllConnections();
