/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging: compared with a slow sum over random packs, and what happens at the limits of columns.
 */
#include "random_pack.h"

enum { ROUNDS = 30, PACKS = 7 };

/* Checks that the entries ascend, and that none has the same key as another. */
static void assert_sorted(const struct fp_pack *pack)
{
    for (size_t i = 1; i < pack->count; i++)
        assert_true(compare_entries(pack, i - 1, pack, i) < 0);
}

/* Checks each entry of `merged` against all packs, and that no key of theirs is missing. */
static void check_sum(const struct fp_pack *merged, const struct fp_pack *packs, size_t count)
{
    for (size_t column = merged->shape->key_count; column < merged->shape->column_count; column++)
        for (size_t at = 0; at < merged->count; at++) {
            enum fp_pack_type type = merged->shape->columns[column].type;
            long double slow = join(&packs[0], column, merged, at);
            for (size_t i = 1; i < count; i++) {
                long double more = join(&packs[i], column, merged, at);
                slow = type == FP_PACK_LEAST      ? fminl(slow, more)
                       : type == FP_PACK_GREATEST ? fmaxl(slow, more)
                                                  : slow + more;
            }
            assert_true(element(merged, column, at) == slow);
        }
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; at < packs[i].count; at++) {
            size_t found = 0;
            for (size_t entry = 0; entry < merged->count; entry++)
                found += compare_entries(merged, entry, &packs[i], at) == 0;
            assert_int_equal(found, 1);
        }
}

static void check_kind(enum fp_pack_kind kind, uint64_t rarity, uint64_t *seed)
{
    struct fp_pack packs[PACKS];
    struct fp_pack sums[2];
    for (size_t i = 0; i < PACKS; i++)
        fill(&packs[i], kind, rarity, seed);
    for (size_t i = 0; i < 2; i++)
        fp_pack_init(&sums[i], fp_pack_shape(kind));
    for (size_t i = 0; i < PACKS; i++)
        assert_true(fp_pack_merge(&sums[i % 2], &packs[i], &sums[(i + 1) % 2]));
    assert_sorted(&sums[PACKS % 2]);
    check_sum(&sums[PACKS % 2], packs, PACKS);
    for (size_t i = 0; i < PACKS; i++)
        fp_pack_release(&packs[i]);
    for (size_t i = 0; i < 2; i++)
        fp_pack_release(&sums[i]);
}

static void equals_a_slow_sum(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (size_t round = 0; round < ROUNDS; round++)
        for (enum fp_pack_kind kind = 0; kind < FP_PACK_KIND_COUNT; kind++)
            check_kind(kind, kind == FP_PACK_MEASURE_FRAME ? 20 : 2 + round % 9, &seed);
}

static void the_sides_may_change_places(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (enum fp_pack_kind kind = 0; kind < FP_PACK_KIND_COUNT; kind++) {
        struct fp_pack left;
        struct fp_pack right;
        struct fp_pack one;
        struct fp_pack other;
        fill(&left, kind, 3, &seed);
        fill(&right, kind, 2, &seed);
        fp_pack_init(&one, left.shape);
        fp_pack_init(&other, left.shape);
        assert_true(fp_pack_merge(&left, &right, &one));
        assert_true(fp_pack_merge(&right, &left, &other));
        assert_same(&one, &other);
        fp_pack_release(&left);
        fp_pack_release(&right);
        fp_pack_release(&one);
        fp_pack_release(&other);
    }
}

static void an_empty_side_changes_nothing(void **state)
{
    (void)state;
    uint64_t seed = 8;
    struct fp_pack empty;
    struct fp_pack pack;
    struct fp_pack out;
    fill(&pack, FP_PACK_STACK, 2, &seed);
    fp_pack_init(&empty, pack.shape);
    fp_pack_init(&out, pack.shape);
    assert_true(fp_pack_merge(&empty, &pack, &out));
    assert_same(&out, &pack);
    assert_true(fp_pack_merge(&pack, &empty, &out));
    assert_same(&out, &pack);
    assert_true(fp_pack_merge(&empty, &empty, &out));
    assert_int_equal(out.count, 0);
    fp_pack_release(&pack);
    fp_pack_release(&out);
}

