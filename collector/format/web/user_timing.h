/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User timing: marks and measures, as PerformanceEntry objects (Performance Timeline, User Timing
 * Level 3) or as the maps {"name": [times…]} of the 2012 draft.
 */
#ifndef FP_FORMAT_WEB_USER_TIMING_H
#define FP_FORMAT_WEB_USER_TIMING_H

#include "collector/format/decoder.h"

/* One of the places of an upload that may have timings. */
struct fp_user_timing_source {
    const struct fp_place *place; /* NULL: the whole document */
    yyjson_val *value;            /* NULL: absent */
    enum fp_user_timing_allow {
        FP_USER_TIMING_MARKS,    /* entries of type mark, or a map of start times */
        FP_USER_TIMING_MEASURES, /* entries of type measure, or a map of durations */
        FP_USER_TIMING_MIXED,    /* entries of any type; other than those two are skipped */
    } allow;
};

/* True if an object looks like a map of the 2012 draft: not empty, and all members are arrays. */
bool fp_user_timing_is_map(yyjson_val *object);

/*
 * Decodes all sources into profile->timings, and counts skipped entries in
 * profile->skipped_entries. Needs profile->said.thread (a window's mark may not have the name of a
 * PerformanceTiming attribute) and the samples of the trace. timing: performance.timing, whose
 * attributes measures may name; NULL: absent.
 */
bool fp_user_timing_decode(struct fp_decoder *decoder, const struct fp_user_timing_source *sources,
                           size_t source_count, const struct fp_field *timing) FP_MUST_CHECK;

#endif
