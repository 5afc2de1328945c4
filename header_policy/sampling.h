/*
 * The sampling decision: rates in parts per million, and 64-bit numbers that are compared to them.
 *
 * A number stands for the point number / 2^64 on [0, 1); a load is sampled when its point lies
 * below the rate. So whoever is sampled at 1 % is sampled at 10 %, too.
 */
#ifndef FLEETPROF_SAMPLING_H
#define FLEETPROF_SAMPLING_H

#include "slice.h"

#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

#define FLEETPROF_RATE_ONE 1000000u

/* Room for fleetprof_rate_format's text: "0.000001". */
#define FLEETPROF_RATE_TEXT_MAX 8

enum fleetprof_rate_error {
    FLEETPROF_RATE_OK,
    FLEETPROF_RATE_SYNTAX,
    FLEETPROF_RATE_ABOVE_ONE,
    FLEETPROF_RATE_TOO_SMALL
};

/*
 * Reads `1%`, `0.05%` or `1/2000` into parts per million, rounded to the nearest, a half upwards.
 * 0 stands for itself, but what is above 0 and below one part per million is an error: rounded, it
 * would sample nobody, or up to many times more than was asked for. `*ppm` is set on success only.
 */
FLEETPROF_MUST_CHECK enum fleetprof_rate_error fleetprof_rate_parse(struct fleetprof_slice text,
                                                                    uint32_t *ppm);

/* What is wrong and what would be right, for an administrator: constant text, no full stop. */
const char *fleetprof_rate_error_text(enum fleetprof_rate_error error);

/* Writes `ppm`, at most FLEETPROF_RATE_ONE, as a decimal fraction: "0.0005", "1". Its length. */
size_t fleetprof_rate_format(uint32_t ppm, char text[FLEETPROF_RATE_TEXT_MAX]);

/* Is the load with this number sampled at this rate? Its bias is below 10^-13. */
bool fleetprof_sampled(uint64_t number, uint32_t ppm);

/*
 * The number of a key: SipHash-2-4 of its bytes under the fixed 16-byte key "fleetprof sample",
 * as a little-endian 64-bit number. The same on every server, permanently: dashboards compare
 * cohorts.
 */
uint64_t fleetprof_key_number(struct fleetprof_slice key);

/*
 * The next number of a random stream (SplitMix64): uniform over all 64 bits, and each value comes
 * exactly once in 2^64 steps. Seed `*state` from the operating system, one state for each worker.
 */
uint64_t fleetprof_random_number(uint64_t *state);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