static void append_bin(struct fp_pack *pack, int64_t id, int64_t count)
{
    const struct fp_timing_bin_fact row = {.key.id = id, .key.part = 3, .count = count};
    assert_true(fp_pack_append(pack, &row));
}

/* Merges packs whose counts fill their column: nothing is lost, and only full entries stay
 * apart. */
static void full_counts_stay_apart(void **state)
{
    (void)state;
    struct fp_pack all[2];
    struct fp_pack more;
    for (size_t i = 0; i < 2; i++)
        fp_pack_init(&all[i], fp_pack_shape(FP_PACK_TIMING_BIN));
    fp_pack_init(&more, fp_pack_shape(FP_PACK_TIMING_BIN));
    enum { TIMES = 100 };
    const int64_t each = INT32_MAX / 7;
    append_bin(&more, -4, 10);
    append_bin(&more, 1, each);
    append_bin(&more, 2, 20);
    for (size_t i = 0; i < TIMES; i++)
        assert_true(fp_pack_merge(&all[i % 2], &more, &all[(i + 1) % 2]));
    const struct fp_pack *sum = &all[TIMES % 2];
    static const size_t value = 2;
    assert_true(join(sum, value, &more, 0) == 10 * TIMES);
    assert_true(join(sum, value, &more, 1) == (long double)(each * TIMES));
    assert_true(join(sum, value, &more, 2) == 20 * TIMES);
    assert_int_equal(sum->count, 2 + TIMES / 7 + 1);
    for (size_t i = 1; i < sum->count; i++)
        assert_true(compare_entries(sum, i - 1, sum, i) <= 0);
    for (size_t i = 0; i < 2; i++)
        fp_pack_release(&all[i]);
    fp_pack_release(&more);
}

/* Merges entries of one key whose count or sum is just as large as its column, or one larger,
 * beside entries of another key that do not fit: packs are only then merged with care. */
static void entries_that_just_fit_become_one(void **state)
{
    (void)state;
    static const enum fp_pack_kind kinds[] = {FP_PACK_TIMING_BIN, FP_PACK_STACK};
    for (int64_t over = 0; over < 2; over++) {
        for (size_t kind = 0; kind < FP_COUNT(kinds); kind++) {
            const int64_t most = kinds[kind] == FP_PACK_STACK ? INT64_MAX : INT32_MAX;
            struct fp_pack packs[2];
            struct fp_pack out;
            for (size_t i = 0; i < 2; i++) {
                fp_pack_init(&packs[i], fp_pack_shape(kinds[kind]));
                for (int64_t id = 1; id <= 2; id++) {
                    int64_t value = id == 2 ? most : i == 0 ? most - 9 : 9 + over;
                    const struct fp_stack_fact row = {
                        .key.id = id, .uploads = 1, .samples = 1, .self_us = value};
                    if (kinds[kind] == FP_PACK_STACK)
                        assert_true(fp_pack_append(&packs[i], &row));
                    else
                        append_bin(&packs[i], id, value);
                }
            }
            fp_pack_init(&out, packs[0].shape);
            assert_true(fp_pack_merge(&packs[0], &packs[1], &out));
            assert_int_equal(out.count, 3 + over);
            fp_pack_release(&out);
            fp_pack_release(&packs[0]);
            fp_pack_release(&packs[1]);
        }
    }
}

static void full_sums_stay_apart(void **state)
{
    (void)state;
    struct fp_pack left;
    struct fp_pack out;
    fp_pack_init(&left, fp_pack_shape(FP_PACK_STACK));
    fp_pack_init(&out, left.shape);
    const struct fp_stack_fact row = {
        .key.id = 7, .uploads = 1, .samples = 2, .self_us = INT64_MAX - 5};
    assert_true(fp_pack_append(&left, &row));
    assert_true(fp_pack_merge(&left, &left, &out));
    assert_int_equal(out.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(((int64_t *)out.columns[4])[i] == INT64_MAX - 5);
        assert_int_equal(((int32_t *)out.columns[2])[i], 1);
    }
    fp_pack_release(&left);
    fp_pack_release(&out);
}

/* A row of negative counts stays by itself, and vanishes together with the row that it takes back.
 */
