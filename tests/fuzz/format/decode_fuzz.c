/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as an inflated body. A decoded profile must fold within memory, add up, and
 * come back from the spool. A trace that is kept whole must give the same upload when it is sent
 * again.
 */
#include "collector/format/format.h"
#include "collector/profile/fold/fold.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/format/record.h"

enum { ARENA_MAX = 32 * 1024 * 1024 };

static struct fp_str detail_keys[] = {{"status", 6}, {"a", 1}};

static const struct fp_format_limits limits = {
    .max_inflated = (size_t)1024 * 1024,
    .samples = 1000,
    .stacks = 2000,
    .frames = 1000,
    .resources = 100,
    .entries = 500,
    .stack_depth = 200,
    .json_depth = 64,
    .max_span_us = INT64_C(3600) * 1000000,
    .detail_keys = {detail_keys, 2},
    .keep_ppm = 1000000,
};

static const struct fp_str routes[] = {{"/product/:id", 12}};
static const struct fp_str timing_names[] = {{"a-:id-b-:id", 11}, {"m*", 2}};

/* may_owe: own times may be negative, as for events whose children take longer. */
static void check_sums(const struct fp_delta *delta, bool may_owe)
{
    check(delta->unseen_us >= 0);
    int64_t self_us = delta->unattributed_us;
    for (uint32_t i = 0; i < delta->stack_sample_count; i++)
        self_us += delta->stack_samples[i].self_us;
    check(self_us == delta->profiled_us);
    for (uint32_t i = 0; i < delta->frame_count && !may_owe; i++)
        check(delta->frames[i].self_us <= delta->frames[i].total_us &&
              delta->frames[i].total_us <= delta->profiled_us);
    for (uint32_t i = 0; i < delta->stack_count; i++)
        check(delta->stacks[i].parent == FP_INDEX_NONE || delta->stacks[i].parent < i);
}

static void check_measured(const struct fp_delta *delta)
{
    for (uint32_t i = 0; i < delta->measured_count; i++) {
        const struct fp_delta_measured *measured = &delta->measured[i];
        int64_t self_us = measured->unattributed_us;
        check(measured->timing < delta->timing_count && measured->samples <= delta->samples);
        for (uint32_t k = 0; k < measured->frame_count; k++)
            self_us += delta->measured_frames[measured->first_frame + k].self_us;
        check(self_us == measured->profiled_us);
    }
}

/* Checks that an upload whose like came before adds nothing inside windows: all the time of both is
 * the first one's. */
static void check_joined(const struct fp_profile *profile, const struct fp_fold_context *context,
                         const struct fp_delta *first, struct fp_arena *arena)
{
    const struct fp_part *const earlier[] = {context->part};
    struct fp_fold_context joining = *context;
    struct fp_delta delta;
    joining.earlier = earlier;
    joining.earlier_count = 1;
    joining.part = NULL;
    if (!fp_fold(profile, &joining, arena, &delta))
        return;
    check(delta.measured_count == 0 && delta.profiled_us == first->profiled_us);
}

static void fold(const struct fp_profile *profile, struct fp_arena *arena)
{
    struct fp_part part;
    const struct fp_fold_context context = {
        .part = &part,
        .site = {"shop", 4},
        .rules = {.routes = routes,
                  .route_count = 1,
                  .timing_names = timing_names,
                  .timing_name_count = 2},
        .measures = 8,
        .user_agent = profile->release, /* texts of the fuzzer's choice */
        .referer = profile->said.variant,
    };
    struct fp_delta delta;
    if (!fp_fold(profile, &context, arena, &delta))
        return;
    check_sums(&delta, profile->event_count > 0);
    check_measured(&delta);
    check_record(&delta, ARENA_MAX, arena);
    if (profile->event_count == 0)
        check_joined(profile, &context, &delta, arena);
}

static void check_kept(const struct fp_profile *first, struct fp_arena *arena)
{
    struct fp_profile again;
    struct fp_upload_error error;
    if (!first->has_session || first->format != FP_UPLOAD_SELF_PROFILE)
        return;
    enum fp_verdict verdict =
        fp_format_decode(first->session.content, FP_STR(""), &limits, arena, &again, &error);
    check(verdict == FP_VERDICT_OK || verdict == FP_VERDICT_MEMORY);
    if (verdict == FP_VERDICT_MEMORY)
        return;
    check(again.sample_count == first->sample_count && again.timing_count == first->timing_count);
    check(fp_str_equal(again.session.content, first->session.content));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fp_arena arena;
    fp_arena_init(&arena, ARENA_MAX);
    struct fp_profile profile;
    struct fp_upload_error error;
    const struct fp_str body = {(const char *)bytes, len};
    enum fp_verdict verdict = fp_format_decode(body, FP_STR(""), &limits, &arena, &profile, &error);
    if (verdict == FP_VERDICT_OK) {
        fold(&profile, &arena);
        check_kept(&profile, &arena);
    } else {
        check(error.verdict == verdict && error.detail[0] != '\0');
    }
    fp_arena_release(&arena);
    return 0;
}
