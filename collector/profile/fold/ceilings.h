/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ceilings: how many new names a site may add per hour, so that no page, broken or hostile, fills
 * the database with names that occur once.
 *
 * A name is known by a 64-bit hash of its content. A name that the site used in this hour or the
 * one before is known and costs nothing, so established names survive a flood; a new one costs one
 * unit of its kind's ceiling. Hours are UTC hours of the time of receipt. Each collector counts for
 * itself and starts empty.
 *
 * Memory grows with use, up to three ceilings' worth of names per table and up to limits->memory
 * for all sites together; past that, new names are refused. (A table exists twice while a new hour
 * shrinks it.) Names that a site has not used for an hour are freed. All functions may be called
 * from any thread.
 */
#ifndef FP_PROFILE_FOLD_CEILINGS_H
#define FP_PROFILE_FOLD_CEILINGS_H

#include "collector/base/base.h"
#include "collector/base/metrics.h"

enum fp_name_kind {
    FP_NAME_FRAME,
    FP_NAME_STACK,
    FP_NAME_TIMING,
    FP_NAME_ROUTE,
    FP_NAME_RELEASE,
    FP_NAME_SEGMENT, /* without the browser version and custom dimensions, which take no other
                      * dimension's room */
    FP_NAME_BROWSER_VERSION, /* segments with one */
    FP_NAME_CUSTOM,          /* segments with custom dimensions */
    FP_NAME_CUSTOM_VALUE,    /* of one of them */
    FP_NAME_ELEMENT,         /* elements of vitals */
    FP_NAME_VITAL, /* vitals that may be sent again: each is new, and no name is remembered */
    FP_NAME_KINDS,

    /* Segments that gave up one dimension to the ceiling, then two, then three. Each step may have
     * up to a tenth of the ceiling. */
    FP_NAME_SEGMENT_LESS_ENVIRONMENT = FP_NAME_KINDS,
    FP_NAME_SEGMENT_LESS_RELEASE,
    FP_NAME_SEGMENT_LESS_ROUTE,
    FP_NAME_TABLES
};

struct fp_ceiling_limits {
    uint32_t names[FP_NAME_KINDS]; /* new ones of a site in an hour */
    uint64_t memory;               /* bytes, of all sites together */
};

struct fp_ceilings;

/* Makes ceilings that know no name. Metrics must outlive them. NULL when out of memory. */
struct fp_ceilings *fp_ceilings_create(struct fp_metrics *metrics) FP_MUST_CHECK;

/* NULL is fine. */
void fp_ceilings_free(struct fp_ceilings *ceilings);

/* The site and time of an upload. Pointers are needed during the call only. */
struct fp_ceilings_visit {
    struct fp_ceilings *ceilings;
    const struct fp_ceiling_limits *limits;
    struct fp_str site;
    uint64_t site_id;
    int64_t received_us; /* epoch */
};

/*
 * Decides on names of one kind, in their order: sets refused[i] for each. Returns how many are
 * refused, counts them in the metrics and logs the first of its kind, site and hour. Refuses new
 * names when memory is out.
 */
size_t fp_ceilings_admit(const struct fp_ceilings_visit *visit, enum fp_name_kind kind,
                         const uint64_t *ids, size_t count, bool *refused) FP_MUST_CHECK;

#endif
