// SPDX-License-Identifier: Apache-2.0
/** The server's share of the time to first byte, in Server-Timing: of each document from upstream. */
import { slowMs } from '../token.mjs';
import { fileTime, html, no, pageWith, sampled, sampledTiming, unsampled, unsampledTiming, yes } from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */

const on = ['fleetprof_server_timing on'];
const fast = 'fleetprof-server;dur=<fast>';
const slow = 'fleetprof-server;dur=<slow>';

/** @type {import('../cases.mjs').Answer} */
const late = { ...pageWith(), delayMs: slowMs + 20 };
/** @type {import('../cases.mjs').Answer} */
const shared = { fields: [html, ['Cache-Control', 'public, max-age=60']] };

/** @type {Case[]} */
export const shares = [
  { name: 'share: an_unsampled_page', place: [...unsampled, ...on], answer: pageWith(), policy: [no],
    serverTiming: [`${unsampledTiming}, ${fast}`] },
  { name: 'share: a_sampled_page', place: [...sampled, ...on], answer: pageWith(), policy: [yes],
    serverTiming: [`${sampledTiming}, ${fast}`] },
  { name: 'share: a_signed_page', place: [...sampled, ...on, 'fleetprof_site shop', 'fleetprof_token_key KEY_FILE'],
    answer: pageWith(), policy: [yes], serverTiming: [`fleetprof;desc="<shop 1000000>", ${fast}`] },
  { name: 'share: a_slow_page', place: [...unsampled, ...on], answer: late, policy: [no],
    serverTiming: [`${unsampledTiming}, ${slow}`] },
  { name: 'share: off_by_default', place: unsampled, answer: pageWith(), policy: [no], serverTiming: [unsampledTiming] },
  { name: 'share: a_file_has_none', place: [...unsampled, ...on], policy: [no], serverTiming: [unsampledTiming] },
  { name: 'share: where_the_module_is_off', place: on, answer: pageWith(), serverTiming: [] },
  { name: 'share: what_is_no_document', place: [...unsampled, ...on], answer: { fields: [['Content-Type', 'text/css']] },
    serverTiming: [] },
  { name: 'share: a_shared_cache_would_repeat_it', place: [...unsampled, ...on], answer: shared, policy: [no],
    serverTiming: [unsampledTiming] },
  { name: 'share: no_shared_cache_is_there', place: [...unsampled, ...on, 'fleetprof_cacheable on'], answer: shared, policy: [no],
    serverTiming: [`${unsampledTiming}, ${fast}`] },
  { name: 'share: the_apps_metrics_stay', place: [...unsampled, ...on], policy: [no],
    answer: { fields: [html, ['Server-Timing', 'db;dur=1, fleetprof-server;dur=3']] },
    serverTiming: [`${unsampledTiming}, ${fast}`, 'db;dur=1, fleetprof-server;dur=<fast>'] },
  { name: 'share: the_apps_own_yes_keeps_its_timings', place: [...sampled, ...on], answer: pageWith('js-profiling'),
    policy: ['js-profiling'], serverTiming: [] },
  { name: 'share: a_304_that_leaves_the_stored_fields', place: [...unsampled, ...on], status: 304, answer: pageWith(),
    ask: [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document']], revalidated: { status: 304 }, serverTiming: [] },
  { name: 'share: upstreams_304_with_the_policy', place: [...unsampled, ...on], status: 304, answer: pageWith(),
    ask: [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document']],
    revalidated: { status: 304, fields: [['Document-Policy', 'a']] }, policy: [`a, ${no}`],
    serverTiming: [`${unsampledTiming}, ${fast}`] },
  { name: 'share: a_files_304_has_none', place: [...unsampled, ...on], status: 304, policy: [no],
    ask: [['If-Modified-Since', fileTime], ['Accept', 'text/html']], serverTiming: [unsampledTiming] },
  { name: 'share: it_is_inherited', server: on, place: unsampled, answer: pageWith(), policy: [no],
    serverTiming: [`${unsampledTiming}, ${fast}`] },
  { name: 'share: it_can_be_off', server: on, place: [...unsampled, 'fleetprof_server_timing off'], answer: pageWith(),
    policy: [no], serverTiming: [unsampledTiming] },
];
