/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without: what a vital that counts would be without something that ran, and where that is counted.
 *
 * The bytes of a value that counts, in the database beside it: nothing unless its page load was
 * profiled; else a byte 1, and by timing of kind FP_TIMING_VITAL_WITHOUT its id and two bins,
 * big-endian. They count in bins only: the value in those of FP_TIMING_VITAL_PROFILED, and each
 * timing in three histograms. So do measures and responses, which no later value replaces.
 */
#ifndef FP_ROLLUP_WITHOUT_H
#define FP_ROLLUP_WITHOUT_H

#include "collector/rollup/addition.h"
#include "collector/rollup/rollup.h"

/* The histograms of one timing; the numbers of the bins of each begin at a multiple of BINS. */
enum fp_without_histogram {
    FP_WITHOUT_NOW, /* values as they are */
    FP_WITHOUT_GONE,
    FP_WITHOUT_HALF,
    FP_WITHOUT_HISTOGRAMS,
    FP_WITHOUT_BINS = 2048 /* above every bin of a value */
};

/* Makes the bytes of a vital of a delta. False: no memory. Takes room in the arena. */
bool fp_without_bytes(const struct fp_delta *delta, const struct fp_delta_vital *vital,
                      struct fp_arena *arena, struct fp_str *bytes) FP_MUST_CHECK;

/* Adds to the bins of what a count has in its bytes, or takes back (direction -1). Bytes of a later
 * version, or damaged ones, add nothing. False: no memory. */
bool fp_without_add(struct fp_rollup *rollup, const struct fp_vital_row *row,
                    const struct fp_vital_count *count, int direction) FP_MUST_CHECK;

/* Adds what the delta has of profiled measures and responses. These count for good. False: no
 * memory. */
bool fp_without_add_profiled(const struct fp_addition *add) FP_MUST_CHECK;

#endif
