/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept: the ceilings on what is kept whole, per site and for all sites together, in bytes per hour.
 *
 * Kept bytes are about what a session takes in the database: its compressed content, its vector,
 * and its events with their details. Hours are UTC hours by this collector's clock. Each level
 * knows what this collector has kept in the hour and, since the last exchange with the database,
 * what the others have. Any thread.
 */
#ifndef FP_INGEST_KEPT_H
#define FP_INGEST_KEPT_H

#include "collector/base/base.h"
#include "collector/rollup/delta.h"

/* The kept bytes of one site, or of all. */
struct fp_kept;

/* Makes an empty level with one reference. NULL when out of memory. */
struct fp_kept *fp_kept_create(void) FP_MUST_CHECK;

/* Add and drop a reference; dropping the last one frees the level. NULL is fine. */
struct fp_kept *fp_kept_ref(struct fp_kept *kept);
void fp_kept_unref(struct fp_kept *kept);

/* Returns the kept bytes of an upload with a session, whose content is compressed. */
uint64_t fp_kept_size(const struct fp_delta *delta) FP_MUST_CHECK;

/* A level and the most that it may reach in an hour. */
struct fp_kept_ceiling {
    struct fp_kept *kept;
    uint64_t most;
    struct fp_str site;  /* for the log; "" for all sites */
    const char *setting; /* for the log */
};

/* True if the level has reached its ceiling in this hour. */
bool fp_kept_is_full(const struct fp_kept_ceiling *ceiling, int64_t hour) FP_MUST_CHECK;

/* Adds bytes to the level. False if it would exceed the ceiling: then nothing is added. */
bool fp_kept_take(const struct fp_kept_ceiling *ceiling, int64_t hour,
                  uint64_t bytes) FP_MUST_CHECK;

/* Logs once per hour that the ceiling is reached. */
void fp_kept_log(const struct fp_kept_ceiling *ceiling, int64_t hour);

/* Takes back what was added in that hour. */
void fp_kept_return(struct fp_kept *kept, int64_t hour, uint64_t bytes);

/* Returns what this collector has kept in the hour. */
uint64_t fp_kept_own(struct fp_kept *kept, int64_t hour) FP_MUST_CHECK;

/* Learns what the database knows of the hour: this collector's share, which is more than its own
 * count after a restart, and what others have kept. */
void fp_kept_learn(struct fp_kept *kept, int64_t hour, uint64_t own, uint64_t others);

/* The bytes that a request has taken. */
struct fp_kept_charge {
    struct fp_kept *site; /* those of the rules that the request holds; NULL: without ceilings */
    struct fp_kept *all;
    int64_t hour;
    uint64_t bytes;
};

/* Takes it back: nothing of the request is stored. */
void fp_kept_refund(struct fp_kept_charge *charge);

/* A request's uploads that are counted, but not kept whole, because a ceiling is reached. */
struct fp_not_kept {
    size_t uploads;
    size_t sessions; /* of these, of formats that are always kept */
};

#endif
