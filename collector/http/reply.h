/*
 * Reply: what the public listener sends, with the headers that every reply carries.
 */
#ifndef FP_HTTP_REPLY_H
#define FP_HTTP_REPLY_H

#include "collector/http/metrics.h"
#include "collector/ingest/ingest.h"

#include <microhttpd.h>

struct fp_reply {
    const struct fp_problem *problem; /* NULL: 204 */
    const struct fp_str *origin;      /* the admitted one, NULL when there is none */
    const struct fp_uuid *started;    /* a long session: 201 with its id; NULL: none was */
    bool preflight;                   /* 204 to an OPTIONS request */
    bool close;                       /* the connection ends with this reply */
};

/* Queues the reply and counts it by status class. MHD_NO: the connection is to be closed. */
enum MHD_Result fp_reply_send(struct MHD_Connection *connection, struct fp_metric_set *metrics,
                              const struct fp_reply *reply) FP_MUST_CHECK;

/* Counts a reply by status class. */
void fp_reply_count(struct fp_metric_set *metrics, unsigned status);

/* A whole body of text, for the admin listener. body is copied. */
enum MHD_Result fp_reply_text(struct MHD_Connection *connection, unsigned status,
                              const char *content_type, struct fp_str body) FP_MUST_CHECK;

#endif
