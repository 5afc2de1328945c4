// SPDX-License-Identifier: Apache-2.0
/**
 * The shop behind each server that is built; and what every test of it needs: whatever was started is stopped,
 * also when only half of it has come up, and a process that something holds open ends all the same.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { temporaryDir } from '../behaviour/stack.mjs';
import { startApp } from './app.mjs';
import { buildSite } from './build.mjs';
import { makeCertificate } from './certificate.mjs';
import { siteServers } from './servers.mjs';

const stopLimitMs = 20_000;
const exitLimitMs = 10_000;

/** @type {(() => unknown)[]} */
const stops = [];
let stopping = false;

/**
 * Waits for something that has no time-out of its own.
 * @template T
 * @param {Promise<T>} promise
 * @param {string} what
 * @param {number} [timeoutMs]
 * @returns {Promise<T>}
 */
export async function within(promise, what, timeoutMs = stopLimitMs) {
  const inTime = new AbortController();
  const late = delay(timeoutMs, undefined, { signal: inTime.signal }).then(
    () => { throw new Error(`no ${what} after ${timeoutMs} ms`); },
    () => /** @type {never} */ (undefined));
  try {
    return await Promise.race([promise, late]);
  } finally {
    inTime.abort();
  }
}

/**
 * Waits until something has started, and has stopAll stop it.
 * @template T
 * @param {Promise<T>} starting
 * @param {(started: T) => unknown} stop
 * @returns {Promise<T>}
 */
export async function keep(starting, stop) {
  const started = await starting;
  if (stopping) await stop(started);
  else stops.push(() => stop(started));
  return started;
}

/** Stops what was kept, the latest first; throws the first error when all had their turn. For `after`. */
export async function stopAll() {
  stopping = true;
  /** @type {unknown[]} */
  const errors = [];
  for (const stop of stops.reverse()) {
    await within(Promise.resolve().then(stop), `end of what ${stop} stops`).catch((error) => errors.push(error));
  }
  setTimeout(() => {
    console.error(`something is still open after ${exitLimitMs} ms`);
    process.exit(1);
  }, exitLimitMs).unref();
  if (errors.length > 0) throw errors[0];
}

/**
 * @typedef {object} Shop
 * @property {import('./app.mjs').App} app
 * @property {import('./servers.mjs').SiteServer[]} servers those that are built
 * @property {string[]} flags Chromium's, to find the shop and trust it
 * @property {string} tokenKey a file
 */

/**
 * Starts the shop at 100 %.
 * @param {import('./servers.mjs').Host[]} hosts
 * @param {string} ingest the collector's URL
 * @returns {Promise<Shop>}
 */
export async function startShop(hosts, ingest) {
  const tokenKey = `${temporaryDir('key')}/token.key`;
  fs.writeFileSync(tokenKey, crypto.randomBytes(32).toString('hex'));
  const dir = temporaryDir('shop');
  fs.chmodSync(dir, 0o755);
  const [build, tls] = await Promise.all([buildSite(dir), makeCertificate()]);
  const optionsOf = (/** @type {string} */ name) => hosts.find((host) => host.name === name)?.app;
  const app = await keep(startApp(build, optionsOf), ({ stop }) => stop());
  const servers = await Promise.all(siteServers.filter(({ missing }) => !missing).map(({ start }) => keep(
    start({ hosts, app: app.url, ingest, build, tls, tokenKey, rate: '100%' }), ({ stop }) => stop())));
  return { app, servers, flags: tls.flags, tokenKey };
}
