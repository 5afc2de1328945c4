/* SPDX-License-Identifier: Apache-2.0 */
/*
 * User timing: from entries and maps to named values.
 */
#include "collector/format/web/user_timing.h"

#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/base/map.h"
#include "collector/format/json.h"
#include "collector/format/utf8.h"
#include "collector/format/web/observed_entries.h"
#include "collector/format/web/user_timing_detail.h"
#include "collector/format/web/user_timing_points.h"

/* Times from 1973 to 2096 count as times since 1970, as those of the draft of 2011 are. No page is
 * open for the three years that they would be since its start. */
#define EPOCH_MIN_US (INT64_C(100000000) * FP_US_PER_S)
#define EPOCH_MAX_US (INT64_C(4000000000) * FP_US_PER_S)

/* Constants of the draft of 2011. */
enum { PERF_DEVELOPER_MARK = 2, PERF_DEVELOPER_MEASURE = 3 };

/* The state of decoding, source by source. */
struct decoding {
    struct fp_decoder *decoder;
    bool is_2011; /* entries have the shape of the draft of 2011 */
    const struct fp_user_timing_source *source;
    struct fp_points points;
    size_t timing_max; /* as many as all sources can give */

    /* Measures without an end. They end at the last moment that the upload knows of. */
    struct open_measure *open;
    uint32_t open_count;

    /* State of the current array, or of the current name in a map: */
    size_t index; /* of the current entry or time */
    bool has_mark;
    int64_t last_mark_us;
    struct fp_observed_entries observed;
};

struct open_measure {
    const struct fp_user_timing_source *source;
    size_t index;    /* of its entry */
    uint32_t timing; /* index into the profile's */
};

