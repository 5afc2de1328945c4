/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, timings: marks and measures of one name become counts, sums and a histogram.
 */
#include "collector/profile/fold/internal.h"

static bool group(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    for (uint32_t i = 0; i < profile->timing_count; i++) {
        const struct fp_profile_timing *from = &profile->timings[i];
        uint32_t timing = fp_fold_mark_or_measure(fold, from);
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
                   fp_fold_left_out_max(fold->profile) + fold->profile->report_count +
                   fp_fold_earlier_windows(fold->context) + fp_fold_scripts_max(fold);
    if (count == 0)
        return true;
    count += FP_FOLD_WITHOUT_MAX;
    struct fp_delta *delta = fold->delta;
    fold->timing_max = count;
    delta->timings = fp_fold_array(fold, count, sizeof(*delta->timings));
    delta->bins = fp_fold_array(fold, count, sizeof(*delta->bins));
    fold->binned = fp_fold_array(fold, count, sizeof(*fold->binned));
    fold->windows = fp_fold_array(fold, count, sizeof(*fold->windows));
    if (delta->timings == NULL || delta->bins == NULL || fold->binned == NULL ||
        fold->windows == NULL)
        return false;
    /* A name beyond its ceiling has two ids, and the waits of responses come later. */
    fp_map_init(&fold->timings, UINT32_MAX);
    if (!group(fold) || !fp_fold_observed(fold) || !fp_fold_left_out(fold) ||
        !fp_fold_reports(fold))
        return false;
    qsort(fold->binned, fold->binned_count, sizeof(*fold->binned), compare_binned);
    count_bins(fold);
    return true;
}
