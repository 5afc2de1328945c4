/*
 * Period: lets PostgreSQL read the times, and explains those that it cannot read.
 */
#include "cli/period.h"

#include "cli/message.h"

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

static bool can_read_time(enum fp_filter filter, const char *value, PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select ");
    fp_filters_add_value(filter, value, &query);
    PGresult *result = fp_sql_ask(connection, &query);
    bool can = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (!can && is_bad_value(result)) {
        fp_message_error("--%s: \"%s\" is not a time", fp_filter_name(filter), value);
        fp_message_hint("Write how long ago, such as 30m, 2h, 1d or 1w, or a time, such as "
                        "2026-05-01 or \"2026-05-01 14:00\".");
    } else if (!can) {
        fp_sql_complain(connection, result);
    }
    PQclear(result);
    fp_sql_release(&query);
    return can;
}

static bool check_time(const struct fp_filters *filters, enum fp_filter filter, PGconn *connection)
{
    const char *value = filters->values[filter];
    if (value == NULL)
        return true;
    if (!lacks_unit(value))
        return can_read_time(filter, value, connection);
    fp_message_error("--%s: %s has no unit", fp_filter_name(filter), value);
    fp_message_hint("Write %sm, %sh or %sd.", value, value, value);
    return false;
}

/* Adds a limit of the period; without the option, the default of the SQL functions. */
static void add_limit(const struct fp_filters *filters, enum fp_filter filter,
                      const char *by_default, struct fp_sql_query *query)
{
    if (filters->values[filter] != NULL)
        fp_filters_add_value(filter, filters->values[filter], query);
    else
        fp_sql_add(query, by_default);
}

/* Infinity has no text of its own in to_char. */
#define LIMIT_TEXT(limit)                                                                          \
    "coalesce(nullif(to_char(" limit " at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ''), " limit     \
    "::text)"

/* Asks for one row: is since in the future, is the period empty, both limits, and both as the text
 * of a period. */
static PGresult *ask_order(const struct fp_filters *filters, PGconn *connection)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select since > now(), since >= until, since, until, "
                        "concat_ws(' to ', " LIMIT_TEXT("since") ", " LIMIT_TEXT(
                            "until") ") || "
                                     "' (UTC)' from (select ");
    add_limit(filters, FP_FILTER_SINCE, "now() - interval '1 day'", &query);
    fp_sql_add(&query, " as since, ");
    add_limit(filters, FP_FILTER_UNTIL, "now()", &query);
    fp_sql_add(&query, " as until) as period");
    PGresult *answer = fp_sql_run(connection, &query);
    fp_sql_release(&query);
    return answer;
}

static bool check_order(struct fp_filters *filters, PGconn *connection)
{
    PGresult *answer = ask_order(filters, connection);
    if (answer == NULL)
        return false;
    bool is_future = PQgetvalue(answer, 0, 0)[0] == 't';
    bool is_empty = PQgetvalue(answer, 0, 1)[0] == 't';
    const char *since = PQgetvalue(answer, 0, 2);
    if (is_future) {
        fp_message_error("--since: %s is in the future", since);
    } else if (is_empty) {
        fp_message_error("the period ends before it begins");
        fp_message_detail("It begins at %s and ends at %s.", since, PQgetvalue(answer, 0, 3));
        if (filters->values[FP_FILTER_SINCE] == NULL)
            fp_message_hint("Give --since, too: without it the period begins one day ago.");
    }
    (void)snprintf(filters->period, sizeof(filters->period), "%s", PQgetvalue(answer, 0, 4));
    PQclear(answer);
    return !is_future && !is_empty;
}

bool fp_period_check(struct fp_filters *filters, PGconn *connection)
{
    return check_time(filters, FP_FILTER_SINCE, connection) &&
           check_time(filters, FP_FILTER_UNTIL, connection) && check_order(filters, connection);
}
