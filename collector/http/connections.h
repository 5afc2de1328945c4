/*
 * Connections: every open one, by what it waits for, so that slow and idle clients can be ended
 * before they cost the others their service.
 *
 * libmicrohttpd's own timeout is for connections without any traffic; a byte every few seconds
 * defeats it, and so many idle connections as may be open keep all others out. So there is a
 * deadline, which traffic does not move, for the headers of a request and again for its body; and
 * when one connection too many comes, the one that has been idle for longest makes room. Ending
 * means that the socket is shut down; the connection's thread then sees its end and closes it.
 */
#ifndef FP_HTTP_CONNECTIONS_H
#define FP_HTTP_CONNECTIONS_H

#include "collector/http/metrics.h"

/* Where a connection is. While it is answered it cannot be ended: that time is ours. */
enum fp_connection_state {
    FP_CONNECTION_WAITING,   /* for the headers of its first or next request */
    FP_CONNECTION_RECEIVING, /* the body */
    FP_CONNECTION_ANSWERED,  /* decoded, committed, replied to */
    FP_CONNECTION_ENDING,    /* shut down, and not yet closed */
};

struct fp_connections;
struct fp_http_connection;

/*
 * Starts the watch, with a thread of its own. max: open connections; request_timeout_us: for
 * headers, and for a body. NULL when out of memory or threads. Metrics (the listener's) must
 * outlive it; without
 * them (NULL) nothing is counted.
 */
struct fp_connections *fp_connections_start(size_t max, int64_t request_timeout_us,
                                            struct fp_metric_set *metrics) FP_MUST_CHECK;

/* Ends the thread and frees; NULL is fine. No connection may be left. */
void fp_connections_stop(struct fp_connections *connections);

/*
 * A new connection, which waits. The socket stays its owner's and is open until
 * fp_connections_remove. NULL when out of memory. Any thread, as with all that follows.
 */
struct fp_http_connection *fp_connections_add(struct fp_connections *connections,
                                              int fd) FP_MUST_CHECK;

/* Before the socket is closed: it is not touched after. */
void fp_connections_remove(struct fp_connections *connections,
                           struct fp_http_connection *connection);

/* The connection comes to another state, and has time anew there; one that is ending stays so. */
void fp_connections_move(struct fp_connections *connections, struct fp_http_connection *connection,
                         enum fp_connection_state state);

/* How many connections are open on which no request has come yet. */
size_t fp_connections_unheard(struct fp_connections *connections);

#endif
