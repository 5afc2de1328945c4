/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals: each has the name and the thresholds of web-vitals. The numbers of rows are in spools.
 */
#include "tests/unit/unit.h"

#include "collector/rollup/vital.c"

static void each_is_rated_by_its_thresholds(void **state)
{
    (void)state;
    static const struct {
        enum fp_vital vital;
        const char *name;
        int64_t good_us, poor_us;
    } cases[] = {
        {FP_VITAL_LCP, "LCP", 2500000, 4000000},  {FP_VITAL_INP, "INP", 200000, 500000},
        {FP_VITAL_CLS, "CLS", 100000, 250000},    {FP_VITAL_FCP, "FCP", 1800000, 3000000},
        {FP_VITAL_TTFB, "TTFB", 800000, 1800000},
    };
    assert_walks(vitals, .name, cases, .name);
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        const enum fp_vital vital = cases[i].vital;
        assert_string_equal(fp_vital_name(vital), cases[i].name);
        assert_int_equal(fp_vital_find(fp_str_of(cases[i].name)), vital);
        assert_int_equal(fp_vital_rate(vital, cases[i].good_us), FP_VITAL_GOOD);
        assert_int_equal(fp_vital_rate(vital, cases[i].good_us + 1), FP_VITAL_NEEDS_IMPROVEMENT);
        assert_int_equal(fp_vital_rate(vital, cases[i].poor_us), FP_VITAL_NEEDS_IMPROVEMENT);
        assert_int_equal(fp_vital_rate(vital, cases[i].poor_us + 1), FP_VITAL_POOR);
    }
    for (enum fp_vital vital = 0; vital < FP_VITAL_COUNT; vital++) {
        assert_string_equal(vitals[vital].name, cases[vital].name);
        assert_int_equal(fp_vital_is_score(vital), vital == FP_VITAL_CLS);
    }
    assert_int_equal(fp_vital_find(FP_STR("lcp")), FP_VITAL_COUNT);
}

static void only_an_inp_is_flagged(void **state)
{
    (void)state;
    for (enum fp_vital vital = 0; vital < FP_VITAL_COUNT; vital++) {
        const bool is_inp = vital == FP_VITAL_INP;
        assert_int_equal(fp_vital_rate(vital, 59999999), FP_VITAL_POOR);
        assert_int_equal(fp_vital_rate(vital, 60000000), is_inp ? FP_VITAL_FLAGGED : FP_VITAL_POOR);
        assert_int_equal(fp_vital_rate(vital, FP_TIME_MAX_US),
                         is_inp ? FP_VITAL_FLAGGED : FP_VITAL_POOR);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_rated_by_its_thresholds),
                                       cmocka_unit_test(only_an_inp_is_flagged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
