/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Script filters: the functions of one host, party or package, as a question about functions takes
 * them beside the filters of page loads.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_SCRIPT_FILTERS_H
#define FP_CLI_ASK_SCRIPT_FILTERS_H

#include "cli/ask/filters.h"

enum fp_script_filter {
    FP_SCRIPT_HOST,
    FP_SCRIPT_PARTY,
    FP_SCRIPT_PACKAGE,
    FP_SCRIPT_FILTER_COUNT,
};

struct fp_script_filters {
    const char *values[FP_SCRIPT_FILTER_COUNT]; /* patterns of the caller; NULL: not given */
};

/* Appends ", NAME => VALUE" for each that is given. */
void fp_script_filters_add(const struct fp_script_filters *scripts, struct fp_sql_query *query);

/* Prints a note below the answer for each that is given. */
void fp_script_filters_note(const struct fp_script_filters *scripts);

enum fp_scripts_finding {
    FP_SCRIPTS_NOTHING_RAN, /* or no filter is given */
    FP_SCRIPTS_UNKNOWN,     /* and the reason is printed */
    FP_SCRIPTS_KNOWN,       /* each filter alone matches something that ran */
    FP_SCRIPTS_TROUBLE,     /* the server's error is printed */
};

/* Looks for the reason why no function matches: for the first name that no script has, prints it on
 * standard error, and which names there are. */
enum fp_scripts_finding fp_script_filters_explain(const struct fp_script_filters *scripts,
                                                  const struct fp_filters *filters,
                                                  PGconn *connection) FP_MUST_CHECK;

#endif
