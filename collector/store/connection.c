/*
 * Connection: every wait polls the server's socket and the interrupt, up to a deadline.
 */
#include "collector/store/connection.h"

#include "collector/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>

enum {
    CONNECT_TIMEOUT_S = 10,
    /* The server ends a statement after its statement_timeout. This limit is for a server or
     * network that sends nothing at all, so it must be longer. */
    SILENCE_MAX_S = 660,
    /* When libpq has no memory for a reply (to a copy, while the server waits for more data), it
     * reports that the reply is still to come. It reads the reply when it is asked again. */
    ASK_AGAIN_S = 1,
};

void fp_pg_init(struct fp_pg *connection, int interrupt_fd)
{
    *connection = (struct fp_pg){.interrupt_fd = interrupt_fd};
}

void fp_pg_close(struct fp_pg *connection)
{
    PQfreemem(connection->row);
    connection->row = NULL;
    PQfinish(connection->pg);
    connection->pg = NULL;
}

static void note(struct fp_pg *connection, const char *format, ...) FP_PRINTF(2, 3);

/* Keeps one line of a message, without libpq's trailing newline. */
static void note(struct fp_pg *connection, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(connection->message, sizeof(connection->message), format, args);
    va_end(args);
    size_t len = strlen(connection->message);
    while (len > 0 && connection->message[len - 1] == '\n')
        connection->message[--len] = '\0';
}

static enum fp_store_result close_as(struct fp_pg *connection, enum fp_store_result result)
{
    fp_pg_close(connection);
    return result;
}

/* Begins the record of a failure. Call it while there is a connection. */
static void begin_failure(struct fp_pg *connection)
{
    const char *host = PQhost(connection->pg);
    const char *role = PQuser(connection->pg);
    const char *database = PQdb(connection->pg);
    struct fp_failure *failure = &connection->failure;
    *failure = (struct fp_failure){.is_local = host != NULL && (host[0] == '/' || host[0] == '@')};
    snprintf(failure->role, sizeof(failure->role), "%s", role != NULL ? role : "");
    snprintf(failure->database, sizeof(failure->database), "%s", database != NULL ? database : "");
}

/* Records the failure of a connection attempt. */
static enum fp_store_result refuse_connection(struct fp_pg *connection)
{
    char text[sizeof(connection->message)];
    begin_failure(connection);
    fp_failure_read(&connection->failure, PQerrorMessage(connection->pg), text, sizeof(text));
    note(connection, "%s", text);
    return close_as(connection, FP_STORE_DOWN);
}

static enum fp_store_result lose(struct fp_pg *connection)
{
    begin_failure(connection);
    note(connection, "%s", PQerrorMessage(connection->pg));
    return close_as(connection, FP_STORE_DOWN);
}

static enum fp_store_result give_up(struct fp_pg *connection)
{
    begin_failure(connection);
    note(connection, "no answer from the server");
    return close_as(connection, FP_STORE_DOWN);
}

