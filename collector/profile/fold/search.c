/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search: things, their times in waits, picks, and their names.
 */
#include "collector/profile/fold/search.h"
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/profile/scrub/package.h"
#include "collector/profile/scrub/selector.h"
#include "collector/rollup/bins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BY_TOTAL_MAX = 2, /* functions with the most total time, of few picks 1; then comes self time */
    STEPS_MAX = 4000000, /* frames of samples looked at per upload */
    FRAME_ID_TEXT_MAX = 24
};

/* How many things of a kind may be picked. */
static const uint32_t picks_max[FP_THING_KINDS] = {
    [FP_THING_FUNCTION] = 8,
    [FP_THING_HOST] = 2,
    [FP_THING_PACKAGE] = 2,
    [FP_THING_MARKER] = 2,
};

/* ---- things ---- */

static uint32_t add_thing(struct fp_search *searching, struct fp_thing thing)
{
    searching->things[searching->thing_count] = thing;
    return searching->thing_count++;
}

static bool find_function(struct fp_search *searching, const struct fp_delta_frame *frame,
                          uint32_t *thing)
{
    *thing = fp_map_put(&searching->frames, frame->id, searching->thing_count);
    if (*thing == searching->thing_count)
        *thing = add_thing(searching, (struct fp_thing){FP_THING_FUNCTION, .frame_id = frame->id});
    return *thing != FP_MAP_NONE;
}

/* Finds the thing of this name, or adds it. */
static bool find_named(struct fp_search *searching, struct fp_map *map, struct fp_thing named,
                       uint32_t *thing)
{
    *thing = fp_map_put(map, fp_hash64(named.name.ptr, named.name.len), searching->thing_count);
    if (*thing == searching->thing_count)
        *thing = add_thing(searching, named);
    return *thing != FP_MAP_NONE;
}

/* Finds the host of a script. */
static bool find_host(struct fp_search *searching, struct fp_watched *source, uint32_t resource)
{
    struct fp_thing host = {FP_THING_HOST, .name = FP_STR("")};
    uint32_t *thing = &source->host_of_resource[resource];
    if (*thing != FP_INDEX_NONE)
        return true;
    return fp_scrub_host(source->resources[resource].url, searching->fold->arena, &host.name) &&
           find_named(searching, &searching->hosts, host, thing);
}

/* Finds the npm package of a script, if its URL names one. */
static bool find_package(struct fp_search *searching, struct fp_watched *source, uint32_t resource)
{
    uint32_t *thing = &source->package_of_resource[resource];
    if (*thing != FP_INDEX_NONE || source->is_no_package[resource])
        return true;
    const struct fp_thing package = {FP_THING_PACKAGE,
                                     .name = fp_package_of_url(source->resources[resource].url)};
    source->is_no_package[resource] = package.name.len == 0;
    return package.name.len == 0 || find_named(searching, &searching->packages, package, thing);
}

static void list_thing(struct fp_search *searching, uint32_t thing)
{
    if (!searching->things[thing].is_listed)
        searching->listed[searching->listed_count++] = thing;
    searching->things[thing].is_listed = true;
}

static void add_time(struct fp_search *searching, uint32_t thing, int64_t us)
{
    list_thing(searching, thing);
    searching->things[thing].total_us += us;
    searching->things[thing].self_us += us;
}

/* Adds time of a sample to the functions on its stack, each once, and as self time to the innermost
 * function: what has no code of its own, such as map(), works for its caller. */
static bool add_to_functions(struct fp_search *searching, struct fp_watched *source, uint32_t stack,
                             int64_t us)
{
    bool is_inner = true;
    for (; stack != FP_INDEX_NONE; stack = source->stacks[stack].parent) {
        const uint32_t at = source->stacks[stack].frame;
        uint32_t *thing = &source->thing_of_frame[at];
        searching->steps++;
        if (source->frames[at].kind != FP_FRAME_FUNCTION)
            continue;
        if (*thing == FP_INDEX_NONE && !find_function(searching, &source->frames[at], thing))
            return false;
        struct fp_thing *function = &searching->things[*thing];
        list_thing(searching, *thing);
        if (function->met != searching->met)
            function->total_us += us;
        function->met = searching->met;
        function->self_us += is_inner ? us : 0;
        is_inner = false;
    }
    return true;
}

