/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: tracks every open connection by what it waits for, and ends slow and idle clients
 * before they block the others.
 *
 * libmicrohttpd's own timeout covers only connections without any traffic. A byte every few seconds
 * defeats it, and enough idle connections then keep everybody else out. So a deadline, which
 * traffic does not move, applies to the headers of a request and again to its body; and when there
 * is one connection too many, the one that has been idle longest is evicted. To end a connection,
 * its socket is shut down; its thread then sees the end of the stream and closes it.
 */
#ifndef FP_HTTP_CONNECTIONS_H
#define FP_HTTP_CONNECTIONS_H

#include "collector/http/metrics.h"

/* The state of a connection. One that is being answered cannot be ended: that time is the
 * collector's. */
enum fp_connection_state {
    FP_CONNECTION_WAITING,   /* for the headers of its first or next request */
    FP_CONNECTION_RECEIVING, /* the body */
    FP_CONNECTION_ANSWERED,  /* decoding, committing, replying */
    FP_CONNECTION_ENDING,    /* shut down, not yet closed */
};

struct fp_connections;
struct fp_http_connection;

/* The target in the first line of a connection's current request, as it came. */
struct fp_request_target {
    size_t len;          /* up to its first NUL */
    const char *trouble; /* what is wrong with it, a constant; NULL: nothing */
};

/*
 * Starts the watch, in a thread of its own. max: open connections; request_timeout_us: for the
 * headers, and again for the body. Returns NULL when out of memory or threads. Metrics (the
 * listener's) must outlive it; NULL: count nothing.
 */
struct fp_connections *fp_connections_start(size_t max, int64_t request_timeout_us,
                                            struct fp_metric_set *metrics) FP_MUST_CHECK;

/* Ends the thread and frees the watch; NULL is fine. All connections must have been removed. */
void fp_connections_stop(struct fp_connections *connections);

/*
 * Adds a connection in the waiting state. The caller keeps the socket, and keeps it open until
 * fp_connections_remove. Shuts the socket down and returns NULL when out of memory. Any thread; so
 * may all functions below.
 */
struct fp_http_connection *fp_connections_add(struct fp_connections *connections,
                                              int fd) FP_MUST_CHECK;

/* Removes a connection. Call it before closing the socket, which is not touched afterwards. */
void fp_connections_remove(struct fp_connections *connections,
                           struct fp_http_connection *connection);

/* Moves a connection to another state, where its deadline starts again. An ending connection stays
 * in its state. */
void fp_connections_move(struct fp_connections *connections, struct fp_http_connection *connection,
                         enum fp_connection_state state);

/* Returns the connection's target, which only the connection's own thread uses. */
struct fp_request_target *fp_connections_target(struct fp_http_connection *connection);

/* Returns the number of open connections that have not sent a request yet. */
size_t fp_connections_unheard(struct fp_connections *connections);

#endif
