/*
 * Points: the moments of an upload that a measure without times of its own refers to by name, as
 * the arguments of performance.measure() do (User Timing, 2012 draft and Level 3).
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
    bool is_window; /* attributes of performance.timing are points, too */

    /* Where these attributes stand; value NULL: nowhere. */
    struct fp_place timing_place;
    yyjson_val *timing; /* performance.timing, epoch ms */
    const struct fp_place *entries_place;
    yyjson_val *entries; /* an array with an entry of type navigation, perhaps */

    /* Read when the first of them is asked for. */
    bool has_attributes;
    struct fp_place navigation_place;
    struct fp_field timing_fields[FP_POINTS_ATTRIBUTES];
    struct fp_field navigation_fields[FP_POINTS_ATTRIBUTES];
};

/* Makes room for mark_max marks in the decoder's arena. Release it, even after a failure. */
bool fp_points_init(struct fp_points *points, struct fp_decoder *decoder,
                    size_t mark_max) FP_MUST_CHECK;
void fp_points_release(struct fp_points *points);

/* The name of one of them, attribute < FP_POINTS_ATTRIBUTES. */
const char *fp_points_attribute(size_t attribute);

/* Whether a name is one of the 21 attributes of PerformanceTiming (Navigation Timing). */
bool fp_points_is_attribute(struct fp_str name);

/* A mark; the last one of a name is what it stands for. */
bool fp_points_add(struct fp_points *points, struct fp_decoder *decoder, struct fp_str name,
                   int64_t time_us) FP_MUST_CHECK;

/*
 * The time that a field names: that of the last mark of this name so far, or of an attribute of
 * performance.timing. Unchanged when the field is absent. Fails, at the field, when there is no
 * such mark, or when the attribute is 0 or unknown.
 */
bool fp_points_read(struct fp_points *points, struct fp_decoder *decoder,
                    const struct fp_field *field, int64_t *time_us) FP_MUST_CHECK;

/*
 * The latest of the attributes that have been (whose value is not 0), when *found: the page was at
 * least there when the upload was made. Fails, at the attribute, when one of them is no time.
 */
bool fp_points_find_last(struct fp_points *points, struct fp_decoder *decoder, bool *found,
                         int64_t *last_us) FP_MUST_CHECK;

#endif
