/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format: from the inflated body to a validated profile.
 */
#include "collector/format/format.h"

#include "collector/base/assert.h"
#include "collector/format/content.h"
#include "collector/format/format_decoder.h"
#include "collector/profile/check.h"
#include "collector/rollup/delta.h"

#include <stdio.h>
#include <stdlib.h>

/* In the order in which they claim a JSON document. The last one also decodes what none claims: its
 * error says what an upload is. */
static const struct fp_format_decoder *const decoders[] = {
    &fp_format_opera_scope, &fp_format_speed_tracer, &fp_format_reports,
    &fp_format_user_timing, &fp_format_self_profile,
};

enum { DECODERS = FP_COUNT(decoders) };

/* The formats that a site can take; the entries of sites[].formats. */
static const struct {
    const char *name;
    uint32_t formats;
} groups[] = {
    {"web", 1u << FP_UPLOAD_SELF_PROFILE | 1u << FP_UPLOAD_USER_TIMING | 1u << FP_UPLOAD_REPORTS},
    {"speed-tracer", 1u << FP_UPLOAD_SPEED_TRACER},
    {"opera-scope", 1u << FP_UPLOAD_OPERA_SCOPE},
};

uint32_t fp_formats_named(struct fp_str name)
{
    for (size_t i = 0; i < FP_COUNT(groups); i++)
        if (fp_str_equal(name, fp_str_of(groups[i].name)))
            return groups[i].formats;
    return 0;
}

static const struct fp_upload_error no_error = {.verdict = FP_VERDICT_OK, .offset = -1};

/* Returns the decoder that `?format=` names, NULL if none. */
static const struct fp_format_decoder *decoder_named(struct fp_str hint)
{
    for (size_t i = 0; i < DECODERS; i++)
        if (fp_str_equal(hint, fp_str_of(fp_upload_format_name(decoders[i]->format))))
            return decoders[i];
    return NULL;
}

static const struct fp_format_decoder *decoder_of_text(struct fp_str body)
{
    for (size_t i = 0; i < DECODERS; i++)
        if (decoders[i]->is_text != NULL && decoders[i]->is_text(body))
            return decoders[i];
    return NULL;
}

/* Returns the decoder for a body that is not JSON: the requested one if it accepts such bodies,
 * else the first that recognizes the body, NULL if none does. */
static const struct fp_format_decoder *decoder_of_stream(const struct fp_decoder *decoder,
                                                         struct fp_str body,
                                                         const struct fp_format_decoder *asked)
{
    if (asked != NULL && asked->sniffs != NULL)
        return asked;
    for (size_t i = 0; i < DECODERS; i++)
        if (decoders[i]->sniffs != NULL && decoders[i]->sniffs(decoder, body))
            return decoders[i];
    return NULL;
}

static bool read_ahead(struct fp_decoder *decoder, struct fp_str body, struct fp_str *rest)
{
    for (size_t i = 0; i < DECODERS; i++)
        if (decoders[i]->read_ahead != NULL && decoders[i]->read_ahead(decoder, body, rest))
            return true;
    return false;
}

static const struct fp_format_decoder *decoder_of_document(yyjson_val *root)
{
    size_t i = 0;
    while (i < DECODERS - 1 && !decoders[i]->has_shape(root))
        i++;
    return decoders[i];
}

/* Refuses a body that is not of the requested format. */
static bool fail_shape(struct fp_decoder *decoder, const struct fp_format_decoder *asked)
{
    return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL, "the URL asks for %s, but the body is %s",
                      fp_upload_format_name(asked->format), asked->what_else);
}

static bool is_open(const struct fp_decoder *decoder, enum fp_upload_format format)
{
    return (decoder->limits->closed_formats & 1u << format) == 0;
}

/* Refuses a format that the site does not take, and says what would open it. */
static bool fail_closed(struct fp_decoder *decoder, enum fp_upload_format format)
{
    enum { LIST_MAX = 64 };
    const uint32_t wanted = ~decoder->limits->closed_formats | 1u << format;
    char list[LIST_MAX] = "";
    size_t len = 0;
    for (size_t i = 0; i < FP_COUNT(groups); i++)
        if ((groups[i].formats & wanted) != 0)
            len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len > 0 ? ", " : "",
                                    groups[i].name);
    return fp_fail_at(decoder, FP_VERDICT_UNSUPPORTED, NULL,
                      "this site does not take uploads of the format %s; to open it, add "
                      "`formats: [%s]` to the site in the collector's configuration",
                      fp_upload_format_name(format), list);
}

/* Decodes with the decoder that was found. A closed format of sessions is refused before that: it
 * may cost much. The decoder of the web formats also says what is wrong with a body that is
 * nothing, so these are checked at the end. */
static bool decode_found(struct fp_decoder *decoder, struct fp_str body, struct fp_json *json,
                         const struct fp_format_decoder *found)
{
    const bool is_web = (fp_formats_named(FP_STR("web")) & 1u << found->format) != 0;
    return is_web || is_open(decoder, found->format) ? found->decode(decoder, body, json)
                                                     : fail_closed(decoder, found->format);
}

/* Decodes a body that is not one JSON document. asked: NULL if the shape decides. */
static bool decode_stream(struct fp_decoder *decoder, struct fp_str body,
                          const struct fp_format_decoder *found,
                          const struct fp_format_decoder *asked)
{
    if (asked != NULL && asked != found)
        return fail_shape(decoder, asked);
    return decode_found(decoder, body, NULL, found);
}

