/*
 * Prepare: the uploads of one request are inflated, decoded, held against their page token, folded
 * and encoded into one record.
 */
#ifndef FP_INGEST_PREPARE_H
#define FP_INGEST_PREPARE_H

#include "collector/base/arena.h"
#include "collector/base/buf.h"
#include "collector/ingest/ingest.h"
#include "collector/ingest/nonces.h"
#include "collector/profile/ceilings.h"

struct fp_preparation {
    const struct fp_upload *upload;
    struct fp_nonce_table *nonces;
    struct fp_ceilings *ceilings;
    struct fp_metric_set *metrics; /* the ingest room's */
    struct fp_arena *arena;        /* of all that is made on the way */
    struct fp_buf *record;         /* empty; gets the uploads */
    struct fp_problem *problem;    /* set when it fails */

    /* Set by fp_prepare. */
    int64_t received_us;  /* epoch */
    size_t inflated_left; /* of limits.max_inflated, for all parts together */
    size_t upload_count;
};

/* All of the uploads, or none: false when one is refused. Any thread. */
bool fp_prepare(struct fp_preparation *work) FP_MUST_CHECK;

/* A problem that passes: there is no memory to prepare an upload in. */
void fp_prepare_no_memory(struct fp_problem *problem);

#endif
