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
  { name: 'token: a_sampled_page_has_one', place: given, answer: pageWith(), policy: [yes], serverTiming: [token] },
  { name: 'token: a_sampled_file_has_one', place: given, policy: [yes], serverTiming: [token] },
  { name: 'token: a_sampled_worker_script_has_one', place: given, path: '/app.js', ask: [['Sec-Fetch-Dest', 'worker']],
    policy: [yes], serverTiming: [token] },
  { name: 'token: it_tells_the_rate', answer: pageWith(), policy: [yes], serverTiming: ['fleetprof;desc="<shop 500000>"'],
    place: ['fleetprof on', 'fleetprof_sample 1/2 key=visitor-1', ...tokens] },
  { name: 'token: it_tells_the_site', answer: pageWith(), policy: [yes],
    serverTiming: ['fleetprof;desc="<shop.example_EU-1 1000000>"'],
    place: [...sampled, 'fleetprof_site shop.example_EU-1', 'fleetprof_token_key KEY_FILE'] },
  { name: 'token: an_unsampled_page_has_none', place: refused, answer: pageWith(), policy: [no], serverTiming: [noToken] },
  { name: 'token: a_page_without_a_policy_has_none', place: [...refused, 'fleetprof_unsampled omit'], answer: pageWith(),
    serverTiming: [noToken] },
  { name: 'token: no_page_without_a_key_has_one', place: [...sampled, 'fleetprof_site shop'], answer: pageWith(), policy: [yes],
    serverTiming: [sampledTiming] },
  { name: 'token: nothing_without_the_switch_has_one', place: tokens, answer: pageWith(), serverTiming: [] },
  { name: 'token: what_is_no_document_has_none', place: given, path: '/app.js', serverTiming: [] },
  { name: 'token: a_redirect_has_none', place: given, answer: { status: 302, fields: [html] }, status: 302, serverTiming: [] },
  { name: 'token: an_error_page_has_none', place: given, path: '/nowhere', status: 404, serverTiming: [] },
  { name: 'token: an_error_page_that_counts_has_one', place: [...given, 'fleetprof_always on'], path: '/nowhere', status: 404,
    policy: [yes], serverTiming: [token] },
  { name: 'token: a_page_for_shared_caches_has_none', place: given, policy: [no], serverTiming: [noToken],
    answer: { fields: [html, ['Cache-Control', 'public']] } },
  { name: 'token: a_shared_page_that_counts_has_one', place: [...given, 'fleetprof_cacheable on'], policy: [yes],
    answer: { fields: [html, ['Cache-Control', 'public']] }, serverTiming: [token] },

  { name: 'token: the_apps_no_means_none', place: given, answer: pageWith(no), policy: [no], serverTiming: [noToken] },
  { name: 'token: the_apps_own_yes_is_not_of_our_rate', place: given, answer: pageWith('js-profiling'),
    policy: ['js-profiling'], serverTiming: [] },
  { name: 'token: an_unparsable_policy_is_no_yes', place: given, answer: pageWith('a,'), policy: ['a,'],
    serverTiming: [noToken] },
  { name: 'token: a_policy_without_profiling_is_no_yes', place: [...given, 'fleetprof_policy x=1'], answer: pageWith(),
    policy: ['x=1'], serverTiming: [noToken] },
  { name: 'token: a_policy_that_says_no_is_no_yes', place: [...given, 'fleetprof_policy js-profiling=?0'], answer: pageWith(),
    policy: [no], serverTiming: [noToken] },
  { name: 'token: the_mode_alone_is_a_yes', place: [...given, 'fleetprof_policy js-profiling-mode=lazy'], answer: pageWith(),
    policy: ['js-profiling-mode=lazy'], serverTiming: [token] },

  { name: 'token: the_apps_timings_stay', place: given, answer: timed(['db;dur=1', 'cache;desc="a, b"']), policy: [yes],
    serverTiming: [token, 'db;dur=1', 'cache;desc="a, b"'] },
  { name: 'token: of_an_inner_tier_is_passed_on', place: given, policy: [yes],
    answer: timed(['fleetprof;desc="inner"'], [yes]), serverTiming: ['fleetprof;desc="inner"'] },
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
    policy: [yes], serverTiming: [sampledTiming] },
];

const own = 'db;dur=53.2, cache;desc="a, fleetprof;x \\" b";dur=1';
const many = Array.from({ length: 40 }, (_, i) => `m${i};dur=${i}`);
const long = `long;desc="${'x'.repeat(6000)}"`;

/** @type {(name: string, sent: string[], left: string[]) => Case} */
const beside = (name, sent, left) => ({ name: `timing: ${name}`, place: unsampled, answer: timed(sent), policy: [no],
  serverTiming: [noToken, ...left] });

