/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, without: what an INP or LCP would be at most if something had not run.
 *
 * An INP is the worst interaction of a page load; of a page load with many interactions, one of the
 * worst. Without a function each interaction is shorter by what the function took inside it, so
 * another one may become the INP. Only the fold can say which: it has all interactions and samples
 * of a page load. It looks at what took most time; the rest leaves the value as is.
 *
 * Later parts bring more samples and interactions. They send the vital again, for what it would be.
 */
#include "collector/base/assert.h"
#include "collector/profile/fold/search.h"

enum { VITALS_MAX = 2 }; /* of an upload that are looked at: an INP and an LCP */

_Static_assert(VITALS_MAX *(FP_SEARCH_PICKS_MAX + 1) +
                       FP_FOLD_PROFILED_MAX * (FP_SEARCH_PICKS_MAX + 1) <=
                   FP_FOLD_WITHOUT_MAX,
               "an element or a name, and each pick");

/* A search in the interactions of a page load. */
struct looking {
    struct fp_search search;
    struct fp_fold_wait interactions[FP_SEARCH_WAITS_MAX + 1]; /* the longest first */
    uint32_t interaction_count;
};

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
static void add_interaction(struct looking *looking, struct fp_fold_wait wait)
{
    uint32_t at = looking->interaction_count;
    while (at > 0 && looking->interactions[at - 1].value_us < wait.value_us) {
        looking->interactions[at] = looking->interactions[at - 1];
        at--;
    }
    looking->interactions[at] = wait;
    if (looking->interaction_count < FP_SEARCH_WAITS_MAX)
        looking->interaction_count++;
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
static bool find_interactions(struct looking *looking, const struct fp_fold_vital *vital)
{
    const int64_t value_us = vital->value.value_us;
    uint32_t rank = 0;
    looking->search.wait_count = looking->interaction_count;
    memcpy(looking->search.waits, looking->interactions,
           looking->interaction_count * sizeof(*looking->search.waits));
    while (rank < looking->search.wait_count && looking->search.waits[rank].value_us > value_us)
        rank++;
    looking->search.rank = rank;
    if (rank < looking->search.wait_count && looking->search.waits[rank].value_us == value_us)
        return true;
    if (vital->wait.end_us <= vital->wait.start_us || rank == FP_SEARCH_WAITS_MAX)
        return false;
    looking->search.waits[rank] = vital->wait;
    looking->search.wait_count = rank + 1;
    return true;
}

/* Finds the waits that decide a vital. */
static bool find_waits(struct looking *looking, const struct fp_fold_vital *vital)
{
    if (vital->value.vital == FP_VITAL_INP)
        return find_interactions(looking, vital);
    looking->search.waits[0] = vital->wait;
    looking->search.wait_count = 1;
    looking->search.rank = 0;
    return true;
}

/* Finds what a vital of the delta would be without something. */
static bool look_at_vital(struct looking *looking, const struct fp_fold_vital *from,
                          struct fp_delta_vital *vital)
{
    struct fp_search *search = &looking->search;
    bool done;
    vital->first_without = search->fold->delta->without_count;
    if (!find_waits(looking, from) || !fp_search_is_watched(search, &search->waits[search->rank]))
        return true;
    if (!fp_search_pick(search, FP_SEARCH_PICKS_MAX, &done))
        return false;
    vital->is_profiled = done;
    return !done || fp_search_add(search, fp_str_of(fp_vital_name(vital->vital)), vital->value_us,
                                  &vital->without_count);
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
static bool says_more(const struct looking *looking, const struct fp_fold_vital *vital,
                      uint32_t own_interactions)
{
    const struct fp_watched *own = &looking->search.sources[0];
    bool more = fp_search_is_in(own, &vital->wait);
    if (vital->value.vital == FP_VITAL_LCP)
        return more;
    more = more || own_interactions > 0;
    for (uint32_t i = 0; !more && i < looking->interaction_count; i++)
        more = fp_search_is_in(own, &looking->interactions[i]);
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
    FP_ASSERT(*index != delta->timing_count || *index < fold->timing_max);
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
static bool look_at_listed(struct looking *looking, const struct fp_fold_vital *from,
                           uint32_t index, uint32_t own_interactions)
{
    struct fp_delta *delta = looking->search.fold->delta;
    if (index != FP_INDEX_NONE)
        return look_at_vital(looking, from, &delta->vitals[index]);
    bool ok;
    if (!says_more(looking, from, own_interactions))
        return true;
    struct fp_delta_vital *vital = send_again(looking->search.fold, from, &ok);
    if (vital == NULL)
        return ok;
    if (!look_at_vital(looking, from, vital))
        return false;
    delta->vital_count += vital->is_profiled;
    return true;
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

/* Looks at the vitals, then at measures and responses. */
static bool look_at_all(struct looking *looking, const struct vital_list *list,
                        const struct fp_fold_wait *own, uint32_t own_count)
{
    const struct fp_fold *fold = looking->search.fold;
    for (uint32_t i = 0; i < own_count; i++)
        add_interaction(looking, own[i]);
    for (size_t i = 0; i < fold->context->earlier_count; i++)
        for (uint32_t k = 0; k < fold->context->earlier[i]->wait_count; k++)
            add_interaction(looking, fold->context->earlier[i]->waits[k]);
    for (uint32_t i = 0; i < list->count; i++)
        if (!look_at_listed(looking, &list->items[i], list->index[i], own_count))
            return false;
    return fp_fold_profiled(&looking->search);
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
    if ((list.count == 0 && fold->window_count == 0) || !(fold->is_watched || fold->was_watched))
        return true;
    struct looking *looking = fp_arena_array(fold->arena, 1, sizeof(*looking));
    struct fp_delta *delta = fold->delta;
    delta->withouts =
        fp_fold_array(fold, (size_t)(VITALS_MAX + FP_FOLD_PROFILED_MAX) * FP_SEARCH_PICKS_MAX,
                      sizeof(*delta->withouts));
    if (looking == NULL || delta->withouts == NULL)
        return false;
    const bool found =
        fp_search_init(&looking->search, fold) && look_at_all(looking, &list, own, own_count);
    fp_search_release(&looking->search);
    return found;
}
