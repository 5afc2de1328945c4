/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connection: every wait polls the server's socket and the interrupt, up to a deadline.
 */
#include "collector/store/connection.h"

#include "collector/base/clock.h"
#include "collector/store/dial.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>

enum {
    /* The server ends a statement after its statement_timeout. A server or a network that sends
     * nothing at all gets this much more. */
    SILENCE_EXTRA_S = 30,
    /* When libpq has no memory for a reply (to a copy, while the server waits for more data), it
     * reports that the reply is still to come. It reads the reply when it is asked again. */
    ASK_AGAIN_S = 1,
};

void fp_pg_init(struct fp_pg *connection, int interrupt_fd)
{
    *connection = (struct fp_pg){.interrupt_fd = interrupt_fd,
                                 .statement_timeout_s = FP_PG_STATEMENT_TIMEOUT_S};
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

static enum fp_store_result lose(struct fp_pg *connection)
{
    fp_failure_begin(&connection->failure, connection->pg);
    note(connection, "%s", PQerrorMessage(connection->pg));
    connection->failure.is_statement_pooler = fp_failure_is_statement_pooler(connection->message);
    return close_as(connection, FP_STORE_DOWN);
}

static enum fp_store_result give_up(struct fp_pg *connection)
{
    fp_failure_begin(&connection->failure, connection->pg);
    note(connection, "no answer from the server");
    return close_as(connection, FP_STORE_DOWN);
}

/* Waits until a socket is ready for `events`, or until `until_us`. */
static enum fp_store_result poll_fd(struct fp_pg *connection, const struct fp_dial_wait *wait,
                                    bool *is_ready)
{
    struct pollfd fds[] = {
        {.fd = wait->fd, .events = wait->events},
        {.fd = connection->interrupt_fd, .events = POLLIN},
    };
    int ready;
    do {
        int64_t left_us = wait->until_us - fp_clock_monotonic_us();
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

static enum fp_store_result poll_socket(struct fp_pg *connection, short events, int64_t until_us,
                                        bool *is_ready)
{
    const struct fp_dial_wait wait = {PQsocket(connection->pg), events, until_us};
    return poll_fd(connection, &wait, is_ready);
}

/* Waits until the server's socket is ready for `events`. */
static enum fp_store_result wait_socket(struct fp_pg *connection, short events, int64_t deadline_us)
{
    bool is_ready;
    enum fp_store_result result = poll_socket(connection, events, deadline_us, &is_ready);
    return result == FP_STORE_OK && !is_ready ? give_up(connection) : result;
}

static int64_t silence_deadline_us(const struct fp_pg *connection)
{
    const int64_t now_us = fp_clock_monotonic_us();
    const int64_t end_us =
        now_us + (connection->statement_timeout_s + SILENCE_EXTRA_S) * FP_US_PER_S;
    const bool is_hurried = connection->end_us != 0 && connection->end_us < end_us;
    return is_hurried ? connection->end_us : end_us;
}

/* Drops notices (such as "there is no transaction in progress"); libpq would print them to standard
 * error. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/* Takes what the search found: a connection, or why there is none. */
static enum fp_store_result end_search(struct fp_pg *connection, struct fp_dial *dial,
                                       enum fp_dial_result result)
{
    if (result != FP_DIAL_OPEN) {
        connection->failure = *fp_dial_failure(dial);
        note(connection, "%s", fp_dial_message(dial));
        return FP_STORE_DOWN;
    }
    connection->pg = fp_dial_take(dial);
    PQsetNoticeReceiver(connection->pg, ignore_notice, NULL);
    return PQsetnonblocking(connection->pg, 1) == 0 ? FP_STORE_OK : lose(connection);
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
    struct fp_dial *dial = fp_dial_begin(&(struct fp_dial_settings){
        names, values, connection->end_us != 0 ? connection->end_us : INT64_MAX});
    if (dial == NULL) {
        note(connection, "out of memory");
        return FP_STORE_MEMORY;
    }
    struct fp_dial_wait wait;
    enum fp_dial_result found;
    enum fp_store_result result = FP_STORE_OK;
    bool is_ready;
    while (result == FP_STORE_OK && (found = fp_dial_step(dial, &wait)) == FP_DIAL_WAITS)
        result = poll_fd(connection, &wait, &is_ready);
    if (result == FP_STORE_OK)
        result = end_search(connection, dial, found);
    fp_dial_end(dial);
    return result;
}

static bool in_class(const char *state, const char *class)
{
    return strncmp(state, class, strlen(class)) == 0;
}

/* Temporary errors: lost connection, not the primary, deadlock, no resources, lock or statement
 * time-out, shutting down or starting up. */
static const char *const passing[] = {"08", "25006", "40", "53", "55P03", "57"};

/* Classifies an error of the server by its SQLSTATE. */
static enum fp_store_result judge(const struct fp_failure_place *place, const char *state)
{
    if (strcmp(state, "57P05") == 0) /* idle_session_timeout */
        return FP_STORE_CUT;
    if (in_class(state, "22"))
        return FP_STORE_REFUSED;
    /* A row without a partition is a check violation too, but names no constraint, and the row is
     * not at fault. */
    if (in_class(state, "23"))
        return place->constraint[0] != '\0' || strcmp(state, "23502") == 0 ? FP_STORE_REFUSED
                                                                           : FP_STORE_TROUBLE;
    for (size_t i = 0; i < FP_COUNT(passing); i++)
        if (in_class(state, passing[i]))
            return FP_STORE_DOWN;
    return FP_STORE_TROUBLE;
}

/* Copies what fits of an error's field, no part of a character. */
static void copy_field(const PGresult *failure, int field, char *text, size_t size)
{
    const char *value = PQresultErrorField(failure, field);
    const size_t all = value != NULL ? strlen(value) : 0;
    size_t len = all < size ? all : size - 1;
    while (len < all && len > 0 && ((unsigned char)value[len] & 0xc0) == 0x80)
        len--;
    if (len > 0)
        memcpy(text, value, len);
    text[len] = '\0';
}

/* Keeps where a statement failed. */
static void note_place(struct fp_failure_place *place, const PGresult *failure)
{
    copy_field(failure, PG_DIAG_SCHEMA_NAME, place->schema, sizeof(place->schema));
    copy_field(failure, PG_DIAG_TABLE_NAME, place->table, sizeof(place->table));
    copy_field(failure, PG_DIAG_COLUMN_NAME, place->column, sizeof(place->column));
    copy_field(failure, PG_DIAG_CONSTRAINT_NAME, place->constraint, sizeof(place->constraint));
    copy_field(failure, PG_DIAG_DATATYPE_NAME, place->type, sizeof(place->type));
    copy_field(failure, PG_DIAG_CONTEXT, place->context, sizeof(place->context));
}

/* Keeps what a row was refused for. The server's message may quote the row. */
static void note_refusal(struct fp_pg *connection, const char *state)
{
    const struct fp_failure_place *place = &connection->failure.place;
    const bool has_constraint = place->constraint[0] != '\0';
    const char *name = has_constraint ? place->constraint : place->column;
    const char *kind = has_constraint ? ", constraint " : name[0] != '\0' ? ", column " : "";
    note(connection, "refused as data, SQLSTATE %s%s%s%s%s", state, kind, name,
         place->table[0] != '\0' ? ", table " : "", place->table);
}

static enum fp_store_result report_failure(struct fp_pg *connection, const PGresult *failure)
{
    const char *state = PQresultErrorField(failure, PG_DIAG_SQLSTATE);
    if (state == NULL || PQstatus(connection->pg) == CONNECTION_BAD)
        return lose(connection);
    fp_failure_begin(&connection->failure, connection->pg);
    snprintf(connection->failure.sqlstate, sizeof(connection->failure.sqlstate), "%s", state);
    note_place(&connection->failure.place, failure);
    enum fp_store_result result = judge(&connection->failure.place, state);
    if (result == FP_STORE_REFUSED) {
        connection->failure.is_refusal = true;
        note_refusal(connection, state);
        return result;
    }
    note(connection, "%s (SQLSTATE %s)", PQresultErrorField(failure, PG_DIAG_MESSAGE_PRIMARY),
         state);
    connection->failure.is_statement_pooler = fp_failure_is_statement_pooler(connection->message);
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
            wait_socket(connection, POLLIN | POLLOUT, silence_deadline_us(connection));
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
    *deadline_us = silence_deadline_us(connection);
    return FP_STORE_OK;
}

/* Gets the next result of what was sent; *next is NULL when there are no more. */
static enum fp_store_result next_result(struct fp_pg *connection, PGresult **next)
{
    *next = NULL;
    int64_t deadline_us = silence_deadline_us(connection);
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
                          query->lengths, query->formats, query->binary) == 0)
        return lose(connection);
    enum fp_store_result sent = flush_output(connection);
    return sent == FP_STORE_OK ? read_results(connection, result) : sent;
}

enum fp_store_result fp_pg_ask(struct fp_pg *connection, const char *statements, PGresult **last)
{
    *last = NULL;
    if (connection->pg == NULL)
        return FP_STORE_DOWN;
    if (PQsendQuery(connection->pg, statements) == 0)
        return lose(connection);
    enum fp_store_result sent = flush_output(connection);
    return sent == FP_STORE_OK ? read_results(connection, last) : sent;
}

enum fp_store_result fp_pg_run(struct fp_pg *connection, const char *statements)
{
    PGresult *last;
    enum fp_store_result result = fp_pg_ask(connection, statements, &last);
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
    int64_t deadline_us = silence_deadline_us(connection);
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
    fp_failure_begin(&connection->failure, connection->pg);
    va_start(args, format);
    vsnprintf(connection->message, sizeof(connection->message), format, args);
    va_end(args);
    return close_as(connection, FP_STORE_TROUBLE);
}

bool fp_pg_drop_cut(struct fp_pg *connection)
{
    struct pollfd socket = {.fd = PQsocket(connection->pg), .events = POLLIN};
    if (PQtransactionStatus(connection->pg) != PQTRANS_IDLE)
        return false;
    /* A last message and the end may be there. */
    for (int i = 0; i < 2 && poll(&socket, 1, 0) > 0; i++)
        if (PQconsumeInput(connection->pg) == 0) {
            (void)lose(connection);
            return true;
        }
    return false;
}

void fp_pg_rollback(struct fp_pg *connection)
{
    if (connection->pg != NULL && PQtransactionStatus(connection->pg) != PQTRANS_IDLE &&
        fp_pg_run(connection, "rollback") != FP_STORE_OK)
        fp_pg_close(connection);
}
