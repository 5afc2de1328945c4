/*
 * HTTP: the public listener, which takes uploads.
 *
 * Threads of its own serve connections; a connection whose upload waits for its commit is suspended
 * and costs no thread. The functions here are for the main thread.
 */
#ifndef FP_HTTP_HTTP_H
#define FP_HTTP_HTTP_H

#include "collector/base/metrics.h"
#include "collector/http/listen.h"
#include "collector/ingest/captures.h"
#include "collector/ingest/ingest.h"

struct fp_http_settings {
    struct fp_address listen;
    int given_socket; /* listens already, and is used instead of the address; owned; -1: none */
    unsigned threads;
    unsigned connections;             /* open at once; one more, and the most idle one is ended */
    unsigned connections_per_address; /* further ones are closed at once; 0: no limit */
    int64_t timeout_us;               /* without traffic, before a connection is closed */
    int64_t request_timeout_us;       /* for the headers of a request, and again for its body */
    struct fp_captures *captures;     /* outlives it */
};

struct fp_http;

/* Most descriptors that so many connections need, those included that are just being ended. */
size_t fp_http_descriptors(unsigned connections);

/* Listens and serves. NULL on failure; `detail` then gets a sentence. Ingest and metrics must
 * outlive it. */
struct fp_http *fp_http_start(const struct fp_http_settings *settings, struct fp_ingest *ingest,
                              struct fp_metrics *metrics, struct fp_buf *detail) FP_MUST_CHECK;

/* Takes no new connections from now on, and ends each open one after its next reply. */
void fp_http_stop_accepting(struct fp_http *http);

/* How many connections are open on which no request has come yet. */
size_t fp_http_unheard(const struct fp_http *http);

/* How many requests are being received, decoded, committed or answered. */
size_t fp_http_in_flight(const struct fp_http *http);

/* Closes all connections, ends the threads and frees; NULL is fine. No upload may be waiting for
 * its commit (fp_ingest_committing). */
void fp_http_stop(struct fp_http *http);

#endif
