/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reply: what the public listener sends, including the headers that every reply carries.
 */
#ifndef FP_HTTP_REPLY_H
#define FP_HTTP_REPLY_H

#include "collector/http/metrics.h"
#include "collector/ingest/ingest.h"

#include <microhttpd.h>

struct fp_reply {
    const struct fp_problem *problem; /* NULL: 204 */
    const struct fp_str *origin;      /* the admitted one, or NULL */
    const struct fp_uuid *started;    /* 201 with the id of the long session; NULL: none started */
    uint64_t refused;                 /* records of an accepted upload; 0: none */
    size_t not_kept;                  /* sessions that count, but are not kept whole */
    bool preflight;                   /* 204 to an OPTIONS request */
    const char *requested_headers;    /* a preflight's Access-Control-Request-Headers, or NULL */
    bool dry_run;                     /* say that nothing was stored, and the reason of a refusal */
    const char *token_trouble;        /* of an accepted dry run; NULL: none */
    bool close;                       /* close the connection after this reply */
};

/* Queues the reply and counts it by status class. MHD_NO: close the connection. */
enum MHD_Result fp_reply_send(struct MHD_Connection *connection, struct fp_metric_set *metrics,
                              const struct fp_reply *reply) FP_MUST_CHECK;

/* Counts a reply by status class. */
void fp_reply_count(struct fp_metric_set *metrics, unsigned status);

/* Sends a text body, for the admin listener. Copies the body. */
enum MHD_Result fp_reply_text(struct MHD_Connection *connection, unsigned status,
                              const char *content_type, struct fp_str body) FP_MUST_CHECK;

/* Sends a text body with status 400, and closes the connection after it. Copies the body. */
enum MHD_Result fp_reply_bad_request(struct MHD_Connection *connection,
                                     struct fp_str body) FP_MUST_CHECK;

#endif
