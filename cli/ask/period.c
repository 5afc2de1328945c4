/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Period: lets PostgreSQL read the times, and explains those that it cannot read.
 */
#include "cli/ask/period.h"

#include "cli/kit/message.h"

/* The limits from the command line, and the SQL that replaces a limit which is not given. */
struct period {
    const char *prefix; /* of the options: "" or "before-" */
    const char *since;
    const char *until;
    const char *since_default;
    const char *until_default;
};

/* From this length on a number may be a date: 20260501. */
enum { DATE_DIGITS_MIN = 6 };

static bool lacks_unit(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits < DATE_DIGITS_MIN && text[digits] == '\0';
}

/* True for SQLSTATE class 22, data exception: the text is not a time, or out of range. */
static bool is_bad_value(const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state != NULL && strncmp(state, "22", 2) == 0;
}

static bool can_read_time(const char *prefix, const char *name, const char *value,
                          PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select ");
    fp_filters_add_value(FP_FILTER_SINCE, value, &query);
    PGresult *result = fp_sql_ask(connection, &query);
    bool can = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (!can && is_bad_value(result)) {
        fp_message_error("--%s%s: \"%s\" is not a time", prefix, name, value);
        fp_message_hint("Write how long ago, such as 30m, 2h, 1d or 1w, or a time, such as "
                        "2026-05-01 or \"2026-05-01 14:00\".");
    } else if (!can) {
        fp_sql_complain(connection, result);
    }
    PQclear(result);
    fp_sql_release(&query);
    return can;
}

static bool check_time(const char *prefix, const char *name, const char *value, PGconn *connection)
{
    if (value == NULL)
        return true;
    if (!lacks_unit(value))
        return can_read_time(prefix, name, value, connection);
    fp_message_error("--%s%s: %s has no unit", prefix, name, value);
    fp_message_hint("Write %sm, %sh or %sd.", value, value, value);
    return false;
}

/* Adds a limit of the period, or what stands for it. */
static void add_limit(const char *value, const char *by_default, struct fp_sql_query *query)
{
    if (value != NULL)
        fp_filters_add_value(FP_FILTER_SINCE, value, query);
    else
        fp_sql_add(query, by_default);
}

/* Infinity has no text of its own in to_char. */
#define LIMIT_TEXT(limit)                                                                          \
    "coalesce(nullif(to_char(" limit " at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ''), " limit     \
    "::text)"

/* Asks for one row: is since in the future, is the period empty, both limits, and both as the text
 * of a period. */
static PGresult *ask_order(const struct period *period, PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select since > now(), since >= until, since, until, "
                        "concat_ws(' to ', " LIMIT_TEXT("since") ", " LIMIT_TEXT(
                            "until") ") || "
                                     "' (UTC)' from (select ");
    add_limit(period->since, period->since_default, &query);
    fp_sql_add(&query, " as since, ");
    add_limit(period->until, period->until_default, &query);
    fp_sql_add(&query, " as until) as period");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return answer;
}

/* Writes the text of the period. */
static bool check_order(const struct period *period, char *text, size_t size, PGconn *connection)
{
    PGresult *answer = ask_order(period, connection);
    if (answer == NULL)
        return false;
    bool is_future = PQgetvalue(answer, 0, 0)[0] == 't';
    bool is_empty = PQgetvalue(answer, 0, 1)[0] == 't';
    const char *since = PQgetvalue(answer, 0, 2);
    if (is_future) {
        fp_message_error("--%ssince: %s is in the future", period->prefix, since);
    } else if (is_empty) {
        fp_message_error("%s ends before it begins",
                         period->prefix[0] == '\0' ? "the period" : "the earlier period");
        fp_message_detail("It begins at %s and ends at %s.", since, PQgetvalue(answer, 0, 3));
        if (period->since == NULL)
            fp_message_hint("Also give --since: without it the period begins one day ago.");
    }
    (void)snprintf(text, size, "%s", PQgetvalue(answer, 0, 4));
    PQclear(answer);
    return !is_future && !is_empty;
}

static bool check(const struct period *period, char *text, size_t size, PGconn *connection)
{
    return check_time(period->prefix, "since", period->since, connection) &&
           check_time(period->prefix, "until", period->until, connection) &&
           check_order(period, text, size, connection);
}

/* Lets the connection read times without an offset in the time zone of the site. */
static bool take_time_zone(const struct fp_filters *filters, PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select set_config('timezone', fleetprof.timezone_of(");
    fp_sql_value(&query, "text", filters->values[FP_FILTER_SITE]);
    fp_sql_add(&query, "), false)");
    PGresult *answer = fp_sql_run(connection, &query);
    const bool fine = answer != NULL;
    PQclear(answer);
    fp_sql_release(&query);
    return fine;
}

bool fp_period_check(struct fp_filters *filters, PGconn *connection)
{
    struct period period = {.prefix = "",
                            .since = filters->values[FP_FILTER_SINCE],
                            .until = filters->values[FP_FILTER_UNTIL],
                            .since_default = "now() - interval '1 day'",
                            .until_default = "now()"};
    return take_time_zone(filters, connection) &&
           check(&period, filters->period, sizeof(filters->period), connection);
}

bool fp_period_check_sides(const struct fp_filters *after, const char *before_since,
                           const char *before_until, PGconn *connection)
{
    struct period sides[] = {
        {.prefix = "before-", .since = before_since, .until = before_until},
        {.prefix = "",
         .since = after->values[FP_FILTER_SINCE],
         .until = after->values[FP_FILTER_UNTIL]},
    };
    if (!take_time_zone(after, connection))
        return false;
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        char text[sizeof(after->period)];
        sides[i].since_default = "'-infinity'::timestamptz";
        sides[i].until_default = "'infinity'::timestamptz";
        if (!check(&sides[i], text, sizeof(text), connection))
            return false;
    }
    return true;
}
