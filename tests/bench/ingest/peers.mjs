// SPDX-License-Identifier: Apache-2.0
/**
 * The servers that are measured: fleetprofd and, on the same machine and in front of the same PostgreSQL, what others would
 * build. All are started once and idle while another one is measured.
 */
import net from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { buildDir, freePort, repository, startCollector, startNginx, startProcess, temporaryDir, waitFor }
  from '../../behaviour/stack.mjs';
import { firstRequest } from './bodies.mjs';

const here = path.join(repository, 'tests/bench/ingest');

/** @param {string} name of a program in tests/bench/meson.build */
export const benchProgram = (name) => path.join(buildDir, 'trees/plain/tests/bench', name);

/**
 * @typedef {import('../../behaviour/stack.mjs').Postgres} Postgres
 * @typedef {import('../../behaviour/stack.mjs').Collector} Collector
 *
 * @typedef {object} Peer
 * @property {string} name
 * @property {number} port
 * @property {number} pid
 * @property {() => Promise<void>} emptied removes what it stored
 * @property {() => Promise<void>} stop
 */

/** @param {Postgres} postgres @param {Record<string, string>} [flush] @returns {Promise<Collector>} */
export const startFleetprof = (postgres, flush = {}) => startCollector({
  config: {
    database: postgres.conninfo('fleetprof_writer'),
    spool: { path: path.join(temporaryDir('spool'), 'spool'), max_bytes: '4GiB' },
    flush,
  },
});

/** @param {number} port */
const listens = (port) => waitFor(() => new Promise((resolve, reject) => {
  const socket = net.connect(port, '127.0.0.1', () => { socket.destroy(); resolve(true); }).on('error', reject);
}), { what: 'listener' });

/** @param {Postgres} postgres @param {string} name @param {string[]} command @param {number} port @returns {Promise<Peer>} */
async function startJsonb(postgres, name, command, port) {
  const server = startProcess(name, command);
  await listens(port);
  return {
    name,
    port,
    pid: server.pid,
    emptied: async () => { await postgres.execute('truncate trace'); },
    stop: async () => { await server.stop('SIGTERM').catch(() => server.stop('SIGKILL')); },
  };
}

/** Starts the server that a team would write first. @param {Postgres} postgres */
export async function startFastify(postgres) {
  const port = await freePort();
  return startJsonb(postgres, 'Fastify + pg jsonb', ['node', path.join(here, 'fastify_jsonb.mjs'), String(port), postgres.socketDir], port);
}

/** The best that a jsonb column allows. @param {Postgres} postgres */
export async function startJsonbCopy(postgres) {
  const port = await freePort();
  return startJsonb(postgres, 'our HTTP + COPY jsonb', [benchProgram('jsonb_copy'), String(port), postgres.conninfo()], port);
}

/**
 * nginx, which reads the whole body, as the mirror module makes it do before anything answers, and answers 204: the
 * handler behind it refuses a POST, and that becomes the 204.
 * @param {string} bodies their file
 * @returns {Promise<Peer>}
 */
export async function startNginx204(bodies) {
  const port = await freePort();
  const nginx = await startNginx({
    port,
    modules: [],
    conf: `
  client_max_body_size 8m; client_body_buffer_size 128k; keepalive_requests 1000000;
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / { mirror /read; mirror_request_body on; empty_gif; error_page 405 = @done; }
    location @done { return 204; }
    location = /read { internal; return 204; }
  }`,
  });
  await answersOnlyWholeBodies(port, bodies);
  return { name: 'nginx, 204', port, pid: nginx.server.pid, emptied: async () => {}, stop: nginx.stop };
}

/** Sends all but the last byte of a request, sees no reply, and then one. @param {number} port @param {string} bodies */
async function answersOnlyWholeBodies(port, bodies) {
  const request = firstRequest(bodies);
  let reply = '';
  const socket = net.connect(port, '127.0.0.1').setEncoding('latin1').on('data', (text) => { reply += text; });
  socket.write(request.subarray(0, -1));
  await delay(200);
  if (reply !== '') throw new Error(`nginx answers before it has the body: ${reply}`);
  socket.write(request.subarray(-1));
  await waitFor(() => reply.startsWith('HTTP/1.1 204'), { what: '204 of nginx' });
  socket.destroy();
}

/** The table of the two jsonb peers. @param {Postgres} postgres */
export const createTraceTable = (postgres) => postgres.execute(
  'create table trace (received timestamptz default now(), body jsonb compression lz4)');
