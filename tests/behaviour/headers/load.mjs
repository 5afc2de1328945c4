// SPDX-License-Identifier: Apache-2.0
/** Many HEAD requests, and what their answers said. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';

import { no, yes } from './cases/words.mjs';

const perConnection = 1000;

/**
 * Sends the requests in one go on one connection.
 * @param {number} port
 * @param {string} host
 * @param {string[]} paths
 * @returns {Promise<{ yes: boolean, worker: string, arm: string | undefined }[]>} for each, in order; worker is what `X-Worker`
 *   says, arm that of chat in the token
 */
async function askOnce(port, host, paths) {
  const socket = net.connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => { text += chunk; });
  socket.write(paths.map((path, i) => `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\n${
    i === paths.length - 1 ? 'Connection: close\r\n' : ''}\r\n`).join(''));
  await once(socket, 'close');
  const worker = /^x-worker: (.*)\r$/im.exec(text)?.[1] ?? '';
  const said = [...text.matchAll(/^document-policy: (.*)\r$/gim)].map(([, value]) => value);
  assert.equal(said.length, paths.length);
  assert.ok(said.every((value) => value === yes || value === no));
  const arms = [...text.matchAll(/^server-timing: (?:.*\bchat=(\w+))?/gim)].map(([, arm]) => arm);
  return said.map((value, i) => ({ yes: value === yes, worker, arm: arms[i] }));
}

/**
 * Requests all paths, on four connections at a time, with up to a thousand requests each.
 * @param {number} port
 * @param {string} host
 * @param {string[]} paths
 */
export async function ask(port, host, paths) {
  const batches = Array.from({ length: Math.ceil(paths.length / perConnection) },
    (_, i) => paths.slice(i * perConnection, (i + 1) * perConnection));
  /** @type {{ yes: boolean, worker: string, arm: string | undefined }[][]} */
  const answers = [];
  let next = 0;
  await Promise.all(Array.from({ length: 4 }, async () => {
    while (next < batches.length) {
      const i = next++;
      answers[i] = await askOnce(port, host, batches[i]);
    }
  }));
  return answers.flat();
}
