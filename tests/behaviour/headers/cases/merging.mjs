// SPDX-License-Identifier: Apache-2.0
/** Our members beside the application's. */
import { html, no, pageWith, sampled, unsampled, yes } from './words.mjs';

const long = `a="${'x'.repeat(4080)}"`;
const manyLines = Array.from({ length: 33 }, (_, i) => `m${i}`);

/** @type {import('../cases.mjs').Case[]} */
export const merging = [
  { name: 'a_sampled_page_says_yes', place: sampled, answer: pageWith(), policy: [yes], log: ['1', '1', 'sampled'] },
  { name: 'an_unsampled_page_says_no', place: unsampled, answer: pageWith(), policy: [no], log: ['0', '0', 'rate'] },
  { name: 'without_the_directive_nothing_is_said', answer: pageWith(), log: ['', '', 'off'] },
  { name: 'without_the_directive_the_app_is_not_touched', answer: pageWith('a', 'b'), policy: ['a', 'b'] },
  { name: 'several_lines_become_one', place: sampled, answer: pageWith('a', 'b=2, c', 'd;p'),
    policy: [`a, b=2, c, d;p, ${yes}`] },
  { name: 'foreign_members_keep_every_byte', place: unsampled,
    answer: pageWith('a=1.50 ,b=("x, y" tok;q=?0);r,  c=:YQ==:;s="\\"", d=@1659578233, e=%"f%c3%bc"'),
    policy: [`a=1.50 ,b=("x, y" tok;q=?0);r,  c=:YQ==:;s="\\"", d=@1659578233, e=%"f%c3%bc", ${no}`] },
  { name: 'an_empty_value_is_an_empty_policy', place: sampled, answer: pageWith(''), policy: [yes] },
  { name: 'the_name_is_found_in_any_case', place: sampled, policy: [`a, b, ${yes}`],
    answer: { fields: [html, ['DOCUMENT-policy', 'a'], ['document-Policy', 'b']] } },
  { name: 'a_parameter_of_that_name_is_no_member', place: sampled, answer: pageWith('foo;js-profiling'),
    policy: [`foo;js-profiling, ${yes}`] },

  { name: 'the_apps_no_is_respected', place: sampled, answer: pageWith('js-profiling=?0'),
    policy: ['js-profiling=?0'], log: ['', '1', 'upstream'] },
  { name: 'the_apps_yes_is_respected', place: unsampled, answer: pageWith('js-profiling'),
    policy: ['js-profiling'], log: ['', '0', 'upstream'] },
  { name: 'the_apps_mode_is_its_word_too', place: sampled, answer: pageWith('js-profiling-mode=eager'),
    policy: ['js-profiling-mode=eager'] },
  { name: 'the_app_may_speak_in_a_later_line', place: sampled, answer: pageWith('a', 'b, js-profiling=?0'),
    policy: ['a', 'b, js-profiling=?0'] },
  { name: 'a_member_of_the_wrong_type_is_the_apps_word', place: sampled, answer: pageWith('js-profiling=true'),
    policy: ['js-profiling=true'] },
  { name: 'what_another_tier_said_is_not_said_again', place: sampled, answer: pageWith(`a, ${yes}`),
    policy: [`a, ${yes}`], serverTiming: [] },

  ...['a,', ',a', 'a b', 'JS-Profiling', 'a="x', 'a=1.2345', 'a=%"%C3"', 'a=()(', 'ä'].map((value) => (
    { name: `an_unparsable_value_is_left_alone: ${value}`, place: sampled, answer: pageWith(value),
      policy: [value], log: /** @type {[string, string, string]} */ (['', '1', 'unparsable']) })),
  { name: 'an_unparsable_second_line_leaves_both_alone', place: sampled, answer: pageWith('a', 'b,'),
    policy: ['a', 'b,'] },
  { name: 'an_empty_line_among_others_is_unparsable', place: sampled, answer: pageWith('a', ''), policy: ['a', ''] },
  { name: 'an_unparsable_value_is_left_alone_when_unsampled', place: unsampled, answer: pageWith('a,'),
    policy: ['a,'] },
  { name: 'a_value_that_would_pass_4_kib_is_left_alone', place: sampled, answer: pageWith(long),
    policy: [long], log: ['', '1', 'too_long'] },
  { name: 'more_than_32_lines_are_left_alone', place: sampled, answer: pageWith(...manyLines),
    policy: manyLines, log: ['', '1', 'too_long'] },

  { name: 'other_policies_are_left_alone', place: sampled, policy: [yes],
    answer: { fields: [html, ['Document-Policy-Report-Only', 'js-profiling=?0'],
      ['Require-Document-Policy', 'js-profiling']] },
    fields: { 'document-policy-report-only': ['js-profiling=?0'], 'require-document-policy': ['js-profiling'] } },

  { name: 'configured_members_are_sent', answer: pageWith(), policy: ['js-profiling-mode=eager, x=2'],
    place: [...sampled, 'fleetprof_policy js-profiling-mode=eager x=2'] },
  { name: 'configured_members_may_have_parameters', answer: pageWith(), policy: ['js-profiling;report-to=default'],
    place: [...sampled, 'fleetprof_policy "js-profiling;report-to=default"'] },
  { name: 'a_configured_member_that_the_app_has_is_the_apps', answer: pageWith('x=1'),
    place: [...sampled, 'fleetprof_policy js-profiling x=2'], policy: ['x=1, js-profiling'] },
  { name: 'configured_members_are_for_the_sampled_only', answer: pageWith('x=1'),
    place: ['fleetprof on', 'fleetprof_sample 0%', 'fleetprof_policy js-profiling y=2'], policy: [`x=1, ${no}`] },
];
