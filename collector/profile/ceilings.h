/*
 * Ceilings: how many new names a site may bring in an hour, so that no page, broken or hostile,
 * fills the database with names that are met once.
 *
 * A name is known by a 64-bit hash of its content. One that the site used in this hour or in the
 * one before is known and costs nothing, so established names outlive a flood; a new one costs one
 * unit of its kind's ceiling. Hours are UTC hours of the time of receipt. Each collector counts
 * for itself, from nothing when it starts.
 *
 * Memory grows with use, up to three ceilings' worth of names a table and up to limits->memory
 * for all sites together, past which new names are refused (a table is there twice for the moment
 * in which an hour's turn makes it smaller); what a site has not used for an hour is given back.
 * All functions may be called from any thread.
 */
#ifndef FP_PROFILE_CEILINGS_H
#define FP_PROFILE_CEILINGS_H

#include "collector/base/base.h"
#include "collector/base/metrics.h"

enum fp_name_kind {
    FP_NAME_FRAME,
    FP_NAME_STACK,
    FP_NAME_TIMING,
    FP_NAME_ROUTE,
    FP_NAME_RELEASE,
    FP_NAME_SEGMENT,
    FP_NAME_KINDS,

    /* Segments that lost a dimension to the ceiling, then another, then another. The ones of each
     * step may be as many as a tenth of the ceiling. */
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

/* One upload's names: of which site, when. What it points to need live for the call only. */
struct fp_ceilings_visit {
    struct fp_ceilings *ceilings;
    const struct fp_ceiling_limits *limits;
    struct fp_str site;
    uint64_t site_id;
    int64_t received_us; /* epoch */
};

/*
 * Decides on names of one kind, in their order: refused[i] is set for each. Returns how many are
 * refused; they are counted in the metrics, and the first of its kind, site and hour is logged.
 * When memory is out, new names are refused.
 */
size_t fp_ceilings_admit(const struct fp_ceilings_visit *visit, enum fp_name_kind kind,
                         const uint64_t *ids, size_t count, bool *refused) FP_MUST_CHECK;

#endif
