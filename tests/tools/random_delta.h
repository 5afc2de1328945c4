/*
 * Random deltas for tests: honest ones, in which sums add up, from a seed.
 */
#ifndef FP_TESTS_RANDOM_DELTA_H
#define FP_TESTS_RANDOM_DELTA_H

#include "collector/rollup/delta.h"

/* What may vary. Few sites, routes and functions make keys meet. */
struct random_delta_settings {
    uint64_t seed;
    int64_t received_us;
    unsigned max_samples;
    unsigned functions;
    unsigned routes;
};

/* Fills a delta; arrays and texts lie in the arena, which must be large enough. */
void random_delta(const struct random_delta_settings *settings, struct fp_arena *arena,
                  struct fp_delta *delta);

/* The next number of a generator; seeds may be small. */
uint64_t random_next(uint64_t *state);

#endif
