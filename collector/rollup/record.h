/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record: the spool's payload for one request: the deltas of its uploads, which are counted
 * together or not at all. docs/internals/delta.md has the bytes.
 */
#ifndef FP_ROLLUP_RECORD_H
#define FP_ROLLUP_RECORD_H

#include "collector/rollup/delta.h"

/* Uploads of one request. */
#define FP_RECORD_DELTAS_MAX 64

/* Appends a delta to the bytes of a record; look at bytes->failed. Any thread. */
void fp_record_add(struct fp_buf *bytes, const struct fp_delta *delta);

/* Returns how many deltas the bytes hold, by their lengths alone; 0 if the lengths are invalid. Any
 * thread. */
size_t fp_record_count(const void *bytes, size_t len);

struct fp_record {
    struct fp_delta *deltas;
    size_t count; /* 1 to FP_RECORD_DELTAS_MAX */
};

/*
 * Reads all deltas or none, as fp_delta_decode does. Sets the record on success only. Any thread.
 */
enum fp_delta_error fp_record_decode(const void *bytes, size_t len, struct fp_arena *arena,
                                     struct fp_record *record) FP_MUST_CHECK;

#endif
