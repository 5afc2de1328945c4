/*
 * Filters: which page loads an analyst's command is about; the options bear the names of the SQL
 * functions' parameters. One thread.
 */
#ifndef FP_CLI_FILTERS_H
#define FP_CLI_FILTERS_H

#include "cli/query.h"

enum fp_filter {
    FP_FILTER_MARKER, /* first: a function without it takes the rest */
    FP_FILTER_SITE,
    FP_FILTER_SINCE,
    FP_FILTER_UNTIL,
    FP_FILTER_ROUTE,
    FP_FILTER_RELEASE,
    FP_FILTER_ENVIRONMENT,
    FP_FILTER_VARIANT,
    FP_FILTER_BROWSER,
    FP_FILTER_OS,
    FP_FILTER_DEVICE,
    FP_FILTER_THREAD,
    FP_FILTER_COUNT
};

struct fp_filters {
    const char *values[FP_FILTER_COUNT]; /* NULL: not given, the function's default holds */
    char chosen_site[256];               /* storage for a site that was not given */
};

/* Reads the options into a struct fp_filters, with and without --marker. */
extern const struct argp fp_filters_argp;
extern const struct argp fp_filters_without_marker_argp;

/*
 * When no site was given and the database has exactly one, takes that. False after having said that
 * one must be named, or what the server said. A database without any site is fine: site is then "".
 */
bool fp_filters_choose_site(struct fp_filters *filters, PGconn *connection) FP_MUST_CHECK;

/* Appends the given filters as named arguments: "site => $1::text, since => now() - $2::interval".
 * The values stay the filters'. */
void fp_filters_add(const struct fp_filters *filters, struct fp_query *query);

/*
 * Says on standard error why an answer may be empty: nothing was ever counted, the site is unknown,
 * or its last upload came before the time asked for. False after having said what the server said.
 */
bool fp_filters_explain_empty(const struct fp_filters *filters, PGconn *connection) FP_MUST_CHECK;

#endif
