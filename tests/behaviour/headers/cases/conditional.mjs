// SPDX-License-Identifier: Apache-2.0
/**
 * A 304 replaces the fields it carries in the stored response and keeps the others: a browser must not keep an old
 * yes, and the application's members must not be erased.
 */
import { fileTime, html, no, pageWith, policyLines, sampled, unsampled, yes } from './words.mjs';

/** @type {[string, string][]} */
const changedSince = [['If-Modified-Since', fileTime]];
/** @type {[string, string][]} */
const revalidating = [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document']];
/** @type {[string, string][]} */
const validators = [['ETag', '"v1"'], ['Last-Modified', fileTime]];
const validatorsKept = { etag: ['"v1"'], 'last-modified': [fileTime] };
const validatorsGone = { etag: [], 'last-modified': [] };

/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const notModified = (...lines) => ({ status: 304, fields: [['ETag', '"v1"'], ...policyLines(lines)] });

/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const validated = (...lines) => ({ fields: [html, ...validators, ...policyLines(lines)] });

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

  { name: 'a_sampled_page_from_upstream_cannot_be_revalidated', place: sampled, answer: validated('a'),
    policy: [`a, ${yes}`], fields: validatorsGone },
  { name: 'an_unsampled_page_from_upstream_can', place: unsampled, answer: validated('a'),
    policy: [`a, ${no}`], fields: validatorsKept },
  { name: 'a_page_on_which_the_app_decides_can', place: sampled, answer: validated('js-profiling=?0'),
    policy: ['js-profiling=?0'], fields: validatorsKept },
  { name: 'a_page_with_an_unparsable_policy_can', place: sampled, answer: validated('a,'), policy: ['a,'],
    fields: validatorsKept },
  { name: 'a_page_for_shared_caches_can', place: sampled, policy: [no], fields: validatorsKept,
    answer: { fields: [html, ...validators, ['Cache-Control', 'public']] } },
  { name: 'what_is_no_page_can', place: sampled, fields: validatorsKept,
    answer: { fields: [['Content-Type', 'text/css'], ...validators] } },

  ...[sampled, unsampled].map((place) => (
    { name: `upstreams_304_without_the_field_stays_without: ${place.at(-1)}`, place, ask: revalidating, status: 304,
      answer: pageWith(), revalidated: notModified(), fields: { etag: ['"v1"'] } })),
  { name: 'upstreams_304_says_why_nothing_was_said', place: sampled, status: 304,
    ask: revalidating, answer: pageWith(), revalidated: notModified(),
    log: ['', '1', 'not_modified'] },
  { name: 'upstreams_304_with_the_field_is_merged', place: unsampled, status: 304, policy: [`a, ${no}`],
    ask: revalidating, answer: pageWith(), revalidated: notModified('a') },
  { name: 'upstreams_304_with_the_field_says_yes_too', place: sampled, status: 304, policy: [`a, ${yes}`],
    ask: revalidating, answer: pageWith(), revalidated: notModified('a'),
    fields: { etag: ['"v1"'] } },
  { name: 'upstreams_304_with_the_apps_word_is_left_alone', place: sampled, status: 304, policy: ['js-profiling=?0'],
    ask: revalidating, answer: pageWith(),
    revalidated: notModified('js-profiling=?0') },
  { name: 'upstreams_304_that_nobody_can_place_says_nothing', place: sampled, status: 304, policy: ['a'],
    ask: [['If-None-Match', '"v1"'], ['Accept', '*/*']], answer: pageWith(), revalidated: notModified('a') },
  { name: 'upstreams_304_goes_by_its_content_type_if_it_has_one', place: sampled, status: 304,
    ask: revalidating, answer: pageWith(),
    revalidated: { status: 304, fields: [['Content-Type', 'image/png']] } },
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
    { name: `service worker: a_page: ${how}`, place: unsampled, ask, answer: pageWith(), policy: [no] },
    { name: `service worker: a_file: ${how}`, place: sampled, ask, policy: [yes] },
    { name: `service worker: a_files_304_says_no: ${how}`, place: unsampled, ask: [...changedSince, ...ask], status: 304,
      policy: [no] },
    { name: `service worker: a_files_304_says_yes: ${how}`, place: sampled, ask: [...changedSince, ...ask], status: 304,
      policy: [yes] },
    { name: `service worker: a_304_of_a_script_says_nothing: ${how}`, place: unsampled, path: '/app.js', status: 304,
      ask: [...changedSince, ...ask] },
    // Nothing in a request by the address alone tells a page from an image.
    ...(how === 'by_address' ? [] : [
      { name: `service worker: upstreams_304_is_merged: ${how}`, place: unsampled, ask: [ifNoneMatch, ...ask], status: 304,
        answer: pageWith(), revalidated: notModified('a'), policy: [`a, ${no}`] },
      { name: `service worker: upstreams_304_under_send_says_no: ${how}`, place: [...unsampled, send], status: 304,
        ask: [ifNoneMatch, ...ask], answer: pageWith(), revalidated: notModified(), policy: [no] },
    ]),
  ];
});
