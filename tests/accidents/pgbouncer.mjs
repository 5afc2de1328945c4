// SPDX-License-Identifier: Apache-2.0
/**
 * A private PgBouncer in front of a private PostgreSQL.
 */
import fs from 'node:fs';
import path from 'node:path';

import { run, startProcess, temporaryDir, waitFor } from '../behaviour/stack.mjs';

const isRoot = process.getuid?.() === 0;

/**
 * @typedef {object} PgBouncer
 * @property {import('../behaviour/stack.mjs').Server} server
 * @property {(user?: string) => string} conninfo of the database, through the pooler
 * @property {(postgres: { host: string, port: number }) => void} lead to another server; clients stay connected
 * @property {() => Promise<void>} stop
 *
 * It makes at most `size` connections to the server for each role.
 * @param {Pick<import('../behaviour/stack.mjs').Postgres, 'socketDir'> & { port?: number }} postgres
 * @param {{ mode: 'session' | 'transaction' | 'statement', size?: number, settings?: Record<string, string | number>, database?: string }} options
 * @returns {Promise<PgBouncer>}
 */
export async function startPgBouncer(postgres, { mode, size = 3, settings = {}, database = 'fleetprof' }) {
  const dir = temporaryDir('pgbouncer');
  const users = path.join(dir, 'users.txt');
  const file = path.join(dir, 'pgbouncer.ini');
  const wanted = {
    listen_addr: '', unix_socket_dir: dir, listen_port: 6432, auth_type: 'trust', auth_file: users,
    pool_mode: mode, default_pool_size: size, reserve_pool_size: 0, max_client_conn: 200, admin_users: 'postgres', ...settings,
  };
  fs.writeFileSync(users, ['postgres', 'fleetprof_owner', 'fleetprof_writer', 'fleetprof_reader'].map((name) => `"${name}" ""\n`).join(''));
  const write = (/** @type {string} */ host, /** @type {number} */ port) => fs.writeFileSync(file, `[databases]\n${
    database} = host=${host} port=${port}\n[pgbouncer]\n${Object.entries(wanted).map(([name, value]) => `${name} = ${value}\n`).join('')}`);
  write(postgres.socketDir, postgres.port ?? 5432);
  // It refuses to run as root.
  if (isRoot) await run(['chown', '-R', 'postgres:postgres', dir]);
  const server = startProcess('pgbouncer', ['/usr/sbin/pgbouncer', file], { user: 'postgres', deathSignal: 'SIGTERM' });
  await waitFor(() => fs.existsSync(path.join(dir, '.s.PGSQL.6432')), { what: 'pgbouncer' })
    .catch((error) => { throw new Error(server.output(), { cause: error }); });
  return {
    server,
    conninfo: (user = 'fleetprof_writer') => `host=${dir} port=6432 dbname=${database} user=${user}`,
    lead: ({ host, port }) => {
      write(host, port);
      process.kill(server.pid, 'SIGHUP');
    },
    stop: async () => { await server.stop('SIGINT'); },
  };
}
