/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, lists: links events across the lists of a timeline, whatever the order of the lists,
 * and finds the time that an event includes but no listed event has.
 */
#include "collector/base/assert.h"
#include "collector/format/opera_scope/event.h"

/* How often ranks are raised. Lists that wait for one another in longer chains are not moved. */
enum { ROUNDS_MAX = 64 };

struct linking {
    struct fp_scope *scope;
    struct fp_profile *profile;
    uint32_t *list_of; /* by event: the number of its list */
    uint32_t *late;    /* by event: its parent in a later list, FP_INDEX_NONE */
    uint32_t *ranks;   /* by list: lists of lower ranks come first */
    uint32_t *places;  /* by event: its index once the lists are moved */
};

static bool allocate(struct linking *linking)
{
    struct fp_arena *arena = linking->scope->decoder->arena;
    const struct fp_profile *profile = linking->profile;
    linking->list_of = fp_arena_array(arena, profile->event_count, sizeof(uint32_t));
    linking->late = fp_arena_array(arena, profile->event_count, sizeof(uint32_t));
    linking->places = fp_arena_array(arena, profile->event_count, sizeof(uint32_t));
    linking->ranks = fp_arena_array(arena, profile->timeline_count, sizeof(uint32_t));
    if (linking->list_of == NULL || linking->late == NULL || linking->places == NULL ||
        linking->ranks == NULL)
        return fp_fail_memory(linking->scope->decoder);
    return true;
}

/* Finds the events whose parents are in later lists. Returns how many there are. */
static uint32_t find_late(struct linking *linking)
{
    const struct fp_profile *profile = linking->profile;
    uint32_t count = 0;
    for (uint32_t list = 0; list < profile->timeline_count; list++) {
        const struct fp_profile_timeline *timeline = &profile->timelines[list];
        const struct fp_scope_query query = {.timeline_id = timeline->id};
        for (uint32_t i = 0; i < timeline->event_count; i++) {
            const uint32_t event = timeline->first_event + i;
            const uint32_t id = linking->scope->facts[event].parent_id;
            linking->list_of[event] = list;
            linking->late[event] = FP_INDEX_NONE;
            if (id != 0)
                linking->late[event] =
                    fp_map_get(&linking->scope->seen, fp_scope_event_key(&query, id));
            count += linking->late[event] != FP_INDEX_NONE;
        }
    }
    return count;
}

/* Raises the rank of an event's list above that of another event's list. True if it changed. */
static bool raise_rank(struct linking *linking, uint32_t event, uint32_t above)
{
    if (above == FP_INDEX_NONE)
        return false;
    uint32_t *rank = &linking->ranks[linking->list_of[event]];
    const uint32_t least = linking->ranks[linking->list_of[above]] + 1;
    if (linking->list_of[event] == linking->list_of[above] || *rank >= least)
        return false;
    *rank = least;
    return true;
}

/* Ranks the lists so that all parents come first. False if no order does that. */
static bool rank_lists(struct linking *linking)
{
    const struct fp_profile *profile = linking->profile;
    bool is_changed = true;
    for (int round = 0; is_changed && round < ROUNDS_MAX; round++) {
        is_changed = false;
        for (uint32_t i = 0; i < profile->event_count; i++) {
            const uint32_t late = linking->late[i];
            const uint32_t parent = late != FP_INDEX_NONE ? late : profile->events[i].parent;
            is_changed = raise_rank(linking, i, parent) || is_changed;
        }
    }
    return !is_changed;
}

/* Sorts the lists by rank, stably. Sets order[i], the list that comes i-th. */
static bool sort_lists(const struct linking *linking, uint32_t *order)
{
    const uint32_t count = linking->profile->timeline_count;
    uint32_t *next =
        fp_arena_array(linking->scope->decoder->arena, (size_t)count + 1, sizeof(*next));
    if (next == NULL)
        return fp_fail_memory(linking->scope->decoder);
    for (uint32_t list = 0; list < count; list++) {
        FP_ASSERT(linking->ranks[list] < count); /* a chain has each list at most once */
        next[linking->ranks[list] + 1]++;
    }
    for (uint32_t rank = 1; rank <= count; rank++)
        next[rank] += next[rank - 1];
    for (uint32_t list = 0; list < count; list++)
        order[next[linking->ranks[list]]++] = list;
    return true;
}

/* Moves the lists, and finds the new places of their events. */
static void move_lists(struct linking *linking, const uint32_t *order,
                       struct fp_profile_timeline *lists)
{
    const struct fp_profile *profile = linking->profile;
    uint32_t next = 0;
    for (uint32_t i = 0; i < profile->timeline_count; i++) {
        const struct fp_profile_timeline *from = &profile->timelines[order[i]];
        lists[i] = *from;
        lists[i].first_event = next;
        for (uint32_t k = 0; k < from->event_count; k++)
            linking->places[from->first_event + k] = next++;
    }
}

