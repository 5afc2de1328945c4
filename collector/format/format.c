/*
 * Format: from the inflated body to a validated profile.
 */
#include "collector/format/format.h"

#include "collector/format/decoder.h"
#include "collector/format/envelope.h"
#include "collector/format/json.h"

/* The format that `?format=` names; FP_UPLOAD_FORMAT_COUNT when this version does not take it. */
static enum fp_upload_format format_named(struct fp_str hint)
{
    enum fp_upload_format format = FP_UPLOAD_SELF_PROFILE;
    while (format <= FP_UPLOAD_USER_TIMING &&
           !fp_str_equal(hint, fp_str_of(fp_upload_format_name(format))))
        format++;
    return format;
}

static bool decode_document(struct fp_decoder *decoder, yyjson_val *root, struct fp_str hint)
{
    if (!fp_envelope_decode(decoder, root))
        return false;
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
    if (format_hint.len > 0 && format_named(format_hint) > FP_UPLOAD_USER_TIMING)
        return fp_format_fail(error, FP_FORMAT_UNSUPPORTED,
                              "this version takes the formats self-profile and user-timing");
    struct fp_json json;
    enum fp_format_verdict verdict = fp_json_parse(body, limits->json_depth, arena, &json, error);
    if (verdict != FP_FORMAT_OK)
        return verdict;

    struct fp_decoder decoder = {limits, arena, profile, error};
    verdict = decode_document(&decoder, json.root, format_hint) ? FP_FORMAT_OK : error->verdict;
    fp_json_release(&json);
    return verdict;
}
