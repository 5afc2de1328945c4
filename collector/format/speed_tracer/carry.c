/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed Tracer, carry: copies the state between the memory of an upload and that of a carry.
 */
#include "collector/format/speed_tracer/carry.h"

#include "collector/base/assert.h"
#include "collector/format/carry.h"
#include "collector/format/speed_tracer/types.h"
#include "collector/format/speed_tracer/v8.h"

struct state {
    struct fp_str version;
    struct fp_str page; /* the first one of the session */
    struct fp_str shown_page;
    int64_t page_begin_us;     /* when the last page began */
    const struct fp_st_v8 *v8; /* NULL: no profile so far */
    struct fp_st_last last;
    struct fp_st_start *starts;
    uint32_t start_count;
    bool has_page_begin;
    bool may_be_early;
    bool is_early;
    bool lacks_profile; /* V8's state did not fit, or was lost before */
};

/* Restoring. */

static bool copy_text(struct fp_st_dump *dump, struct fp_str text, struct fp_str *copy)
{
    return fp_arena_copy(dump->decoder->arena, text, copy) || fp_fail_memory(dump->decoder);
}

/* Only the page carries a version; later parts hold records only. */
static bool restore_version(struct fp_st_dump *dump, const struct state *state)
{
    struct fp_str *version = &dump->decoder->profile->session.version;
    if (version->len > 0)
        return true;
    dump->may_be_early = state->may_be_early;
    dump->is_early = state->is_early;
    return copy_text(dump, state->version, version);
}

bool fp_st_carry_restore(struct fp_st_dump *dump)
{
    const struct fp_continuation *part = dump->decoder->limits->continuation;
    if (part == NULL)
        return true;
    dump->lacks_profile = !part->is_next;
    dump->before.is_lost = !part->is_next;
    if (part->before == NULL || part->before->format != FP_UPLOAD_SPEED_TRACER)
        return true;
    const struct state *state = part->before->state;
    dump->has_page_begin = state->has_page_begin;
    dump->page_begin_us = state->page_begin_us;
    dump->starts = state->starts;
    dump->start_count = state->start_count;
    dump->lacks_profile = dump->lacks_profile || state->lacks_profile;
    if (part->is_next)
        dump->before = state->last;
    return restore_version(dump, state) && copy_text(dump, state->page, &dump->session_page) &&
           copy_text(dump, state->shown_page, &dump->shown_page) &&
           (!part->is_next || state->v8 == NULL || fp_st_v8_resume(dump, state->v8));
}

/* Saving. */

static void find_page_begin(const struct fp_st_dump *dump, struct state *state)
{
    const struct fp_profile *profile = dump->decoder->profile;
    state->has_page_begin = dump->has_page_begin;
    state->page_begin_us = dump->page_begin_us;
    for (uint32_t i = 0; i < profile->event_count; i++) {
        const struct fp_profile_event *event = &profile->events[i];
        if (event->type_number != FP_ST_TYPE_TAB_CHANGED)
            continue;
        if (!state->has_page_begin || event->start_us > state->page_begin_us)
            state->page_begin_us = event->start_us;
        state->has_page_begin = true;
    }
}

/* Copies the last requests, those of this part before those of the parts before it. */
static bool save_starts(const struct fp_st_dump *dump, struct fp_arena *arena, struct state *state)
{
    const struct fp_profile *profile = dump->decoder->profile;
    struct fp_st_start starts[FP_ST_STARTS_MAX];
    uint32_t count = 0;
    for (uint32_t i = profile->event_count; i > 0 && count < FP_ST_STARTS_MAX; i--) {
        const struct fp_profile_event *event = &profile->events[i - 1];
        if (event->type_number == FP_ST_TYPE_RESOURCE_START && event->resource != FP_INDEX_NONE)
            starts[count++] = (struct fp_st_start){
                .url = profile->resources[event->resource],
                .start_us = event->start_us,
            };
    }
    for (uint32_t i = 0; i < dump->start_count && count < FP_ST_STARTS_MAX; i++)
        starts[count++] = dump->starts[i];
    state->starts = fp_arena_array(arena, count, sizeof(*starts));
    for (uint32_t i = 0; state->starts != NULL && i < count; i++) {
        state->starts[i].start_us = starts[i].start_us;
        if (!fp_arena_copy(arena, starts[i].url, &state->starts[i].url))
            return false;
    }
    state->start_count = count;
    return state->starts != NULL;
}