static bool check_depth(struct linking *linking, uint32_t depth)
{
    struct fp_decoder *decoder = linking->scope->decoder;
    return depth <= decoder->limits->stack_depth ||
           fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, NULL,
                      "an event is nested %u deep over several lists; at most %u are allowed "
                      "(limits.stack_depth)",
                      (unsigned)depth, (unsigned)decoder->limits->stack_depth);
}

/* Moves the events to their places, with their parents. Parents are moved first. */
static bool move_events(struct linking *linking, struct fp_profile_event *events,
                        struct fp_scope_event_facts *facts)
{
    const struct fp_profile *profile = linking->profile;
    uint32_t *from = linking->list_of; /* by new place; not needed as lists any more */
    for (uint32_t i = 0; i < profile->event_count; i++)
        from[linking->places[i]] = i;
    for (uint32_t at = 0; at < profile->event_count; at++) {
        const uint32_t late = linking->late[from[at]];
        struct fp_profile_event *event = &events[at];
        *event = profile->events[from[at]];
        facts[at] = linking->scope->facts[from[at]];
        if (late != FP_INDEX_NONE) {
            event->parent = late;
            event->parent_id = 0;
        }
        if (event->parent != FP_INDEX_NONE)
            event->parent = linking->places[event->parent];
        FP_ASSERT(event->parent == FP_INDEX_NONE || event->parent < at);
        facts[at].depth = event->parent != FP_INDEX_NONE ? facts[event->parent].depth + 1 : 1;
        if (!check_depth(linking, facts[at].depth))
            return false;
    }
    return true;
}

static bool link_late(struct linking *linking)
{
    struct fp_profile *profile = linking->profile;
    struct fp_arena *arena = linking->scope->decoder->arena;
    uint32_t *order = fp_arena_array(arena, profile->timeline_count, sizeof(*order));
    struct fp_profile_timeline *lists =
        fp_arena_array(arena, profile->timeline_count, sizeof(*lists));
    struct fp_profile_event *events = fp_arena_array(arena, profile->event_count, sizeof(*events));
    struct fp_scope_event_facts *facts =
        fp_arena_array(arena, profile->event_count, sizeof(*facts));
    if (order == NULL || lists == NULL || events == NULL || facts == NULL)
        return fp_fail_memory(linking->scope->decoder);
    if (!sort_lists(linking, order))
        return false;
    move_lists(linking, order, lists);
    if (!move_events(linking, events, facts))
        return false;
    profile->timelines = lists;
    profile->events = events;
    linking->scope->facts = facts;
    return true;
}

/* Time that no list has. */

/* The known time below an event. */
struct inclusion {
    int64_t us; /* of its own and of the events inside */
    uint32_t children;
};

/* Returns how much longer an event took than the listed events inside it. The service rounds each
 * value, so a microsecond per event is nothing. An aggregate that no event can have adds nothing:
 * above limits.max_span, or more than is left_us of what a delta holds. */
static int64_t unlisted_us(const struct fp_scope *scope, uint32_t index,
                           const struct inclusion *inclusion, int64_t left_us)
{
    const int64_t aggregated_us = scope->facts[index].aggregated_us;
    const int64_t missing_us = aggregated_us - inclusion->us;
    bool is_time = aggregated_us <= scope->decoder->limits->max_span_us &&
                   missing_us > (int64_t)inclusion->children + 1 && missing_us <= left_us;
    return is_time ? missing_us : 0;
}

/* Returns how much time a delta can hold apart from the events' own. */
static int64_t left_in_delta(const struct fp_profile *profile)
{
    int64_t left_us = FP_DELTA_TIME_MAX_US;
    for (uint32_t i = 0; i < profile->event_count && left_us > 0; i++)
        left_us -= profile->events[i].self_us + profile->events[i].overhead_us;
    return left_us;
}

static bool find_unlisted(struct fp_scope *scope)
{
    struct fp_profile *profile = scope->decoder->profile;
    struct inclusion *below =
        fp_arena_array(scope->decoder->arena, profile->event_count, sizeof(*below));
    if (below == NULL)
        return fp_fail_memory(scope->decoder);
    int64_t left_us = left_in_delta(profile);
    for (uint32_t i = profile->event_count; i-- > 0;) {
        struct fp_profile_event *event = &profile->events[i];
        if (event->is_process)
            continue;
        below[i].us += event->self_us;
        event->unlisted_us = unlisted_us(scope, i, &below[i], left_us);
        below[i].us += event->unlisted_us;
        left_us -= event->unlisted_us;
        if (event->parent == FP_INDEX_NONE)
            continue;
        below[event->parent].us += below[i].us;
        below[event->parent].children++;
    }
    return true;
}

bool fp_scope_link_lists(struct fp_scope *scope)
{
    struct linking linking = {.scope = scope, .profile = scope->decoder->profile};
    if (linking.profile->event_count == 0)
        return true;
    if (!allocate(&linking))
        return false;
    if (find_late(&linking) > 0 && rank_lists(&linking) && !link_late(&linking))
        return false;
    return find_unlisted(scope);
}
