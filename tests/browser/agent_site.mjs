// SPDX-License-Identifier: Apache-2.0
/**
 * A small web site for the agent's tests: pages made by the test, the decision of a server module in their headers, and
 * an ingest URL that keeps what is uploaded.
 */
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { repository, runOrThrow, temporaryDir } from '../behaviour/stack.mjs';

/**
 * @typedef {object} Upload
 * @property {http.IncomingHttpHeaders} headers
 * @property {Buffer} body
 * @property {any} envelope
 * @property {number} at ms
 *
 * @typedef {{ status: number, headers?: Record<string, string>, body?: string } | 'hang up' | 'hang'} Reply
 * @typedef {Record<string, string | string[]>} Headers
 *
 * @typedef {object} Site
 * @property {string} origin
 * @property {Upload[]} uploads of pages that began after `since`
 * @property {number} since time of the last reset, ms since 1970
 * @property {string[]} methods of all requests to the ingest URL
 * @property {string[]} paths of all requests
 * @property {string[]} reports bodies of what browsers sent to /reports
 * @property {Reply[]} replies what the next uploads are answered with, before 204
 * @property {Record<string, string>} pages path → HTML
 * @property {Record<string, () => { type: string, body: string | Buffer }>} files path → what is not a page
 * @property {Record<string, () => Headers>} headers path → a page's own headers, over the decision's; '' drops one
 * @property {Record<string, number>} delays path → ms before it is answered
 * @property {boolean} sampled what the server decides for all page loads
 * @property {boolean} slow sends a page's first half, and the rest a while later
 * @property {number} revalidations how many pages were answered with 304
 * @property {() => void} reset forgets all of the above
 * @property {() => void} close
 */

/** A decision's nonce, as the server modules make it. */
const newNonce = () => crypto.randomBytes(12).toString('base64url');

/**
 * A yes without a signature.
 * @param {number} [time] seconds since 1970
 */
export const unsignedYes = (time = Math.floor(Date.now() / 1000)) => `1.${time}.${newNonce()}`;

/** A yes that looks signed; only a collector can tell. */
export const signedYes = () => `v1.9dfbd8d2.my.shop.500.${Math.floor(Date.now() / 1000)}.${newNonce()}.${
  crypto.randomBytes(32).toString('base64url')}`;

/** @param {string} description */
export const decision = (description) => ({ 'Server-Timing': `fleetprof;desc="${description}"` });

/**
 * @param {{ secure?: boolean }} [options] secure: HTTP/2 over TLS, with a certificate that no browser trusts
 * @returns {Promise<Site>}
 */
