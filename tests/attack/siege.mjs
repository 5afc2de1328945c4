// SPDX-License-Identifier: Apache-2.0
/**
 * A collector with one site under attack and one normal site, and the attack's cost: memory, database size, and the
 * other site's latency.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

import { envelope, send } from '../behaviour/collector_client.mjs';
import { startStack, waitFor } from '../behaviour/stack.mjs';

/** @typedef {import('./attacks.mjs').Options} Options */
/** @typedef {import('./attacks.mjs').Outcome} Outcome */

const mib = 1024 * 1024;
const drainMs = 240_000;
const quietMs = 1000;

/**
 * @param {Outcome} outcome
 * @returns {string}
 */
const inWords = (outcome) => Object.entries(outcome).map(([what, count]) => `${count} × ${what}`).join(', ');

/** @param {number[]} sorted @param {number} share */
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** @param {number[]} latencies ms */
function describe(latencies) {
  const sorted = [...latencies].sort((a, b) => a - b);
  return `p50 ${quantile(sorted, 0.5).toFixed(1)} ms, p99 ${quantile(sorted, 0.99).toFixed(1)} ms`;
}

/**
 * Two clients of the normal site: a new connection for each upload, and a pause between uploads.
 * @param {string} url
 * @returns {{ stop: () => Promise<{ latencies: number[], statuses: Outcome }> }}
 */
function startVisitors(url) {
  /** @type {number[]} */
  const latencies = [];
  /** @type {Outcome} */
  const statuses = {};
  let going = true;
  const running = Array.from({ length: 2 }, async () => {
    while (going) {
      const began = performance.now();
      const status = await send(url, { body: envelope() }).then((reply) => reply.status, (error) => error.code);
      latencies.push(performance.now() - began);
      statuses[status] = (statuses[status] ?? 0) + 1;
      await delay(10);
    }
  });
  return {
    stop: async () => {
      going = false;
      await Promise.all(running);
      return { latencies, statuses };
    },
  };
}

/**
 * @typedef {object} Siege
 * @property {import('../behaviour/stack.mjs').Stack} stack
 * @property {(t: import('node:test').TestContext, attack: keyof typeof import('./attacks.mjs').attacks,
 *   options: Omit<Options, 'url'>, most: { residentMiB: number, databaseMiB: number }) => Promise<Outcome>} under
 *   attacks, prints the cost, and fails if it exceeds the bounds
 */

/**
 * @param {Record<string, unknown>} [config] as in startStack
 * @returns {Promise<Siege>}
 */
export async function startSiege(config = {}) {
  const stack = await startStack({ config: {
    sites: ['attacked', 'quiet'].map((name) => ({ name, key: `pk_${name}`, formats: ['web', 'speed-tracer', 'opera-scope'] })),
    ...config,
  } });
  const { collector } = stack;
  const { pid } = collector.server;
  const site = (/** @type {string} */ name) => `${collector.url}/v1/ingest/pk_${name}`;
  const databaseBytes = async () => Number((await stack.sql(`select pg_database_size('fleetprof')::text as bytes`))[0].bytes);
  const forgetPeak = () => fs.writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const peakMiB = () => Number(fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmHWM:\s+(\d+)/)?.[1]) / 1024;

  const visitors = startVisitors(site('quiet'));
  await delay(quietMs);
  const quiet = await visitors.stop();
  assert.deepEqual(Object.keys(quiet.statuses), ['204']);

  return {
    stack,
    under: async (t, attack, options, most) => {
      const bytes = await databaseBytes();
      forgetPeak();
      const visitors = startVisitors(site('quiet'));
      const attacker = new Worker(new URL('./attacks.mjs', import.meta.url),
        { workerData: { attack, options: { url: site('attacked'), ...options } } });
      const attacked = once(attacker, 'message');
      await Promise.allSettled([attacked]);
      const { latencies, statuses } = await visitors.stop();
      const [outcome] = await attacked;
      await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0,
        { timeoutMs: drainMs, what: 'empty backlog' });
      const resident = peakMiB();
      const grown = (await databaseBytes() - bytes) / mib;
      t.diagnostic(`${attack}: ${inWords(outcome)}`);
      t.diagnostic(`  resident ${resident.toFixed(0)} MiB at most (bound ${most.residentMiB}), `
        + `database ${grown.toFixed(1)} MiB more (bound ${most.databaseMiB})`);
      t.diagnostic(`  the other site: ${inWords(statuses)}; ${describe(latencies)} (quiet: ${describe(quiet.latencies)})`);
      assert.deepEqual(Object.keys(statuses), ['204'], 'the other site gets 204 for each of its uploads');
      assert.ok(resident <= most.residentMiB, `${resident.toFixed(0)} MiB resident`);
      assert.ok(grown <= most.databaseMiB, `the database grew by ${grown.toFixed(1)} MiB`);
      return outcome;
    },
  };
}
