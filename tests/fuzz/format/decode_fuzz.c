/*
 * Fuzzer: any bytes as an inflated body. What decodes must fold, within memory, and add up.
 */
#include "collector/format/format.h"
#include "collector/profile/fold.h"
#include "tests/fuzz/check.h"

enum { ARENA_MAX = 32 * 1024 * 1024 };

static const struct fp_format_limits limits = {
    .max_inflated = 1024 * 1024,
    .samples = 1000,
    .stacks = 2000,
    .frames = 1000,
    .resources = 100,
    .entries = 500,
    .stack_depth = 200,
    .json_depth = 64,
    .max_span_us = INT64_C(3600) * 1000000,
};

static const struct fp_str routes[] = {{"/product/:id", 12}};

static void check_sums(const struct fp_delta *delta)
{
    int64_t self_us = delta->unattributed_us;
    for (uint32_t i = 0; i < delta->stack_sample_count; i++)
        self_us += delta->stack_samples[i].self_us;
    check(self_us == delta->profiled_us);
    for (uint32_t i = 0; i < delta->frame_count; i++)
        check(delta->frames[i].self_us <= delta->frames[i].total_us &&
              delta->frames[i].total_us <= delta->profiled_us);
    for (uint32_t i = 0; i < delta->stack_count; i++)
        check(delta->stacks[i].parent == FP_INDEX_NONE || delta->stacks[i].parent < i);
}

static void fold(const struct fp_profile *profile, struct fp_arena *arena)
{
    const struct fp_fold_context context = {
        .site = {"shop", 4},
        .rules = {.routes = routes, .route_count = 1},
        .user_agent = profile->release, /* texts of the fuzzer's choice */
        .referer = profile->variant,
    };
    struct fp_delta delta;
    if (fp_fold(profile, &context, arena, &delta))
        check_sums(&delta);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fp_arena arena;
    fp_arena_init(&arena, ARENA_MAX);
    struct fp_profile profile;
    struct fp_format_error error;
    const struct fp_str body = {(const char *)bytes, len};
    enum fp_format_verdict verdict =
        fp_format_decode(body, FP_STR(""), &limits, &arena, &profile, &error);
    if (verdict == FP_FORMAT_OK)
        fold(&profile, &arena);
    else
        check(error.verdict == verdict && error.detail[0] != '\0');
    fp_arena_release(&arena);
    return 0;
}
