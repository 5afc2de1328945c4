// SPDX-License-Identifier: Apache-2.0
/** Which files are documents or worker scripts. */
import { no, sampled, unsampled, yes } from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */

/** @type {(destination: string) => [string, string][]} */
const fetchedAs = (destination) => [['Sec-Fetch-Dest', destination]];

/** @type {Case[]} */
export const kinds = [
  { name: 'a_file_that_is_a_document', place: sampled, policy: [yes] },
  { name: 'a_file_that_is_none', place: sampled, path: '/app.js' },

  { name: 'a_worker_script', place: sampled, path: '/app.js', ask: fetchedAs('worker'), policy: [yes] },
  { name: 'a_shared_worker_script', place: unsampled, path: '/app.js', ask: fetchedAs('sharedworker'), policy: [no] },
  { name: 'a_service_worker_script_is_none', place: sampled, path: '/app.js', ask: fetchedAs('serviceworker') },
  { name: 'an_ordinary_script_is_none', place: sampled, path: '/app.js', ask: fetchedAs('script') },

  { name: 'a_part_of_a_document', place: sampled, ask: [['Range', 'bytes=0-1']], status: 206, policy: [yes] },
  { name: 'HEAD', place: sampled, method: 'HEAD', policy: [yes] },
  { name: 'HTTP_1_0', place: sampled, version: '1.0', policy: [yes] },
];
