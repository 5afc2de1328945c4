/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: one list per state, ordered by the time of arrival in that state. All deadlines of a
 * list are equally far from that time, so only the heads need a look.
 */
#include "collector/http/connections.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    STATES = FP_CONNECTION_ENDING + 1,
    IDLE_US = FP_US_PER_S, /* an honest client has sent its headers by then */
    LOOKS_MAX = 64,
};

struct fp_http_connection {
    struct fp_http_connection *next;
    struct fp_http_connection *previous;
    int fd;
    enum fp_connection_state state;
    int64_t since_us;                /* monotonic: when it entered this state */
    bool heard;                      /* it has sent a request */
    struct fp_request_target target; /* without the lock: the connection's thread's */
};

struct connection_list {
    struct fp_http_connection *first;
    struct fp_http_connection *last;
    size_t count;
};

struct fp_connections {
    size_t max;
    int64_t request_timeout_us;
    struct fp_metric_set *metrics;
    pthread_t watch;

    pthread_mutex_t lock; /* protects what follows, and the connections */
    pthread_cond_t stop;
    bool stopping;
    struct connection_list lists[STATES];
    size_t unheard;
};

/* ---- lists ---- */

static void take_out(struct connection_list *list, struct fp_http_connection *connection)
{
    FP_ASSERT(list->count > 0);
    if (connection->previous != NULL)
        connection->previous->next = connection->next;
    else
        list->first = connection->next;
    if (connection->next != NULL)
        connection->next->previous = connection->previous;
    else
        list->last = connection->previous;
    list->count--;
}

static void append(struct connection_list *list, struct fp_http_connection *connection)
{
    FP_ASSERT((list->first == NULL) == (list->count == 0));
    connection->next = NULL;
    connection->previous = list->last;
    if (list->last != NULL)
        list->last->next = connection;
    else
        list->first = connection;
    list->last = connection;
    list->count++;
}

/* The moves that a connection may make, from row to column. It ends once. */
static const bool is_legal_move[STATES][STATES] = {
    [FP_CONNECTION_WAITING] = {true, true, true, true},
    [FP_CONNECTION_RECEIVING] = {true, false, true, true},
    [FP_CONNECTION_ANSWERED] = {true, false, true, true}, /* answered again when resumed */
};

static void change_state(struct fp_connections *connections, struct fp_http_connection *connection,
                         enum fp_connection_state state)
{
    FP_ASSERT(is_legal_move[connection->state][state]);
    take_out(&connections->lists[connection->state], connection);
    connection->state = state;
    connection->since_us = fp_clock_monotonic_us();
    append(&connections->lists[state], connection);
}

/* ---- ending ---- */

static void end(struct fp_connections *connections, struct fp_http_connection *connection)
{
    change_state(connections, connection, FP_CONNECTION_ENDING);
    (void)shutdown(connection->fd, SHUT_RDWR);
}

static void end_for(struct fp_connections *connections, struct fp_http_connection *connection,
                    enum fp_http_metric reason)
{
    if (connections->metrics != NULL)
        fp_metrics_add(connections->metrics, reason, 1);
    end(connections, connection);
}

/* How much has arrived of the request that the connection waits for. GONE: the client has closed
 * the connection. */
enum progress { GONE, SILENT, BEGUN, COMPLETE };

/* Peeks at the bytes that the connection's thread has not read yet. */
static enum progress look(const struct fp_http_connection *connection)
{
    static const char end_of_headers[] = "\r\n\r\n";
    char unread[4096];
    // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): it does not block
    ssize_t len = recv(connection->fd, unread, sizeof(unread), MSG_PEEK | MSG_DONTWAIT);
    if (len == 0)
        return GONE;
    if (len < 0)
        return errno == EAGAIN || errno == EINTR ? SILENT : GONE;
    bool is_complete = len == (ssize_t)sizeof(unread) || memmem(unread, (size_t)len, end_of_headers,
                                                                sizeof(end_of_headers) - 1) != NULL;
    return is_complete ? COMPLETE : BEGUN;
}

/* The first of the connections that have waited longest, by progress; NULL: none. In a flood a
 * whole request may wait a while for its thread, so a complete one does not count. */
struct waiting {
    struct fp_http_connection *first[COMPLETE];
};

static struct waiting survey(const struct fp_connections *connections)
{
    struct waiting found = {{NULL}};
    struct fp_http_connection *waiting = connections->lists[FP_CONNECTION_WAITING].first;
    for (int i = 0; waiting != NULL && i < LOOKS_MAX; i++, waiting = waiting->next) {
        enum progress progress = look(waiting);
        if (progress != COMPLETE && found.first[progress] == NULL)
            found.first[progress] = waiting;
    }
    return found;
}

/* Picks the connection to evict: an idle one; otherwise the one that has waited or been receiving
 * longest, because in a flood of idle connections a body that has just begun is not slow. NULL if
 * every client has sent its request. */
static struct fp_http_connection *find_expendable(const struct fp_connections *connections,
                                                  const struct waiting *found)
{
    struct fp_http_connection *waiting =
        found->first[SILENT] != NULL ? found->first[SILENT] : found->first[BEGUN];
    struct fp_http_connection *receiving = connections->lists[FP_CONNECTION_RECEIVING].first;
    if (waiting == NULL || receiving == NULL)
        return waiting != NULL ? waiting : receiving;
    bool is_idle = fp_clock_monotonic_us() - waiting->since_us >= (int64_t)IDLE_US;
    return is_idle || waiting->since_us <= receiving->since_us ? waiting : receiving;
}

