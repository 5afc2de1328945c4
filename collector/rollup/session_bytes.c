/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session to bytes and back: the last part of a delta.
 */
#include "collector/rollup/session_bytes.h"

#include "collector/rollup/bytes_in.h"
#include "collector/rollup/bytes_out.h"

enum { EVENT_BYTES_MIN = 11 };

const char *fp_reduce_mode_name(enum fp_reduce_mode mode)
{
    static const char *const names[FP_REDUCE_MODE_COUNT] = {
        [FP_REDUCE_ALL_EVENTS] = "all",
        [FP_REDUCE_UNIQUE_TYPES] = "reduce_unique_types",
        [FP_REDUCE_UNIQUE_EVENTS] = "reduce_unique_events",
        [FP_REDUCE_ALL] = "reduce_all",
    };
    return names[mode];
}

/* start_us: that of the event before it, since most are close. */
static void put_event(struct fp_buf *out, const struct fp_session_event *event, uint32_t index,
                      int64_t start_us)
{
    fp_out_varint(out, event->id);
    fp_out_varint(out, event->parent == FP_INDEX_NONE ? 0 : index - event->parent);
    fp_out_varint(out, event->type);
    fp_out_signed(out, event->start_us - start_us);
    fp_out_signed(out, event->duration_us);
    fp_out_time(out, event->self_us);
    fp_out_varint(out, (uint64_t)event->overhead_us);
    fp_out_varint(out, event->hits);
    fp_out_varint(out, event->child_count);
    fp_out_index(out, event->resource);
    fp_out_position(out, event->line);
    fp_out_text(out, event->detail);
}

static void put_timeline(struct fp_buf *out, const struct fp_session *session,
                         const struct fp_session_timeline *timeline)
{
    fp_out_varint(out, timeline->id);
    fp_out_varint(out, timeline->frame_id);
    fp_out_byte(out, timeline->mode);
    fp_out_varint(out, timeline->event_count);
    int64_t start_us = 0;
    for (uint32_t i = 0; i < timeline->event_count; i++) {
        const struct fp_session_event *event = &session->events[timeline->first_event + i];
        put_event(out, event, timeline->first_event + i, start_us);
        start_us = event->start_us;
    }
}

/* Few events have a parent that the upload does not list. */
static void put_parent_ids(struct fp_buf *out, const struct fp_session *session)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < session->event_count; i++)
        count += session->events[i].parent_id != 0;
    fp_out_varint(out, count);
    for (uint32_t i = 0; i < session->event_count; i++) {
        if (session->events[i].parent_id == 0)
            continue;
        fp_out_varint(out, i);
        fp_out_varint(out, session->events[i].parent_id);
    }
}

void fp_session_encode(const struct fp_session *session, struct fp_buf *out)
{
    fp_out_varint(out, session->source_id);
    fp_out_varint(out, session->window_id);
    fp_out_text(out, session->version);
    fp_out_text(out, session->page_url);
    fp_out_varint(out, (uint64_t)session->started_us);
    fp_out_byte(out, session->is_raw);
    fp_out_varint(out, session->content_len);
    fp_out_text(out, session->content);
    fp_out_varint(out, session->type_count);
    for (uint32_t i = 0; i < session->type_count; i++) {
        fp_out_signed(out, session->types[i].number);
        fp_out_text(out, session->types[i].name);
    }
    fp_out_varint(out, session->resource_count);
    for (uint32_t i = 0; i < session->resource_count; i++)
        fp_out_text(out, session->resources[i]);
    fp_out_varint(out, session->event_count);
    fp_out_varint(out, session->timeline_count);
    for (uint32_t i = 0; i < session->timeline_count; i++)
        put_timeline(out, session, &session->timelines[i]);
    fp_out_byte(out, session->is_detached);
    put_parent_ids(out, session);
}

static void take_types(struct fp_in *in, struct fp_session *session)
{
    session->types = fp_in_array(in, &session->type_count, sizeof(*session->types), 2);
    for (uint32_t i = 0; fp_in_ok(in) && i < session->type_count; i++) {
        int64_t number = fp_in_signed(in);
        session->types[i].number = (int32_t)number;
        session->types[i].name = fp_in_text(in);
        if (number < INT32_MIN || number > INT32_MAX)
            fp_in_refuse(in, FP_DELTA_DAMAGED);
    }
}

static void take_urls(struct fp_in *in, struct fp_session *session)
{
    session->resources = fp_in_array(in, &session->resource_count, sizeof(*session->resources), 1);
    for (uint32_t i = 0; fp_in_ok(in) && i < session->resource_count; i++)
        session->resources[i] = fp_in_text(in);
}

