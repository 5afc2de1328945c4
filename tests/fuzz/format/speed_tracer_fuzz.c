/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as a dump of Speed Tracer. A decoded dump keeps the model's invariants, has
 * details in JSON, folds, and comes back from the spool. No record is lost or invented. A form feed
 * ends a part of a long session.
 */
#include "collector/format/carry.h"
#include "collector/format/format.h"
#include "collector/profile/fold/fold.h"
#include "tests/fuzz/format/record.h"

#include <yyjson.h>

enum { ARENA_MAX = 16 * 1024 * 1024 };

static const struct fp_format_limits limits = {
    .max_inflated = (size_t)1024 * 1024,
    .samples = 1000,
    .stacks = 500,
    .frames = 100,
    .resources = 50,
    .entries = 500,
    .stack_depth = 20,
    .json_depth = 32,
    .max_span_us = INT64_C(3600) * 1000000,
};

/* Checks a text with yyjson: a JSON string is UTF-8. */
static void check_text(struct fp_str text)
{
    if (text.len == 0)
        return;
    check(memchr(text.ptr, '\0', text.len) == NULL);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(doc, yyjson_mut_strn(doc, text.ptr, text.len));
    size_t len;
    char *json = yyjson_mut_write(doc, 0, &len);
    check(json != NULL);
    free(json);
    yyjson_mut_doc_free(doc);
}

static void check_detail(struct fp_str detail)
{
    if (detail.len == 0)
        return;
    yyjson_doc *doc = yyjson_read(detail.ptr, detail.len, 0);
    check(yyjson_is_obj(yyjson_doc_get_root(doc)));
    yyjson_doc_free(doc);
}

static void check_event(const struct fp_profile *profile, uint32_t index)
{
    const struct fp_profile_event *event = &profile->events[index];
    check(event->id == index + 1);
    check(event->parent == FP_INDEX_NONE || event->parent < index);
    check(event->resource == FP_INDEX_NONE || event->resource < profile->resource_count);
    check(event->line >= FP_POSITION_NONE);
    check(event->duration_us >= FP_DURATION_NONE);
    check(event->self_us <= (event->duration_us > 0 ? event->duration_us : 0));
    check_text(event->type);
    check_detail(event->detail);
}

static void check_stacks(const struct fp_profile *profile)
{
    for (uint32_t i = 0; i < profile->stack_count; i++) {
        const struct fp_profile_stack *stack = &profile->stacks[i];
        check(stack->frame < profile->frame_count);
        check(stack->parent == FP_INDEX_NONE || stack->parent < i);
    }
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const uint32_t stack = profile->samples[i].stack;
        check(stack == FP_INDEX_NONE || stack < profile->stack_count);
        check(profile->weights_us[i] > 0);
    }
    for (uint32_t i = 0; i < profile->frame_count; i++)
        check_text(profile->frames[i].function);
}

static void check_session(const struct fp_profile *profile)
{
    const struct fp_profile_session *session = &profile->session;
    check(profile->has_session && profile->timeline_count == 1 && profile->event_count > 0);
    check(session->records_kept == profile->event_count);
    check(session->records_kept <= session->records_read);
    check_text(session->version);
    check_text(profile->page_url);
    for (uint32_t i = 0; i < profile->resource_count; i++)
        check_text(profile->resources[i]);
    for (uint32_t i = 0; i < profile->timing_count; i++)
        check_text(profile->timings[i].name);
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

/* A part takes at most as much time from events of the part before as they have. */
static void check_earlier(const struct fp_profile *profile)
{
    int64_t taken_us = 0;
    int64_t weight_us = 0;
    for (uint32_t i = 0; i < profile->earlier_event_count; i++) {
        const struct fp_profile_event *event = &profile->earlier_events[i];
        check(event->parent == FP_INDEX_NONE || event->parent < i);
        check(event->sampled_us >= 0);
        check_text(event->type);
        taken_us += event->sampled_us;
    }
    for (uint32_t i = 0; i < profile->sample_count; i++)
        weight_us += profile->weights_us[i];
    check(taken_us <= weight_us);
}

/* Decodes a part, or a whole dump if continuation is NULL. */
static void read_dump(struct fp_str body, struct fp_continuation *continuation)
{
    struct fp_arena arena;
    fp_arena_init(&arena, ARENA_MAX);
    struct fp_profile profile;
    struct fp_upload_error error;
    struct fp_format_limits own = limits;
    own.continuation = continuation;
    enum fp_verdict verdict =
        fp_format_decode(body, FP_STR("speed-tracer"), &own, &arena, &profile, &error);
    if (verdict == FP_VERDICT_OK) {
        check_session(&profile);
        for (uint32_t i = 0; i < profile.event_count; i++)
            check_event(&profile, i);
        check_stacks(&profile);
        check_earlier(&profile);
        fold(&profile, &arena);
    } else {
        check(error.verdict == verdict && error.detail[0] != '\0');
    }
    fp_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *text = (const char *)bytes;
    const char *end = len > 0 ? memchr(text, '\f', len) : NULL;
    if (end == NULL)
        read_dump((struct fp_str){text, len}, NULL);
    struct fp_continuation part = {.is_next = true};
    while (end != NULL) {
        const size_t part_len = (size_t)(end - text);
        read_dump((struct fp_str){text, part_len}, &part);
        fp_carry_unref(part.before);
        part = (struct fp_continuation){.before = part.after, .is_next = part.after != NULL};
        const size_t used = part_len + (part_len < len);
        text += used;
        len -= used;
        end = len > 0 ? memchr(text, '\f', len) : NULL;
        if (end == NULL && len > 0)
            end = text + len;
    }
    fp_carry_unref(part.before);
    return 0;
}
