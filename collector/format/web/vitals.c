/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals: reads names and values, and where the window of each is.
 *
 * A Metric of web-vitals has the same name and value. It may be reported again with the same `id`
 * when its value has changed: the last one counts, also of several uploads of a page load. Its
 * attribution has the element and the parts of the value.
 */
#include "collector/format/web/vitals.h"

#include "collector/base/hash.h"
#include "collector/base/map.h"
#include "collector/format/web/observed.h"

enum vital_field {
    VITAL_NAME,
    VITAL_VALUE,
    VITAL_RATING,
    VITAL_NAVIGATION,
    VITAL_TARGET,
    VITAL_URL,
    VITAL_START,
    VITAL_DURATION,
    VITAL_ID, /* this and the next two: of a Metric */
    VITAL_ENTRIES,
    VITAL_ATTRIBUTION,
    VITAL_SERVER, /* this and the next: of TTFB */
    VITAL_CACHE,
    VITAL_FIELD_COUNT
};

static bool read_name(struct fp_decoder *decoder, const struct fp_field *field,
                      struct fp_profile_vital *vital)
{
    struct fp_str name;
    if (!fp_read_required(decoder, field) || !fp_read_text(decoder, field, &name))
        return false;
    vital->vital = fp_vital_find(name);
    return vital->vital < FP_VITAL_COUNT ||
           fp_fail_field(decoder, field, "must be one of " FP_VITAL_NAMES);
}

/* Reads the value: milliseconds, or a score, which is stored as if it were seconds. */
static bool read_value(struct fp_decoder *decoder, const struct fp_field *field,
                       struct fp_profile_vital *vital)
{
    if (!fp_observed_read_span(decoder, field, &vital->value_us))
        return false;
    if (!fp_vital_is_score(vital->vital))
        return true;
    enum { SCORE_MAX = 1000000 };
    double score = yyjson_get_num(field->value);
    if (score > (double)SCORE_MAX)
        return fp_fail_field(decoder, field, "is %.15g; a score is at most %d", score, SCORE_MAX);
    vital->value_us = fp_floor_of(score * (double)FP_US_PER_S + 0.5);
    return true;
}

/* Reads the element, and checks the rating, which is not stored. */
static bool read_texts(struct fp_decoder *decoder, const struct fp_field *fields,
                       struct fp_profile_vital *vital)
{
    struct fp_str rating;
    return fp_read_text(decoder, &fields[VITAL_RATING], &rating) &&
           fp_read_text(decoder, &fields[VITAL_TARGET], &vital->target) &&
           fp_read_text(decoder, &fields[VITAL_URL], &vital->url);
}

/* Members of an attribution. Behind the parts is the element, if the vital has one. */
enum { ATTRIBUTION_URL, ATTRIBUTION_PARTS };

/* Cuts parts to what is left of the value: the browser rounds each. */
static void cut_parts(struct fp_profile_vital *vital)
{
    int64_t left_us = vital->value_us;
    for (int64_t i = 0; i < vital->parts.known; i++) {
        int64_t *part_us = &vital->parts.us[i];
        if (*part_us > left_us)
            *part_us = left_us;
        left_us -= *part_us;
    }
}

/* Reads the parts of the value. They are known if the attribution has each but the last, which is
 * the rest. */
static bool read_parts(struct fp_decoder *decoder, const struct fp_field *fields, size_t count,
                       struct fp_profile_vital *vital)
{
    bool are_known = count > 0;
    for (size_t i = 0; i < count; i++) {
        are_known = are_known && fields[i].value != NULL;
        if (!fp_observed_read_optional(decoder, &fields[i], &vital->parts.us[i]))
            return false;
    }
    vital->parts.known = are_known ? (int64_t)count : 0;
    cut_parts(vital);
    return true;
}

/* Reads the element and the parts of the value from the attribution of a Metric. */
static bool read_attribution(struct fp_decoder *decoder, const struct fp_field *field,
                             struct fp_profile_vital *vital)
{
    const struct fp_place attribution = fp_field_place(field);
    struct fp_field fields[ATTRIBUTION_PARTS + FP_VITAL_PARTS_MAX + 1] = {
        [ATTRIBUTION_URL] = {.object = &attribution, .name = FP_STR("url")},
    };
    const char *element = fp_vital_element_member(vital->vital);
    const size_t part_count = fp_vital_part_count(vital->vital);
    const size_t read_count = part_count > 0 ? part_count - 1 : 0;
    if (field->value == NULL)
        return true;
    for (size_t i = 0; i < read_count; i++)
        fields[ATTRIBUTION_PARTS + i] = (struct fp_field){
            .object = &attribution, .name = fp_str_of(fp_vital_part_of(vital->vital, i)->member)};
    struct fp_field *target = &fields[ATTRIBUTION_PARTS + read_count];
    if (element != NULL)
        *target = (struct fp_field){.object = &attribution, .name = fp_str_of(element)};
    return fp_read_object(decoder, &attribution, field->value, fields,
                          ATTRIBUTION_PARTS + read_count + (element != NULL)) &&
           (element == NULL || vital->target.len > 0 ||
            fp_read_text(decoder, target, &vital->target)) &&
           (vital->url.len > 0 || fp_read_text(decoder, &fields[ATTRIBUTION_URL], &vital->url)) &&
           read_parts(decoder, fields + ATTRIBUTION_PARTS, read_count, vital);
}