bool fp_user_timing_is_map(yyjson_val *object)
{
    yyjson_obj_iter members = yyjson_obj_iter_with(object);
    yyjson_val *key;
    bool has_array = false;
    while ((key = yyjson_obj_iter_next(&members)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (!yyjson_is_arr(value) && !yyjson_is_null(value))
            return false;
        has_array |= yyjson_is_arr(value);
    }
    return has_array;
}

/* Refuses a mark with the name of an attribute. place: of the name. */
static bool check_mark_name(struct decoding *decoding, const struct fp_place *place,
                            struct fp_str name)
{
    if (!decoding->points.is_window || !fp_points_is_attribute(name))
        return true;
    return fp_fail_at(decoding->decoder, FP_VERDICT_INVALID, place,
                      "a window's mark cannot be named like an attribute of performance.timing");
}

static struct fp_profile_timing *add_timing(struct decoding *decoding, struct fp_str name,
                                            enum fp_timing_kind kind, int64_t value_us)
{
    struct fp_profile *profile = decoding->decoder->profile;
    FP_ASSERT(profile->timing_count < decoding->timing_max);
    struct fp_profile_timing *timing = &profile->timings[profile->timing_count++];
    *timing = (struct fp_profile_timing){.name = name, .kind = kind, .value_us = value_us};
    return timing;
}

static bool is_epoch(int64_t time_us)
{
    return time_us >= EPOCH_MIN_US && time_us < EPOCH_MAX_US;
}

/* Makes a time since 1970 one since the page's start. */
static void make_relative(struct decoding *decoding, int64_t *time_us)
{
    struct fp_profile *profile = decoding->decoder->profile;
    if (!is_epoch(*time_us))
        return;
    *time_us -= decoding->points.origin_us;
    if (profile->epoch_times++ == 0)
        profile->first_epoch = decoding->index;
}

/* Adds a mark, and counts it if it is earlier than the one before: marks are listed in the order
 * they were made. */
static bool add_mark(struct decoding *decoding, struct fp_str name, int64_t time_us)
{
    struct fp_profile *profile = decoding->decoder->profile;
    make_relative(decoding, &time_us);
    bool is_late = decoding->has_mark && time_us < decoding->last_mark_us;
    if (is_late && profile->unordered_entries++ == 0)
        profile->first_unordered = decoding->index;
    decoding->has_mark = true;
    decoding->last_mark_us = time_us;
    add_timing(decoding, name, FP_TIMING_MARK, time_us);
    return fp_points_add(&decoding->points, decoding->decoder, name, time_us);
}

/* PerformanceEntry objects. */

enum entry_field {
    ENTRY_NAME,
    ENTRY_TYPE,
    ENTRY_START,
    ENTRY_DURATION,
    ENTRY_START_MARK,
    ENTRY_END_MARK,
    ENTRY_START_OPTION,
    ENTRY_END_OPTION,
    ENTRY_DETAIL,
    ENTRY_FIELD_COUNT
};

enum entry_kind { ENTRY_MARK = FP_TIMING_MARK, ENTRY_MEASURE = FP_TIMING_MEASURE, ENTRY_OTHER };

/* True for the arguments of a call of measure(), which are resolved here, instead of its entry. */
static bool is_without_times(const struct fp_field *fields)
{
    return fields[ENTRY_START].value == NULL && fields[ENTRY_DURATION].value == NULL;
}

/* True for a type by its name, or by its number in the draft of 2011. */
static bool is_type(yyjson_val *value, const char *name, uint64_t number)
{
    return yyjson_is_uint(value) ? yyjson_get_uint(value) == number
                                 : yyjson_equals_str(value, name);
}

/* Reads entryType, and checks that this array may have it. *kind is unchanged for another type. */
static bool read_kind(struct decoding *decoding, const struct fp_field *fields,
                      enum entry_kind *kind)
{
    struct fp_decoder *decoder = decoding->decoder;
    const struct fp_field *field = &fields[ENTRY_TYPE];
    enum fp_user_timing_allow allow = decoding->source->allow;
    if (field->value == NULL && allow == FP_USER_TIMING_MEASURES && is_without_times(fields)) {
        *kind = ENTRY_MEASURE;
        return true;
    }
    if (!fp_read_required(decoder, field))
        return false;
    if (!yyjson_is_str(field->value) && !yyjson_is_uint(field->value))
        return fp_fail_field(decoder, field, "must be a string");
    if (is_type(field->value, "mark", PERF_DEVELOPER_MARK))
        *kind = ENTRY_MARK;
    else if (is_type(field->value, "measure", PERF_DEVELOPER_MEASURE))
        *kind = ENTRY_MEASURE;
    if (allow == FP_USER_TIMING_MARKS && *kind != ENTRY_MARK)
        return fp_fail_field(decoder, field,
                             "must be \"mark\" in marks; use entries for a mixture");
    if (allow == FP_USER_TIMING_MEASURES && *kind != ENTRY_MEASURE)
        return fp_fail_field(decoder, field,
                             "must be \"measure\" in measures; use entries for a mixture");
    return true;
}

static bool decode_mark(struct decoding *decoding, const struct fp_field *fields,
                        struct fp_str name)
{
    struct fp_decoder *decoder = decoding->decoder;
    int64_t start_us;
    double duration = 0;
    const struct fp_place name_place = fp_field_place(&fields[ENTRY_NAME]);
    if (!check_mark_name(decoding, &name_place, name) ||
        !fp_read_time(decoder, &fields[ENTRY_START], &start_us) ||
        !fp_read_number(decoder, &fields[ENTRY_DURATION], &duration))
        return false;
    if (duration < 0 || duration > 0)
        return fp_fail_field(decoder, &fields[ENTRY_DURATION], "of a mark must be 0");
    return add_mark(decoding, name, start_us);
}

/* Sets the duration of a measure that names its start and end. place: of the measure. */
static bool end_measure(struct fp_decoder *decoder, const struct fp_place *place,
                        struct fp_profile_timing *timing, int64_t end_us)
{
    timing->value_us = end_us - timing->start_us;
    if (timing->value_us < 0)
        return fp_fail_at(decoder, FP_VERDICT_INVALID, place,
                          "this measure ends before it starts, a SyntaxError; as a "
                          "PerformanceEntry with startTime and duration it may");
    return timing->value_us <= FP_TIME_MAX_US ||
           fp_fail_at(decoder, FP_VERDICT_INVALID, place,
                      "this measure is longer than 2^53 microseconds");
}

/* Refuses an option of Level 3, a time or a name: ignoring it would silently mean its default. */
static bool check_no_option(struct fp_decoder *decoder, const struct fp_field *field)
{
    return field->value == NULL ||
           fp_fail_field(decoder, field,
                         "is an option of performance.measure(); name marks in startMark and "
                         "endMark, or give startTime and duration");
}

/* Reads where a measure starts: by default with the page, in the draft of 2011 at fetchStart. */
static bool read_start(struct decoding *decoding, const struct fp_field *field, int64_t *start_us)
{
    *start_us = 0;
    if (field->value == NULL && decoding->is_2011 && decoding->points.is_window)
        return fp_points_read_fetch_start(&decoding->points, decoding->decoder, field->object,
                                          start_us);
    return fp_points_read(&decoding->points, decoding->decoder, field, start_us);
}

/* Reads a measure that names its start and end. */
static bool resolve_measure(struct decoding *decoding, const struct fp_field *fields,
                            struct fp_str name)
{
    struct fp_decoder *decoder = decoding->decoder;
    const struct fp_place *place = fields[ENTRY_NAME].object;
    int64_t start_us = 0;
    int64_t end_us = 0;
    if (!check_no_option(decoder, &fields[ENTRY_START_OPTION]) ||
        !check_no_option(decoder, &fields[ENTRY_END_OPTION]) ||
        !read_start(decoding, &fields[ENTRY_START_MARK], &start_us) ||
        !fp_points_read(&decoding->points, decoder, &fields[ENTRY_END_MARK], &end_us))
        return false;
    struct fp_profile_timing *timing = add_timing(decoding, name, FP_TIMING_MEASURE, 0);
    timing->has_start = true;
    timing->start_us = start_us;
    if (fields[ENTRY_END_MARK].value != NULL)
        return end_measure(decoder, place, timing, end_us);
    decoding->open[decoding->open_count++] =
        (struct open_measure){decoding->source, place->index, decoder->profile->timing_count - 1};
    return true;
}

static bool decode_measure(struct decoding *decoding, const struct fp_field *fields,
                           struct fp_str name)
{
    int64_t start_us;
    int64_t duration_us;
    if (is_without_times(fields))
        return resolve_measure(decoding, fields, name);
    if (!fp_read_time(decoding->decoder, &fields[ENTRY_START], &start_us) ||
        !fp_read_time(decoding->decoder, &fields[ENTRY_DURATION], &duration_us))
        return false;
    make_relative(decoding, &start_us);
    struct fp_profile_timing *timing = add_timing(decoding, name, FP_TIMING_MEASURE, duration_us);
    timing->has_start = true;
    timing->start_us = start_us;
    return true;
}

/* Reads an entry that is neither mark nor measure, or skips and counts it. */
static bool decode_other(struct decoding *decoding, const struct fp_place *place, yyjson_val *entry)
{
    struct fp_decoder *decoder = decoding->decoder;
    bool taken;
    if (!fp_observed_entries_read(&decoding->observed, decoder, place, entry, &taken))
        return false;
    decoder->profile->observed_entries += taken;
    if (!taken && decoder->profile->skipped_entries++ == 0)
        decoder->profile->first_skipped = decoding->index;
    return true;
}

static bool decode_entry(struct decoding *decoding, const struct fp_field *fields,
                         yyjson_val *entry)
{
    struct fp_decoder *decoder = decoding->decoder;
    enum entry_kind kind = ENTRY_OTHER;
    if (!read_kind(decoding, fields, &kind))
        return false;
    if (kind == ENTRY_OTHER)
        return decode_other(decoding, fields[ENTRY_TYPE].object, entry);
    struct fp_str name;
    if (!fp_read_required(decoder, &fields[ENTRY_NAME]) ||
        !fp_read_text(decoder, &fields[ENTRY_NAME], &name))
        return false;
    struct fp_profile_timing *timing = &decoder->profile->timings[decoder->profile->timing_count];
    bool decoded = kind == ENTRY_MARK ? decode_mark(decoding, fields, name)
                                      : decode_measure(decoding, fields, name);
    return decoded && fp_timing_detail_read(decoder, fields[ENTRY_DETAIL].value, &timing->detail);
}

static bool decode_entries(struct decoding *decoding)
{
    struct fp_place at = {.parent = decoding->source->place};
    struct fp_field fields[ENTRY_FIELD_COUNT] = {
        [ENTRY_NAME] = {.object = &at, .name = FP_STR("name")},
        [ENTRY_TYPE] = {.object = &at, .name = FP_STR("entryType")},
        [ENTRY_START] = {.object = &at, .name = FP_STR("startTime")},
        [ENTRY_DURATION] = {.object = &at, .name = FP_STR("duration")},
        [ENTRY_START_MARK] = {.object = &at, .name = FP_STR("startMark")},
        [ENTRY_END_MARK] = {.object = &at, .name = FP_STR("endMark")},
        [ENTRY_START_OPTION] = {.object = &at, .name = FP_STR("start")},
        [ENTRY_END_OPTION] = {.object = &at, .name = FP_STR("end")},
        [ENTRY_DETAIL] = {.object = &at, .name = FP_STR("detail")},
    };
    decoding->has_mark = false;
    yyjson_arr_iter entries = yyjson_arr_iter_with(decoding->source->value);
    yyjson_val *entry;
    for (; (entry = yyjson_arr_iter_next(&entries)) != NULL; at.index++) {
        decoding->index = at.index;
        if (!fp_read_object(decoding->decoder, &at, entry, fields, ENTRY_FIELD_COUNT) ||
            !decode_entry(decoding, fields, entry))
            return false;
    }
    return true;
}

/* Maps of the 2012 draft. */

static bool add_value(struct decoding *decoding, struct fp_str name, enum fp_timing_kind kind,
                      int64_t value_us)
{
    if (kind == FP_TIMING_MARK)
        return add_mark(decoding, name, value_us);
    add_timing(decoding, name, kind, value_us);
    return true;
}

static bool decode_times(struct decoding *decoding, const struct fp_place *place, yyjson_val *times,
                         struct fp_str name)
{
    enum fp_timing_kind kind =
        decoding->source->allow == FP_USER_TIMING_MEASURES ? FP_TIMING_MEASURE : FP_TIMING_MARK;
    if (kind == FP_TIMING_MARK && !check_mark_name(decoding, place, name))
        return false;
    if (!yyjson_is_arr(times))
        return fp_fail_at(decoding->decoder, FP_VERDICT_INVALID, place,
                          "in a map of names, each name has an array of times in milliseconds");
    struct fp_place at = {.parent = place};
    decoding->has_mark = false;
    yyjson_arr_iter iter = yyjson_arr_iter_with(times);
    yyjson_val *time;
    for (; (time = yyjson_arr_iter_next(&iter)) != NULL; at.index++) {
        int64_t time_us;
        decoding->index = at.index;
        if (!fp_read_time_at(decoding->decoder, &at, time, &time_us) ||
            !add_value(decoding, name, kind, time_us))
            return false;
    }
    return true;
}

static bool decode_name(struct decoding *decoding, yyjson_val *key)
{
    if (yyjson_is_null(yyjson_obj_iter_get_val(key)))
        return true; /* the same as absent */
    const struct fp_str raw = {yyjson_get_str(key), yyjson_get_len(key)};
    const struct fp_place place = {.parent = decoding->source->place, .member = raw};
    struct fp_str name;
    if (!fp_utf8_copy(decoding->decoder->arena, raw, &name))
        return fp_fail_memory(decoding->decoder);
    return decode_times(decoding, &place, yyjson_obj_iter_get_val(key), name);
}

/* Lists an object's keys, each name once: the last of equal names wins. Returns their number,
 * FP_INDEX_NONE when memory is out. */
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

static bool decode_map(struct decoding *decoding)
{
    struct fp_decoder *decoder = decoding->decoder;
    yyjson_val *names = decoding->source->value;
    size_t size = yyjson_obj_size(names);
    yyjson_val **keys = fp_arena_array(decoder->arena, size, sizeof(yyjson_val *));
    if (keys == NULL)
        return fp_fail_memory(decoder);
    struct fp_map known;
    fp_map_init(&known, size);
    uint32_t count = list_names(names, keys, &known);
    fp_map_release(&known);
    if (count == FP_INDEX_NONE)
        return fp_fail_memory(decoder);
    for (uint32_t i = 0; i < count; i++)
        if (!decode_name(decoding, keys[i]))
            return false;
    return true;
}

/* All sources. */

/* Returns how many timings a source can give: the elements of an array or of all arrays in a map. A
 * name without times counts as one. */
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
            return fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, sources[i].place,
                              "more than %u marks, measures and other entries (limits.entries)",
                              (unsigned)decoder->limits->entries);
    }
    return true;
}

