/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Left out: reads what an agent did not send, of which name, and how often.
 *
 * A word of a later agent counts as unknown, so that what was sent is still accepted.
 */
#include "collector/format/web/left_out.h"

enum left_out_field { LEFT_OUT_WHAT, LEFT_OUT_NAME, LEFT_OUT_NUMBER, LEFT_OUT_FIELD_COUNT };

static bool decode_row(struct fp_decoder *decoder, const struct fp_place *place, yyjson_val *value,
                       struct fp_profile_left_out *row)
{
    struct fp_field fields[LEFT_OUT_FIELD_COUNT] = {
        [LEFT_OUT_WHAT] = {.object = place, .name = FP_STR("what")},
        [LEFT_OUT_NAME] = {.object = place, .name = FP_STR("name")},
        [LEFT_OUT_NUMBER] = {.object = place, .name = FP_STR("count")},
    };
    struct fp_str what = FP_STR("");
    *row = (struct fp_profile_left_out){.name = FP_STR("")};
    if (!fp_read_object(decoder, place, value, fields, LEFT_OUT_FIELD_COUNT) ||
        !fp_read_required(decoder, &fields[LEFT_OUT_WHAT]) ||
        !fp_read_text(decoder, &fields[LEFT_OUT_WHAT], &what) ||
        !fp_read_text(decoder, &fields[LEFT_OUT_NAME], &row->name) ||
        !fp_read_whole(decoder, &fields[LEFT_OUT_NUMBER], INT32_MAX, &row->count))
        return false;
    row->what = fp_left_out_find(what);
    row->has_name = fields[LEFT_OUT_NAME].value != NULL &&
                    (row->what == FP_LEFT_OUT_MARK || row->what == FP_LEFT_OUT_MEASURE);
    return true;
}

bool fp_left_out_decode(struct fp_decoder *decoder, const struct fp_field *field)
{
    struct fp_profile *profile = decoder->profile;
    const struct fp_place list = fp_field_place(field);
    struct fp_place at = {.parent = &list};
    uint32_t count;
    if (field->value == NULL)
        return true;
    if (!fp_read_array(decoder, field, decoder->limits->entries, "entries", &count))
        return false;
    profile->left_outs = fp_arena_array(decoder->arena, count, sizeof(*profile->left_outs));
    if (profile->left_outs == NULL)
        return fp_fail_memory(decoder);
    yyjson_arr_iter rows = yyjson_arr_iter_with(field->value);
    yyjson_val *row;
    for (; (row = yyjson_arr_iter_next(&rows)) != NULL; at.index++)
        if (!decode_row(decoder, &at, row, &profile->left_outs[profile->left_out_count++]))
            return false;
    profile->truncated = profile->truncated || count > 0;
    return true;
}
