/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as an upload with a trace. The fast reader of traces and the general decoder
 * must agree on each member of the profile, and on each error and its place. The first byte selects
 * the limits.
 */
#include "tests/fuzz/check.h"
#include "tests/tools/general_decoder.h"

enum { ARENA_MAX = 32 * 1024 * 1024 };

#define LIMITS(counts, depth, keep)                                                                \
    {.max_inflated = (size_t)1024 * 1024,                                                          \
     .samples = (counts),                                                                          \
     .stacks = (counts),                                                                           \
     .frames = (counts),                                                                           \
     .resources = (counts),                                                                        \
     .entries = (counts),                                                                          \
     .stack_depth = (depth),                                                                       \
     .json_depth = (depth),                                                                        \
     .max_span_us = INT64_C(3600) * 1000000,                                                       \
     .keep_ppm = (keep)}

static const struct fp_format_limits all_limits[] = {
    LIMITS(10000, 200, 0), LIMITS(10000, 200, 1000000), LIMITS(3, 200, 0),
    LIMITS(10000, 4, 0),   LIMITS(10000, 3, 0),
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2 || bytes[1] != '{')
        return -1; /* the fast reader does not look at it */
    const struct fp_format_limits *limits = &all_limits[bytes[0] % FP_COUNT(all_limits)];
    const struct fp_str body = {(const char *)bytes + 1, len - 1};
    struct fp_decoding fast;
    struct fp_decoding general;
    fp_decoding_run_general(&general, body, limits, ARENA_MAX);
    fp_decoding_run(&fast, body, limits, ARENA_MAX);
    if (general.verdict != FP_VERDICT_MEMORY)
        check(fp_decoding_difference(&fast, &general) == NULL);
    fp_decoding_release(&fast);
    fp_decoding_release(&general);
    return 0;
}
