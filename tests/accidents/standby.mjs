// SPDX-License-Identifier: Apache-2.0
/**
 * A primary and its streaming standby, each listening on an address of its own, and connection strings that name both.
 */
import assert from 'node:assert/strict';

import { freePort, postgresBinDir, psqlProgram, runOrThrow, sqlOver, startPostgres, startProcess, temporaryDir, waitFor } from '../behaviour/stack.mjs';

const shop = { site: 'demo', key: 'pk_demo' };

/** @typedef {import('../behaviour/stack.mjs').Postgres & { port: number }} Node a server that also listens on 127.0.0.1 */

/** @param {Record<string, string | number>} [settings] @returns {Promise<Node>} */
export async function startPrimary(settings = {}) {
  const port = await freePort();
  const postgres = await startPostgres({ migrated: true,
    settings: { listen_addresses: '127.0.0.1', port, wal_level: 'replica', wal_keep_size: '64MB', ...settings } });
  return { ...postgres, port };
}

/** A streaming standby of a primary. @param {Node} primary @param {string} name */
export async function startStandby(primary, name) {
  const bin = postgresBinDir();
  const dir = temporaryDir('standby');
  await runOrThrow(['chown', 'postgres:postgres', dir]);
  const port = await freePort();
  await runOrThrow([`${bin}/pg_basebackup`, '-D', `${dir}/data`, '-R', '-X', 'stream', '-c', 'fast',
    '-d', `host=${primary.socketDir} port=${primary.port} user=postgres application_name=${name}`], { user: 'postgres' });
  const server = startProcess('standby', [`${bin}/postgres`, '-D', `${dir}/data`, '-c', 'listen_addresses=127.0.0.1',
    '-c', `port=${port}`, '-c', `unix_socket_directories=${dir}`], { user: 'postgres', deathSignal: 'SIGQUIT' });
  const conninfo = `host=${dir} port=${port} dbname=fleetprof user=postgres`;
  const psql = (/** @type {string} */ text) => runOrThrow([psqlProgram(), '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', conninfo], { input: text });
  await waitFor(() => psql('select 1'), { what: 'standby' });
  await waitFor(async () => (await primary.sql('select 1 from pg_stat_replication where state = \'streaming\'')).length > 0,
    { what: 'stream' });
  return { server, port, conninfo, psql, sql: sqlOver({ socketDir: dir, port, database: 'fleetprof' }),
    promote: async () => {
      await psql('select pg_promote(false)');
      await waitFor(async () => (await psql('select pg_is_in_recovery()')).trim() === 'f', { what: 'promotion' });
    },
    stop: () => server.stop('SIGINT') };
}

/** A connection string of servers on 127.0.0.1. @param {{ port: number }[]} servers @param {string} [more] */
export const list = (servers, more = '') => `host=${servers.map(() => '127.0.0.1')} port=${servers.map(({ port }) => port)} `
  + `dbname=fleetprof user=fleetprof_writer connect_timeout=1 ${more}`;
export const primaryOf = (/** @type {{ port: number }[]} */ ...servers) => list(servers, 'target_session_attrs=read-write');

/** @param {import('./ledger.mjs').Ledger} ledger @param {{ url: string }} collector @param {number} count */
export async function uploads(ledger, collector, count) {
  for (let i = 0; i < count; i++) assert.equal(await ledger.upload(collector.url, shop), 204);
}

/** @param {(text: string) => Promise<any[]>} sql */
export const counted = async (sql) => (await sql('select count(*)::int as n from fleetprof.upload_log'))[0].n;

/** @param {(text: string) => Promise<any[]>} sql @param {number} count */
export const untilCounted = (sql, count) => waitFor(async () => await counted(sql) >= count, { what: `count of ${count}` });
