// SPDX-License-Identifier: Apache-2.0
/**
 * HTTP/1 byte by byte, for both ends of a server under test: a client that shows every field line as
 * it came, and an upstream that sends every line as the case has it.
 */
import { once } from 'node:events';
import net from 'node:net';

/** @typedef {import('./cases.mjs').Answer} Answer */

/**
 * @typedef {object} Response
 * @property {number} status 0 when there was no status line (HTTP/0.9)
 * @property {[name: string, value: string][]} fields names in lower case
 * @property {string} body
 */

/** A server's first answers take seconds under valgrind. */
const patienceS = process.env.FLEETPROF_VALGRIND ? 60 : 10;

/**
 * Sends the bytes and reads until the server closes.
 * @param {number} port on 127.0.0.1
 * @param {string} bytes
 * @returns {Promise<Response>}
 */
export async function exchange(port, bytes) {
  const socket = net.connect(port, '127.0.0.1');
  socket.setTimeout(patienceS * 1000, () => socket.destroy(new Error(`no answer after ${patienceS} s`)));
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => { text += chunk; });
  socket.write(bytes, 'latin1');
  await once(socket, 'close');
  return parseResponse(text);
}

/**
 * @param {string} text
 * @returns {Response}
 */
function parseResponse(text) {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine, ...lines] = text.slice(0, end < 0 ? 0 : end).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0);
  if (status === 0) return { status, fields: [], body: text };
  return {
    status,
    fields: lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
    body: text.slice(end + 4),
  };
}

/**
 * All lines of a field, in order.
 * @param {Response} response
 * @param {string} name in lower case
 * @returns {string[]}
 */
export const linesOf = (response, name) => response.fields
  .filter(([field]) => field === name).map(([, value]) => value);

/**
 * The bytes of a request that asks the server to close afterwards.
 * @param {{ host: string, method?: string, path?: string, version?: string, ask?: [string, string][] }} request
 */
export function requestBytes({ host, method = 'GET', path = '/page.html', version = '1.1', ask = [] }) {
  const fields = [['Host', host], ['Connection', 'close'], ...ask];
  if (method === 'POST') fields.push(['Content-Length', '0']);
  return `${method} ${path} HTTP/${version}\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

const mayHaveBody = (/** @type {number} */ status) => status !== 304 && status !== 204;

/**
 * @param {Answer} answer
 * @returns {Buffer}
 */
function answerBytes({ status = 200, fields = [], body = '<p>upstream</p>' }) {
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = mayHaveBody(status) ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : '';
  return Buffer.from(`HTTP/1.1 ${status} Said\r\n${lines}${length}Connection: close\r\n\r\n`
    + (mayHaveBody(status) ? body : ''), 'latin1');
}

/**
 * Starts an upstream server. It is asked with the name of the case in `X-Case`, and the request's
 * path and fields choose the answer.
 * @param {(request: { name: string, path: string, revalidates: boolean, sampled?: string }) => Answer | undefined} choose
 *   sampled: what the server under test says in `X-Sampled`, if it does
 * @returns {Promise<{ port: number, stop: () => void }>}
 */
export async function startUpstream(choose) {
  const server = net.createServer((socket) => {
    let head = '';
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (chunk) => {
      head += chunk;
      if (!head.includes('\r\n\r\n')) return;
      const field = (/** @type {string} */ name) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(head)?.[1];
      const answer = choose({
        name: field('X-Case') ?? '',
        path: head.split(' ')[1],
        revalidates: field('If-None-Match') !== undefined,
        sampled: field('X-Sampled'),
      });
      setTimeout(() => socket.end(answerBytes(answer ?? { status: 500 })), answer?.delayMs ?? 0);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const { port } = /** @type {net.AddressInfo} */ (server.address());
  return { port, stop: () => { server.close(); } };
}
