/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Empty answer: looks for the first filter that no upload of the site matches, then at the period.
 */
#include "cli/ask/empty_answer.h"

#include "cli/kit/message.h"

#define DIMENSION(id, of, name, placeholder, usual, one, many, ...)                                \
    {FP_FILTER_##id, usual, one, many}

/* The filters that are columns of a segment, as people call them. */
static const struct dimension {
    enum fp_filter filter;
    const char *usual; /* the function's default, NULL: none */
    const char *one;
    const char *many;
} dimensions[] = {FP_FILTERS_OF_DIMENSIONS(DIMENSION)};
static const size_t dimension_count = sizeof(dimensions) / sizeof(dimensions[0]);

/* Runs a query that returns one value. NULL after printing the server's error. */
static PGresult *ask(PGconn *connection, struct fp_sql_query *query)
{
    PGresult *answer = fp_sql_run(connection, query);
    fp_sql_release(query);
    return answer;
}

static void add_condition(const struct fp_filters *filters, enum fp_filter filter,
                          struct fp_sql_query *query)
{
    fp_sql_add(query, fp_filter_name(filter));
    fp_sql_add(query, " like fleetprof_data.like_pattern(");
    fp_sql_value(query, "text", filters->values[filter]);
    fp_sql_add(query, ")");
}

/* Appends what a question asks of a dimension. */
static void add_dimension(const struct fp_filters *filters, const struct dimension *dimension,
                          struct fp_sql_query *query)
{
    const char *name = fp_filter_name(dimension->filter);
    const char *excluded = filters->excluded[dimension->filter];
    if (filters->values[dimension->filter] != NULL) {
        fp_sql_add(query, " and ");
        add_condition(filters, dimension->filter, query);
    } else if (dimension->usual != NULL) {
        fp_sql_add(query, " and ");
        fp_sql_add(query, name);
        fp_sql_add(query, " = ");
        fp_sql_value(query, "text", dimension->usual);
    }
    if (excluded != NULL) {
        fp_sql_add(query, " and ");
        fp_sql_add(query, name);
        fp_sql_add(query, " not like fleetprof_data.like_pattern(");
        fp_sql_value(query, "text", excluded);
        fp_sql_add(query, ")");
    }
}

static void hint_at_values(const char *many, const PGresult *values)
{
    if (PQntuples(values) == 0)
        return;
    struct fp_buf names;
    fp_sql_list(values, &names);
    fp_message_hint("%s, most used first: %.*s.", many, (int)names.len, (const char *)names.data);
    fp_buf_release(&names);
}

/* Asks when the latest upload came that matches the site and, if asked, all dimensions: its hour,
 * or its day where hours are no longer kept. */
static PGresult *ask_latest(const struct fp_filters *filters, bool all_dimensions,
                            PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query,
                "select coalesce("
                "'in the hour from ' || to_char(max(bucket) filter (where span = 0) "
                "at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), "
                "'on ' || to_char(max(bucket) at time zone 'UTC', 'YYYY-MM-DD')) || ' (UTC)' "
                "from fleetprof_data.total_packed join fleetprof.segment "
                "on segment_id = group_id where span in (0, 2) and ");
    add_condition(filters, FP_FILTER_SITE, &query);
    for (size_t i = 0; all_dimensions && i < dimension_count; i++)
        add_dimension(filters, &dimensions[i], &query);
    return ask(connection, &query);
}

/* Prints when the latest upload of the site came. */
static bool hint_at_latest(const struct fp_filters *filters, PGconn *connection)
{
    PGresult *answer = ask_latest(filters, false, connection);
    if (answer != NULL && PQgetisnull(answer, 0, 0) == 0)
        fp_message_hint("The latest upload of site \"%s\" came %s.",
                        filters->values[FP_FILTER_SITE], PQgetvalue(answer, 0, 0));
    PQclear(answer);
    return answer != NULL;
}

/* ---- unknown values ---- */

