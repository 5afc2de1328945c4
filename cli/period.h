/*
 * Period: checks --since and --until before a question is asked.
 *
 * One thread.
 */
#ifndef FP_CLI_PERIOD_H
#define FP_CLI_PERIOD_H

#include "cli/filters.h"

/*
 * True if --since and --until are times and the period between them is not empty and does not begin
 * in the future; the filters' `period` is its text then. Prints an error and returns false
 * otherwise.
 */
bool fp_period_check(struct fp_filters *filters, PGconn *connection) FP_MUST_CHECK;

#endif
