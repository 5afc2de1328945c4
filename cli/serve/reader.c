/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader: every wait polls the server's socket, the client's and the one that says stop, up to a
 * deadline.
 */
#include "cli/serve/reader.h"

#include "cli/kit/message.h"
#include "cli/serve/fitness.h"
#include "collector/base/clock.h"
#include "collector/store/diagnosis.h"
#include "collector/store/dial.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    QUEUE_TIMEOUT_S = 20, /* for a connection that others use */
    /* The server ends a statement after its statement_timeout. This is for a server or network that
     * sends nothing at all. */
    SILENCE_EXTRA_S = 5,
    CANCEL_TIMEOUT_S = 5,
    LOCK_TIMEOUT_S = 2,
    TRANSACTION_TIMEOUT_SINCE = 170000, /* version of PostgreSQL */
    NOTE_EVERY_S = 30,
};

struct fp_readers {
    struct fp_reader_settings settings;
    int slots_fd; /* an eventfd that counts the connections not in use */
    atomic_uint waiting;
    _Atomic int64_t noted_us; /* when a lost database was last reported */
    pthread_mutex_t lock;     /* of the next two */
    PGconn *idle[FP_READERS_MAX];
    size_t idle_count;
};

/* One request's use of a connection. */
struct use {
    struct fp_readers *readers;
    struct fp_trouble *trouble;
    PGconn *connection;
    int client_fd;
    int64_t deadline_us;
    bool is_kept;   /* from an earlier request: the server may have closed it since */
    bool is_stale;  /* the trouble may be one that a new connection does not have */
    bool has_taken; /* some rows */
};

