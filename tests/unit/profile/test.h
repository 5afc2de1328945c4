/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the unit tests of profiles: cmocka's headers in its order, and the steps from JSON to a
 * delta.
 */
#ifndef FP_TESTS_PROFILE_TEST_H
#define FP_TESTS_PROFILE_TEST_H

#include "tests/unit/unit.h"

#include "collector/format/format.h"
#include "collector/profile/fold/fold.h"
#include "tests/tools/default_limits.h"

enum { TEST_ARENA_MAX = 64 * 1024 * 1024 };

/* A site without routes, ceilings or templates. */
static const struct fp_fold_context no_context = {.site = {"shop", 4}};

/* Returns a test's JSON with " for each '. Lives in the arena. */
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

/* Decodes and folds. The arena's owner releases it. */
static inline void fold_body(struct fp_arena *arena, struct fp_str body,
                             const struct fp_fold_context *context, struct fp_delta *delta)
{
    struct fp_profile profile;
    struct fp_upload_error error;
    if (fp_format_decode(body, FP_STR(""), &default_limits, arena, &profile, &error))
        fail_msg("%s: %s", error.pointer, error.detail);
    assert_true(fp_fold(&profile, context, arena, delta));
}

static inline void assert_text(struct fp_str actual, const char *expected)
{
    assert_int_equal(actual.len, strlen(expected));
    assert_memory_equal(actual.len > 0 ? actual.ptr : "", expected, actual.len);
}

#endif
