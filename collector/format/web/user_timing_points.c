/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points: marks by name, and attributes of performance.timing or of a navigation entry.
 */
#include "collector/format/web/user_timing_points.h"

#include "collector/base/assert.h"
#include "collector/base/hash.h"

/* In a window, mark() throws for these names. */
static const char *const attributes[FP_POINTS_ATTRIBUTES] = {
    "navigationStart",
    "unloadEventStart",
    "unloadEventEnd",
    "redirectStart",
    "redirectEnd",
    "fetchStart",
    "domainLookupStart",
    "domainLookupEnd",
    "connectStart",
    "connectEnd",
    "secureConnectionStart",
    "requestStart",
    "responseStart",
    "responseEnd",
    "domLoading",
    "domInteractive",
    "domContentLoadedEventStart",
    "domContentLoadedEventEnd",
    "domComplete",
    "loadEventStart",
    "loadEventEnd",
};

const char *fp_points_attribute(size_t attribute)
{
    FP_ASSERT(attribute < FP_POINTS_ATTRIBUTES);
    return attributes[attribute];
}

/* Returns FP_POINTS_ATTRIBUTES for a name that is not an attribute. */
static size_t attribute_of(struct fp_str name)
{
    size_t attribute = 0;
    while (attribute < FP_POINTS_ATTRIBUTES &&
           !fp_str_equal(name, fp_str_of(attributes[attribute])))
        attribute++;
    return attribute;
}

bool fp_points_is_attribute(struct fp_str name)
{
    return attribute_of(name) < FP_POINTS_ATTRIBUTES;
}

bool fp_points_init(struct fp_points *points, struct fp_decoder *decoder, size_t mark_max)
{
    fp_map_init(&points->marks, mark_max);
    points->times_us = fp_arena_array(decoder->arena, mark_max, sizeof(*points->times_us));
    return points->times_us != NULL || fp_fail_memory(decoder);
}

void fp_points_release(struct fp_points *points)
{
    fp_map_release(&points->marks);
}

bool fp_points_add(struct fp_points *points, struct fp_decoder *decoder, struct fp_str name,
                   int64_t time_us)
{
    uint32_t at = fp_map_put(&points->marks, fp_hash64(name.ptr, name.len), points->count);
    if (at == FP_MAP_NONE)
        return fp_fail_memory(decoder);
    FP_ASSERT(at <= points->count);
    points->count += at == points->count;
    points->times_us[at] = time_us;
    return true;
}

/* Reads an object's attributes; the object may be NULL. */
static bool read_fields(struct fp_decoder *decoder, const struct fp_place *place,
                        yyjson_val *object, struct fp_field fields[FP_POINTS_ATTRIBUTES])
{
    for (size_t i = 0; i < FP_POINTS_ATTRIBUTES; i++)
        fields[i] = (struct fp_field){.object = place, .name = fp_str_of(attributes[i])};
    return object == NULL || fp_read_object(decoder, place, object, fields, FP_POINTS_ATTRIBUTES);
}

/* True for an entry of type navigation. Of several members the last counts, as elsewhere. */
static bool is_navigation(struct fp_decoder *decoder, const struct fp_place *place,
                          yyjson_val *entry)
{
    struct fp_field type = {.object = place, .name = FP_STR("entryType")};
    return yyjson_is_obj(entry) && fp_read_object(decoder, place, entry, &type, 1) &&
           yyjson_equals_str(type.value, "navigation");
}

/* Returns the first entry of type navigation and its place, NULL if there is none. */
static yyjson_val *find_navigation(const struct fp_points *points, struct fp_decoder *decoder,
                                   struct fp_place *place)
{
    *place = (struct fp_place){.parent = points->entries_place};
    yyjson_arr_iter entries = yyjson_arr_iter_with(points->entries);
    yyjson_val *entry;
    for (; (entry = yyjson_arr_iter_next(&entries)) != NULL; place->index++)
        if (is_navigation(decoder, place, entry))
            return entry;
    return NULL;
}

static bool read_attributes(struct fp_points *points, struct fp_decoder *decoder)
{
    if (points->has_attributes)
        return true;
    points->has_attributes = true;
    yyjson_val *navigation = find_navigation(points, decoder, &points->navigation_place);
    return read_fields(decoder, &points->timing_place, points->timing, points->timing_fields) &&
           read_fields(decoder, &points->navigation_place, navigation, points->navigation_fields);
}