struct fp_readers *fp_readers_start(const struct fp_reader_settings *settings)
{
    struct fp_readers *readers = calloc(1, sizeof(*readers));
    if (readers == NULL)
        return NULL;
    readers->settings = *settings;
    readers->slots_fd = eventfd(settings->connections, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    if (readers->slots_fd < 0 || pthread_mutex_init(&readers->lock, NULL) != 0) {
        if (readers->slots_fd >= 0)
            close(readers->slots_fd);
        free(readers);
        return NULL;
    }
    return readers;
}

void fp_readers_stop(struct fp_readers *readers)
{
    if (readers == NULL)
        return;
    for (size_t i = 0; i < readers->idle_count; i++)
        PQfinish(readers->idle[i]);
    (void)pthread_mutex_destroy(&readers->lock);
    close(readers->slots_fd);
    free(readers);
}

/* ---- waiting ---- */

static enum fp_reader_result wait_for(const struct use *use, int fd, short events, bool *is_late)
{
    struct pollfd fds[] = {
        {.fd = fd, .events = events},
        {.fd = use->client_fd, .events = POLLRDHUP},
        {.fd = use->readers->settings.stop_fd, .events = POLLIN},
    };
    int ready;
    do {
        int64_t left_us = use->deadline_us - fp_clock_monotonic_us();
        ready = poll(fds, FP_COUNT(fds), left_us > 0 ? (int)(left_us / FP_US_PER_MS) + 1 : 0);
    } while (ready < 0 && errno == EINTR);
    *is_late = ready <= 0;
    return fds[1].revents != 0 || fds[2].revents != 0 ? FP_READER_GONE : FP_READER_FINE;
}

static void set_deadline(struct use *use, unsigned seconds)
{
    use->deadline_us = fp_clock_monotonic_us() + seconds * FP_US_PER_S;
}

static enum fp_reader_result refuse_crowd(struct use *use)
{
    fp_trouble_set(use->trouble, 503,
                   "The report is busy: %u queries are running and others wait for their turn.",
                   use->readers->settings.connections);
    use->trouble->retry_s = FP_TROUBLE_BUSY_S;
    return FP_READER_TROUBLE;
}

static bool take_slot(struct fp_readers *readers)
{
    eventfd_t one;
    return eventfd_read(readers->slots_fd, &one) == 0;
}

static enum fp_reader_result wait_for_slot(struct use *use)
{
    set_deadline(use, QUEUE_TIMEOUT_S);
    while (!take_slot(use->readers)) {
        bool is_late;
        if (wait_for(use, use->readers->slots_fd, POLLIN, &is_late) == FP_READER_GONE)
            return FP_READER_GONE;
        if (is_late)
            return refuse_crowd(use);
    }
    return FP_READER_FINE;
}

static enum fp_reader_result get_slot(struct use *use)
{
    struct fp_readers *readers = use->readers;
    if (take_slot(readers))
        return FP_READER_FINE;
    enum fp_reader_result result =
        atomic_fetch_add(&readers->waiting, 1) < readers->settings.waiting ? wait_for_slot(use)
                                                                           : refuse_crowd(use);
    (void)atomic_fetch_sub(&readers->waiting, 1);
    return result;
}

/* ---- statements ---- */

/* Prints why the database cannot be reached, at most once per NOTE_EVERY_S. */
static void note_loss(struct fp_readers *readers, const char *message)
{
    int64_t now_us = fp_clock_monotonic_us();
    int64_t noted_us = atomic_load(&readers->noted_us);
    if (noted_us != 0 && now_us - noted_us < NOTE_EVERY_S * FP_US_PER_S)
        return;
    if (atomic_compare_exchange_strong(&readers->noted_us, &noted_us, now_us))
        fp_message_notice("the database cannot be reached: %s", message);
}

static enum fp_reader_result lose(struct use *use, const char *message)
{
    note_loss(use->readers, message);
    fp_trouble_set(use->trouble, 503, "The database cannot be reached.");
    if (fp_failure_is_statement_pooler(message))
        fp_trouble_hint(use->trouble, "%s", fp_failure_pooler_hint);
    else
        fp_trouble_hint(use->trouble,
                        "Try again when it is back. What this server prints says more.");
    use->trouble->retry_s = FP_TROUBLE_AWAY_S;
    use->is_stale = true;
    return FP_READER_TROUBLE;
}

static enum fp_reader_result give_up(struct use *use)
{
    fp_trouble_set(use->trouble, 504, "The database does not answer.");
    use->trouble->retry_s = FP_TROUBLE_AWAY_S;
    use->is_stale = true;
    return FP_READER_TROUBLE;
}

/* Waits for the next result; *result is NULL after the last one. */
static enum fp_reader_result next_result(struct use *use, PGresult **result)
{
    while (PQisBusy(use->connection) == 1) {
        bool is_late;
        enum fp_reader_result waited = wait_for(use, PQsocket(use->connection), POLLIN, &is_late);
        if (waited != FP_READER_FINE)
            return waited;
        if (is_late)
            return give_up(use);
        if (PQconsumeInput(use->connection) == 0)
            return lose(use, PQerrorMessage(use->connection));
    }
    *result = PQgetResult(use->connection);
    return FP_READER_FINE;
}

/* Takes results to the end of the statement, or until the taker has enough. */
static enum fp_reader_result take_results(struct use *use, const struct fp_reader_query *query,
                                          bool *is_enough)
{
    bool has_failed = false;
    while (!*is_enough) {
        PGresult *result;
        enum fp_reader_result waited = next_result(use, &result);
        if (waited != FP_READER_FINE)
            return waited;
        if (result == NULL)
            break;
        ExecStatusType status = PQresultStatus(result);
        if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK &&
            status != PGRES_COMMAND_OK) {
            use->is_stale = fp_fitness_explain(use->connection, result, use->trouble);
            has_failed = true;
        } else if (query->take != NULL) {
            *is_enough = !query->take(query->context, result);
            use->has_taken = true;
        }
        PQclear(result);
    }
    return has_failed ? FP_READER_TROUBLE : FP_READER_FINE;
}

/* Closes the connection. */
static void drop(struct use *use)
{
    PQfinish(use->connection);
    use->connection = NULL;
}

/* Ends what the server still does for us, so that the connection can be used again. Closes it if
 * that takes too long. */
static void cancel(struct use *use)
{
    char ignored[256];
    PGcancel *request = PQgetCancel(use->connection);
    bool sent = request != NULL && PQcancel(request, ignored, sizeof(ignored)) == 1;
    PQfreeCancel(request);
    use->client_fd = -1;
    set_deadline(use, CANCEL_TIMEOUT_S);
    PGresult *result = NULL;
    while (sent && next_result(use, &result) == FP_READER_FINE && result != NULL)
        PQclear(result);
    if (!sent || PQtransactionStatus(use->connection) == PQTRANS_ACTIVE)
        drop(use);
}

