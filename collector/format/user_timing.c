/*
 * User timing: entries and maps become named values.
 */
#include "collector/format/user_timing.h"

#include "collector/base/hash.h"
#include "collector/base/map.h"
#include "collector/format/utf8.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Attributes of PerformanceTiming (Navigation Timing); mark() throws on them in a window. */
static const char *const navigation_names[] = {
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

bool fp_user_timing_is_map(yyjson_val *object)
{
    yyjson_obj_iter members = yyjson_obj_iter_with(object);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&members)) != NULL)
        if (!yyjson_is_arr(yyjson_obj_iter_get_val(key)))
            return false;
    return yyjson_obj_size(object) > 0;
}

static bool is_navigation_name(struct fp_str name)
{
    for (size_t i = 0; i < COUNT(navigation_names); i++)
        if (fp_str_equal(name, fp_str_of(navigation_names[i])))
            return true;
    return false;
}

/* Whether a mark may bear its name; place is where the name stands. */
static bool check_mark_name(struct fp_decoder *decoder, const struct fp_place *place,
                            struct fp_str name)
{
    if (fp_str_equal(decoder->profile->thread, FP_STR("worker")) || !is_navigation_name(name))
        return true;
    return fp_fail_at(decoder, FP_FORMAT_INVALID, place,
                      "a window's mark cannot be named like an attribute of performance.timing");
}

static struct fp_profile_timing *add_timing(struct fp_decoder *decoder, struct fp_str name,
                                            enum fp_timing_kind kind, int64_t value_us)
{
    struct fp_profile *profile = decoder->profile;
    struct fp_profile_timing *timing = &profile->timings[profile->timing_count++];
    *timing = (struct fp_profile_timing){.name = name, .kind = kind, .value_us = value_us};
    return timing;
}

/* PerformanceEntry objects. */

enum entry_field { ENTRY_NAME, ENTRY_TYPE, ENTRY_START, ENTRY_DURATION, ENTRY_FIELD_COUNT };

enum entry_kind { ENTRY_MARK = FP_TIMING_MARK, ENTRY_MEASURE = FP_TIMING_MEASURE, ENTRY_OTHER };

/* Reads entryType (*kind stays when it is another) and holds it against what may stand in this
 * array. */
static bool read_kind(struct fp_decoder *decoder, const struct fp_field *field,
                      enum fp_user_timing_allow allow, enum entry_kind *kind)
{
    if (!fp_read_required(decoder, field))
        return false;
    if (!yyjson_is_str(field->value))
        return fp_fail_field(decoder, field, "must be a string");
    if (yyjson_equals_str(field->value, "mark"))
        *kind = ENTRY_MARK;
    else if (yyjson_equals_str(field->value, "measure"))
        *kind = ENTRY_MEASURE;
    if (allow == FP_USER_TIMING_MARKS && *kind != ENTRY_MARK)
        return fp_fail_field(decoder, field,
                             "must be \"mark\" in marks; use entries for a mixture");
    if (allow == FP_USER_TIMING_MEASURES && *kind != ENTRY_MEASURE)
        return fp_fail_field(decoder, field,
                             "must be \"measure\" in measures; use entries for a mixture");
    return true;
}

static bool decode_mark(struct fp_decoder *decoder, const struct fp_field *fields,
                        struct fp_str name)
{
    int64_t start_us;
    double duration = 0;
    const struct fp_place name_place = fp_field_place(&fields[ENTRY_NAME]);
    if (!check_mark_name(decoder, &name_place, name) ||
        !fp_read_time(decoder, &fields[ENTRY_START], &start_us) ||
        !fp_read_number(decoder, &fields[ENTRY_DURATION], &duration))
        return false;
    if (duration < 0 || duration > 0)
        return fp_fail_field(decoder, &fields[ENTRY_DURATION], "of a mark must be 0");
    add_timing(decoder, name, FP_TIMING_MARK, start_us);
    return true;
}

static bool decode_measure(struct fp_decoder *decoder, const struct fp_field *fields,
                           struct fp_str name)
{
    int64_t start_us;
    int64_t duration_us;
    if (!fp_read_time(decoder, &fields[ENTRY_START], &start_us) ||
        !fp_read_time(decoder, &fields[ENTRY_DURATION], &duration_us))
        return false;
    struct fp_profile_timing *timing = add_timing(decoder, name, FP_TIMING_MEASURE, duration_us);
    timing->has_start = true;
    timing->start_us = start_us;
    return true;
}

static bool decode_entry(struct fp_decoder *decoder, const struct fp_field *fields,
                         enum fp_user_timing_allow allow)
{
    enum entry_kind kind = ENTRY_OTHER;
    if (!read_kind(decoder, &fields[ENTRY_TYPE], allow, &kind))
        return false;
    if (kind == ENTRY_OTHER) {
        decoder->profile->skipped_entries++;
        return true;
    }
    struct fp_str name;
    if (!fp_read_required(decoder, &fields[ENTRY_NAME]) ||
        !fp_read_text(decoder, &fields[ENTRY_NAME], &name))
        return false;
    return kind == ENTRY_MARK ? decode_mark(decoder, fields, name)
                              : decode_measure(decoder, fields, name);
}

static bool decode_entries(struct fp_decoder *decoder, const struct fp_user_timing_source *source)
{
    struct fp_place at = {.parent = source->place};
    struct fp_field fields[ENTRY_FIELD_COUNT] = {
        [ENTRY_NAME] = {.object = &at, .name = FP_STR("name")},
        [ENTRY_TYPE] = {.object = &at, .name = FP_STR("entryType")},
        [ENTRY_START] = {.object = &at, .name = FP_STR("startTime")},
        [ENTRY_DURATION] = {.object = &at, .name = FP_STR("duration")},
    };
    yyjson_arr_iter entries = yyjson_arr_iter_with(source->value);
    yyjson_val *entry;
    for (; (entry = yyjson_arr_iter_next(&entries)) != NULL; at.index++)
        if (!fp_read_object(decoder, &at, entry, fields, ENTRY_FIELD_COUNT) ||
            !decode_entry(decoder, fields, source->allow))
            return false;
    return true;
}

