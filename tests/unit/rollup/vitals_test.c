/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vitals that are sent again: the last one counts, and nothing is taken back that was not counted.
 */
#include "rollup_test.h"

#include "collector/rollup/rollup_vitals.c"
#include "collector/rollup/without.h"

enum { LATER_HOURS = 3 };

/* An upload of a page load with one vital. */
struct beacon {
    uint64_t load;
    uint32_t part;
    enum fp_vital vital;
    int64_t value_us;
    uint64_t metric;
    int64_t hour; /* before now */
    const char *route;
};

static struct fp_delta_vital vital_of(const struct beacon *beacon)
{
    return (struct fp_delta_vital){.metric = beacon->metric,
                                   .vital = beacon->vital,
                                   .element = FP_INDEX_NONE,
                                   .value_us = beacon->value_us};
}

static void add_beacon(struct fp_rollup *rollup, const struct beacon *beacon)
{
    static uint64_t next_id = 1;
    struct fp_delta_vital vital = vital_of(beacon);
    struct fp_delta delta = {
        .has_load = true,
        .part = beacon->part,
        .received_us = NOW_US - beacon->hour * FP_US_PER_HOUR,
        .segment = {.site = FP_STR("shop"),
                    .route = fp_str_of(beacon->route != NULL ? beacon->route : "/")},
        .format = FP_UPLOAD_USER_TIMING,
        .vitals = &vital,
        .vital_count = 1,
    };
    memcpy(delta.load.bytes, &beacon->load, sizeof(beacon->load));
    memcpy(delta.id.bytes, &next_id, sizeof(next_id));
    next_id++;
    assert_int_equal(fp_rollup_add(rollup, &delta), FP_ROLLUP_COUNTED);
}

static struct fp_vital_row *row_of(struct fp_rollup *rollup, const struct beacon *beacon)
{
    struct fp_delta_vital vital = vital_of(beacon);
    struct fp_uuid load = {{0}};
    memcpy(load.bytes, &beacon->load, sizeof(beacon->load));
    struct fp_uuid id = fp_vital_id(fp_site_id(FP_STR("shop")), &load, &vital);
    struct fp_vital_row *row = fp_rollup_find_vital(rollup, &id);
    assert_non_null(row);
    return row;
}

/* Returns the count of a bin in all segments and hours. */
static int64_t in_bin(const struct fp_rollup *rollup, int64_t value_us)
{
    const struct fp_rows *bins = &rollup->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT];
    int64_t count = 0;
    for (size_t i = 0; i < bins->count; i++) {
        const struct fp_timing_bin_fact *fact = fp_rows_at(bins, i);
        count += fact->key.part == fp_bin_of(value_us) ? fact->count : 0;
    }
    return count;
}

struct sums {
    int64_t count, uploads;
    double sum_us;
};

static struct sums sums_of(const struct fp_rollup *rollup, enum fp_timing_kind kind,
                           enum fp_vital vital)
{
    const struct fp_timing_key key = {.kind = kind, .name = fp_str_of(fp_vital_name(vital))};
    const int64_t id = (int64_t)fp_timing_id(fp_site_id(FP_STR("shop")), &key);
    const struct fp_rows *facts = &rollup->tables[FP_ROLLUP_TABLE_TIMING_FACT];
    struct sums sums = {0};
    for (size_t i = 0; i < facts->count; i++) {
        const struct fp_timing_fact *fact = fp_rows_at(facts, i);
        if (fact->key.id != id)
            continue;
        sums.count += fact->count;
        sums.uploads += fact->uploads;
        sums.sum_us += fact->sum_us;
    }
    return sums;
}

static void assert_inp(const struct fp_rollup *rollup, int64_t value_us, int64_t good, int64_t poor)
{
    const struct sums sums = sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_INP);
    assert_int_equal(sums.count, 1);
    assert_int_equal(sums.uploads, 1);
    assert_true(sums.sum_us >= (double)value_us && sums.sum_us <= (double)value_us);
    assert_int_equal(in_bin(rollup, value_us), 1);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_GOOD, FP_VITAL_INP).count, good);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_POOR, FP_VITAL_INP).count, poor);
}

