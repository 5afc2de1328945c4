// SPDX-License-Identifier: Apache-2.0
/**
 * A 304 replaces the fields it carries in the stored response and keeps the others: a browser must not keep an old
 * yes, and the application's members must not be erased.
 */
import { fileTime, no, pageWith, policyLines, sampled, unsampled, yes } from './words.mjs';

/** @type {[string, string][]} */
const changedSince = [['If-Modified-Since', fileTime]];

/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const notModified = (...lines) => ({ status: 304, fields: [['ETag', '"v1"'], ...policyLines(lines)] });

/** @type {import('../cases.mjs').Case[]} */
export const conditional = [
  { name: 'a_files_304_says_yes', place: sampled, status: 304, policy: [yes],
    ask: [...changedSince, ['Accept', 'text/html,*/*']], log: ['1', '1', 'sampled'] },
  { name: 'a_files_304_says_no', place: unsampled, status: 304, policy: [no],
    ask: [...changedSince, ['Accept', 'text/html,*/*']] },
  { name: 'a_304_goes_by_where_the_browser_will_use_it', place: unsampled, status: 304, policy: [no],
    ask: [...changedSince, ['Sec-Fetch-Dest', 'iframe'], ['Accept', '*/*']] },
  { name: 'a_304_of_a_worker_script', place: unsampled, path: '/app.js', status: 304, policy: [no],
    ask: [...changedSince, ['Sec-Fetch-Dest', 'worker']] },
  { name: 'a_304_of_an_image_says_nothing', place: sampled, path: '/pixel.gif', status: 304,
    ask: [...changedSince, ['Sec-Fetch-Dest', 'image'], ['Accept', 'text/html']] },
  { name: 'a_files_304_goes_by_the_type_of_the_file', place: unsampled, status: 304, policy: [no],
    ask: [...changedSince, ['Accept', '*/*']] },
  { name: 'a_304_of_an_image_in_place_of_a_page_says_nothing', place: sampled, path: '/pixel.gif', status: 304,
    ask: [...changedSince, ['Sec-Fetch-Dest', 'document'], ['Sec-Fetch-Mode', 'navigate']] },
  { name: 'a_sampled_file_keeps_its_validators', place: sampled, policy: [yes], fields: { 'last-modified': [fileTime] } },
];

/** The fields of a navigation that a service worker passes on by `fetch(event.request)`. @type {[string, string][]} */
const passedOn = [['Sec-Fetch-Dest', 'empty'], ['Sec-Fetch-Mode', 'navigate']];
/** The fields of a service worker's own request for a navigation: a copy, or the address alone. @type {[string, string][]} */
const copied = [['Sec-Fetch-Dest', 'empty'], ['Sec-Fetch-Mode', 'same-origin'], ['Accept', 'text/html,*/*;q=0.8']];
/** @type {[string, string][]} */
const byAddress = [['Sec-Fetch-Dest', 'empty'], ['Sec-Fetch-Mode', 'cors'], ['Accept', '*/*']];
/** @type {[string, string]} */
const ifNoneMatch = ['If-None-Match', '"v1"'];
const send = 'fleetprof_not_modified send';

/** @type {import('../cases.mjs').Case[]} */
export const serviceWorkers = [['passed_on', passedOn], ['copied', copied], ['by_address', byAddress]].flatMap(([how, fields]) => {
  const ask = /** @type {[string, string][]} */ (fields);
  return [
    { name: `service worker: a_file: ${how}`, place: sampled, ask, policy: [yes] },
    { name: `service worker: a_files_304_says_no: ${how}`, place: unsampled, ask: [...changedSince, ...ask], status: 304,
      policy: [no] },
    { name: `service worker: a_files_304_says_yes: ${how}`, place: sampled, ask: [...changedSince, ...ask], status: 304,
      policy: [yes] },
    { name: `service worker: a_304_of_a_script_says_nothing: ${how}`, place: unsampled, path: '/app.js', status: 304,
      ask: [...changedSince, ...ask] },
    // Nothing in a request by the address alone tells a page from an image.
    ...(how === 'by_address' ? [] : [
      { name: `service worker: upstreams_304_under_send_says_no: ${how}`, place: [...unsampled, send], status: 304,
        ask: [ifNoneMatch, ...ask], answer: pageWith(), revalidated: notModified(), policy: [no] },
    ]),
  ];
});
