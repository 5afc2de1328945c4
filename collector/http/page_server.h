/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page server: an HTTP listener whose clients only read. It bounds the bodies of requests and the
 * connections, and ends slow clients.
 */
#ifndef FP_HTTP_PAGE_SERVER_H
#define FP_HTTP_PAGE_SERVER_H

#include "collector/base/buf.h"
#include "collector/http/listen.h"

#include <microhttpd.h>

struct fp_page_request {
    const char *path;
    const char *method;
    struct fp_str body;    /* "": none, or it is dropped */
    bool is_body_too_long; /* for body_max; it is dropped */
};

/* Queues the response to a whole request; MHD_NO closes the connection. */
typedef enum MHD_Result fp_page_answer(void *context, struct MHD_Connection *connection,
                                       const struct fp_page_request *request);

struct fp_page_server_settings {
    unsigned mode;          /* MHD_USE_…: its threads, and how they wait */
    size_t stack_size;      /* of a thread, bytes; 0: the system's */
    unsigned connections;   /* open at a time; one too many evicts the one that was idle longest */
    unsigned ending;        /* further connections that are shut down but not yet closed */
    size_t memory;          /* for the headers of a request and its response, bytes a connection */
    size_t body_max;        /* of a request, bytes; 0: every body is dropped */
    unsigned idle_s;        /* ends a connection without traffic */
    unsigned request_s;     /* ends a client that takes longer to send the headers, or the body */
    fp_page_answer *answer; /* called on a thread of the server's */
    void *context;          /* for answer; outlives the server */
};

struct fp_page_server;

/* Serves on the listener, which it closes in any case. Returns NULL on failure and writes a
 * sentence into `detail`. Main thread. */
struct fp_page_server *fp_page_server_start(const struct fp_page_server_settings *settings,
                                            struct fp_listener *listener,
                                            struct fp_buf *detail) FP_MUST_CHECK;

/* Closes all connections and frees the server; NULL is fine. Main thread. */
void fp_page_server_stop(struct fp_page_server *server);

#endif
