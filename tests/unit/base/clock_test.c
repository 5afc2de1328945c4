/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks: the right epoch, the right unit, never backwards.
 */
#include "test.h"

#include "collector/base/clock.c"

static void real_time_counts_microseconds_since_1970(void **state)
{
    (void)state;
    int64_t before_s = (int64_t)time(NULL);
    int64_t now_us = fp_clock_real_us();
    int64_t after_s = (int64_t)time(NULL);
    /* time(2) may lag the fine clock by a tick. */
    assert_true(now_us >= before_s * FP_US_PER_S);
    assert_true(now_us < (after_s + 2) * FP_US_PER_S);
}

static void monotonic_time_never_goes_back(void **state)
{
    (void)state;
    int64_t last_us = fp_clock_monotonic_us();
    for (int i = 0; i < 1000; i++) {
        int64_t now_us = fp_clock_monotonic_us();
        assert_true(now_us >= last_us);
        last_us = now_us;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_time_counts_microseconds_since_1970),
        cmocka_unit_test(monotonic_time_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
