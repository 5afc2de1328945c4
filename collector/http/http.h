/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP: the public listener, which receives uploads.
 *
 * Its own threads serve connections, others decode uploads. While an upload waits to be decoded, or
 * for its commit, its connection is suspended and costs no thread. Call the functions here from the
 * main thread.
 */
#ifndef FP_HTTP_HTTP_H
#define FP_HTTP_HTTP_H

#include "collector/base/metrics.h"
#include "collector/http/listen.h"
#include "collector/ingest/captures.h"
#include "collector/ingest/ingest.h"

struct fp_http_settings {
    struct fp_address listen;
    int given_socket;     /* use this listening socket, not the address; owned; -1: none */
    unsigned threads;     /* that serve; fp_turns_threads of them decode */
    unsigned proxies;     /* in front that add to X-Forwarded-For */
    unsigned connections; /* open at once; one more evicts the most idle one */
    unsigned connections_per_address; /* further ones are closed at once; 0: no limit */
    int64_t timeout_us;               /* without traffic, before a connection is closed */
    int64_t request_timeout_us;       /* for the headers of a request, and again for its body */
    struct fp_captures *captures;     /* outlives it */
};

struct fp_http;

/* Returns the most descriptors that this many connections need, including those that are being
 * closed. */
size_t fp_http_descriptors(unsigned connections);

/* Listens and serves. Returns NULL on failure and writes a sentence into `detail`. Ingest and
 * metrics must outlive it. */
struct fp_http *fp_http_start(const struct fp_http_settings *settings, struct fp_ingest *ingest,
                              struct fp_metrics *metrics, struct fp_buf *detail) FP_MUST_CHECK;

/* Stops accepting connections, and ends each open one after its next reply. */
void fp_http_stop_accepting(struct fp_http *http);

/* Returns the number of open connections that have not sent a request yet. */
size_t fp_http_unheard(const struct fp_http *http);

/* Returns the number of requests being received, decoded, committed or answered. */
size_t fp_http_in_flight(const struct fp_http *http);

/* Runs all turns that wait, and ends the threads that decode. Uploads that come later have their
 * turn at once. After fp_spool_stop_appends all of these are refused without being decoded. */
void fp_http_stop_decoding(struct fp_http *http);

/* Decodes what waits, closes all connections, ends the threads and frees the listener; NULL is
 * fine. No upload may be waiting for its commit, nor begin to wait (fp_spool_stop_appends,
 * fp_ingest_committing). */
void fp_http_stop(struct fp_http *http);

#endif
