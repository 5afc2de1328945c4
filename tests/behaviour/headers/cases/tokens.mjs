/** Server-Timing: a token on what the merged header lets profile, `0` on a 304 that takes a yes back. */
import { fileTime, html, no, pageWith, policyLines, sampled, unsampled, yes } from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */

const tokens = ['fleetprof_site shop', 'fleetprof_token_key KEY_FILE'];
const given = [...sampled, ...tokens];
const refused = [...unsampled, ...tokens];
const token = 'fleetprof;desc="<shop 1000000>"';
const noToken = 'fleetprof;desc="0"';

/** @type {[string, string][]} */
const changedSince = [['If-Modified-Since', fileTime], ['Accept', 'text/html']];
/** @type {[string, string][]} */
const revalidating = [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document']];

/** @type {(lines: string[], policy?: string[]) => import('../cases.mjs').Answer} */
const timed = (lines, policy = []) => ({ fields: [html, ...policyLines(policy),
  ...lines.map((line) => /** @type {[string, string]} */ (['Server-Timing', line]))] });

/** @type {Case[]} */
export const tokenCases = [
  { name: 'token: a_sampled_page_has_one', place: given, answer: pageWith(), policy: [yes], serverTiming: [token] },
  { name: 'token: a_sampled_file_has_one', place: given, policy: [yes], serverTiming: [token] },
  { name: 'token: a_sampled_worker_script_has_one', place: given, path: '/app.js', ask: [['Sec-Fetch-Dest', 'worker']],
    policy: [yes], serverTiming: [token] },
  { name: 'token: it_tells_the_rate', answer: pageWith(), policy: [yes], serverTiming: ['fleetprof;desc="<shop 500000>"'],
    place: [...sampled, 'fleetprof_sample 1/2 key=visitor-1', ...tokens] },
  { name: 'token: it_tells_the_site', answer: pageWith(), policy: [yes],
    serverTiming: ['fleetprof;desc="<shop.example_EU-1 1000000>"'],
    place: [...sampled, 'fleetprof_site shop.example_EU-1', 'fleetprof_token_key KEY_FILE'] },
  { name: 'token: an_unsampled_page_has_none', place: refused, answer: pageWith(), policy: [no], serverTiming: [] },
  { name: 'token: a_page_that_says_nothing_has_none', place: [...refused, 'fleetprof_unsampled omit'], answer: pageWith(),
    serverTiming: [] },
  { name: 'token: no_page_without_a_key_has_one', place: [...sampled, 'fleetprof_site shop'], answer: pageWith(), policy: [yes],
    serverTiming: [] },
  { name: 'token: nothing_without_the_switch_has_one', place: tokens, answer: pageWith(), serverTiming: [] },
  { name: 'token: what_is_no_document_has_none', place: given, path: '/app.js', serverTiming: [] },
  { name: 'token: a_redirect_has_none', place: given, answer: { status: 302, fields: [html] }, status: 302, serverTiming: [] },
  { name: 'token: an_error_page_has_none', place: given, path: '/nowhere', status: 404, serverTiming: [] },
  { name: 'token: an_error_page_that_counts_has_one', place: [...given, 'fleetprof_always on'], path: '/nowhere', status: 404,
    policy: [yes], serverTiming: [token] },
  { name: 'token: a_page_for_shared_caches_has_none', place: given, policy: [no], serverTiming: [],
    answer: { fields: [html, ['Cache-Control', 'public']] } },
  { name: 'token: a_shared_page_that_counts_has_one', place: [...given, 'fleetprof_cacheable on'], policy: [yes],
    answer: { fields: [html, ['Cache-Control', 'public']] }, serverTiming: [token] },

  { name: 'token: the_apps_no_means_none', place: given, answer: pageWith(no), policy: [no], serverTiming: [] },
  { name: 'token: the_apps_own_yes_is_not_of_our_rate', place: given, answer: pageWith('js-profiling'),
    policy: ['js-profiling'], serverTiming: [] },
  { name: 'token: an_unparsable_policy_is_no_yes', place: given, answer: pageWith('a,'), policy: ['a,'], serverTiming: [] },
  { name: 'token: a_policy_without_profiling_is_no_yes', place: [...given, 'fleetprof_policy x=1'], answer: pageWith(),
    policy: ['x=1'], serverTiming: [] },
  { name: 'token: a_policy_that_says_no_is_no_yes', place: [...given, 'fleetprof_policy js-profiling=?0'], answer: pageWith(),
    policy: [no], serverTiming: [] },
  { name: 'token: the_mode_alone_is_a_yes', place: [...given, 'fleetprof_policy js-profiling-mode=lazy'], answer: pageWith(),
    policy: ['js-profiling-mode=lazy'], serverTiming: [token] },

  { name: 'token: the_apps_timings_stay', place: given, answer: timed(['db;dur=1', 'cache;desc="a, b"']), policy: [yes],
    serverTiming: ['db;dur=1', 'cache;desc="a, b"', token] },
  { name: 'token: of_an_inner_tier_is_passed_on', place: given, policy: [yes],
    answer: timed(['fleetprof;desc="inner"'], [yes]), serverTiming: ['fleetprof;desc="inner"'] },
  { name: 'token: of_an_inner_tier_goes_with_its_policy', place: [...given, 'fleetprof_conflict local'], policy: [yes],
    answer: timed(['fleetprof;desc="inner"', 'db;dur=1'], [yes]), serverTiming: ['db;dur=1', token] },
  { name: 'token: of_an_inner_tier_goes_when_we_say_no', place: [...refused, 'fleetprof_conflict local'], policy: [no],
    answer: timed(['fleetprof;desc="inner"', 'db;dur=1'], [yes]), serverTiming: ['db;dur=1'] },

  { name: 'token: a_sampled_files_304_has_a_new_one', place: given, ask: changedSince, status: 304, policy: [yes],
    serverTiming: [token] },
  { name: 'token: an_unsampled_files_304_takes_it_back', place: refused, ask: changedSince, status: 304, policy: [no],
    serverTiming: [noToken] },
  { name: 'token: a_304_that_is_no_document_says_nothing', place: refused, path: '/pixel.gif', status: 304, serverTiming: [],
    ask: [['If-Modified-Since', fileTime], ['Sec-Fetch-Dest', 'image']] },
  { name: 'token: upstreams_304_without_the_field_says_nothing', place: refused, ask: revalidating, status: 304,
    answer: pageWith(), revalidated: { status: 304 }, serverTiming: [] },
  { name: 'token: upstreams_304_with_the_field_takes_it_back', place: refused, ask: revalidating, status: 304,
    answer: pageWith(), revalidated: { status: 304, fields: [['Document-Policy', 'a']] }, policy: [`a, ${no}`],
    serverTiming: [noToken] },
  { name: 'token: a_304_that_may_not_speak_says_nothing', place: [...refused, 'fleetprof_not_modified omit'],
    ask: changedSince, status: 304, serverTiming: [] },

  { name: 'token: site_and_key_are_inherited', server: tokens, place: sampled, answer: pageWith(), policy: [yes],
    serverTiming: [token] },
  { name: 'token: the_inner_site_wins', server: tokens, place: [...sampled, 'fleetprof_site inner'], answer: pageWith(),
    policy: [yes], serverTiming: ['fleetprof;desc="<inner 1000000>"'] },
  { name: 'token: the_key_can_be_off', server: tokens, place: [...sampled, 'fleetprof_token_key off'], answer: pageWith(),
    policy: [yes], serverTiming: [] },
];
