/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as an Opera Scope session. The first byte selects whether the others are the
 * whole body or the list of events in a valid envelope. A decoded session must be a sorted forest,
 * fold, and come back from the spool.
 */
#include "collector/format/format.h"
#include "collector/format/opera_scope/opera_scope.h"
#include "collector/profile/fold/fold.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/format/record.h"

enum { ARENA_MAX = 32 * 1024 * 1024 };

#define BEFORE                                                                                     \
    "{\"opera-scope\":{\"version\":\"1.0\",\"session\":[1],\"timelines\":[{\"request\":[1,1],"     \
    "\"reply\":[null,["
#define AFTER "]]}]}}"

static const struct fp_format_limits limits = {
    .max_inflated = (size_t)1024 * 1024,
    .samples = 1000,
    .stacks = 2000,
    .frames = 1000,
    .resources = 100,
    .entries = 500,
    .stack_depth = 20,
    .json_depth = 64,
    .max_span_us = INT64_C(3600) * 1000000,
};

static struct fp_str wrap(struct fp_arena *arena, struct fp_str events)
{
    const struct fp_str before = FP_STR(BEFORE);
    const struct fp_str after = FP_STR(AFTER);
    char *body = fp_arena_alloc(arena, before.len + events.len + after.len);
    if (body == NULL)
        return events;
    memcpy(body, before.ptr, before.len);
    memcpy(body + before.len, events.ptr, events.len);
    memcpy(body + before.len + events.len, after.ptr, after.len);
    return (struct fp_str){body, before.len + events.len + after.len};
}

/* Returns the timeline of an event. */
static const struct fp_profile_timeline *timeline_of(const struct fp_profile *profile,
                                                     uint32_t index)
{
    const struct fp_profile_timeline *timeline = profile->timelines;
    while (index >= timeline->first_event + timeline->event_count)
        timeline++;
    return timeline;
}

static void check_parent(const struct fp_profile *profile, uint32_t parent, uint32_t index)
{
    const struct fp_profile_timeline *around = timeline_of(profile, parent);
    const struct fp_profile_timeline *inside = timeline_of(profile, index);
    check(parent < index && around->id == inside->id);
    check(around == inside ||
          (around->mode == FP_REDUCE_ALL_EVENTS && inside->mode == FP_REDUCE_ALL_EVENTS));
}

static void check_event(const struct fp_profile *profile, uint32_t index)
{
    const struct fp_profile_event *event = &profile->events[index];
    if (event->parent != FP_INDEX_NONE)
        check_parent(profile, event->parent, index);
    check(event->self_us >= 0 && event->self_us <= limits.max_span_us);
    check(event->overhead_us >= 0 && event->duration_us >= FP_DURATION_NONE);
    check(event->resource == FP_INDEX_NONE || event->resource < profile->resource_count);
    check(event->type.len > 0 && event->type_number >= 0);
    check(event->detail.len == 0 || event->detail.ptr[0] == '{');
}

static void check_session(const struct fp_profile *profile)
{
    const struct fp_profile_session *session = &profile->session;
    uint32_t next = 0;
    check(profile->has_session && session->id != 0);
    check(session->records_kept == profile->event_count);
    check(session->records_read >= session->records_kept);
    check(session->note_count <= FP_PROFILE_NOTES_MAX);
    for (uint32_t i = 0; i < profile->timeline_count; i++) {
        const struct fp_profile_timeline *timeline = &profile->timelines[i];
        check(timeline->id != 0 && timeline->first_event == next);
        check(timeline->mode >= FP_REDUCE_ALL_EVENTS && timeline->mode <= FP_REDUCE_ALL);
        next += timeline->event_count;
        check(next <= profile->event_count);
        for (uint32_t k = timeline->first_event; k < next; k++)
            check_event(profile, k);
    }
    check(next == profile->event_count);
}

static void fold(const struct fp_profile *profile, struct fp_arena *arena)
{
    const struct fp_fold_context context = {.site = {"shop", 4}};
    struct fp_delta delta;
    if (!fp_fold(profile, &context, arena, &delta))
        return;
    int64_t self_us = delta.unattributed_us;
    for (uint32_t i = 0; i < delta.stack_sample_count; i++)
        self_us += delta.stack_samples[i].self_us;
    check(self_us == delta.profiled_us);
    check_record(&delta, ARENA_MAX, arena);
}

/* Checks that a session's content decodes to the same session. */
static void check_kept(const struct fp_profile *profile, struct fp_str kept, struct fp_arena *arena)
{
    struct fp_profile again;
    struct fp_upload_error error;
    enum fp_verdict verdict = fp_format_decode(kept, FP_STR(""), &limits, arena, &again, &error);
    if (verdict == FP_VERDICT_MEMORY)
        return;
    check(verdict == FP_VERDICT_OK && again.session.id == profile->session.id);
    check(again.next == NULL);
    check(again.timeline_count == profile->timeline_count);
    check(again.event_count == profile->event_count);
    check(again.session.window_id == profile->session.window_id);
}

/* Checks each session of a body: one that is kept whole, or several with their own lines. */
static void check_sessions(const struct fp_profile *first, struct fp_str body,
                           struct fp_arena *arena)
{
    size_t raw_len = 0;
    uint32_t count = 0;
    for (const struct fp_profile *profile = first; profile != NULL; profile = profile->next) {
        check_session(profile);
        fold(profile, arena);
        check_kept(profile, profile->session.content, arena);
        check((profile->session.raw.ptr != NULL) == (first->next != NULL));
        /* The shape is decided by the first line of the body only: other lines may have more
         * spaces. */
        if (first->next != NULL && fp_opera_scope_is_recording(profile->session.raw))
            check_kept(profile, profile->session.raw, arena);
        raw_len += profile->session.raw.len;
        count++;
    }
    check(raw_len <= body.len && count <= FP_PROFILE_SESSIONS_MAX);
}

/* Other formats have fuzzers of their own. */
static bool may_be_session(struct fp_str body)
{
    const struct fp_str member = FP_STR("opera-scope");
    return fp_opera_scope_is_recording(body) ||
           memmem(body.ptr, body.len, member.ptr, member.len) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return -1;
    struct fp_arena arena;
    fp_arena_init(&arena, ARENA_MAX);
    struct fp_profile profile;
    struct fp_upload_error error;
    struct fp_str body = {(const char *)bytes + 1, len - 1};
    if (bytes[0] % 2 == 1)
        body = wrap(&arena, body);
    if (!may_be_session(body)) {
        fp_arena_release(&arena);
        return -1;
    }
    enum fp_verdict verdict =
        fp_format_decode(body, FP_STR("opera-scope"), &limits, &arena, &profile, &error);
    if (verdict != FP_VERDICT_OK) {
        check(error.verdict == verdict && error.detail[0] != '\0');
    } else if (profile.format == FP_UPLOAD_OPERA_SCOPE) {
        check_sessions(&profile, body, &arena);
    }
    fp_arena_release(&arena);
    return 0;
}
