/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, without: what an INP or LCP would be at most if something had not run.
 *
 * An INP is the worst interaction of a page load; of a page load with many interactions, one of the
 * worst. Without a function each interaction is shorter by what the function took inside it, so
 * another one may become the INP. Only the fold can say which: it has all interactions and samples
 * of a page load. It looks at the functions that took most time; the others leave the value as is.
 *
 * Later parts bring more samples and interactions. They send the vital again, for what it would be.
 */
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/profile/fold/internal.h"
#include "collector/profile/scrub/selector.h"
#include "collector/rollup/bins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    BY_TOTAL_MAX = 2, /* functions with the most total time; then come those with most self time */
    FUNCTIONS_MAX = 8,
    HOSTS_MAX = 2,
    MARKERS_MAX = 2,
    PICKS_MAX = FUNCTIONS_MAX + HOSTS_MAX + MARKERS_MAX,
    VITALS_MAX = 2,      /* of an upload that are looked at: an INP and an LCP */
    WAITS_MAX = 64,      /* of a page load: its longest interactions */
    STEPS_MAX = 4000000, /* frames of samples looked at per upload */
    FRAME_ID_TEXT_MAX = 24
};

_Static_assert(VITALS_MAX *(PICKS_MAX + 1) <= FP_FOLD_WITHOUT_MAX, "an element, and each pick");

enum thing_kind { THING_FUNCTION, THING_HOST, THING_MARKER, THING_KINDS };

/* Something that ran, with the times of the wait that is looked at. */
struct thing {
    enum thing_kind kind;
    uint64_t frame_id;
    struct fp_str name; /* of a host or a marker */
    int64_t total_us;
    int64_t self_us;
    int64_t most_total_us; /* in any wait */
    int64_t most_self_us;
    uint32_t met; /* the last sample that had it */
    bool is_listed;
    bool is_picked;
};

/* Where samples are: in this upload, or in an earlier part. */
struct watched {
    const struct fp_fold_sample *samples;
    const struct fp_delta_stack *stacks;
    const struct fp_delta_frame *frames;
    const struct fp_delta_resource *resources;
    uint32_t sample_count;
    uint32_t *thing_of_frame; /* FP_INDEX_NONE: not looked at yet, or nothing to look for */
    uint32_t *thing_of_resource;
};

/* A thing that was picked, with its time in each wait. */
struct pick {
    uint32_t thing;
    int64_t us[WAITS_MAX];
};

struct searching {
    struct fp_fold *fold;
    struct watched *sources;
    size_t source_count;
    struct thing *things;
    uint32_t thing_count;
    uint32_t thing_of_marker[FP_MARKER_COUNT];
    struct fp_map frames; /* from its id to a thing, as the next */
    struct fp_map hosts;
    struct fp_str own_host;
    uint32_t *listed; /* things with time in the wait */
    uint32_t listed_count;
    uint32_t met; /* samples looked at */
    uint32_t steps;
    struct fp_fold_wait interactions[WAITS_MAX + 1]; /* the longest first */
    uint32_t interaction_count;
    struct fp_fold_wait waits[WAITS_MAX]; /* of the vital that is looked at, the longest first */
    uint32_t wait_count;
    uint32_t rank; /* of these, the one that the value is of */
    struct pick picks[PICKS_MAX];
    uint32_t pick_count;
};

/* ---- things ---- */

static uint32_t add_thing(struct searching *searching, struct thing thing)
{
    searching->things[searching->thing_count] = thing;
    return searching->thing_count++;
}

static bool find_function(struct searching *searching, const struct fp_delta_frame *frame,
                          uint32_t *thing)
{
    *thing = fp_map_put(&searching->frames, frame->id, searching->thing_count);
    if (*thing == searching->thing_count)
        *thing = add_thing(searching, (struct thing){THING_FUNCTION, .frame_id = frame->id});
    return *thing != FP_MAP_NONE;
}

/* Finds the host of a script. */
static bool find_host(struct searching *searching, struct watched *source, uint32_t resource)
{
    struct fp_str host;
    uint32_t *thing = &source->thing_of_resource[resource];
    if (*thing != FP_INDEX_NONE)
        return true;
    if (!fp_scrub_host(source->resources[resource].url, searching->fold->arena, &host))
        return false;
    const uint64_t id = fp_hash64(host.ptr, host.len);
    *thing = fp_map_put(&searching->hosts, id, searching->thing_count);
    if (*thing == searching->thing_count)
        *thing = add_thing(searching, (struct thing){THING_HOST, .name = host});
    return *thing != FP_MAP_NONE;
}

