/*
 * Bounds of sums: what a delta could not hold is refused while there is somebody to tell.
 */
#include "test.h"

#include "collector/profile/fold.h"

static enum fp_format_verdict decode_sums(const char *body, struct fp_arena *arena,
                                          struct fp_profile *profile, struct fp_format_error *error)
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
    struct fp_format_error error;
    struct fp_delta delta;
    struct fp_delta read;
    struct fp_buf bytes;
    const struct fp_fold_context context = {.site = FP_STR("shop")};
    fp_arena_init(&arena, 1 << 24);
    fp_buf_init(&bytes, 1 << 20);
    assert_int_equal(decode_sums(LONG LONG, &arena, &profile, &error), FP_FORMAT_OK);
    assert_true(fp_fold(&profile, &context, &arena, &delta));
    fp_delta_encode(&delta, &bytes);
    assert_int_equal(fp_delta_decode(bytes.data, bytes.len, &arena, &read), FP_DELTA_OK);
    assert_int_equal(decode_sums(LONG LONG LONG, &arena, &profile, &error), FP_FORMAT_INVALID);
    assert_non_null(strstr(error.detail, "add up to"));
    fp_buf_release(&bytes);
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_that_a_delta_holds_is_taken_and_one_more_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
