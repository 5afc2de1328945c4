/**
 * A 304 replaces the fields it carries in what the browser has stored, and keeps the others: nobody
 * may be left with yesterday's yes, and the application's members may not be erased.
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
  // httpd still knows the file's type.
  { name: 'a_304_that_nobody_can_place_says_nothing', place: sampled, status: 304,
    ask: [...changedSince, ['Accept', '*/*']], httpd: { policy: [yes] } },
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
  { name: 'upstreams_304_goes_by_its_content_type_if_it_has_one', place: sampled, status: 304,
    ask: revalidating, answer: pageWith(),
    revalidated: { status: 304, fields: [['Content-Type', 'image/png']] } },
];
