/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters: which page loads a command is about; the options have the names of the SQL
 * functions' parameters. One thread.
 */
#ifndef FP_CLI_ASK_FILTERS_H
#define FP_CLI_ASK_FILTERS_H

#include "cli/ask/filter_rows.h"
#include "cli/kit/query.h"

#define FP_FILTER_ID(id, ...) FP_FILTER_##id

/* The first ones are those that some commands do without. */
enum fp_filter {
    FP_FILTERS_OF_SAMPLES(FP_FILTER_ID),
    FP_FILTERS_OF_SIDES(FP_FILTER_ID),
    FP_FILTER_SINCE,
    FP_FILTER_UNTIL,
    FP_FILTER_SITE,
    FP_FILTERS_OF_LOADS(FP_FILTER_ID),
    FP_FILTERS_OF_VITALS(FP_FILTER_ID),
    FP_FILTER_COUNT
};

/* Letters of options. */
enum { FP_LETTER_RELEASE = 'r', FP_LETTER_SINCE = 'S', FP_LETTER_SITE = 's' };

/* The sides of a comparison. */
enum fp_side { FP_SIDE_BEFORE, FP_SIDE_AFTER, FP_SIDE_COUNT };

/* Filters of one side, which stand for those of both; NULL: not given. */
struct fp_own_filters {
    const char *values[FP_SIDE_COUNT][FP_FILTER_COUNT];
};

struct fp_filters {
    const char *values[FP_FILTER_COUNT];   /* NULL: not given, the function's default holds */
    const char *excluded[FP_FILTER_COUNT]; /* patterns of --exclude; NULL: not given */
    bool of_vitals;                        /* the command takes filters of vitals */
    char chosen_site[256];                 /* storage for a site that was not given */
    char period[80];                       /* "… to … (UTC)", once fp_period_check has read it */
};

/* Reads the options into a struct fp_filters, with and without filters of samples (--marker). */
extern const struct argp fp_filters_argp;
extern const struct argp fp_filters_without_marker_argp;

/* Reads --site and the filters of both sides: not --release. All of them read --exclude. */
extern const struct argp fp_filters_of_both_sides_argp;

/* Reads the filters of vitals, beside one of the others and into the same struct. */
extern const struct argp fp_filters_of_vitals_argp;

/* Reads --before-NAME and --after-NAME of each filter of both sides into a struct fp_own_filters.
 */
extern const struct argp fp_own_filters_argp;

/* SQL for segments and their uploads, at least one row per segment. Uploads count as far back as
 * hours are kept. */
#define FP_FILTERS_UPLOADS                                                                         \
    "select segment.*, unnest(coalesce(uploads, '{0}')) as uploads "                               \
    "from fleetprof.segment "                                                                      \
    "left join fleetprof_data.total_packed on group_id = segment_id and span = 0"

/* Returns the name of a filter's parameter and column. */
const char *fp_filter_name(enum fp_filter filter);

/* Returns a copy without the filters of samples and of vitals, for a question that has none. */
struct fp_filters fp_filters_of_loads(const struct fp_filters *filters);

/*
 * Takes the only site of the database when no site was given. Prints an error and returns false
 * when there are several, or the server cannot tell. In a database without sites the site is "".
 */
bool fp_filters_choose_site(struct fp_filters *filters, PGconn *connection) FP_MUST_CHECK;

/* Prints a hint with the sites that have the most uploads, at most 10. Prints the server's error
 * and returns false on failure. */
bool fp_filters_hint_at_sites(PGconn *connection, const char *unknown) FP_MUST_CHECK;

/* Appends the given filters as named arguments: "site => $1::text, since => now() - $2::interval,
 * exclude_browser => $3::text". The filters keep their values. */
void fp_filters_add(const struct fp_filters *filters, struct fp_sql_query *query);

/* Returns a text that tells questions apart: a command and all filters. The caller frees it. */
char *fp_filters_text(const char *command, const struct fp_filters *filters) FP_MUST_CHECK;

/* Appends those of one side: ", before_variant => $4::text". True where one was given. */
void fp_own_filters_add(const struct fp_own_filters *own, struct fp_sql_query *query);
bool fp_own_filters_are_given(const struct fp_own_filters *own);

/* Appends one value: a text, or a time. */
void fp_filters_add_value(enum fp_filter filter, const char *value, struct fp_sql_query *query);

#endif
