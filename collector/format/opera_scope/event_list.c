/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, event list: the reply to one query becomes a timeline of the profile. A list or
 * event that was already read is not counted again.
 */
#include "collector/base/assert.h"
#include "collector/format/opera_scope/event.h"

#include <math.h>

/* A draft's event had one field less: no childCount. */
enum { DRAFT_EVENT_LEN_MAX = 15 };

struct event_list {
    struct fp_scope *scope;
    const struct fp_scope_query *query;
    uint32_t number;             /* of this list among the profile's timelines */
    struct fp_scope_items items; /* those kept so far */
};

/* Identity. */

/* Checks that an unreduced event was not read before. Returns FP_SCOPE_NOTE_NONE, or the
 * refusal. */
static enum fp_scope_note check_new(const struct event_list *list, uint32_t id)
{
    if (list->query->mode != FP_REDUCE_ALL_EVENTS)
        return FP_SCOPE_NOTE_NONE;
    if (fp_map_get(&list->items.ids, id) != FP_MAP_NONE)
        return FP_SCOPE_NOTE_DUPLICATE_ID;
    return fp_map_get(&list->scope->seen, fp_scope_event_key(list->query, id)) != FP_MAP_NONE
               ? FP_SCOPE_NOTE_KNOWN_EVENT
               : FP_SCOPE_NOTE_NONE;
}

/* Registers an item's id, if it has one. Sets *note if the item is refused. */
static bool register_id(struct event_list *list, struct fp_scope_item *item,
                        enum fp_scope_note *note)
{
    uint32_t id = item->event.id;
    if (id == 0)
        return true;
    *note = check_new(list, id);
    if (*note != FP_SCOPE_NOTE_NONE)
        return true;
    uint32_t at = fp_map_put(&list->items.ids, id, list->items.count);
    if (at == FP_MAP_NONE)
        return fp_fail_memory(list->scope->decoder);
    if (at != list->items.count) {
        fp_scope_add_note(list->scope, FP_SCOPE_NOTE_REPEATED_ID, 1, item->index);
        item->event.id = 0;
    }
    return true;
}

/* Events. */

/* True for an event of a draft: it has aggregatedTime, with a fraction, in the place of
 * childCount. */
static bool is_draft(const struct fp_scope_message *message)
{
    yyjson_val *value = message->fields[FP_SCOPE_EVENT_CHILD_COUNT];
    double number = yyjson_get_num(value);
    return message->is_list && message->list_len <= DRAFT_EVENT_LEN_MAX && yyjson_is_num(value) &&
           floor(number) < number;
}

static bool fail_draft(struct event_list *list, size_t index)
{
    const struct fp_place event = {.parent = &list->items.place, .index = index};
    const struct fp_place field = {.parent = &event, .index = FP_SCOPE_EVENT_CHILD_COUNT};
    return fp_fail_at(list->scope->decoder, FP_VERDICT_INVALID, &field,
                      "childCount has a fraction: this is the layout of a draft of the service "
                      "before 1.0; drafts are not supported");
}

static bool read_event(struct event_list *list, yyjson_val *value, size_t index)
{
    struct fp_scope_message message;
    struct fp_scope_item *item = &list->items.items[list->items.count];
    enum fp_scope_note note = FP_SCOPE_NOTE_NO_MESSAGE;
    if (fp_scope_read_message(value, &fp_scope_event_type, &message)) {
        if (is_draft(&message))
            return fail_draft(list, index);
        note = fp_scope_read_event(list->scope, &message, item);
    }
    item->index = index;
    if (note == FP_SCOPE_NOTE_NONE && !register_id(list, item, &note))
        return false;
    if (note != FP_SCOPE_NOTE_NONE) {
        fp_scope_add_note(list->scope, note, 1, index);
        return true;
    }
    list->items.count++;
    return fp_scope_read_detail(list->scope, &message, item);
}

static bool read_each_event(struct event_list *list, yyjson_val *events)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(events);
    yyjson_val *event;
    for (size_t index = 0; (event = yyjson_arr_iter_next(&iter)) != NULL; index++)
        if (!read_event(list, event, index))
            return false;
    return true;
}

/* Order and span. */

static void check_order(const struct event_list *list)
{
    const struct fp_scope_item *last = NULL;
    for (uint32_t i = 0; i < list->items.count; i++) {
        const struct fp_scope_item *item = &list->items.items[i];
        if (!item->has_start)
            continue;
        if (last != NULL && item->event.start_us < last->event.start_us) {
            fp_scope_add_note(list->scope, FP_SCOPE_NOTE_UNORDERED, 1, item->index);
            return;
        }
        last = item;
    }
}

/* Finds the span of all events. False if it is unknown: an event has no interval. */
static bool find_span(const struct event_list *list, int64_t *start_us, int64_t *end_us)
{
    *start_us = INT64_MAX;
    *end_us = INT64_MIN;
    for (uint32_t i = 0; i < list->items.count; i++) {
        const struct fp_profile_event *event = &list->items.items[i].event;
        if (event->duration_us == FP_DURATION_NONE)
            return false;
        int64_t event_end_us = event->start_us + event->duration_us;
        *start_us = event->start_us < *start_us ? event->start_us : *start_us;
        *end_us = event_end_us > *end_us ? event_end_us : *end_us;
    }
    return true;
}

static bool is_bound(const struct event_list *list, yyjson_val *value, int64_t expected_us)
{
    int64_t time_us;
    if (list->items.count == 0)
        return value == NULL;
    return fp_time_of(value, &time_us) && time_us == expected_us;
}

