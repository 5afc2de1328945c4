/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollup: compares every row with a slow count over all deltas; duplicates, buckets, bounds.
 */
#include "rollup_test.h"

static void dictionaries_hold_each_name_once(void **state)
{
    struct room *room = *state;
    draw_all(room, 1);
    add_all(room);
    for (size_t i = 0; i < DELTAS; i++) {
        const struct fp_delta *delta = &room->deltas[i];
        for (uint32_t k = 0; k < delta->stack_count; k++) {
            const struct fp_delta_stack *stack = &delta->stacks[k];
            int64_t id = (int64_t)stack->id;
            const struct fp_stack_row *row =
                fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_STACK], &id);
            assert_non_null(row);
            assert_int_equal(row->level, stack->level);
            assert_int_equal(row->frame_id, delta->frames[stack->frame].id);
            assert_int_equal(row->parent_id,
                             stack->parent == FP_INDEX_NONE ? 0 : delta->stacks[stack->parent].id);
        }
        for (uint32_t k = 0; k < delta->frame_count; k++) {
            int64_t id = (int64_t)delta->frames[k].id;
            const struct fp_frame_row *row =
                fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_FRAME], &id);
            assert_non_null(row);
            assert_true(fp_str_equal(row->function, delta->frames[k].function));
            /* A copy: deltas do not outlive their arena. */
            assert_ptr_not_equal(row->function.ptr, delta->frames[k].function.ptr);
            assert_int_equal(row->line, delta->frames[k].line);
            assert_int_equal(row->resource_id, delta->frames[k].resource == FP_INDEX_NONE
                                                   ? 0
                                                   : delta->resources[0].id);
        }
    }
    /* Two sites with the same resource. */
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_RESOURCE), 2);
}

static void known_names_get_no_rows_and_their_facts_do(void **state)
{
    struct room *room = *state;
    const struct fp_delta *delta = &room->deltas[0];
    struct fp_map known;
    fp_map_init(&known, 1000);
    draw_all(room, 1);
    for (uint32_t i = 0; i < delta->frame_count; i++)
        assert_int_equal(fp_map_put(&known, delta->frames[i].id, 0), 0);
    room->rollup.known = &known;
    assert_int_equal(fp_rollup_add(&room->rollup, delta), FP_ROLLUP_COUNTED);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_FRAME), 0);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_FRAME_FACT), delta->frame_count);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_STACK), delta->stack_count);
    fp_map_release(&known);
}

static void an_upload_id_counts_once_a_site(void **state)
{
    struct room *room = *state;
    draw_all(room, 2);
    assert_int_equal(fp_rollup_add(&room->rollup, &room->deltas[0]), FP_ROLLUP_COUNTED);
    assert_int_equal(fp_rollup_add(&room->rollup, &room->deltas[0]), FP_ROLLUP_DUPLICATE);
    struct fp_delta again = room->deltas[1];
    again.id = room->deltas[0].id;
    again.segment.site = room->deltas[0].segment.site;
    assert_int_equal(fp_rollup_add(&room->rollup, &again), FP_ROLLUP_DUPLICATE);
    again.segment.site = FP_STR("another");
    assert_int_equal(fp_rollup_add(&room->rollup, &again), FP_ROLLUP_COUNTED);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_UPLOAD), 2);
}

static void a_recount_leaves_known_uploads_out(void **state)
{
    struct room *room = *state;
    draw_all(room, 3);
    add_all(room);
    struct fp_claim_key key =
        fp_claim_key(&room->deltas[7].id, (int64_t)fp_site_id(room->deltas[7].segment.site));
    struct fp_upload_row *upload =
        fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_UPLOAD], &key.high);
    upload->known = true;
    fp_rollup_recount(&room->rollup);
    for (size_t i = 0; i < DELTAS; i++)
        assert_int_equal(fp_rollup_add(&room->rollup, &room->deltas[i]),
                         i == 7 ? FP_ROLLUP_DUPLICATE : FP_ROLLUP_COUNTED);
    assert_int_equal(fp_rollup_add(&room->rollup, &room->deltas[8]), FP_ROLLUP_DUPLICATE);
    assert_false(upload->counted);
    int64_t uploads = fp_delta_is_profiled(&room->deltas[7]);
    for (size_t i = 0; i < DELTAS; i++)
        uploads -= fp_delta_is_profiled(&room->deltas[i]);
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_TOTAL_FACT); i++)
        uploads += ((struct fp_total_fact *)row_at(room, FP_ROLLUP_TABLE_TOTAL_FACT, i))->uploads;
    assert_int_equal(uploads, 0);
}

