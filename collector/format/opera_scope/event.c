/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opera Scope, event: reads and checks the numbers of one event, and the sums of a list.
 */
#include "collector/format/opera_scope/event.h"

#include <math.h>

/* How far each event may be off in a sum: the service's clocks count µs, and it rounds each
 * value. */
#define TOLERANCE_MS 0.001

static enum fp_scope_note read_cost(const struct fp_scope *scope, yyjson_val *value,
                                    enum fp_scope_note missing, int64_t *cost_us)
{
    if (!fp_time_of(value, cost_us) || yyjson_get_num(value) < 0)
        return missing;
    /* With this limit all sums fit 64 bits. */
    return *cost_us > scope->decoder->limits->max_span_us ? FP_SCOPE_NOTE_LONG_TIME
                                                          : FP_SCOPE_NOTE_NONE;
}

static enum fp_scope_note read_required(const struct fp_scope *scope,
                                        const struct fp_scope_message *message,
                                        struct fp_scope_item *item)
{
    struct fp_profile_event *event = &item->event;
    uint32_t type;
    if (!fp_scope_get_uint(message->fields[FP_SCOPE_EVENT_TYPE], &type) || type > INT32_MAX)
        return FP_SCOPE_NOTE_NO_TYPE;
    event->type_number = (int32_t)type;
    enum fp_scope_note note = read_cost(scope, message->fields[FP_SCOPE_EVENT_TIME],
                                        FP_SCOPE_NOTE_NO_TIME, &event->self_us);
    if (note == FP_SCOPE_NOTE_NONE)
        note = read_cost(scope, message->fields[FP_SCOPE_EVENT_OVERHEAD], FP_SCOPE_NOTE_NO_OVERHEAD,
                         &event->overhead_us);
    if (note != FP_SCOPE_NOTE_NONE)
        return note;
    item->time_ms = yyjson_get_num(message->fields[FP_SCOPE_EVENT_TIME]);
    return fp_scope_get_uint(message->fields[FP_SCOPE_EVENT_HITS], &event->hits)
               ? FP_SCOPE_NOTE_NONE
               : FP_SCOPE_NOTE_NO_HITS;
}

/* Reads the interval. Either bound may be missing; an event with one bound is a point in time. */
static enum fp_scope_note read_interval(yyjson_val *value, struct fp_scope_item *item)
{
    struct fp_profile_event *event = &item->event;
    struct fp_scope_message interval;
    event->duration_us = FP_DURATION_NONE;
    if (value == NULL)
        return FP_SCOPE_NOTE_NONE;
    if (!fp_scope_read_message(value, &fp_scope_interval_type, &interval))
        return FP_SCOPE_NOTE_BAD_INTERVAL;
    yyjson_val *start = interval.fields[FP_SCOPE_INTERVAL_START];
    yyjson_val *end = interval.fields[FP_SCOPE_INTERVAL_END];
    int64_t end_us = 0;
    if ((start != NULL && !fp_time_of(start, &event->start_us)) ||
        (end != NULL && !fp_time_of(end, &end_us)))
        return FP_SCOPE_NOTE_BAD_INTERVAL;
    item->has_start = start != NULL;
    if (start != NULL && end != NULL) {
        if (yyjson_get_num(end) < yyjson_get_num(start))
            return FP_SCOPE_NOTE_BACKWARD_INTERVAL;
        event->duration_us = end_us - event->start_us;
        if (event->duration_us > FP_TIME_MAX_US)
            return FP_SCOPE_NOTE_BAD_INTERVAL;
    } else if (end != NULL) {
        event->start_us = end_us;
    }
    return FP_SCOPE_NOTE_NONE;
}

/* True if the value is absent or an unsigned integer. */
static bool check_uint(yyjson_val *value, uint32_t *number)
{
    return value == NULL || fp_scope_get_uint(value, number);
}

static enum fp_scope_note read_optional(const struct fp_scope_message *message,
                                        struct fp_scope_item *item)
{
    yyjson_val *const *fields = message->fields;
    int64_t time_us = 0;
    if (!check_uint(fields[FP_SCOPE_EVENT_ID], &item->event.id) ||
        !check_uint(fields[FP_SCOPE_EVENT_PARENT], &item->parent_id) ||
        !check_uint(fields[FP_SCOPE_EVENT_CHILD_COUNT], &item->event.child_count))
        return FP_SCOPE_NOTE_BAD_OPTION;
    for (size_t i = FP_SCOPE_EVENT_AGGREGATED_OVERHEAD; i >= FP_SCOPE_EVENT_AGGREGATED_TIME; i--)
        if (fields[i] != NULL &&
            (!fp_time_of(fields[i], &time_us) || yyjson_get_num(fields[i]) < 0))
            return FP_SCOPE_NOTE_BAD_OPTION;
    item->has_child_count = fields[FP_SCOPE_EVENT_CHILD_COUNT] != NULL;
    item->has_aggregated = fields[FP_SCOPE_EVENT_AGGREGATED_TIME] != NULL;
    item->aggregated_us = item->has_aggregated ? time_us : 0;
    item->aggregated_ms = yyjson_get_num(fields[FP_SCOPE_EVENT_AGGREGATED_TIME]);
    return FP_SCOPE_NOTE_NONE;
}

enum fp_scope_note fp_scope_read_event(const struct fp_scope *scope,
                                       const struct fp_scope_message *message,
                                       struct fp_scope_item *item)
{
    *item = (struct fp_scope_item){
        .event = {.parent = FP_INDEX_NONE, .resource = FP_INDEX_NONE, .line = FP_POSITION_NONE},
        .has_all_aggregated = true};
    enum fp_scope_note note = read_required(scope, message, item);
    if (note == FP_SCOPE_NOTE_NONE)
        note = read_interval(message->fields[FP_SCOPE_EVENT_INTERVAL], item);
    if (note == FP_SCOPE_NOTE_NONE)
        note = read_optional(message, item);
    return note;
}

/* True if the aggregated time is the event's own time plus that of its children. Also true if not
 * all children are in the list. */
static bool adds_up(const struct fp_scope_item *item)
{
    if (!item->has_child_count || !item->has_all_aggregated ||
        item->event.child_count != item->child_count)
        return true;
    double sum_ms = item->time_ms + item->children_ms;
    return fabs(item->aggregated_ms - sum_ms) <= TOLERANCE_MS * (item->child_count + 1.0);
}

void fp_scope_check_sums(struct fp_scope *scope, const struct fp_scope_items *items)
{
    for (uint32_t i = 0; i < items->count; i++) {
        const struct fp_scope_item *item = &items->items[i];
        if (item->state != FP_SCOPE_ITEM_PLACED || !item->has_aggregated)
            continue;
        if (item->aggregated_ms < item->time_ms)
            fp_scope_add_note(scope, FP_SCOPE_NOTE_AGGREGATE_BELOW_TIME, 1, item->index);
        else if (!adds_up(item))
            fp_scope_add_note(scope, FP_SCOPE_NOTE_AGGREGATE_SUM, 1, item->index);
    }
}
