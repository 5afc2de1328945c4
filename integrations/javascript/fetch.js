// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof for runtimes whose handlers take a Request and return a Response, such as Cloudflare Workers and Deno. The contract:
 * docs/decision.md.
 *
 *   const decided = fleetprof({ rate: 0.001, site: 'shop', key: '9f…' }, (request) => fetch(request, { redirect: 'manual' }));
 *   export default { fetch: decided };
 */
import { check, decide, timings } from './decision.js';

/**
 * @typedef {object} Options
 * @property {number} rate the share of page loads that are sampled, from 0 to 1
 * @property {string} [site] the site's name in the collector's configuration: with a key
 * @property {string} [key] signs tokens, as hexadecimal digits; without, pages carry none
 */

const base64url = (/** @type {Uint8Array} */ bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');

/** Returns what writes the word of a sampled page. @param {Options} options @returns {() => Promise<string>} */
function signer({ rate, site = '', key }) {
  check(rate, site, key);
  const made = () => `${Math.floor(Date.now() / 1000)}.${base64url(crypto.getRandomValues(new Uint8Array(12)))}`;
  if (key === undefined) return async () => `1.${made()}`;
  const bytes = Uint8Array.from(key.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  /** @type {Promise<CryptoKey> | undefined} */
  let imported;
  const hmac = async (/** @type {string} */ text) => {
    imported ??= crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    return new Uint8Array(await crypto.subtle.sign('HMAC', await imported, new TextEncoder().encode(text)));
  };
  return async () => {
    const keyId = Array.from((await hmac('fleetprof key id')).slice(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('');
    const signed = `v1.${keyId}.${site}.${Math.round(rate * 1_000_000)}.${made()}`;
    return `${signed}.${base64url(await hmac(signed))}`;
  };
}

/**
 * Makes a handler that announces the decision in the responses of another one.
 * @template {unknown[]} Rest
 * @param {Options} options
 * @param {(request: Request, ...rest: Rest) => Response | Promise<Response>} handler
 */
export function fleetprof(options, handler) {
  const sign = signer(options);
  return async (/** @type {Request} */ request, /** @type {Rest} */ ...rest) => {
    const response = await handler(request, ...rest);
    const { status, statusText, body } = response;
    const fields = [...response.headers];
    const decision = decide({ status, fields }, (name) => request.headers.get(name), options.rate);
    if (!decision) return response;
    const headers = new Headers(response.headers);
    if (decision.policy) headers.set('Document-Policy', decision.policy);
    headers.delete('Server-Timing');
    for (const line of timings(fields, decision.profiled ? await sign() : '0')) headers.append('Server-Timing', line);
    if (decision.profiled && status !== 304) for (const name of ['ETag', 'Last-Modified']) headers.delete(name);
    return new Response(body, { status, statusText, headers });
  };
}
