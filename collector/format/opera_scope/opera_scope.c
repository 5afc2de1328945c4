/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope: the envelope, {"opera-scope": {version, url, startedAt, session, timelines}}, next
 * to the members of an ordinary envelope.
 */
#include "collector/format/opera_scope/opera_scope.h"

#include "collector/format/format_decoder.h"
#include "collector/format/opera_scope/event.h"
#include "collector/format/web/envelope.h"
#include "collector/format/web/envelope_content.h"

#define MEMBER "opera-scope"

enum scope_field {
    SCOPE_SESSION,
    SCOPE_STARTED,
    SCOPE_TIMELINES,
    SCOPE_URL,
    SCOPE_VERSION,
    SCOPE_FIELD_COUNT
};

static bool is_envelope(yyjson_val *root)
{
    return yyjson_obj_get(root, MEMBER) != NULL;
}

/* True for 1.0, 1.1 and newer minor versions, which can only add fields. */
static bool is_version_1(struct fp_str version)
{
    if (version.len < 3 || version.len > 5 || memcmp(version.ptr, "1.", 2) != 0)
        return false;
    for (size_t i = 2; i < version.len; i++)
        if (!fp_is_digit(version.ptr[i]))
            return false;
    return true;
}

static bool read_version(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct fp_str *version = &decoder->profile->session.version;
    if (!fp_read_required(decoder, field) || !fp_read_text(decoder, field, version))
        return false;
    return is_version_1(*version) ||
           fp_fail_field(decoder, field,
                         "must be \"1.0\" or \"1.1\", the version of the service; drafts are not "
                         "supported");
}

static bool read_started(struct fp_decoder *decoder, const struct fp_field *field)
{
    int64_t *started_us = &decoder->profile->session.started_us;
    if (field->value == NULL)
        return true;
    if (!fp_read_time(decoder, field, started_us))
        return false;
    return *started_us >= 0 ||
           fp_fail_field(decoder, field, "must be milliseconds since 1970, not below 0");
}

/* Reads the page's address, unless the ordinary envelope has one. */
static bool read_url(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct fp_str url = {NULL, 0};
    if (!fp_read_text(decoder, field, &url))
        return false;
    if (decoder->profile->page_url.len == 0)
        decoder->profile->page_url = url;
    return true;
}

enum { PAIR_REPLY, PAIR_REQUEST, PAIR_FIELD_COUNT };

static bool read_pair(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value)
{
    struct fp_decoder *decoder = scope->decoder;
    struct fp_field fields[PAIR_FIELD_COUNT] = {
        [PAIR_REPLY] = {.object = place, .name = FP_STR("reply")},
        [PAIR_REQUEST] = {.object = place, .name = FP_STR("request")},
    };
    const struct fp_place request = fp_field_place(&fields[PAIR_REQUEST]);
    const struct fp_place reply = fp_field_place(&fields[PAIR_REPLY]);
    struct fp_scope_query query;
    return fp_read_object(decoder, place, value, fields, PAIR_FIELD_COUNT) &&
           fp_read_required(decoder, &fields[PAIR_REQUEST]) &&
           fp_read_required(decoder, &fields[PAIR_REPLY]) &&
           fp_scope_read_query(scope, &request, fields[PAIR_REQUEST].value, &query) &&
           fp_scope_set_query_session(scope, &request, &query) &&
           fp_scope_read_events(scope, &reply, fields[PAIR_REPLY].value, &query);
}

static bool read_pairs(struct fp_scope *scope, const struct fp_field *field)
{
    uint32_t count;
    if (!fp_read_array(scope->decoder, field, scope->decoder->limits->entries, "entries", &count))
        return false;
    const struct fp_place place = fp_field_place(field);
    struct fp_place at = {.parent = &place};
    yyjson_arr_iter pairs = yyjson_arr_iter_with(field->value);
    yyjson_val *pair;
    for (; (pair = yyjson_arr_iter_next(&pairs)) != NULL; at.index++)
        if (!read_pair(scope, &at, pair))
            return false;
    return true;
}

static bool read_session(struct fp_scope *scope, const struct fp_field *field)
{
    const struct fp_place place = fp_field_place(field);
    return field->value == NULL || fp_scope_read_session(scope, &place, field->value);
}

static bool read_envelope(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value)
{
    struct fp_decoder *decoder = scope->decoder;
    struct fp_field fields[SCOPE_FIELD_COUNT] = {
        [SCOPE_SESSION] = {.object = place, .name = FP_STR("session")},
        [SCOPE_STARTED] = {.object = place, .name = FP_STR("startedAt")},
        [SCOPE_TIMELINES] = {.object = place, .name = FP_STR("timelines")},
        [SCOPE_URL] = {.object = place, .name = FP_STR("url")},
        [SCOPE_VERSION] = {.object = place, .name = FP_STR("version")},
    };
    return fp_read_object(decoder, place, value, fields, SCOPE_FIELD_COUNT) &&
           read_version(decoder, &fields[SCOPE_VERSION]) &&
           read_started(decoder, &fields[SCOPE_STARTED]) && read_url(decoder, &fields[SCOPE_URL]) &&
           read_session(scope, &fields[SCOPE_SESSION]) &&
           read_pairs(scope, &fields[SCOPE_TIMELINES]) && fp_scope_finish(scope);
}

/* `field` gets the member: the last one, where there are several. */
static bool decode_envelope(struct fp_decoder *decoder, yyjson_val *root, struct fp_field *field)
{
    *decoder->profile = (struct fp_profile){0};
    const struct fp_place place = fp_field_place(field);
    struct fp_scope scope;
    bool decoded = fp_scope_begin(&scope, decoder) &&
                   fp_envelope_read_around(decoder, root, "an Opera Scope session") &&
                   fp_read_object(decoder, NULL, root, field, 1) &&
                   fp_read_required(decoder, field) && read_envelope(&scope, &place, field->value);
    fp_scope_release(&scope);
    return decoded;
}

static bool decode(struct fp_decoder *decoder, struct fp_str body, struct fp_json *json)
{
    if (json == NULL)
        return fp_opera_scope_decode_recording(decoder, body);
    struct fp_field scope = {.name = FP_STR(MEMBER)};
    if (!decode_envelope(decoder, json->root, &scope))
        return false;
    fp_envelope_add_content_around(decoder, json->root, &scope, fp_opera_scope_add_content);
    return true;
}

const struct fp_format_decoder fp_format_opera_scope = {
    .format = FP_UPLOAD_OPERA_SCOPE,
    .is_text = fp_opera_scope_is_recording,
    .has_shape = is_envelope,
    .decode = decode,
    .what_else = "not a session of Opera Scope",
};