static void list_thing(struct searching *searching, uint32_t thing)
{
    if (!searching->things[thing].is_listed)
        searching->listed[searching->listed_count++] = thing;
    searching->things[thing].is_listed = true;
}

static void add_time(struct searching *searching, uint32_t thing, int64_t us)
{
    list_thing(searching, thing);
    searching->things[thing].total_us += us;
    searching->things[thing].self_us += us;
}

/* Adds time of a sample to the functions on its stack, each once, and as self time to the innermost
 * function: what has no code of its own, such as map(), works for its caller. */
static bool add_to_functions(struct searching *searching, struct watched *source, uint32_t stack,
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
        struct thing *function = &searching->things[*thing];
        list_thing(searching, *thing);
        if (function->met != searching->met)
            function->total_us += us;
        function->met = searching->met;
        function->self_us += is_inner ? us : 0;
        is_inner = false;
    }
    return true;
}

/* Adds time of a sample to the host of the innermost script. */
static bool add_to_host(struct searching *searching, struct watched *source, uint32_t stack,
                        int64_t us)
{
    for (; stack != FP_INDEX_NONE; stack = source->stacks[stack].parent) {
        const uint32_t resource = source->frames[source->stacks[stack].frame].resource;
        if (resource == FP_INDEX_NONE)
            continue;
        if (!find_host(searching, source, resource))
            return false;
        add_time(searching, source->thing_of_resource[resource], us);
        return true;
    }
    return true;
}