/* An attribute in an upload. */
struct moment {
    bool is_known;
    bool lacks_start; /* unknown only because timing has no navigationStart */
    bool happened;    /* its value is not 0 */
    int64_t time_us;  /* since the page's start, if it happened */
};

/* Reads the page's start, since 1970. True if it is known, or after the error is filled. */
static bool find_start(const struct fp_points *points, struct fp_decoder *decoder, bool *is_valid,
                       int64_t *start_us)
{
    const struct fp_field *start = &points->timing_fields[0];
    *is_valid = true;
    *start_us = points->origin_us;
    if (start->value == NULL)
        return points->has_origin;
    *is_valid = fp_read_time(decoder, start, start_us);
    return true;
}

/* Reads an attribute. Times in performance.timing are since 1970, and its navigationStart is the
 * page's start; times in a navigation entry are since the page's start, like those of marks. */
static bool read_moment(struct fp_points *points, struct fp_decoder *decoder, size_t attribute,
                        struct moment *moment)
{
    int64_t start_us = 0;
    bool is_valid = true;
    FP_ASSERT(attribute < FP_POINTS_ATTRIBUTES);
    if (!read_attributes(points, decoder))
        return false;
    const struct fp_field *source = &points->timing_fields[attribute];
    bool is_timed = source->value != NULL;
    bool has_start = is_timed && find_start(points, decoder, &is_valid, &start_us);
    if (!is_valid)
        return false;
    if (!has_start)
        source = &points->navigation_fields[attribute];
    *moment = (struct moment){.is_known = source->value != NULL, .lacks_start = is_timed};
    if (!moment->is_known)
        return true;
    if (!fp_read_time(decoder, source, &moment->time_us))
        return false;
    moment->happened = moment->time_us != 0;
    moment->time_us -= start_us;
    return true;
}

static bool read_attribute(struct fp_points *points, struct fp_decoder *decoder,
                           const struct fp_field *field, size_t attribute, int64_t *time_us)
{
    struct moment moment;
    *time_us = 0;
    if (attribute == 0)
        return true;
    if (!read_moment(points, decoder, attribute, &moment))
        return false;
    if (!moment.is_known && moment.lacks_start)
        return fp_fail_field(decoder, field,
                             "is an attribute of performance.timing, whose times count from "
                             "navigationStart; timing has none");
    if (!moment.is_known)
        return fp_fail_field(decoder, field,
                             "is an attribute of performance.timing, which neither timing nor a "
                             "navigation entry of this upload has");
    if (!moment.happened)
        return fp_fail_field(decoder, field,
                             "is an attribute of performance.timing whose value is 0: an "
                             "InvalidAccessError");
    *time_us = moment.time_us;
    return true;
}

bool fp_points_read_fetch_start(struct fp_points *points, struct fp_decoder *decoder,
                                const struct fp_place *place, int64_t *time_us)
{
    struct moment moment;
    const size_t attribute = attribute_of(FP_STR("fetchStart"));
    if (!read_moment(points, decoder, attribute, &moment))
        return false;
    *time_us = moment.time_us;
    return (moment.is_known && moment.happened) ||
           fp_fail_at(decoder, FP_VERDICT_INVALID, place,
                      "this measure has no startMark and starts at fetchStart, as in the draft of "
                      "2011; neither timing nor a navigation entry of this upload has that");
}

bool fp_points_find_last(struct fp_points *points, struct fp_decoder *decoder, bool *found,
                         int64_t *last_us)
{
    *found = false;
    for (size_t i = 1; points->is_window && i < FP_POINTS_ATTRIBUTES; i++) {
        struct moment moment;
        if (!read_moment(points, decoder, i, &moment))
            return false;
        if (!moment.happened || (*found && moment.time_us <= *last_us))
            continue;
        *found = true;
        *last_us = moment.time_us;
    }
    return true;
}

bool fp_points_read(struct fp_points *points, struct fp_decoder *decoder,
                    const struct fp_field *field, int64_t *time_us)
{
    struct fp_str name = FP_STR("");
    if (field->value == NULL)
        return true;
    if (!fp_read_text(decoder, field, &name))
        return false;
    size_t attribute = attribute_of(name);
    if (points->is_window && attribute < FP_POINTS_ATTRIBUTES)
        return read_attribute(points, decoder, field, attribute, time_us);
    uint32_t at = fp_map_get(&points->marks, fp_hash64(name.ptr, name.len));
    if (at == FP_MAP_NONE)
        return fp_fail_field(decoder, field, "does not name a mark before it: a SyntaxError");
    *time_us = points->times_us[at];
    return true;
}