static void counts_that_are_taken_back_vanish(void **state)
{
    (void)state;
    struct fp_pack counted;
    struct fp_pack taken_back;
    struct fp_pack out;
    fp_pack_init(&counted, fp_pack_shape(FP_PACK_TIMING_BIN));
    fp_pack_init(&taken_back, counted.shape);
    fp_pack_init(&out, counted.shape);
    append_bin(&counted, 1, 1);
    append_bin(&counted, 2, 3);
    append_bin(&taken_back, 1, -1);
    append_bin(&taken_back, 2, -1);
    append_bin(&taken_back, 3, -1);
    assert_true(fp_pack_merge(&counted, &taken_back, &out));
    assert_int_equal(out.count, 2);
    assert_int_equal(((int64_t *)out.columns[0])[0], 2);
    assert_int_equal(((int32_t *)out.columns[2])[0], 2);
    assert_int_equal(((int64_t *)out.columns[0])[1], 3);
    assert_int_equal(((int32_t *)out.columns[2])[1], -1);
    fp_pack_release(&counted);
    fp_pack_release(&taken_back);
    fp_pack_release(&out);
}

static void append_timing(struct fp_pack *pack, int64_t id, int64_t count, double sum_us)
{
    const struct fp_timing_fact row = {
        .key.id = id, .uploads = count, .count = count, .sum_us = sum_us};
    assert_true(fp_pack_append(pack, &row));
}

/* A correction that waits apart from what it corrects: its counts are 0, its sum is not. */
static void a_replaced_value_keeps_its_difference(void **state)
{
    (void)state;
    struct fp_pack replaced;
    struct fp_pack other;
    struct fp_pack out;
    fp_pack_init(&replaced, fp_pack_shape(FP_PACK_TIMING));
    fp_pack_init(&other, replaced.shape);
    fp_pack_init(&out, replaced.shape);
    append_timing(&replaced, 1, 0, -400);
    append_timing(&replaced, 2, 1, 700);
    append_timing(&other, 2, -1, -700);
    append_timing(&other, 3, 1, 5);
    assert_true(fp_pack_merge(&replaced, &other, &out));
    assert_int_equal(out.count, 2);
    assert_int_equal(((int64_t *)out.columns[0])[0], 1);
    assert_int_equal(((int64_t *)out.columns[0])[1], 3);
    fp_pack_clear(&other);
    append_timing(&other, 1, 2, 1000);
    assert_true(fp_pack_merge(&out, &other, &replaced));
    for (size_t i = 0; i < out.shape->column_count; i++)
        if (out.shape->columns[i].type == FP_PACK_DOUBLE)
            assert_true(((double *)replaced.columns[i])[0] == 600);
    fp_pack_release(&replaced);
    fp_pack_release(&other);
    fp_pack_release(&out);
}

static void squares_end_at_the_greatest_float(void **state)
{
    (void)state;
    struct fp_pack left;
    struct fp_pack out;
    fp_pack_init(&left, fp_pack_shape(FP_PACK_FRAME));
    fp_pack_init(&out, left.shape);
    const struct fp_frame_fact row = {.key.id = 7, .uploads = 1, .self_us2 = 3e38, .total_us2 = 1};
    assert_true(fp_pack_append(&left, &row));
    assert_true(fp_pack_merge(&left, &left, &out));
    assert_int_equal(out.count, 1);
    assert_true(((float *)out.columns[6])[0] == FLT_MAX);
    assert_true(((float *)out.columns[7])[0] == 2);
    fp_pack_release(&left);
    fp_pack_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_a_slow_sum),
        cmocka_unit_test(the_sides_may_change_places),
        cmocka_unit_test(an_empty_side_changes_nothing),
        cmocka_unit_test(full_counts_stay_apart),
        cmocka_unit_test(entries_that_just_fit_become_one),
        cmocka_unit_test(full_sums_stay_apart),
        cmocka_unit_test(counts_that_are_taken_back_vanish),
        cmocka_unit_test(a_replaced_value_keeps_its_difference),
        cmocka_unit_test(squares_end_at_the_greatest_float),
    };
    return cmocka_run_group_tests_name("pack_merge", tests, NULL, NULL);
}