/* True if a document has the requested format. The two web formats share a decoder: an envelope may
 * hold either. */
static bool is_of_format(yyjson_val *root, const struct fp_format_decoder *found,
                         const struct fp_format_decoder *asked)
{
    return found->decode == asked->decode && asked->has_shape(root);
}

static bool decode_document(struct fp_decoder *decoder, struct fp_str body, struct fp_json *json,
                            const struct fp_format_decoder *asked)
{
    const struct fp_format_decoder *found = decoder_of_document(json->root);
    if (asked != NULL && !is_of_format(json->root, found, asked))
        return fail_shape(decoder, asked);
    return decode_found(decoder, body, json, found);
}

/* Decodes a body of which a decoder can read the largest part without a document. Else false, and
 * everything is as before: whether the body is valid, and what is wrong with it, is then for the
 * document to say. */
static bool decode_ahead(struct fp_decoder *decoder, struct fp_str body,
                         const struct fp_format_decoder *asked)
{
    const struct fp_arena_mark mark = fp_arena_mark(decoder->arena);
    struct fp_str rest;
    struct fp_json json;
    bool decoded = false;
    if (read_ahead(decoder, body, &rest) &&
        fp_json_parse(rest, decoder->limits->json_depth, decoder->arena, &json, decoder->error) ==
            FP_VERDICT_OK) {
        decoded = decode_document(decoder, body, &json, asked);
        fp_json_release(&json);
    }
    if (!decoded) {
        decoder->trace = NULL;
        fp_buf_clear(decoder->content);
        fp_arena_rewind(decoder->arena, &mark);
        *decoder->error = no_error;
    }
    return decoded;
}

static bool decode_body(struct fp_decoder *decoder, struct fp_str body,
                        const struct fp_format_decoder *asked)
{
    const struct fp_format_decoder *found = decoder_of_text(body);
    if (found != NULL)
        return decode_stream(decoder, body, found, asked);
    if (decode_ahead(decoder, body, asked))
        return true;
    struct fp_json json;
    if (fp_json_parse(body, decoder->limits->json_depth, decoder->arena, &json, decoder->error) ==
        FP_VERDICT_OK) {
        bool decoded = decode_document(decoder, body, &json, asked);
        fp_json_release(&json);
        return decoded;
    }
    if (decoder->error->verdict == FP_VERDICT_MALFORMED)
        found = decoder_of_stream(decoder, body, asked);
    return found != NULL && decode_stream(decoder, body, found, asked);
}

/* Refuses times whose sum is more than a delta holds: later there is nobody to tell. */
static bool check_sums(struct fp_decoder *decoder, const struct fp_profile *profile)
{
    int64_t sum_us = 0;
    for (uint32_t i = 0; i < profile->event_count && sum_us <= FP_DELTA_TIME_MAX_US; i++)
        sum_us += llabs(profile->events[i].self_us) + profile->events[i].overhead_us +
                  profile->events[i].unlisted_us;
    for (uint32_t i = 0;
         profile->weights_us != NULL && i < profile->sample_count && sum_us <= FP_DELTA_TIME_MAX_US;
         i++)
        sum_us += profile->weights_us[i];
    return sum_us <= FP_DELTA_TIME_MAX_US ||
           fp_fail_at(decoder, FP_VERDICT_INVALID, NULL,
                      "its times add up to more than 3257 days, longer than a session can last");
}

static bool check_all_sums(struct fp_decoder *decoder)
{
    const struct fp_profile *profile = decoder->profile;
    while (profile != NULL && check_sums(decoder, profile))
        profile = profile->next;
    return profile == NULL;
}

/* Refuses a profile that is not of the requested format: an envelope may hold either of two. And
 * one that the site does not take. */
static bool check_format(struct fp_decoder *decoder, const struct fp_format_decoder *asked)
{
    enum fp_upload_format found = decoder->profile->format;
    if (!is_open(decoder, found))
        return fail_closed(decoder, found);
    if (asked == NULL || asked->format == found)
        return true;
    return fp_fail_at(decoder, FP_VERDICT_INVALID, NULL, "the URL asks for %s, but the body is %s",
                      fp_upload_format_name(asked->format), fp_upload_format_name(found));
}

enum fp_verdict fp_format_decode(struct fp_str body, struct fp_str format_hint,
                                 const struct fp_format_limits *limits, struct fp_arena *arena,
                                 struct fp_profile *profile, struct fp_upload_error *error)
{
    const struct fp_format_decoder *asked = decoder_named(format_hint);
    if (format_hint.len > 0 && asked == NULL)
        return fp_upload_fail(error, FP_VERDICT_UNSUPPORTED,
                              "the format must be self-profile, user-timing, "
                              "speed-tracer, opera-scope or reports");
    struct fp_buf content;
    struct fp_decoder decoder = {limits, arena, profile, error, &content, NULL, 0};
    *error = no_error;
    if (asked != NULL && !is_open(&decoder, asked->format)) {
        (void)fail_closed(&decoder, asked->format);
        return error->verdict;
    }
    fp_buf_init(&content, arena->max_bytes);
    bool decoded = decode_body(&decoder, body, asked) && check_format(&decoder, asked) &&
                   check_all_sums(&decoder) && fp_content_finish(&decoder);
    fp_buf_release(&content);
    FP_ASSERT(decoded || error->verdict != FP_VERDICT_OK);
    for (const struct fp_profile *each = profile; decoded && each != NULL; each = each->next)
        fp_profile_check(each);
    return decoded ? FP_VERDICT_OK : error->verdict;
}
