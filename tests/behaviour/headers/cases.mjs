// SPDX-License-Identifier: Apache-2.0
/**
 * The changes that the server modules make to a response, as data: nothing in here knows which server it is. A
 * setting is written as nginx's directive without the semicolon; httpd's follow from it by name.
 * KEY_FILE in a setting stands for a path, see `withKeyFile` in token.mjs.
 *
 * Files that every server has: /page.html, /app.js and /pixel.gif, last modified at `fileTime`.
 *
 * @typedef {object} Answer what upstream sends
 * @property {number} [status] 200
 * @property {[name: string, value: string][]} [fields] in this order, as they are
 * @property {string} [body]
 * @property {number} [delayMs] from the request to its first byte
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {string[]} [server] settings of the virtual host
 * @property {string[]} [place] settings of its only location
 * @property {Answer} [answer] upstream's answer; without it, a file is served
 * @property {Answer} [revalidated] upstream's answer when the request has If-None-Match
 * @property {string} [method] GET
 * @property {string} [path] /page.html
 * @property {'1.0' | '1.1'} [version]
 * @property {[name: string, value: string][]} [ask] request fields
 * @property {number} [status] expected, 200
 * @property {string[]} [policy] expected lines of Document-Policy: by default, none
 * @property {string[]} [origins] expected lines of Timing-Allow-Origin: by default, none
 * @property {string[]} [serverTiming] expected lines of Server-Timing, as `shown` of token.mjs has them
 * @property {Record<string, string[]>} [fields] expected lines of other fields
 * @property {[sampled: string, rate: string, reason: string]} [log] expected values of the variables
 * @property {Pick<Case, 'policy' | 'origins' | 'serverTiming' | 'fields' | 'log'>} [httpd] what httpd is expected to say instead
 */
import { arms } from './cases/arms.mjs';
import { choices } from './cases/choices.mjs';
import { conditional, serviceWorkers } from './cases/conditional.mjs';
import { contract } from './cases/contract.mjs';
import { inheritance } from './cases/inheritance.mjs';
import { kinds } from './cases/kinds.mjs';
import { merging } from './cases/merging.mjs';
import { reporting } from './cases/reports.mjs';
import { sampling } from './cases/sampling.mjs';
import { shares } from './cases/shares.mjs';
import { timing } from './cases/timing.mjs';
import { timingCases, tokenCases } from './cases/tokens.mjs';
import { trials } from './cases/trials.mjs';

/** @type {Case[]} */
export const cases = [...contract, ...merging, ...sampling, ...kinds, ...conditional, ...serviceWorkers, ...choices, ...reporting, ...timing, ...tokenCases, ...timingCases,
  ...inheritance, ...trials, ...shares, ...arms];
