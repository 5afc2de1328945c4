// SPDX-License-Identifier: Apache-2.0
/** Responses that shared caches may serve to others are not sampled. */
import { html, no, sampled, unsampled, yes } from './words.mjs';

/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const cached = (...lines) => ({ fields: [html, ...lines.map(
  (line) => /** @type {[string, string]} */ (['Cache-Control', line]))] });

/** @type {(...fields: [string, string][]) => import('../cases.mjs').Answer} */
const sending = (...fields) => ({ fields: [html, ...fields] });
const ahead = 'Fri, 31 Dec 2100 23:59:59 GMT';
const past = 'Thu, 19 Nov 1981 08:52:00 GMT';

/** @type {[name: string, value: string][][]} */
const sharedFields = [
  [['Expires', ahead]],
  [['Expires', ahead], ['Cache-Control', 'no-transform']],
  [['CDN-Cache-Control', 'max-age=60'], ['Cache-Control', 'no-store']],
  [['cloudflare-cdn-cache-control', 's-maxage=60'], ['Cache-Control', 'private']],
  [['Surrogate-Control', 'max-age=60+30, content="ESI/1.0"'], ['Cache-Control', 'private, max-age=0']],
];
/** @type {[name: string, value: string][][]} */
const ownFields = [
  [['Expires', past]],
  [['Expires', '0']],
  [['Expires', ahead], ['Cache-Control', 'private']],
  [['Expires', ahead], ['Cache-Control', 'max-age=0']],
  [['Expires', ahead], ['Cache-Control', 'no-store']],
  [['CDN-Cache-Control', 'no-store']],
  [['CDN-Cache-Control', 'max-age=0']],
  [['Surrogate-Control', 'no-store, content="ESI/1.0"']],
  [['Cache-Controls', 'public'], ['Uncache-Control', 'public']],
];

/** @type {import('../cases.mjs').Case[]} */
export const caching = [
  ...[['public'], ['s-maxage=10'], ['private, s-maxage=10'], ['max-age=60'], ['no-cache', 'max-age=60'],
    ['max-age=60, private="set-cookie"'], ['PUBLIC']].map((lines) => (
    { name: `shared: ${lines.join(' | ')}`, place: sampled, answer: cached(...lines), policy: [no],
      log: /** @type {[string, string, string]} */ (['0', '1', 'cacheable']) })),
  ...[['private'], ['max-age=60, private'], ['private', 'max-age=60'], ['max-age=0'], ['no-store'],
    ['no-cache'], ['public, no-store'], ['x="public"']].map((lines) => (
    { name: `not_shared: ${lines.join(' | ')}`, place: sampled, answer: cached(...lines), policy: [yes],
      log: /** @type {[string, string, string]} */ (['1', '1', 'sampled']) })),
  ...sharedFields.map((fields) => (
    { name: `shared: ${fields.join(' | ')}`, place: sampled, answer: sending(...fields), policy: [no],
      log: /** @type {[string, string, string]} */ (['0', '1', 'cacheable']) })),
  ...ownFields.map((fields) => (
    { name: `not_shared: ${fields.join(' | ')}`, place: sampled, answer: sending(...fields), policy: [yes],
      log: /** @type {[string, string, string]} */ (['1', '1', 'sampled']) })),
  { name: 'an_unsampled_one_is_unsampled_by_its_rate', place: unsampled, answer: cached('public'), policy: [no],
    log: ['0', '0', 'rate'] },
];
