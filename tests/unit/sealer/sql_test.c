/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of statements, and blocks of time.
 */
#include "tests/unit/unit.h"

#include "collector/sealer/sql.c"

#define HOUR FP_US_PER_HOUR

/* A start of eight days: 2026-01-11. */
#define START (INT64_C(2558) * 8 * 24 * HOUR)

static void a_moment_is_in_the_block_that_begins_before_it(void **state)
{
    (void)state;
    const struct {
        enum fp_span span;
        int64_t moment_us;
        int64_t bucket_us;
    } cases[] = {
        {FP_SPAN_HOUR, START, START},
        {FP_SPAN_HOUR, START + HOUR - 1, START},
        {FP_SPAN_4_HOURS, START + 4 * HOUR, START + 4 * HOUR},
        {FP_SPAN_4_HOURS, START + 8 * HOUR - 1, START + 4 * HOUR},
        {FP_SPAN_DAY, START + 47 * HOUR, START + 24 * HOUR},
        {FP_SPAN_8_DAYS, START + 191 * HOUR, START},
        {FP_SPAN_8_DAYS, START + 192 * HOUR, START + 192 * HOUR},
        {FP_SPAN_DAY, -1, -24 * HOUR},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_block block = fp_block_of(cases[i].span, cases[i].moment_us);
        assert_int_equal(block.span, cases[i].span);
        assert_true(block.bucket_us == cases[i].bucket_us);
    }
}

/* Blocks of eight days are those of the partitions, which begin at multiples of eight days. */
static void spans_divide_each_other(void **state)
{
    (void)state;
    for (int span = 1; span < FP_SPAN_COUNT; span++)
        assert_true(fp_span_us((enum fp_span)span) % fp_span_us((enum fp_span)(span - 1)) == 0);
    assert_true(fp_span_us(FP_SPAN_8_DAYS) == 8 * FP_US_PER_DAY);
    assert_string_equal(fp_span_place(FP_SPAN_4_HOURS), "hours");
    assert_string_equal(fp_span_place(FP_SPAN_DAY), "days");
}

static void literals_are_what_postgresql_reads(void **state)
{
    (void)state;
    static const struct fp_plan_item items[] = {{.group_id = INT64_MIN}, {.group_id = 7}};
    struct fp_buf sql;
    fp_buf_init(&sql, 1024);
    fp_sql_time(&sql, START + HOUR);
    fp_buf_addf(&sql, " ");
    fp_sql_ids(&sql, items, 2);
    fp_sql_columns(&sql, fp_pack_shape(FP_PACK_TIMING_BIN));
    fp_buf_add(&sql, "", 1);
    assert_string_equal((const char *)sql.data,
                        "'2026-01-11 01:00:00+00'::timestamptz "
                        "'{-9223372036854775808,7}'::bigint[], timing_id, bin, count");
    fp_buf_release(&sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_in_the_block_that_begins_before_it),
        cmocka_unit_test(spans_divide_each_other),
        cmocka_unit_test(literals_are_what_postgresql_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