/* Returns the loads of a delta's segment in the hour of receipt. */
static int64_t loads_at(struct room *room, const struct fp_delta *delta)
{
    const struct fp_fact_key key = {(int64_t)fp_segment_id(&delta->segment),
                                    hour_of(delta->received_us), 0, FP_TOTAL_UNATTRIBUTED};
    const struct fp_total_fact *total =
        fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_TOTAL_FACT], &key.segment_id);
    assert_non_null(total);
    return total->loads;
}

static void a_load_of_several_parts_counts_once_and_where_it_was_first_seen(void **state)
{
    struct room *room = *state;
    struct fp_delta first;
    struct fp_delta second;
    const struct random_delta_settings settings = {.seed = 1, .routes = 1, .functions = 1};
    random_delta(&settings, &room->arena, &first);
    first.received_us = NOW_US - FP_US_PER_HOUR;
    first.has_load = true;
    first.format = FP_UPLOAD_SELF_PROFILE;
    first.coverage = FP_COVERAGE_NONE;
    second = first;
    second.id.bytes[0] ^= 1;
    second.received_us = NOW_US;
    assert_int_equal(fp_rollup_add(&room->rollup, &first), FP_ROLLUP_COUNTED);
    assert_int_equal(loads_at(room, &first), 0);
    assert_int_equal(fp_rollup_add(&room->rollup, &second), FP_ROLLUP_COUNTED);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_LOAD), 1);
    struct fp_claim_key key = fp_claim_key(&first.load, (int64_t)fp_site_id(first.segment.site));
    assert_true(fp_rollup_count_load(&room->rollup, &key));
    assert_int_equal(loads_at(room, &first), 1);
    assert_int_equal(loads_at(room, &second), 0);
    key.low++;
    assert_false(fp_rollup_count_load(&room->rollup, &key));
}

/* Adds an upload of a page load that left out measures, in an hour before now. */
static void leave_out(struct room *room, uint8_t number, bool has_load, int64_t hours_ago)
{
    static struct fp_delta_timing timings[3];
    const char *const texts[][2] = {{"(any)", ""}, {"measure", ""}, {"measure", "Row"}};
    const struct fp_delta delta = {.id = {{number}},
                                   .has_load = has_load,
                                   .load = {{7}},
                                   .received_us = NOW_US - hours_ago * FP_US_PER_HOUR,
                                   .segment = {.site = FP_STR("shop")},
                                   .format = FP_UPLOAD_USER_TIMING,
                                   .timings = timings,
                                   .timing_count = 3};
    for (size_t i = 0; i < FP_COUNT(texts); i++) {
        const struct fp_timing_key key = {.kind = FP_TIMING_LEFT_OUT,
                                          .name = fp_str_of(texts[i][0]),
                                          .source = fp_str_of(texts[i][1]),
                                          .function = FP_STR("")};
        timings[i] = (struct fp_delta_timing){.id = fp_timing_id(fp_site_id(FP_STR("shop")), &key),
                                              .name = key.name,
                                              .source = key.source,
                                              .kind = key.kind,
                                              .count = 1,
                                              .sum_us = i == 0 ? 0 : 5000 + number};
    }
    assert_int_equal(fp_rollup_add(&room->rollup, &delta), FP_ROLLUP_COUNTED);
}

static const struct fp_timing_fact *left_out_at(struct room *room, const char *what,
                                                const char *source, int64_t hours_ago)
{
    const struct fp_segment segment = {.site = FP_STR("shop")};
    const struct fp_timing_key key = {.kind = FP_TIMING_LEFT_OUT,
                                      .name = fp_str_of(what),
                                      .source = fp_str_of(source),
                                      .function = FP_STR("")};
    const struct fp_fact_key fact = {(int64_t)fp_segment_id(&segment),
                                     hour_of(NOW_US - hours_ago * FP_US_PER_HOUR),
                                     (int64_t)fp_timing_id(fp_site_id(FP_STR("shop")), &key), 0};
    const struct fp_timing_fact *found =
        fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_TIMING_FACT], &fact.segment_id);
    assert_non_null(found);
    return found;
}

