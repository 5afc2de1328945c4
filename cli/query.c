/*
 * Query: finds the database, asks it, and prints its errors.
 */
#include "cli/query.h"

#include "cli/command.h"
#include "cli/config_file.h"
#include "cli/memory.h"
#include "collector/base/assert.h"
#include "collector/base/clock.h"

#include <poll.h>

#define MAX_QUERY_LEN ((size_t)16 * 1024)
#define MAX_LIST_LEN ((size_t)64 * 1024)

static const struct argp_option database_options[] = {
    {"database", 'd', "CONNINFO", 0, "connect with this libpq connection string or URI", 0},
    {"config", 'c', "FILE", 0,
     "connect to the database of the collector's configuration (default: that of "
     "$FLEETPROF_DATABASE, else of " FP_CONFIG_FILE ")",
     0},
    {0},
};

static error_t parse_database(int key, char *arg, struct argp_state *state)
{
    struct fp_database_options *options = state->input;
    switch (key) {
    case 'd':
        options->conninfo = arg;
        return 0;
    case 'c':
        options->config_file = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fp_database_argp = {.options = database_options, .parser = parse_database};

PGconn *fp_database_begin(const char *conninfo, int timeout_s)
{
    static const char *const keywords[] = {"dbname", "fallback_application_name", "client_encoding",
                                           "connect_timeout", NULL};
    char timeout[16];
    (void)snprintf(timeout, sizeof(timeout), "%d", timeout_s);
    const char *const values[] = {conninfo, "fleetprof", "UTF8", timeout_s > 0 ? timeout : NULL,
                                  NULL};
    return fp_memory_need(PQconnectdbParams(keywords, values, 1));
}

/* Has the server end a query when we are gone, as after Ctrl-C. One that cannot ends it later. */
static void end_with_us(PGconn *connection)
{
    PQclear(PQexec(connection, "select set_config('client_connection_check_interval', '1s', false) "
                               "from pg_settings where name = 'client_connection_check_interval'"));
}

PGconn *fp_database_connect(const char *conninfo)
{
    PGconn *connection = fp_database_begin(conninfo, 0);
    if (PQstatus(connection) == CONNECTION_OK) {
        (void)PQsetErrorContextVisibility(connection, PQSHOW_CONTEXT_NEVER);
        end_with_us(connection);
        return connection;
    }
    fp_message_error("could not connect to the database");
    fp_message_detail("%s", PQerrorMessage(connection));
    PQfinish(connection);
    return NULL;
}

const char *fp_database_given(const struct fp_database_options *options,
                              const struct fp_config *config)
{
    const char *environment = getenv("FLEETPROF_DATABASE");
    if (options->conninfo != NULL)
        return options->conninfo;
    if (options->config_file == NULL && environment != NULL && environment[0] != '\0')
        return environment;
    return config != NULL ? config->database.ptr : NULL;
}

char *fp_database_choose(const struct fp_database_options *options)
{
    struct fp_config *config = NULL;
    const char *conninfo = fp_database_given(options, NULL);
    if (conninfo == NULL) {
        if (!fp_config_file_load(options->config_file, &config))
            return NULL;
        conninfo = fp_database_given(options, config);
    }
    if (conninfo == NULL) {
        fp_message_error("no database was named");
        fp_message_hint("Give --database CONNINFO, set FLEETPROF_DATABASE, or give --config FILE.");
    }
    char *copy = conninfo != NULL ? fp_memory_copy(conninfo) : NULL;
    fp_config_free(config);
    return copy;
}

PGconn *fp_database_open(const struct fp_database_options *options)
{
    char *conninfo = fp_database_choose(options);
    PGconn *connection = conninfo != NULL ? fp_database_connect(conninfo) : NULL;
    free(conninfo);
    return connection;
}

void fp_sql_init(struct fp_sql_query *query, const char *text)
{
    fp_buf_init(&query->text, MAX_QUERY_LEN);
    query->value_count = 0;
    fp_sql_add(query, text);
}

void fp_sql_release(struct fp_sql_query *query)
{
    fp_buf_release(&query->text);
}

void fp_sql_add(struct fp_sql_query *query, const char *text)
{
    fp_buf_add(&query->text, text, strlen(text));
}

void fp_sql_value(struct fp_sql_query *query, const char *type, const char *value)
{
    FP_ASSERT(query->value_count < FP_SQL_MAX_VALUES);
    query->values[query->value_count++] = value;
    fp_buf_addf(&query->text, "$%d::%s", query->value_count, type);
}

/* Returns libpq's message. Without memory for one, libpq says that there is none. */
static const char *message_of(const PGconn *connection)
{
    const char *message = PQerrorMessage(connection);
    return strstr(message, "no error message available") != NULL ? "out of memory" : message;
}

/* Prints what to do if the database is not one of ours or this role may not read it. False if the
 * error has another reason. */
static bool hint_at_schema(const PGconn *connection, const PGresult *result)
{
    /* No such schema, table or view, column, function. */
    static const char *const unknown[] = {"3F000", "42P01", "42703", "42883"};
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state == NULL)
        return false;
    if (strcmp(state, "42501") == 0) {
        fp_message_hint("Reading takes the role fleetprof_reader, writing takes fleetprof_writer. "
                        "Name another user with --database, or grant the role to \"%s\".",
                        PQuser(connection));
        return true;
    }
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        if (strcmp(state, unknown[i]) == 0) {
            fp_message_hint("Is it the right database? `fleetprof migrate' brings it to this "
                            "version's schema.");
            return true;
        }
    }
    return false;
}

