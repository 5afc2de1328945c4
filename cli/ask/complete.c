/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof complete: the values of a filter, for the shells' completion, which shows no message
 * and waits a second at most.
 */
#include "cli/ask/filters.h"
#include "cli/kit/command.h"
#include "cli/kit/message.h"
#include "collector/base/clock.h"

#define WAIT_US (1000 * INT64_C(1000))
#define VALUES_MAX "100"

struct complete_options {
    struct fp_database_options database;
    const char *name; /* of an option, without hyphens before it */
    const char *site; /* NULL: any */
};

enum { OPTION_SITE = 's' };

static const struct argp_option options[] = {
    {"site", OPTION_SITE, "NAME", 0, "the site", 0},
    {0},
};

static error_t parse_complete(int key, char *arg, struct argp_state *state)
{
    struct complete_options *given = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &given->database;
        return 0;
    case OPTION_SITE:
        given->site = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0)
            argp_error(state, "one option at a time");
        given->name = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "name an option, such as release");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&fp_database_argp, 0, NULL, 0}, {0}};

static const struct argp complete_argp = {
    .options = options,
    .parser = parse_complete,
    .args_doc = "OPTION",
    .doc = "Prints the values that the option --OPTION may have in the database, most used first, "
           "a line each: the shells' completion asks.",
    .children = children,
};

static bool is_same_name(const char *column, const char *option)
{
    for (; *column != '\0' && *option != '\0'; column++, option++)
        if (*column != (*option == '-' ? '_' : *option))
            return false;
    return *column == *option;
}

/* Returns the column of segments that an option filters by; NULL: none. */
static const char *find_column(const char *option)
{
#define DIMENSION(id, ...) FP_FILTER_##id
    static const enum fp_filter filters[] = {FP_FILTER_SITE, FP_FILTERS_OF_DIMENSIONS(DIMENSION)};
#undef DIMENSION
    for (size_t i = 0; i < FP_COUNT(filters); i++)
        if (is_same_name(fp_filter_name(filters[i]), option))
            return fp_filter_name(filters[i]);
    return NULL;
}

static PGresult *ask(PGconn *connection, const char *column, const char *site, int64_t end_us)
{
    struct fp_sql_query query;
    fp_sql_init(&query, "select fleetprof_data.literal_filter(");
    fp_sql_add(&query, column);
    fp_sql_add(&query, ") from (" FP_FILTERS_UPLOADS " where site like coalesce("
                       "fleetprof_data.like_pattern(");
    fp_sql_value(&query, "text", site);
    fp_sql_add(&query, "), '%')) as entry where ");
    fp_sql_add(&query, column);
    fp_sql_add(&query, " !~ '^$|[[:cntrl:]]' group by 1 order by sum(uploads) desc, 1 "
                       "limit " VALUES_MAX);
    PGresult *answer = fp_sql_ask_until(connection, &query, end_us);
    fp_sql_release(&query);
    return answer;
}

enum fp_exit fp_complete_command(int argc, char **argv)
{
    struct complete_options given = {0};
    fp_command_parse(&complete_argp, argc, argv, &given);
    const char *column = find_column(given.name);
    if (column == NULL)
        return FP_EXIT_NO;
    char *conninfo = fp_database_choose(&given.database);
    if (conninfo == NULL)
        return FP_EXIT_TROUBLE;
    char why[FP_DATABASE_WHY_MAX];
    const int64_t end_us = fp_clock_monotonic_us() + WAIT_US;
    PGconn *connection = fp_database_begin(conninfo, end_us, why, sizeof(why));
    free(conninfo);
    if (connection == NULL) {
        fp_message_error("could not connect to the database");
        fp_message_detail("%s", why);
        return FP_EXIT_TROUBLE;
    }
    PGresult *answer =
        ask(connection, column, strcmp(column, "site") == 0 ? NULL : given.site, end_us);
    const bool fine = answer != NULL && PQresultStatus(answer) == PGRES_TUPLES_OK;
    if (answer != NULL && !fine)
        fp_sql_complain(connection, answer);
    for (int i = 0; fine && i < PQntuples(answer); i++) {
        fp_message_put(PQgetvalue(answer, i, 0));
        (void)putchar('\n');
    }
    PQclear(answer);
    PQfinish(connection);
    return fine ? FP_EXIT_FINE : FP_EXIT_TROUBLE;
}
