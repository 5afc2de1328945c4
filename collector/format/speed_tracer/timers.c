/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, timers: by id, so that a timer's firing gets the values of its start.
 *
 * Of several starts with one id the last one counts, as in the tool.
 */
#include "collector/format/speed_tracer/timers.h"

#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/format/json.h"
#include "collector/format/speed_tracer/types.h"

/* Hashes a timer's id, a number or the same digits as a text. False if there is no id. */
static bool key_of(yyjson_val *data, uint64_t *key)
{
    yyjson_val *id = fp_json_member(data, FP_STR("timerId"));
    struct fp_str text = fp_json_text(id);
    char digits[24];
    if (yyjson_is_uint(id)) {
        size_t at = sizeof(digits);
        uint64_t left = yyjson_get_uint(id);
        do
            digits[--at] = (char)('0' + left % 10);
        while ((left /= 10) > 0);
        text = (struct fp_str){digits + at, sizeof(digits) - at};
    }
    *key = fp_hash64(text.ptr, text.len);
    return text.len > 0;
}

bool fp_st_add_timer(struct fp_st_dump *dump, int32_t type, yyjson_val *data)
{
    uint64_t key;
    if (type != FP_ST_TYPE_TIMER_INSTALLED || !key_of(data, &key))
        return true;
    const uint32_t next = (uint32_t)dump->timer_ids.count; /* at most limits.entries */
    const uint32_t index = fp_map_put(&dump->timer_ids, key, next);
    dump->timers = fp_st_grow(dump->decoder->arena, dump->timers, next, &dump->timer_cap,
                              sizeof(*dump->timers));
    if (index == FP_MAP_NONE || dump->timers == NULL)
        return fp_fail_memory(dump->decoder);
    yyjson_val *timeout = fp_json_member(data, FP_STR("timeout"));
    yyjson_val *single_shot = fp_json_member(data, FP_STR("singleShot"));
    FP_ASSERT(index <= next);
    struct fp_st_timer *timer = &dump->timers[index];
    *timer = (struct fp_st_timer){0};
    if (yyjson_is_num(timeout))
        timer->timeout = *timeout;
    if (yyjson_is_bool(single_shot))
        timer->single_shot = *single_shot;
    return true;
}

const struct fp_st_timer *fp_st_find_timer(const struct fp_st_dump *dump, int32_t type,
                                           yyjson_val *data)
{
    uint64_t key;
    if (type != FP_ST_TYPE_TIMER_FIRED || !key_of(data, &key))
        return NULL;
    const uint32_t index = fp_map_get(&dump->timer_ids, key);
    return index != FP_MAP_NONE ? &dump->timers[index] : NULL;
}
