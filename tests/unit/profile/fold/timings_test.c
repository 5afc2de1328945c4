/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timings: percentiles from bins compared with exact ones, on the worst values for bins; uploads
 * merged in any order; recommended names.
 */
#include "tests/unit/profile/chance.h"
#include "tests/unit/profile/test.h"

#include "collector/base/clock.h"
#include "collector/profile/scrub/timing_name.h"
#include "collector/rollup/bins.h"
#include "collector/rollup/rollup.h"

#include <math.h>

enum { VALUES_MAX = 3000, SEEDS = 5, NAMES = 4, PARTS_MAX = 9, ROUNDS = 60 };

#define ERROR_MAX 0.016

/* Distributions, by the number of a value. */

static int64_t any_size(uint32_t i)
{
    int64_t octave = INT64_C(1) << (i % 53);
    return octave + (int64_t)below(1000) * octave / 1000;
}

static int64_t small(uint32_t i)
{
    (void)i;
    return below(130);
}

static int64_t edges(uint32_t i)
{
    return ((INT64_C(32) + i % 32) << (1 + i / 32 % 30)) - (int64_t)below(2);
}

static int64_t bimodal(uint32_t i)
{
    (void)i;
    return below(100) < 49 ? 127 + (int64_t)below(3) : INT64_C(600000001) + below(7);
}

static int64_t heavy_tail(uint32_t i)
{
    (void)i;
    double share = (1 + below(1000000)) / 1000001.0;
    return (int64_t)(100 / (share * share));
}

static int64_t zero(uint32_t i)
{
    (void)i;
    return 0;
}

static int64_t one(uint32_t i)
{
    (void)i;
    return 1;
}

static int64_t equal(uint32_t i)
{
    (void)i;
    return 8191;
}

static int64_t largest(uint32_t i)
{
    (void)i;
    return FP_TIME_MAX_US;
}

static int64_t one_far_away(uint32_t i)
{
    return i == 0 ? FP_TIME_MAX_US : 0;
}

static int64_t half_negative(uint32_t i)
{
    return i % 2 == 0 ? -1 - (int64_t)below(1000000) : any_size(i / 2);
}

static int64_t (*const distributions[])(uint32_t i) = {
    any_size, small, edges,   bimodal,      heavy_tail,    zero,
    one,      equal, largest, one_far_away, half_negative,
};

enum { DISTRIBUTIONS = FP_COUNT(distributions) };

