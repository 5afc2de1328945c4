/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of segments: which ones may be deleted.
 */
#include "test.h"

#include "collector/spool/table.c"

/* Asserts that a segment is in the table. */
static struct fp_spool_table_segment *there(struct fp_spool_table_segment *segment)
{
    assert_non_null(segment);
    if (segment == NULL)
        abort(); /* for the compiler: cmocka has left already */
    return segment;
}

/* Three segments with records 1-10, 11-20, 21-30 and an empty fourth. */
static struct fp_spool_table make_table(void)
{
    struct fp_spool_table table = {0};
    for (uint64_t i = 0; i < 4; i++) {
        const struct fp_spool_table_segment segment = {
            .number = 1 + 2 * i,
            .first_sequence = 1 + 10 * i,
            .last_sequence = i < 3 ? 10 + 10 * i : 0,
            .end = FP_SPOOL_SEGMENT_HEADER_LEN + (i < 3 ? 1000 : 0),
            .file_bytes = 100,
        };
        assert_true(fp_spool_table_add(&table, &segment));
    }
    return table;
}

static void finds_segments_by_number_and_by_sequence(void **state)
{
    (void)state;
    struct fp_spool_table table = make_table();
    assert_int_equal(there(fp_spool_table_from(&table, 0))->number, 1);
    assert_int_equal(there(fp_spool_table_from(&table, 4))->number, 5);
    assert_null(fp_spool_table_from(&table, 8));
    assert_int_equal(there(fp_spool_table_after(&table, 0))->number, 1);
    assert_int_equal(there(fp_spool_table_after(&table, 9))->number, 1);
    assert_int_equal(there(fp_spool_table_after(&table, 10))->number, 3);
    assert_null(fp_spool_table_after(&table, 30));
    assert_int_equal(fp_spool_table_last_sequence(&table), 30);
    assert_int_equal(there(fp_spool_table_newest(&table))->number, 7);
    fp_spool_table_release(&table);
    assert_null(fp_spool_table_newest(&table));
    assert_int_equal(fp_spool_table_last_sequence(&table), 0);
}

static void trims_what_lies_wholly_before_the_position_and_never_the_newest(void **state)
{
    (void)state;
    struct fp_spool_table table = make_table();
    assert_null(fp_spool_table_first_trimmed(&table));
    fp_spool_table_trim(&table, 9, 100);
    assert_null(fp_spool_table_first_trimmed(&table));
    fp_spool_table_trim(&table, 19, 200);
    assert_int_equal(there(fp_spool_table_first_trimmed(&table))->number, 1);
    fp_spool_table_trim(&table, 30, 300);
    assert_int_equal(there(fp_spool_table_first_trimmed(&table))->trimmed_at_us,
                     200); /* since the first time */
    fp_spool_table_remove(&table, 1);
    assert_int_equal(there(fp_spool_table_first_trimmed(&table))->number, 3);
    assert_int_equal(there(fp_spool_table_first_trimmed(&table))->trimmed_at_us, 300);
    fp_spool_table_remove(&table, 3);
    fp_spool_table_remove(&table, 5);
    assert_null(fp_spool_table_first_trimmed(&table));
    fp_spool_table_remove(&table, 99);
    assert_int_equal(table.count, 1);
    assert_int_equal(table.file_bytes, 100);
    fp_spool_table_release(&table);
}

static void keeps_what_lies_after_a_position_gone_back_to(void **state)
{
    (void)state;
    struct fp_spool_table table = make_table();
    fp_spool_table_trim(&table, 30, 100);
    fp_spool_table_untrim(&table, 19);
    assert_int_equal(table.segments[0].trimmed_at_us, 100);
    assert_int_equal(table.segments[1].trimmed_at_us, FP_SPOOL_TABLE_NOT_TRIMMED);
    assert_int_equal(table.segments[2].trimmed_at_us, FP_SPOOL_TABLE_NOT_TRIMMED);
    fp_spool_table_trim(&table, 20, 200);
    assert_int_equal(table.segments[1].trimmed_at_us, 200);
    fp_spool_table_release(&table);
}

