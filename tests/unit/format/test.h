/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the unit tests of the formats: cmocka's headers in their order, small limits, and JSON
 * that is readable inside C.
 */
#ifndef FP_TESTS_FORMAT_TEST_H
#define FP_TESTS_FORMAT_TEST_H

#include "tests/unit/unit.h"

#include "collector/format/format.h"

enum { TEST_ARENA_MAX = 16 * 1024 * 1024 };

/* So small that a short text can exceed each of them. */
static const struct fp_format_limits small_limits = {
    .max_inflated = 4096,
    .samples = 4,
    .stacks = 6,
    .frames = 5,
    .resources = 3,
    .entries = 6,
    .stack_depth = 3,
    .json_depth = 8,
    .max_span_us = 60 * INT64_C(1000000),
};

struct decoded {
    struct fp_arena arena;
    struct fp_profile profile;
    struct fp_upload_error error;
    enum fp_verdict verdict;
};

/* Returns a test's JSON with each ' replaced by ", in the arena. */
static inline struct fp_str json_of(struct fp_arena *arena, const char *text)
{
    struct fp_str json = {NULL, 0};
    assert_true(fp_arena_copy(arena, fp_str_of(text), &json));
    char *bytes = (char *)(uintptr_t)json.ptr;
    for (size_t i = 0; i < json.len; i++)
        if (bytes[i] == '\'')
            bytes[i] = '"';
    return json;
}

/* Decodes a body; the caller releases. */
static inline void decode_bytes(struct decoded *decoded, struct fp_str body, const char *hint)
{
    decoded->error = (struct fp_upload_error){.offset = -1};
    decoded->verdict = fp_format_decode(body, fp_str_of(hint), &small_limits, &decoded->arena,
                                        &decoded->profile, &decoded->error);
}

/* Decodes a test's JSON; the caller releases. */
static inline void decode(struct decoded *decoded, const char *text, const char *hint)
{
    fp_arena_init(&decoded->arena, TEST_ARENA_MAX);
    decode_bytes(decoded, json_of(&decoded->arena, text), hint);
}

static inline void release(struct decoded *decoded)
{
    fp_arena_release(&decoded->arena);
}

static inline void assert_text(struct fp_str actual, const char *expected)
{
    assert_int_equal(actual.len, strlen(expected));
    assert_memory_equal(actual.len > 0 ? actual.ptr : "", expected, actual.len);
}

#endif
