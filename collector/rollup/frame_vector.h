/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame vector: on which functions a kept upload spent its time, as a whole and inside its windows.
 * The database has it beside the session, and compares kept page loads by it. Pure functions; any
 * thread.
 */
#ifndef FP_ROLLUP_FRAME_VECTOR_H
#define FP_ROLLUP_FRAME_VECTOR_H

#include "collector/rollup/delta.h"

enum {
    FP_VECTOR_TOP = 50, /* of the frames of an upload, or of a window, those with the most */
    FP_VECTOR_ENTRIES_MAX = 500, /* windows that would exceed it are left out */
    FP_VECTOR_FRAMES_MAX = 128,
};

struct fp_frame_vector_entry {
    uint64_t timing_id; /* of a measure or window, 0: the whole upload */
    uint64_t frame_id;
    int64_t self_us; /* above 0 */
};

struct fp_frame_vector {
    struct fp_frame_vector_entry entries[FP_VECTOR_ENTRIES_MAX];
    uint64_t frame_ids[FP_VECTOR_FRAMES_MAX]; /* those anywhere on stacks for the longest */
    uint32_t entry_count;
    uint32_t frame_count;
};

/* Fills in the vector of an upload. Of windows it takes the frames that have time in this upload:
 * what ran in earlier parts of the page load is not in its trace. */
void fp_frame_vector_fill(const struct fp_delta *delta, struct fp_frame_vector *vector);

/* Returns the bytes of a vector in the database. */
uint64_t fp_frame_vector_bytes(const struct fp_frame_vector *vector) FP_MUST_CHECK;

#endif
