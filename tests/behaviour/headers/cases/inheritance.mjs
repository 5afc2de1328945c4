// SPDX-License-Identifier: Apache-2.0
/** Each setting is inherited on its own, and the inner one wins. */
import { no, sampled, yes } from './words.mjs';

const a = 'https://a.example';

/** @type {import('../cases.mjs').Case[]} */
export const inheritance = [
  { name: 'all_is_inherited', server: [...sampled, `timing_allow_origin ${a}`], policy: [yes], origins: [a] },
  { name: 'the_inner_switch_wins', server: sampled, place: ['fleetprof off'] },
  { name: 'the_inner_rate_wins', server: ['fleetprof on', 'fleetprof_sample 100%'], place: ['fleetprof_sample 0%'],
    policy: [no] },
  { name: 'the_outer_rate_holds_for_an_inner_switch', server: ['fleetprof_sample 0%'], place: ['fleetprof on'],
    policy: [no] },
  { name: 'an_inner_rate_drops_the_outer_key', place: ['fleetprof_sample 100%'], policy: [yes],
    server: ['fleetprof on', 'fleetprof_sample 1/2 key=0123456789abcdef'] },
  { name: 'the_inner_policy_replaces_the_outer_one', server: [...sampled, 'fleetprof_policy js-profiling a'],
    place: ['fleetprof_policy js-profiling-mode=lazy'], policy: ['js-profiling-mode=lazy'] },
  { name: 'the_inner_origins_replace_the_outer_ones', server: ['timing_allow_origin https://b.example'],
    place: [`timing_allow_origin ${a}`], origins: [a] },
  { name: 'inner_origins_can_be_off', server: [`timing_allow_origin ${a}`], place: ['timing_allow_origin off'] },
];
