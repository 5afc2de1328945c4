/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollup, sessions: a kept session becomes its row, its timelines' rows and its events' rows.
 */
#include "collector/base/assert.h"
#include "collector/rollup/addition.h"
#include "collector/rollup/frame_vector.h"
#include "collector/rollup/ids.h"

#include <inttypes.h>

/* Appends a number to an array's text. */
static void put_number(struct fp_buf *text, int64_t number)
{
    fp_buf_addf(text, "%c%" PRId64, text->len > 0 ? ',' : '{', number);
}

enum vector_column { TIMING_IDS, FRAME_IDS, SELF_US, SEEN_FRAME_IDS, VECTOR_COLUMNS };

static void put_vector(const struct fp_frame_vector *vector, struct fp_buf *texts)
{
    for (uint32_t i = 0; i < vector->entry_count; i++) {
        put_number(&texts[TIMING_IDS], (int64_t)vector->entries[i].timing_id);
        put_number(&texts[FRAME_IDS], (int64_t)vector->entries[i].frame_id);
        put_number(&texts[SELF_US], vector->entries[i].self_us);
    }
    for (uint32_t i = 0; i < vector->frame_count; i++)
        put_number(&texts[SEEN_FRAME_IDS], (int64_t)vector->frame_ids[i]);
}

/* Copies a finished array. False: no room. */
static bool give_array(const struct fp_addition *add, struct fp_buf *text, struct fp_str *copy)
{
    fp_buf_addf(text, text->len > 0 ? "}" : "{}");
    return !text->failed &&
           fp_addition_text(add, (struct fp_str){(const char *)text->data, text->len}, copy);
}

static bool add_vector(const struct fp_addition *add, struct fp_vector_texts *row)
{
    enum { NUMBER_LEN = 21 };
    struct fp_buf texts[VECTOR_COLUMNS];
    struct fp_frame_vector vector;
    struct fp_str *const copies[VECTOR_COLUMNS] = {&row->timing_ids, &row->frame_ids, &row->self_us,
                                                   &row->seen_frame_ids};
    bool fits = true;
    for (size_t i = 0; i < VECTOR_COLUMNS; i++)
        fp_buf_init(&texts[i], (size_t)(FP_VECTOR_ENTRIES_MAX + 1) * NUMBER_LEN);
    fp_frame_vector_fill(add->delta, &vector);
    put_vector(&vector, texts);
    for (size_t i = 0; i < VECTOR_COLUMNS; i++)
        fits = fits && give_array(add, &texts[i], copies[i]);
    for (size_t i = 0; i < VECTOR_COLUMNS; i++)
        fp_buf_release(&texts[i]);
    return fits;
}

static bool add_session_row(const struct fp_addition *add, uint64_t session_id)
{
    const struct fp_session *session = add->delta->session;
    struct fp_session_row *row = fp_addition_fact(add, FP_ROLLUP_TABLE_SESSION, session_id, 0);
    if (row == NULL)
        return false;
    row->upload = add->delta->id;
    row->load = add->delta->load;
    row->has_load = add->delta->has_load;
    row->part = (int32_t)add->delta->part;
    row->records_read = fp_addition_int32(add->delta->records_read);
    row->records_refused = fp_addition_int32(add->delta->records_refused);
    row->received_us = add->delta->received_us;
    row->started_us = session->started_us;
    row->has_started = session->started_us != 0;
    row->source_id = session->source_id;
    row->window_id = session->window_id;
    row->content_len = (int32_t)session->content_len;
    row->format = add->delta->format;
    row->is_raw = session->is_raw;
    row->is_detached = session->is_detached;
    return fp_addition_text(add, session->version, &row->version) &&
           fp_addition_text(add, session->page_url, &row->page_url) &&
           fp_addition_text(add, session->content, &row->content) && add_vector(add, &row->vector);
}

static bool add_event(const struct fp_addition *add, uint64_t session_id, uint32_t index,
                      const struct fp_str *type_names, int64_t timeline)
{
    const struct fp_session *session = add->delta->session;
    const struct fp_session_event *event = &session->events[index];
    FP_ASSERT(event->type < session->type_count);
    FP_ASSERT(event->parent == FP_INDEX_NONE || event->parent < index);
    struct fp_event_row *row =
        fp_addition_fact(add, FP_ROLLUP_TABLE_EVENT, session_id, (int64_t)index + 1);
    if (row == NULL)
        return false;
    row->timeline = timeline;
    row->parent = event->parent == FP_INDEX_NONE ? 0 : (int64_t)event->parent + 1;
    row->event_id = event->id;
    row->parent_id = event->parent_id;
    row->start_us = event->start_us;
    row->duration_us = event->duration_us;
    row->has_duration = event->duration_us != FP_DURATION_NONE;
    row->self_us = event->self_us;
    row->overhead_us = event->overhead_us;
    row->total_us = event->total_us;
    row->total_overhead_us = event->total_overhead_us;
    row->hits = event->hits;
    row->child_count = event->child_count;
    row->type = type_names[event->type];
    row->type_number = session->types[event->type].number;
    row->line = event->line;
    row->has_resource = event->resource != FP_INDEX_NONE;
    row->has_detail = event->detail.len > 0;
    const struct fp_str url = row->has_resource ? session->resources[event->resource] : FP_STR("");
    return fp_addition_text(add, url, &row->resource) &&
           fp_addition_text(add, event->detail, &row->detail);
}

/* Copies each name once, however many events have it. NULL: no room. */
static struct fp_str *copy_type_names(const struct fp_addition *add)
{
    const struct fp_session *session = add->delta->session;
    struct fp_str *names = fp_arena_array(&add->rollup->texts, session->type_count, sizeof(*names));
    for (uint32_t i = 0; names != NULL && i < session->type_count; i++)
        if (!fp_addition_text(add, session->types[i].name, &names[i]))
            return NULL;
    return names;
}

static bool add_timeline(const struct fp_addition *add, uint64_t session_id, uint32_t index,
                         const struct fp_str *type_names)
{
    const struct fp_session_timeline *timeline = &add->delta->session->timelines[index];
    int64_t part = (int64_t)index + 1;
    struct fp_timeline_row *row = fp_addition_fact(add, FP_ROLLUP_TABLE_TIMELINE, session_id, part);
    if (row == NULL)
        return false;
    row->timeline_id = timeline->id;
    row->frame_id = timeline->frame_id;
    row->mode = timeline->mode;
    row->events = (int32_t)timeline->event_count;
    for (uint32_t i = 0; i < timeline->event_count; i++)
        if (!add_event(add, session_id, timeline->first_event + i, type_names, part))
            return false;
    return true;
}

bool fp_addition_session(const struct fp_addition *add)
{
    const struct fp_session *session = add->delta->session;
    if (session == NULL)
        return true;
    uint64_t session_id = fp_session_id((uint64_t)add->site_id, &add->delta->id);
    const struct fp_str *type_names = copy_type_names(add);
    if (type_names == NULL || !add_session_row(add, session_id))
        return false;
    for (uint32_t i = 0; i < session->timeline_count; i++)
        if (!add_timeline(add, session_id, i, type_names))
            return false;
    return true;
}