static bool decode_source(struct decoding *decoding, const struct fp_user_timing_source *source)
{
    decoding->source = source;
    if (source->value == NULL)
        return true;
    if (yyjson_is_arr(source->value)) {
        fp_observed_entries_init(&decoding->observed, yyjson_arr_size(source->value));
        bool decoded =
            decode_entries(decoding) &&
            fp_observed_entries_finish(&decoding->observed, decoding->decoder, source->place);
        fp_observed_entries_release(&decoding->observed);
        return decoded;
    }
    bool map_allowed = source->allow != FP_USER_TIMING_MIXED;
    if (map_allowed && yyjson_is_obj(source->value))
        return decode_map(decoding);
    return fp_fail_at(decoding->decoder, FP_VERDICT_INVALID, source->place,
                      map_allowed ? "this must be an array of performance entries, or a map "
                                    "{\"name\": [times in milliseconds]}"
                                  : "this must be an array of performance entries");
}

/* The draft of 2011. */

/* Takes a time into account that may be since 1970. */
static void find_epoch(struct decoding *decoding, yyjson_val *value)
{
    struct fp_points *points = &decoding->points;
    int64_t time_us;
    if (!fp_time_of(value, &time_us) || !is_epoch(time_us))
        return;
    if (!points->has_origin || time_us < points->origin_us)
        points->origin_us = time_us;
    points->has_origin = true;
}

