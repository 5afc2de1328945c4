// SPDX-License-Identifier: Apache-2.0
/**
 * The ledger of one accident: which uploads each site's collector acknowledged, compared with what the database counted.
 *
 *     const ledger = openLedger();
 *     await ledger.upload(collector.url, { site: 'shop', key: 'pk_shop' });   // the status; a 204 is entered
 *     await ledger.settle('database boots 500 days ahead', postgres.sql);     // waits, compares, enters the result
 *
 * `tests/accidents/total.mjs` adds up what the tests of one run entered.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { envelope, send } from '../behaviour/collector_client.mjs';
import { repository, waitFor } from '../behaviour/stack.mjs';

/** One JSON object per accident. */
export const resultsFile = path.join(repository, 'build', 'check', 'accidents.jsonl');

/**
 * @typedef {object} Result
 * @property {string} accident
 * @property {number} acknowledged uploads that got a 204
 * @property {number} counted rows of upload_log with their ids
 * @property {number} missing acknowledged, but not in upload_log
 * @property {number} twice in upload_log more than once
 * @property {number} misplaced in upload_log under another site
 */

/**
 * @typedef {object} Ledger
 * @property {(url: string, upload: { site: string, key: string, body?: Record<string, unknown>, id?: string,
 *     headers?: Record<string, string> }) => Promise<number>} upload
 *   sends an envelope with an id of its own and returns the status; 0: no answer
 * @property {(site: string, id: string) => void} enter notes an upload that the test sent by itself and got a 204 for
 * @property {() => number} acknowledged
 * @property {(accident: string, sql: (text: string) => Promise<any[]>, options?: { timeoutMs?: number }) => Promise<Result>} settle
 *   waits until the database has counted as many uploads as were acknowledged, then compares; fails on any difference
 */

/** @returns {Ledger} */
export function openLedger() {
  /** @type {Map<string, string>} upload id → site */
  const acknowledged = new Map();
  return {
    upload: async (url, { site, key, body = {}, id = randomUUID(), headers = {} }) => {
      const sent = send(`${url}/v1/ingest/${key}`, { body: envelope({ id, ...body }), headers });
      const status = await sent.then((reply) => reply.status, () => 0);
      if (status === 204) acknowledged.set(id, site);
      return status;
    },
    enter: (site, id) => { acknowledged.set(id, site); },
    acknowledged: () => acknowledged.size,
    settle: async (accident, sql, { timeoutMs = 60_000 } = {}) => {
      const rows = () => sql('select upload_id::text as id, site from fleetprof.upload_log');
      await waitFor(async () => (await rows()).filter(({ id }) => acknowledged.has(id)).length >= acknowledged.size,
        { timeoutMs, what: 'count of all acknowledged uploads' }).catch(() => {}); // the comparison says what is missing
      const result = compare(accident, acknowledged, await rows());
      fs.mkdirSync(path.dirname(resultsFile), { recursive: true });
      fs.appendFileSync(resultsFile, `${JSON.stringify(result)}\n`);
      const { missing, twice, misplaced } = result;
      assert.deepEqual({ missing, twice, misplaced }, { missing: 0, twice: 0, misplaced: 0 }, accident);
      return result;
    },
  };
}

/**
 * @param {string} accident
 * @param {Map<string, string>} acknowledged
 * @param {{ id: string, site: string }[]} rows
 * @returns {Result}
 */
export function compare(accident, acknowledged, rows) {
  const own = rows.filter(({ id }) => acknowledged.has(id));
  const ids = new Set(own.map(({ id }) => id));
  return {
    accident,
    acknowledged: acknowledged.size,
    counted: own.length,
    missing: acknowledged.size - ids.size,
    twice: own.length - ids.size,
    misplaced: own.filter(({ id, site }) => acknowledged.get(id) !== site).length,
  };
}
