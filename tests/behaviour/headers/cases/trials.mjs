// SPDX-License-Identifier: Apache-2.0
/** Origin-Trial: on sampled documents alone, beside the application's own lines. */
import { fileTime, html, no, pageWith, sampled, unsampled, yes } from './words.mjs';

/** Returns a token of the form that browsers read, without a valid signature. @param {string} text */
export const trialToken = (text) => Buffer.concat([Buffer.from([3]), Buffer.alloc(64),
  Buffer.from([0, 0, 0, text.length]), Buffer.from(text)]).toString('base64');

const a = trialToken('a');
const b = trialToken('b');
const given = [`fleetprof_origin_trial ${a} ${b}`];
const line = `${a}, ${b}`;
const fields = { 'origin-trial': [line] };
const none = { 'origin-trial': [] };

/** @type {[string, string][]} */
const revalidating = [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document']];
/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const sending = (...lines) => ({ fields: [html, ...lines.map((value) => /** @type {[string, string]} */ (['Origin-Trial', value]))] });

/** @type {import('../cases.mjs').Case[]} */
export const trials = [
  { name: 'trial: a_sampled_page', place: [...sampled, ...given], answer: pageWith(), policy: [yes], fields },
  { name: 'trial: a_sampled_file', place: [...sampled, ...given], policy: [yes], fields },
  { name: 'trial: a_sampled_worker_script', place: [...sampled, ...given], path: '/app.js', ask: [['Sec-Fetch-Dest', 'worker']],
    policy: [yes], fields },
  { name: 'trial: an_unsampled_page', place: [...unsampled, ...given], answer: pageWith(), policy: [no], fields: none },
  { name: 'trial: a_page_for_shared_caches', place: [...sampled, ...given], policy: [no], fields: none,
    answer: { fields: [html, ['Cache-Control', 'public']] } },
  { name: 'trial: what_is_no_document', place: [...sampled, ...given], path: '/app.js', fields: none },
  { name: 'trial: where_the_module_is_off', place: given, answer: pageWith(), fields: none },
  { name: 'trial: where_the_app_decides', place: [...sampled, ...given], answer: pageWith(no), policy: [no], fields: none },
  { name: 'trial: the_apps_lines_keep_every_byte', place: [...sampled, ...given], answer: sending('x,  y', 'not base64'),
    policy: [yes], fields: { 'origin-trial': ['x,  y', 'not base64', line] } },
  { name: 'trial: an_unsampled_page_keeps_the_apps_lines', place: [...unsampled, ...given], answer: sending('x'),
    policy: [no], fields: { 'origin-trial': ['x'] } },
  { name: 'trial: a_sampled_files_304', place: [...sampled, ...given], status: 304, policy: [yes], fields,
    ask: [['If-Modified-Since', fileTime], ['Accept', 'text/html']] },
  { name: 'trial: upstreams_304_without_the_policy', place: [...sampled, ...given], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: { status: 304 }, fields: none },
  { name: 'trial: upstreams_304_with_the_policy', place: [...sampled, ...given], ask: revalidating, status: 304,
    answer: pageWith(), revalidated: { status: 304, fields: [['Document-Policy', 'a']] }, policy: [`a, ${yes}`], fields },
  { name: 'trial: it_is_inherited', server: given, place: sampled, answer: pageWith(), policy: [yes], fields },
  { name: 'trial: it_can_be_off', server: given, place: [...sampled, 'fleetprof_origin_trial off'], answer: pageWith(),
    policy: [yes], fields: none },
];