static void find_epochs(struct decoding *decoding, const struct fp_user_timing_source *source)
{
    yyjson_arr_iter entries = yyjson_arr_iter_with(source->value);
    yyjson_val *entry;
    while ((entry = yyjson_arr_iter_next(&entries)) != NULL) {
        decoding->is_2011 |= yyjson_is_num(fp_json_member(entry, FP_STR("entryType")));
        find_epoch(decoding, fp_json_member(entry, FP_STR("startTime")));
    }
    yyjson_obj_iter names = yyjson_obj_iter_with(source->value);
    yyjson_val *key;
    while (source->allow == FP_USER_TIMING_MARKS && (key = yyjson_obj_iter_next(&names)) != NULL) {
        entries = yyjson_arr_iter_with(yyjson_obj_iter_get_val(key));
        while ((entry = yyjson_arr_iter_next(&entries)) != NULL)
            find_epoch(decoding, entry);
    }
}

/* Finds whether the upload has the shape of the draft of 2011, with numbers as entryType or times
 * since 1970, and what these are relative to: navigationStart or, without it, the earliest. */
static void find_shape(struct decoding *decoding, const struct fp_user_timing_source *sources,
                       size_t source_count)
{
    struct fp_points *points = &decoding->points;
    int64_t start_us;
    for (size_t i = 0; i < source_count; i++)
        find_epochs(decoding, &sources[i]);
    decoding->is_2011 |= points->has_origin;
    yyjson_val *start = fp_json_member(points->timing, FP_STR("navigationStart"));
    bool has_start = fp_time_of(start, &start_us) && is_epoch(start_us);
    decoding->decoder->profile->is_since_first_epoch = points->has_origin && !has_start;
    if (points->has_origin && has_start)
        points->origin_us = start_us;
}

