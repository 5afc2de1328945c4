/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables: the statements of each style, and that no column of a key is ever changed.
 */
#include "tests/unit/unit.h"

#include "collector/store/tables.c"

static void assert_sql(void (*write)(const struct fp_store_table *, struct fp_buf *),
                       enum fp_store_table_id id, const char *expected)
{
    struct fp_buf out;
    fp_buf_init(&out, 16 * 1024);
    write(fp_store_table(id), &out);
    fp_buf_add(&out, "", 1);
    assert_false(out.failed);
    assert_string_equal((const char *)out.data, expected);
    fp_buf_release(&out);
}

static void a_dictionary_touches_last_seen_once_a_day(void **state)
{
    (void)state;
    assert_sql(
        fp_store_table_merge_sql, FP_STORE_TABLE_RESOURCE,
        "insert into fleetprof_data.resource as t (resource_id, site, url, domain, last_seen) "
        "select resource_id, site, url, domain, ($5::timestamptz at time zone 'UTC')::date "
        "from unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) "
        "as new (resource_id, site, url, domain) order by resource_id "
        "on conflict (resource_id) do update set last_seen = excluded.last_seen "
        "where t.last_seen < excluded.last_seen");
}

static void a_segment_keeps_its_earliest_first_seen(void **state)
{
    (void)state;
    struct fp_buf out;
    fp_buf_init(&out, 16 * 1024);
    fp_store_table_merge_sql(fp_store_table(FP_STORE_TABLE_SEGMENT), &out);
    fp_buf_add(&out, "", 1);
    const char *conflict = strstr((const char *)out.data, "on conflict");
    assert_non_null(conflict);
    assert_string_equal(
        conflict, "on conflict (segment_id) do update set "
                  "last_seen = greatest(t.last_seen, excluded.last_seen), "
                  "first_seen = least(t.first_seen, excluded.first_seen) "
                  "where t.last_seen < excluded.last_seen or excluded.first_seen < t.first_seen");
    fp_buf_release(&out);
}

static void a_book_returns_the_keys_that_are_new(void **state)
{
    (void)state;
    assert_sql(fp_store_table_merge_sql, FP_STORE_TABLE_UPLOAD_ID,
               "insert into fleetprof_data.upload_id as t (upload_id, site_id, counted) "
               "select upload_id, site_id, $3::timestamptz from unnest($1::uuid[], $2::bigint[]) "
               "as new (upload_id, site_id) order by upload_id, site_id on conflict (upload_id, "
               "site_id) do nothing "
               "returning upload_id, site_id");
}

static void refusals_are_added_to_a_known_row(void **state)
{
    (void)state;
    assert_sql(
        fp_store_table_merge_sql, FP_STORE_TABLE_REFUSAL,
        "insert into fleetprof_data.refusal as t (segment_id, bucket, format, reason, "
        "records, uploads, latest, first_place) select segment_id, bucket, format, reason, "
        "records, uploads, latest, first_place from unnest($1::bigint[], $2::timestamptz[], "
        "$3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::timestamptz[], $8::text[]) "
        "as new (segment_id, bucket, format, reason, records, uploads, latest, first_place) "
        "order by segment_id, bucket, format, reason "
        "on conflict (segment_id, bucket, format, reason) do update "
        "set records = t.records + excluded.records, uploads = t.uploads + excluded.uploads, "
        "latest = greatest(t.latest, excluded.latest), "
        "first_place = case when excluded.latest >= t.latest then excluded.first_place "
        "else t.first_place end");
}

static void an_enum_is_sent_as_text(void **state)
{
    (void)state;
    assert_sql(fp_store_table_merge_sql, FP_STORE_TABLE_TIMING,
               "insert into fleetprof_data.timing as t (timing_id, name, kind, source, function, "
               "navigation, last_seen) select timing_id, name, kind::fleetprof_data.timing_kind, "
               "source, function, navigation, ($7::timestamptz at time zone 'UTC')::date from "
               "unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) "
               "as new (timing_id, name, kind, source, function, navigation) order by timing_id on "
               "conflict (timing_id) do update set last_seen = "
               "excluded.last_seen where t.last_seen < excluded.last_seen");
}

static void every_kind_of_column_has_a_type(void **state)
{
    (void)state;
    for (enum fp_column_kind kind = 0; kind < FP_COLUMN_KIND_COUNT; kind++) {
        assert_non_null(fp_store_column_type(kind)->name);
        assert_int_not_equal(fp_store_column_type(kind)->number, 0);
    }
}

static void a_log_is_copied_straight_into_its_table(void **state)
{
    (void)state;
    assert_sql(fp_store_table_copy_sql, FP_STORE_TABLE_UPLOAD,
               "copy fleetprof_data.upload (bucket, upload_id, received, segment_id, load_id, "
               "part, format, coverage, truncated, browser_version, agent, body_bytes, samples, "
               "unattributed_samples, profiled_us, unattributed_us, timings, skipped_entries, "
               "records_read, records_refused, unseen_us) from stdin (format binary)");
}

static void every_target_but_a_log_has_a_key(void **state)
{
    (void)state;
    for (enum fp_store_table_id id = 0; id < FP_STORE_TABLE_COUNT; id++) {
        const struct fp_store_table *target = fp_store_table(id);
        size_t keys = 0;
        for (size_t i = 0; i < target->column_count; i++)
            keys += target->columns[i].is_key ? 1 : 0;
        assert_int_equal(keys == 0, target->style == FP_STORE_TABLE_LOG);
        assert_in_range(keys, 0, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dictionary_touches_last_seen_once_a_day),
        cmocka_unit_test(a_segment_keeps_its_earliest_first_seen),
        cmocka_unit_test(a_book_returns_the_keys_that_are_new),
        cmocka_unit_test(refusals_are_added_to_a_known_row),
        cmocka_unit_test(an_enum_is_sent_as_text),
        cmocka_unit_test(every_kind_of_column_has_a_type),
        cmocka_unit_test(a_log_is_copied_straight_into_its_table),
        cmocka_unit_test(every_target_but_a_log_has_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
