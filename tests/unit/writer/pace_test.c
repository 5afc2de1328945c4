/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pace: windows shrink for a time per record, never for a fixed time.
 */
#include "tests/unit/unit.h"

#include "collector/base/clock.h"

#include "collector/writer/pace.c"

enum { FLUSHES = 60 };

/* A writer with nothing but a pace. max_window is a second. */
static void set_up(struct fp_writer *writer, struct fp_metrics **metrics)
{
    *metrics = fp_metrics_create();
    assert_non_null(*metrics);
    *writer = (struct fp_writer){
        .metrics = fp_metrics_join(*metrics, &fp_writer_metrics),
        .window_records = FP_ROLLUP_MAX_UPLOADS,
        .settings.pace.max_window_us = FP_US_PER_S,
    };
    assert_non_null(writer->metrics);
}

/* Flushes a backlog without end, on a database with these costs. Returns the largest and the
 * smallest of the last windows. */
static void run(struct fp_writer *writer, int64_t fixed_us, int64_t each_us, size_t waiting,
                size_t *smallest, size_t *largest)
{
    *smallest = SIZE_MAX;
    *largest = 0;
    for (size_t i = 0; i < FLUSHES; i++) {
        /* The number of waiting records differs a little from flush to flush. */
        size_t records = waiting - waiting / 8 * (i % 3);
        if (records > writer->window_records)
            records = writer->window_records;
        fp_writer_adapt_window(writer, records, fixed_us + each_us * (int64_t)records);
        if (i < FLUSHES / 2)
            continue;
        *smallest = writer->window_records < *smallest ? writer->window_records : *smallest;
        *largest = writer->window_records > *largest ? writer->window_records : *largest;
    }
}

static void a_fixed_time_makes_no_window_smaller(void **state)
{
    (void)state;
    static const int64_t fixed_us[] = {1500000, 10000000, 50000000};
    static const size_t waiting[] = {8, 100, 1000, FP_ROLLUP_MAX_UPLOADS};
    for (size_t i = 0; i < FP_COUNT(fixed_us); i++) {
        for (size_t j = 0; j < FP_COUNT(waiting); j++) {
            struct fp_writer writer;
            struct fp_metrics *metrics;
            size_t smallest;
            size_t largest;
            set_up(&writer, &metrics);
            run(&writer, fixed_us[i], 0, waiting[j], &smallest, &largest);
            assert_in_range(smallest, FP_ROLLUP_MAX_UPLOADS / 2, FP_ROLLUP_MAX_UPLOADS);
            fp_metrics_free(metrics);
        }
    }
}

static void a_time_per_record_does(void **state)
{
    (void)state;
    static const int64_t fixed_us[] = {0, 100000, 1500000};
    for (size_t i = 0; i < FP_COUNT(fixed_us); i++) {
        struct fp_writer writer;
        struct fp_metrics *metrics;
        size_t smallest;
        size_t largest;
        set_up(&writer, &metrics);
        run(&writer, fixed_us[i], 1000, FP_ROLLUP_MAX_UPLOADS, &smallest, &largest);
        assert_in_range(smallest, 450, 1000);
        assert_in_range(largest, 450, 2000);
        /* It was a busy hour: windows grow again. */
        run(&writer, 10000, 10, FP_ROLLUP_MAX_UPLOADS, &smallest, &largest);
        assert_int_equal(smallest, FP_ROLLUP_MAX_UPLOADS);
        fp_metrics_free(metrics);
    }
}

static void slow_records_leave_a_window_of_256(void **state)
{
    (void)state;
    struct fp_writer writer;
    struct fp_metrics *metrics;
    size_t smallest;
    size_t largest;
    set_up(&writer, &metrics);
    run(&writer, 0, FP_US_PER_S, FP_ROLLUP_MAX_UPLOADS, &smallest, &largest);
    assert_int_equal(smallest, FP_WINDOW_RECORDS_MIN);
    assert_int_equal(largest, FP_WINDOW_RECORDS_MIN);
    fp_metrics_free(metrics);
}

static void a_refusal_halves_a_window_down_to_one(void **state)
{
    (void)state;
    struct fp_writer writer;
    struct fp_metrics *metrics;
    set_up(&writer, &metrics);
    for (size_t records = 256; records > 1; records /= 2) {
        fp_writer_shrink_window(&writer, records);
        assert_int_equal(writer.window_records, records / 2);
    }
    fp_writer_shrink_window(&writer, 1);
    assert_int_equal(writer.window_records, 1);
    fp_metrics_free(metrics);
}

/* A database becomes slow, and from then on all windows are full. */
static void full_windows_of_one_size_grow(void **state)
{
    (void)state;
    static const int64_t fixed_us[] = {1200000, 12000000, 20000000};
    for (size_t i = 0; i < FP_COUNT(fixed_us); i++) {
        struct fp_writer writer;
        struct fp_metrics *metrics;
        set_up(&writer, &metrics);
        fp_writer_adapt_window(&writer, 1, 5000);
        fp_writer_adapt_window(&writer, 250, fixed_us[i]);
        assert_int_equal(writer.window_records, FP_WINDOW_RECORDS_MIN);
        size_t flushes = 0;
        for (; writer.window_records < FP_ROLLUP_MAX_UPLOADS && flushes < 60; flushes++)
            fp_writer_adapt_window(&writer, writer.window_records, fixed_us[i]);
        assert_in_range(flushes, 1, 25);
        fp_metrics_free(metrics);
    }
}

/* Larger ones are tried now and then, when that may help. */
static void slow_records_are_probed_seldom(void **state)
{
    (void)state;
    struct fp_writer writer;
    struct fp_metrics *metrics;
    size_t records = 0;
    set_up(&writer, &metrics);
    for (size_t i = 0; i < 2 * FLUSHES; i++) {
        size_t window = writer.window_records;
        fp_writer_adapt_window(&writer, window, 10000 * (int64_t)window);
        records += i >= FLUSHES ? window : 0;
    }
    assert_in_range(records / FLUSHES, FP_WINDOW_RECORDS_MIN, FP_WINDOW_RECORDS_MIN * 6 / 5);
    fp_metrics_free(metrics);
}

static void a_window_that_ran_out_of_time_is_not_tried_again_soon(void **state)
{
    (void)state;
    struct fp_writer writer;
    struct fp_metrics *metrics;
    set_up(&writer, &metrics);
    fp_writer_note_timeout(&writer, 256);
    for (size_t i = 0; i < 15; i++) {
        assert_int_equal(writer.window_records, 128);
        fp_writer_adapt_window(&writer, 128, 45 * FP_US_PER_S);
    }
    fp_writer_adapt_window(&writer, 128, 1000);
    assert_int_equal(writer.window_records, 256);
    fp_writer_note_timeout(&writer, 1);
    assert_int_equal(writer.window_records, 256); /* a single record's time is not the window's */
    fp_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fixed_time_makes_no_window_smaller),
        cmocka_unit_test(a_time_per_record_does),
        cmocka_unit_test(slow_records_leave_a_window_of_256),
        cmocka_unit_test(a_refusal_halves_a_window_down_to_one),
        cmocka_unit_test(full_windows_of_one_size_grow),
        cmocka_unit_test(slow_records_are_probed_seldom),
        cmocka_unit_test(a_window_that_ran_out_of_time_is_not_tried_again_soon),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
