/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing comparison: the tables of `compare --timings` and `compare --vitals`.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_TIMING_COMPARISON_H
#define FP_CLI_ASK_TIMING_COMPARISON_H

#include "cli/ask/comparison.h"

/*
 * Prints the rows of compare_timings, or of compare_vitals, for two releases or periods (NULL: not
 * given), at most `top`; *rows gets their number. Prints an error and returns false on failure.
 */
bool fp_timing_comparison_print(const struct fp_comparison *comparison, bool of_vitals,
                                const char *const releases[2], const char *top,
                                int *rows) FP_MUST_CHECK;

#endif