static size_t live_count(const struct fp_connections *connections)
{
    const struct connection_list *lists = connections->lists;
    return lists[FP_CONNECTION_WAITING].count + lists[FP_CONNECTION_RECEIVING].count +
           lists[FP_CONNECTION_ANSWERED].count;
}

/* Evicts connections until the coming ones fit, first those whose client has gone: a busy thread
 * may not have closed them yet. Clients that have sent their request are answered first, so the
 * limit may be exceeded for a while. */
static void make_room(struct fp_connections *connections, size_t coming)
{
    while (live_count(connections) + coming > connections->max) {
        struct waiting found = survey(connections);
        if (found.first[GONE] != NULL) {
            end(connections, found.first[GONE]);
            continue;
        }
        struct fp_http_connection *expendable = find_expendable(connections, &found);
        if (expendable == NULL)
            return;
        end_for(connections, expendable, FP_METRIC_CONNECTIONS_ENDED_CROWDED);
    }
}

/* Ends the connections of a state whose deadline has passed. Returns the next deadline, INT64_MAX
 * if none. */
static int64_t end_late(struct fp_connections *connections, enum fp_connection_state state)
{
    struct connection_list *list = &connections->lists[state];
    int64_t now_us = fp_clock_monotonic_us();
    while (list->first != NULL) {
        int64_t deadline_us = list->first->since_us + connections->request_timeout_us;
        if (deadline_us > now_us)
            return deadline_us;
        end_for(connections, list->first, FP_METRIC_CONNECTIONS_ENDED_SLOW);
    }
    return INT64_MAX;
}

static void *watch(void *context)
{
    static const enum fp_connection_state timed[] = {FP_CONNECTION_WAITING,
                                                     FP_CONNECTION_RECEIVING};
    struct fp_connections *connections = context;
    pthread_mutex_lock(&connections->lock);
    while (!connections->stopping) {
        /* A connection that arrives during the wait has its full time left. */
        int64_t next_us = fp_clock_monotonic_us() + connections->request_timeout_us;
        for (size_t i = 0; i < sizeof(timed) / sizeof(timed[0]); i++) {
            int64_t deadline_us = end_late(connections, timed[i]);
            next_us = deadline_us < next_us ? deadline_us : next_us;
        }
        const struct timespec next = {next_us / FP_US_PER_S, next_us % FP_US_PER_S * 1000};
        (void)pthread_cond_timedwait(&connections->stop, &connections->lock, &next);
    }
    pthread_mutex_unlock(&connections->lock);
    return NULL;
}

/* ---- life ---- */

static bool make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(condition, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

struct fp_connections *fp_connections_start(size_t max, int64_t request_timeout_us,
                                            struct fp_metric_set *metrics)
{
    struct fp_connections *connections = calloc(1, sizeof(*connections));
    if (connections == NULL)
        return NULL;
    connections->max = max;
    connections->request_timeout_us = request_timeout_us;
    connections->metrics = metrics;
    bool has_lock = pthread_mutex_init(&connections->lock, NULL) == 0;
    bool has_condition = has_lock && make_condition(&connections->stop);
    if (has_condition && pthread_create(&connections->watch, NULL, watch, connections) == 0)
        return connections;
    if (has_condition)
        pthread_cond_destroy(&connections->stop);
    if (has_lock)
        pthread_mutex_destroy(&connections->lock);
    free(connections);
    return NULL;
}

void fp_connections_stop(struct fp_connections *connections)
{
    if (connections == NULL)
        return;
    pthread_mutex_lock(&connections->lock);
    connections->stopping = true;
    pthread_cond_signal(&connections->stop);
    pthread_mutex_unlock(&connections->lock);
    pthread_join(connections->watch, NULL);
    pthread_cond_destroy(&connections->stop);
    pthread_mutex_destroy(&connections->lock);
    free(connections);
}

/* ---- one connection ---- */

struct fp_http_connection *fp_connections_add(struct fp_connections *connections, int fd)
{
    struct fp_http_connection *connection = calloc(1, sizeof(*connection));
    if (connection == NULL) {
        (void)shutdown(fd, SHUT_RDWR);
        return NULL;
    }
    connection->fd = fd;
    connection->state = FP_CONNECTION_WAITING;
    connection->since_us = fp_clock_monotonic_us();
    pthread_mutex_lock(&connections->lock);
    make_room(connections, 1);
    append(&connections->lists[FP_CONNECTION_WAITING], connection);
    connections->unheard++;
    pthread_mutex_unlock(&connections->lock);
    return connection;
}

void fp_connections_remove(struct fp_connections *connections,
                           struct fp_http_connection *connection)
{
    pthread_mutex_lock(&connections->lock);
    take_out(&connections->lists[connection->state], connection);
    FP_ASSERT(connection->heard || connections->unheard > 0);
    connections->unheard -= !connection->heard;
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}

void fp_connections_move(struct fp_connections *connections, struct fp_http_connection *connection,
                         enum fp_connection_state state)
{
    pthread_mutex_lock(&connections->lock);
    if (connection->state != FP_CONNECTION_ENDING)
        change_state(connections, connection, state);
    if (state == FP_CONNECTION_WAITING)
        make_room(connections, 0);
    FP_ASSERT(connection->heard || connections->unheard > 0);
    connections->unheard -= !connection->heard;
    connection->heard = true;
    pthread_mutex_unlock(&connections->lock);
}

struct fp_request_target *fp_connections_target(struct fp_http_connection *connection)
{
    return &connection->target;
}

size_t fp_connections_unheard(struct fp_connections *connections)
{
    pthread_mutex_lock(&connections->lock);
    size_t unheard = connections->unheard;
    pthread_mutex_unlock(&connections->lock);
    return unheard;
}
