/*
 * Comparison: what `compare` and `regressions` have in common: a database, the page loads of both
 * sides, a table of functions.
 *
 * One thread.
 */
#ifndef FP_CLI_COMPARISON_H
#define FP_CLI_COMPARISON_H

#include "cli/filters.h"
#include "cli/grid.h"
#include "cli/message.h"

struct fp_comparison {
    struct fp_database_options database;
    struct fp_filters filters; /* since and until are those of the later side */
    const char *before_since;  /* NULL: not given, as the next one */
    const char *before_until;
    enum fp_form form;
    PGconn *connection; /* owned while the comparison is open */
};

/* Reads filters, periods and database into a struct fp_comparison, with and without those of the
 * earlier side's period. */
extern const struct argp fp_comparison_argp;
extern const struct argp fp_comparison_of_releases_argp;

/* Connects, checks the periods and chooses the site. Prints an error and returns false on failure;
 * nothing is open then. */
bool fp_comparison_open(struct fp_comparison *comparison) FP_MUST_CHECK;
void fp_comparison_close(struct fp_comparison *comparison);

/* Appends the arguments that are not releases: "site => $1::text, since => …". */
void fp_comparison_add(const struct fp_comparison *comparison, struct fp_sql_query *query);

/* Columns of the table, and the SELECT list that fills them from a row of compare_releases. */
extern const struct fp_grid_column fp_comparison_columns[];
extern const size_t fp_comparison_column_count;
extern const char fp_comparison_select[];

/* SQL of a change (after / before - 1) in words: "+104 %", from ten times on "12 times". */
#define FP_COMPARISON_CHANGE(value)                                                                \
    "case when " value " > 999 then '> 1000 times' "                                               \
    "when " value " >= 8.995 then to_char(1 + " value ", 'FM9990') || ' times' "                   \
    "else to_char(100 * " value ", 'FMSG9990') || ' %' end"

/* Prints the table: the rows of an answer whose first columns are not part of it; NULL: no row. */
void fp_comparison_print(const struct fp_comparison *comparison, const PGresult *answer,
                         int first_column);

/*
 * Asks compare_summary, and prints what it says about two releases or periods (NULL: not given) in
 * a few lines. Prints an error and returns false on failure.
 */
bool fp_comparison_summarise(const struct fp_comparison *comparison, const char *before,
                             const char *after) FP_MUST_CHECK;

/* Explains an empty answer on standard error: one of two releases or periods (NULL: not given) has
 * none of these things. Prints an error and returns false on failure. */
bool fp_comparison_explain(const struct fp_comparison *comparison, const char *before,
                           const char *after, const char *things) FP_MUST_CHECK;

#endif
