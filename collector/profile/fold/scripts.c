/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, scripts: which script files a page load loaded, and which of them ran, as stacks and long
 * frames show.
 *
 * Each counts once per page load, by its URL. So do page loads that say what they loaded, and those
 * of them that were profiled: under no URL. A page load that does not say what it loaded counts
 * nowhere.
 */
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/scrub.h"
#include "collector/profile/scrub/url.h"
#include "collector/profile/text.h"

/* True for the URL of a script file. */
static bool is_script_file(struct fp_str text)
{
    const struct fp_url url = fp_url_parse(text);
    return fp_url_is_http(&url) && url.path.len > 2 &&
           memcmp(url.path.ptr + url.path.len - 2, "js", 2) == 0;
}

/* Counts the page load in a timing, unless this or an earlier part did. bytes: what was loaded. */
static bool count_load(struct fp_fold *fold, enum fp_timing_kind kind, struct fp_str url,
                       int64_t bytes)
{
    const struct fp_timing_key key = {.kind = kind, .source = url};
    const uint64_t id = fp_timing_id(fold->site_id, &key);
    if (fp_map_get(&fold->counted, id) != FP_MAP_NONE)
        return true;
    /* A name that pages cannot make up has no ceiling. */
    uint32_t timing = url.len == 0 ? fp_fold_timing(fold, &key) : FP_MAP_NONE;
    if (fp_map_put(&fold->counted, id, 0) == FP_MAP_NONE ||
        (url.len > 0 && !fp_fold_bounded(fold, key, &timing)) || timing == FP_MAP_NONE)
        return false;
    fold->counted_scripts[fold->counted_script_count++] = id;
    fp_fold_sum_up(fold, timing, 1, bytes);
    return true;
}

/* Counts a script by its URL as browsers write it. */
static bool count_raw(struct fp_fold *fold, enum fp_timing_kind kind, struct fp_str raw,
                      int64_t bytes)
{
    struct fp_str url;
    if (!is_script_file(raw))
        return true;
    if (!fp_scrub_resource(&fold->context->rules, raw, fold->page_url, fold->arena, &url))
        return false;
    return count_load(fold, kind, fp_text_cut(url, FP_TEXT_NAME_MAX), bytes);
}

static bool count_loaded(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    for (uint32_t i = 0; i < profile->responses_count; i++)
        if (!count_raw(fold, FP_TIMING_SCRIPT_LOADED, profile->responses[i].host,
                       profile->responses[i].bytes))
            return false;
    return true;
}

/* Counts script files of stacks. */
static bool count_shown(struct fp_fold *fold, const struct fp_delta_resource *resources,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_script_file(resources[i].url) &&
            !count_load(fold, FP_TIMING_SCRIPT_RAN, resources[i].url, 0))
            return false;
    return true;
}

static bool count_ran(struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const struct fp_fold_context *context = fold->context;
    if (!count_load(fold, FP_TIMING_SCRIPT_RAN, FP_STR(""), 0) ||
        !count_shown(fold, fold->delta->resources, fold->delta->resource_count))
        return false;
    for (size_t i = 0; i < context->earlier_count; i++)
        if (!count_shown(fold, context->earlier[i]->resources, context->earlier[i]->resource_count))
            return false;
    for (uint32_t i = 0; i < profile->script_count; i++)
        if (!count_raw(fold, FP_TIMING_SCRIPT_RAN, profile->scripts[i].url, 0))
            return false;
    return true;
}

/* True if the page load says, here or in an earlier part, what it loaded. */
static bool says_what_it_loaded(const struct fp_fold *fold)
{
    const struct fp_timing_key key = {.kind = FP_TIMING_SCRIPT_LOADED, .source = FP_STR("")};
    for (uint32_t i = 0; i < fold->profile->responses_count; i++)
        if (is_script_file(fold->profile->responses[i].host))
            return true;
    return fp_map_get(&fold->counted, fp_timing_id(fold->site_id, &key)) != FP_MAP_NONE;
}

size_t fp_fold_scripts_max(const struct fp_fold *fold)
{
    const struct fp_profile *profile = fold->profile;
    const struct fp_fold_context *context = fold->context;
    size_t count =
        2 + (size_t)profile->responses_count + profile->script_count + fold->delta->resource_count;
    for (size_t i = 0; i < context->earlier_count; i++)
        count += context->earlier[i]->resource_count;
    return profile->responses_count > 0 || context->earlier_count > 0 ? count : 0;
}

bool fp_fold_scripts(struct fp_fold *fold)
{
    const size_t most = fp_fold_scripts_max(fold);
    if (most == 0 || !says_what_it_loaded(fold))
        return true;
    fold->counted_scripts = fp_fold_array(fold, most, sizeof(*fold->counted_scripts));
    return fold->counted_scripts != NULL &&
           count_load(fold, FP_TIMING_SCRIPT_LOADED, FP_STR(""), 0) && count_loaded(fold) &&
           ((!fold->is_watched && !fold->was_watched) || count_ran(fold));
}
