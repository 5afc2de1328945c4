/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Empty answer: says why an answer has no rows, and which values the database knows.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_EMPTY_ANSWER_H
#define FP_CLI_ASK_EMPTY_ANSWER_H

#include "cli/ask/filters.h"

/*
 * Prints the reason on standard error: nothing was ever counted; the site, a filter's value or the
 * measure is unknown; or nothing was counted in the period. measure: NULL when none was asked for.
 * Prints the server's error and returns false on failure.
 */
bool fp_empty_answer_explain(const struct fp_filters *filters, const char *measure,
                             PGconn *connection) FP_MUST_CHECK;

/* Does so if the site is unknown; *is_unknown says whether it is. */
bool fp_empty_answer_explain_site(const struct fp_filters *filters, PGconn *connection,
                                  bool *is_unknown) FP_MUST_CHECK;

/* Does so if nothing was counted for the measure; *is_unknown says whether that is so. */
bool fp_empty_answer_explain_measure(const struct fp_filters *filters, const char *measure,
                                     PGconn *connection, bool *is_unknown) FP_MUST_CHECK;

#endif
