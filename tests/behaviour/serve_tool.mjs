// SPDX-License-Identifier: Apache-2.0
/** fleetprof serve for tests: starts it, and sends requests that fetch() would not. */
import net from 'node:net';
import path from 'node:path';
import { binDir, freePort, startProcess, waitFor } from './stack.mjs';

/**
 * @typedef {object} Report
 * @property {import('./stack.mjs').Server} server
 * @property {number} port
 * @property {string} url
 * @property {(path: string, options?: RequestInit) => Promise<Response>} get
 * @property {(path: string) => Promise<any>} json the body of an answer; any other status is an error
 * @property {(path: string) => Promise<any>} problem the body of a problem, its status and type checked
 */

/**
 * Starts the server and waits until it listens.
 * @param {string} conninfo
 * @param {string[]} [options]
 * @returns {Promise<Report>}
 */
export async function startReport(conninfo, options = []) {
  const port = await freePort();
  const listen = options.includes('--listen') ? [] : ['--listen', `127.0.0.1:${port}`];
  const server = startProcess('fleetprof serve',
    [path.join(binDir, 'fleetprof'), 'serve', '--database', conninfo, ...listen, ...options]);
  await waitFor(() => server.output().includes('The report is at') || !server.running(), { what: 'report' });
  if (!server.running()) throw new Error(`fleetprof serve ended\n${server.output()}`);
  const url = `http://127.0.0.1:${port}`;
  /** @type {Report['get']} */
  const get = (target, init) => fetch(`${url}${target}`, init);
  return {
    server,
    port,
    url,
    get,
    json: async (target) => {
      const response = await get(target);
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${target}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
    problem: async (target) => {
      const response = await get(target);
      const body = await response.json();
      const type = response.headers.get('content-type');
      if (type !== 'application/problem+json' || body.status !== response.status || !body.detail)
        throw new Error(`${target}: ${response.status} ${type} ${JSON.stringify(body)}`);
      return { ...body, retryAfter: response.headers.get('retry-after') };
    },
  };
}

/**
 * Sends the bytes of a request and returns the status of the response and all of its text.
 * @param {number | string} port or the path of a unix socket
 * @param {string} request its lines; the rest of the head is added
 * @returns {Promise<{ status: number, text: string }>}
 */
export function sendRaw(port, request) {
  return new Promise((resolve, reject) => {
    const socket = typeof port === 'number' ? net.connect(port, '127.0.0.1') : net.connect(port);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece) => { text += piece; });
    socket.on('error', reject).on('close', () => resolve({ status: Number(text.slice(9, 12)), text }));
    socket.write(`${request}\r\nConnection: close\r\n\r\n`);
  });
}