static void add_to_marker(struct searching *searching, enum fp_marker marker, int64_t us)
{
    uint32_t *thing = &searching->thing_of_marker[marker];
    if (marker == FP_MARKER_NONE || marker == FP_MARKER_SCRIPT)
        return;
    if (*thing == FP_INDEX_NONE)
        *thing = add_thing(searching, (struct thing){.kind = THING_MARKER,
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
static uint32_t first_of(const struct watched *source, const struct fp_fold_wait *wait)
{
    return fp_fold_first_sample(source->samples, source->sample_count, wait->start_us);
}

static bool is_in(const struct watched *source, uint32_t at, const struct fp_fold_wait *wait)
{
    return at < source->sample_count && source->samples[at].start_us < wait->end_us;
}

/* True if somebody looked at the page during the wait. */
static bool is_watched(const struct searching *searching, const struct fp_fold_wait *wait)
{
    for (size_t i = 0; i < searching->source_count; i++)
        if (is_in(&searching->sources[i], first_of(&searching->sources[i], wait), wait))
            return true;
    return false;
}

/* Adds the samples of a source in a wait. False: no memory. */
static bool add_samples(struct searching *searching, struct watched *source,
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
            !add_to_host(searching, source, sample->stack, us))
            return false;
    }
    return true;
}

/* Lists what ran in a wait, with its times. */
static bool look_at(struct searching *searching, const struct fp_fold_wait *wait)
{
    for (size_t i = 0; i < searching->source_count; i++)
        if (!add_samples(searching, &searching->sources[i], wait))
            return false;
    return true;
}

static void clear_listed(struct searching *searching)
{
    for (uint32_t i = 0; i < searching->listed_count; i++) {
        struct thing *thing = &searching->things[searching->listed[i]];
        thing->total_us = thing->self_us = 0;
        thing->is_listed = false;
    }
    searching->listed_count = 0;
}

static bool find_most(struct searching *searching)
{
    for (uint32_t i = 0; i < searching->thing_count; i++) {
        searching->things[i].most_total_us = searching->things[i].most_self_us = 0;
        searching->things[i].is_picked = false;
    }
    for (uint32_t i = 0; i < searching->wait_count; i++) {
        if (!look_at(searching, &searching->waits[i]))
            return false;
        for (uint32_t k = 0; k < searching->listed_count; k++) {
            struct thing *thing = &searching->things[searching->listed[k]];
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

static int64_t most_of(const struct thing *thing, bool by_total)
{
    return by_total ? thing->most_total_us : thing->most_self_us;
}

/* True if a thing took more than another: of equal ones that with more self time. */
static bool is_before(const struct thing *thing, const struct thing *other, bool by_total)
{
    const int64_t us = most_of(thing, by_total);
    const int64_t other_us = most_of(other, by_total);
    return us != other_us ? us > other_us : thing->most_self_us > other->most_self_us;
}

/* True if a thing took time. The page's own host is nothing to look for. */
static bool may_pick(const struct searching *searching, const struct thing *thing, bool by_total)
{
    const bool is_own = thing->kind == THING_HOST &&
                        (thing->name.len == 0 || fp_str_equal(thing->name, searching->own_host));
    return !thing->is_picked && !is_own && most_of(thing, by_total) > 0;
}

/* Picks the things of a kind that took most. */
static void pick(struct searching *searching, enum thing_kind kind, bool by_total, uint32_t most)
{
    for (; most > 0; most--) {
        struct thing *best = NULL;
        for (uint32_t i = 0; i < searching->thing_count; i++) {
            struct thing *thing = &searching->things[i];
            if (thing->kind == kind && may_pick(searching, thing, by_total) &&
                (best == NULL || is_before(thing, best, by_total)))
                best = thing;
        }
        if (best == NULL)
            return;
        best->is_picked = true;
        searching->picks[searching->pick_count++] =
            (struct pick){.thing = (uint32_t)(best - searching->things)};
    }
}

static bool find_picks(struct searching *searching)
{
    searching->pick_count = 0;
    if (!find_most(searching))
        return false;
    pick(searching, THING_FUNCTION, true, BY_TOTAL_MAX);
    pick(searching, THING_FUNCTION, false, FUNCTIONS_MAX - searching->pick_count);
    pick(searching, THING_HOST, false, HOSTS_MAX);
    pick(searching, THING_MARKER, false, MARKERS_MAX);
    for (uint32_t i = 0; i < searching->wait_count; i++) {
        if (!look_at(searching, &searching->waits[i]))
            return false;
        for (uint32_t k = 0; k < searching->pick_count; k++)
            searching->picks[k].us[i] = searching->things[searching->picks[k].thing].total_us;
        clear_listed(searching);
    }
    return true;
}

static int compare_values(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

/* Returns the value of the vital without a divisor's part of the time of a pick: 1 all, 2 half. */
static int64_t value_without(const struct searching *searching, const struct pick *pick,
                             int64_t divisor)
{
    int64_t values_us[WAITS_MAX];
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
static bool find_timing(struct fp_fold *fold, const struct fp_delta_vital *vital,
                        const struct thing *thing, uint32_t *timing)
{
    static const char *const kinds[THING_KINDS] = {"function", "host", "marker"};
    struct fp_timing_key key = {.kind = FP_TIMING_VITAL_WITHOUT,
                                .name = fp_str_of(fp_vital_name(vital->vital)),
                                .source = fp_str_of(kinds[thing->kind]),
                                .function = thing->name};
    if (thing->kind == THING_FUNCTION && !name_frame(fold, thing->frame_id, &key.function))
        return false;
    const uint64_t id = fp_timing_id(fold->site_id, &key);
    *timing = fp_map_get(&fold->timings, id);
    if (*timing != FP_MAP_NONE || fp_fold_is_over(fold, key.kind, id))
        return true;
    *timing = fp_fold_timing(fold, &key);
    return *timing != FP_MAP_NONE;
}

/* Adds what the vital would be without a pick, unless it would be the same. */
static bool add_without(struct searching *searching, struct fp_delta_vital *vital,
                        const struct pick *pick)
{
    struct fp_delta *delta = searching->fold->delta;
    struct fp_delta_without without = {
        .gone = fp_bin_of(value_without(searching, pick, 1)),
        .half = fp_bin_of(value_without(searching, pick, 2)),
    };
    FP_ASSERT(without.gone <= without.half && without.half <= fp_bin_of(vital->value_us));
    if (without.gone == fp_bin_of(vital->value_us))
        return true;
    if (!find_timing(searching->fold, vital, &searching->things[pick->thing], &without.timing))
        return false;
    if (without.timing == FP_MAP_NONE)
        return true;
    delta->withouts[delta->without_count++] = without;
    vital->without_count++;
    return true;
}

/* ---- vitals ---- */

static bool is_of_load(enum fp_navigation navigation)
{
    return navigation != FP_NAVIGATION_SOFT && navigation != FP_NAVIGATION_BACK_FORWARD_CACHE;
}

/* True for a vital of the page load that running code can make longer. */
static bool is_looked_at(const struct fp_delta_vital *vital)
{
    return (vital->vital == FP_VITAL_INP || vital->vital == FP_VITAL_LCP) &&
           is_of_load(vital->navigation) &&
           fp_vital_rate(vital->vital, vital->value_us) != FP_VITAL_FLAGGED;
}

/* Enters an interaction among the longest. */
static void add_interaction(struct searching *searching, struct fp_fold_wait wait)
{
    uint32_t at = searching->interaction_count;
    while (at > 0 && searching->interactions[at - 1].value_us < wait.value_us) {
        searching->interactions[at] = searching->interactions[at - 1];
        at--;
    }
    searching->interactions[at] = wait;
    if (searching->interaction_count < WAITS_MAX)
        searching->interaction_count++;
}

/* Lists the interactions of an upload that a vital of the page load may be of. */
static bool list_own_interactions(struct fp_fold *fold, struct fp_fold_wait **waits,
                                  uint32_t *count)
{
    const struct fp_profile *profile = fold->profile;
    *count = 0;
    *waits = fp_fold_array(fold, profile->interaction_count, sizeof(**waits));
    if (*waits == NULL)
        return false;
    for (uint32_t i = 0; i < profile->interaction_count; i++) {
        const struct fp_profile_interaction *from = &profile->interactions[i];
        if (is_of_load(from->navigation) && from->longest_us < FP_INTERACTION_FLAGGED_US)
            (*waits)[(*count)++] = (struct fp_fold_wait){
                from->start_us, from->start_us + from->duration_us, from->longest_us};
    }
    return true;
}

/* Finds the waits that decide an INP, and its rank among them. False: its own is not known. */
static bool find_interactions(struct searching *searching, const struct fp_fold_vital *vital)
{
    const int64_t value_us = vital->value.value_us;
    uint32_t rank = 0;
    searching->wait_count = searching->interaction_count;
    memcpy(searching->waits, searching->interactions,
           searching->interaction_count * sizeof(*searching->waits));
    while (rank < searching->wait_count && searching->waits[rank].value_us > value_us)
        rank++;
    searching->rank = rank;
    if (rank < searching->wait_count && searching->waits[rank].value_us == value_us)
        return true;
    if (vital->wait.end_us <= vital->wait.start_us || rank == WAITS_MAX)
        return false;
    searching->waits[rank] = vital->wait;
    searching->wait_count = rank + 1;
    return true;
}

/* Finds the waits that decide a vital. */
static bool find_waits(struct searching *searching, const struct fp_fold_vital *vital)
{
    if (vital->value.vital == FP_VITAL_INP)
        return find_interactions(searching, vital);
    searching->waits[0] = vital->wait;
    searching->wait_count = 1;
    searching->rank = 0;
    return true;
}

/* Finds what a vital of the delta would be without something. */
static bool look_at_vital(struct searching *searching, const struct fp_fold_vital *from,
                          struct fp_delta_vital *vital)
{
    struct fp_delta *delta = searching->fold->delta;
    vital->first_without = delta->without_count;
    if (!find_waits(searching, from) || !is_watched(searching, &searching->waits[searching->rank]))
        return true;
    if (!find_picks(searching))
        return false;
    if (searching->steps > STEPS_MAX)
        return true;
    vital->is_profiled = true;
    for (uint32_t i = 0; i < searching->pick_count; i++)
        if (!add_without(searching, vital, &searching->picks[i]))
            return false;
    return true;
}

/* ---- the vitals of a page load ---- */

/* Finds the time that a vital of this upload is of. */
static struct fp_fold_wait wait_of(const struct fp_profile *profile,
                                   const struct fp_delta_vital *vital)
{
    for (uint32_t i = profile->vital_count; i-- > 0;) {
        const struct fp_profile_vital *from = &profile->vitals[i];
        if (from->vital != vital->vital || from->metric != vital->metric || !from->has_id)
            continue;
        if (from->has_window)
            return (struct fp_fold_wait){from->start_us, from->start_us + from->duration_us,
                                         from->value_us};
        break;
    }
    return (struct fp_fold_wait){0, vital->vital == FP_VITAL_LCP ? vital->value_us : 0,
                                 vital->value_us};
}

static struct fp_fold_vital describe(const struct fp_fold *fold, const struct fp_delta_vital *vital)
{
    const struct fp_delta *delta = fold->delta;
    struct fp_fold_vital described = {
        .value = *vital, .wait = wait_of(fold->profile, vital), .part = delta->part};
    if (vital->element != FP_INDEX_NONE)
        described.element = delta->timings[vital->element];
    described.value.without_count = 0;
    described.value.is_profiled = false;
    return described;
}

/* The vitals of a page load that are looked at. */
struct vital_list {
    struct fp_fold_vital items[VITALS_MAX];
    uint32_t index[VITALS_MAX]; /* in the delta, FP_INDEX_NONE: an earlier part has it */
    uint32_t count;
};

/* Returns the place of a vital in the list: of the page load there is one of each. */
static uint32_t place_of(const struct vital_list *list, enum fp_vital vital)
{
    uint32_t place = 0;
    while (place < list->count && list->items[place].value.vital != vital)
        place++;
    return place;
}

/* Lists this upload's vitals, and those that earlier parts sent last. */
static void list_vitals(const struct fp_fold *fold, struct vital_list *list)
{
    const struct fp_delta *delta = fold->delta;
    list->count = 0;
    for (uint32_t i = 0; i < delta->vital_count; i++) {
        const struct fp_delta_vital *vital = &delta->vitals[i];
        const uint32_t place = place_of(list, vital->vital);
        if (!is_looked_at(vital))
            continue;
        list->items[place] = describe(fold, vital);
        list->index[place] = i;
        list->count += place == list->count;
    }
    for (size_t i = 0; i < fold->context->earlier_count; i++) {
        const struct fp_part *part = fold->context->earlier[i];
        for (uint32_t k = 0; k < part->vital_count; k++) {
            const struct fp_fold_vital *vital = &part->vitals[k];
            const uint32_t place = place_of(list, vital->value.vital);
            if (place < list->count &&
                (list->index[place] != FP_INDEX_NONE || list->items[place].part > vital->part))
                continue;
            list->items[place] = *vital;
            list->index[place] = FP_INDEX_NONE;
            list->count += place == list->count;
        }
    }
}

/* True if the upload says more of an earlier part's vital: it has a part of its wait, or the page
 * load's other interactions. */
static bool says_more(const struct searching *searching, const struct fp_fold_vital *vital,
                      uint32_t own_interactions)
{
    const struct watched *own = &searching->sources[0];
    bool more = is_in(own, first_of(own, &vital->wait), &vital->wait);
    if (vital->value.vital == FP_VITAL_LCP)
        return more;
    more = more || own_interactions > 0;
    for (uint32_t i = 0; !more && i < searching->interaction_count; i++)
        more = is_in(own, first_of(own, &searching->interactions[i]), &searching->interactions[i]);
    return more;
}

/* Adds the timing of an earlier part's element, without values. */
static bool add_element(struct fp_fold *fold, const struct fp_delta_timing *element,
                        uint32_t *index)
{
    struct fp_delta *delta = fold->delta;
    *index = FP_INDEX_NONE;
    if (element->id == 0)
        return true;
    *index = fp_map_put(&fold->timings, element->id, delta->timing_count);
    if (*index == delta->timing_count)
        delta->timings[delta->timing_count++] =
            (struct fp_delta_timing){.id = element->id,
                                     .name = element->name,
                                     .source = element->source,
                                     .function = element->function,
                                     .kind = element->kind,
                                     .navigation = element->navigation};
    return *index != FP_MAP_NONE;
}

/* Sends a vital of an earlier part again. NULL: there is no room, or no memory, as *ok says. */
static struct fp_delta_vital *send_again(struct fp_fold *fold, const struct fp_fold_vital *from,
                                         bool *ok)
{
    struct fp_delta *delta = fold->delta;
    *ok = true;
    if (delta->vital_count >= FP_FOLD_VITALS_MAX || !fp_fold_may_replace(fold))
        return NULL;
    if (delta->vitals == NULL)
        delta->vitals = fp_fold_array(fold, FP_FOLD_VITALS_MAX, sizeof(*delta->vitals));
    *ok = delta->vitals != NULL;
    if (!*ok)
        return NULL;
    struct fp_delta_vital *vital = &delta->vitals[delta->vital_count];
    *vital = from->value;
    vital->later = from->part > delta->part ? from->part - delta->part : 0;
    *ok = add_element(fold, &from->element, &vital->element);
    return *ok ? vital : NULL;
}

/* Looks at one vital of the page load. One of an earlier part is sent again if there is something
 * to say. */
static bool look_at_listed(struct searching *searching, const struct fp_fold_vital *from,
                           uint32_t index, uint32_t own_interactions)
{
    struct fp_delta *delta = searching->fold->delta;
    if (index != FP_INDEX_NONE)
        return look_at_vital(searching, from, &delta->vitals[index]);
    bool ok;
    if (!says_more(searching, from, own_interactions))
        return true;
    struct fp_delta_vital *vital = send_again(searching->fold, from, &ok);
    if (vital == NULL)
        return ok;
    if (!look_at_vital(searching, from, vital))
        return false;
    delta->vital_count += vital->is_profiled;
    return true;
}

/* ---- all of it ---- */

static bool prepare_source(struct fp_fold *fold, struct watched *source, uint32_t frame_count,
                           uint32_t resource_count)
{
    source->thing_of_frame = fp_fold_indexes(fold, frame_count);
    source->thing_of_resource = fp_fold_indexes(fold, resource_count);
    return source->thing_of_frame != NULL && source->thing_of_resource != NULL;
}

static bool prepare(struct searching *searching)
{
    struct fp_fold *fold = searching->fold;
    const struct fp_fold_context *context = fold->context;
    const struct fp_delta *delta = fold->delta;
    size_t most = (size_t)delta->frame_count + delta->resource_count + FP_MARKER_COUNT;
    searching->source_count = context->earlier_count + 1;
    searching->sources =
        fp_arena_array(fold->arena, searching->source_count, sizeof(*searching->sources));
    if (searching->sources == NULL)
        return false;
    searching->sources[0] = (struct watched){.samples = fold->own,
                                             .stacks = delta->stacks,
                                             .frames = delta->frames,
                                             .resources = delta->resources,
                                             .sample_count = fold->own_count};
    if (!prepare_source(fold, &searching->sources[0], delta->frame_count, delta->resource_count))
        return false;
    for (size_t i = 0; i < context->earlier_count; i++) {
        const struct fp_part *part = context->earlier[i];
        searching->sources[i + 1] = (struct watched){.samples = part->samples,
                                                     .stacks = part->stacks,
                                                     .frames = part->frames,
                                                     .resources = part->resources,
                                                     .sample_count = part->sample_count};
        most += part->frame_count + part->resource_count;
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

/* Describes the interactions and vitals for later parts. */
static bool remember(struct fp_fold *fold, const struct fp_fold_wait *waits, uint32_t wait_count,
                     const struct vital_list *list)
{
    struct fp_part *part = fold->context->part;
    if (part == NULL)
        return true;
    struct fp_fold_vital *vitals = fp_fold_array(fold, list->count, sizeof(*vitals));
    if (vitals == NULL)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->index[i] != FP_INDEX_NONE)
            vitals[part->vital_count++] = list->items[i];
    part->vitals = vitals;
    part->waits = waits;
    part->wait_count = wait_count;
    return true;
}

static bool search(struct searching *searching, const struct vital_list *list,
                   const struct fp_fold_wait *own, uint32_t own_count)
{
    struct fp_fold *fold = searching->fold;
    struct fp_delta *delta = fold->delta;
    delta->withouts = fp_fold_array(fold, (size_t)VITALS_MAX * PICKS_MAX, sizeof(*delta->withouts));
    if (delta->withouts == NULL || !prepare(searching))
        return false;
    for (uint32_t i = 0; i < own_count; i++)
        add_interaction(searching, own[i]);
    for (size_t i = 0; i < fold->context->earlier_count; i++)
        for (uint32_t k = 0; k < fold->context->earlier[i]->wait_count; k++)
            add_interaction(searching, fold->context->earlier[i]->waits[k]);
    for (uint32_t i = 0; i < list->count; i++)
        if (!look_at_listed(searching, &list->items[i], list->index[i], own_count))
            return false;
    return true;
}

bool fp_fold_without(struct fp_fold *fold)
{
    struct vital_list list;
    struct fp_fold_wait *own;
    uint32_t own_count;
    if (!fold->profile->has_load || fold->timings.max_count == 0)
        return true;
    list_vitals(fold, &list);
    if (!list_own_interactions(fold, &own, &own_count) || !remember(fold, own, own_count, &list))
        return false;
    if (list.count == 0 || !(fold->is_watched || fold->was_watched))
        return true;
    struct searching *searching = fp_arena_array(fold->arena, 1, sizeof(*searching));
    if (searching == NULL)
        return false;
    searching->fold = fold;
    fp_map_init(&searching->frames, UINT32_MAX);
    fp_map_init(&searching->hosts, UINT32_MAX);
    const bool found = search(searching, &list, own, own_count);
    fp_map_release(&searching->frames);
    fp_map_release(&searching->hosts);
    return found;
}
