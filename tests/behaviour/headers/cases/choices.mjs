// SPDX-License-Identifier: Apache-2.0
/** The settings that change the rules: no header for unsampled pages, which side wins, and what a 304, an error or a
 * shared page carries. */
import { fileTime, html, no, pageWith, policyLines, sampled, unsampled, unsampledTiming, yes } from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */
/** @typedef {[string, string, string]} Log */

/** @type {[string, string][]} */
const changedSince = [['If-Modified-Since', fileTime], ['Accept', 'text/html']];
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
/** @type {(control: string) => import('../cases.mjs').Answer} */
const cached = (control) => ({ fields: [html, ['Cache-Control', control]] });
/** @type {(type: string) => import('../cases.mjs').Answer} */
const ofType = (type) => ({ fields: [['Content-Type', type]] });

const omit = 'fleetprof_unsampled omit';
/** @type {Case[]} */
const omitted = [
  { name: 'omit: an_unsampled_page_says_nothing', place: [...unsampled, omit], answer: pageWith(), log: ['0', '0', 'rate'] },
  { name: 'omit: a_sampled_page_says_yes', place: [...sampled, omit], answer: pageWith(), policy: [yes] },
  { name: 'omit: the_apps_lines_stay_as_they_are', place: [...unsampled, omit], answer: pageWith('a', 'b'), policy: ['a', 'b'] },
  { name: 'omit: the_apps_yes_is_respected', place: [...unsampled, omit], answer: pageWith('js-profiling'),
    policy: ['js-profiling'], log: ['', '0', 'upstream'] },
  { name: 'omit: an_unparsable_value_is_left_alone', place: [...unsampled, omit], answer: pageWith('a,'), policy: ['a,'],
    log: ['', '0', 'unparsable'] },
  { name: 'omit: a_page_for_shared_caches_says_nothing', place: [...sampled, omit], answer: cached('public'),
    log: ['0', '1', 'cacheable'] },
  { name: 'omit: a_files_304_says_nothing', place: [...unsampled, omit], ask: changedSince, status: 304,
    serverTiming: [unsampledTiming] },
  { name: 'omit: local_takes_the_apps_yes_away', place: [...unsampled, omit, 'fleetprof_conflict local'],
    answer: pageWith('js-profiling'), log: ['0', '0', 'rate'] },
  { name: 'omit: local_leaves_the_apps_other_members', place: [...unsampled, omit, 'fleetprof_conflict local'],
    answer: pageWith('a, js-profiling;p', 'js-profiling-mode=eager, b'), policy: ['a, b'] },
];

const local = 'fleetprof_conflict local';
/** @type {Case[]} */
const conflict = [
  { name: 'local: the_apps_no_becomes_yes', place: [...sampled, local], answer: pageWith('js-profiling=?0'), policy: [yes],
    log: ['1', '1', 'sampled'] },
  { name: 'local: the_apps_yes_becomes_no', place: [...unsampled, local], answer: pageWith(yes), policy: [no],
    log: ['0', '0', 'rate'] },
  { name: 'local: the_apps_mode_alone_is_replaced_by_both', place: [...sampled, local],
    answer: pageWith('js-profiling-mode=eager'), policy: [yes] },
  { name: 'local: other_members_keep_every_byte', place: [...unsampled, local],
    answer: pageWith('a=1.50 ,js-profiling;x="," ,b=("x, y");r', 'c'), policy: [`a=1.50 ,b=("x, y");r, c, ${no}`] },
  { name: 'local: a_member_of_the_wrong_type_is_replaced', place: [...sampled, local],
    answer: pageWith('js-profiling=true'), policy: [yes] },
  { name: 'local: configured_members_win', answer: pageWith('x=1, y=3'), policy: ['y=3, js-profiling, x=2'],
    place: [...sampled, 'fleetprof_policy js-profiling x=2', local] },
  { name: 'local: what_another_tier_said_is_not_said_again', place: [...sampled, local], answer: pageWith(yes), policy: [yes] },
  { name: 'local: an_unparsable_value_is_left_alone', place: [...sampled, local], answer: pageWith('js-profiling=?0,'),
    policy: ['js-profiling=?0,'], log: ['', '1', 'unparsable'] },
  { name: 'local: nothing_is_touched_where_nothing_is_ours', place: [...sampled, local],
    answer: { fields: [['Content-Type', 'text/css'], ['Document-Policy', 'js-profiling']] }, policy: ['js-profiling'] },
  { name: 'local: a_page_that_now_says_yes_cannot_be_revalidated', place: [...sampled, local],
    answer: validated('js-profiling=?0'), policy: [yes], fields: validatorsGone },
  { name: 'local: a_304_with_the_apps_yes_becomes_no', place: [...unsampled, local], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: notModified('js-profiling, a'), policy: [`a, ${no}`] },
];

