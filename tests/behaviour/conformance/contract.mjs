// SPDX-License-Identifier: Apache-2.0
/** Servers under the conformance test: the application behind them, the runner as a program, and a collector that reads their tokens. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { cases, rates, respond } from '../../../conformance/application.mjs';
import { readKey } from '../../../conformance/run.mjs';
import { envelope, send } from '../collector_client.mjs';
import { repository, run, startCollector, startPostgres, waitFor } from '../stack.mjs';

export const keyFile = path.join(repository, 'conformance/token.key');
export const key = readKey(keyFile);
export const all = cases.length + rates.length;

/** @typedef {{ url: string, stop: () => Promise<unknown> | void }} Running */

/**
 * Starts a server in this process.
 * @param {http.RequestListener} listener
 * @param {(socket: import('node:stream').Duplex) => void} [takeOver] answers requests for another protocol
 * @returns {Promise<Running>}
 */
export async function listen(listener, takeOver) {
  const server = http.createServer({ maxHeaderSize: 65536 }, listener).listen(0, '127.0.0.1');
  if (takeOver) server.on('upgrade', (_, socket) => takeOver(socket));
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, stop: () => { server.close(); server.closeAllConnections(); } };
}

/** Starts the application of the conformance test. */
export const startApplication = () => listen(respond);

/** Runs the conformance test. @param {string[]} options @returns {Promise<{ code: number, stdout: string, stderr: string }>} */
export const conform = async (...options) => /** @type {any} */ (await run(['node', path.join(repository, 'conformance/run.mjs'), ...options]));

/**
 * Fails unless the server keeps the contract, except the cases that it cannot keep.
 * @param {string} url
 * @param {{ cannot?: Record<string, string>, options?: string[] }} [setting] cannot: cases, and why
 */
export async function assertConforms(url, { cannot = {}, options = [] } = {}) {
  const { code, stdout, stderr } = await conform(url, ...options);
  const broken = stdout.split('\n').filter((line) => line.startsWith('not ok ')).map((line) => line.slice('not ok '.length));
  assert.deepEqual(broken, Object.keys(cannot), `${stdout.split('\n').filter((line) => !line.startsWith('ok ')).join('\n')}${stderr}`);
  assert.equal(stdout.trim().split('\n').at(-1), `${all - broken.length} passed, ${broken.length} failed`);
  assert.equal(code, broken.length > 0 ? 1 : 0);
}

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {(application: string) => Promise<Running>} start
 * @property {string | false} [skip] why it cannot be tested here
 * @property {string} [keys] the file of its key: conformance/token.key
 * @property {Record<string, string>} [cannot] cases that it cannot keep, and why
 */

/**
 * Tests servers that were set up for the conformance test: whether they keep the contract, and whether a collector that requires
 * tokens takes theirs, at their rate.
 * @param {Server[]} servers
 */
export function testServers(servers) {
  /** @type {Awaited<ReturnType<typeof startPostgres>>} */
  let postgres;
  /** @type {Awaited<ReturnType<typeof startCollector>>} */
  let collector;
  /** @type {Running} */
  let application;
  before(async () => {
    application = await startApplication();
    postgres = await startPostgres({ migrated: true });
    collector = await startCollector({ config: {
      database: postgres.conninfo('fleetprof_writer'), sites: [{ name: 'shop', key: 'pk_shop', require_token: true, token_keys: [...new Set([keyFile, ...servers.map(({ keys = keyFile }) => keys)])] }] } });
  });
  after(async () => {
    await collector?.stop();
    await postgres?.stop();
    await application?.stop();
  });

  let uploads = 0;
  for (const { name, start, skip, keys = keyFile, cannot } of servers) {
    test(`${name} keeps the contract, and a collector believes its tokens`, { skip }, async () => {
      const server = await start(application.url);
      try {
        await assertConforms(server.url, { cannot, options: ['--key', keys] });
        const page = await fetch(`${server.url}/all/a_sampled_page_says_yes`);
        const token = /"(v1\..*?)"/.exec(page.headers.get('server-timing') ?? '')?.[1];
        const { status, body } = await send(`${collector.url}/v1/ingest/pk_shop`, { body: envelope({ token }) });
        assert.equal(status, 204, body);
        uploads += 1;
        const rows = await waitFor(async () => {
          const found = await postgres.sql('select sample_rate::float8 as rate, count(*)::int as uploads from fleetprof.upload_log join fleetprof.segment using (segment_id) group by 1');
          return found[0]?.uploads === uploads && found;
        }, { what: 'the upload in the database' });
        assert.deepEqual(rows, [{ rate: 1, uploads }]);
        assert.equal((await collector.metrics())['fleetprof_page_tokens_total{verdict="good"}'], uploads);
      } finally {
        await server.stop();
      }
    });
  }
}
