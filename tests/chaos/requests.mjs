// SPDX-License-Identifier: Apache-2.0
/**
 * Requests: a single upload, several in a form, a part of a long session.
 */
import { makeUpload, sites } from './uploads.mjs';

/** @typedef {import('./random.mjs').Random} Random */
/** @typedef {import('./uploads.mjs').Upload} Upload */
/**
 * @typedef {object} Request
 * @property {string} path of the collector's
 * @property {Record<string, string>} headers
 * @property {Buffer} body
 * @property {Upload[]} uploads counted all together or not at all
 * @property {Upload[]} fresh those that were in no earlier request
 * @property {boolean} valid
 * @property {() => boolean} [isForgotten] of a part: whether its session may be unknown by now
 */

const repeatedMax = 4;

/** @param {string} site */
const pathOf = (site) => `/v1/ingest/pk_${site}`;

/** @param {Upload} upload @param {string} [path] @returns {Request} */
const single = (upload, path = pathOf(upload.site)) =>
  ({ path, headers: {}, body: upload.body, uploads: [upload], fresh: [upload], valid: upload.valid });

/** This header gives uploads without an id one. */
const keyHeader = 'idempotency-key';

/** @param {Random} random @param {Request} request @returns {Request} */
function withKey(random, request) {
  const uploads = request.uploads.map((upload) => ({ ...upload, named: true }));
  return { ...request, headers: { ...request.headers, [keyHeader]: random.uuid() }, uploads, fresh: uploads };
}

/** Sends it in chunks, without Content-Length. @param {Request} request @returns {Request} */
const inChunks = (request) => ({ ...request, headers: { ...request.headers, 'transfer-encoding': 'chunked' } });

/** @param {Random} random @param {Upload[]} fresh @param {Upload[]} repeated @returns {Request} */
function form(random, fresh, repeated) {
  const uploads = [...fresh, ...repeated];
  const boundary = random.uuid();
  const parts = uploads.map(({ body }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="upload"\r\n\r\n`), body, Buffer.from('\r\n')]);
  return {
    path: pathOf(uploads[0].site),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...parts.flat(), Buffer.from(`--${boundary}--\r\n`)]),
    uploads,
    fresh,
    valid: uploads.every(({ valid }) => valid),
  };
}

/**
 * A page's upload, alone or in a form; a form may repeat what the page sent before.
 * @param {Random} random
 * @param {Request} [last] of the same page
 * @returns {Request}
 */
export function makeRequest(random, last) {
  const site = last?.uploads[0].site ?? random.pick(sites).name;
  const load = last?.uploads[0].load ?? (random.chance(0.5) ? random.uuid() : undefined);
  const length = random.chance(0.15) ? 1 + random.below(4) : 1;
  const uploads = Array.from({ length }, () => makeUpload(random, { site, load }));
  const isRepeatable = last?.valid && last.uploads.length <= repeatedMax && !(keyHeader in last.headers);
  const repeated = isRepeatable && random.chance(0.05) ? last.uploads : [];
  const isAlone = uploads.length + repeated.length === 1;
  const plain = isAlone ? single(uploads[0]) : form(random, uploads, repeated);
  const request = repeated.length === 0 && random.chance(0.3) ? withKey(random, plain) : plain;
  return random.chance(0.1) ? inChunks(request) : request;
}

/** @param {string} site @param {string} session @param {string} [what] */
export const sessionPath = (site, session, what = '') => `${pathOf(site)}/sessions${session && `/${session}`}${what}`;

/**
 * @param {Random} random
 * @param {string} site
 * @param {string} session
 * @param {number} part
 */
export const makePart = (random, site, session, part) =>
  single(makeUpload(random, { site, session, part }), sessionPath(site, session, `?part=${part}`));
