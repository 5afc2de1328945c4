/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Query: finds the database, asks it, and prints its errors.
 */
#include "cli/kit/query.h"

#include "cli/kit/command.h"
#include "cli/kit/config_file.h"
#include "cli/kit/memory.h"
#include "cli/kit/nearest.h"
#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/store/diagnosis.h"
#include "collector/store/dial.h"

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

PGconn *fp_database_begin(const char *conninfo, int64_t end_us, char *why, size_t size)
{
    static const char *const names[] = {"fallback_application_name", "dbname", "client_encoding",
                                        NULL};
    const char *const values[] = {"fleetprof", conninfo, "UTF8", NULL};
    return fp_dial_connect(&(struct fp_dial_settings){names, values, end_us}, why, size);
}

PGconn *fp_database_connect(const char *conninfo)
{
    char why[FP_DATABASE_WHY_MAX];
    PGconn *connection = fp_database_begin(conninfo, INT64_MAX, why, sizeof(why));
    if (connection != NULL) {
        (void)PQsetErrorContextVisibility(connection, PQSHOW_CONTEXT_NEVER);
        return connection;
    }
    fp_message_error("could not connect to the database");
    fp_message_detail("%s", why);
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

static void hint_at_pooler(const char *message)
{
    if (fp_failure_is_statement_pooler(message))
        fp_message_hint("%s", fp_failure_pooler_hint);
}

void fp_sql_complain(const PGconn *connection, const PGresult *result)
{
    const char *fact = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
    const char *hint = PQresultErrorField(result, PG_DIAG_MESSAGE_HINT);
    if (fact == NULL && PQstatus(connection) == CONNECTION_BAD) {
        fp_message_error("the connection to the database was lost");
        /* The first line: of a server that ended, the others are the text of a function. */
        fp_message_detail("%.*s", (int)strcspn(message_of(connection), "\n"),
                          message_of(connection));
        hint_at_pooler(message_of(connection));
        return;
    }
    fp_message_error("%s", fact != NULL ? fact : message_of(connection));
    if (detail != NULL)
        fp_message_detail("%s", detail);
    if (!hint_at_schema(connection, result) && hint != NULL)
        fp_message_hint("%s", hint);
}

static bool command(PGconn *connection, const char *text)
{
    PGresult *answer = PQexec(connection, text);
    if (answer == NULL && PQstatus(connection) == CONNECTION_OK)
        fp_memory_end();
    bool fine = PQresultStatus(answer) == PGRES_COMMAND_OK;
    PQclear(answer);
    return fine;
}

bool fp_sql_begin(PGconn *connection, const char *begin)
{
    /* Has the server end a query when we are gone, as after Ctrl-C. Said in the transaction: behind
     * a pooler the session is not ours. Old servers, and those on other systems, cannot. */
    return (command(connection, begin) &&
            command(connection, "set local client_connection_check_interval = '1s'")) ||
           (PQtransactionStatus(connection) == PQTRANS_INERROR && command(connection, "rollback") &&
            command(connection, begin));
}

/* Begins a transaction for one question, unless one is open. */
static bool begin_question(PGconn *connection)
{
    if (PQtransactionStatus(connection) != PQTRANS_IDLE)
        return false;
    bool is_begun = fp_sql_begin(connection, "begin");
    return is_begun || PQtransactionStatus(connection) == PQTRANS_INTRANS;
}

/* Ends it after an answer of the server. Libpq's own message, if there is none, stays readable. */
static void end_question(PGconn *connection, const PGresult *result)
{
    if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK &&
        PQresultErrorField(result, PG_DIAG_SQLSTATE) == NULL)
        return;
    (void)command(connection,
                  PQtransactionStatus(connection) == PQTRANS_INERROR ? "rollback" : "commit");
}

PGresult *fp_sql_ask(PGconn *connection, struct fp_sql_query *query)
{
    bool is_begun = begin_question(connection);
    if (PQstatus(connection) == CONNECTION_BAD)
        return NULL; /* another attempt would take libpq's message away */
    PGresult *result = PQexecParams(connection, fp_memory_text(&query->text), query->value_count,
                                    NULL, query->values, NULL, NULL, 0);
    if (is_begun)
        end_question(connection, result);
    return result;
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
        if (ready == 0)
            return NULL;
        if (ready > 0 && PQconsumeInput(connection) == 0)
            break; /* the last words of a server that closes the connection may be there */
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

bool fp_sql_command(PGconn *connection, const char *statement)
{
    PGresult *answer = fp_memory_need(PQexec(connection, statement));
    bool fine = PQresultStatus(answer) == PGRES_COMMAND_OK;
    if (!fine)
        fp_sql_complain(connection, answer);
    PQclear(answer);
    return fine;
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
    for (int i = 0; i < PQntuples(answer) && i < FP_SQL_LIST_MAX; i++) {
        const char *value = PQgetvalue(answer, i, 0);
        fp_buf_addf(list, "%s%s", i > 0 ? ", " : "", value[0] != '\0' ? value : "'' (none)");
    }
}

void fp_sql_hint_at_nearest(const PGresult *answer, const char *word)
{
    struct fp_nearest nearest = {.word = word};
    for (int i = 0; i < PQntuples(answer); i++)
        fp_nearest_take(&nearest, PQgetvalue(answer, i, 0));
    if (nearest.name != NULL && strcmp(nearest.name, word) != 0)
        fp_message_hint("Did you mean \"%s\"?", nearest.name);
}

bool fp_sql_stream(PGconn *connection, struct fp_sql_query *query,
                   void (*take_row)(void *context, const PGresult *row), void *context)
{
    bool is_begun = begin_question(connection);
    if (PQstatus(connection) == CONNECTION_BAD ||
        PQsendQueryParams(connection, fp_memory_text(&query->text), query->value_count, NULL,
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
    if (is_begun)
        (void)command(connection, fine ? "commit" : "rollback");
    return fine;
}