static struct fp_rollup *begin(void **state)
{
    struct room *room = *state;
    fp_rollup_clear(&room->rollup, &now_clock);
    return &room->rollup;
}

static void the_value_of_the_last_part_counts_in_any_order(void **state)
{
    static const uint32_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const int64_t values_us[] = {120000, 900000, 336000}; /* may shrink */
    for (size_t i = 0; i < FP_COUNT(orders); i++) {
        struct fp_rollup *rollup = begin(state);
        for (size_t k = 0; k < 3; k++) {
            const uint32_t part = orders[i][k];
            const struct beacon beacon = {.load = 7,
                                          .part = part,
                                          .vital = FP_VITAL_INP,
                                          .value_us = values_us[part],
                                          .metric = 1,
                                          .hour = part,
                                          .route = part == 1 ? "/cart" : "/"};
            add_beacon(rollup, &beacon);
        }
        assert_inp(rollup, values_us[2], 0, 0);
        assert_int_equal(in_bin(rollup, values_us[0]), 0);
        assert_int_equal(in_bin(rollup, values_us[1]), 0);
    }
}

static void counts_the_last_of_equal_parts(void **state)
{
    struct fp_rollup *rollup = begin(state);
    struct beacon beacon = {.load = 7, .vital = FP_VITAL_INP, .value_us = 900000, .metric = 1};
    add_beacon(rollup, &beacon);
    assert_inp(rollup, 900000, 0, 1);
    beacon.value_us = 120000;
    add_beacon(rollup, &beacon);
    assert_inp(rollup, 120000, 1, 0);
}

static void an_equal_value_stays_where_it_was_first_counted(void **state)
{
    struct fp_rollup *rollup = begin(state);
    struct beacon beacon = {
        .load = 7, .vital = FP_VITAL_INP, .value_us = 120000, .metric = 1, .hour = 2};
    add_beacon(rollup, &beacon);
    beacon.hour = 0;
    beacon.part = 5;
    add_beacon(rollup, &beacon);
    assert_inp(rollup, 120000, 1, 0);
    assert_int_equal(row_of(rollup, &beacon)->count.bucket_us % FP_US_PER_HOUR, 0);
    assert_int_equal(row_of(rollup, &beacon)->count.bucket_us, NOW_US - 1 - 2 * FP_US_PER_HOUR);
    beacon.part = 4; /* older than the part that confirmed the value */
    beacon.value_us = 300000;
    add_beacon(rollup, &beacon);
    assert_inp(rollup, 120000, 1, 0);
}

/* The machine slept between two values: the page load is flagged until a later value replaces that.
 */
static void a_flagged_value_replaces_and_is_replaced(void **state)
{
    static const int64_t slept_us = 3600000000;
    struct fp_rollup *rollup = begin(state);
    struct beacon beacon = {.load = 7, .vital = FP_VITAL_INP, .value_us = 120000, .metric = 1};
    add_beacon(rollup, &beacon);
    assert_inp(rollup, 120000, 1, 0);
    for (int64_t longer = 0; longer < 2; longer++) {
        beacon.part++;
        beacon.value_us = slept_us + longer;
        add_beacon(rollup, &beacon);
        assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_FLAGGED, FP_VITAL_INP).count, 1);
        assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_FLAGGED, FP_VITAL_INP).uploads, 1);
        assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_INP).count, 0);
        assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_INP).uploads, 0);
        assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_GOOD, FP_VITAL_INP).count, 0);
        assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_POOR, FP_VITAL_INP).count, 0);
        assert_int_equal(in_bin(rollup, 120000), 0);
        assert_int_equal(in_bin(rollup, beacon.value_us), 0);
    }
    beacon.part++;
    beacon.value_us = 900000;
    add_beacon(rollup, &beacon);
    assert_inp(rollup, 900000, 0, 1);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_FLAGGED, FP_VITAL_INP).count, 0);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_FLAGGED, FP_VITAL_INP).uploads, 0);
}