const send = 'fleetprof_not_modified send';
const omit304 = 'fleetprof_not_modified omit';
/** @type {Case[]} */
const notModifieds = [
  { name: '304 send: upstreams_304_says_no', place: [...unsampled, send], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: notModified(), policy: [no], log: ['0', '0', 'rate'] },
  { name: '304 send: upstreams_304_says_yes', place: [...sampled, send], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: notModified(), policy: [yes], log: ['1', '1', 'sampled'] },
  { name: '304 send: upstreams_304_with_the_field_is_merged', place: [...unsampled, send], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: notModified('a'), policy: [`a, ${no}`] },
  { name: '304 send: a_sampled_page_can_be_revalidated', place: [...sampled, send], answer: validated('a'),
    policy: [`a, ${yes}`], fields: validatorsKept },
  { name: '304 send: a_files_304_says_no', place: [...unsampled, send], ask: changedSince, status: 304, policy: [no] },
  { name: '304 send: upstreams_304_of_an_image_says_nothing', place: [...sampled, send], status: 304, answer: pageWith(),
    ask: [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'image']], revalidated: notModified() },
  { name: '304 send: origins_are_not_sent_with_upstreams_304', status: 304, answer: pageWith(), policy: [no],
    place: [...unsampled, send, 'timing_allow_origin *'], ask: revalidating, revalidated: notModified() },
  { name: '304 omit: a_files_304_says_nothing', place: [...unsampled, omit304], ask: changedSince, status: 304,
    log: ['', '0', 'not_modified'] },
  { name: '304 omit: a_sampled_files_304_says_nothing', place: [...sampled, omit304], ask: changedSince, status: 304,
    log: ['', '1', 'not_modified'] },
  { name: '304 omit: upstreams_304_keeps_the_apps_lines', place: [...unsampled, omit304], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: notModified('a', 'b'), policy: ['a', 'b'] },
  { name: '304 omit: a_sampled_file_cannot_be_revalidated', place: [...sampled, omit304], policy: [yes],
    fields: validatorsGone },
  { name: '304 omit: an_unsampled_file_can', place: [...unsampled, omit304], policy: [no],
    fields: { 'last-modified': [fileTime] } },
  { name: '304 omit: a_sampled_page_from_upstream_cannot', place: [...sampled, omit304], answer: validated(),
    policy: [yes], fields: validatorsGone },
  { name: '304 omit: a_files_304_can_be_timed', place: [...sampled, omit304, 'timing_allow_origin *'], ask: changedSince,
    status: 304, origins: ['*'] },
  { name: '304 auto: is_the_default', place: [...sampled, 'fleetprof_not_modified auto'], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: notModified() },
];

/** @type {Case[]} */
const shared = [
  ...['public', 's-maxage=10', 'max-age=60'].map((control) => (
    { name: `cacheable on: ${control}`, place: [...sampled, 'fleetprof_cacheable on'], answer: cached(control), policy: [yes],
      log: /** @type {Log} */ (['1', '1', 'sampled']) })),
  { name: 'cacheable on: an_unsampled_one_says_no', place: [...unsampled, 'fleetprof_cacheable on'], answer: cached('public'),
    policy: [no], log: ['0', '0', 'rate'] },
  { name: 'cacheable off: is_the_default', place: [...sampled, 'fleetprof_cacheable off'], answer: cached('public'),
    policy: [no], log: ['0', '1', 'cacheable'] },
];

