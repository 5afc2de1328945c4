/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Request: handles one request of the public listener, from its headers to its reply. Private to
 * collector/http.
 */
#ifndef FP_HTTP_REQUEST_H
#define FP_HTTP_REQUEST_H

#include "collector/http/connections.h"
#include "collector/http/listen.h"
#include "collector/http/metrics.h"
#include "collector/ingest/captures.h"
#include "collector/ingest/ingest.h"
#include "collector/ingest/turns.h"

#include <microhttpd.h>
#include <stdatomic.h>

struct fp_http {
    struct fp_ingest *ingest;
    struct fp_metric_set *metrics;
    struct MHD_Daemon *daemon;
    struct fp_listener listener;
    struct fp_captures *captures;
    struct fp_turns *turns;             /* of uploads, to be decoded */
    unsigned proxies;                   /* in front */
    size_t waiting_max;                 /* uploads of all sites that may wait for their turn */
    struct fp_connections *connections; /* each entry is its socket's context */
    atomic_size_t in_flight;            /* requests begun but not completed */
    atomic_bool stopping;
};

/* MHD's access handler; cls is the struct fp_http. */
enum MHD_Result fp_request_handle(void *cls, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *upload_data,
                                  size_t *upload_data_size, void **request_cls);

/* MHD's completion callback: frees the request, however it ended. */
void fp_request_completed(void *cls, struct MHD_Connection *connection, void **request_cls,
                          enum MHD_RequestTerminationCode why);

#endif