/* The database says by an id of each kind whether the page load counts. */
static void counts_a_load_that_left_things_out_once_where_first_seen(void **state)
{
    struct room *room = *state;
    leave_out(room, 1, true, 1);
    leave_out(room, 2, true, 0);
    leave_out(room, 3, false, 0);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_LOAD), 2);
    assert_int_equal(left_out_at(room, "measure", "", 1)->count, 0);
    for (size_t i = 0; i < 2; i++) {
        const struct fp_load_row *load = row_at(room, FP_ROLLUP_TABLE_LOAD, i);
        assert_true(fp_rollup_count_load(&room->rollup, &load->key));
    }
    assert_int_equal(left_out_at(room, "(any)", "", 1)->count, 1);
    assert_int_equal(left_out_at(room, "measure", "", 1)->count, 1);
    /* The same page load counts once, and one without an id. */
    assert_int_equal(left_out_at(room, "(any)", "", 0)->count, 1);
    assert_int_equal(left_out_at(room, "measure", "", 0)->count, 1);
    assert_int_equal((int64_t)left_out_at(room, "measure", "", 0)->sum_us, 10005);
    assert_int_equal(left_out_at(room, "measure", "", 0)->uploads, 2);
    /* Names count uploads. */
    assert_int_equal(left_out_at(room, "measure", "Row", 0)->count, 2);
    assert_int_equal((int64_t)left_out_at(room, "measure", "Row", 1)->sum_us, 5001);
}

/* Also without its dictionary row, which is where else a site's text would be. */
static void every_hour_of_a_site_has_its_text(void **state)
{
    struct room *room = *state;
    struct fp_map known;
    fp_map_init(&known, 1000);
    draw_all(room, 4);
    for (size_t i = 0; i < DELTAS; i++) {
        room->deltas[i].segment.site = i % 2 == 0 ? FP_STR("even") : FP_STR("odd");
        assert_true(fp_map_put(&known, fp_segment_id(&room->deltas[i].segment), 0) != FP_MAP_NONE);
    }
    room->rollup.known = &known;
    add_all(room);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_SEGMENT), 0);
    for (size_t i = 0; i < DELTAS; i++) {
        const struct fp_str site = room->deltas[i].segment.site;
        const struct fp_hour_key key = {(int64_t)fp_site_id(site),
                                        hour_of(room->deltas[i].received_us)};
        const struct fp_hour_row *hour =
            fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_HOUR], &key.site_id);
        assert_non_null(hour);
        assert_true(fp_str_equal(hour->site, site));
    }
    for (size_t i = 0; i < row_count(room, FP_ROLLUP_TABLE_TOTAL_FACT); i++) {
        const struct fp_total_fact *total = row_at(room, FP_ROLLUP_TABLE_TOTAL_FACT, i);
        const struct fp_hour_key key = {total->site_id, total->key.bucket_us};
        assert_non_null(fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_HOUR], &key.site_id));
    }
    fp_map_release(&known);
}

/* Adds an upload of one segment; returns when the segment's row says that the first one counts, or
 * -1 if there is no row. */
static int64_t first_after(struct room *room, struct fp_delta *delta, int64_t received_us)
{
    const int64_t segment_id = (int64_t)fp_segment_id(&delta->segment);
    delta->id.bytes[0]++;
    delta->received_us = received_us;
    const enum fp_rollup_result result = fp_rollup_add(&room->rollup, delta);
    assert_true(result == FP_ROLLUP_COUNTED || result == FP_ROLLUP_MISDATED);
    const struct fp_segment_row *row =
        fp_rows_find(&room->rollup.tables[FP_ROLLUP_TABLE_SEGMENT], &segment_id);
    return row != NULL ? row->first_us : -1;
}

static void a_segment_has_the_time_of_its_first_upload(void **state)
{
    struct room *room = *state;
    struct fp_delta delta;
    const struct random_delta_settings settings = {.seed = 1, .routes = 1, .functions = 1};
    random_delta(&settings, &room->arena, &delta);
    assert_int_equal(first_after(room, &delta, NOW_US - 5), NOW_US - 5);
    assert_int_equal(first_after(room, &delta, NOW_US - 3), NOW_US - 5);
    assert_int_equal(first_after(room, &delta, NOW_US - 7), NOW_US - 7);
    fp_rollup_clear(&room->rollup, &now_clock);
    const int64_t next_year_us = NOW_US + 365 * FP_US_PER_DAY;
    assert_int_equal(first_after(room, &delta, next_year_us), NOW_US);
}

