// SPDX-License-Identifier: Apache-2.0
/** Arms of experiments: drawn for each page load, signed into its token, and never where a cache could repeat them. */
import { armOf } from '../chance.mjs';
import { fileTime, html, no, pageWith, sampled, sampledTiming, unsampled, unsampledTiming, yes } from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */

const tokens = ['fleetprof_site shop', 'fleetprof_token_key KEY_FILE'];
const chat = `chat=${['on', 'off'][armOf('chat', [1, 1], 'visitor-1')]}`;
const hero = `hero=${['A-1', 'B_2', 'c'][armOf('hero', [1, 2, 3], 'visitor-1')]}`;
const drawn = 'fleetprof_arms chat=on:1,off:1 key=visitor-1';
const refused = [...unsampled, ...tokens, drawn];
const given = [...sampled, ...tokens, drawn];
/** Server-Timing of a load with arms, sampled and not. */
const signed = (/** @type {string} */ arms) => `fleetprof;desc="<shop ${arms} 1000000>"`;
const unsampledSigned = (/** @type {string} */ arms) => `fleetprof;desc="0.<shop ${arms} 0>"`;

/** @type {[string, string][]} */
const validators = [['ETag', '"v1"'], ['Last-Modified', fileTime]];
/** @type {[string, string][]} */
const changedSince = [['If-Modified-Since', fileTime], ['Accept', 'text/html']];
/** @type {[string, string][]} */
const shared = [html, ['Cache-Control', 'public']];

/** @type {Case[]} */
export const arms = [
  { name: 'arms: a_sampled_page_has_one', place: given, answer: pageWith(), policy: [yes], serverTiming: [signed(chat)] },
  { name: 'arms: an_unsampled_page_has_one', place: refused, answer: pageWith(), policy: [no], serverTiming: [unsampledSigned(chat)] },
  { name: 'arms: a_file_has_one', place: refused, policy: [no], serverTiming: [unsampledSigned(chat)] },
  { name: 'arms: a_page_without_a_policy_has_one', place: [...refused, 'fleetprof_unsampled omit'], answer: pageWith(),
    serverTiming: [unsampledSigned(chat)] },
  { name: 'arms: several_experiments', answer: pageWith(), policy: [no], serverTiming: [unsampledSigned(`${chat},${hero}`)],
    place: [...unsampled, ...tokens, 'fleetprof_arms chat=on:1,off:1 hero=A-1:1,B_2:2,c:3 key=visitor-1'] },
  { name: 'arms: names_and_weights_of_any_length', answer: pageWith(), policy: [no],
    serverTiming: [unsampledSigned(`a23456789012345_=${['A'.repeat(16), 'b'][armOf('a23456789012345_', [10000, 1], 'x')]}`)],
    place: [...unsampled, ...tokens, `fleetprof_arms a23456789012345_=${'A'.repeat(16)}:10000,b:1 key=x`] },
  { name: 'arms: no_document_has_one', place: given, path: '/app.js', serverTiming: [] },
  { name: 'arms: a_redirect_has_none', place: given, answer: { status: 302, fields: [html] }, status: 302, serverTiming: [] },
  { name: 'arms: they_are_inherited', server: [drawn, ...tokens], place: unsampled, answer: pageWith(), policy: [no],
    serverTiming: [unsampledSigned(chat)] },
  { name: 'arms: the_inner_ones_win', server: ['fleetprof_arms x=a:1,b:1'], place: refused, answer: pageWith(), policy: [no],
    serverTiming: [unsampledSigned(chat)] },
  { name: 'arms: they_can_be_off', server: [drawn, ...tokens], place: [...sampled, 'fleetprof_token_key off', 'fleetprof_arms off'],
    answer: pageWith(), policy: [yes], serverTiming: [sampledTiming] },
  { name: 'arms: nothing_without_the_switch_has_one', server: tokens, place: [drawn], answer: pageWith(), serverTiming: [] },

  { name: 'arms: a_page_for_shared_caches_has_none', place: refused, answer: { fields: shared }, policy: [no],
    serverTiming: [unsampledTiming], log: ['0', '0', 'rate'] },
  { name: 'arms: a_sampled_page_for_shared_caches_has_none', place: given, answer: { fields: shared }, policy: [no],
    serverTiming: [unsampledTiming], log: ['0', '1', 'cacheable'] },
  { name: 'arms: a_shared_page_that_counts_has_one', place: [...refused, 'fleetprof_cacheable on'], answer: { fields: shared },
    policy: [no], serverTiming: [unsampledSigned(chat)] },

  { name: 'arms: a_page_has_no_validators', place: refused, answer: { fields: [html, ...validators] }, policy: [no],
    serverTiming: [unsampledSigned(chat)], fields: { etag: [], 'last-modified': [] } },
  { name: 'arms: a_file_has_no_validators', place: refused, policy: [no], serverTiming: [unsampledSigned(chat)],
    fields: { etag: [], 'last-modified': [] } },
  { name: 'arms: a_page_has_no_validators_under_send', place: [...refused, 'fleetprof_not_modified send'], policy: [no],
    answer: { fields: [html, ...validators] }, serverTiming: [unsampledSigned(chat)], fields: { etag: [], 'last-modified': [] } },
  { name: 'arms: a_page_for_shared_caches_keeps_its_validators', place: refused, policy: [no], serverTiming: [unsampledTiming],
    answer: { fields: [...shared, ...validators] }, fields: { etag: ['"v1"'], 'last-modified': [fileTime] } },
  { name: 'arms: a_files_304_has_none', place: refused, ask: changedSince, status: 304, policy: [no], serverTiming: [unsampledTiming] },
  { name: 'arms: a_sampled_files_304_has_a_token_without', place: given, ask: changedSince, status: 304, policy: [yes],
    serverTiming: ['fleetprof;desc="<shop 1000000>"'] },

  { name: 'arms: the_apps_no_does_not_matter', place: given, answer: pageWith(no), policy: [no], serverTiming: [unsampledSigned(chat)] },
  { name: 'arms: a_policy_that_cannot_be_parsed_does_not_matter', place: given, answer: pageWith('a,'), policy: ['a,'],
    serverTiming: [unsampledSigned(chat)] },
  { name: 'arms: an_inner_tier_that_says_yes_keeps_its_own', place: refused, policy: [yes], serverTiming: ['fleetprof;desc="inner"'],
    answer: { fields: [html, ['Document-Policy', yes], ['Server-Timing', 'fleetprof;desc="inner"']] } },
];