/* Adds time of a sample to the host and the package of the innermost script. */
static bool add_to_script(struct fp_search *searching, struct fp_watched *source, uint32_t stack,
                          int64_t us)
{
    for (; stack != FP_INDEX_NONE; stack = source->stacks[stack].parent) {
        const uint32_t resource = source->frames[source->stacks[stack].frame].resource;
        if (resource == FP_INDEX_NONE)
            continue;
        if (!find_host(searching, source, resource) || !find_package(searching, source, resource))
            return false;
        add_time(searching, source->host_of_resource[resource], us);
        if (source->package_of_resource[resource] != FP_INDEX_NONE)
            add_time(searching, source->package_of_resource[resource], us);
        return true;
    }
    return true;
}

static void add_to_marker(struct fp_search *searching, enum fp_marker marker, int64_t us)
{
    uint32_t *thing = &searching->thing_of_marker[marker];
    if (marker == FP_MARKER_NONE || marker == FP_MARKER_SCRIPT)
        return;
    if (*thing == FP_INDEX_NONE)
        *thing = add_thing(searching, (struct fp_thing){.kind = FP_THING_MARKER,
                                                        .name = fp_str_of(fp_marker_name(marker))});
    add_time(searching, *thing, us);
}

/* ---- waits ---- */

/* Returns how much of a sample is in a wait. */
static int64_t shared_us(const struct fp_fold_sample *sample, const struct fp_fold_wait *wait)
{
    const int64_t end_us = fp_fold_end_us(sample);
    const int64_t from_us = sample->start_us > wait->start_us ? sample->start_us : wait->start_us;
    const int64_t to_us = end_us < wait->end_us ? end_us : wait->end_us;
    return to_us > from_us ? to_us - from_us : 0;
}

/* Returns the first sample of a source that may be in a wait. */
static uint32_t first_of(const struct fp_watched *source, const struct fp_fold_wait *wait)
{
    return fp_fold_first_sample(source->samples, source->sample_count, wait->start_us);
}

static bool is_in(const struct fp_watched *source, uint32_t at, const struct fp_fold_wait *wait)
{
    return at < source->sample_count && source->samples[at].start_us < wait->end_us;
}

bool fp_search_is_in(const struct fp_watched *source, const struct fp_fold_wait *wait)
{
    return is_in(source, first_of(source, wait), wait);
}

bool fp_search_is_watched(const struct fp_search *searching, const struct fp_fold_wait *wait)
{
    for (size_t i = 0; i < searching->source_count; i++)
        if (fp_search_is_in(&searching->sources[i], wait))
            return true;
    return false;
}

/* Adds the samples of a source in a wait. False: no memory. */
static bool add_samples(struct fp_search *searching, struct fp_watched *source,
                        const struct fp_fold_wait *wait)
{
    for (uint32_t i = first_of(source, wait); is_in(source, i, wait); i++) {
        const struct fp_fold_sample *sample = &source->samples[i];
        const int64_t us = shared_us(sample, wait);
        searching->met++;
        searching->steps++;
        if (searching->steps > STEPS_MAX)
            return true;
        add_to_marker(searching, sample->marker, us);
        if (!add_to_functions(searching, source, sample->stack, us) ||
            !add_to_script(searching, source, sample->stack, us))
            return false;
    }
    return true;
}

/* Lists what ran in a wait, with its times. */
static bool look_at(struct fp_search *searching, const struct fp_fold_wait *wait)
{
    for (size_t i = 0; i < searching->source_count; i++)
        if (!add_samples(searching, &searching->sources[i], wait))
            return false;
    return true;
}

static void clear_listed(struct fp_search *searching)
{
    for (uint32_t i = 0; i < searching->listed_count; i++) {
        struct fp_thing *thing = &searching->things[searching->listed[i]];
        thing->total_us = thing->self_us = 0;
        thing->is_listed = false;
    }
    searching->listed_count = 0;
}

static bool find_most(struct fp_search *searching)
{
    for (uint32_t i = 0; i < searching->thing_count; i++) {
        searching->things[i].most_total_us = searching->things[i].most_self_us = 0;
        searching->things[i].is_picked = false;
    }
    for (uint32_t i = 0; i < searching->wait_count; i++) {
        if (!look_at(searching, &searching->waits[i]))
            return false;
        for (uint32_t k = 0; k < searching->listed_count; k++) {
            struct fp_thing *thing = &searching->things[searching->listed[k]];
            if (thing->total_us > thing->most_total_us)
                thing->most_total_us = thing->total_us;
            if (thing->self_us > thing->most_self_us)
                thing->most_self_us = thing->self_us;
        }
        clear_listed(searching);
    }
    return true;
}

/* ---- picks ---- */

