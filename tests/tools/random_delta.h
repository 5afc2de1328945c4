/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random deltas for tests: honest ones, in which sums add up, from a seed.
 */
#ifndef FP_TESTS_RANDOM_DELTA_H
#define FP_TESTS_RANDOM_DELTA_H

#include "collector/rollup/delta.h"

/* The values to vary. With few sites, routes and functions, keys collide. */
struct random_delta_settings {
    uint64_t seed;
    int64_t received_us;
    unsigned max_samples;
    unsigned functions;
    unsigned routes;
    unsigned values; /* of each other dimension, absent included; 0: one, and other shapes
                        are also few */
    bool vitals;     /* also vitals that are sent again, with one value per part of a page load */
    bool left_out;   /* also what agents left out */
    bool observed;   /* also uploads without a trace, and timings of all kinds */
    bool reasons;    /* also page loads that say why they have no profile, or why it ends early */
};

/* Fills a delta. Its arrays and texts are in the arena, which must be large enough. */
void random_delta(const struct random_delta_settings *settings, struct fp_arena *arena,
                  struct fp_delta *delta);

/* Returns the next number of a generator; seeds may be small. */
uint64_t random_next(uint64_t *state);

#endif