static void check_span(const struct event_list *list, yyjson_val *value)
{
    struct fp_scope_message interval;
    int64_t start_us;
    int64_t end_us;
    if (value == NULL || !find_span(list, &start_us, &end_us))
        return;
    if (!fp_scope_read_message(value, &fp_scope_interval_type, &interval) ||
        !is_bound(list, interval.fields[FP_SCOPE_INTERVAL_START], start_us) ||
        !is_bound(list, interval.fields[FP_SCOPE_INTERVAL_END], end_us))
        fp_scope_add_note(list->scope, FP_SCOPE_NOTE_SPAN, 1, FP_SCOPE_WHOLE_LIST);
}

/* The list. */

/* Allocates room for a list's events, whose number is within the limit. */
static bool reserve(struct event_list *list, uint32_t count)
{
    struct fp_scope *scope = list->scope;
    struct fp_profile *profile = scope->decoder->profile;
    uint32_t events_len = profile->event_count + count;
    list->items.items = fp_arena_array(scope->decoder->arena, count, sizeof(*list->items.items));
    struct fp_profile_event *events =
        fp_scope_grow(scope, profile->events, sizeof(*events), events_len, &scope->event_cap);
    struct fp_scope_event_facts *facts =
        fp_scope_grow(scope, scope->facts, sizeof(*facts), events_len, &scope->fact_cap);
    struct fp_profile_timeline *timelines =
        fp_scope_grow(scope, profile->timelines, sizeof(*timelines), profile->timeline_count + 1,
                      &scope->timeline_cap);
    if (list->items.items == NULL || events == NULL || facts == NULL || timelines == NULL)
        return fp_fail_memory(scope->decoder);
    profile->events = events;
    scope->facts = facts;
    profile->timelines = timelines;
    return true;
}

static uint32_t frame_of(struct fp_scope *scope, uint32_t timeline_id)
{
    uint32_t at = fp_map_get(&scope->timelines, timeline_id);
    if (at != FP_MAP_NONE)
        return scope->frame_ids[at];
    fp_scope_add_note(scope, FP_SCOPE_NOTE_UNKNOWN_TIMELINE, 1, FP_SCOPE_WHOLE_LIST);
    return 0;
}

static bool read_list(struct event_list *list, const struct fp_scope_message *message)
{
    struct fp_scope *scope = list->scope;
    struct fp_profile *profile = scope->decoder->profile;
    yyjson_val *events = message->fields[FP_SCOPE_EVENTS_LIST];
    uint32_t first = profile->event_count;
    if (!reserve(list, (uint32_t)yyjson_arr_size(events)) || !read_each_event(list, events))
        return false;
    check_order(list);
    if (list->items.count == yyjson_arr_size(events))
        check_span(list, message->fields[FP_SCOPE_EVENTS_INTERVAL]);
    if (!fp_scope_place_events(scope, list->query, &list->items))
        return false;
    fp_scope_check_sums(scope, &list->items);
    profile->timelines[profile->timeline_count++] =
        (struct fp_profile_timeline){.id = list->query->timeline_id,
                                     .frame_id = frame_of(scope, list->query->timeline_id),
                                     .mode = list->query->mode,
                                     .first_event = first,
                                     .event_count = profile->event_count - first};
    return true;
}

/* Counts a reply's events. Sets *is_known if the same list was already read. */
static bool count_list(struct event_list *list, yyjson_val *events, bool *is_known)
{
    struct fp_scope *scope = list->scope;
    struct fp_profile_session *session = &scope->decoder->profile->session;
    size_t count = yyjson_arr_size(events);
    uint32_t limit = scope->decoder->limits->entries;
    FP_ASSERT(session->records_read <= limit);
    if (events != NULL && !yyjson_is_arr(events))
        return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, &list->items.place,
                          "eventList must be a list");
    if (count > limit - session->records_read || list->number == limit)
        return fp_fail_at(scope->decoder, FP_VERDICT_TOO_LARGE, &list->items.place,
                          "more than %u events or lists of them (limits.entries)", (unsigned)limit);
    uint32_t first = fp_map_put(&scope->lists, list->query->key, list->number);
    if (first == FP_MAP_NONE)
        return fp_fail_memory(scope->decoder);
    session->records_read += (uint32_t)count;
    *is_known = first != list->number;
    if (*is_known && count > 0)
        fp_scope_add_note(scope, FP_SCOPE_NOTE_KNOWN_LIST, (uint32_t)count, FP_SCOPE_WHOLE_LIST);
    return true;
}

bool fp_scope_read_events(struct fp_scope *scope, const struct fp_place *place, yyjson_val *value,
                          const struct fp_scope_query *query)
{
    struct fp_scope_message message;
    if (!fp_scope_read_message(value, &fp_scope_events_type, &message))
        return fp_fail_at(scope->decoder, FP_VERDICT_INVALID, place,
                          "the reply must be an Events message: a list, or an object by field "
                          "names");
    struct event_list list = {.scope = scope,
                              .query = query,
                              .items.place =
                                  fp_scope_field_place(&message, place, FP_SCOPE_EVENTS_LIST),
                              .number = scope->decoder->profile->timeline_count};
    bool is_known = false;
    scope->list = &list.items.place;
    if (!count_list(&list, message.fields[FP_SCOPE_EVENTS_LIST], &is_known))
        return false;
    if (is_known)
        return true;
    /* No larger than needed: there may be as many lists as events. */
    fp_map_init(&list.items.ids, yyjson_arr_size(message.fields[FP_SCOPE_EVENTS_LIST]));
    bool is_done = read_list(&list, &message);
    fp_map_release(&list.items.ids);
    return is_done;
}
