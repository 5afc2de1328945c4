/*
 * Format: from the inflated body to a validated profile.
 */
#include "collector/format/format.h"

#include "collector/base/hash.h"
#include "collector/base/uuid.h"
#include "collector/format/content.h"
#include "collector/format/decoder.h"
#include "collector/format/json.h"
#include "collector/format/opera_scope/opera_scope.h"
#include "collector/format/speed_tracer/speed_tracer.h"
#include "collector/format/web/envelope.h"
#include "collector/format/web/envelope_kept.h"

#include <stdlib.h>

/* The format that `?format=` names; FP_UPLOAD_FORMAT_COUNT when this version does not take it. */
static enum fp_upload_format format_named(struct fp_str hint)
{
    enum fp_upload_format format = FP_UPLOAD_SELF_PROFILE;
    while (format < FP_UPLOAD_FORMAT_COUNT &&
           !fp_str_equal(hint, fp_str_of(fp_upload_format_name(format))))
        format++;
    return format;
}

/* A dump of Speed Tracer is a page or a stream of JSON objects more often than one JSON value. */
static bool may_be_dump(const struct fp_decoder *decoder, struct fp_str body, struct fp_str hint)
{
    return decoder->error->verdict == FP_FORMAT_MALFORMED &&
           ((hint.len > 0 && format_named(hint) == FP_UPLOAD_SPEED_TRACER) ||
            fp_speed_tracer_sniff(decoder, body));
}

/* Whether a trace is one of the share that is kept: by its id, so that it is or is not however
 * often it is sent, wherever it arrives; by chance when it has none. */
static bool is_drawn(const struct fp_decoder *decoder)
{
    enum { PPM = 1000000 };
    uint32_t ppm = decoder->limits->keep_ppm;
    struct fp_uuid id = decoder->profile->id;
    if (ppm == 0 || ppm >= PPM)
        return ppm > 0;
    if (!decoder->profile->has_id && !fp_uuid_random(&id))
        return false;
    return (fp_hash64(id.bytes, sizeof(id.bytes)) >> 32) * PPM >> 32 < ppm;
}

/* What a tool makes of a dump that has it all in one array, as no version of Speed Tracer had. */
static bool is_array_of_records(yyjson_val *root)
{
    yyjson_val *first = yyjson_arr_get_first(root);
    return fp_speed_tracer_is_dump(first) && yyjson_obj_get(first, "entryType") == NULL;
}

/* JSON that is no dump of Speed Tracer. */
static bool decode_json(struct fp_decoder *decoder, yyjson_val *root)
{
    const struct fp_place first = {.index = 0};
    if (is_array_of_records(root))
        return fp_fail_at(decoder, FP_FORMAT_INVALID, &first,
                          "this is a record of Speed Tracer; a dump has them one after another, or "
                          "in an object with header and data, not in an array");
    bool decoded = fp_opera_scope_is_envelope(root) ? fp_opera_scope_decode(decoder, root)
                                                    : fp_envelope_decode(decoder, root);
    const struct fp_profile *profile = decoder->profile;
    if (decoded && (profile->has_session || (profile->has_trace && is_drawn(decoder))))
        fp_envelope_keep(decoder, root);
    return decoded;
}

static bool has_shape(yyjson_val *root, enum fp_upload_format format)
{
    if (fp_opera_scope_is_envelope(root))
        return format == FP_UPLOAD_OPERA_SCOPE;
    if (fp_speed_tracer_is_dump(root))
        return format == FP_UPLOAD_SPEED_TRACER;
    return fp_envelope_has_shape(root, format);
}

/* The body is not of the format that the address asks for. */
static bool fail_shape(struct fp_decoder *decoder, struct fp_str hint)
{
    static const char *const shapes[FP_UPLOAD_FORMAT_COUNT] = {
        [FP_UPLOAD_SELF_PROFILE] = "neither a ProfilerTrace nor an envelope",
        [FP_UPLOAD_USER_TIMING] = "neither marks and measures nor an envelope",
        [FP_UPLOAD_SPEED_TRACER] = "no dump of Speed Tracer",
        [FP_UPLOAD_OPERA_SCOPE] = "no session of Opera Scope",
    };
    const enum fp_upload_format format = format_named(hint);
    return fp_fail_at(decoder, FP_FORMAT_INVALID, NULL,
                      "the address says ?format=%s, but the body is %s",
                      fp_upload_format_name(format), shapes[format]);
}

