/*
 * Fold, timings: marks and measures of one name become counts, sums and a histogram.
 */
#include "collector/profile/fold_parts.h"
#include "collector/profile/scrub_name.h"
#include "collector/profile/text.h"
#include "collector/profile/timing_name.h"
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
    struct fp_str own = from->name;
    if (fold->profile->format == FP_UPLOAD_SPEED_TRACER && /* it may be a log message */
        !fp_scrub_name(&fold->context->rules, from->name, fold->arena, &own))
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
    if (index == delta->timing_count)
        delta->timings[delta->timing_count++] = (struct fp_delta_timing){
            .id = id,
            .name = fp_text_cut(key->name, FP_TEXT_NAME_MAX),
            .source = fp_text_cut(key->source, FP_TEXT_NAME_MAX),
            .function = fp_text_cut(key->function, FP_TEXT_NAME_MAX),
            .kind = key->kind,
        };
    return index;
}

/* Finds the timing of a mark or measure, or adds it. A name may be over its ceiling; recommended
 * names never are. */
static uint32_t find_timing(struct fp_fold *fold, const struct fp_profile_timing *from)
{
    struct fp_timing_key key = {.kind = from->kind};
    if (!name_of(fold, from, &key.name))
        return FP_MAP_NONE;
    uint64_t own_id = fp_timing_id(fold->site_id, &key);
    uint32_t index = fp_map_get(&fold->timings, own_id);
    if (index != FP_MAP_NONE)
        return index;
    bool is_recommended = from->kind == FP_TIMING_MARK && fp_timing_name_is_recommended(key.name);
    if (!is_recommended && fp_fold_is_over(fold, own_id))
        fp_fold_overflow(&key);
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
    add_value(&fold->delta->timings[timing], 1, value_us);
    fold->delta->timings[timing].negative += value_us < 0;
    if (value_us >= 0)
        fold->binned[fold->binned_count++] = (struct fp_fold_binned){timing, fp_bin_of(value_us)};
}

void fp_fold_sum_up(struct fp_fold *fold, uint32_t timing, uint32_t count, int64_t value_us)
{
    add_value(&fold->delta->timings[timing], count, value_us);
}

void fp_fold_window(struct fp_fold *fold, uint32_t timing, int64_t start_us, int64_t duration_us)
{
    if (duration_us > 0)
        fold->windows[fold->window_count++] =
            (struct fp_fold_window){timing, start_us, start_us + duration_us};
}

static bool group(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    for (uint32_t i = 0; i < profile->timing_count; i++) {
        const struct fp_profile_timing *from = &profile->timings[i];
        uint32_t timing = find_timing(fold, from);
        if (timing == FP_MAP_NONE)
            return false;
        fp_fold_value(fold, timing, from->value_us);
        if (from->has_start)
            fp_fold_window(fold, timing, from->start_us, from->value_us);
    }
    return true;
}

static int compare_binned(const void *a, const void *b)
{
    const struct fp_fold_binned *left = a;
    const struct fp_fold_binned *right = b;
    if (left->timing != right->timing)
        return left->timing < right->timing ? -1 : 1;
    return left->bin - right->bin;
}

/* Lists the bins of sorted values; those of one timing are adjacent and ascending. */
static void count_bins(const struct fp_fold *fold)
{
    struct fp_delta *delta = fold->delta;
    const struct fp_fold_binned *binned = fold->binned;
    for (uint32_t i = 0; i < fold->binned_count; i++) {
        struct fp_delta_timing *timing = &delta->timings[binned[i].timing];
        if (i > 0 && compare_binned(&binned[i - 1], &binned[i]) == 0) {
            delta->bins[delta->bin_count - 1].count++;
            continue;
        }
        if (timing->bin_count++ == 0)
            timing->first_bin = delta->bin_count;
        delta->bins[delta->bin_count++] = (struct fp_delta_bin){.bin = binned[i].bin, .count = 1};
    }
}

bool fp_fold_timings(struct fp_fold *fold)
{
    size_t count = fold->profile->timing_count + fp_fold_observed_max(fold->profile) +
                   fp_fold_earlier_windows(fold->context);
    if (count == 0)
        return true;
    struct fp_delta *delta = fold->delta;
    delta->timings = fp_fold_array(fold, count, sizeof(*delta->timings));
    delta->bins = fp_fold_array(fold, count, sizeof(*delta->bins));
    fold->binned = fp_fold_array(fold, count, sizeof(*fold->binned));
    fold->windows = fp_fold_array(fold, count, sizeof(*fold->windows));
    if (delta->timings == NULL || delta->bins == NULL || fold->binned == NULL ||
        fold->windows == NULL)
        return false;
    /* A name beyond its ceiling has two ids. */
    fp_map_init(&fold->timings, 2 * count);
    if (!group(fold) || !fp_fold_observed(fold))
        return false;
    qsort(fold->binned, fold->binned_count, sizeof(*fold->binned), compare_binned);
    count_bins(fold);
    return true;
}
