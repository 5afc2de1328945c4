/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ladder: the sum of many packs, in any order of sizes.
 */
#include "tests/unit/pack/random_pack.h"

#include "collector/sealer/ladder.c"

enum { ROUNDS = 20, PACKS = 40 };

/* Checks that each step is more than twice as large as the next, and that the entries are
 * counted. */
static void check_steps(const struct fp_ladder *ladder)
{
    size_t entries = 0;
    for (size_t i = 0; i < ladder->count; i++) {
        entries += ladder->steps[i].count;
        if (i > 0)
            assert_true(ladder->steps[i - 1].count > 2 * ladder->steps[i].count);
    }
    assert_int_equal(ladder->entries, entries);
}

static void check_kind(enum fp_pack_kind kind, uint64_t *seed)
{
    struct fp_ladder ladder = {0};
    struct fp_pack sums[2];
    struct fp_pack result;
    for (size_t i = 0; i < 2; i++)
        fp_pack_init(&sums[i], fp_pack_shape(kind));
    for (size_t i = 0; i < PACKS; i++) {
        struct fp_pack pack;
        fill(&pack, kind, 2 + draw(seed) % 20, seed);
        assert_true(fp_pack_merge(&sums[i % 2], &pack, &sums[(i + 1) % 2]));
        assert_true(fp_ladder_push(&ladder, &pack));
        assert_int_equal(pack.count, 0);
        check_steps(&ladder);
    }
    assert_true(fp_ladder_finish(&ladder, &result));
    assert_int_equal(ladder.count, 0);
    assert_int_equal(ladder.entries, 0);
    assert_null(ladder.steps);
    assert_same(&result, &sums[PACKS % 2]);
    fp_pack_release(&result);
    for (size_t i = 0; i < 2; i++)
        fp_pack_release(&sums[i]);
}

static void adds_up_as_merging_one_by_one_does(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (size_t round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < FP_PACK_KIND_COUNT; kind++)
            check_kind((enum fp_pack_kind)kind, &seed);
}

static void one_pack_is_its_own_sum(void **state)
{
    (void)state;
    uint64_t seed = 2;
    struct fp_ladder ladder = {0};
    struct fp_pack pack;
    struct fp_pack sum;
    fill(&pack, FP_PACK_STACK, 2, &seed);
    size_t count = pack.count;
    assert_true(fp_ladder_push(&ladder, &pack));
    assert_true(fp_ladder_finish(&ladder, &sum));
    assert_int_equal(sum.count, count);
    fp_pack_release(&sum);
    fp_pack_release(&pack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_as_merging_one_by_one_does),
        cmocka_unit_test(one_pack_is_its_own_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