/* Reads the window of an INP from a Metric: of its interaction, or of the first of its entries. */
static bool read_metric_window(struct fp_decoder *decoder, const struct fp_field *fields,
                               struct fp_profile_vital *vital)
{
    if (vital->vital != FP_VITAL_INP)
        return true;
    const struct fp_place attribution = fp_field_place(&fields[VITAL_ATTRIBUTION]);
    const struct fp_place entries = fp_field_place(&fields[VITAL_ENTRIES]);
    const struct fp_place entry = {.parent = &entries};
    struct fp_field time = {.object = &attribution, .name = FP_STR("interactionTime")};
    struct fp_field start = {.object = &entry, .name = FP_STR("startTime")};
    yyjson_val *first = yyjson_arr_get_first(fields[VITAL_ENTRIES].value);
    if (fields[VITAL_ATTRIBUTION].value != NULL &&
        !fp_read_object(decoder, &attribution, fields[VITAL_ATTRIBUTION].value, &time, 1))
        return false;
    if (first != NULL && !fp_read_object(decoder, &entry, first, &start, 1))
        return false;
    const struct fp_field *found = time.value != NULL ? &time : &start;
    vital->has_window = found->value != NULL;
    vital->duration_us = vital->value_us;
    return fp_observed_read_optional(decoder, found, &vital->start_us);
}

static bool read_window(struct fp_decoder *decoder, const struct fp_field *fields,
                        struct fp_profile_vital *vital)
{
    const struct fp_field *start = &fields[VITAL_START];
    const struct fp_field *duration = &fields[VITAL_DURATION];
    if (start->value == NULL && duration->value == NULL)
        return read_metric_window(decoder, fields, vital);
    vital->has_window = true;
    return fp_observed_read_span(decoder, start, &vital->start_us) &&
           fp_observed_read_span(decoder, duration, &vital->duration_us);
}

/* Reads the server's share of a TTFB. Other vitals have none. */
static bool read_server(struct fp_decoder *decoder, const struct fp_field *fields,
                        struct fp_profile_vital *vital)
{
    vital->has_server = vital->vital == FP_VITAL_TTFB && fields[VITAL_SERVER].value != NULL;
    return fp_observed_read_optional(decoder, &fields[VITAL_SERVER], &vital->server_us) &&
           fp_read_text(decoder, &fields[VITAL_CACHE], &vital->cache);
}

/* Adds a vital, or replaces the one that a Metric with this id reported before. */
static bool add(struct fp_decoder *decoder, const struct fp_place *place,
                const struct fp_field *id_field, struct fp_profile_vital *vital,
                struct fp_map *known)
{
    struct fp_profile *profile = decoder->profile;
    struct fp_str id = FP_STR("");
    if (!fp_read_text(decoder, id_field, &id))
        return false;
    uint32_t index = profile->vital_count;
    vital->has_id = id_field->value != NULL;
    if (vital->has_id) {
        vital->metric = fp_hash64(id.ptr, id.len);
        index = fp_map_put(known, vital->metric + vital->vital, index);
    }
    if (index == FP_MAP_NONE)
        return fp_fail_memory(decoder);
    if (index == profile->vital_count)
        return fp_observed_add_vital(decoder, place, vital);
    profile->vitals[index] = *vital;
    return true;
}

static bool decode_vital(struct fp_decoder *decoder, const struct fp_place *place,
                         yyjson_val *value, struct fp_map *known)
{
    struct fp_field fields[VITAL_FIELD_COUNT] = {
        [VITAL_NAME] = {.object = place, .name = FP_STR("name")},
        [VITAL_VALUE] = {.object = place, .name = FP_STR("value")},
        [VITAL_RATING] = {.object = place, .name = FP_STR("rating")},
        [VITAL_NAVIGATION] = {.object = place, .name = FP_STR("navigationType")},
        [VITAL_TARGET] = {.object = place, .name = FP_STR("target")},
        [VITAL_URL] = {.object = place, .name = FP_STR("url")},
        [VITAL_START] = {.object = place, .name = FP_STR("start")},
        [VITAL_DURATION] = {.object = place, .name = FP_STR("duration")},
        [VITAL_ID] = {.object = place, .name = FP_STR("id")},
        [VITAL_ENTRIES] = {.object = place, .name = FP_STR("entries")},
        [VITAL_ATTRIBUTION] = {.object = place, .name = FP_STR("attribution")},
        [VITAL_SERVER] = {.object = place, .name = FP_STR("server")},
        [VITAL_CACHE] = {.object = place, .name = FP_STR("cache")},
    };
    struct fp_profile_vital vital = {.has_window = false};
    return fp_read_object(decoder, place, value, fields, VITAL_FIELD_COUNT) &&
           read_name(decoder, &fields[VITAL_NAME], &vital) &&
           read_value(decoder, &fields[VITAL_VALUE], &vital) &&
           read_texts(decoder, fields, &vital) &&
           read_attribution(decoder, &fields[VITAL_ATTRIBUTION], &vital) &&
           fp_observed_read_navigation(decoder, &fields[VITAL_NAVIGATION], &vital.navigation) &&
           read_window(decoder, fields, &vital) && read_server(decoder, fields, &vital) &&
           add(decoder, place, &fields[VITAL_ID], &vital, known);
}

bool fp_vitals_decode(struct fp_decoder *decoder, const struct fp_field *field)
{
    const struct fp_place list = fp_field_place(field);
    struct fp_place at = {.parent = &list};
    uint32_t count;
    if (field->value == NULL)
        return true;
    if (!fp_read_array(decoder, field, decoder->limits->entries, "entries", &count))
        return false;
    struct fp_map known;
    fp_map_init(&known, count);
    yyjson_arr_iter vitals = yyjson_arr_iter_with(field->value);
    yyjson_val *vital;
    bool decoded = true;
    for (; decoded && (vital = yyjson_arr_iter_next(&vitals)) != NULL; at.index++)
        decoded = decode_vital(decoder, &at, vital, &known);
    fp_map_release(&known);
    return decoded;
}