void fp_sql_complain(const PGconn *connection, const PGresult *result)
{
    const char *fact = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    if (fact == NULL && PQstatus(connection) == CONNECTION_BAD) {
        fp_message_error("the connection to the database was lost");
        fp_message_detail("%s", message_of(connection));
        return;
    }
    fp_message_error("%s", fact != NULL ? fact : message_of(connection));
    if (detail != NULL)
        fp_message_detail("%s", detail);
    if (!hint_at_schema(connection, result) && hint != NULL)
        fp_message_hint("%s", hint);
}

PGresult *fp_sql_ask(PGconn *connection, struct fp_sql_query *query)
{
    return PQexecParams(connection, fp_memory_text(&query->text), query->value_count, NULL,
                        query->values, NULL, NULL, 0);
}

PGresult *fp_sql_ask_until(PGconn *connection, struct fp_sql_query *query, int64_t end_us)
{
    if (PQsendQueryParams(connection, fp_memory_text(&query->text), query->value_count, NULL,
                          query->values, NULL, NULL, 0) == 0)
        return NULL;
    struct pollfd socket = {.fd = PQsocket(connection), .events = POLLIN};
    while (PQisBusy(connection) == 1) {
        int64_t left_ms = (end_us - fp_clock_monotonic_us()) / 1000;
        int ready = poll(&socket, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready == 0 || (ready > 0 && PQconsumeInput(connection) == 0))
            return NULL;
    }
    PGresult *result = PQgetResult(connection);
    for (PGresult *more = PQgetResult(connection); more != NULL; more = PQgetResult(connection))
        PQclear(more);
    return result;
}

PGresult *fp_sql_run(PGconn *connection, struct fp_sql_query *query)
{
    PGresult *result = fp_sql_ask(connection, query);
    if (PQresultStatus(result) == PGRES_TUPLES_OK)
        return result;
    fp_sql_complain(connection, result);
    PQclear(result);
    return NULL;
}

void fp_sql_fill(const PGresult *answer, int first_column, struct fp_grid *grid)
{
    for (int row = 0; row < PQntuples(answer); row++) {
        for (int column = first_column; column < PQnfields(answer); column++) {
            bool absent = PQgetisnull(answer, row, column) == 1;
            fp_grid_add(grid, absent ? NULL : PQgetvalue(answer, row, column));
        }
    }
}

void fp_sql_list(const PGresult *answer, struct fp_buf *list)
{
    fp_buf_init(list, MAX_LIST_LEN);
    for (int i = 0; i < PQntuples(answer); i++) {
        const char *value = PQgetvalue(answer, i, 0);
        fp_buf_addf(list, "%s%s", i > 0 ? ", " : "", value[0] != '\0' ? value : "'' (none)");
    }
}

bool fp_sql_stream(PGconn *connection, struct fp_sql_query *query,
                   void (*take_row)(void *context, const PGresult *row), void *context)
{
    if (PQsendQueryParams(connection, fp_memory_text(&query->text), query->value_count, NULL,
                          query->values, NULL, NULL, 0) == 0) {
        fp_sql_complain(connection, NULL);
        return false;
    }
    (void)PQsetSingleRowMode(connection);
    bool fine = false;
    PGresult *result;
    while ((result = PQgetResult(connection)) != NULL) {
        ExecStatusType status = PQresultStatus(result);
        fine = status == PGRES_TUPLES_OK;
        if (status == PGRES_SINGLE_TUPLE)
            take_row(context, result);
        else if (!fine)
            fp_sql_complain(connection, result);
        PQclear(result);
    }
    return fine;
}