static int64_t most_of(const struct fp_thing *thing, bool by_total)
{
    return by_total ? thing->most_total_us : thing->most_self_us;
}

/* True if a thing took more than another: of equal ones that with more self time. */
static bool is_before(const struct fp_thing *thing, const struct fp_thing *other, bool by_total)
{
    const int64_t us = most_of(thing, by_total);
    const int64_t other_us = most_of(other, by_total);
    return us != other_us ? us > other_us : thing->most_self_us > other->most_self_us;
}

/* True if a thing took time, and its kind has room. The page's own host is nothing to look for. */
static bool may_pick(const struct fp_search *searching, const struct fp_thing *thing, bool by_total)
{
    const bool is_own = thing->kind == FP_THING_HOST &&
                        (thing->name.len == 0 || fp_str_equal(thing->name, searching->own_host));
    return !thing->is_picked && !is_own && most_of(thing, by_total) > 0 &&
           searching->picked[thing->kind] < picks_max[thing->kind];
}

/* Picks the things that took most, functions or of all kinds, as many of each kind as may be. */
static void pick(struct fp_search *searching, bool by_total, uint32_t most)
{
    while (searching->pick_count < most) {
        struct fp_thing *best = NULL;
        for (uint32_t i = 0; i < searching->thing_count; i++) {
            struct fp_thing *thing = &searching->things[i];
            if ((!by_total || thing->kind == FP_THING_FUNCTION) &&
                may_pick(searching, thing, by_total) &&
                (best == NULL || is_before(thing, best, by_total)))
                best = thing;
        }
        if (best == NULL)
            return;
        best->is_picked = true;
        searching->picked[best->kind]++;
        searching->picks[searching->pick_count++] =
            (struct fp_pick){.thing = (uint32_t)(best - searching->things)};
    }
}

bool fp_search_pick(struct fp_search *searching, uint32_t most, bool *done)
{
    FP_ASSERT(most <= FP_SEARCH_PICKS_MAX);
    searching->pick_count = 0;
    memset(searching->picked, 0, sizeof(searching->picked));
    if (!find_most(searching))
        return false;
    pick(searching, true, most < FP_SEARCH_PICKS_MAX ? 1 : BY_TOTAL_MAX);
    pick(searching, false, most);
    for (uint32_t i = 0; i < searching->wait_count; i++) {
        if (!look_at(searching, &searching->waits[i]))
            return false;
        for (uint32_t k = 0; k < searching->pick_count; k++)
            searching->picks[k].us[i] = searching->things[searching->picks[k].thing].total_us;
        clear_listed(searching);
    }
    *done = searching->steps <= STEPS_MAX;
    return true;
}

