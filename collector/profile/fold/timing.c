/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, timing: finds one timing of the delta, and adds to it.
 */
#include "collector/base/assert.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/name.h"
#include "collector/profile/scrub/timing_name.h"
#include "collector/profile/text.h"
#include "collector/rollup/bins.h"
#include "collector/rollup/ids.h"

/* Saturates: sums of absurd times mean nothing, but must not wrap. */
static int64_t add_saturating(int64_t a, int64_t b)
{
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum))
        return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

/* Finds the name, or the template that it matches, and what is kept of the detail. */
static bool name_of(const struct fp_fold *fold, const struct fp_profile_timing *from,
                    struct fp_str *name)
{
    /* React puts U+200B before its names, and a filter would not find them. */
    struct fp_str own = fp_text_trim(from->name);
    const bool may_be_message = fold->profile->format == FP_UPLOAD_SPEED_TRACER;
    if ((may_be_message || !fold->context->rules.kept.names) &&
        !fp_scrub_name(&fold->context->rules, own, fold->arena, &own))
        return false;
    *name = fp_timing_name_find(&fold->context->rules, own);
    if (from->detail.len == 0)
        return true;
    size_t len = name->len + from->detail.len;
    char *bytes = fp_arena_alloc(fold->arena, len);
    if (bytes == NULL)
        return false;
    if (name->len > 0)
        memcpy(bytes, name->ptr, name->len);
    memcpy(bytes + name->len, from->detail.ptr, from->detail.len);
    *name = (struct fp_str){bytes, len};
    return true;
}

uint32_t fp_fold_timing(struct fp_fold *fold, const struct fp_timing_key *key)
{
    struct fp_delta *delta = fold->delta;
    uint64_t id = fp_timing_id(fold->site_id, key);
    uint32_t index = fp_map_put(&fold->timings, id, delta->timing_count);
    FP_ASSERT(index != delta->timing_count || index < fold->timing_max);
    if (index == delta->timing_count)
        delta->timings[delta->timing_count++] = (struct fp_delta_timing){
            .id = id,
            .name = fp_text_cut(key->name, FP_TEXT_NAME_MAX),
            .source = fp_text_cut(key->source, FP_TEXT_NAME_MAX),
            .function = fp_text_cut(key->function, FP_TEXT_NAME_MAX),
            .kind = key->kind,
            .navigation = key->navigation,
        };
    return index;
}

/* Replaces a name that is over its ceiling; recommended names never are. own_id: of the key. */
static void bound(const struct fp_fold *fold, struct fp_timing_key *key, uint64_t own_id)
{
    bool is_recommended = key->kind == FP_TIMING_MARK && fp_timing_name_is_recommended(key->name);
    if (!is_recommended && fp_fold_is_over(fold, key->kind, own_id))
        fp_fold_overflow(key);
}

bool fp_fold_shown_name(struct fp_fold *fold, const struct fp_profile_timing *from,
                        struct fp_str *name)
{
    struct fp_timing_key key = {.kind = from->kind};
    if (!name_of(fold, from, &key.name))
        return false;
    bound(fold, &key, fp_timing_id(fold->site_id, &key));
    *name = key.name;
    return true;
}

bool fp_fold_bounded(struct fp_fold *fold, struct fp_timing_key key, uint32_t *index)
{
    /* Cut first: timings of other kinds get their texts from this one. */
    key.name = fp_text_cut(key.name, FP_TEXT_NAME_MAX);
    key.source = fp_text_cut(key.source, FP_TEXT_NAME_MAX);
    key.function = fp_text_cut(key.function, FP_TEXT_NAME_MAX);
    uint64_t own_id = fp_timing_id(fold->site_id, &key);
    *index = fp_map_get(&fold->timings, own_id);
    if (*index != FP_MAP_NONE)
        return true;
    /* A name counts once against the ceiling, in however many kinds of navigation. */
    struct fp_timing_key name = key;
    name.navigation = FP_NAVIGATION_UNKNOWN;
    if (fp_fold_is_over(fold, key.kind, fp_timing_id(fold->site_id, &name)))
        fp_fold_overflow(&key);
    *index = fp_fold_timing(fold, &key);
    return *index != FP_MAP_NONE && fp_map_put(&fold->timings, own_id, *index) != FP_MAP_NONE;
}

uint32_t fp_fold_mark_or_measure(struct fp_fold *fold, const struct fp_profile_timing *from)
{
    struct fp_timing_key key = {.kind = from->kind};
    if (!name_of(fold, from, &key.name))
        return FP_MAP_NONE;
    uint64_t own_id = fp_timing_id(fold->site_id, &key);
    uint32_t index = fp_map_get(&fold->timings, own_id);
    if (index != FP_MAP_NONE)
        return index;
    bound(fold, &key, own_id);
    index = fp_fold_timing(fold, &key);
    return index != FP_MAP_NONE ? fp_map_put(&fold->timings, own_id, index) : FP_MAP_NONE;
}

static void add_value(struct fp_delta_timing *timing, uint32_t count, int64_t value_us)
{
    bool is_first = timing->count == 0;
    if (__builtin_add_overflow(timing->count, count, &timing->count))
        timing->count = UINT32_MAX;
    timing->sum_us = add_saturating(timing->sum_us, value_us);
    if (is_first || value_us < timing->min_us)
        timing->min_us = value_us;
    if (is_first || value_us > timing->max_us)
        timing->max_us = value_us;
}

void fp_fold_value(struct fp_fold *fold, uint32_t timing, int64_t value_us)
{
    FP_ASSERT(timing < fold->delta->timing_count);
    add_value(&fold->delta->timings[timing], 1, value_us);
    fold->delta->timings[timing].negative += value_us < 0;
    if (value_us >= 0)
        fold->binned[fold->binned_count++] = (struct fp_fold_binned){timing, fp_bin_of(value_us)};
}

void fp_fold_sum_up(struct fp_fold *fold, uint32_t timing, uint32_t count, int64_t value_us)
{
    FP_ASSERT(timing < fold->delta->timing_count);
    add_value(&fold->delta->timings[timing], count, value_us);
}

void fp_fold_window(struct fp_fold *fold, uint32_t timing, int64_t start_us, int64_t duration_us)
{
    FP_ASSERT(timing < fold->delta->timing_count);
    if (duration_us > 0)
        fold->windows[fold->window_count++] =
            (struct fp_fold_window){timing, start_us, start_us + duration_us};
}