/* Waits until the server's socket is ready for `events`, or until `until_us`. */
static enum fp_store_result poll_socket(struct fp_pg *connection, short events, int64_t until_us,
                                        bool *is_ready)
{
    struct pollfd fds[] = {
        {.fd = PQsocket(connection->pg), .events = events},
        {.fd = connection->interrupt_fd, .events = POLLIN},
    };
    int ready;
    do {
        int64_t left_us = until_us - fp_clock_monotonic_us();
        ready = poll(fds, 2, left_us > 0 ? (int)(left_us / FP_US_PER_MS) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    if (fds[1].revents != 0) {
        note(connection, "interrupted");
        return close_as(connection, FP_STORE_STOPPED);
    }
    if (ready < 0)
        return give_up(connection);
    *is_ready = ready > 0;
    return FP_STORE_OK;
}

/* Waits until the server's socket is ready for `events`. */
static enum fp_store_result wait_socket(struct fp_pg *connection, short events, int64_t deadline_us)
{
    bool is_ready;
    enum fp_store_result result = poll_socket(connection, events, deadline_us, &is_ready);
    return result == FP_STORE_OK && !is_ready ? give_up(connection) : result;
}

static int64_t silence_deadline_us(void)
{
    return fp_clock_monotonic_us() + SILENCE_MAX_S * FP_US_PER_S;
}

static enum fp_store_result finish_connecting(struct fp_pg *connection)
{
    int64_t deadline_us = fp_clock_monotonic_us() + CONNECT_TIMEOUT_S * FP_US_PER_S;
    for (;;) {
        PostgresPollingStatusType status = PQconnectPoll(connection->pg);
        if (status == PGRES_POLLING_OK)
            return FP_STORE_OK;
        if (status != PGRES_POLLING_READING && status != PGRES_POLLING_WRITING)
            return refuse_connection(connection);
        enum fp_store_result result = wait_socket(
            connection, status == PGRES_POLLING_READING ? POLLIN : POLLOUT, deadline_us);
        if (result != FP_STORE_OK)
            return result;
    }
}

/* Drops notices (such as "there is no transaction in progress"); libpq would print them to standard
 * error. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

enum fp_store_result fp_pg_open(struct fp_pg *connection, const char *conninfo)
{
    /* dbname holds the user's connection string; its settings override what comes before it
     * here. */
    const char *const names[] = {
        "fallback_application_name", "tcp_user_timeout", "keepalives_idle", "keepalives_interval",
        "keepalives_count",          "dbname",           "client_encoding", NULL};
    const char *const values[] = {"fleetprofd", "30000", "30", "10", "3", conninfo, "UTF8", NULL};
    fp_pg_close(connection);
    connection->number++;
    connection->pg = PQconnectStartParams(names, values, 1);
    if (connection->pg == NULL) {
        note(connection, "out of memory");
        return FP_STORE_MEMORY;
    }
    if (PQstatus(connection->pg) == CONNECTION_BAD)
        return refuse_connection(connection);
    /* A refused connection's SQLSTATE is only available in this form. */
    (void)PQsetErrorVerbosity(connection->pg, PQERRORS_VERBOSE);
    enum fp_store_result result = finish_connecting(connection);
    if (result != FP_STORE_OK)
        return result;
    (void)PQsetErrorVerbosity(connection->pg, PQERRORS_DEFAULT);
    PQsetNoticeReceiver(connection->pg, ignore_notice, NULL);
    return PQsetnonblocking(connection->pg, 1) == 0 ? FP_STORE_OK : lose(connection);
}

static bool in_class(const char *state, const char *class)
{
    return strncmp(state, class, strlen(class)) == 0;
}

/* Classifies an error of the server by its SQLSTATE. */
static enum fp_store_result judge(const PGresult *failure, const char *state)
{
    /* Temporary errors: lost connection, not the primary, deadlock, no resources, lock or statement
     * time-out, shutting down or starting up. */
    static const char *const passing[] = {"08", "25006", "40", "53", "55P03", "57"};
    if (in_class(state, "22"))
        return FP_STORE_REFUSED;
    /* A row without a partition is a check violation too, but names no constraint, and the row is
     * not at fault. */
    if (in_class(state, "23"))
        return PQresultErrorField(failure, PG_DIAG_CONSTRAINT_NAME) != NULL ||
                       strcmp(state, "23502") == 0
                   ? FP_STORE_REFUSED
                   : FP_STORE_TROUBLE;
    for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++)
        if (in_class(state, passing[i]))
            return FP_STORE_DOWN;
    return FP_STORE_TROUBLE;
}

static enum fp_store_result report_failure(struct fp_pg *connection, const PGresult *failure)
{
    const char *state = PQresultErrorField(failure, PG_DIAG_SQLSTATE);
    if (state == NULL || PQstatus(connection->pg) == CONNECTION_BAD)
        return lose(connection);
    begin_failure(connection);
    snprintf(connection->failure.sqlstate, sizeof(connection->failure.sqlstate), "%s", state);
    enum fp_store_result result = judge(failure, state);
    if (result == FP_STORE_REFUSED) {
        /* The message may quote the row. */
        const char *constraint = PQresultErrorField(failure, PG_DIAG_CONSTRAINT_NAME);
        note(connection, "refused as data, SQLSTATE %s%s%s", state,
             constraint != NULL ? ", constraint " : "", constraint != NULL ? constraint : "");
        return result;
    }
    note(connection, "%s (SQLSTATE %s)", PQresultErrorField(failure, PG_DIAG_MESSAGE_PRIMARY),
         state);
    return close_as(connection, result);
}

/* Sends everything that libpq has buffered. */
static enum fp_store_result flush_output(struct fp_pg *connection)
{
    for (;;) {
        int held = PQflush(connection->pg);
        if (held == 0)
            return FP_STORE_OK;
        if (held < 0)
            return lose(connection);
        enum fp_store_result result =
            wait_socket(connection, POLLIN | POLLOUT, silence_deadline_us());
        if (result != FP_STORE_OK)
            return result;
        /* A server that waits for us to read would never read from us. */
        if (PQconsumeInput(connection->pg) == 0)
            return lose(connection);
    }
}

/* Waits a moment for input and reads it. *deadline_us is when to give up; input moves it. */
static enum fp_store_result read_input(struct fp_pg *connection, int64_t *deadline_us)
{
    bool is_ready;
    int64_t now_us = fp_clock_monotonic_us();
    if (now_us >= *deadline_us)
        return give_up(connection);
    enum fp_store_result result =
        poll_socket(connection, POLLIN, now_us + ASK_AGAIN_S * FP_US_PER_S, &is_ready);
    if (result != FP_STORE_OK || !is_ready)
        return result;
    if (PQconsumeInput(connection->pg) == 0)
        return lose(connection);
    *deadline_us = silence_deadline_us();
    return FP_STORE_OK;
}