/* The newest is trimmed when it holds only old records; then it grows. */
static void a_segment_that_grew_after_a_trim_is_not_trimmed(void **state)
{
    (void)state;
    struct fp_spool_table table = make_table();
    struct fp_spool_table_segment *newest = there(fp_spool_table_newest(&table));
    newest->last_sequence = 35;
    newest->end = FP_SPOOL_SEGMENT_HEADER_LEN + 10;
    fp_spool_table_trim(&table, 35, 100);
    newest->last_sequence = 36;
    const struct fp_spool_table_segment next = {.number = 9, .end = FP_SPOOL_SEGMENT_HEADER_LEN};
    assert_true(fp_spool_table_add(&table, &next));
    fp_spool_table_trim(&table, 35, 100);
    fp_spool_table_remove(&table, 1);
    fp_spool_table_remove(&table, 3);
    fp_spool_table_remove(&table, 5);
    assert_null(fp_spool_table_first_trimmed(&table));
    fp_spool_table_release(&table);
}

static void an_empty_segment_goes_first_but_a_damaged_one_is_not_empty(void **state)
{
    (void)state;
    struct fp_spool_table table = make_table();
    table.segments[1].last_sequence = 0; /* no record could be read, but bytes are there */
    table.segments[2].last_sequence = 0;
    table.segments[2].end = FP_SPOOL_SEGMENT_HEADER_LEN;
    table.segments[0].kept = true;
    fp_spool_table_trim(&table, 10, 100);
    assert_int_equal(table.segments[0].trimmed_at_us, FP_SPOOL_TABLE_NOT_TRIMMED);
    assert_int_equal(there(fp_spool_table_first_trimmed(&table))->number, 5);
    assert_int_equal(there(fp_spool_table_first_trimmed(&table))->trimmed_at_us,
                     FP_SPOOL_TABLE_EMPTY);
    assert_int_equal(table.segments[1].trimmed_at_us, 100);
    fp_spool_table_release(&table);
}

static void an_empty_segment_stays_while_its_header_alone_ends_the_one_before(void **state)
{
    (void)state;
    struct fp_spool_table table = make_table();
    table.segments[2].last_sequence = 0;
    table.segments[2].end = FP_SPOOL_SEGMENT_HEADER_LEN;
    table.segments[2].ends_previous = true;
    fp_spool_table_trim(&table, 10, 100);
    assert_int_equal(table.segments[2].trimmed_at_us, FP_SPOOL_TABLE_NOT_TRIMMED);
    fp_spool_table_release(&table);
}

static void counts_the_bytes_of_its_files(void **state)
{
    (void)state;
    struct fp_spool_table table = make_table();
    assert_int_equal(table.file_bytes, 400);
    fp_spool_table_resize(&table, there(fp_spool_table_newest(&table)), 30);
    assert_int_equal(table.file_bytes, 330);
    fp_spool_table_remove(&table, 7);
    assert_int_equal(table.file_bytes, 300);
    fp_spool_table_release(&table);
}

static void takes_no_more_than_its_maximum(void **state)
{
    (void)state;
    struct fp_spool_table table = {0};
    struct fp_spool_table_segment segment = {.number = 0};
    while (segment.number++ < FP_SPOOL_TABLE_MAX)
        assert_true(fp_spool_table_add(&table, &segment));
    assert_false(fp_spool_table_add(&table, &segment));
    assert_int_equal(table.count, FP_SPOOL_TABLE_MAX);
    fp_spool_table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_segments_by_number_and_by_sequence),
        cmocka_unit_test(trims_what_lies_wholly_before_the_position_and_never_the_newest),
        cmocka_unit_test(keeps_what_lies_after_a_position_gone_back_to),
        cmocka_unit_test(a_segment_that_grew_after_a_trim_is_not_trimmed),
        cmocka_unit_test(an_empty_segment_goes_first_but_a_damaged_one_is_not_empty),
        cmocka_unit_test(an_empty_segment_stays_while_its_header_alone_ends_the_one_before),
        cmocka_unit_test(counts_the_bytes_of_its_files),
        cmocka_unit_test(takes_no_more_than_its_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
