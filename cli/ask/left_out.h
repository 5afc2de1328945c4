/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Left out: what the page loads of an analysis left out.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_LEFT_OUT_H
#define FP_CLI_ASK_LEFT_OUT_H

#include "cli/ask/analysis.h"

/* Prints a line about it; nothing if they left out nothing. Prints an error and returns false on
 * failure. */
bool fp_left_out_print(const struct fp_analysis *analysis) FP_MUST_CHECK;

#endif
