/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads: the parts of page loads that arrived lately, so that windows reach across parts.
 *
 * Bounded in bytes of all parts, bytes of one page load, and age. Whoever visits a page load holds
 * it: parts of one page load are folded one after the other, in the order in which they are counted
 * together. Any thread.
 */
#ifndef FP_INGEST_LOADS_H
#define FP_INGEST_LOADS_H

#include "collector/base/metrics.h"
#include "collector/profile/fold/part.h"

enum {
    FP_LOADS_PARTS_MAX = 64,                 /* of one page load */
    FP_LOADS_BYTES_MAX = 32 * 1024 * 1024,   /* of all */
    FP_LOADS_BYTES_OF_ONE_MAX = 1024 * 1024, /* of one page load */
    FP_LOADS_AGE_MAX_S = 600,                /* since the last part of a page load */
};

struct fp_loads;

/* metrics: ingest's. NULL when memory is out. */
struct fp_loads *fp_loads_create(struct fp_metric_set *metrics) FP_MUST_CHECK;

/* Nobody may visit. NULL is fine. */
void fp_loads_free(struct fp_loads *loads);

/* An upload that is a part of a page load. */
struct fp_loads_key {
    uint64_t site_id;
    struct fp_uuid load;
    struct fp_uuid upload;
    int64_t now_us; /* monotonic */
};

struct fp_loads_visit {
    struct fp_loads *loads;
    const struct fp_loads_key *key;
    /* The parts that count before this one. An upload that comes again gets those that it got the
     * first time. Valid until the visit ends. */
    const struct fp_part *earlier[FP_LOADS_PARTS_MAX];
    size_t earlier_count;
    bool is_known; /* it comes again */
};

/* Begins a visit: finds the earlier parts. The caller ends it, soon. key lives as long. */
void fp_loads_begin(struct fp_loads *loads, const struct fp_loads_key *key,
                    struct fp_loads_visit *visit);

/* Ends a visit. Remembers a copy of the part, unless it is known; NULL: nothing. */
void fp_loads_end(struct fp_loads_visit *visit, const struct fp_part *part);

/* Forgets a part: its request was refused. */
void fp_loads_forget(struct fp_loads *loads, const struct fp_loads_key *key);

#endif