static void loads_vitals_and_metrics_are_apart(void **state)
{
    struct fp_rollup *rollup = begin(state);
    const struct beacon beacons[] = {
        {.load = 7, .vital = FP_VITAL_INP, .value_us = 120000, .metric = 1},
        {.load = 8, .vital = FP_VITAL_INP, .value_us = 120000, .metric = 1},
        {.load = 7, .vital = FP_VITAL_INP, .value_us = 120000, .metric = 2},
        {.load = 7, .vital = FP_VITAL_LCP, .value_us = 120000, .metric = 1},
    };
    for (size_t i = 0; i < FP_COUNT(beacons); i++)
        add_beacon(rollup, &beacons[i]);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_INP).count, 3);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_LCP).count, 1);
    assert_int_equal(rollup->tables[FP_ROLLUP_TABLE_VITAL].count, 4);
}

static void takes_back_a_vital_in_the_bucket_that_counted_it(void **state)
{
    struct fp_rollup *rollup = begin(state);
    const struct beacon beacon = {
        .load = 7, .part = 1, .vital = FP_VITAL_INP, .value_us = 900000, .metric = 1};
    add_beacon(rollup, &beacon);
    const struct fp_vital_count replaced = {.segment_id = 5,
                                            .bucket_us = NOW_US - 1 - LATER_HOURS * FP_US_PER_HOUR,
                                            .value_us = 120000,
                                            .rating = FP_VITAL_GOOD,
                                            .uploads = 1};
    assert_true(fp_rollup_keep_vital(rollup, row_of(rollup, &beacon), &replaced));
    assert_int_equal(in_bin(rollup, 120000), -1);
    assert_int_equal(in_bin(rollup, 900000), 1);
    const struct sums good = sums_of(rollup, FP_TIMING_VITAL_GOOD, FP_VITAL_INP);
    assert_int_equal(good.count, -1);
    assert_int_equal(good.uploads, -1);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_INP).count, 0);
    const struct fp_hour_key hour = {(int64_t)fp_site_id(FP_STR("shop")), replaced.bucket_us};
    const struct fp_hour_row *row =
        fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_HOUR], &hour.site_id);
    assert_non_null(row);
    assert_int_equal(row->site.len, 4);
}

/* Both are counted with the value, and taken back with it. */
static void elements_and_parts_go_with_their_value(void **state)
{
    struct fp_rollup *rollup = begin(state);
    struct fp_delta_timing elements[] = {
        {.id = 11, .name = FP_STR("LCP"), .source = FP_STR("#a"), .kind = FP_TIMING_VITAL_ELEMENT},
        {.id = 12, .name = FP_STR("LCP"), .source = FP_STR("#b"), .kind = FP_TIMING_VITAL_ELEMENT},
    };
    struct fp_delta_vital vital = {.metric = 1, .vital = FP_VITAL_LCP};
    struct fp_delta delta = {.has_load = true,
                             .received_us = NOW_US,
                             .segment = {.site = FP_STR("shop"), .route = FP_STR("/")},
                             .format = FP_UPLOAD_USER_TIMING,
                             .timings = elements,
                             .timing_count = 2,
                             .vitals = &vital,
                             .vital_count = 1};
    for (uint32_t part = 0; part < 2; part++) {
        delta.id.bytes[0] = (uint8_t)(1 + part);
        delta.part = part;
        vital.element = part;
        vital.value_us = 900000 + part;
        vital.parts = (struct fp_vital_parts){3, {100, 200, 300 + part}};
        assert_int_equal(fp_rollup_add(rollup, &delta), FP_ROLLUP_COUNTED);
    }
    struct sums sums = {0};
    double parts_us = 0;
    const struct fp_rows *facts = &rollup->tables[FP_ROLLUP_TABLE_TIMING_FACT];
    for (size_t i = 0; i < facts->count; i++) {
        const struct fp_timing_fact *fact = fp_rows_at(facts, i);
        sums.count += fact->key.id == 11 ? fact->count : 0;
        sums.uploads += fact->key.id == 12 ? fact->count : 0;
        sums.sum_us += fact->key.id == 12 ? fact->sum_us : 0;
    }
    assert_int_equal(sums.count, 0);
    assert_int_equal(sums.uploads, 1);
    assert_true(sums.sum_us > 900000.5 && sums.sum_us < 900001.5);
    for (size_t i = 0; i < fp_vital_part_count(FP_VITAL_LCP); i++) {
        const struct fp_timing_key key = part_key(FP_VITAL_LCP, i, &(struct fp_vital_count){0});
        const int64_t id = (int64_t)fp_timing_id(fp_site_id(FP_STR("shop")), &key);
        for (size_t k = 0; k < facts->count; k++) {
            const struct fp_timing_fact *fact = fp_rows_at(facts, k);
            if (fact->key.id != id)
                continue;
            assert_int_equal(fact->count, 1);
            parts_us += fact->sum_us;
        }
    }
    assert_true(parts_us > 900000.5 && parts_us < 900001.5);
}

