// SPDX-License-Identifier: Apache-2.0
/**
 * Helpers that the collector's tests share: requests that no browser would send, and a few uploads.
 */
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';

import { startCollector, waitFor } from './stack.mjs';

/**
 * @typedef {{ status: number, headers: http.IncomingHttpHeaders, body: string, problem: any }} Reply
 *   problem: the body, parsed, when it is application/problem+json
 *
 * @typedef {object} Request
 * @property {string} [method] POST
 * @property {Record<string, string | string[]>} [headers]
 * @property {string | Uint8Array} [body] sent with Content-Length
 * @property {Uint8Array[] | string[]} [chunks] sent with Transfer-Encoding: chunked instead
 * @property {http.Agent} [agent] one connection a request by default
 * @property {string} [socketPath] a unix socket instead of the URL's host and port
 */

/**
 * @param {string} url
 * @param {Request} [request]
 * @returns {Promise<Reply>}
 */
export async function send(url, { method = 'POST', headers = {}, body, chunks, agent, socketPath } = {}) {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = http.request(url, { method, headers: { ...length, ...headers }, agent: agent ?? false, socketPath });
  for (const chunk of chunks ?? []) request.write(chunk);
  request.end(body);
  const [response] = /** @type {[http.IncomingMessage]} */ (await once(request, 'response'));
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  const isProblem = response.headers['content-type'] === 'application/problem+json';
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: text,
    problem: isProblem && text ? JSON.parse(text) : undefined,
  };
}

/**
 * A connection on which bytes are written as they are; `text` collects what comes back.
 * @param {string} url
 * @returns {Promise<{ socket: net.Socket, text: () => string, closed: Promise<unknown> }>}
 */
export async function connect(url) {
  const { hostname, port } = new URL(url);
  const socket = net.connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('latin1').on('data', (piece) => { text += piece; });
  socket.on('error', () => {});
  const closed = new Promise((resolve) => { socket.once('close', resolve); });
  await once(socket, 'connect');
  return { socket, text: () => text, closed };
}

/**
 * Sends repeatedly until the status is (or is not) the given one, and returns that reply.
 * @param {() => Promise<Reply>} ask
 * @param {(status: number) => boolean} fits
 * @returns {Promise<Reply>}
 */
export async function sendUntil(ask, fits) {
  /** @type {Reply | undefined} */
  let reply;
  await waitFor(async () => {
    reply = await ask();
    return fits(reply.status);
  }, { intervalMs: 1, what: 'reply of the awaited status' });
  return /** @type {Reply} */ (/** @type {unknown} */ (reply));
}

/**
 * Waits until a server has ended by itself or by a signal sent before.
 * @param {import('./stack.mjs').Server} server
 */
export async function ended(server) {
  await waitFor(() => !server.running(), { what: 'end of the process' });
  return server.exited;
}

/** One frame on one stack, three samples at 10 ms: 20 ms by gaps and one interval for the last. */
export const smallTrace = {
  resources: ['https://shop.example/app.js'],
  frames: [{ name: 'work', resourceId: 0, line: 3, column: 7 }],
  stacks: [{ frameId: 0 }],
  samples: [{ timestamp: 10, stackId: 0 }, { timestamp: 20, stackId: 0 }, { timestamp: 30, stackId: 0 }],
};

/**
 * An envelope around the small trace.
 * @param {Record<string, unknown>} [members]
 * @returns {string}
 */
export function envelope(members = {}) {
  return JSON.stringify({ version: 1, sampleInterval: 10, trace: smallTrace, ...members });
}

/** The origin of the shop's pages. */
export const origin = 'https://shop.example';

/** A configuration with three sites and no database: uploads stay in the spool. */
export const spoolOnly = {
  database: 'host=/nonexistent dbname=fleetprof',
  sites: [
    { name: 'shop', key: 'pk_shop', origins: [origin, 'http://127.0.0.1:8080'] },
    { name: 'file', key: 'pk_file', origins: ['null'] },
    { name: 'server', key: 'pk_server' },
  ],
};

/**
 * Starts a collector of these sites with other limits.
 * @param {Record<string, unknown>} limits
 */
export const startLimited = (limits) => startCollector({ config: { ...spoolOnly, limits } });

/** Reasons of refusals that pass: 503. */
const passing = ['token_unchecked', 'sessions_full', 'spool_full', 'spool_failed', 'stopping', 'memory'];

/**
 * The series of a counter that are not 0, by their labels in the order of the page.
 * @param {Record<string, number>} metrics
 * @param {string} name
 * @returns {Record<string, number>} e.g. `shop origin` → 3
 */
export function seriesOf(metrics, name) {
  const series = Object.entries(metrics).filter(([key, value]) => key.startsWith(`${name}{`) && value > 0);
  return Object.fromEntries(series.map(([key, value]) => [[...key.matchAll(/"([^"]*)"/g)].map(([, label]) => label).join(' '), value]));
}

/**
 * How many uploads a collector says it has accepted, and how many requests it has refused for good or
 * deferred, all sites together.
 * @param {import('./stack.mjs').Collector} from
 */
export async function counted(from) {
  const metrics = await from.metrics();
  const sum = (/** @type {number[]} */ values) => values.reduce((a, b) => a + b, 0);
  const refusals = Object.entries(seriesOf(metrics, 'fleetprof_uploads_refused_total'));
  const isPassing = (/** @type {string} */ key) => passing.includes(key.split(' ')[1]);
  return {
    accepted: sum(Object.values(seriesOf(metrics, 'fleetprof_uploads_accepted_total'))),
    refused: sum(refusals.filter(([key]) => !isPassing(key)).map(([, value]) => value)),
    deferred: sum(refusals.filter(([key]) => isPassing(key)).map(([, value]) => value)),
  };
}
