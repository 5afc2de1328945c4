/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prepare: inflates and decodes the uploads of one request, checks their page tokens, folds them
 * and encodes them into one record.
 */
#ifndef FP_INGEST_PREPARE_H
#define FP_INGEST_PREPARE_H

#include "collector/base/arena.h"
#include "collector/base/buf.h"
#include "collector/ingest/ingest.h"
#include "collector/ingest/kept.h"
#include "collector/ingest/loads.h"
#include "collector/ingest/sources.h"
#include "collector/ingest/token.h"
#include "collector/profile/fold/ceilings.h"
#include "collector/rollup/record.h"

struct fp_preparation {
    const struct fp_upload *upload;
    struct fp_ceilings *ceilings;
    struct fp_draw_key key;        /* of sample_keep */
    struct fp_kept *kept;          /* of all sites; NULL: without ceilings */
    struct fp_loads *loads;        /* NULL: windows do not reach across parts */
    struct fp_sources *sources;    /* NULL: page loads have none */
    struct fp_metric_set *metrics; /* ingest's */
    struct fp_arena *arena;        /* for everything that is made on the way */
    struct fp_buf *record;         /* empty; gets the uploads */
    struct fp_problem *problem;    /* set on failure */

    /* Set by fp_prepare. */
    int64_t received_us;  /* epoch */
    size_t inflated_left; /* what is left of limits.max_inflated, for all parts together */
    size_t upload_count;
    struct fp_token_proof proof;  /* what the last token proves */
    struct fp_token_trial trial;  /* of a dry run */
    struct fp_kept_charge charge; /* taken back on failure */
    struct fp_not_kept not_kept;
    struct fp_refused_records refused;                    /* of all uploads so far; starts empty */
    struct fp_loads_key remembered[FP_RECORD_DELTAS_MAX]; /* parts of page loads */
    size_t remembered_count;
};

/* Prepares all uploads, or none: false if one is refused. Any thread. */
bool fp_prepare(struct fp_preparation *work) FP_MUST_CHECK;

/* Sets a temporary problem: no memory to prepare an upload. */
void fp_prepare_no_memory(struct fp_problem *problem);

#endif
