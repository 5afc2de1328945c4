// SPDX-License-Identifier: Apache-2.0
/** Which responses are documents or worker scripts. */
import { html, no, sampled, unsampled, yes } from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */

/**
 * @param {string} type
 * @returns {import('../cases.mjs').Answer}
 */
const ofType = (type) => ({ fields: [['Content-Type', type]] });

/** @type {(destination: string) => [string, string][]} */
const fetchedAs = (destination) => [['Sec-Fetch-Dest', destination]];

/** @type {Case[]} */
export const kinds = [
  ...['text/html; charset=utf-8', 'text/html;charset="utf-8"', 'TEXT/HTML', 'text/html; profile=x; charset=utf-8',
    'application/xhtml+xml'].map((type) => (
    { name: `a_document: ${type}`, place: sampled, answer: ofType(type), policy: [yes] })),
  ...['text/plain', 'application/json', 'text/html5', 'image/svg+xml', 'text/javascript'].map((type) => (
    { name: `no_document: ${type}`, place: sampled, answer: ofType(type),
      log: /** @type {[string, string, string]} */ (['', '', 'type']) })),
  { name: 'no_document: no type', place: sampled, path: '/page', answer: {} },
  { name: 'a_file_that_is_a_document', place: sampled, policy: [yes] },
  { name: 'a_file_that_is_none', place: sampled, path: '/app.js' },

  { name: 'a_worker_script', place: sampled, path: '/app.js', ask: fetchedAs('worker'), policy: [yes] },
  { name: 'a_shared_worker_script', place: unsampled, path: '/app.js', ask: fetchedAs('sharedworker'), policy: [no] },
  { name: 'a_service_worker_script_is_none', place: sampled, path: '/app.js', ask: fetchedAs('serviceworker') },
  { name: 'an_ordinary_script_is_none', place: sampled, path: '/app.js', ask: fetchedAs('script') },

  { name: 'status_201', place: sampled, answer: { status: 201, fields: [html] }, status: 201, policy: [yes] },
  ...[301, 302, 307, 400, 404, 410, 500, 503].map((status) => (
    { name: `status_${status}_is_not_ours`, place: sampled, answer: { status, fields: [html] }, status,
      log: /** @type {[string, string, string]} */ (['', '', 'status']) })),
  { name: 'what_the_app_says_on_an_error_page_is_left_alone', place: sampled, status: 404,
    answer: { status: 404, fields: [html, ['Document-Policy', 'a,']] }, policy: ['a,'] },
  { name: 'a_part_of_a_document', place: sampled, ask: [['Range', 'bytes=0-1']], status: 206, policy: [yes] },
  { name: 'HEAD', place: sampled, method: 'HEAD', policy: [yes] },
  { name: 'POST', place: sampled, method: 'POST', answer: { fields: [html] }, policy: [yes] },
  { name: 'HTTP_1_0', place: sampled, version: '1.0', policy: [yes] },
];
