/*
 * Tables: the statements of each style, and that no column of a key is ever changed.
 */
#include "tests/unit/unit.h"

#include "collector/store/tables.c"

static void assert_sql(void (*write)(const struct fp_target *, struct fp_buf *),
                       enum fp_target_id id, const char *expected)
{
    struct fp_buf out;
    fp_buf_init(&out, 16 * 1024);
    write(fp_target(id), &out);
    fp_buf_add(&out, "", 1);
    assert_false(out.failed);
    assert_string_equal((const char *)out.data, expected);
    fp_buf_release(&out);
}

static void a_dictionary_touches_last_seen_once_a_day(void **state)
{
    (void)state;
    assert_sql(fp_target_merge_sql, FP_TARGET_RESOURCE,
               "insert into fleetprof_data.resource as t (resource_id, url, last_seen) "
               "select resource_id, url, (now() at time zone 'UTC')::date "
               "from pg_temp.new_resource where ctid >= $1 and ctid < $2 order by resource_id "
               "on conflict (resource_id) do update set last_seen = excluded.last_seen "
               "where t.last_seen < excluded.last_seen");
}

static void a_fact_adds_counters_and_keeps_extremes(void **state)
{
    (void)state;
    assert_sql(fp_target_merge_sql, FP_TARGET_TIMING_FACT,
               "insert into fleetprof_data.timing_fact as t (segment_id, bucket, timing_id, "
               "uploads, count, negative, sum_us, min_us, max_us) "
               "select segment_id, bucket, timing_id, uploads, count, negative, sum_us, min_us, "
               "max_us from pg_temp.new_timing_fact where ctid >= $1 and ctid < $2 "
               "order by segment_id, bucket, timing_id "
               "on conflict (segment_id, bucket, timing_id) do update set "
               "uploads = t.uploads + excluded.uploads, count = t.count + excluded.count, "
               "negative = t.negative + excluded.negative, sum_us = t.sum_us + excluded.sum_us, "
               "min_us = least(t.min_us, excluded.min_us), "
               "max_us = greatest(t.max_us, excluded.max_us)");
}

static void a_book_returns_the_keys_that_are_new(void **state)
{
    (void)state;
    assert_sql(
        fp_target_merge_sql, FP_TARGET_UPLOAD_ID,
        "insert into fleetprof_data.upload_id as t (upload_id, site_id) "
        "select upload_id, site_id from pg_temp.new_upload_id where ctid >= $1 and ctid < $2 "
        "order by upload_id, site_id on conflict (upload_id, site_id) do nothing "
        "returning upload_id, site_id");
}

static void temporary_tables_have_the_columns_of_the_copy(void **state)
{
    (void)state;
    assert_sql(fp_target_create_sql, FP_TARGET_MARKER_FACT,
               "create temporary table new_marker_fact (segment_id bigint, "
               "bucket timestamptz, marker fleetprof_data.marker, samples bigint, self_us bigint) "
               "on commit delete rows");
    assert_sql(fp_target_copy_sql, FP_TARGET_MARKER_FACT,
               "copy pg_temp.new_marker_fact (segment_id, bucket, marker, samples, "
               "self_us) from stdin (format binary)");
}

static void every_target_has_a_key_and_only_facts_have_counters(void **state)
{
    (void)state;
    for (enum fp_target_id id = 0; id < FP_TARGET_COUNT; id++) {
        const struct fp_target *target = fp_target(id);
        size_t keys = 0;
        size_t counters = 0;
        for (size_t i = 0; i < target->column_count; i++) {
            keys += target->columns[i].merge == FP_MERGE_KEY ? 1 : 0;
            counters += target->columns[i].merge > FP_MERGE_KEEP ? 1 : 0;
        }
        assert_in_range(keys, 1, 5);
        assert_int_equal(counters > 0, target->style == FP_TARGET_FACT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dictionary_touches_last_seen_once_a_day),
        cmocka_unit_test(a_fact_adds_counters_and_keeps_extremes),
        cmocka_unit_test(a_book_returns_the_keys_that_are_new),
        cmocka_unit_test(temporary_tables_have_the_columns_of_the_copy),
        cmocka_unit_test(every_target_has_a_key_and_only_facts_have_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
