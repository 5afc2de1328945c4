/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of sums: a sum that a delta cannot hold is refused while the client can still get the
 * error.
 */
#include "tests/unit/format/test.h"

#include "collector/profile/fold/fold.h"

static enum fp_verdict decode_sums(const char *body, struct fp_arena *arena,
                                   struct fp_profile *profile, struct fp_upload_error *error)
{
    const struct fp_format_limits limits = {
        .max_inflated = 1 << 20,
        .samples = 1000,
        .stacks = 1000,
        .frames = 1000,
        .resources = 1000,
        .entries = 1000,
        .stack_depth = 100,
        .json_depth = 64,
        .max_span_us = INT64_C(1) << 53,
    };
    return fp_format_decode(fp_str_of(body), FP_STR(""), &limits, arena, profile, error);
}

#define LONG "{\"type\":1,\"time\":0,\"duration\":140737488355}\n" /* a little below 2^47 us */

static void a_sum_that_a_delta_holds_is_taken_and_one_more_is_refused(void **state)
{
    (void)state;
    struct fp_arena arena;
    struct fp_profile profile;
    struct fp_upload_error error;
    struct fp_delta delta;
    struct fp_delta read;
    struct fp_buf bytes;
    const struct fp_fold_context context = {.site = FP_STR("shop")};
    fp_arena_init(&arena, 1 << 24);
    fp_buf_init(&bytes, 1 << 20);
    assert_int_equal(decode_sums(LONG LONG, &arena, &profile, &error), FP_VERDICT_OK);
    assert_true(fp_fold(&profile, &context, &arena, &delta));
    fp_delta_encode(&delta, &bytes);
    assert_int_equal(fp_delta_decode(bytes.data, bytes.len, &arena, &read), FP_DELTA_OK);
    assert_int_equal(decode_sums(LONG LONG LONG, &arena, &profile, &error), FP_VERDICT_INVALID);
    assert_non_null(strstr(error.detail, "add up to"));
    fp_buf_release(&bytes);
    fp_arena_release(&arena);
}

#define SCOPE(list)                                                                                \
    "{\"opera-scope\":{\"version\":\"1.1\",\"session\":[4294967295,4294967295,[[1,4294967295]]],"  \
    "\"timelines\":[{\"request\":[null,1,1,null,1],\"reply\":[null,[[7,1,0,1,null,7]]]},"          \
    "{\"request\":[null,1],\"reply\":[null,[" list "]]}]}}"
#define FAR "9007199254740.992" /* 2^53 us */

/* An accepted upload must not be more than can be read from the spool. */
static void reads_the_largest_accepted_times_from_the_spool(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        SCOPE("[8,1,0,1,null,8,7],[9,1,0,1,null,9,8]"), /* parents in an earlier list */
        SCOPE("[7,1,0,1,[-" FAR "]],[7,1,0,1,[" FAR "," FAR "]],[7,1,0,1,[-" FAR ",0]]"),
        SCOPE("[7,1,0,1],[7,1,0,1,[-" FAR "," FAR "]]"),
        SCOPE("[2147483647,1,0,4294967295,null,4294967295,4294967294,4294967295," FAR "," FAR "]"),
    };
    struct fp_arena arena;
    struct fp_buf bytes;
    const struct fp_fold_context context = {.site = FP_STR("shop")};
    fp_arena_init(&arena, 1 << 24);
    fp_buf_init(&bytes, 1 << 20);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct fp_profile profile;
        struct fp_upload_error error;
        struct fp_delta delta;
        struct fp_delta read;
        fp_buf_clear(&bytes);
        assert_int_equal(decode_sums(bodies[i], &arena, &profile, &error), FP_VERDICT_OK);
        assert_true(fp_fold(&profile, &context, &arena, &delta));
        fp_delta_encode(&delta, &bytes);
        if (fp_delta_decode(bytes.data, bytes.len, &arena, &read) != FP_DELTA_OK)
            fail_msg("%s", bodies[i]);
        assert_int_equal(read.session->event_count, profile.event_count);
    }
    fp_buf_release(&bytes);
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_that_a_delta_holds_is_taken_and_one_more_is_refused),
        cmocka_unit_test(reads_the_largest_accepted_times_from_the_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