/* Decodes all sources, those with marks first: measures may name marks. */
static bool decode_sources(struct decoding *decoding, const struct fp_user_timing_source *sources,
                           size_t source_count)
{
    for (size_t i = 0; i < source_count; i++)
        if (sources[i].allow != FP_USER_TIMING_MEASURES && !decode_source(decoding, &sources[i]))
            return false;
    for (size_t i = 0; i < source_count; i++)
        if (sources[i].allow == FP_USER_TIMING_MEASURES && !decode_source(decoding, &sources[i]))
            return false;
    return true;
}

/* Ends of measures. */

static void set_later(int64_t time_us, bool *found, int64_t *now_us)
{
    if (!*found || time_us > *now_us)
        *now_us = time_us;
    *found = true;
}

static bool is_open(const struct decoding *decoding, uint32_t timing, uint32_t *next)
{
    if (*next == decoding->open_count || decoding->open[*next].timing != timing)
        return false;
    ++*next;
    return true;
}

/* Finds the last moment that the upload knows of: a sample, a mark, the end of a measure, or an
 * attribute of performance.timing. */
static bool find_now(struct decoding *decoding, bool *found, int64_t *now_us)
{
    const struct fp_profile *profile = decoding->decoder->profile;
    uint32_t next_open = 0;
    if (!fp_points_find_last(&decoding->points, decoding->decoder, found, now_us))
        return false;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        set_later(profile->samples[i].time_us, found, now_us);
    for (uint32_t i = 0; i < profile->timing_count; i++) {
        const struct fp_profile_timing *timing = &profile->timings[i];
        bool is_timed = timing->kind == FP_TIMING_MARK || timing->has_start;
        if (!is_open(decoding, i, &next_open) && is_timed)
            set_later(timing->start_us + timing->value_us, found, now_us);
    }
    return true;
}

