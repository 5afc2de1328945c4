// SPDX-License-Identifier: Apache-2.0
/**
 * The ledger: what clients sent and which answers they got, and so how often each upload must be counted.
 */

/** @typedef {import('./requests.mjs').Request} Request */
/** @typedef {import('./uploads.mjs').Upload} Upload */
/** @typedef {{ upload: Upload, least: number, most: number }} Promised how often it counts */
/**
 * @typedef {object} Ledger
 * @property {Map<string, Promised>} uploads by key: those that were answered with 204 or not at all
 * @property {Upload[][]} forms what each one was the first to send
 * @property {string[]} surprises answers that the request did not deserve
 * @property {number} replies 204s, those to repeated uploads too
 * @property {number} refused requests answered with 4xx
 * @property {number} deferred 503s and 429s
 * @property {number} unanswered attempts whose answer was not read: refused, lost or cut off
 * @property {number} retries attempts after the first one of a request
 * @property {number} abandoned requests that were not sent again though they had neither 204 nor 4xx
 * @property {number} sessions long sessions
 */

/** @returns {Ledger} */
export const emptyLedger = () => ({
  uploads: new Map(), forms: [], surprises: [],
  replies: 0, refused: 0, deferred: 0, unanswered: 0, retries: 0, abandoned: 0, sessions: 0,
});

/** @param {number} status 0: no answer */
export const isFinal = (status) => status !== 0 && status !== 429 && status < 500;

/**
 * 204: the upload counts. No answer: it may count. Another answer, or only a part sent: it does not.
 * @param {Ledger} ledger
 * @param {Request} request
 * @param {number} status 0: no answer
 * @param {boolean} isWhole all of the request was sent
 */
export function enter(ledger, request, status, isWhole) {
  if (status === 0) ledger.unanswered++;
  else if (status === 204) ledger.replies++;
  else if (isFinal(status)) ledger.refused++;
  else ledger.deferred++;
  if (isFinal(status) && (status === 204) !== request.valid && !request.isForgotten?.()) {
    ledger.surprises.push(`${request.path} ${request.uploads[0].key} was answered with ${status}`);
  }
  const mayCount = status === 204 || (status === 0 && isWhole);
  if (!request.valid || !mayCount) return;
  for (const upload of request.uploads) {
    const promised = ledger.uploads.get(upload.key) ?? { upload, least: 0, most: 0 };
    const times = (/** @type {number} */ before, /** @type {number} */ more) =>
      (upload.named ? Math.max(before, more) : before + more);
    promised.least = times(promised.least, status === 204 ? 1 : 0);
    promised.most = times(promised.most, 1);
    ledger.uploads.set(upload.key, promised);
  }
}

/** @param {Ledger} ledger */
export function inWords({ uploads, replies, retries, deferred, unanswered, abandoned, refused, sessions, forms }) {
  const acknowledged = [...uploads.values()].filter(({ least }) => least > 0).length;
  return `${acknowledged} uploads acknowledged, ${uploads.size - acknowledged} in doubt, ${replies} times 204, `
    + `${retries} retries, ${deferred} times 503, ${unanswered} unanswered, ${abandoned} abandoned, `
    + `${refused} refused, ${forms.length} forms, ${sessions} long sessions`;
}
