/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compared: the tables of `compare` for all but functions.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_COMPARED_H
#define FP_CLI_ASK_COMPARED_H

#include "cli/ask/comparison.h"

enum fp_compared {
    FP_COMPARED_TIMINGS,
    FP_COMPARED_VITALS,
    FP_COMPARED_COSTS,
    FP_COMPARED_PARTS,
};

/* A question about two sides. */
struct fp_compared_question {
    enum fp_compared what;
    const char *by;          /* of FP_COMPARED_COSTS: the group or dimension */
    const char *releases[2]; /* NULL: not given */
    const char *top;         /* how many rows at most, a number */
};

/* Prints the rows of the answer; *rows gets their number. Prints an error and returns false on
 * failure. */
bool fp_compared_print(const struct fp_comparison *comparison,
                       const struct fp_compared_question *question, int *rows) FP_MUST_CHECK;

#endif