static bool close_measures(struct decoding *decoding)
{
    struct fp_decoder *decoder = decoding->decoder;
    bool found;
    int64_t now_us = 0;
    if (decoding->open_count == 0)
        return true;
    if (!find_now(decoding, &found, &now_us))
        return false;
    for (uint32_t i = 0; i < decoding->open_count; i++) {
        const struct open_measure *open = &decoding->open[i];
        const struct fp_place place = {.parent = open->source->place, .index = open->index};
        if (!found)
            return fp_fail_at(decoder, FP_VERDICT_INVALID, &place,
                              "endMark is missing, and nothing in the upload tells the time");
        if (!end_measure(decoder, &place, &decoder->profile->timings[open->timing], now_us))
            return false;
    }
    return true;
}

static bool allocate(struct decoding *decoding, size_t count)
{
    struct fp_decoder *decoder = decoding->decoder;
    struct fp_profile *profile = decoder->profile;
    profile->timings = fp_arena_array(decoder->arena, count, sizeof(*profile->timings));
    decoding->timing_max = count;
    decoding->open = fp_arena_array(decoder->arena, count, sizeof(*decoding->open));
    if (profile->timings == NULL || decoding->open == NULL)
        return fp_fail_memory(decoder);
    return fp_points_init(&decoding->points, decoder, count);
}

bool fp_user_timing_decode(struct fp_decoder *decoder, const struct fp_user_timing_source *sources,
                           size_t source_count, const struct fp_field *timing)
{
    struct decoding decoding = {.decoder = decoder};
    size_t count;
    if (!count_all(decoder, sources, source_count, &count))
        return false;
    decoding.points.is_window = !fp_str_equal(decoder->profile->said.thread, FP_STR("worker"));
    if (timing != NULL) {
        decoding.points.timing_place = fp_field_place(timing);
        decoding.points.timing = timing->value;
    }
    for (size_t i = 0; i < source_count; i++) {
        if (sources[i].allow != FP_USER_TIMING_MIXED)
            continue;
        decoding.points.entries = sources[i].value;
        decoding.points.entries_place = sources[i].place;
    }
    find_shape(&decoding, sources, source_count);
    bool decoded = allocate(&decoding, count) && decode_sources(&decoding, sources, source_count) &&
                   close_measures(&decoding);
    fp_points_release(&decoding.points);
    return decoded;
}