/* Maps of the 2012 draft. */

static bool decode_times(struct fp_decoder *decoder, const struct fp_place *place,
                         yyjson_val *times, struct fp_str name, enum fp_timing_kind kind)
{
    if (!yyjson_is_arr(times))
        return fp_fail_at(decoder, FP_FORMAT_INVALID, place,
                          "in a map of names, each name has an array of times in milliseconds");
    struct fp_place at = {.parent = place};
    yyjson_arr_iter iter = yyjson_arr_iter_with(times);
    yyjson_val *time;
    for (; (time = yyjson_arr_iter_next(&iter)) != NULL; at.index++) {
        int64_t time_us;
        if (!fp_read_time_at(decoder, &at, time, &time_us))
            return false;
        add_timing(decoder, name, kind, time_us);
    }
    return true;
}

static bool decode_name(struct fp_decoder *decoder, const struct fp_user_timing_source *source,
                        yyjson_val *key)
{
    enum fp_timing_kind kind =
        source->allow == FP_USER_TIMING_MEASURES ? FP_TIMING_MEASURE : FP_TIMING_MARK;
    const struct fp_str raw = {yyjson_get_str(key), yyjson_get_len(key)};
    const struct fp_place place = {.parent = source->place, .member = raw};
    struct fp_str name;
    if (!fp_utf8_copy(decoder->arena, raw, &name))
        return fp_fail_memory(decoder);
    if (kind == FP_TIMING_MARK && !check_mark_name(decoder, &place, name))
        return false;
    return decode_times(decoder, &place, yyjson_obj_iter_get_val(key), name, kind);
}

/* Lists an object's keys, each name once: the last of equal names wins. FP_INDEX_NONE: no memory.
 */
static uint32_t list_names(yyjson_val *object, yyjson_val **keys, struct fp_map *known)
{
    uint32_t count = 0;
    yyjson_obj_iter names = yyjson_obj_iter_with(object);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&names)) != NULL) {
        uint64_t hash = fp_hash64(yyjson_get_str(key), yyjson_get_len(key));
        uint32_t at = fp_map_put(known, hash, count);
        if (at == FP_MAP_NONE)
            return FP_INDEX_NONE;
        keys[at] = key;
        count += at == count;
    }
    return count;
}

static bool decode_map(struct fp_decoder *decoder, const struct fp_user_timing_source *source)
{
    size_t size = yyjson_obj_size(source->value);
    yyjson_val **keys = fp_arena_array(decoder->arena, size, sizeof(yyjson_val *));
    if (keys == NULL)
        return fp_fail_memory(decoder);
    struct fp_map known;
    fp_map_init(&known, size);
    uint32_t count = list_names(source->value, keys, &known);
    fp_map_release(&known);
    if (count == FP_INDEX_NONE)
        return fp_fail_memory(decoder);
    for (uint32_t i = 0; i < count; i++)
        if (!decode_name(decoder, source, keys[i]))
            return false;
    return true;
}

/* All sources. */

/* How many timings a source may give: the elements of an array, or of all a map's arrays; a name
 * without times counts as one. */
static size_t count_entries(yyjson_val *value)
{
    if (!yyjson_is_obj(value))
        return yyjson_arr_size(value);
    size_t count = 0;
    yyjson_obj_iter names = yyjson_obj_iter_with(value);
    yyjson_val *key;
    while ((key = yyjson_obj_iter_next(&names)) != NULL) {
        size_t times = yyjson_arr_size(yyjson_obj_iter_get_val(key));
        count += times > 0 ? times : 1;
    }
    return count;
}

static bool count_all(struct fp_decoder *decoder, const struct fp_user_timing_source *sources,
                      size_t source_count, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < source_count; i++) {
        *count += count_entries(sources[i].value);
        if (*count > decoder->limits->entries)
            return fp_fail_at(decoder, FP_FORMAT_TOO_LARGE, sources[i].place,
                              "more than %u marks, measures and other entries (limits.entries)",
                              (unsigned)decoder->limits->entries);
    }
    return true;
}

static bool decode_source(struct fp_decoder *decoder, const struct fp_user_timing_source *source)
{
    if (source->value == NULL)
        return true;
    if (yyjson_is_arr(source->value))
        return decode_entries(decoder, source);
    bool map_allowed = source->allow != FP_USER_TIMING_MIXED;
    if (map_allowed && yyjson_is_obj(source->value))
        return decode_map(decoder, source);
    return fp_fail_at(decoder, FP_FORMAT_INVALID, source->place,
                      map_allowed ? "this must be an array of performance entries, or a map "
                                    "{\"name\": [times in milliseconds]}"
                                  : "this must be an array of performance entries");
}

bool fp_user_timing_decode(struct fp_decoder *decoder, const struct fp_user_timing_source *sources,
                           size_t source_count)
{
    struct fp_profile *profile = decoder->profile;
    size_t count;
    if (!count_all(decoder, sources, source_count, &count))
        return false;
    profile->timings = fp_arena_array(decoder->arena, count, sizeof(*profile->timings));
    if (profile->timings == NULL)
        return fp_fail_memory(decoder);
    for (size_t i = 0; i < source_count; i++)
        if (!decode_source(decoder, &sources[i]))
            return false;
    return true;
}
