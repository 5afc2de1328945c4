// SPDX-License-Identifier: Apache-2.0
/** Rates and sticky keys: the number of "visitor-1" lies below one half, the other's above. */
import { no, pageWith, yes } from './words.mjs';

/** @type {import('../cases.mjs').Case[]} */
export const sampling = [
  { name: 'a_key_below_the_rate_is_sampled', place: ['fleetprof on', 'fleetprof_sample 50% key=visitor-1'],
    answer: pageWith(), policy: [yes], log: ['1', '0.5', 'sampled'] },
  { name: 'a_key_above_the_rate_is_not', place: ['fleetprof on', 'fleetprof_sample 50% key=0123456789abcdef'],
    answer: pageWith(), policy: [no], log: ['0', '0.5', 'rate'] },
  { name: 'a_sampled_key_stays_sampled_at_a_higher_rate', answer: pageWith(), policy: [yes],
    place: ['fleetprof on', 'fleetprof_sample 99.9% key=visitor-1'], log: ['1', '0.999', 'sampled'] },
  { name: 'a_fraction_is_a_rate', place: ['fleetprof on', 'fleetprof_sample 1/2 key=visitor-1'],
    answer: pageWith(), policy: [yes], log: ['1', '0.5', 'sampled'] },
  { name: 'the_rate_is_told_in_full', place: ['fleetprof on', 'fleetprof_sample 1/2000 key=visitor-1'],
    answer: pageWith(), policy: [no], log: ['0', '0.0005', 'rate'] },
];
