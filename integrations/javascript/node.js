// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof for Node's HTTP server and what stands on it: Express, Connect, Fastify. The contract: docs/decision.md.
 *
 *   app.use(fleetprof({ rate: 0.001, site: 'shop', keyFile: '/etc/fleetprof/token.key' }));  first
 *
 * Fastify: in `onRequest`, with `request.raw` and `reply.raw`.
 */
import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';

import { check, decide, timings } from './decision.js';

/**
 * @typedef {object} Options
 * @property {number} rate the share of page loads that are sampled, from 0 to 1
 * @property {string} [site] the site's name in the collector's configuration: with a key
 * @property {string} [keyFile] its first key signs tokens; without, pages carry none
 * @typedef {import('node:http').IncomingMessage} Request
 * @typedef {import('node:http').ServerResponse} Response
 */

/** Returns what writes the word of a sampled page. @param {Options} options */
function signer({ rate, site = '', keyFile }) {
  const made = () => `${Math.floor(Date.now() / 1000)}.${randomBytes(12).toString('base64url')}`;
  const line = keyFile === undefined ? undefined
    : fs.readFileSync(keyFile, 'utf8').split('\n').map((one) => one.trim()).find((one) => one && !one.startsWith('#')) ?? '';
  check(rate, site, line, `${keyFile}: the first key`);
  if (line === undefined) return () => `1.${made()}`;
  const hmac = (/** @type {string} */ text) => createHmac('sha256', Buffer.from(line, 'hex')).update(text);
  const keyId = hmac('fleetprof key id').digest('hex').slice(0, 8);
  return () => {
    const signed = `v1.${keyId}.${site}.${Math.round(rate * 1_000_000)}.${made()}`;
    return `${signed}.${hmac(signed).digest('base64url')}`;
  };
}

/** Returns the fields that a response has so far. @param {Response} response */
const fieldsOf = (response) => Object.entries(response.getHeaders()).flatMap(([name, value]) => [value ?? []].flat()
  .map((one) => /** @type {[string, string]} */ ([name, String(one)])));

/** Sets the fields that writeHead was given: an object, or names and values in turn. @param {Response} response @param {any} headers */
function setAll(response, headers = {}) {
  const flat = Array.isArray(headers) ? headers.flat() : [];
  const pairs = Array.isArray(headers) ? Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i], flat[2 * i + 1]]) : Object.entries(headers);
  /** @type {Map<string, any[]>} */
  const named = new Map();
  for (const [name, value] of pairs) if (value !== undefined) named.set(name, [...named.get(name) ?? [], value].flat());
  for (const [name, values] of named) response.setHeader(name, values.length === 1 ? values[0] : values);
}

/**
 * Makes a middleware that announces the decision when the response's head is written.
 * @param {Options} options
 */
export function fleetprof(options) {
  const sign = signer(options);
  /** @param {Request} request @param {Response} response @param {() => void} [next] */
  return (request, response, next) => {
    const { writeHead } = response;
    response.writeHead = /** @type {any} */ ((/** @type {number} */ status, /** @type {any[]} */ ...rest) => {
      response.writeHead = writeHead;
      const message = typeof rest[0] === 'string' ? [rest.shift()] : [];
      setAll(response, rest[0]);
      const fields = fieldsOf(response);
      const ask = (/** @type {string} */ name) => /** @type {string | undefined} */ (request.headers[name]);
      const decision = decide({ status, fields }, ask, options.rate);
      if (decision) {
        if (decision.policy) response.setHeader('Document-Policy', decision.policy);
        response.setHeader('Server-Timing', timings(fields, decision.profiled ? sign() : '0'));
        if (decision.profiled && status !== 304) for (const name of ['ETag', 'Last-Modified']) response.removeHeader(name);
      }
      return /** @type {any} */ (writeHead).call(response, status, ...message);
    });
    next?.();
  };
}
