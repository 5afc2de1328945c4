// SPDX-License-Identifier: Apache-2.0
/**
 * A cluster of real servers with Citus on loopback, set up as docs/citus.md says.
 */
import fs from 'node:fs';
import path from 'node:path';

import { blocksOf } from '../behaviour/manual.mjs';
import { freePort, postgresBinDir, psqlProgram, runOrThrow, startPostgres } from '../behaviour/stack.mjs';

/**
 * @typedef {import('../behaviour/stack.mjs').Postgres} Postgres
 * @typedef {Postgres & { port: number }} Node
 */

/** @returns {string | undefined} why there is no Citus here */
export function missingCitus() {
  const bin = postgresBinDir();
  const library = path.join(bin, '../lib/citus.so');
  return fs.existsSync(library) ? undefined : `PostgreSQL has no Citus: there is no ${path.normalize(library)}`;
}

const [configuration] = blocksOf('citus.md', 'ini');
/** The lines of postgresql.conf that the manual gives. */
const settings = Object.fromEntries(configuration.trim().split('\n').map((line) => {
  const [, name, value] = /^([a-z_0-9.]+) = '?([^']*)'?$/.exec(line) ?? [];
  if (!name) throw new Error(`docs/citus.md: no setting: ${line}`);
  return [name, value];
}));

/**
 * @param {Record<string, string | number>} [more] settings beside the manual's
 * @returns {Promise<Node>}
 */
export async function startNode(more = {}) {
  const port = await freePort();
  const postgres = await startPostgres({
    settings: {
      ...settings, listen_addresses: '127.0.0.1', port, max_connections: 100, shared_buffers: '48MB',
      'citus.node_conninfo': 'sslmode=disable', ssl: 'off', log_statement: 'none', ...more,
    },
  });
  return Object.assign(postgres, { port });
}

/**
 * Runs a block of the manual: its hosts become the nodes.
 * @param {string} block
 * @param {{ [host: string]: Node }} hosts
 * @returns {string}
 */
export function withHosts(block, hosts) {
  let text = block;
  for (const [host, { port, socketDir }] of Object.entries(hosts)) {
    text = text.replaceAll(`'${host}', 5432`, `'127.0.0.1', ${port}`).replaceAll(`host=${host}`, `host=${socketDir} port=${port}`);
  }
  const [left] = /\b[a-z]+[0-9]?\.example\b/.exec(text) ?? [];
  if (left) throw new Error(`docs/citus.md: nobody is ${left}`);
  return text;
}

/**
 * @param {Node} node
 * @param {string} database
 */
export async function createDatabase(node, database) {
  await runOrThrow([psqlProgram(), '-Xq', '-d', node.conninfo('postgres', 'postgres'), '-c', `create database ${database}`]);
}

/**
 * @param {Node} node
 * @param {string} database
 * @param {string} script
 * @param {string} [user]
 */
export const execute = (node, database, script, user = 'postgres') =>
  runOrThrow([psqlProgram(), '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', node.conninfo(user, database)], { input: script });

/**
 * @param {Node} node
 * @param {string} database
 * @param {string} text
 * @param {string} [user]
 * @returns {Promise<any[]>}
 */
export const rows = async (node, database, text, user) => JSON.parse(
  await execute(node, database, `select coalesce(json_agg(row_), '[]') from (\n${text}\n) row_`, user));