static bool decode_document(struct fp_decoder *decoder, struct fp_str body, struct fp_str hint)
{
    struct fp_json json;
    if (fp_json_parse(body, decoder->limits->json_depth, decoder->arena, &json, decoder->error) !=
        FP_FORMAT_OK)
        return may_be_dump(decoder, body, hint) &&
               (hint.len == 0 || format_named(hint) == FP_UPLOAD_SPEED_TRACER
                    ? fp_speed_tracer_decode(decoder, body)
                    : fail_shape(decoder, hint));
    bool is_asked_for = hint.len == 0 || has_shape(json.root, format_named(hint));
    bool is_dump = has_shape(json.root, FP_UPLOAD_SPEED_TRACER);
    bool decoded = is_asked_for && !is_dump && decode_json(decoder, json.root);
    fp_json_release(&json);
    if (!is_asked_for)
        return fail_shape(decoder, hint);
    return is_dump ? fp_speed_tracer_decode(decoder, body) : decoded;
}

/* What is more than a delta holds would be refused when it is too late to say so. */
static bool check_sums(struct fp_decoder *decoder, const struct fp_profile *profile)
{
    int64_t sum_us = 0;
    for (uint32_t i = 0; i < profile->event_count && sum_us <= FP_DELTA_TIME_MAX_US; i++)
        sum_us += llabs(profile->events[i].self_us) + profile->events[i].overhead_us;
    for (uint32_t i = 0;
         profile->weights_us != NULL && i < profile->sample_count && sum_us <= FP_DELTA_TIME_MAX_US;
         i++)
        sum_us += profile->weights_us[i];
    return sum_us <= FP_DELTA_TIME_MAX_US ||
           fp_fail_at(decoder, FP_FORMAT_INVALID, NULL,
                      "its times add up to more than 3257 days, which no session lasts");
}

static bool check_all_sums(struct fp_decoder *decoder)
{
    const struct fp_profile *profile = decoder->profile;
    while (profile != NULL && check_sums(decoder, profile))
        profile = profile->next;
    return profile == NULL;
}

/* An envelope may hold either of two formats. */
static bool check_hint(struct fp_decoder *decoder, struct fp_str hint)
{
    enum fp_upload_format found = decoder->profile->format;
    if (hint.len == 0 || format_named(hint) == found)
        return true;
    return fp_fail_at(decoder, FP_FORMAT_INVALID, NULL,
                      "the address says ?format=%s, but the body is %s",
                      fp_upload_format_name(format_named(hint)), fp_upload_format_name(found));
}

enum fp_format_verdict fp_format_decode(struct fp_str body, struct fp_str format_hint,
                                        const struct fp_format_limits *limits,
                                        struct fp_arena *arena, struct fp_profile *profile,
                                        struct fp_format_error *error)
{
    if (format_hint.len > 0 && format_named(format_hint) == FP_UPLOAD_FORMAT_COUNT)
        return fp_format_fail(error, FP_FORMAT_UNSUPPORTED,
                              "this version takes the formats self-profile, user-timing, "
                              "speed-tracer and opera-scope");
    struct fp_buf content;
    fp_buf_init(&content, arena->max_bytes);
    struct fp_decoder decoder = {limits, arena, profile, error, &content};
    bool decoded;
    if (!fp_opera_scope_is_recording(body))
        decoded = decode_document(&decoder, body, format_hint);
    else if (format_hint.len > 0 && format_named(format_hint) != FP_UPLOAD_OPERA_SCOPE)
        decoded = fail_shape(&decoder, format_hint);
    else
        decoded = fp_opera_scope_decode_recording(&decoder, body);
    decoded = decoded && check_hint(&decoder, format_hint) && check_all_sums(&decoder) &&
              fp_content_finish(&decoder);
    fp_buf_release(&content);
    return decoded ? FP_FORMAT_OK : error->verdict;
}
