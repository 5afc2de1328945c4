/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: fills stacks from the database.
 *
 * Each prints an error and returns false on failure. is_empty: the database has nothing of it; the
 * reason is printed. One thread.
 */
#ifndef FP_CLI_EXPORT_SOURCE_H
#define FP_CLI_EXPORT_SOURCE_H

#include "cli/ask/analysis.h"
#include "cli/ask/comparison.h"
#include "cli/export/stacks.h"

/* Reads all that the filters select, as one track. */
bool fp_export_read_aggregate(const struct fp_analysis *analysis, struct fp_export_stacks *stacks,
                              bool *is_empty) FP_MUST_CHECK;

/*
 * Reads both sides of a comparison as two tracks, the earlier one first, each in the hours that
 * `compare` takes. Times and samples of the earlier side are scaled to the page loads of the later
 * one. before, after: releases, NULL when not given; fold as in struct fp_analysis.
 */
struct fp_export_sides {
    const struct fp_comparison *comparison;
    const char *before;
    const char *after;
    const char *fold;
};
bool fp_export_read_comparison(const struct fp_export_sides *sides, struct fp_export_stacks *stacks,
                               bool *is_empty) FP_MUST_CHECK;

/* Reads a kept session in the order of time, with its marks, measures and vitals; of a Speed Tracer
 * dump, if asked, the sums of its JavaScript profile instead. */
bool fp_export_read_session(PGconn *connection, const char *session_id, bool of_js_profile,
                            struct fp_export_stacks *stacks) FP_MUST_CHECK;

/* Reads the JavaScript profile of a Speed Tracer dump, depth first. */
bool fp_export_read_js_profile(PGconn *connection, const char *session_id,
                               struct fp_export_stacks *stacks) FP_MUST_CHECK;

/* Reads the events of a kept session, a track per timeline. */
bool fp_export_read_events(PGconn *connection, const char *session_id,
                           struct fp_export_stacks *stacks) FP_MUST_CHECK;

/* Counts the profiled page loads that the filters select; prints an error and returns false on
 * failure. */
bool fp_export_read_loads(const struct fp_analysis *analysis, int64_t *loads) FP_MUST_CHECK;

/*
 * Adds a track with what the filters select: each stack's own time and samples, depth first, one
 * after the other, and `(unattributed)`. scale: what times and samples are multiplied by. Their sum
 * is exact. NULL: failed.
 */
struct fp_export_track *fp_export_read_track(const struct fp_analysis *analysis, struct fp_str name,
                                             double scale,
                                             struct fp_export_stacks *stacks) FP_MUST_CHECK;

#endif
