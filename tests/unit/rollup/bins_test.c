/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bins: exact below 64, 32 per octave above, in order, and never off by more than 1.6 %.
 */

#include "tests/unit/unit.h"

#include <math.h>

#include "collector/base/clock.h"
#include "collector/rollup/bins.c"

static const struct {
    int64_t value_us;
    uint16_t bin;
    double middle_us;
} pinned[] = {
    {0, 0, 0},
    {63, 63, 63},
    {64, 64, 64.5},
    {65, 64, 64.5},
    {66, 65, 66.5},
    {127, 95, 126.5},
    {128, 96, 129.5},
    {992, 190, 999.5},
    {1007, 190, 999.5},
    {1008, 191, 1015.5},
    {FP_TIME_MAX_US, 1568, 0x1p53 + 0x1p47 - 0.5},
};

static void puts_pinned_values_into_their_bins(void **state)
{
    (void)state;
    for (size_t i = 0; i < FP_COUNT(pinned); i++) {
        assert_int_equal(fp_bin_of(pinned[i].value_us), pinned[i].bin);
        assert_true(fabs(fp_bin_middle_us(pinned[i].bin) - pinned[i].middle_us) < 1e-9);
    }
}

static void keeps_the_order_and_leaves_no_bin_out(void **state)
{
    (void)state;
    uint16_t last = 0;
    for (int64_t value_us = 1; value_us < 1 << 20; value_us++) {
        uint16_t bin = fp_bin_of(value_us);
        assert_true(bin == last || bin == last + 1);
        last = bin;
    }
}

static void is_off_by_at_most_its_promise(void **state)
{
    (void)state;
    for (int64_t base = 1; base <= FP_TIME_MAX_US; base *= 2) {
        for (int64_t step = -3; step <= 3; step++) {
            int64_t value_us = base + step * (base / 7 + 1);
            if (value_us < 1 || value_us > FP_TIME_MAX_US)
                continue;
            double value = (double)value_us;
            double error = fabs(fp_bin_middle_us(fp_bin_of(value_us)) - value) / value;
            assert_true(error <= 0.016);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_pinned_values_into_their_bins),
        cmocka_unit_test(keeps_the_order_and_leaves_no_bin_out),
        cmocka_unit_test(is_off_by_at_most_its_promise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
