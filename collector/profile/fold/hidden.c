/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, hidden: windows of time in which the page was busy for sure.
 *
 * The running parts of long frames and interactions are the window `(running)`: what of it has no
 * stack is hidden. Windows of kind hidden divide the same time among the scripts of the long
 * frames, by the scripts' own spans; what is outside of them has no URL.
 */
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/scrub.h"

/* True if the upload, or another part of its page load, may have samples. */
static bool may_have_samples(const struct fp_profile *profile)
{
    return profile->has_trace || profile->has_load;
}

/* The window has no values of its own: those of long frames and interactions say as much. */
static bool add_running(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const struct fp_timing_key key = {.kind = FP_TIMING_WINDOW, .name = FP_FOLD_RUNNING};
    const uint32_t timing = fp_fold_timing(fold, &key);
    if (timing == FP_MAP_NONE)
        return false;
    for (uint32_t i = 0; i < profile->long_frame_count; i++)
        fp_fold_window(fold, timing, profile->long_frames[i].start_us,
                       profile->long_frames[i].duration_us);
    for (uint32_t i = 0; i < profile->interaction_count; i++) {
        const struct fp_profile_interaction *from = &profile->interactions[i];
        fp_fold_window(fold, timing, from->start_us + from->delay_us, from->processing_us);
    }
    return true;
}

static bool add_script(struct fp_fold *fold, const struct fp_profile_script *script)
{
    struct fp_timing_key key = {.kind = FP_TIMING_HIDDEN};
    uint32_t timing;
    if (!fp_scrub_resource(&fold->context->rules, script->url, fold->page_url, fold->arena,
                           &key.source) ||
        !fp_fold_bounded(fold, key, &timing))
        return false;
    fp_fold_window(fold, timing, script->start_us, script->duration_us);
    return true;
}

/* Copies windows as those of one name, and joins them. False: no memory. */
static bool list_as_one(struct fp_fold *fold, uint32_t first, uint32_t end, uint32_t timing,
                        struct fp_fold_windows *list)
{
    list->count = end - first;
    list->items = fp_fold_array(fold, list->count, sizeof(*list->items));
    if (list->items == NULL)
        return false;
    for (uint32_t i = 0; i < list->count; i++) {
        list->items[i] = fold->windows[first + i];
        list->items[i].timing = timing;
    }
    fp_fold_join_windows(list);
    return true;
}

/* Adds the running time outside of scripts: the windows from `running` on, up to `scripts`, without
 * those after them. */
static bool add_rest(struct fp_fold *fold, uint32_t running, uint32_t scripts)
{
    const struct fp_timing_key key = {.kind = FP_TIMING_HIDDEN};
    struct fp_fold_windows whole;
    struct fp_fold_windows parts;
    struct fp_fold_windows rest;
    const uint32_t timing = fp_fold_timing(fold, &key);
    if (timing == FP_MAP_NONE || !list_as_one(fold, running, scripts, timing, &whole) ||
        !list_as_one(fold, scripts, fold->window_count, timing, &parts) ||
        !fp_fold_subtract_windows(fold, &whole, &parts, &rest))
        return false;
    for (uint32_t i = 0; i < rest.count; i++)
        fold->windows[fold->window_count++] = rest.items[i];
    return true;
}

bool fp_fold_hidden(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const uint32_t running = fold->window_count;
    if ((profile->long_frame_count == 0 && profile->interaction_count == 0) ||
        !may_have_samples(profile))
        return true;
    if (!add_running(fold))
        return false;
    const uint32_t scripts = fold->window_count;
    for (uint32_t i = 0; i < profile->script_count; i++)
        if (!add_script(fold, &profile->scripts[i]))
            return false;
    return add_rest(fold, running, scripts);
}