export async function startSite({ secure = false } = {}) {
  const clean = () => ({
    uploads: [], methods: [], paths: [], reports: [], replies: [], pages: {}, files: {}, headers: {}, delays: {}, sampled: true,
    slow: false, revalidations: 0, since: Date.now(),
  });
  // HTTP/2's requests and responses have all that is used of HTTP/1's.
  const listener = (/** @type {any} */ request, /** @type {any} */ response) => serve(site, request, response);
  const server = secure ? http2.createSecureServer(await selfSigned(), listener) : http.createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  /** @type {Site} */
  const site = {
    origin: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`,
    ...clean(),
    reset: () => { Object.assign(site, clean()); },
    close: () => {
      if (server instanceof http.Server) server.closeAllConnections();
      server.close();
    },
  };
  return site;
}

async function selfSigned() {
  const dir = temporaryDir('certificate');
  await runOrThrow(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=site.test',
    '-keyout', `${dir}/key.pem`, '-out', `${dir}/certificate.pem`]);
  return { key: fs.readFileSync(`${dir}/key.pem`), cert: fs.readFileSync(`${dir}/certificate.pem`) };
}

/**
 * @param {Site} site
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
async function serve(site, request, response) {
  const { pathname } = new URL(request.url ?? '/', 'http://host');
  site.paths.push(pathname);
  // On a kept connection that breaks, Chromium repeats the request itself.
  if (response instanceof http.ServerResponse) response.shouldKeepAlive = false;
  if (pathname.startsWith('/v1/ingest/')) return receive(site, request, response);
  if (pathname === '/never') return;
  if (site.delays[pathname]) await new Promise((resolve) => { setTimeout(resolve, site.delays[pathname]); });
  if (pathname === '/reports') {
    site.reports.push(String(await bodyOf(request)));
    response.writeHead(204).end();
  } else if (pathname.startsWith('/agent/')) {
    response.setHeader('Content-Type', 'text/javascript');
    response.end(fs.readFileSync(path.join(repository, pathname.replace('/agent/', '/agent/dist/'))));
  } else if (site.files[pathname]) {
    const { type, body } = site.files[pathname]();
    response.setHeader('Content-Type', type);
    response.end(body);
  } else {
    servePage(site, pathname, request, response);
  }
}

/**
 * @param {Site} site
 * @param {string} pathname
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
function servePage(site, pathname, request, response) {
  const decided = site.sampled
    ? { 'Document-Policy': 'js-profiling', ...decision(unsignedYes()) }
    : { 'Document-Policy': 'js-profiling=?0', ...decision('0') };
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Set-Cookie': 'session=secret',
    'Cache-Control': 'no-cache',
    ETag: '"1"',
    ...decided,
    ...site.headers[pathname]?.(),
  };
  for (const [name, value] of Object.entries(headers)) if (value !== '') response.setHeader(name, value);
  if (request.headers['if-none-match']) {
    site.revalidations++;
    response.writeHead(304).end();
    return;
  }
  const html = `<!doctype html><link rel="icon" href="data:,">${site.pages[pathname]}`;
  if (!site.slow) {
    response.end(html);
    return;
  }
  const half = html.indexOf('</script>') + '</script>'.length;
  response.write(html.slice(0, half));
  setTimeout(() => response.end(html.slice(half)), 300);
}

/**
 * @param {Site} site
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
async function receive(site, request, response) {
  site.methods.push(request.method ?? '');
  const body = await bodyOf(request);
  const plain = isGzip(body) ? gunzipSync(body) : body;
  const envelope = plain.length ? JSON.parse(String(plain)) : undefined;
  // A page of the test before may be heard from after its end.
  if (envelope?.timeOrigin < site.since) {
    response.writeHead(204).end();
    return;
  }
  site.uploads.push({ headers: request.headers, body, envelope, at: performance.now() });
  const reply = site.replies.shift() ?? { status: 204 };
  if (reply === 'hang') return;
  if (reply === 'hang up') {
    request.socket.destroy();
    return;
  }
  response.writeHead(reply.status, {
    'Access-Control-Allow-Origin': request.headers.origin ?? '',
    'Access-Control-Expose-Headers': 'Retry-After',
    ...reply.headers,
  });
  response.end(reply.body);
}

/** @param {http.IncomingMessage} request */
async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @param {Buffer} body */
export const isGzip = (body) => body[0] === 0x1f && body[1] === 0x8b;

/** Keeps the main thread busy, so that there are samples. */
export const busy = 'function busy(ms) { const end = performance.now() + ms; while (performance.now() < end); }';

/**
 * The agent's script tag; ends profiling at the load event unless told otherwise.
 * @param {Record<string, string | number>} [data]
 * @param {string} [build]
 */
export function tag(data = {}, build = 'fleetprof.js') {
  const attributes = Object.entries({ endpoint: '/v1/ingest/pk_test', 'after-load': 0, ...data })
    .map(([name, value]) => ` data-${name}="${value}"`).join('');
  return `<script src="/agent/${build}"${attributes}></script>`;
}

/**
 * Ends profiling and waits for what the page's agent says of its upload.
 * @param {import('playwright-core').Page} page
 * @returns {Promise<boolean | 'late'>}
 */
export const outcome = (page) => Promise.race([
  page.evaluate(() => /** @type {any} */ (globalThis).fleetprof.start().stop()),
  new Promise((resolve) => { setTimeout(resolve, 20_000, 'late').unref(); }),
]);

/** @param {import('playwright-core').Page} page @returns {Promise<string>} */
export const statusOf = (page) => page.evaluate(() => /** @type {any} */ (globalThis).fleetprof.start().status);