/* Returns the count of a bin of a timing. */
static int64_t count_of(const struct fp_rollup *rollup, uint64_t timing_id,
                        enum fp_without_histogram histogram, int64_t value_us)
{
    const struct fp_rows *facts = &rollup->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT];
    int64_t count = 0;
    for (size_t i = 0; i < facts->count; i++) {
        const struct fp_timing_bin_fact *fact = fp_rows_at(facts, i);
        if (fact->key.id == (int64_t)timing_id &&
            fact->key.part == histogram * FP_WITHOUT_BINS + fp_bin_of(value_us))
            count += fact->count;
    }
    return count;
}

static uint64_t profiled_id(enum fp_vital vital)
{
    const struct fp_timing_key key = {.kind = FP_TIMING_VITAL_PROFILED,
                                      .name = fp_str_of(fp_vital_name(vital))};
    return fp_timing_id(fp_site_id(FP_STR("shop")), &key);
}

/* A part of a page load whose INP of 300 ms would be `gone_ms` without timing 21; 0: not profiled.
 */
static void add_part(struct fp_rollup *rollup, uint32_t part, int64_t value_ms, int64_t gone_ms)
{
    struct fp_delta_timing timing = {.id = 21,
                                     .name = FP_STR("INP"),
                                     .source = FP_STR("function"),
                                     .function = FP_STR("9"),
                                     .kind = FP_TIMING_VITAL_WITHOUT};
    struct fp_delta_without without = {.gone = fp_bin_of(gone_ms * FP_US_PER_MS),
                                       .half = fp_bin_of((gone_ms + value_ms) * FP_US_PER_MS / 2)};
    struct fp_delta_vital vital = {.metric = 1,
                                   .vital = FP_VITAL_INP,
                                   .element = FP_INDEX_NONE,
                                   .value_us = value_ms * FP_US_PER_MS,
                                   .is_profiled = gone_ms > 0,
                                   .without_count = gone_ms > 0 ? 1 : 0};
    struct fp_delta delta = {.id.bytes = {(uint8_t)(part + 1), (uint8_t)gone_ms},
                             .has_load = true,
                             .part = part,
                             .received_us = NOW_US,
                             .segment = {.site = FP_STR("shop"), .route = FP_STR("/")},
                             .timings = &timing,
                             .timing_count = 1,
                             .withouts = &without,
                             .without_count = 1,
                             .vitals = &vital,
                             .vital_count = 1};
    assert_int_equal(fp_rollup_add(rollup, &delta), FP_ROLLUP_COUNTED);
}

/* Without, with half of it, and as it is, the page load counts once each. */
static void assert_counts_once(const struct fp_rollup *rollup, int64_t value_ms, int64_t gone_ms)
{
    int64_t all = 0;
    const struct fp_rows *facts = &rollup->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT];
    for (size_t i = 0; i < facts->count; i++) {
        const struct fp_timing_bin_fact *fact = fp_rows_at(facts, i);
        all += fact->key.id == 21 ? fact->count : 0;
        assert_true(fact->count >= 0);
    }
    assert_int_equal(all, gone_ms > 0 ? FP_WITHOUT_HISTOGRAMS : 0);
    assert_int_equal(
        count_of(rollup, profiled_id(FP_VITAL_INP), FP_WITHOUT_NOW, value_ms * FP_US_PER_MS),
        gone_ms > 0);
    if (gone_ms == 0)
        return;
    assert_int_equal(count_of(rollup, 21, FP_WITHOUT_NOW, value_ms * FP_US_PER_MS), 1);
    assert_int_equal(count_of(rollup, 21, FP_WITHOUT_GONE, gone_ms * FP_US_PER_MS), 1);
    assert_int_equal(count_of(rollup, 21, FP_WITHOUT_HALF, (gone_ms + value_ms) * FP_US_PER_MS / 2),
                     1);
}

