/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analysis: what the analyst's commands have in common: a database, filters, one SQL function whose
 * answer is a table.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_ANALYSIS_H
#define FP_CLI_ASK_ANALYSIS_H

#include "cli/ask/filters.h"
#include "cli/kit/grid.h"
#include "cli/kit/message.h"
#include "cli/kit/query.h"

struct fp_analysis {
    struct fp_database_options database;
    struct fp_filters filters;
    enum fp_form form;
    const char *parameter; /* of the function, beside the filters; NULL: none */
    const char *argument;  /* its value, a text */
    const char *fold;      /* of functions that return stacks; NULL: not given */
    PGconn *connection;    /* owned while the analysis is open */
};

/* Reads filters and database into a struct fp_analysis, with --marker, with filters of vitals, and
 * without either. */
extern const struct argp fp_analysis_argp;
extern const struct argp fp_analysis_of_vitals_argp;
extern const struct argp fp_analysis_without_marker_argp;

/* Connects, checks the period and chooses the site. Prints an error and returns false on failure;
 * nothing is open then. */
bool fp_analysis_open(struct fp_analysis *analysis) FP_MUST_CHECK;
void fp_analysis_close(struct fp_analysis *analysis);

/* Reads --fold into a const char *. */
extern const struct argp fp_fold_argp;

/* Starts "select COLUMNS from fleetprof.FUNCTION(PARAMETER, FOLD, FILTERS)". The caller releases
 * the query. */
void fp_analysis_query(const struct fp_analysis *analysis, const char *columns,
                       const char *function, struct fp_sql_query *query);

/* Returns the names of columns, as SQL lists them. The caller frees the text. */
char *fp_analysis_list(const struct fp_grid_column *columns, size_t count) FP_MUST_CHECK;

/*
 * Asks the question and prints the answer; *rows gets the number of rows. Explains an empty answer
 * on standard error. Prints an error and returns false on failure.
 */
struct fp_analysis_question {
    const char *function; /* in schema fleetprof */
    const char *things;   /* what the rows are about, for a message that there are none */
    const struct fp_grid_column *columns; /* named as SQL's */
    size_t column_count;
    size_t extra_count; /* the last columns, left out where the terminal is too narrow */
};
bool fp_analysis_print(const struct fp_analysis *analysis,
                       const struct fp_analysis_question *question, size_t *rows) FP_MUST_CHECK;

/* Asks for the names of all functions, the most self time first. Prints an error and returns NULL
 * on failure. The caller calls PQclear. */
PGresult *fp_analysis_list_functions(const struct fp_analysis *analysis) FP_MUST_CHECK;

/* Explains an empty answer on standard error: nothing that the filters match, or no such things in
 * it. Prints an error and returns false on failure. */
bool fp_analysis_explain(const struct fp_analysis *analysis, const char *things) FP_MUST_CHECK;

#endif