/* Asks for one row: was anything counted, and is the site known. */
static PGresult *ask_site(const struct fp_filters *filters, PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select count(*) > 0, coalesce(bool_or(");
    add_condition(filters, FP_FILTER_SITE, &query);
    fp_sql_add(&query, "), false) from fleetprof.segment");
    return ask(connection, &query);
}

static PGresult *ask_is_known(const struct fp_filters *filters, enum fp_filter filter,
                              PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select exists (select from fleetprof.segment where ");
    add_condition(filters, FP_FILTER_SITE, &query);
    fp_sql_add(&query, " and ");
    add_condition(filters, filter, &query);
    fp_sql_add(&query, ")");
    return ask(connection, &query);
}

static PGresult *list_values(const struct fp_filters *filters, enum fp_filter filter,
                             PGconn *connection)
{
    const char *column = fp_filter_name(filter);
    struct fp_sql_query query;
    fp_sql_init(&query, "select ");
    fp_sql_add(&query, column);
    fp_sql_add(&query, " from (" FP_FILTERS_UPLOADS " where ");
    add_condition(filters, FP_FILTER_SITE, &query);
    fp_sql_add(&query, ") as entry group by 1 order by sum(uploads) desc, 1 limit 1000");
    return ask(connection, &query);
}

/* The result of the search for a reason. */
enum finding { FOUND_NOTHING, FOUND_REASON, COULD_NOT_ASK };

static enum finding explain_dimension(const struct fp_filters *filters,
                                      const struct dimension *dimension, PGconn *connection)
{
    const char *value = filters->values[dimension->filter];
    PGresult *known = ask_is_known(filters, dimension->filter, connection);
    if (known == NULL)
        return COULD_NOT_ASK;
    bool is_known = PQgetvalue(known, 0, 0)[0] == 't';
    PQclear(known);
    if (is_known)
        return FOUND_NOTHING;
    const char *site = filters->values[FP_FILTER_SITE];
    if (value[0] == '\0')
        fp_message_notice("nothing was counted without a %s for site \"%s\"", dimension->one, site);
    else
        fp_message_notice("nothing was counted for the %s \"%s\" of site \"%s\"", dimension->one,
                          value, site);
    PGresult *values = list_values(filters, dimension->filter, connection);
    if (values == NULL)
        return COULD_NOT_ASK;
    fp_sql_hint_at_nearest(values, value);
    hint_at_values(dimension->many, values);
    PQclear(values);
    return hint_at_latest(filters, connection) ? FOUND_REASON : COULD_NOT_ASK;
}

/* Lists the measures of the site, and the window of this name. The first row says whether `measure`
 * is one of them. */
static PGresult *ask_measures(const struct fp_filters *filters, const char *measure,
                              PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select name, bool_or(name = ");
    fp_sql_value(&query, "text", measure);
    fp_sql_add(&query, ") over () from (select name, count from fleetprof.timings(");
    fp_sql_value(&query, "text", filters->values[FP_FILTER_SITE]);
    fp_sql_add(&query,
               ", null, null) where kind = 'measure' union all "
               "select name, 0 from fleetprof_data.timing where kind = 'window' and name = ");
    fp_sql_value(&query, "text", measure);
    fp_sql_add(&query, ") as measure order by count desc, name limit 1000");
    return ask(connection, &query);
}

static enum finding explain_measure(const struct fp_filters *filters, const char *measure,
                                    PGconn *connection)
{
    PGresult *measures = ask_measures(filters, measure, connection);
    if (measures == NULL)
        return COULD_NOT_ASK;
    bool is_known = PQntuples(measures) > 0 && PQgetvalue(measures, 0, 1)[0] == 't';
    if (!is_known) {
        fp_message_notice("nothing was counted for the measure \"%s\" of site \"%s\"", measure,
                          filters->values[FP_FILTER_SITE]);
        fp_sql_hint_at_nearest(measures, measure);
        hint_at_values("Measures", measures);
    }
    PQclear(measures);
    if (is_known)
        return FOUND_NOTHING;
    return hint_at_latest(filters, connection) ? FOUND_REASON : COULD_NOT_ASK;
}

static enum finding explain_site(const struct fp_filters *filters, PGconn *connection)
{
    PGresult *answer = ask_site(filters, connection);
    if (answer == NULL)
        return COULD_NOT_ASK;
    bool any_site = PQgetvalue(answer, 0, 0)[0] == 't';
    bool is_known = PQgetvalue(answer, 0, 1)[0] == 't';
    PQclear(answer);
    if (is_known)
        return FOUND_NOTHING;
    if (!any_site) {
        fp_message_notice("nothing was counted in this database yet");
        return FOUND_REASON;
    }
    fp_message_notice("nothing was counted for a site named \"%s\"",
                      filters->values[FP_FILTER_SITE]);
    if (!fp_filters_hint_at_sites(connection, filters->values[FP_FILTER_SITE]))
        return COULD_NOT_ASK;
    fp_message_hint("If \"%s\" is right, no upload has come yet: `fleetprof doctor URL' says why.",
                    filters->values[FP_FILTER_SITE]);
    return FOUND_REASON;
}

/* ---- known values ---- */

/* Without a filter for them, pages in frames are left out: says so if only they match. */
static enum finding explain_frames(const struct fp_filters *filters, PGconn *connection)
{
    if (filters->values[FP_FILTER_FRAME] != NULL)
        return FOUND_NOTHING;
    struct fp_filters all = *filters;
    all.values[FP_FILTER_FRAME] = "%";
    PGresult *answer = ask_latest(&all, true, connection);
    if (answer == NULL)
        return COULD_NOT_ASK;
    bool found = PQgetisnull(answer, 0, 0) == 0;
    PQclear(answer);
    if (!found)
        return FOUND_NOTHING;
    fp_message_notice("nothing matches: all that would is of pages in frames");
    fp_message_hint("Give --frame '%%' to include them.");
    return FOUND_REASON;
}

/* Each value is known: the period is wrong, or no upload has all of them. */
static bool explain_period(const struct fp_filters *filters, PGconn *connection)
{
    PGresult *answer = ask_latest(filters, true, connection);
    if (answer == NULL)
        return false;
    bool together = PQgetisnull(answer, 0, 0) == 0;
    if (together) {
        fp_message_notice("nothing matches");
        fp_message_hint("The latest upload that these filters match came %s. Without --since, the "
                        "period is one day.",
                        PQgetvalue(answer, 0, 0));
    } else {
        enum finding frames = explain_frames(filters, connection);
        if (frames != FOUND_NOTHING) {
            PQclear(answer);
            return frames == FOUND_REASON;
        }
        fp_message_notice("nothing matches: no upload has all of these values together");
    }
    PQclear(answer);
    return together || hint_at_latest(filters, connection);
}

bool fp_empty_answer_explain_site(const struct fp_filters *filters, PGconn *connection,
                                  bool *is_unknown)
{
    const enum finding found = explain_site(filters, connection);
    *is_unknown = found == FOUND_REASON;
    return found != COULD_NOT_ASK;
}

bool fp_empty_answer_explain_measure(const struct fp_filters *filters, const char *measure,
                                     PGconn *connection, bool *is_unknown)
{
    const enum finding found = explain_measure(filters, measure, connection);
    *is_unknown = found == FOUND_REASON;
    return found != COULD_NOT_ASK;
}

bool fp_empty_answer_explain(const struct fp_filters *filters, const char *measure,
                             PGconn *connection)
{
    enum finding found = explain_site(filters, connection);
    for (size_t i = 0; found == FOUND_NOTHING && i < dimension_count; i++) {
        if (filters->values[dimensions[i].filter] != NULL)
            found = explain_dimension(filters, &dimensions[i], connection);
    }
    if (found == FOUND_NOTHING && measure != NULL)
        found = explain_measure(filters, measure, connection);
    if (found == FOUND_NOTHING)
        return explain_period(filters, connection);
    return found == FOUND_REASON;
}
