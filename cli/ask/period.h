/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Period: checks --since, --until and the like before a question is asked.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_PERIOD_H
#define FP_CLI_ASK_PERIOD_H

#include "cli/ask/filters.h"

/*
 * True if --since and --until are times and the period between them is not empty and does not begin
 * in the future; the filters' `period` is its text then. Prints an error and returns false
 * otherwise. The site is chosen: from then on, the connection reads times without an offset in its
 * time zone.
 */
bool fp_period_check(struct fp_filters *filters, PGconn *connection) FP_MUST_CHECK;

/*
 * The same for both sides of a comparison, whose limits have no defaults; the values of
 * --before-since and --before-until may be NULL. Sets no text.
 */
bool fp_period_check_sides(const struct fp_filters *after, const char *before_since,
                           const char *before_until, PGconn *connection) FP_MUST_CHECK;

#endif
