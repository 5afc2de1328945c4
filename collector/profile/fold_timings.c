/*
 * Fold, timings: marks and measures of one name become counts, sums and a histogram.
 */
#include "collector/profile/fold_parts.h"
#include "collector/profile/scrub_name.h"
#include "collector/profile/text.h"
#include "collector/profile/timing_name.h"
#include "collector/rollup/bins.h"
#include "collector/rollup/ids.h"

/* A value with a bin, and the timing (index into the delta's) that it belongs to. */
struct binned {
    uint32_t timing;
    uint16_t bin;
};

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

/* Finds the timing by own_id, or adds it. A name may be over its ceiling; recommended names never
 * are. */
static uint32_t add_timing(struct fp_fold *fold, struct fp_map *known,
                           const struct fp_profile_timing *from, struct fp_str name,
                           uint64_t own_id)
{
    struct fp_delta *delta = fold->delta;
    uint64_t id = own_id;
    bool is_recommended = from->kind == FP_TIMING_MARK && fp_timing_name_is_recommended(name);
    if (!is_recommended)
        fp_fold_bound_timing(fold, from->kind, &name, &id);
    uint32_t index = fp_map_put(known, id, delta->timing_count);
    if (index == delta->timing_count)
        delta->timings[delta->timing_count++] = (struct fp_delta_timing){
            .id = id,
            .name = fp_text_cut(name, FP_TEXT_NAME_MAX),
            .kind = from->kind,
            .min_us = from->value_us,
            .max_us = from->value_us,
        };
    return index != FP_MAP_NONE ? fp_map_put(known, own_id, index) : FP_MAP_NONE;
}

static uint32_t find_timing(struct fp_fold *fold, struct fp_map *known,
                            const struct fp_profile_timing *from)
{
    struct fp_str name;
    if (!name_of(fold, from, &name))
        return FP_MAP_NONE;
    uint64_t id =
        fp_timing_id(fold->site_id, &(struct fp_timing_key){.kind = from->kind, .name = name});
    uint32_t index = fp_map_get(known, id);
    return index != FP_MAP_NONE ? index : add_timing(fold, known, from, name, id);
}

static void add_value(struct fp_delta_timing *timing, int64_t value_us)
{
    timing->count++;
    timing->negative += value_us < 0;
    timing->sum_us = add_saturating(timing->sum_us, value_us);
    if (value_us < timing->min_us)
        timing->min_us = value_us;
    if (value_us > timing->max_us)
        timing->max_us = value_us;
}

static bool group(struct fp_fold *fold, struct fp_map *known, struct binned *binned,
                  uint32_t *binned_count)
{
    const struct fp_profile *profile = fold->profile;
    for (uint32_t i = 0; i < profile->timing_count; i++) {
        const struct fp_profile_timing *from = &profile->timings[i];
        uint32_t timing = find_timing(fold, known, from);
        if (timing == FP_MAP_NONE)
            return false;
        fold->timing_of[i] = timing;
        add_value(&fold->delta->timings[timing], from->value_us);
        if (from->value_us >= 0)
            binned[(*binned_count)++] = (struct binned){timing, fp_bin_of(from->value_us)};
    }
    return true;
}

static int compare_binned(const void *a, const void *b)
{
    const struct binned *left = a;
    const struct binned *right = b;
    if (left->timing != right->timing)
        return left->timing < right->timing ? -1 : 1;
    return left->bin - right->bin;
}

/* Lists the bins of sorted values; those of one timing are adjacent and ascending. */
static void count_bins(struct fp_delta *delta, const struct binned *binned, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
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
    uint32_t count = fold->profile->timing_count;
    if (count == 0)
        return true;
    struct fp_delta *delta = fold->delta;
    delta->timings = fp_fold_array(fold, count, sizeof(*delta->timings));
    delta->bins = fp_fold_array(fold, count, sizeof(*delta->bins));
    fold->timing_of = fp_fold_array(fold, count, sizeof(*fold->timing_of));
    struct binned *binned = fp_fold_array(fold, count, sizeof(*binned));
    if (delta->timings == NULL || delta->bins == NULL || fold->timing_of == NULL || binned == NULL)
        return false;

    struct fp_map known;
    fp_map_init(&known, (size_t)count + FP_TIMING_KIND_COUNT); /* and `(overflow)` of each kind */
    uint32_t binned_count = 0;
    bool grouped = group(fold, &known, binned, &binned_count);
    fp_map_release(&known);
    if (!grouped)
        return false;
    qsort(binned, binned_count, sizeof(*binned), compare_binned);
    count_bins(delta, binned, binned_count);
    return true;
}
