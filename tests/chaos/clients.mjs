// SPDX-License-Identifier: Apache-2.0
/**
 * Clients as browsers are: they send, are cut off, send the same again, to another collector too, until
 * they have a 204 or a 4xx or give up. The ledger holds what they were promised.
 */
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

import { waitFor } from '../behaviour/stack.mjs';
import { enter, isFinal } from './ledger.mjs';
import { makePart, makeRequest, sessionPath } from './requests.mjs';
import { sites } from './uploads.mjs';

/** @typedef {import('./ledger.mjs').Ledger} Ledger */
/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./requests.mjs').Request} Request */
/**
 * Where clients may send to.
 * @typedef {object} Door
 * @property {string} url
 * @property {boolean} open closed: clients send elsewhere
 * @property {number} lives how often what is behind it was started
 * @property {number} inFlight requests that have not ended
 */
/** @typedef {'whole' | 'cut in mid-body' | 'cut before the answer'} Manner */
/** @typedef {{ status: number, text: string }} Answer status 0: none came, or was waited for */

/** @type {Manner[]} */
const cuts = ['cut in mid-body', 'cut before the answer'];
const attemptTimeoutMs = 20_000;
const openMs = 120_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

/**
 * @param {string} url
 * @param {{ body: Buffer, headers: Record<string, string> }} request
 * @param {Manner} manner
 * @returns {Promise<Answer>}
 */
function attempt(url, { body, headers }, manner) {
  return new Promise((resolve) => {
    const answer = { status: 0, text: '' };
    const request = http.request(url, {
      method: 'POST',
      headers: 'transfer-encoding' in headers ? headers : { 'content-length': body.length, ...headers },
      agent: manner === 'whole' ? agent : false,
      signal: AbortSignal.timeout(attemptTimeoutMs),
    });
    request.on('error', () => resolve(answer));
    request.on('close', () => resolve(answer));
    request.on('response', (response) => {
      answer.status = response.statusCode ?? 0;
      response.on('error', () => {});
      response.on('data', (piece) => { answer.text += piece; });
    });
    if (manner === 'cut in mid-body') request.write(body.subarray(0, body.length / 2), () => request.destroy());
    else if (manner === 'cut before the answer') request.end(body, () => request.destroy());
    else request.end(body);
  });
}

/**
 * @param {Door} door
 * @param {string} path
 * @param {{ body: Buffer, headers: Record<string, string> }} request
 * @param {Manner} manner
 */
async function sendTo(door, path, request, manner) {
  door.inFlight++;
  try {
    return await attempt(`${door.url}${path}`, request, manner);
  } finally {
    door.inFlight--;
  }
}

/**
 * Sends until it is certain what became of the request, or, seldom, gives up; the last status.
 * @param {Request} request
 * @param {Door[]} doors
 * @param {Random} random
 * @param {Ledger} ledger
 */
async function deliver(request, doors, random, ledger) {
  const home = random.pick(doors);
  for (let attempts = 0; ; attempts++) {
    await waitFor(() => doors.some((door) => door.open), { timeoutMs: openMs, what: 'open collector' });
    const open = doors.filter((door) => door.open);
    const door = home.open && !random.chance(0.2) ? home : random.pick(open);
    const manner = random.chance(0.08) ? random.pick(cuts) : 'whole';
    const answers = await Promise.all((random.chance(0.03) ? open : [door])
      .map((one) => sendTo(one, request.path, request, manner)));
    for (const { status } of answers) enter(ledger, request, status, manner !== 'cut in mid-body');
    if (attempts > 0) ledger.retries++;
    const final = answers.find(({ status }) => isFinal(status));
    if (final) return final.status;
    // An upload that was refused for now and is not sent again must not count.
    if (random.chance(answers.some(({ status }) => status === 503) ? 0.2 : 0.03)) {
      ledger.abandoned++;
      return 0;
    }
    await delay(10 + random.below(100));
  }
}

/**
 * A long session: starts it, sends its parts, stops it, all at one collector. After a restart the
 * collector no longer knows the session.
 * @param {Door} door
 * @param {Random} random
 * @param {Ledger} ledger
 */
async function runSession(door, random, ledger) {
  const { lives } = door;
  const site = random.pick(sites).name;
  const turn = (/** @type {string} */ path) =>
    sendTo(door, path, { body: Buffer.alloc(0), headers: {} }, 'whole');
  const { status, text } = await turn(sessionPath(site, '', `?window=${random.below(2 ** 31)}`));
  if (status !== 201) return;
  ledger.sessions++;
  const { session } = JSON.parse(text);
  for (let part = 0, left = 1 + random.below(4); left > 0; part++, left--) {
    const request = makePart(random, site, session, part);
    request.isForgotten = () => door.lives !== lives;
    if ((await deliver(request, [door], random, ledger)) === 400 && request.valid) return;
  }
  await turn(sessionPath(site, session, '/stop'));
}

/**
 * @param {object} given
 * @param {Door[]} given.doors
 * @param {number} given.clients
 * @param {number} given.pauseMs between two requests of one client, at most
 * @param {Random} given.random
 * @param {Ledger} given.ledger
 * @returns {() => Promise<void>} ends it: no new requests, and waits for those on their way
 */
export function startClients({ doors, clients, pauseMs, random, ledger }) {
  let stopping = false;
  const running = Array.from({ length: clients }, async () => {
    const content = random.branch();
    const course = random.branch();
    /** @type {Request | undefined} */
    let last;
    while (!stopping) {
      const request = makeRequest(content, last);
      if (request.fresh.length > 1) ledger.forms.push(request.fresh);
      await deliver(request, doors, course, ledger);
      // A browser that did not read its 204 sends once more, sooner or later.
      if (last && course.chance(0.05)) await deliver(last, doors, course, ledger);
      if (course.chance(0.02)) await runSession(course.pick(doors), course, ledger);
      last = content.chance(0.7) ? request : undefined;
      await delay(course.below(pauseMs));
    }
  });
  return async () => {
    stopping = true;
    await Promise.all(running);
    agent.destroy();
  };
}