static int compare_values(const void *a, const void *b)
{
    const int64_t *left = a;
    const int64_t *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* As SQL's timings() defines it: the nearest rank, within the extremes. */
static double percentile_of_bins(const struct fp_delta *delta, double share)
{
    const struct fp_delta_timing *timing = &delta->timings[0];
    double binned = timing->count - timing->negative;
    double up_to = 0;
    uint32_t at = timing->first_bin;
    for (; at < timing->first_bin + timing->bin_count; at++) {
        up_to += delta->bins[at].count;
        if (up_to >= share * binned)
            break;
    }
    assert_true(at < timing->first_bin + timing->bin_count);
    double value_us = fp_bin_middle_us(delta->bins[at].bin);
    return fmin(fmax(value_us, (double)timing->min_us), (double)timing->max_us);
}

static void assert_percentiles(const struct fp_delta *delta, int64_t *values, uint32_t count)
{
    qsort(values, count, sizeof(*values), compare_values);
    uint32_t negative = 0;
    while (negative < count && values[negative] < 0)
        negative++;
    assert_int_equal(delta->timing_count, 1);
    assert_int_equal(delta->timings[0].count, count);
    assert_int_equal(delta->timings[0].negative, negative);
    assert_int_equal(delta->timings[0].bin_count == 0, negative == count);
    for (uint32_t percent = 0; negative < count && percent <= 100; percent++) {
        double share = percent / 100.0;
        double rank = fmax(ceil(share * (count - negative)), 1);
        double exact = (double)values[negative + (uint32_t)rank - 1];
        assert_true(fabs(percentile_of_bins(delta, share) - exact) <= ERROR_MAX * exact);
    }
}

static void percentiles_of_bins_are_off_by_at_most_their_promise(void **state)
{
    (void)state;
    static const struct fp_fold_context context = {.site = {"shop", 4}};
    static struct fp_profile_timing timings[VALUES_MAX];
    static int64_t values[VALUES_MAX];
    struct fp_arena arena;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    for (uint32_t round = 0; round < DISTRIBUTIONS * SEEDS; round++) {
        random_state = round;
        uint32_t count = round % SEEDS == 0 ? 1 + below(3) : 1 + below(VALUES_MAX);
        for (uint32_t i = 0; i < count; i++) {
            values[i] = distributions[round / SEEDS](i);
            timings[i] = (struct fp_profile_timing){
                .name = FP_STR("m"), .kind = FP_TIMING_MEASURE, .value_us = values[i]};
        }
        const struct fp_profile profile = {.timings = timings, .timing_count = count};
        struct fp_delta delta;
        assert_true(fp_fold(&profile, &context, &arena, &delta));
        assert_percentiles(&delta, values, count);
        fp_arena_clear(&arena);
    }
    fp_arena_release(&arena);
}

/* Merging. */

static const char *const names[NAMES] = {"a", "b", "", "fetch-1{status=200}"};

static void draw_timings(struct fp_profile_timing *timings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        timings[i] =
            (struct fp_profile_timing){.name = fp_str_of(names[below(NAMES)]),
                                       .kind = (enum fp_timing_kind)below(2),
                                       .value_us = distributions[below(DISTRIBUTIONS)](below(99))};
}

/* Shuffles them, splits them into parts, and adds each part as it is read from the spool. */
static void add_in_parts(struct fp_rollup *rollup, struct fp_profile_timing *timings,
                         uint32_t count, uint32_t parts, struct fp_arena *arena)
{
    static const struct fp_fold_context context = {.site = {"shop", 4},
                                                   .received_us = 3 * FP_US_PER_HOUR};
    for (uint32_t i = count; i-- > 1;) {
        uint32_t other = below(i + 1);
        struct fp_profile_timing timing = timings[i];
        timings[i] = timings[other];
        timings[other] = timing;
    }
    for (uint32_t part = 0, begin = 0; part < parts; part++) {
        uint32_t len = part + 1 < parts ? below(count - begin + 1) : count - begin;
        const struct fp_profile profile = {.timings = timings + begin, .timing_count = len};
        struct fp_delta delta;
        struct fp_delta decoded;
        struct fp_buf bytes;
        fp_buf_init(&bytes, TEST_ARENA_MAX);
        assert_true(fp_fold(&profile, &context, arena, &delta));
        fp_delta_encode(&delta, &bytes);
        assert_int_equal(fp_delta_decode(bytes.data, bytes.len, arena, &decoded), FP_DELTA_OK);
        assert_int_equal(fp_rollup_add(rollup, &decoded), FP_ROLLUP_COUNTED);
        fp_buf_release(&bytes);
        begin += len;
    }
}

static size_t sorted_rows(struct fp_rollup *rollup, enum fp_rollup_table table)
{
    assert_true(fp_rows_sort(&rollup->tables[table]));
    return rollup->tables[table].count;
}

static void assert_same_timings(struct fp_rollup *whole, struct fp_rollup *merged)
{
    size_t count = sorted_rows(whole, FP_ROLLUP_TABLE_TIMING_FACT);
    assert_int_equal(sorted_rows(merged, FP_ROLLUP_TABLE_TIMING_FACT), count);
    for (size_t i = 0; i < count; i++) {
        const struct fp_timing_fact *expected =
            fp_rows_sorted(&whole->tables[FP_ROLLUP_TABLE_TIMING_FACT], i);
        const struct fp_timing_fact *found =
            fp_rows_sorted(&merged->tables[FP_ROLLUP_TABLE_TIMING_FACT], i);
        assert_memory_equal(&found->key, &expected->key, sizeof(found->key));
        assert_int_equal(found->count, expected->count);
        assert_int_equal(found->negative, expected->negative);
        assert_int_equal(found->min_us, expected->min_us);
        assert_int_equal(found->max_us, expected->max_us);
        assert_true(fabs(found->sum_us - expected->sum_us) <= 1e-9 * fabs(expected->sum_us));
    }
}

static void assert_same_bins(struct fp_rollup *whole, struct fp_rollup *merged)
{
    size_t count = sorted_rows(whole, FP_ROLLUP_TABLE_TIMING_BIN_FACT);
    assert_int_equal(sorted_rows(merged, FP_ROLLUP_TABLE_TIMING_BIN_FACT), count);
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(fp_rows_sorted(&merged->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT], i),
                            fp_rows_sorted(&whole->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT], i),
                            sizeof(struct fp_timing_bin_fact));
}