/** @type {Case[]} */
export const timingCases = [
  beside('the_apps_metrics_keep_every_byte', [own, 'b ; dur = 2'], [own, 'b ; dur = 2']),
  beside('the_apps_metric_of_our_name_is_replaced', ['fleetprof;desc="v1.forged"'], []),
  beside('the_apps_metric_of_our_name_alone_is_replaced', ['fleetprof'], []),
  beside('the_others_of_that_line_stay', ['db;dur=1,fleetprof;desc="x, y" , cache;dur=2'], ['db;dur=1, cache;dur=2']),
  beside('each_line_loses_it', ['fleetprof;dur=1, a', 'b', ' fleetprof , c, fleetprof;d'], ['a', 'b', 'c']),
  beside('a_longer_name_is_another', ['fleetprof2;dur=1, xfleetprof, FleetProf'], ['fleetprof2;dur=1, xfleetprof, FleetProf']),
  beside('what_browsers_cannot_read_stays_behind_ours', ['"', ', ,', 'db;desc="open'], ['"', ', ,', 'db;desc="open']),
  beside('more_than_32_lines_stay', many, many),
  beside('a_line_of_more_than_4_kib_stays', [long], [long]),
  { name: 'timing: a_sampled_page_without_a_key', place: sampled, answer: timed(['db;dur=1', 'fleetprof;desc="0"']),
    policy: [yes], serverTiming: [sampledTiming, 'db;dur=1'] },
  { name: 'timing: an_app_that_says_no_itself', place: sampled, answer: timed(['fleetprof;desc="x"'], [no]), policy: [no],
    serverTiming: [noToken] },
  { name: 'timing: an_app_that_says_yes_itself', place: unsampled, answer: timed(['db', 'fleetprof;desc="x"'], [yes]),
    policy: [yes], serverTiming: ['db', 'fleetprof;desc="x"'] },
  { name: 'timing: an_app_whose_yes_is_overruled', answer: timed(['fleetprof;desc="x"'], ['js-profiling']), policy: [no],
    place: [...unsampled, 'fleetprof_conflict local'], serverTiming: [noToken] },
  { name: 'timing: an_app_that_cannot_be_parsed', place: sampled, answer: timed([], ['a,']), policy: ['a,'],
    serverTiming: [noToken] },
  { name: 'timing: a_page_for_shared_caches', place: sampled, policy: [no], serverTiming: [noToken],
    answer: { fields: [html, ['Cache-Control', 'public']] } },
  { name: 'timing: a_worker_script', place: unsampled, path: '/app.js', ask: [['Sec-Fetch-Dest', 'worker']],
    policy: [no], serverTiming: [noToken] },
  { name: 'timing: a_worker_script_with_a_hashed_name_is_never_sampled', place: sampled, path: '/app.js', policy: [no],
    ask: [['Sec-Fetch-Dest', 'worker']], serverTiming: [noToken], log: ['0', '1', 'cacheable'],
    answer: { fields: [['Content-Type', 'text/javascript'], ['Cache-Control', 'public, max-age=31536000, immutable']] } },
  { name: 'timing: an_error_page_that_counts', place: [...unsampled, 'fleetprof_always on'], path: '/nowhere', status: 404,
    policy: [no], serverTiming: [noToken] },
  { name: 'timing: where_it_is_off_the_app_is_not_touched', answer: timed(['fleetprof;desc="x"']),
    serverTiming: ['fleetprof;desc="x"'] },
  { name: 'timing: what_is_no_document_is_not_touched', place: sampled,
    answer: { fields: [['Content-Type', 'text/css'], ['Server-Timing', 'fleetprof;desc="x"']] },
    serverTiming: ['fleetprof;desc="x"'] },
  { name: 'timing: a_files_304', place: unsampled, ask: changedSince, status: 304, policy: [no], serverTiming: [noToken] },
  { name: 'timing: a_304_that_leaves_the_stored_policy', place: [...unsampled, 'fleetprof_not_modified omit'],
    ask: changedSince, status: 304, serverTiming: [] },
  { name: 'timing: upstreams_304_without_the_policy_keeps_its_timings', place: sampled, ask: revalidating, status: 304,
    answer: pageWith(), revalidated: { status: 304, fields: [['Server-Timing', 'db;dur=1']] }, serverTiming: ['db;dur=1'] },
  { name: 'timing: upstreams_304_with_the_policy', place: sampled, ask: revalidating, status: 304, policy: [`a, ${yes}`],
    answer: pageWith(), serverTiming: [sampledTiming, 'db;dur=1'],
    revalidated: { status: 304, fields: [['Document-Policy', 'a'], ['Server-Timing', 'db;dur=1']] } },
  { name: 'timing: upstreams_304_under_send', place: [...unsampled, 'fleetprof_not_modified send'], ask: revalidating,
    status: 304, answer: pageWith(), revalidated: { status: 304 }, policy: [no], serverTiming: [noToken] },
];