static void counts_a_vital_without_something_once_per_page_load(void **state)
{
    struct fp_rollup *rollup = begin(state);
    add_part(rollup, 0, 300, 120);
    assert_counts_once(rollup, 300, 120);
    add_part(rollup, 1, 300, 90); /* it knows more of the same value */
    assert_counts_once(rollup, 300, 90);
    add_part(rollup, 2, 300, 0); /* it does not know that the page load is profiled */
    assert_counts_once(rollup, 300, 90);
    add_part(rollup, 3, 400, 100); /* another interaction */
    assert_counts_once(rollup, 400, 100);
    add_part(rollup, 1, 350, 80); /* late */
    assert_counts_once(rollup, 400, 100);
    add_part(rollup, 4, 500, 0);
    assert_counts_once(rollup, 500, 0);
}

/* The database keeps an equal value where it is. */
static void replaces_an_equal_value_without_something_in_its_place(void **state)
{
    struct fp_rollup *rollup = begin(state);
    const struct beacon beacon = {
        .load = 0, .part = 0, .vital = FP_VITAL_INP, .value_us = 300000, .metric = 1};
    add_part(rollup, 0, 300, 120);
    struct fp_vital_row *row = row_of(rollup, &beacon);
    struct fp_vital_count place = {.segment_id = 5,
                                   .bucket_us = NOW_US - 1 - LATER_HOURS * FP_US_PER_HOUR,
                                   .value_us = 300000};
    assert_true(fp_rollup_keep_without(rollup, row, &place));
    assert_true(fp_rollup_drop_vital(rollup, row));
    assert_counts_once(rollup, 300, 120);
    const struct fp_rows *facts = &rollup->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT];
    for (size_t i = 0; i < facts->count; i++) {
        const struct fp_timing_bin_fact *fact = fp_rows_at(facts, i);
        assert_true(fact->count == (fact->key.segment_id == 5));
    }
    place.without = row->count.without; /* the same again: nothing changes */
    assert_true(fp_rollup_keep_without(rollup, row, &place));
    assert_counts_once(rollup, 300, 120);
}

static void takes_back_no_vital_past_the_retention(void **state)
{
    struct fp_rollup *rollup = begin(state);
    rollup->clock.oldest_us = NOW_US - 1 - FP_US_PER_HOUR;
    const struct beacon beacon = {
        .load = 7, .vital = FP_VITAL_INP, .value_us = 900000, .metric = 1};
    add_beacon(rollup, &beacon);
    const struct fp_vital_count replaced = {.segment_id = 5,
                                            .bucket_us = NOW_US - 1 - 2 * FP_US_PER_HOUR,
                                            .value_us = 120000,
                                            .uploads = 1};
    assert_true(fp_rollup_keep_vital(rollup, row_of(rollup, &beacon), &replaced));
    assert_int_equal(in_bin(rollup, 120000), 0);
    assert_int_equal(rollup->tables[FP_ROLLUP_TABLE_HOUR].count, 1);
}

static void does_not_count_a_vital_that_the_database_has_newer(void **state)
{
    struct fp_rollup *rollup = begin(state);
    const struct beacon beacon = {
        .load = 7, .vital = FP_VITAL_INP, .value_us = 900000, .metric = 1};
    add_beacon(rollup, &beacon);
    assert_true(fp_rollup_drop_vital(rollup, row_of(rollup, &beacon)));
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_INP).count, 0);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_INP).uploads, 0);
    assert_int_equal(in_bin(rollup, 900000), 0);
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL_POOR, FP_VITAL_INP).count, 0);
}

