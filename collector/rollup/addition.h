/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addition: a delta on its way into the tables of a rollup.
 */
#ifndef FP_ROLLUP_ADDITION_H
#define FP_ROLLUP_ADDITION_H

#include "collector/rollup/rollup.h"

/* A delta, with what all its rows share. */
struct fp_addition {
    struct fp_rollup *rollup;
    const struct fp_delta *delta;
    int64_t site_id;
    int64_t segment_id;
    int64_t counted_us; /* when the upload counts */
    int64_t bucket_us;  /* the hour of that */
};

/* Returns the fact row of this upload's segment and bucket, zero and *added when it is new. NULL:
 * no room. */
void *fp_addition_put(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                      int64_t part, bool *added) FP_MUST_CHECK;

/* As fp_addition_put, for callers that treat a new row and an old one alike. */
void *fp_addition_fact(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                       int64_t part) FP_MUST_CHECK;

/* Returns the key of a fact of this upload's segment and bucket. */
struct fp_fact_key fp_addition_key(const struct fp_addition *add, uint64_t id, int64_t part);

enum { FP_ADDITION_BATCH = 16 };

/* Keys of one table that are looked up together: memory answers several reads at a time. */
struct fp_addition_batch {
    struct fp_rows *rows;
    uint32_t count;
    struct fp_fact_key keys[FP_ADDITION_BATCH];
    uint64_t hashes[FP_ADDITION_BATCH];
};

/* Begins a batch of `left` keys, or of as many as it holds. The caller sets the keys, calls
 * fp_addition_prefetch and then gets each row with fp_addition_put_batched. */
void fp_addition_begin_batch(struct fp_addition_batch *batch, uint32_t left);
void fp_addition_prefetch(const struct fp_addition *add, enum fp_rollup_table table,
                          struct fp_addition_batch *batch);

/* As fp_addition_put, for key number `index` of a batch. */
void *fp_addition_put_batched(struct fp_addition_batch *batch, uint32_t index,
                              bool *added) FP_MUST_CHECK;

/* Cuts a number to the range of the database's integer columns. */
static inline int32_t fp_addition_int32(uint64_t value)
{
    return value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

/* Copies a text into the rollup. False: no room. */
bool fp_addition_text(const struct fp_addition *add, struct fp_str text,
                      struct fp_str *copy) FP_MUST_CHECK;

/* Adds the id's dictionary row. *row is NULL if it exists or can be left out. False: no memory. */
bool fp_addition_name(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                      void **row) FP_MUST_CHECK;

/* True if the segment's dictionary row can be left out: it has this upload's time, or an earlier
 * one. */
bool fp_addition_knows_segment(const struct fp_addition *add);

/* Adds the dictionary row of a timing, which needs nothing but its id and texts. False: no room. */
bool fp_addition_timing_name(const struct fp_addition *add,
                             const struct fp_delta_timing *timing) FP_MUST_CHECK;

/* Adds the delta's vitals that may be sent again. False: no room. */
bool fp_addition_vitals(const struct fp_addition *add) FP_MUST_CHECK;

/* Adds what ran inside the delta's measures. False: no room. */
bool fp_addition_measures(const struct fp_addition *add) FP_MUST_CHECK;

/* Adds the rows of the delta's session. False: no room. */
bool fp_addition_session(const struct fp_addition *add) FP_MUST_CHECK;

#endif
