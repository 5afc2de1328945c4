/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs: what an appended row becomes.
 */
#include "random_pack.h"

static void every_column_takes_its_member(void **state)
{
    (void)state;
    struct fp_pack pack;
    fp_pack_init(&pack, fp_pack_shape(FP_PACK_TIMING));
    struct fp_timing_fact row = {.key.id = -5,
                                 .uploads = 1,
                                 .count = 2,
                                 .negative = 3,
                                 .sum_us = 4.5,
                                 .min_us = -6,
                                 .max_us = 7};
    assert_true(fp_pack_append(&pack, &row));
    static const double expected[] = {-5, 1, 2, 3, 4.5, -6, 7};
    for (size_t i = 0; i < FP_COUNT(expected); i++)
        assert_true(element(&pack, i, 0) == (long double)expected[i]);
    fp_pack_release(&pack);
}

static void key_columns_come_first(void **state)
{
    (void)state;
    for (enum fp_pack_kind kind = 0; kind < FP_PACK_KIND_COUNT; kind++) {
        const struct fp_pack_shape *shape = fp_pack_shape(kind);
        assert_in_range(shape->key_count, 1, KEYS);
        assert_in_range(shape->column_count, shape->key_count + 1, FP_PACK_COLUMNS_MAX);
        for (size_t i = 0; i < shape->column_count; i++) {
            enum fp_pack_type type = shape->columns[i].type;
            bool is_key = type == FP_PACK_KEY_ID || type == FP_PACK_KEY_NUMBER;
            assert_int_equal(is_key, i < shape->key_count);
        }
    }
}

static void a_count_that_does_not_fit_goes_on_in_a_further_entry(void **state)
{
    (void)state;
    struct fp_pack pack;
    fp_pack_init(&pack, fp_pack_shape(FP_PACK_TIMING));
    struct fp_timing_fact row = {.key.id = 9,
                                 .uploads = 5,
                                 .count = 2 * (int64_t)INT32_MAX + 1,
                                 .negative = INT32_MAX,
                                 .sum_us = 12,
                                 .min_us = -3,
                                 .max_us = 4};
    assert_true(fp_pack_append(&pack, &row));
    assert_int_equal(pack.count, 3);
    static const double expected[] = {9, 5, 2.0 * INT32_MAX + 1, INT32_MAX, 12, -3, 4};
    for (size_t i = 1; i < FP_COUNT(expected); i++)
        assert_true(join(&pack, i, &pack, 0) == (long double)expected[i]);
    for (size_t i = 0; i < pack.count; i++)
        assert_int_equal(compare_entries(&pack, i, &pack, 0), 0);
    fp_pack_release(&pack);
}

static void a_square_beyond_a_float_is_the_greatest_float(void **state)
{
    (void)state;
    struct fp_pack pack;
    fp_pack_init(&pack, fp_pack_shape(FP_PACK_FRAME));
    struct fp_frame_fact row = {
        .self_us2 = 1e39, .total_us2 = (double)INFINITY, .self_profiled = 3e38};
    assert_true(fp_pack_append(&pack, &row));
    assert_true(((float *)pack.columns[6])[0] == FLT_MAX);
    assert_true(((float *)pack.columns[7])[0] == FLT_MAX);
    assert_true(((float *)pack.columns[8])[0] == 3e38F);
    fp_pack_release(&pack);
}

static void too_many_entries_are_refused(void **state)
{
    (void)state;
    struct fp_pack pack;
    fp_pack_init(&pack, fp_pack_shape(FP_PACK_TIMING_BIN));
    struct fp_timing_bin_fact row = {.count = 1};
    assert_true(fp_pack_append(&pack, &row));
    assert_false(fp_pack_reserve(&pack, FP_PACK_ENTRIES_MAX));
    assert_false(fp_pack_reserve(&pack, SIZE_MAX));
    row.count = INT64_MAX;
    assert_false(fp_pack_append(&pack, &row));
    assert_int_equal(pack.count, 1);
    fp_pack_clear(&pack);
    assert_int_equal(pack.count, 0);
    fp_pack_release(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_takes_its_member),
        cmocka_unit_test(key_columns_come_first),
        cmocka_unit_test(a_count_that_does_not_fit_goes_on_in_a_further_entry),
        cmocka_unit_test(a_square_beyond_a_float_is_the_greatest_float),
        cmocka_unit_test(too_many_entries_are_refused),
    };
    return cmocka_run_group_tests_name("pack_pack", tests, NULL, NULL);
}