/* Runs statements that answer nothing. */
static enum fp_reader_result command(struct use *use, const char *statements)
{
    bool is_enough = false;
    if (PQsendQuery(use->connection, statements) == 0)
        return lose(use, PQerrorMessage(use->connection));
    return take_results(use, &(struct fp_reader_query){0}, &is_enough);
}

/* Begins a transaction that only reads, and does not last. Texts have one form. These settings end
 * with the transaction: behind a pooler the session is not ours. */
static enum fp_reader_result begin(struct use *use)
{
    char statements[640];
    (void)snprintf(statements, sizeof(statements),
                   "begin read only; set local statement_timeout = '%us'; "
                   "set local lock_timeout = '%ds'; "
                   "set local idle_in_transaction_session_timeout = '60s'; "
                   "set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; "
                   "set local intervalstyle = 'postgres'; set local extra_float_digits = 1; "
                   "set local standard_conforming_strings = on%s",
                   use->readers->settings.statement_timeout_s, LOCK_TIMEOUT_S,
                   PQserverVersion(use->connection) >= TRANSACTION_TIMEOUT_SINCE
                       ? "; set local transaction_timeout = 0"
                       : "");
    return command(use, statements);
}

/* Ends the transaction; a connection that cannot is closed. What it answered stays valid. */
static void end(struct use *use)
{
    PGTransactionStatusType status = PQtransactionStatus(use->connection);
    if (status == PQTRANS_IDLE || status == PQTRANS_UNKNOWN)
        return;
    struct fp_trouble ignored = {0};
    struct fp_trouble *trouble = use->trouble;
    use->trouble = &ignored;
    use->client_fd = -1;
    set_deadline(use, CANCEL_TIMEOUT_S);
    if (status == PQTRANS_ACTIVE || command(use, "rollback") != FP_READER_FINE)
        drop(use);
    use->trouble = trouble;
}

static enum fp_reader_result run_statement(struct use *use, const struct fp_reader_query *query)
{
    if (PQsendQueryParams(use->connection, query->statement, query->value_count, NULL,
                          query->values, NULL, NULL, 0) == 0)
        return lose(use, PQerrorMessage(use->connection));
    (void)PQsetSingleRowMode(use->connection);
    bool is_enough = false;
    enum fp_reader_result result = take_results(use, query, &is_enough);
    if (result == FP_READER_GONE || is_enough)
        cancel(use);
    return result;
}

static enum fp_reader_result run(struct use *use, const struct fp_reader_query *query)
{
    int client_fd = use->client_fd;
    set_deadline(use, use->readers->settings.statement_timeout_s + SILENCE_EXTRA_S);
    enum fp_reader_result result = begin(use);
    if (result == FP_READER_FINE)
        result = run_statement(use, query);
    if (use->connection != NULL)
        end(use);
    use->client_fd = client_fd;
    return result;
}

/* ---- connections ---- */

/* Reports why no server of the connection string can be used. */
static enum fp_reader_result refuse(struct use *use, const struct fp_dial *dial)
{
    if (!fp_dial_was_silent(dial))
        return lose(use, fp_dial_message(dial));
    note_loss(use->readers, fp_dial_message(dial));
    return give_up(use);
}

static enum fp_reader_result finish_connecting(struct use *use, struct fp_dial *dial)
{
    struct fp_dial_wait wait;
    enum fp_dial_result result;
    while ((result = fp_dial_step(dial, &wait)) == FP_DIAL_WAITS) {
        bool is_late;
        use->deadline_us = wait.until_us;
        enum fp_reader_result waited = wait_for(use, wait.fd, wait.events, &is_late);
        if (waited != FP_READER_FINE)
            return waited;
    }
    if (result == FP_DIAL_FAILED)
        return refuse(use, dial);
    use->connection = fp_dial_take(dial);
    return FP_READER_FINE;
}

