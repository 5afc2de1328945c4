// SPDX-License-Identifier: Apache-2.0
/** Decides on a page load, and says which fields of the response that changes. The contract: docs/decision.md. */

/**
 * @typedef {[name: string, value: string][]} Fields names in lower case
 * @typedef {{ status: number, fields: Fields }} Response as the application made it
 * @typedef {(name: string) => string | null | undefined} Ask returns a field of the request
 * @typedef {{ policy?: string, profiled: boolean }} Decision policy: the new Document-Policy, undefined: that of the application
 */

// RFC 9651, section 4.2: a dictionary's members.
const item = String.raw`(?:-?\d{1,12}\.\d{1,3}|-?\d{1,15}|"(?:[ !#-\[\]-~]|\\["\\])*"|[A-Za-z*][\w!#$%&'*+.^|~:\/\x60-]*|:[A-Za-z0-9+\/=]*:|\?[01]|@-?\d{1,15}|%"(?:[ !#$&-~]|%[0-9a-f]{2})*")`;
const key = '[a-z*][a-z0-9_.*-]*';
const parameters = `(?:; *${key}(?:=${item})?)*`;
const member = `(${key})(?:=(${item}|\\( *(?:${item}${parameters}(?: +|(?=\\))))*\\)))?${parameters}`;
const members = new RegExp(`(?:^ *|(?<!^)[ \\t]*,[ \\t]*)${member} *(?=[ \\t]*(?:,|$))`, 'gy');

/** Returns the last value of each key; undefined if browsers would drop the text. @param {string} text */
function read(text) {
  /** @type {Map<string, string>} */
  const found = new Map();
  let end = 0;
  for (const [whole, name, value = '?1'] of text.matchAll(members)) {
    found.set(name, value);
    end += whole.length;
  }
  return text.slice(end).trim() === '' ? found : undefined;
}

/** @param {Fields} fields @param {string} name */
const lines = (fields, name) => fields.filter(([one]) => one === name).map(([, value]) => value);

/** Splits at commas outside of quotes. @param {string} text @returns {string[]} */
const split = (text) => text.match(/(?:"(?:\\.|[^"\\])*"?|[^,"])+|(?<=^|,)(?=,|$)/g) ?? [];

/** May shared caches store what has this Cache-Control, and Expires? @param {string} control @param {string} [expires] */
function isShared(control, expires = '') {
  const all = split(control).map((one) => one.split(/=(.*)/s).map((part) => part.trim()));
  const has = (/** @type {string} */ name, argument = /^/) => all.some(([one, said = '']) => one.toLowerCase() === name && argument.test(said));
  if (has('no-store')) return false;
  const isFresh = has('max-age', /^"?0*[1-9]/) || (!has('max-age') && /^\s*[a-z]{3,9},? .*:/i.test(expires) && Date.parse(expires) > Date.now());
  return has('public') || has('s-maxage') || (isFresh && !has('private', /^$/));
}

/** @param {Fields} fields */
const isCacheable = (fields) => isShared(lines(fields, 'cache-control').join(), lines(fields, 'expires')[0])
  || fields.some(([name, value]) => /^surrogate-control$|.-cache-control$/.test(name) && isShared(value));

/** Is the response a document or a worker's script? @param {Response} response @param {Ask} ask */
function isDocument({ status, fields }, ask) {
  const isPage = (/** @type {string} */ type) => /^\s*(text\/html|application\/xhtml\+xml)\s*(;|$)/i.test(type);
  const [type = ''] = lines(fields, 'content-type');
  const destination = ask('sec-fetch-dest') || 'empty';
  if (isPage(type) || ['worker', 'sharedworker'].includes(destination)) return true;
  if (status !== 304 || type !== '') return false;
  if (ask('sec-fetch-mode') === 'navigate') return true;
  return destination === 'empty' ? split(ask('accept') ?? '').some(isPage) : ['document', 'iframe', 'frame', 'embed', 'object'].includes(destination);
}

/**
 * Decides; undefined if the response stays as it is.
 * @param {Response} response
 * @param {Ask} ask
 * @param {number} rate from 0 to 1
 * @returns {Decision | undefined}
 */
export function decide(response, ask, rate) {
  const { status, fields } = response;
  if (!((status >= 200 && status < 300) || status === 304) || !isDocument(response, ask)) return undefined;
  const said = lines(fields, 'document-policy');
  if (status === 304 && said.length === 0) return undefined;
  const profiled = Math.random() < rate && !isCacheable(fields);
  const policy = [...said.join(', ') ? said : [], profiled ? 'js-profiling, js-profiling-mode=lazy' : 'js-profiling=?0'].join(', ');
  const found = policy.length > 4096 ? undefined : read(said.join(', '));
  if (!found) return { profiled: false };
  const own = [found.get('js-profiling-mode'), found.get('js-profiling')];
  if (own.every((one) => one === undefined)) return { policy, profiled };
  return /^[A-Za-z*]/.test(own[0] ?? '') || own[1] === '?1' ? undefined : { profiled: false };
}

/**
 * Throws an error if an option cannot be used.
 * @param {number} rate @param {string} site @param {string | undefined} key as hexadecimal digits @param {string} [subject] the key, in an error
 */
export function check(rate, site, key, subject = 'the key') {
  if (!(rate === 0 || (rate >= 0.000001 && rate <= 1))) throw new Error(`fleetprof: rate ${rate} is not 0, and not from 0.000001 to 1`);
  if (key === undefined) return;
  if (!/^([0-9a-f]{2}){32,128}$/i.test(key)) throw new Error(`fleetprof: ${subject} is not 32 to 128 bytes as hexadecimal digits`);
  if (!/^[\w.-]{1,64}$/.test(site)) throw new Error(`fleetprof: site "${site}" is not 1 to 64 of A-Z a-z 0-9 . _ -`);
}

/**
 * Returns the lines of Server-Timing: our metric before those of the application.
 * @param {Fields} fields @param {string} word the token, `1.TIME.NONCE`, or `0`
 */
export const timings = (fields, word) => [`fleetprof;desc="${word}"`, ...lines(fields, 'server-timing').flatMap((line) => {
  const others = split(line).filter((one) => !/^\s*fleetprof(?![\w!#$%&'*+.^|~`-])/.test(one));
  return others.length === split(line).length ? line : others.join().trim() || [];
})];
