/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, profiled: what own measures and responses would be at most if something had not run.
 *
 * Each value is a wait of its own, and counts once: in the upload that first brings both the value
 * and samples in it. An upload with many names or values draws among them by the page load, so that
 * no name and no value is looked at more often for being long.
 */
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/profile/fold/search.h"
#include "collector/rollup/bins.h"

#include <stdlib.h>

enum { NAMES_MAX = 1 }; /* of measures of an upload; responses come besides */

/* A value that may be looked at. */
struct candidate {
    struct fp_fold_wait wait;
    struct fp_str name;
    uint64_t name_draw;
    uint64_t draw;
    bool is_response;
};

static bool is_response(const struct fp_delta_timing *timing)
{
    return timing->kind == FP_TIMING_WINDOW && fp_str_equal(timing->name, FP_FOLD_RESPONSE);
}

/* True for a measure whose name says what it is: not one over a ceiling, nor one that is called as
 * a vital is. */
static bool is_own_measure(const struct fp_delta_timing *timing)
{
    if (timing->kind != FP_TIMING_MEASURE || timing->name.len == 0 ||
        fp_str_equal(timing->name, fp_fold_overflow_name) ||
        fp_str_equal(timing->name, FP_FOLD_RESPONSE))
        return false;
    for (unsigned vital = 0; vital < FP_VITAL_COUNT; vital++)
        if (fp_str_equal(timing->name, fp_str_of(fp_vital_name((enum fp_vital)vital))))
            return false;
    return true;
}

/* True if the upload brings the first samples of the window, or the window. */
static bool is_new(const struct fp_search *searching, const struct fp_fold_wait *wait, bool is_own)
{
    bool was_watched = false;
    for (size_t i = 1; i < searching->source_count; i++)
        was_watched = was_watched || fp_search_is_in(&searching->sources[i], wait);
    return is_own ? was_watched || fp_search_is_in(&searching->sources[0], wait)
                  : !was_watched && fp_search_is_in(&searching->sources[0], wait);
}

static uint64_t draw_of(const struct fp_delta *delta, uint64_t salt)
{
    struct {
        struct fp_uuid load;
        uint64_t salt;
    } text = {delta->load, salt};
    return fp_hash64(&text, sizeof(text));
}

static void list_candidates(const struct fp_search *searching, struct candidate *candidates,
                            uint32_t *count)
{
    const struct fp_fold *fold = searching->fold;
    *count = 0;
    for (uint32_t i = 0; i < fold->window_count; i++) {
        const struct fp_fold_window *window = &fold->windows[i];
        const struct fp_delta_timing *timing = &fold->delta->timings[window->timing];
        const struct fp_fold_wait wait = {window->start_us, window->end_us,
                                          window->end_us - window->start_us};
        if ((!is_response(timing) && !is_own_measure(timing)) ||
            !is_new(searching, &wait, i < fold->own_window_count))
            continue;
        candidates[(*count)++] = (struct candidate){
            .wait = wait,
            .name = timing->name,
            .is_response = is_response(timing),
            .name_draw = is_response(timing) ? 0 : draw_of(fold->delta, timing->id),
            .draw = draw_of(fold->delta, timing->id ^ (uint64_t)window->start_us),
        };
    }
}

static int compare_numbers(uint64_t left, uint64_t right)
{
    return (left > right) - (left < right);
}

static int compare_name_draws(const void *a, const void *b)
{
    const struct candidate *left = a;
    const struct candidate *right = b;
    const int by_name = compare_numbers(left->name_draw, right->name_draw);
    return by_name != 0 ? by_name : compare_numbers(left->draw, right->draw);
}

static int compare_draws(const void *a, const void *b)
{
    const struct candidate *left = a;
    const struct candidate *right = b;
    return compare_numbers(left->draw, right->draw);
}

/* Leaves responses and the drawn names; of these, as many values as may be. */
static uint32_t draw(struct candidate *candidates, uint32_t count)
{
    uint32_t names = 0;
    uint32_t kept = 0;
    qsort(candidates, count, sizeof(*candidates), compare_name_draws);
    for (; kept < count; kept++) {
        const bool is_next =
            !candidates[kept].is_response &&
            (kept == 0 || candidates[kept].name_draw != candidates[kept - 1].name_draw);
        names += is_next;
        if (names > NAMES_MAX)
            break;
    }
    qsort(candidates, kept, sizeof(*candidates), compare_draws);
    return kept < FP_FOLD_PROFILED_MAX ? kept : FP_FOLD_PROFILED_MAX;
}

/* Finds the timing of profiled values of a name, FP_MAP_NONE if the site's ceiling refuses it. */
static bool find_timing(struct fp_fold *fold, struct fp_str name, uint32_t *timing)
{
    const struct fp_timing_key key = {.kind = FP_TIMING_VITAL_PROFILED, .name = name};
    const uint64_t id = fp_timing_id(fold->site_id, &key);
    *timing = fp_map_get(&fold->timings, id);
    if (*timing != FP_MAP_NONE || fp_fold_is_over(fold, key.kind, id))
        return true;
    *timing = fp_fold_timing(fold, &key);
    return *timing != FP_MAP_NONE;
}

static bool look_at_value(struct fp_search *searching, const struct candidate *from, bool *done)
{
    struct fp_delta *delta = searching->fold->delta;
    struct fp_delta_profiled *profiled = &delta->profiled[delta->profiled_count];
    searching->waits[0] = from->wait;
    searching->wait_count = 1;
    searching->rank = 0;
    if (!find_timing(searching->fold, from->name, &profiled->timing))
        return false;
    if (profiled->timing == FP_MAP_NONE)
        return true;
    if (!fp_search_pick(searching, FP_SEARCH_VALUE_PICKS_MAX, done))
        return false;
    if (!*done)
        return true;
    profiled->now = fp_bin_of(from->wait.value_us);
    profiled->first_without = delta->without_count;
    delta->profiled_count++;
    return fp_search_add(searching, from->name, from->wait.value_us, &profiled->without_count);
}

bool fp_fold_profiled(struct fp_search *searching)
{
    struct fp_fold *fold = searching->fold;
    struct fp_delta *delta = fold->delta;
    uint32_t count;
    bool done = true;
    struct candidate *candidates = fp_fold_array(fold, fold->window_count, sizeof(*candidates));
    delta->profiled = fp_fold_array(fold, FP_FOLD_PROFILED_MAX, sizeof(*delta->profiled));
    if (candidates == NULL || delta->profiled == NULL)
        return false;
    list_candidates(searching, candidates, &count);
    count = draw(candidates, count);
    for (uint32_t i = 0; i < count && done; i++)
        if (!look_at_value(searching, &candidates[i], &done))
            return false;
    return true;
}