static void a_known_segment_is_written_again_only_for_an_earlier_upload(void **state)
{
    struct room *room = *state;
    struct fp_map known;
    struct fp_delta delta;
    const struct random_delta_settings settings = {.seed = 1, .routes = 1, .functions = 1};
    random_delta(&settings, &room->arena, &delta);
    fp_map_init(&known, 10);
    assert_true(fp_map_put(&known, fp_segment_id(&delta.segment), fp_segment_second(NOW_US)) !=
                FP_MAP_NONE);
    room->rollup.known = &known;
    assert_int_equal(first_after(room, &delta, NOW_US + FP_US_PER_S), -1);
    /* Within a second the map cannot tell. */
    assert_int_equal(first_after(room, &delta, NOW_US), NOW_US);
    assert_int_equal(first_after(room, &delta, NOW_US - FP_US_PER_HOUR), NOW_US - FP_US_PER_HOUR);
    assert_int_equal(fp_segment_second(-1), 0);
    assert_int_equal(fp_segment_second(INT64_MAX), FP_MAP_NONE - 1);
    fp_map_release(&known);
}

static int64_t bucket_at(int64_t received_us)
{
    return hour_of(counted_at(&now_clock, received_us));
}

static void buckets_are_utc_hours_of_receipt(void **state)
{
    (void)state;
    const int64_t hour_us = NOW_US - 1;
    assert_int_equal(bucket_at(hour_us), hour_us);
    assert_int_equal(bucket_at(hour_us - 1), hour_us - FP_US_PER_HOUR);
    assert_int_equal(bucket_at(hour_us + FP_US_PER_HOUR - 1), hour_us);
    assert_int_equal(hour_of(-1), -FP_US_PER_HOUR);
}

static void a_clock_far_ahead_gets_the_database_s_hour(void **state)
{
    (void)state;
    const int64_t hour_us = NOW_US - 1;
    assert_int_equal(bucket_at(NOW_US + FP_US_PER_HOUR), hour_us + FP_US_PER_HOUR);
    assert_int_equal(bucket_at(NOW_US + FP_US_PER_HOUR + 1), hour_us);
    assert_int_equal(bucket_at(NOW_US + 365 * FP_US_PER_DAY), hour_us);
}

static void counts_uploads_past_the_retention_in_the_databases_hour(void **state)
{
    struct room *room = *state;
    const struct fp_rollup_clock clock = {.now_us = NOW_US, .oldest_us = NOW_US - 1};
    fp_rollup_clear(&room->rollup, &clock);
    draw_all(room, 4);
    room->deltas[0].received_us = NOW_US - 2;
    assert_int_equal(fp_rollup_add(&room->rollup, &room->deltas[0]), FP_ROLLUP_MISDATED);
    room->deltas[1].received_us = NOW_US - 1;
    assert_int_equal(fp_rollup_add(&room->rollup, &room->deltas[1]), FP_ROLLUP_COUNTED);
    assert_int_equal(row_count(room, FP_ROLLUP_TABLE_UPLOAD), 2);
    struct fp_rows *uploads = &room->rollup.tables[FP_ROLLUP_TABLE_UPLOAD];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(((struct fp_upload_row *)fp_rows_at(uploads, i))->bucket_us, NOW_US - 1);
}

static void counts_uploads_that_a_wrong_clock_dated_in_the_current_hour(void **state)
{
    (void)state;
    const struct fp_rollup_clock clock = {.now_us = NOW_US,
                                          .collector_us = NOW_US - 20 * FP_US_PER_DAY,
                                          .oldest_us = NOW_US - 400 * FP_US_PER_DAY};
    assert_true(is_beyond_belief(&clock, clock.collector_us));
    assert_true(is_beyond_belief(&clock, clock.collector_us - 2 * FP_US_PER_DAY + 1));
    /* These were dated before the clock was wrong. */
    assert_false(is_beyond_belief(&clock, NOW_US - FP_US_PER_DAY));
    assert_false(is_beyond_belief(&clock, clock.collector_us + 2 * FP_US_PER_DAY));
    assert_false(is_beyond_belief(&clock, clock.collector_us - 2 * FP_US_PER_DAY));
}

