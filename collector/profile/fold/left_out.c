/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, left out: what an agent did not send becomes timings of a kind of their own.
 *
 * Such a timing counts the upload once, and its sum is how many were left out. One without source
 * is about a kind of thing, and `(any)` about all of them: the rollup makes page loads of their
 * counts. One with a source is about the marks or measures of that name.
 */
#include "collector/profile/fold/internal.h"
#include "collector/profile/text.h"

enum {
    ADDED_BY_ONE = 2,  /* the kind of thing, and the name */
    ADDED_BY_NONE = 2, /* `(any)`, and `(unknown)` */
};

/* True if the upload says that something is missing. Of dumps and sessions it says that their end
 * is cut off: no page load has left out anything. */
static bool has_left_out(const struct fp_profile *profile)
{
    const bool is_of_page =
        profile->format == FP_UPLOAD_SELF_PROFILE || profile->format == FP_UPLOAD_USER_TIMING;
    return profile->left_out_count > 0 || (profile->truncated && is_of_page);
}

size_t fp_fold_left_out_max(const struct fp_profile *profile)
{
    return has_left_out(profile) ? (size_t)profile->left_out_count * ADDED_BY_ONE + ADDED_BY_NONE
                                 : 0;
}

static bool add(struct fp_fold *fold, enum fp_left_out what, struct fp_str source, uint32_t count)
{
    const struct fp_timing_key key = {.kind = FP_TIMING_LEFT_OUT,
                                      .name = fp_str_of(fp_left_out_name(what)),
                                      .source = fp_text_cut(source, FP_TEXT_NAME_MAX)};
    const uint32_t timing = fp_fold_timing(fold, &key);
    if (timing == FP_MAP_NONE)
        return false;
    const bool is_first = fold->delta->timings[timing].count == 0;
    fp_fold_sum_up(fold, timing, is_first ? 1 : 0, count);
    return true;
}

static bool add_row(struct fp_fold *fold, const struct fp_profile_left_out *row)
{
    const struct fp_profile_timing timing = {
        .name = row->name,
        .detail = FP_STR(""),
        .kind = row->what == FP_LEFT_OUT_MARK ? FP_TIMING_MARK : FP_TIMING_MEASURE};
    struct fp_str name;
    if (!add(fold, row->what, FP_STR(""), row->count))
        return false;
    return !row->has_name || (fp_fold_shown_name(fold, &timing, &name) &&
                              (name.len == 0 || add(fold, row->what, name, row->count)));
}

bool fp_fold_left_out(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    if (!has_left_out(profile))
        return true;
    if (!add(fold, FP_LEFT_OUT_ANY, FP_STR(""), 0) ||
        (profile->left_out_count == 0 && !add(fold, FP_LEFT_OUT_UNKNOWN, FP_STR(""), 0)))
        return false;
    for (uint32_t i = 0; i < profile->left_out_count; i++)
        if (!add_row(fold, &profile->left_outs[i]))
            return false;
    return true;
}