/* A parent may be in an earlier list of the timeline, which is another timeline here. */
static void take_event(struct fp_in *in, const struct fp_session *session, uint32_t index,
                       int64_t *start_us)
{
    struct fp_session_event *event = &session->events[index];
    event->id = fp_in_count(in);
    uint32_t back = (uint32_t)fp_in_varint(in, index);
    event->parent = back > 0 ? index - back : FP_INDEX_NONE;
    event->type = fp_in_index(in, session->type_count);
    int64_t step_us = fp_in_signed(in);
    if (__builtin_add_overflow(*start_us, step_us, start_us) || *start_us > FP_TIME_MAX_US ||
        *start_us < -FP_TIME_MAX_US)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
    event->start_us = *start_us;
    event->duration_us = fp_in_value(in);
    event->self_us = fp_in_time(in);
    event->overhead_us = (int64_t)fp_in_varint(in, FP_DELTA_TIME_MAX_US);
    event->hits = fp_in_count(in);
    event->child_count = fp_in_count(in);
    event->resource = fp_in_optional_index(in, session->resource_count);
    event->line = fp_in_position(in);
    event->detail = fp_in_text(in);
}

/* Adds each event's times to those of the events around it, innermost first. False: a sum exceeds
 * 64 bits. */
static bool add_up(const struct fp_session *session)
{
    for (uint32_t i = 0; i < session->event_count; i++) {
        session->events[i].total_us = session->events[i].self_us;
        session->events[i].total_overhead_us = session->events[i].overhead_us;
    }
    for (uint32_t i = session->event_count; i-- > 0;) {
        const struct fp_session_event *event = &session->events[i];
        if (event->parent == FP_INDEX_NONE)
            continue;
        struct fp_session_event *around = &session->events[event->parent];
        if (__builtin_add_overflow(around->total_us, event->total_us, &around->total_us) ||
            __builtin_add_overflow(around->total_overhead_us, event->total_overhead_us,
                                   &around->total_overhead_us))
            return false;
    }
    return true;
}

static void take_timelines(struct fp_in *in, struct fp_session *session)
{
    session->events =
        fp_in_array(in, &session->event_count, sizeof(*session->events), EVENT_BYTES_MIN);
    session->timelines = fp_in_array(in, &session->timeline_count, sizeof(*session->timelines), 4);
    uint32_t first = 0;
    for (uint32_t i = 0; fp_in_ok(in) && i < session->timeline_count; i++) {
        struct fp_session_timeline *timeline = &session->timelines[i];
        timeline->id = fp_in_count(in);
        timeline->frame_id = fp_in_count(in);
        const unsigned mode = fp_in_byte(in, FP_REDUCE_MODE_COUNT);
        if (mode < FP_REDUCE_ALL_EVENTS) {
            fp_in_refuse(in, FP_DELTA_DAMAGED);
            return;
        }
        timeline->mode = (enum fp_reduce_mode)mode;
        timeline->first_event = first;
        timeline->event_count = (uint32_t)fp_in_varint(in, session->event_count - first);
        int64_t start_us = 0;
        for (uint32_t k = 0; fp_in_ok(in) && k < timeline->event_count; k++)
            take_event(in, session, first + k, &start_us);
        first += timeline->event_count;
    }
    if (first != session->event_count)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
    if (fp_in_ok(in) && !add_up(session))
        fp_in_refuse(in, FP_DELTA_DAMAGED);
}

static void take_parent_ids(struct fp_in *in, struct fp_session *session)
{
    uint32_t count = (uint32_t)fp_in_varint(in, session->event_count);
    for (uint32_t i = 0; fp_in_ok(in) && i < count; i++) {
        const uint32_t event = fp_in_index(in, session->event_count);
        const uint32_t id = fp_in_count(in);
        if (fp_in_ok(in))
            session->events[event].parent_id = id;
    }
}

void fp_session_decode(struct fp_in *in, struct fp_delta *delta)
{
    struct fp_session *session = fp_arena_array(in->arena, 1, sizeof(*session));
    if (session == NULL) {
        fp_in_refuse(in, FP_DELTA_MEMORY);
        return;
    }
    delta->session = session;
    session->source_id = fp_in_count(in);
    session->window_id = fp_in_count(in);
    session->version = fp_in_text(in);
    session->page_url = fp_in_text(in);
    session->started_us = (int64_t)fp_in_varint(in, FP_TIME_MAX_US);
    session->is_raw = fp_in_byte(in, 2) != 0;
    session->content_len = fp_in_count(in);
    session->content = fp_in_text(in);
    take_types(in, session);
    take_urls(in, session);
    take_timelines(in, session);
    if (in->version < 3)
        return;
    session->is_detached = fp_in_byte(in, 2) != 0;
    take_parent_ids(in, session);
}
