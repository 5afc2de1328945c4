// SPDX-License-Identifier: Apache-2.0
/** Timing-Allow-Origin: one line, the union of both sides, on all that may be timed. */
import { fileTime, html, sampled, yes } from './words.mjs';

const a = 'https://a.example';
const b = 'https://b.example:8443';
const allowed = [`timing_allow_origin ${a} null`];
const line = `${a}, null`;

/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const sending = (...lines) => ({ fields: [html, ...lines.map(
  (value) => /** @type {[string, string]} */ (['Timing-Allow-Origin', value]))] });

/** @type {import('../cases.mjs').Case[]} */
export const timing = [
  { name: 'timing_is_off_by_default', answer: sending(b), origins: [b] },
  { name: 'one_origin', place: [`timing_allow_origin ${b}`], answer: sending(), origins: [b] },
  { name: 'several_origins_are_one_line', place: allowed, answer: sending(), origins: [line] },
  { name: 'everyone', place: ['timing_allow_origin *'], answer: sending(), origins: ['*'] },
  { name: 'a_script', place: allowed, path: '/app.js', origins: [line] },
  { name: 'an_image', place: allowed, path: '/pixel.gif', origins: [line] },
  { name: 'with_the_policy', place: [...sampled, ...allowed], policy: [yes], origins: [line] },

  { name: 'the_apps_origins_come_first', place: allowed, answer: sending(b), origins: [`${b}, ${line}`] },
  { name: 'the_apps_lines_become_one', place: allowed, answer: sending(b, `null ,${b}`), origins: [`${b}, null, ${a}`] },
  { name: 'what_is_there_is_not_repeated', place: allowed, answer: sending(line), origins: [line] },
  { name: 'the_apps_star_swallows_ours', place: allowed, answer: sending('*'), origins: ['*'] },
  { name: 'the_apps_star_in_a_list_swallows_all', place: allowed, answer: sending(b, '*'), origins: ['*'] },
  { name: 'our_star_swallows_the_apps', place: ['timing_allow_origin *'], answer: sending(b), origins: ['*'] },
  { name: 'the_2012_drafts_list_is_kept_as_it_is', place: allowed, answer: sending('http://x.example http://y.example'),
    origins: [`http://x.example http://y.example, ${line}`] },
  { name: 'an_empty_value_is_an_empty_list', place: allowed, answer: sending(''), origins: [line] },
  { name: 'a_list_that_would_pass_4_kib_is_left_alone', place: allowed, answer: sending('x'.repeat(4090)),
    origins: ['x'.repeat(4090)] },

  ...[301, 302, 303, 307, 308].map((status) => (
    { name: `redirect_${status}`, place: allowed, status, origins: [line],
      answer: { status, fields: [/** @type {[string, string]} */ (['Location', 'https://b.example/'])] } })),
  ...[400, 404, 500].map((status) => (
    { name: `error_${status}_is_left_alone`, place: allowed, status, answer: { status, fields: [html] } })),
  { name: 'a_files_304', place: allowed, path: '/app.js', ask: [['If-Modified-Since', fileTime]], status: 304,
    origins: [line] },
  { name: 'upstreams_304_without_the_field_stays_without', place: allowed, ask: [['If-None-Match', '"v1"']],
    answer: sending(b), revalidated: { status: 304 }, status: 304 },
  { name: 'upstreams_304_with_the_field_is_merged', place: allowed, ask: [['If-None-Match', '"v1"']],
    answer: sending(b), revalidated: { status: 304, fields: [['Timing-Allow-Origin', b]] }, status: 304,
    origins: [`${b}, ${line}`] },
];