static bool fill(const struct fp_st_dump *dump, struct fp_arena *arena, struct state *state)
{
    const struct fp_profile *profile = dump->decoder->profile;
    *state = (struct state){
        .may_be_early = dump->may_be_early,
        .is_early = dump->is_early,
        .lacks_profile = dump->lacks_profile && dump->v8 == NULL,
    };
    find_page_begin(dump, state);
    return fp_arena_copy(arena, profile->session.version, &state->version) &&
           fp_arena_copy(arena, profile->page_url, &state->page) &&
           fp_arena_copy(arena, dump->shown_page, &state->shown_page) &&
           (!dump->is_early || save_starts(dump, arena, state));
}

/* Copies the last record's events, if it has a sequence and a duration. */
static bool copy_last(const struct fp_st_dump *dump, struct fp_arena *arena,
                      struct fp_st_last *last)
{
    const struct fp_profile *profile = dump->decoder->profile;
    const uint32_t first = dump->last_event - 1; /* index */
    FP_ASSERT(first < profile->event_count);
    const uint32_t count = profile->event_count - first;
    last->events = fp_arena_array(arena, count, sizeof(*last->events));
    if (last->events == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct fp_profile_event *event = &profile->events[first + i];
        struct fp_st_last_event *copy = &last->events[i];
        FP_ASSERT(i == 0 || (event->parent >= first && event->parent < first + i));
        *copy = (struct fp_st_last_event){
            .own_us = event->self_us > 0 ? event->self_us : 0,
            .parent = i > 0 ? event->parent - first : FP_INDEX_NONE,
            .type_number = event->type_number,
            .line = event->line,
        };
        bool has_url = event->resource != FP_INDEX_NONE;
        if (!fp_arena_copy(arena, event->type, &copy->type) ||
            (has_url && !fp_arena_copy(arena, profile->resources[event->resource], &copy->url)))
            return false;
    }
    last->event_count = count;
    return true;
}

static void save_last(const struct fp_st_dump *dump, struct fp_arena *arena,
                      struct fp_st_last *last)
{
    if (dump->last_event == 0)
        return;
    const struct fp_arena_mark mark = fp_arena_mark(arena);
    last->sequence = dump->last_sequence;
    last->id = (int64_t)dump->last_event - dump->decoder->profile->event_count;
    last->is_lost = !copy_last(dump, arena, last);
    if (last->is_lost)
        fp_arena_rewind(arena, &mark);
}

void fp_st_carry_save(const struct fp_st_dump *dump)
{
    struct fp_continuation *part = dump->decoder->limits->continuation;
    struct fp_carry *carry = part != NULL ? fp_carry_create(FP_UPLOAD_SPEED_TRACER) : NULL;
    if (carry == NULL)
        return;
    struct state *state = fp_arena_array(&carry->arena, 1, sizeof(*state));
    if (state == NULL || !fill(dump, &carry->arena, state)) {
        fp_carry_unref(carry);
        return;
    }
    if (dump->v8 != NULL) {
        const struct fp_arena_mark mark = fp_arena_mark(&carry->arena);
        state->v8 = fp_st_v8_copy(dump->v8, &carry->arena);
        state->lacks_profile = state->v8 == NULL;
        if (state->v8 == NULL)
            fp_arena_rewind(&carry->arena, &mark);
    }
    save_last(dump, &carry->arena, &state->last);
    carry->state = state;
    part->after = carry;
}
