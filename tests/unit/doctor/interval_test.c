/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval: known values, and no share outside its interval.
 */
#include "tests/unit/unit.h"

#include "cli/doctor/interval.c"

static void assert_near(double seen, double wanted)
{
    assert_true(fabs(seen - wanted) < 0.00005);
}

static void agrees_with_published_values(void **state)
{
    (void)state;
    /* Newcombe (1998), table I, method 3. */
    struct fp_interval interval = fp_interval_of(81, 263);
    assert_near(interval.low, 0.2553);
    assert_near(interval.high, 0.3662);
    interval = fp_interval_of(15, 148);
    assert_near(interval.low, 0.0624);
    assert_near(interval.high, 0.1605);
    interval = fp_interval_of(0, 20);
    assert_near(interval.low, 0.0000);
    assert_near(interval.high, 0.1611);
    interval = fp_interval_of(1, 29);
    assert_near(interval.low, 0.0061);
    assert_near(interval.high, 0.1718);
}

static void contains_the_share_and_stays_between_0_and_1(void **state)
{
    (void)state;
    for (unsigned trials = 1; trials <= 100; trials++) {
        for (unsigned hits = 0; hits <= trials; hits++) {
            const struct fp_interval interval = fp_interval_of(hits, trials);
            const double share = (double)hits / trials;
            assert_true(interval.low >= 0 && interval.low <= share + 1e-12);
            assert_true(interval.high <= 1 && interval.high >= share - 1e-12);
        }
    }
}

static void no_trial_says_nothing(void **state)
{
    (void)state;
    const struct fp_interval interval = fp_interval_of(0, 0);
    assert_true(interval.low == 0 && interval.high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_published_values),
        cmocka_unit_test(contains_the_share_and_stays_between_0_and_1),
        cmocka_unit_test(no_trial_says_nothing),
    };
    return cmocka_run_group_tests_name("doctor_interval", tests, NULL, NULL);
}