static void merging_in_any_order_gives_identical_bins(void **state)
{
    (void)state;
    static const struct fp_rollup_clock clock = {.now_us = 3 * FP_US_PER_HOUR + 1};
    static struct fp_profile_timing timings[VALUES_MAX];
    struct fp_arena arena;
    struct fp_rollup whole;
    struct fp_rollup merged;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fp_rollup_init(&whole, TEST_ARENA_MAX / 2, TEST_ARENA_MAX);
    fp_rollup_init(&merged, TEST_ARENA_MAX / 2, TEST_ARENA_MAX);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        random_state = round;
        uint32_t count = 1 + below(400);
        draw_timings(timings, count);
        fp_rollup_clear(&whole, &clock);
        fp_rollup_clear(&merged, &clock);
        add_in_parts(&whole, timings, count, 1, &arena);
        add_in_parts(&merged, timings, count, 2 + below(PARTS_MAX - 1), &arena);
        assert_same_timings(&whole, &merged);
        assert_same_bins(&whole, &merged);
        fp_arena_clear(&arena);
    }
    fp_rollup_release(&merged);
    fp_rollup_release(&whole);
    fp_arena_release(&arena);
}

/* Names. */

static void recommended_marks_keep_their_names_over_any_ceiling(void **state)
{
    (void)state;
    struct fp_metrics *metrics = fp_metrics_create();
    struct fp_ceilings *ceilings = fp_ceilings_create(metrics);
    const struct fp_ceiling_limits limits = {.memory = 1 << 20, .names[FP_NAME_TIMING] = 1};
    const struct fp_fold_context context = {
        .site = FP_STR("shop"), .ceilings = ceilings, .ceiling_limits = &limits};
    struct fp_arena arena;
    struct fp_delta delta;
    fp_arena_init(&arena, TEST_ARENA_MAX);
    fold_body(&arena,
              json_of(&arena, "{'marks':{'mark_fully_loaded':[1,2],'aboveTheFold':[3],"
                              "'mark_interactive':[4],'a':[5],'b':[6],'c':[7]},"
                              "'measures':{'mark_fully_visible':[8],'mark_feature_usage':[9]}}"),
              &context, &delta);
    static const uint32_t counts[] = {2, 1, 1};
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(fp_timing_name_is_recommended(delta.timings[i].name));
        assert_int_equal(delta.timings[i].kind, FP_TIMING_MARK);
        assert_int_equal(delta.timings[i].count, counts[i]);
    }
    /* One of the other five has its name. */
    uint32_t overflowed = 0;
    for (uint32_t i = 3; i < delta.timing_count; i++)
        if (fp_str_equal(delta.timings[i].name, FP_STR("(overflow)")))
            overflowed += delta.timings[i].count;
    assert_int_equal(overflowed, 4);
    fp_arena_release(&arena);
    fp_ceilings_free(ceilings);
    fp_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(percentiles_of_bins_are_off_by_at_most_their_promise),
        cmocka_unit_test(merging_in_any_order_gives_identical_bins),
        cmocka_unit_test(recommended_marks_keep_their_names_over_any_ceiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
