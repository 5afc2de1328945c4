/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points: the moments of an upload that a measure can name as its start and end, like the arguments
 * of performance.measure() (User Timing, 2012 draft and Level 3).
 */
#ifndef FP_FORMAT_WEB_USER_TIMING_POINTS_H
#define FP_FORMAT_WEB_USER_TIMING_POINTS_H

#include "collector/base/map.h"
#include "collector/format/decoder.h"

/* The attributes of PerformanceTiming (Navigation Timing); navigationStart is the first. */
enum { FP_POINTS_ATTRIBUTES = 21 };

struct fp_points {
    struct fp_map marks; /* from a name's hash to an index into times_us */
    int64_t *times_us;   /* of the last mark of each name so far */
    uint32_t count;
    bool is_window; /* attributes of performance.timing are also points */

    /* The page's start, epoch, if the upload has times since 1970 (the draft of 2011). */
    bool has_origin;
    int64_t origin_us;

    /* Where to find the attributes; a value may be NULL. */
    struct fp_place timing_place;
    yyjson_val *timing; /* performance.timing, epoch ms */
    const struct fp_place *entries_place;
    yyjson_val *entries; /* an array that may have an entry of type navigation */

    /* Read when the first of them is needed. */
    bool has_attributes;
    struct fp_place navigation_place;
    struct fp_field timing_fields[FP_POINTS_ATTRIBUTES];
    struct fp_field navigation_fields[FP_POINTS_ATTRIBUTES];
};

/* Allocates room for mark_max marks. The caller releases the points even if this fails. */
bool fp_points_init(struct fp_points *points, struct fp_decoder *decoder,
                    size_t mark_max) FP_MUST_CHECK;
void fp_points_release(struct fp_points *points);

/* Returns the name of an attribute, which is below FP_POINTS_ATTRIBUTES. */
const char *fp_points_attribute(size_t attribute);

/* True if a name is one of the 21 attributes of PerformanceTiming (Navigation Timing). */
bool fp_points_is_attribute(struct fp_str name);

/* Adds a mark. It replaces an earlier one of the same name. */
bool fp_points_add(struct fp_points *points, struct fp_decoder *decoder, struct fp_str name,
                   int64_t time_us) FP_MUST_CHECK;

/*
 * Reads the time that a field names: that of the last mark of this name so far, or of an attribute
 * of performance.timing. Absent: *time_us is unchanged. Fails, at the field, if there is no such
 * mark, or if the attribute is 0 or unknown.
 */
bool fp_points_read(struct fp_points *points, struct fp_decoder *decoder,
                    const struct fp_field *field, int64_t *time_us) FP_MUST_CHECK;

/* Reads the attribute fetchStart. Fails at the place if it is 0 or unknown. */
bool fp_points_read_fetch_start(struct fp_points *points, struct fp_decoder *decoder,
                                const struct fp_place *place, int64_t *time_us) FP_MUST_CHECK;

/*
 * Finds the latest attribute that happened (its value is not 0); *found: there is one. The upload
 * was made no earlier. Fails, at the attribute, if one of them is not a time.
 */
bool fp_points_find_last(struct fp_points *points, struct fp_decoder *decoder, bool *found,
                         int64_t *last_us) FP_MUST_CHECK;

#endif