static void says_when_it_is_full_and_never_passes_its_maximum(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 64 * MEBIBYTE);
    struct fp_rollup small;
    /* More than the block that a clear keeps. */
    fp_rollup_init(&small, 128 * 1024, MEBIBYTE);
    fp_rollup_clear(&small, &now_clock);
    size_t full_at = 0;
    size_t added = 0;
    for (;;) {
        const struct random_delta_settings settings = {
            .seed = added, .max_samples = 40, .functions = 300, .routes = 100};
        struct fp_delta delta;
        fp_arena_clear(&arena);
        random_delta(&settings, &arena, &delta);
        if (full_at == 0 && fp_rollup_is_full(&small))
            full_at = added;
        if (fp_rollup_add(&small, &delta) == FP_ROLLUP_NO_ROOM)
            break;
        added++;
    }
    assert_true(fp_rollup_is_over(&small));
    assert_in_range(full_at, 2, added - 1);
    assert_in_range(small.texts.used_bytes, 1, MEBIBYTE);
    /* After a clear it accepts the same again. */
    fp_rollup_clear(&small, &now_clock);
    assert_false(fp_rollup_is_full(&small));
    const struct random_delta_settings settings = {.seed = 1, .max_samples = 40, .functions = 9};
    struct fp_delta delta;
    random_delta(&settings, &arena, &delta);
    assert_int_equal(fp_rollup_add(&small, &delta), FP_ROLLUP_COUNTED);
    fp_rollup_release(&small);
    assert_int_equal(small.budget, MEBIBYTE);
    fp_arena_release(&arena);
}

static void rows_come_sorted_as_signed_numbers(void **state)
{
    (void)state;
    size_t budget = MEBIBYTE;
    struct fp_rows rows;
    fp_rows_init(&rows, 4 * sizeof(int64_t), 2, &budget);
    uint64_t random = 3;
    for (int i = 0; i < 3000; i++) {
        const int64_t key[2] = {(int64_t)(random_next(&random) % 50) - 25,
                                (int64_t)random_next(&random)};
        bool added;
        assert_non_null(fp_rows_put(&rows, key, &added));
        assert_true(added);
        assert_non_null(fp_rows_put(&rows, key, &added));
        assert_false(added);
    }
    assert_true(fp_rows_sort(&rows));
    for (size_t i = 1; i < rows.count; i++) {
        const int64_t *before = fp_rows_sorted(&rows, i - 1);
        const int64_t *after = fp_rows_sorted(&rows, i);
        assert_true(before[0] < after[0] || (before[0] == after[0] && before[1] < after[1]));
    }
    fp_rows_release(&rows);
    assert_int_equal(budget, MEBIBYTE);
}

static void claim_keys_sort_as_postgresql_sorts_uuids(void **state)
{
    (void)state;
    const struct fp_uuid low = {{0x7f, 0xff}};
    const struct fp_uuid high = {{0x80}};
    assert_true(fp_claim_key(&low, 0).high < fp_claim_key(&high, 0).high);
    const struct fp_uuid second_half = {{0, 0, 0, 0, 0, 0, 0, 0, 1}};
    const struct fp_uuid second_half_high = {{0, 0, 0, 0, 0, 0, 0, 0, 0xff}};
    assert_true(fp_claim_key(&second_half, 0).low < fp_claim_key(&second_half_high, 0).low);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(dictionaries_hold_each_name_once),
        TEST(known_names_get_no_rows_and_their_facts_do),
        TEST(an_upload_id_counts_once_a_site),
        TEST(a_recount_leaves_known_uploads_out),
        TEST(a_load_of_several_parts_counts_once_and_where_it_was_first_seen),
        TEST(counts_a_load_that_left_things_out_once_where_first_seen),
        TEST(every_hour_of_a_site_has_its_text),
        TEST(a_segment_has_the_time_of_its_first_upload),
        TEST(a_known_segment_is_written_again_only_for_an_earlier_upload),
        TEST(buckets_are_utc_hours_of_receipt),
        TEST(a_clock_far_ahead_gets_the_database_s_hour),
        TEST(counts_uploads_past_the_retention_in_the_databases_hour),
        TEST(counts_uploads_that_a_wrong_clock_dated_in_the_current_hour),
        TEST(says_when_it_is_full_and_never_passes_its_maximum),
        TEST(rows_come_sorted_as_signed_numbers),
        TEST(claim_keys_sort_as_postgresql_sorts_uuids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
