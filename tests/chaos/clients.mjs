/**
 * Clients as browsers are: they send, are cut off, send the same again, to another collector too, until
 * they have a 204 or a 4xx. The ledger holds what they were promised.
 */
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { waitFor } from '../behaviour/stack.mjs';
import { makeUpload } from './uploads.mjs';

/** @typedef {import('./uploads.mjs').Upload} Upload */
/**
 * Where clients may send to.
 * @typedef {object} Door
 * @property {string} url
 * @property {boolean} open closed: clients send elsewhere
 * @property {number} inFlight requests that have not ended
 */
/**
 * @typedef {object} Ledger
 * @property {Map<string, Upload>} acknowledged by id
 * @property {number} refused uploads answered with 4xx
 * @property {string[]} surprises answers that the upload did not deserve
 * @property {number} replies 204s, those to repeated uploads too
 * @property {number} retries attempts after the first one of an upload
 * @property {number} deferred 503s and 429s
 * @property {number} unanswered attempts whose answer was not read: refused, lost or cut off
 */
/** @typedef {'whole' | 'cut in mid-body' | 'cut before the answer'} Manner */

/** @type {Manner[]} */
const cuts = ['cut in mid-body', 'cut before the answer'];
const attemptTimeoutMs = 20_000;
const openMs = 120_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/**
 * One attempt; its status, 0 when no answer came (or was waited for).
 * @param {string} url
 * @param {Buffer} body
 * @param {Manner} manner
 * @returns {Promise<number>}
 */
function attempt(url, body, manner) {
  return new Promise((resolve) => {
    const request = http.request(url, {
      method: 'POST',
      headers: { 'content-length': body.length },
      agent: manner === 'whole' ? agent : false,
      signal: AbortSignal.timeout(attemptTimeoutMs),
    });
    request.on('error', () => resolve(0));
    request.on('close', () => resolve(0));
    request.on('response', (response) => {
      response.on('error', () => {});
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    if (manner === 'cut in mid-body') request.write(body.subarray(0, body.length / 2), () => request.destroy());
    else if (manner === 'cut before the answer') request.end(body, () => request.destroy());
    else request.end(body);
  });
}

/**
 * @param {Door} door
 * @param {Upload} upload
 * @param {Manner} manner
 */
async function sendTo(door, upload, manner) {
  door.inFlight++;
  try {
    return await attempt(`${door.url}/v1/ingest/pk_${upload.site}`, upload.body, manner);
  } finally {
    door.inFlight--;
  }
}

/**
 * Sends until it is certain what became of the upload.
 * @param {Upload} upload
 * @param {Door[]} doors
 * @param {import('./random.mjs').Random} random
 * @param {Ledger} ledger
 */
async function deliver(upload, doors, random, ledger) {
  const home = random.pick(doors);
  for (let attempts = 0; ; attempts++) {
    await waitFor(() => doors.some((door) => door.open), { timeoutMs: openMs, what: 'open collector' });
    const open = doors.filter((door) => door.open);
    const door = home.open && !random.chance(0.2) ? home : random.pick(open);
    const manner = random.chance(0.08) ? random.pick(cuts) : 'whole';
    const status = await sendTo(door, upload, manner);
    if (attempts > 0) ledger.retries++;
    if (status === 0) ledger.unanswered++;
    if (status === 429 || status >= 500) ledger.deferred++;
    if (status === 0 || status === 429 || status >= 500) {
      await delay(10 + random.below(100));
      continue;
    }
    if ((status === 204) !== upload.valid) ledger.surprises.push(`${upload.id} was answered with ${status}`);
    if (status === 204) {
      ledger.replies++;
      ledger.acknowledged.set(upload.id, upload);
    } else {
      ledger.refused++;
    }
    return;
  }
}

/**
 * @param {object} given
 * @param {Door[]} given.doors
 * @param {number} given.clients
 * @param {number} given.pauseMs between two uploads of one client, at most
 * @param {import('./random.mjs').Random} given.random
 * @returns {{ ledger: Ledger, finish: () => Promise<void> }} finish: no new uploads, and waits for those on their way
 */
export function startClients({ doors, clients, pauseMs, random }) {
  /** @type {Ledger} */
  const ledger = {
    acknowledged: new Map(), refused: 0, surprises: [], replies: 0, retries: 0,
    deferred: 0, unanswered: 0,
  };
  let stopping = false;
  const running = Array.from({ length: clients }, async () => {
    const own = random.branch();
    /** @type {Upload | undefined} */
    let last;
    while (!stopping) {
      const upload = makeUpload(own);
      await deliver(upload, doors, own, ledger);
      // A browser that did not read its 204 sends once more, sooner or later.
      if (last && own.chance(0.05)) await deliver(last, doors, own, ledger);
      last = upload;
      await delay(own.below(pauseMs));
    }
  });
  return {
    ledger,
    finish: async () => {
      stopping = true;
      await Promise.all(running);
      agent.destroy();
    },
  };
}
