// SPDX-License-Identifier: Apache-2.0
/** Configured members beside the application's, and what is too long for the modules. */
import { no, pageWith, sampled } from './words.mjs';

const manyLines = Array.from({ length: 33 }, (_, i) => `m${i}`);

/** @type {import('../cases.mjs').Case[]} */
export const merging = [
  { name: 'configured_members_are_sent', answer: pageWith(), policy: ['js-profiling-mode=eager, x=2'],
    place: [...sampled, 'fleetprof_policy js-profiling-mode=eager x=2'] },
  { name: 'configured_members_may_have_parameters', answer: pageWith(), policy: ['js-profiling;report-to=default'],
    place: [...sampled, 'fleetprof_policy "js-profiling;report-to=default"'] },
  { name: 'a_configured_member_that_the_app_has_is_the_apps', answer: pageWith('x=1'),
    place: [...sampled, 'fleetprof_policy js-profiling x=2'], policy: ['x=1, js-profiling'] },
  { name: 'configured_members_are_for_the_sampled_only', answer: pageWith('x=1'),
    place: ['fleetprof on', 'fleetprof_sample 0%', 'fleetprof_policy js-profiling y=2'], policy: [`x=1, ${no}`] },
  { name: 'more_than_32_lines_are_left_alone', place: sampled, answer: pageWith(...manyLines),
    policy: manyLines, log: ['', '1', 'too_long'] },
];
