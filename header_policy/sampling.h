/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampling decision: rates in parts per million, and 64-bit numbers that are compared with
 * them.
 *
 * A number stands for the point number / 2^64 on [0, 1). A load is sampled when its point is below
 * the rate, so a load that is sampled at 1 % is also sampled at 10 %.
 */
#ifndef FLEETPROF_SAMPLING_H
#define FLEETPROF_SAMPLING_H

#include "slice.h"

#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

#define FLEETPROF_RATE_ONE 1000000u

/* Maximum length of fleetprof_rate_format's text: "0.000001". */
#define FLEETPROF_RATE_TEXT_MAX 8

enum fleetprof_rate_error {
    FLEETPROF_RATE_OK,
    FLEETPROF_RATE_SYNTAX,
    FLEETPROF_RATE_ABOVE_ONE,
    FLEETPROF_RATE_TOO_SMALL
};

/*
 * Parses `1%`, `0.05%` or `1/2000` into parts per million, rounded to the nearest, a half upwards.
 * 0 is valid, but a rate above 0 and below one part per million is an error: rounding would sample
 * nobody, or many times more than requested. `*ppm` is set on success only.
 */
FLEETPROF_MUST_CHECK enum fleetprof_rate_error fleetprof_rate_parse(struct fleetprof_slice text,
                                                                    uint32_t *ppm);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_rate_error_text(enum fleetprof_rate_error error);

/* Writes `ppm`, at most FLEETPROF_RATE_ONE, as a decimal fraction: "0.0005", "1". Returns its
 * length. */
size_t fleetprof_rate_format(uint32_t ppm, char text[FLEETPROF_RATE_TEXT_MAX]);

/* True if the load with this number is sampled at this rate. The bias is below 10^-13. */
bool fleetprof_sampled(uint64_t number, uint32_t ppm);

/*
 * Returns the number of a key: SipHash-2-4 of its bytes under the fixed 16-byte key "fleetprof
 * sample", as a little-endian 64-bit number. It is the same on every server and never changes:
 * dashboards compare cohorts.
 */
uint64_t fleetprof_key_number(struct fleetprof_slice key);

/*
 * Returns the number of a key in an experiment: SipHash-2-4 of its bytes under the 8 bytes "arm
 * draw" and the number that fleetprof_key_number gives the experiment's name. So experiments draw
 * independently of each other and of the sample. It never changes either.
 */
uint64_t fleetprof_arm_number(struct fleetprof_slice experiment, struct fleetprof_slice key);

/*
 * Returns the next number of a random stream (SplitMix64): uniform over all 64 bits; each value
 * occurs exactly once in 2^64 steps. Seed `*state` from the operating system; use one state per
 * worker.
 */
uint64_t fleetprof_random_number(uint64_t *state);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
