// SPDX-License-Identifier: Apache-2.0
/**
 * Sends envelopes, one after the other: with fetch and compressed while the page lives, with sendBeacon and
 * uncompressed when it may end at any moment.
 */

import { fetch, Promise, sendBeacon, setTimeout } from './natives.js';

/** Waits of 2, 4, 8, 16 and 32 s: a collector that restarts within a minute loses nothing. */
const maxAttempts = 6;
const maxPauseMs = 300_000;
/** As long as proxies wait for a hanging collector by default. */
const attemptTimeoutMs = 60_000;
/** A proxy says 502 or 504 when the collector is down; 0 means no answer; the others are the collector's own "later". */
const laterStatuses = [0, 408, 429, 502, 503, 504];
const maxProblemLength = 500;

/**
 * A body travels with its request. Not a Blob, whose data can get lost when the page ends.
 * @typedef {string | ArrayBuffer} Body a string is text/plain, which needs no preflight either
 *
 * @typedef {{ text: string, packed?: Body }} Upload
 * @typedef {object} Sender
 * @property {(text: string) => void} send queues an envelope
 * @property {() => void} flush sends all at once that nobody has answered for; for a page that may end
 * @property {() => Promise<void>} done fulfilled when nothing waits
 * @property {boolean} [isAway] whether the page is hidden, so that what comes is flushed
 * @property {string} [problem] why something was not sent
 */

/**
 * @param {string} endpoint
 * @param {(text: string) => void} log
 * @param {() => void} giveUp called when it makes no sense to go on
 */
export function makeSender(endpoint, log, giveUp) {
  /** @type {Upload[]} */
  let waiting = [];
  /** The upload that fetch is sending. @type {Upload | undefined} */
  let inFlight;
  let attempts = 0;
  /** @type {globalThis.Promise<void> | undefined} */
  let working;
  let wake = () => {};

  addEventListener('online', () => wake());
  /** @type {Sender} */
  const sender = { send, flush, done };
  return sender;

  /** @param {string} text */
  function send(text) {
    if (sender.problem) return;
    waiting.push({ text });
    if (sender.isAway) flush();
    done();
  }

  function done() {
    return working ??= workOnce();
  }

  function flush() {
    if (VITALS) {
      /** @param {Upload} upload */
      const rank = (upload) => [upload === inFlight, upload.text.includes('"vitals":['), upload.text.includes('"samples":['), true]
        .indexOf(true);
      waiting.sort((a, b) => rank(a) - rank(b));
    }
    waiting = waiting.filter((upload) => {
      // An upload that is too large for the browser's remaining room must not hold up the others.
      if (upload === inFlight || !sendBeacon(endpoint, upload.packed ?? upload.text)) return true;
      if (DEBUG) log(`left to the browser to send (${kilobytes(upload.packed ?? upload.text)})`);
      return false;
    });
  }

  async function workOnce() {
    try {
      await work();
    } finally {
      working = undefined;
    }
  }

  async function work() {
    for (let upload = waiting[0]; upload; upload = waiting[0]) {
      upload.packed ??= await compress(upload.text);
      if (waiting[0] !== upload) continue; // a beacon has it
      inFlight = upload;
      const [status, detail, retryAfterMs] = await post(endpoint, upload.packed);
      inFlight = undefined;
      if (status === 204) {
        if (DEBUG) log(`sent (${kilobytes(upload.packed)}, 204)`);
        attempts = 0;
        waiting.shift();
        continue;
      }
      if (navigator.onLine) attempts++;
      // Random, so that tabs that were refused together do not retry together.
      const pause = Math.max(retryAfterMs, 1000 * 2 ** attempts) * (1 + Math.random() / 2);
      if (!laterStatuses.includes(status) || attempts === maxAttempts || pause > maxPauseMs) {
        sender.problem = DEBUG ? `not accepted after ${attempts} of ${maxAttempts} attempts: ${detail}` : detail;
        log(sender.problem);
        waiting = [];
        giveUp();
        break;
      }
      log(DEBUG ? `${detail}; again in ${Math.round(pause / 1000)} s` : detail);
      await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
        if (!status) wake = resolve;
        setTimeout(resolve, pause);
      });
    }
  }
}

/** @param {Body} body */
const kilobytes = (body) => `${((typeof body === 'string' ? body.length : body.byteLength) / 1024).toFixed(1)} KB`;

/**
 * Compresses a body. The collector knows gzip by its first bytes: a Content-Encoding header would cost a preflight.
 * @param {string} text
 * @returns {Promise<Body>}
 */
async function compress(text) {
  try {
    const plain = /** @type {{ body: ReadableStream }} */ (new Response(text));
    return await new Response(plain.body.pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
  } catch { // an older browser, or one of these is the page's own
    return text;
  }
}

/**
 * @param {string} endpoint
 * @param {Body} body
 * @returns {Promise<[status: number, detail: string, retryAfterMs: number]>} status 0: no answer
 */
async function post(endpoint, body) {
  try {
    const reply = await fetch(endpoint, {
      method: 'post',
      body,
      keepalive: true, // the page may end meanwhile
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout?.(attemptTimeoutMs), // newer than Profiler
    });
    return [reply.status, DEBUG ? await describe(reply) : `${reply.status}`, retryAfter(reply.headers.get('retry-after'))];
  } catch (error) { // or too much is in flight for keepalive
    return [0, DEBUG ? `no answer from ${endpoint} (network, CORS or Content-Security-Policy): ${error}` : `${error}`, 0];
  }
}

/**
 * Describes a reply. A success other than 204 is a page of the application.
 * @param {Response} reply
 */
async function describe(reply) {
  const { status, headers, redirected, url } = reply;
  const from = redirected ? ` from ${url}` : '';
  if (reply.ok) return `${status}${from}, but a collector answers 204`;
  const isProblem = headers.get('Content-Type')?.startsWith('application/problem+json');
  const problem = isProblem ? await reply.json().catch(() => null) : null;
  return `${status}${from} ${problem?.detail ?? ''}`.trim().slice(0, maxProblemLength);
}

/**
 * @param {string | null} header seconds or a date (RFC 9110, 10.2.3)
 * @returns {number} ms, less than 0 for a time that has passed; 0 when it says nothing
 */
function retryAfter(header) {
  return Number(header) * 1000 || Date.parse(/** @type {string} */ (header)) - Date.now() || 0;
}
