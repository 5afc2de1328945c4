/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detail: writes the allowed members as a text.
 */
#include "collector/format/web/user_timing_detail.h"

#include "collector/base/buf.h"
#include "collector/format/json.h"
#include "collector/format/utf8.h"
#include "collector/profile/text.h"

enum { DETAIL_MAX = 1024 * 1024 }; /* bytes, more than all keys of a configuration can give */

/* Appends a text. False when memory is out. */
static bool add_text(struct fp_decoder *decoder, yyjson_val *value, struct fp_buf *out)
{
    const struct fp_str raw = fp_json_text(value);
    struct fp_str text;
    if (!fp_utf8_copy(decoder->arena, raw, &text))
        return false;
    text = fp_text_cut(text, FP_TEXT_DIMENSION_MAX);
    fp_buf_add(out, text.ptr, text.len);
    return true;
}

static bool add_value(struct fp_decoder *decoder, yyjson_val *value, struct fp_buf *out)
{
    if (yyjson_is_str(value))
        return add_text(decoder, value, out);
    if (yyjson_is_bool(value))
        fp_buf_addf(out, "%s", yyjson_get_bool(value) ? "true" : "false");
    else
        fp_buf_addf(out, "%.15g", yyjson_get_num(value));
    return true;
}

static bool add_members(struct fp_decoder *decoder, yyjson_val *detail, struct fp_buf *out)
{
    const struct fp_str_list *keys = &decoder->limits->detail_keys;
    for (size_t i = 0; i < keys->count; i++) {
        yyjson_val *value = fp_json_member(detail, keys->items[i]);
        if (!yyjson_is_str(value) && !yyjson_is_num(value) && !yyjson_is_bool(value))
            continue;
        fp_buf_addf(out, "%c%.*s=", out->len == 0 ? '{' : ',', FP_STR_ARG(keys->items[i]));
        if (!add_value(decoder, value, out))
            return false;
    }
    if (out->len > 0)
        fp_buf_add(out, "}", 1);
    return true;
}

bool fp_timing_detail_read(struct fp_decoder *decoder, yyjson_val *detail, struct fp_str *text)
{
    *text = FP_STR("");
    if (!yyjson_is_obj(detail) || decoder->limits->detail_keys.count == 0)
        return true;
    struct fp_buf out;
    fp_buf_init(&out, DETAIL_MAX);
    bool fine = add_members(decoder, detail, &out) && !out.failed;
    const struct fp_str whole = {(const char *)out.data, out.len};
    if (fine && whole.len > 0)
        fine = fp_arena_copy(decoder->arena, whole, text);
    fp_buf_release(&out);
    return fine || fp_fail_memory(decoder);
}
