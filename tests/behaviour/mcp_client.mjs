// SPDX-License-Identifier: Apache-2.0
/** fleetprof mcp with the protocol's own client. */
import path from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { binDir } from './stack.mjs';

/**
 * The answer of a tool.
 * @typedef {object} Excerpt
 * @property {string} text as it was sent
 * @property {string} note
 * @property {string} answer
 * @property {Record<string, any>[]} rows with what is the same in each row
 * @property {string | undefined} sql
 * @property {string | undefined} command
 */

/** @param {string} text @returns {Excerpt} */
export function read(text) {
  const { note, answer, columns, same_in_each_row: same, rows, sql, command } = JSON.parse(text);
  const objects = rows.map((/** @type {unknown[]} */ row) => ({ ...same, ...Object.fromEntries(row.map((cell, i) => [columns[i], cell])) }));
  return { text, note, answer, rows: objects, sql, command };
}

/** Starts the server. @param {string[]} options */
export const connect = (options) => connectBy(new StdioClientTransport({ command: path.join(binDir, 'fleetprof'), args: ['mcp', ...options], stderr: 'inherit' }));

/** Connects to fleetprof serve --mcp. @param {string} url */
export const connectTo = (url) => connectBy(new StreamableHTTPClientTransport(new URL(url)));

/**
 * Connects, and calls the server's tools.
 * @param {import('@modelcontextprotocol/sdk/shared/transport.js').Transport} transport
 */
async function connectBy(transport) {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  /** @param {string} name @param {Record<string, unknown>} [given] @returns {Promise<{ isError: boolean, text: string }>} */
  const call = async (name, given = {}) => {
    const { content, isError } = /** @type {any} */ (await client.callTool({ name, arguments: given }));
    return { isError, text: content[0].text };
  };
  return {
    client,
    call,
    /** Returns what a tool answers; an error of the tool is an error. @param {string} name @param {Record<string, unknown>} [given] */
    ask: async (name, given) => {
      const { isError, text } = await call(name, given);
      if (isError) throw new Error(`${name}: ${text}`);
      return read(text);
    },
    close: () => client.close(),
  };
}