static int compare_values(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

/* Returns the value of the vital without a divisor's part of the time of a pick: 1 all, 2 half. */
static int64_t value_without(const struct fp_search *searching, const struct fp_pick *pick,
                             int64_t divisor)
{
    int64_t values_us[FP_SEARCH_WAITS_MAX];
    for (uint32_t i = 0; i < searching->wait_count; i++) {
        const int64_t value_us = searching->waits[i].value_us;
        const int64_t less_us = pick->us[i] / divisor;
        values_us[i] = less_us < value_us ? value_us - less_us : 0;
    }
    qsort(values_us, searching->wait_count, sizeof(*values_us), compare_values);
    return values_us[searching->rank];
}

/* ---- names ---- */

static bool name_frame(const struct fp_fold *fold, uint64_t frame_id, struct fp_str *name)
{
    char *bytes = fp_arena_alloc(fold->arena, FRAME_ID_TEXT_MAX);
    if (bytes == NULL)
        return false;
    const int len = snprintf(bytes, FRAME_ID_TEXT_MAX, "%" PRId64, (int64_t)frame_id);
    *name = (struct fp_str){bytes, (size_t)len};
    return true;
}

/* Finds the timing of a thing, FP_MAP_NONE if the site's ceiling refuses it. */
static bool find_timing(struct fp_fold *fold, struct fp_str name, const struct fp_thing *thing,
                        uint32_t *timing)
{
    static const char *const kinds[FP_THING_KINDS] = {"function", "host", "package", "marker"};
    struct fp_timing_key key = {.kind = FP_TIMING_VITAL_WITHOUT,
                                .name = name,
                                .source = fp_str_of(kinds[thing->kind]),
                                .function = thing->name};
    if (thing->kind == FP_THING_FUNCTION && !name_frame(fold, thing->frame_id, &key.function))
        return false;
    const uint64_t id = fp_timing_id(fold->site_id, &key);
    *timing = fp_map_get(&fold->timings, id);
    if (*timing != FP_MAP_NONE || fp_fold_is_over(fold, key.kind, id))
        return true;
    *timing = fp_fold_timing(fold, &key);
    return *timing != FP_MAP_NONE;
}

/* Adds what a value would be without a pick, unless it would be nearly the same. */
static bool add_pick(struct fp_search *searching, struct fp_str name, int64_t value_us,
                     const struct fp_pick *pick)
{
    struct fp_delta *delta = searching->fold->delta;
    struct fp_delta_without without = {
        .gone = fp_bin_of(value_without(searching, pick, 1)),
        .half = fp_bin_of(value_without(searching, pick, 2)),
    };
    FP_ASSERT(without.gone <= without.half && without.half <= fp_bin_of(value_us));
    if (without.gone + FP_SEARCH_BINS_MIN > fp_bin_of(value_us))
        return true;
    if (!find_timing(searching->fold, name, &searching->things[pick->thing], &without.timing))
        return false;
    if (without.timing != FP_MAP_NONE)
        delta->withouts[delta->without_count++] = without;
    return true;
}

bool fp_search_add(struct fp_search *searching, struct fp_str name, int64_t value_us,
                   uint32_t *count)
{
    const uint32_t first = searching->fold->delta->without_count;
    for (uint32_t i = 0; i < searching->pick_count; i++)
        if (!add_pick(searching, name, value_us, &searching->picks[i]))
            return false;
    *count = searching->fold->delta->without_count - first;
    return true;
}

/* ---- all of it ---- */

static bool prepare_source(struct fp_fold *fold, struct fp_watched *source, uint32_t frame_count,
                           uint32_t resource_count)
{
    source->thing_of_frame = fp_fold_indexes(fold, frame_count);
    source->host_of_resource = fp_fold_indexes(fold, resource_count);
    source->package_of_resource = fp_fold_indexes(fold, resource_count);
    source->is_no_package =
        fp_arena_array(fold->arena, resource_count, sizeof(*source->is_no_package));
    return source->thing_of_frame != NULL && source->host_of_resource != NULL &&
           source->package_of_resource != NULL && source->is_no_package != NULL;
}

static bool list_sources(struct fp_search *searching)
{
    struct fp_fold *fold = searching->fold;
    const struct fp_fold_context *context = fold->context;
    const struct fp_delta *delta = fold->delta;
    size_t most = delta->frame_count + 2 * (size_t)delta->resource_count + FP_MARKER_COUNT;
    searching->source_count = context->earlier_count + 1;
    searching->sources =
        fp_arena_array(fold->arena, searching->source_count, sizeof(*searching->sources));
    if (searching->sources == NULL)
        return false;
    searching->sources[0] = (struct fp_watched){.samples = fold->own,
                                                .stacks = delta->stacks,
                                                .frames = delta->frames,
                                                .resources = delta->resources,
                                                .sample_count = fold->own_count};
    if (!prepare_source(fold, &searching->sources[0], delta->frame_count, delta->resource_count))
        return false;
    for (size_t i = 0; i < context->earlier_count; i++) {
        const struct fp_part *part = context->earlier[i];
        searching->sources[i + 1] = (struct fp_watched){.samples = part->samples,
                                                        .stacks = part->stacks,
                                                        .frames = part->frames,
                                                        .resources = part->resources,
                                                        .sample_count = part->sample_count};
        most += part->frame_count + 2 * part->resource_count;
        if (!prepare_source(fold, &searching->sources[i + 1], part->frame_count,
                            part->resource_count))
            return false;
    }
    for (size_t i = 0; i < FP_MARKER_COUNT; i++)
        searching->thing_of_marker[i] = FP_INDEX_NONE;
    searching->things = fp_fold_array(fold, most, sizeof(*searching->things));
    searching->listed = fp_fold_array(fold, most, sizeof(*searching->listed));
    return searching->things != NULL && searching->listed != NULL &&
           fp_scrub_host(fold->page_url, fold->arena, &searching->own_host);
}

bool fp_search_init(struct fp_search *searching, struct fp_fold *fold)
{
    *searching = (struct fp_search){.fold = fold};
    fp_map_init(&searching->frames, UINT32_MAX);
    fp_map_init(&searching->hosts, UINT32_MAX);
    fp_map_init(&searching->packages, UINT32_MAX);
    return list_sources(searching);
}

void fp_search_release(struct fp_search *searching)
{
    fp_map_release(&searching->frames);
    fp_map_release(&searching->hosts);
    fp_map_release(&searching->packages);
}
