/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison: what `compare` and `regressions` have in common: a database, the page loads of both
 * sides, a table of functions.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_COMPARISON_H
#define FP_CLI_ASK_COMPARISON_H

#include "cli/ask/columns.h"
#include "cli/ask/filters.h"
#include "cli/kit/grid.h"
#include "cli/kit/message.h"

struct fp_comparison {
    struct fp_database_options database;
    struct fp_filters filters; /* since and until are those of the later side */
    struct fp_own_filters own; /* of one side */
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

/* Appends the SELECT list that fills the columns of the table from a row of compare_releases. */
void fp_comparison_select(struct fp_sql_query *query);

/* SQL of a change (after / before - 1) in words: "+104 %", from ten times on "12 times". */
#define FP_COMPARISON_CHANGE(value)                                                                \
    "case when " value " > 999 then '> 1000 times' "                                               \
    "when " value " >= 8.995 then to_char(1 + " value ", 'FM9990') || ' times' "                   \
    "else to_char(100 * " value ", 'FMSG9990') || ' %' end"

/* SQL of a range of hours in words: "2026-05-04 09:00 to 2026-05-05 09:00". */
#define FP_COMPARISON_HOURS(name)                                                                  \
    "to_char(lower(" name ") at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' to ' || "              \
    "to_char(upper(" name ") at time zone 'UTC', 'YYYY-MM-DD HH24:MI')"

/* A row of compare_summary as a sentence on when a change of 20 % could be found; '' if it could
 * now. */
#define FP_COMPARISON_WAIT                                                                         \
    "case when decidable_in is null then '' else '+20 % of what runs in every load: ' || "         \
    "case when decidable_in + extract(epoch from upper(after_hours) - lower(after_hours)) / 3600 " \
    "> 48 then 'not within 48 hours' else 'in about ' || ceil(decidable_in) || ' h' end || "       \
    "' at this traffic.' end"

/* Columns for people: a change, its interval, and what would have been seen. */
#define FP_SHOWN_CHANGE(title, change, low, high)                                                  \
    {.heading = (title), .cell = FP_CELL_WORD, .sql = FP_COMPARISON_CHANGE(change)},               \
        {.heading = "95 % BETWEEN",                                                                \
         .cell = FP_CELL_WORD,                                                                     \
         .sql = FP_COMPARISON_CHANGE(low) " || ' and ' || " FP_COMPARISON_CHANGE(high)},           \
        {.heading = "COULD HAVE SEEN",                                                             \
         .cell = FP_CELL_WORD,                                                                     \
         .sql = "case verdict when 'no change seen' then " FP_COMPARISON_CHANGE(                   \
             "smallest_visible") " end"}

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
