/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Experiments and their arms: which page loads a server treats differently, drawn by weight.
 *
 * Draws depend neither on the sampling decision nor on each other.
 */
#ifndef FLEETPROF_ARMS_H
#define FLEETPROF_ARMS_H

#include "slice.h"

#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(hidden)
#endif

/* Limits that keep the combinations of arms, each a variant, and the token small. */
#define FLEETPROF_EXPERIMENTS_MAX 4
#define FLEETPROF_ARMS_MAX 8
#define FLEETPROF_ARM_NAME_MAX 16
#define FLEETPROF_ARM_WEIGHT_MAX 10000

/* Maximum length of fleetprof_arms_format's text: `NAME=ARM` per experiment, and commas. */
#define FLEETPROF_ARMS_TEXT_MAX (FLEETPROF_EXPERIMENTS_MAX * (2 * FLEETPROF_ARM_NAME_MAX + 2) - 1)

struct fleetprof_arm {
    struct fleetprof_slice name;
    uint32_t weight; /* at least 1 */
};

struct fleetprof_experiment {
    struct fleetprof_slice name;
    struct fleetprof_arm arm[FLEETPROF_ARMS_MAX];
    size_t count;
    uint32_t weights; /* their sum */
};

/* Starts as all zero. Borrows its names from the configuration. */
struct fleetprof_arms {
    struct fleetprof_experiment experiment[FLEETPROF_EXPERIMENTS_MAX];
    size_t count;
};

enum fleetprof_arms_error {
    FLEETPROF_ARMS_OK,
    FLEETPROF_ARMS_SYNTAX,
    FLEETPROF_ARMS_EXPERIMENT_NAME,
    FLEETPROF_ARMS_ARM_NAME,
    FLEETPROF_ARMS_WEIGHT,
    FLEETPROF_ARMS_ONE,
    FLEETPROF_ARMS_MANY,
    FLEETPROF_ARMS_TWICE,
    FLEETPROF_ARMS_ALIKE,
    FLEETPROF_ARMS_EXPERIMENT_TWICE,
    FLEETPROF_ARMS_EXPERIMENT_ALIKE,
    FLEETPROF_ARMS_EXPERIMENTS_MANY
};

/*
 * Adds the experiment `NAME=ARM:WEIGHT,ARM:WEIGHT…`, whose text must outlive `arms`. `arms` is
 * unchanged on failure.
 */
FLEETPROF_MUST_CHECK enum fleetprof_arms_error fleetprof_arms_add(struct fleetprof_arms *arms,
                                                                  struct fleetprof_slice text);

/* Returns what is wrong and what would be right, for an administrator: constant text, no full
 * stop. */
const char *fleetprof_arms_error_text(enum fleetprof_arms_error error);

/* Returns the index of the arm that a 64-bit number draws. The bias is below 10^-14. */
size_t fleetprof_arm_draw(const struct fleetprof_experiment *experiment, uint64_t number);

/*
 * Writes the drawn arms, `drawn[i]` of experiment i, as `NAME=ARM,NAME=ARM`. Returns the length.
 */
size_t fleetprof_arms_format(const struct fleetprof_arms *arms,
                             const unsigned char drawn[FLEETPROF_EXPERIMENTS_MAX],
                             char text[FLEETPROF_ARMS_TEXT_MAX]);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif
