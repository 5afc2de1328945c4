/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, tree: sorts a flat list of events with the ids of their parents so that parents come
 * before their children.
 *
 * Visits each event at most twice: once on the way up to the first ancestor that is placed, once on
 * the way back.
 */
#include "collector/base/assert.h"
#include "collector/format/opera_scope/event.h"

struct tree {
    struct fp_scope *scope;
    const struct fp_scope_query *query;
    const struct fp_place *place; /* of the list */
    struct fp_scope_item *items;
    uint32_t *climbed; /* stack: indexes of the items on the way up */
};

static bool fail_depth(struct tree *tree, uint32_t depth)
{
    struct fp_decoder *decoder = tree->scope->decoder;
    return fp_fail_at(decoder, FP_VERDICT_TOO_LARGE, tree->place,
                      "an event is nested %u deep; at most %u are allowed (limits.stack_depth)",
                      (unsigned)depth, (unsigned)decoder->limits->stack_depth);
}

static void count_child(struct fp_scope_item *parent, const struct fp_scope_item *child)
{
    parent->child_count++;
    parent->children_ms += child->aggregated_ms;
    parent->has_all_aggregated = parent->has_all_aggregated && child->has_aggregated;
}

/* Sets an item's parent, which is placed or skipped. */
static void set_parent(struct tree *tree, struct fp_scope_item *item)
{
    struct fp_scope_item *parent =
        item->parent != FP_INDEX_NONE ? &tree->items[item->parent] : NULL;
    item->event.parent = item->known_parent;
    FP_ASSERT(parent == NULL || parent->state == FP_SCOPE_ITEM_PLACED ||
              parent->state == FP_SCOPE_ITEM_SKIPPED);
    if (parent == NULL || parent->state != FP_SCOPE_ITEM_PLACED)
        return;
    item->event.parent = parent->position;
    count_child(parent, item);
}

/* Lets later lists find an unreduced event. */
static bool remember(struct tree *tree, const struct fp_scope_item *item)
{
    if (tree->query->mode != FP_REDUCE_ALL_EVENTS || item->event.id == 0)
        return true;
    uint64_t key = fp_scope_event_key(tree->query, item->event.id);
    return fp_map_put(&tree->scope->seen, key, item->position) != FP_MAP_NONE ||
           fp_fail_memory(tree->scope->decoder);
}

static bool place_item(struct tree *tree, struct fp_scope_item *item)
{
    struct fp_profile *profile = tree->scope->decoder->profile;
    struct fp_scope_event_facts *facts = tree->scope->facts;
    set_parent(tree, item);
    uint32_t parent = item->event.parent;
    uint32_t depth = parent != FP_INDEX_NONE ? facts[parent].depth + 1 : 1;
    if (depth > tree->scope->decoder->limits->stack_depth)
        return fail_depth(tree, depth);
    FP_ASSERT(profile->event_count < tree->scope->event_cap);
    item->state = FP_SCOPE_ITEM_PLACED;
    item->position = profile->event_count++;
    facts[item->position] = (struct fp_scope_event_facts){
        .depth = depth,
        .parent_id = item->is_late ? item->parent_id : 0,
        .aggregated_us = item->aggregated_us,
    };
    profile->events[item->position] = item->event;
    profile->session.records_kept++;
    return remember(tree, item);
}

/* Skips the items climbed since `first`: each is its own ancestor. Returns how many are left. */
static uint32_t skip_cycle(struct tree *tree, uint32_t first, uint32_t count)
{
    uint32_t at;
    do {
        at = tree->climbed[--count];
        tree->items[at].state = FP_SCOPE_ITEM_SKIPPED;
    } while (at != first);
    return count;
}

static bool place_with_ancestors(struct tree *tree, uint32_t at)
{
    struct fp_scope_item *items = tree->items;
    uint32_t count = 0;
    for (; at != FP_INDEX_NONE && items[at].state == FP_SCOPE_ITEM_WAITING; at = items[at].parent) {
        items[at].state = FP_SCOPE_ITEM_CLIMBED;
        tree->climbed[count++] = at;
    }
    if (at != FP_INDEX_NONE && items[at].state == FP_SCOPE_ITEM_CLIMBED)
        count = skip_cycle(tree, at, count);
    while (count > 0)
        if (!place_item(tree, &items[tree->climbed[--count]]))
            return false;
    return true;
}

/* Returns the event of an earlier list with this id, FP_INDEX_NONE if there is none. */
static uint32_t find_known(const struct tree *tree, uint32_t id)
{
    return fp_map_get(&tree->scope->seen, fp_scope_event_key(tree->query, id));
}

/* Finds an item's parent in this list or in an earlier one. The default is the event that the query
 * names: it is an ancestor of all, even of events whose parents were filtered out. */
static void find_parent(struct tree *tree, const struct fp_map *ids, struct fp_scope_item *item)
{
    item->parent = item->known_parent = FP_INDEX_NONE;
    if (item->parent_id != 0)
        item->parent = fp_map_get(ids, item->parent_id);
    if (tree->query->mode != FP_REDUCE_ALL_EVENTS)
        return;
    item->known_parent = find_known(tree, item->parent_id);
    item->is_late = item->parent_id != 0 && item->parent == FP_INDEX_NONE &&
                    item->known_parent == FP_INDEX_NONE;
    if (item->is_late)
        item->event.parent_id = item->parent_id; /* another part of the session may list it */
    if (item->known_parent == FP_INDEX_NONE)
        item->known_parent = find_known(tree, tree->query->event_id);
}

bool fp_scope_place_events(struct fp_scope *scope, const struct fp_scope_query *query,
                           const struct fp_scope_items *items)
{
    struct tree tree = {scope, query, &items->place, items->items, NULL};
    tree.climbed = fp_arena_array(scope->decoder->arena, items->count, sizeof(*tree.climbed));
    if (tree.climbed == NULL)
        return fp_fail_memory(scope->decoder);
    for (uint32_t i = 0; i < items->count; i++)
        find_parent(&tree, &items->ids, &items->items[i]);
    for (uint32_t i = 0; i < items->count; i++)
        if (!place_with_ancestors(&tree, i))
            return false;
    for (uint32_t i = 0; i < items->count; i++)
        if (items->items[i].state == FP_SCOPE_ITEM_SKIPPED)
            fp_scope_add_note(scope, FP_SCOPE_NOTE_CYCLE, 1, items->items[i].index);
    return true;
}