const svg = 'fleetprof_types image/svg+xml Text/X-Page';
const everything = 'fleetprof_types *';
/** @type {Case[]} */
const types = [
  ...['image/svg+xml', 'IMAGE/SVG+XML;charset=utf-8', 'text/x-page'].map((type) => (
    { name: `types: ${type}_counts`, place: [...sampled, svg], answer: ofType(type), policy: [yes] })),
  { name: 'types: html_counts_no_more', place: [...sampled, svg], answer: ofType('text/html'), log: ['', '', 'type'] },
  { name: 'types: a_worker_script_counts_all_the_same', place: [...sampled, svg], path: '/app.js',
    ask: [['Sec-Fetch-Dest', 'worker']], policy: [yes] },
  { name: 'types: a_files_304_goes_by_the_files_type', place: [...unsampled, svg], status: 304,
    ask: [['If-Modified-Since', fileTime], ['Accept', 'text/x-page, */*']] },
  { name: 'types: upstreams_304_goes_by_an_accepted_type', place: [...unsampled, svg, send], status: 304, policy: [no],
    ask: [['If-None-Match', '"v1"'], ['Accept', 'text/x-page, */*']], answer: pageWith(), revalidated: notModified() },
  { name: 'types: a_304_for_which_html_is_accepted_does_not_count', place: [...unsampled, svg], ask: changedSince, status: 304 },
  ...['text/html', 'image/png', 'text/javascript'].map((type) => (
    { name: `types *: ${type}_counts`, place: [...sampled, everything], answer: ofType(type), policy: [yes] })),
  { name: 'types *: even_without_a_type', place: [...sampled, everything], answer: {}, policy: [yes] },
  { name: 'types *: any_304', place: [...unsampled, everything], path: '/pixel.gif', status: 304, policy: [no],
    ask: [['If-Modified-Since', fileTime], ['Sec-Fetch-Dest', 'image']] },
  { name: 'types *: no_redirect', place: [...sampled, everything], answer: { status: 302, fields: [html] }, status: 302 },
];

const always = 'fleetprof_always on';
/** @type {Case[]} */
const errors = [
  ...[400, 403, 404, 410, 500, 503].map((status) => (
    { name: `always: a_${status}_says_yes`, place: [...sampled, always], answer: { status, fields: [html] }, status,
      policy: [yes], log: /** @type {Log} */ (['1', '1', 'sampled']) })),
  { name: 'always: an_unsampled_error_says_no', place: [...unsampled, always], answer: { status: 404, fields: [html] },
    status: 404, policy: [no] },
  { name: 'always: the_servers_own_error_page', place: [...sampled, always], path: '/nowhere', status: 404, policy: [yes] },
  { name: 'always: the_apps_members_survive', place: [...sampled, always], status: 500,
    answer: { status: 500, fields: [html, ['Document-Policy', 'a']] }, policy: [`a, ${yes}`] },
  { name: 'always: the_apps_no_is_respected', place: [...sampled, always], status: 500,
    answer: { status: 500, fields: [html, ['Document-Policy', 'js-profiling=?0']] }, policy: ['js-profiling=?0'] },
  { name: 'always: an_error_that_is_no_document', place: [...sampled, always], status: 404,
    answer: { status: 404, fields: [['Content-Type', 'application/json']] }, log: ['', '', 'type'] },
  { name: 'always: no_redirect', place: [...sampled, always], status: 301,
    answer: { status: 301, fields: [html, ['Location', '/']] }, log: ['', '', 'status'] },
  { name: 'always: an_error_cannot_be_timed', place: [...sampled, always, 'timing_allow_origin *'], status: 404,
    answer: { status: 404, fields: [html] }, policy: [yes] },
];

/** @type {Case[]} */
const inherited = [
  { name: 'inherited: unsampled', server: [omit], place: unsampled, answer: pageWith() },
  { name: 'overridden: unsampled', server: [omit], place: [...unsampled, 'fleetprof_unsampled negative'], policy: [no],
    answer: pageWith() },
  { name: 'inherited: conflict', server: [local], place: sampled, answer: pageWith(no), policy: [yes] },
  { name: 'overridden: conflict', server: [local], place: [...sampled, 'fleetprof_conflict upstream'], answer: pageWith(no),
    policy: [no] },
  { name: 'inherited: not_modified', server: [omit304], place: sampled, ask: changedSince, status: 304 },
  { name: 'overridden: not_modified', server: [omit304], place: [...sampled, 'fleetprof_not_modified auto'],
    ask: changedSince, status: 304, policy: [yes] },
  { name: 'inherited: cacheable', server: ['fleetprof_cacheable on'], place: sampled, answer: cached('public'), policy: [yes] },
  { name: 'overridden: cacheable', server: ['fleetprof_cacheable on'], place: [...sampled, 'fleetprof_cacheable off'],
    answer: cached('public'), policy: [no] },
  { name: 'inherited: types', server: [everything], place: sampled, path: '/pixel.gif', policy: [yes] },
  { name: 'overridden: types', server: [everything], place: [...sampled, 'fleetprof_types text/html'], path: '/pixel.gif' },
  { name: 'inherited: always', server: [always], place: sampled, path: '/nowhere', status: 404, policy: [yes] },
  { name: 'overridden: always', server: [always], place: [...sampled, 'fleetprof_always off'], path: '/nowhere', status: 404 },
];

export const choices = [...omitted, ...conflict, ...notModifieds, ...shared, ...types, ...errors, ...inherited];