/* An upload of a page that came back has two of a vital. */
static void uploads_are_never_below_zero(void **state)
{
    struct fp_rollup *rollup = begin(state);
    struct fp_delta_vital vitals[] = {
        {.metric = 1, .vital = FP_VITAL_LCP, .element = FP_INDEX_NONE, .value_us = 500000},
        {.metric = 2, .vital = FP_VITAL_LCP, .element = FP_INDEX_NONE, .value_us = 600000}};
    struct fp_delta delta = {.has_load = true,
                             .received_us = NOW_US,
                             .vitals = vitals,
                             .vital_count = 2,
                             .segment = {.site = FP_STR("shop")}};
    assert_int_equal(fp_rollup_add(rollup, &delta), FP_ROLLUP_COUNTED);
    const struct fp_rows *rows = &rollup->tables[FP_ROLLUP_TABLE_VITAL];
    assert_int_equal(sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_LCP).uploads, 1);
    for (size_t i = 0; i < rows->count; i++)
        assert_true(fp_rollup_drop_vital(rollup, fp_rows_at(rows, i)));
    const struct sums sums = sums_of(rollup, FP_TIMING_VITAL, FP_VITAL_LCP);
    assert_int_equal(sums.count, 0);
    assert_int_equal(sums.uploads, 0);
}

/* Values of measures are not sent again: each upload adds its own. */
static void counts_each_profiled_measure(void **state)
{
    struct fp_rollup *rollup = begin(state);
    const struct fp_timing_key key = {.kind = FP_TIMING_VITAL_PROFILED, .name = FP_STR("search")};
    struct fp_delta_timing timings[] = {{.id = fp_timing_id(fp_site_id(FP_STR("shop")), &key),
                                         .name = key.name,
                                         .kind = FP_TIMING_VITAL_PROFILED},
                                        {.id = 21,
                                         .name = FP_STR("search"),
                                         .source = FP_STR("function"),
                                         .function = FP_STR("9"),
                                         .kind = FP_TIMING_VITAL_WITHOUT}};
    struct fp_delta_without without = {1, fp_bin_of(100000), fp_bin_of(200000)};
    struct fp_delta_profiled profiled[] = {{0, fp_bin_of(300000), 0, 1},
                                           {0, fp_bin_of(50000), 1, 0}};
    for (uint8_t upload = 1; upload <= 2; upload++) {
        const struct fp_delta delta = {.id.bytes = {upload},
                                       .received_us = NOW_US,
                                       .segment = {.site = FP_STR("shop"), .route = FP_STR("/")},
                                       .timings = timings,
                                       .timing_count = FP_COUNT(timings),
                                       .withouts = &without,
                                       .without_count = 1,
                                       .profiled = profiled,
                                       .profiled_count = FP_COUNT(profiled)};
        assert_int_equal(fp_rollup_add(rollup, &delta), FP_ROLLUP_COUNTED);
    }
    assert_int_equal(count_of(rollup, timings[0].id, FP_WITHOUT_NOW, 300000), 2);
    assert_int_equal(count_of(rollup, timings[0].id, FP_WITHOUT_NOW, 50000), 2);
    assert_int_equal(count_of(rollup, 21, FP_WITHOUT_NOW, 300000), 2);
    assert_int_equal(count_of(rollup, 21, FP_WITHOUT_GONE, 100000), 2);
    assert_int_equal(count_of(rollup, 21, FP_WITHOUT_HALF, 200000), 2);
    assert_int_equal(count_of(rollup, 21, FP_WITHOUT_NOW, 50000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_value_of_the_last_part_counts_in_any_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(counts_the_last_of_equal_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_equal_value_stays_where_it_was_first_counted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_flagged_value_replaces_and_is_replaced, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(loads_vitals_and_metrics_are_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_back_a_vital_in_the_bucket_that_counted_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(elements_and_parts_go_with_their_value, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_a_vital_without_something_once_per_page_load, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(replaces_an_equal_value_without_something_in_its_place,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_each_profiled_measure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_back_no_vital_past_the_retention, set_up, tear_down),
        cmocka_unit_test_setup_teardown(does_not_count_a_vital_that_the_database_has_newer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(uploads_are_never_below_zero, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
