/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, events: reads the events of a reply to a query into the profile.
 *
 * fp_scope_read_events reads a reply: each event (fp_scope_read_event), its detail
 * (fp_scope_read_detail), then their order (fp_scope_place_events) and sums (fp_scope_check_sums).
 * Functions that return bool fill decoder->error before they return false.
 */
#ifndef FP_FORMAT_OPERA_SCOPE_EVENT_H
#define FP_FORMAT_OPERA_SCOPE_EVENT_H

#include "collector/format/opera_scope/message.h"
#include "collector/format/opera_scope/query.h"
#include "collector/format/opera_scope/scope.h"

/* An event of a reply, before it is in the profile. */
struct fp_scope_item {
    struct fp_profile_event event; /* without its parent until it is placed */
    size_t index;                  /* in the reply's list */
    uint32_t parent_id;            /* 0: none */
    bool has_start;
    bool has_child_count;
    bool has_aggregated;
    double time_ms;
    double aggregated_ms;
    int64_t aggregated_us;

    /* Place in the tree: */
    bool is_late;          /* its parent may be in a later list */
    uint32_t known_parent; /* index among the events of earlier lists, FP_INDEX_NONE */
    enum fp_scope_item_state {
        FP_SCOPE_ITEM_WAITING,
        FP_SCOPE_ITEM_CLIMBED, /* on the way up to an ancestor that is placed */
        FP_SCOPE_ITEM_PLACED,
        FP_SCOPE_ITEM_SKIPPED
    } state;
    uint32_t parent;   /* index among the items, FP_INDEX_NONE */
    uint32_t position; /* index among the profile's events */
    uint32_t child_count;
    double children_ms; /* aggregated time of the children that have one */
    bool has_all_aggregated;
};

/* The items of one list. */
struct fp_scope_items {
    struct fp_place place; /* of the list */
    struct fp_scope_item *items;
    uint32_t count;
    struct fp_map ids; /* owned: eventID -> index */
};

/* Returns the key of a timeline's event in fp_scope.seen. */
static inline uint64_t fp_scope_event_key(const struct fp_scope_query *query, uint32_t event_id)
{
    return (uint64_t)query->timeline_id << 32 | event_id;
}

/* Reads the Events message that answers a query into a timeline of the profile. The query's session
 * is set. */
bool fp_scope_read_events(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                          const struct fp_scope_query *query) FP_MUST_CHECK;

/* Reads one event without its detail. Returns FP_SCOPE_NOTE_NONE, or why the event is refused;
 * *item is then undefined. */
enum fp_scope_note fp_scope_read_event(const struct fp_scope *scope,
                                       const struct fp_scope_message *message,
                                       struct fp_scope_item *item) FP_MUST_CHECK;

/* Reads an event's detail and aggregates into event.detail and event.resource. Notes what is wrong
 * with them. */
bool fp_scope_read_detail(struct fp_scope *scope, const struct fp_scope_message *message,
                          struct fp_scope_item *item) FP_MUST_CHECK;

/*
 * Appends the items that answer a query to the profile's events, for which there is room: in their
 * order, but parents first. Skips items that are their own ancestors.
 *
 * The parent of an event may be in this list or, for unreduced events, in an earlier list of the
 * timeline. An event without either becomes a child of the event that the query names, or a root.
 */
bool fp_scope_place_events(struct fp_scope *scope, const struct fp_scope_query *query,
                           const struct fp_scope_items *items) FP_MUST_CHECK;

/*
 * Finishes the tree once all lists are read. Links events to parents that only a later list of
 * their timeline has: moves lists so that parents still come first. An event stays where it is if
 * no order of the lists has all parents first. Then sets unlisted_us of all events.
 */
bool fp_scope_link_lists(struct fp_scope *scope) FP_MUST_CHECK;

/* Notes placed items whose aggregates do not add up. */
void fp_scope_check_sums(struct fp_scope *scope, const struct fp_scope_items *items);

#endif
