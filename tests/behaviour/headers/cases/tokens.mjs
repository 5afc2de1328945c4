// SPDX-License-Identifier: Apache-2.0
/** Server-Timing: the decision on every document, with a token where there is a key and the merged header lets profile. */
import {
  fileTime, html, no, pageWith, policyLines, sampled, sampledTiming, unsampled, unsampledTiming as noToken, yes,
} from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */

const tokens = ['fleetprof_site shop', 'fleetprof_token_key KEY_FILE'];
const given = [...sampled, ...tokens];
const refused = [...unsampled, ...tokens];
const token = 'fleetprof;desc="<shop 1000000>"';

/** @type {[string, string][]} */
const changedSince = [['If-Modified-Since', fileTime], ['Accept', 'text/html']];
/** @type {[string, string][]} */
const revalidating = [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document']];

/** @type {(lines: string[], policy?: string[]) => import('../cases.mjs').Answer} */
const timed = (lines, policy = []) => ({ fields: [html, ...policyLines(policy),
  ...lines.map((line) => /** @type {[string, string]} */ (['Server-Timing', line]))] });

/** @type {Case[]} */
export const tokenCases = [
  { name: 'token: a_sampled_file_has_one', place: given, policy: [yes], serverTiming: [token] },
  { name: 'token: a_sampled_worker_script_has_one', place: given, path: '/app.js', ask: [['Sec-Fetch-Dest', 'worker']],
    policy: [yes], serverTiming: [token] },
  { name: 'token: it_tells_the_rate', answer: pageWith(), policy: [yes], serverTiming: ['fleetprof;desc="<shop 500000>"'],
    place: ['fleetprof on', 'fleetprof_sample 1/2 key=visitor-1', ...tokens] },
  { name: 'token: it_tells_the_site', answer: pageWith(), policy: [yes],
    serverTiming: ['fleetprof;desc="<shop.example_EU-1 1000000>"'],
    place: [...sampled, 'fleetprof_site shop.example_EU-1', 'fleetprof_token_key KEY_FILE'] },
  { name: 'token: a_page_without_a_policy_has_none', place: [...refused, 'fleetprof_unsampled omit'], answer: pageWith(),
    serverTiming: [noToken] },
  { name: 'token: no_page_without_a_key_has_one', place: [...sampled, 'fleetprof_site shop'], answer: pageWith(), policy: [yes],
    serverTiming: [sampledTiming] },
  { name: 'token: nothing_without_the_switch_has_one', place: tokens, answer: pageWith(), serverTiming: [] },
  { name: 'token: what_is_no_document_has_none', place: given, path: '/app.js', serverTiming: [] },
  { name: 'token: an_error_page_has_none', place: given, path: '/nowhere', status: 404, serverTiming: [] },
  { name: 'token: an_error_page_that_counts_has_one', place: [...given, 'fleetprof_always on'], path: '/nowhere', status: 404,
    policy: [yes], serverTiming: [token] },
  { name: 'token: a_shared_page_that_counts_has_one', place: [...given, 'fleetprof_cacheable on'], policy: [yes],
    answer: { fields: [html, ['Cache-Control', 'public']] }, serverTiming: [token] },

  { name: 'token: a_policy_without_profiling_is_no_yes', place: [...given, 'fleetprof_policy x=1'], answer: pageWith(),
    policy: ['x=1'], serverTiming: [noToken] },
  { name: 'token: a_policy_that_says_no_is_no_yes', place: [...given, 'fleetprof_policy js-profiling=?0'], answer: pageWith(),
    policy: [no], serverTiming: [noToken] },
  { name: 'token: the_mode_alone_is_a_yes', place: [...given, 'fleetprof_policy js-profiling-mode=lazy'], answer: pageWith(),
    policy: ['js-profiling-mode=lazy'], serverTiming: [token] },

  { name: 'token: of_an_inner_tier_goes_with_its_policy', place: [...given, 'fleetprof_conflict local'], policy: [yes],
    answer: timed(['fleetprof;desc="inner"', 'db;dur=1'], [yes]), serverTiming: [token, 'db;dur=1'] },
  { name: 'token: of_an_inner_tier_goes_when_we_say_no', place: [...refused, 'fleetprof_conflict local'], policy: [no],
    answer: timed(['fleetprof;desc="inner"', 'db;dur=1'], [yes]), serverTiming: [noToken, 'db;dur=1'] },

  { name: 'token: a_sampled_files_304_has_a_new_one', place: given, ask: changedSince, status: 304, policy: [yes],
    serverTiming: [token] },
  { name: 'token: an_unsampled_files_304_takes_it_back', place: refused, ask: changedSince, status: 304, policy: [no],
    serverTiming: [noToken] },
  { name: 'token: a_304_that_is_no_document_says_nothing', place: refused, path: '/pixel.gif', status: 304, serverTiming: [],
    ask: [['If-Modified-Since', fileTime], ['Sec-Fetch-Dest', 'image']] },
  { name: 'token: a_304_that_may_not_speak_says_nothing', place: [...refused, 'fleetprof_not_modified omit'],
    ask: changedSince, status: 304, serverTiming: [] },

  { name: 'token: site_and_key_are_inherited', server: tokens, place: sampled, answer: pageWith(), policy: [yes],
    serverTiming: [token] },
  { name: 'token: the_inner_site_wins', server: tokens, place: [...sampled, 'fleetprof_site inner'], answer: pageWith(),
    policy: [yes], serverTiming: ['fleetprof;desc="<inner 1000000>"'] },
  { name: 'token: the_key_can_be_off', server: tokens, place: [...sampled, 'fleetprof_token_key off'], answer: pageWith(),
    policy: [yes], serverTiming: [sampledTiming] },
];

/** @type {Case[]} */
export const timingCases = [
  { name: 'timing: an_app_whose_yes_is_overruled', answer: timed(['fleetprof;desc="x"'], ['js-profiling']), policy: [no],
    place: [...unsampled, 'fleetprof_conflict local'], serverTiming: [noToken] },
  { name: 'timing: a_worker_script', place: unsampled, path: '/app.js', ask: [['Sec-Fetch-Dest', 'worker']],
    policy: [no], serverTiming: [noToken] },
  { name: 'timing: an_error_page_that_counts', place: [...unsampled, 'fleetprof_always on'], path: '/nowhere', status: 404,
    policy: [no], serverTiming: [noToken] },
  { name: 'timing: a_files_304', place: unsampled, ask: changedSince, status: 304, policy: [no], serverTiming: [noToken] },
  { name: 'timing: a_304_that_leaves_the_stored_policy', place: [...unsampled, 'fleetprof_not_modified omit'],
    ask: changedSince, status: 304, serverTiming: [] },
  { name: 'timing: upstreams_304_under_send', place: [...unsampled, 'fleetprof_not_modified send'], ask: revalidating,
    status: 304, answer: pageWith(), revalidated: { status: 304 }, policy: [no], serverTiming: [noToken] },
];