/* Notices are for people at a terminal; libpq would print them to standard error. */
static void ignore_notice(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/* Asks whether this is a database and a role to work with. */
static enum fp_reader_result admit(struct use *use)
{
    struct fp_fitness fitness = {.allow_writer = use->readers->settings.allow_writer,
                                 .trouble = use->trouble};
    for (size_t i = 0; i < fp_fitness_question_count; i++) {
        enum fp_reader_result result =
            run(use, &(struct fp_reader_query){.statement = fp_fitness_questions[i],
                                               .take = fp_fitness_take,
                                               .context = &fitness});
        if (result != FP_READER_FINE)
            return result;
        if (!fp_fitness_holds(&fitness))
            return FP_READER_TROUBLE;
    }
    return FP_READER_FINE;
}

/* Later keywords win: the user's own settings come last. */
static enum fp_reader_result connect_new(struct use *use)
{
    static const char *const keywords[] = {"fallback_application_name", "tcp_user_timeout",
                                           "dbname", "client_encoding", NULL};
    const char *const values[] = {"fleetprof serve", "10000", use->readers->settings.conninfo,
                                  "UTF8", NULL};
    use->is_kept = false;
    struct fp_dial *dial = fp_dial_begin(&(struct fp_dial_settings){keywords, values, INT64_MAX});
    if (dial == NULL) {
        fp_trouble_memory(use->trouble);
        return FP_READER_TROUBLE;
    }
    enum fp_reader_result result = finish_connecting(use, dial);
    fp_dial_end(dial);
    if (result != FP_READER_FINE)
        return result;
    (void)PQsetNoticeReceiver(use->connection, ignore_notice, NULL);
    result = admit(use);
    if (result != FP_READER_FINE)
        drop(use);
    return result;
}

static PGconn *pop_idle(struct fp_readers *readers)
{
    (void)pthread_mutex_lock(&readers->lock);
    PGconn *connection = readers->idle_count > 0 ? readers->idle[--readers->idle_count] : NULL;
    (void)pthread_mutex_unlock(&readers->lock);
    return connection;
}

static void push_idle(struct fp_readers *readers, PGconn *connection)
{
    (void)pthread_mutex_lock(&readers->lock);
    readers->idle[readers->idle_count++] = connection;
    (void)pthread_mutex_unlock(&readers->lock);
}

/* Takes a kept connection on which the server has said nothing: a restart would have. */
static enum fp_reader_result open_connection(struct use *use)
{
    while ((use->connection = pop_idle(use->readers)) != NULL) {
        struct pollfd socket = {.fd = PQsocket(use->connection), .events = POLLIN};
        use->is_kept = true;
        if (poll(&socket, 1, 0) == 0)
            return FP_READER_FINE;
        drop(use);
    }
    return connect_new(use);
}

/* Keeps the connection for the next request, if it is certain to be in order. */
static void close_connection(struct use *use)
{
    if (use->connection == NULL)
        return;
    if (!use->is_stale && PQtransactionStatus(use->connection) == PQTRANS_IDLE)
        push_idle(use->readers, use->connection);
    else
        drop(use);
}

/* A kept connection may fail for an old reason, such as a restart: then a new one gets its chance.
 */
static bool deserves_another(const struct use *use, enum fp_reader_result result)
{
    return result == FP_READER_TROUBLE && use->is_kept && use->is_stale && !use->has_taken;
}

static enum fp_reader_result use_connection(struct use *use, const struct fp_reader_query *query)
{
    enum fp_reader_result result = open_connection(use);
    if (result != FP_READER_FINE || query == NULL)
        return result;
    result = run(use, query);
    if (deserves_another(use, result)) {
        drop(use);
        use->is_stale = false;
        result = connect_new(use);
        if (result == FP_READER_FINE)
            result = run(use, query);
    }
    return result;
}

static enum fp_reader_result use_slot(struct use *use, const struct fp_reader_query *query)
{
    enum fp_reader_result result = get_slot(use);
    if (result != FP_READER_FINE)
        return result;
    result = use_connection(use, query);
    close_connection(use);
    (void)eventfd_write(use->readers->slots_fd, 1);
    return result;
}

enum fp_reader_result fp_readers_ask(struct fp_readers *readers,
                                     const struct fp_reader_query *query,
                                     struct fp_trouble *trouble)
{
    struct use use = {.readers = readers, .trouble = trouble, .client_fd = query->client_fd};
    return use_slot(&use, query);
}

enum fp_reader_result fp_readers_try(struct fp_readers *readers, int client_fd,
                                     struct fp_trouble *trouble)
{
    struct use use = {.readers = readers, .trouble = trouble, .client_fd = client_fd};
    return use_slot(&use, NULL);
}