/* Gets the next result of what was sent; *next is NULL when there are no more. */
static enum fp_store_result next_result(struct fp_pg *connection, PGresult **next)
{
    *next = NULL;
    int64_t deadline_us = silence_deadline_us();
    while (PQisBusy(connection->pg)) {
        enum fp_store_result result = read_input(connection, &deadline_us);
        if (result != FP_STORE_OK)
            return result;
    }
    *next = PQgetResult(connection->pg);
    return FP_STORE_OK;
}

static bool succeeded(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN ||
           status == PGRES_COPY_OUT;
}

/*
 * Reads results to the end and keeps the last one. Remembers an error until the server has sent
 * everything. While copy data is on its way there is no end: the copy result is the last.
 */
static enum fp_store_result read_results(struct fp_pg *connection, PGresult **last)
{
    enum fp_store_result outcome = FP_STORE_OK;
    *last = NULL;
    for (;;) {
        PGresult *next;
        enum fp_store_result result = next_result(connection, &next);
        if (result != FP_STORE_OK || next == NULL) {
            if (outcome == FP_STORE_OK)
                outcome = result;
            break;
        }
        if (!succeeded(next) && outcome == FP_STORE_OK) {
            outcome = report_failure(connection, next);
            if (connection->pg == NULL) {
                PQclear(next);
                break;
            }
        }
        bool copies =
            PQresultStatus(next) == PGRES_COPY_IN || PQresultStatus(next) == PGRES_COPY_OUT;
        PQclear(*last);
        *last = next;
        if (copies)
            break;
    }
    if (outcome != FP_STORE_OK) {
        PQclear(*last);
        *last = NULL;
    }
    return outcome;
}

enum fp_store_result fp_pg_query(struct fp_pg *connection, const struct fp_pg_query *query,
                                 PGresult **result)
{
    *result = NULL;
    if (connection->pg == NULL)
        return FP_STORE_DOWN;
    if (PQsendQueryParams(connection->pg, query->statement, query->value_count, NULL, query->values,
                          NULL, NULL, query->binary) == 0)
        return lose(connection);
    enum fp_store_result sent = flush_output(connection);
    return sent == FP_STORE_OK ? read_results(connection, result) : sent;
}

enum fp_store_result fp_pg_run(struct fp_pg *connection, const char *statements)
{
    if (connection->pg == NULL)
        return FP_STORE_DOWN;
    if (PQsendQuery(connection->pg, statements) == 0)
        return lose(connection);
    PGresult *last = NULL;
    enum fp_store_result result = flush_output(connection);
    if (result == FP_STORE_OK)
        result = read_results(connection, &last);
    PQclear(last);
    return result;
}

enum fp_store_result fp_pg_copy(struct fp_pg *connection, const char *statement)
{
    return fp_pg_run(connection, statement);
}

enum fp_store_result fp_pg_put(struct fp_pg *connection, const void *bytes, size_t len)
{
    if (connection->pg == NULL)
        return FP_STORE_DOWN;
    if (PQputCopyData(connection->pg, bytes, (int)len) <= 0)
        return lose(connection);
    return flush_output(connection);
}

enum fp_store_result fp_pg_copy_end(struct fp_pg *connection)
{
    if (connection->pg == NULL)
        return FP_STORE_DOWN;
    if (PQputCopyEnd(connection->pg, NULL) <= 0)
        return lose(connection);
    PGresult *last = NULL;
    enum fp_store_result result = flush_output(connection);
    if (result == FP_STORE_OK)
        result = read_results(connection, &last);
    PQclear(last);
    return result;
}

enum fp_store_result fp_pg_copy_out(struct fp_pg *connection, const char *statement)
{
    return fp_pg_run(connection, statement);
}

enum fp_store_result fp_pg_get(struct fp_pg *connection, const uint8_t **row, size_t *len)
{
    *row = NULL;
    *len = 0;
    if (connection->pg == NULL)
        return FP_STORE_DOWN;
    PQfreemem(connection->row);
    connection->row = NULL;
    int64_t deadline_us = silence_deadline_us();
    int got;
    while ((got = PQgetCopyData(connection->pg, &connection->row, 1)) == 0) {
        enum fp_store_result result = read_input(connection, &deadline_us);
        if (result != FP_STORE_OK)
            return result;
    }
    if (got > 0) {
        *row = (const uint8_t *)connection->row;
        *len = (size_t)got;
        return FP_STORE_OK;
    }
    if (got < -1)
        return lose(connection);
    PGresult *last;
    enum fp_store_result result = read_results(connection, &last);
    PQclear(last);
    return result;
}

enum fp_store_result fp_pg_reject(struct fp_pg *connection, const char *format, ...)
{
    va_list args;
    begin_failure(connection);
    va_start(args, format);
    vsnprintf(connection->message, sizeof(connection->message), format, args);
    va_end(args);
    return close_as(connection, FP_STORE_TROUBLE);
}

void fp_pg_rollback(struct fp_pg *connection)
{
    if (connection->pg != NULL && PQtransactionStatus(connection->pg) != PQTRANS_IDLE &&
        fp_pg_run(connection, "rollback") != FP_STORE_OK)
        fp_pg_close(connection);
}
