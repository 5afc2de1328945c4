/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map: finds what was inserted, keeps the first value, stays bounded.
 */
#include "test.h"

#define malloc limited_malloc
#include "collector/base/map.c"
#undef malloc

static void finds_every_key_again_through_growth(void **state)
{
    (void)state;
    struct fp_map map;
    fp_map_init(&map, 100 * 1000);
    assert_int_equal(fp_map_get(&map, 0), FP_MAP_NONE);
    for (uint32_t i = 0; i < 10 * 1000; i++)
        assert_int_equal(fp_map_put(&map, i * UINT64_C(0x100000001), i), i);
    assert_int_equal(map.count, 10 * 1000);
    for (uint32_t i = 0; i < 10 * 1000; i++)
        assert_int_equal(fp_map_get(&map, i * UINT64_C(0x100000001)), i);
    assert_int_equal(fp_map_get(&map, UINT64_MAX), FP_MAP_NONE);
    fp_map_release(&map);
}

static void keeps_the_first_value_of_a_key(void **state)
{
    (void)state;
    struct fp_map map;
    fp_map_init(&map, 10);
    assert_int_equal(fp_map_put(&map, 0, 5), 5);
    assert_int_equal(fp_map_put(&map, 0, 6), 5);
    assert_int_equal(fp_map_get(&map, 0), 5);
    assert_int_equal(map.count, 1);
    fp_map_release(&map);
}

static void refuses_a_key_too_many_but_knows_the_old_ones(void **state)
{
    (void)state;
    struct fp_map map;
    fp_map_init(&map, 100);
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(fp_map_put(&map, i, i), i);
    assert_int_equal(fp_map_put(&map, 100, 100), FP_MAP_NONE);
    assert_int_equal(fp_map_put(&map, 99, 7), 99);
    assert_int_equal(map.count, 100);
    fp_map_release(&map);
}

static void forgets_all_keys_when_cleared(void **state)
{
    (void)state;
    struct fp_map map;
    fp_map_init(&map, 100);
    fp_map_clear(&map);
    assert_int_equal(fp_map_put(&map, 3, 3), 3);
    fp_map_clear(&map);
    assert_int_equal(fp_map_get(&map, 3), FP_MAP_NONE);
    allocations_left = 0;
    assert_int_equal(fp_map_put(&map, 4, 4), 4); /* in the memory it has */
    allocations_left = -1;
    fp_map_release(&map);
}

static void is_unchanged_when_memory_runs_out(void **state)
{
    (void)state;
    struct fp_map map;
    fp_map_init(&map, 100 * 1000); /* more than the first table holds */
    allocations_left = 1;
    uint32_t stored = 0;
    while (fp_map_put(&map, stored, stored) == stored)
        stored++;
    assert_in_range(stored, 1, 100 * 1000 - 1);
    assert_int_equal(map.count, stored);
    for (uint32_t i = 0; i < stored; i++)
        assert_int_equal(fp_map_get(&map, i), i);
    allocations_left = -1;
    assert_int_equal(fp_map_put(&map, stored, stored), stored);
    fp_map_release(&map);
}

/* If the home slot were key & mask, keys with equal low 44 bits would make one long walk. */
static void chosen_keys_do_not_pile_up(void **state)
{
    (void)state;
    struct fp_map map;
    fp_map_init(&map, 100 * 1000);
    for (uint32_t i = 0; i < 50 * 1000; i++)
        assert_int_equal(fp_map_put(&map, (uint64_t)i << 44, i), i);
    uint64_t distance = 0;
    for (uint64_t i = 0; i < 50 * 1000; i++) {
        uint64_t key = i << 44;
        size_t home = (size_t)((key * map.multiplier) >> __builtin_clzll(map.mask));
        distance += ((size_t)(find_slot(&map, key) - map.slots) - home) & map.mask;
    }
    assert_in_range(distance / (50 * 1000), 0, 1000);
    fp_map_release(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_key_again_through_growth),
        cmocka_unit_test(keeps_the_first_value_of_a_key),
        cmocka_unit_test(refuses_a_key_too_many_but_knows_the_old_ones),
        cmocka_unit_test(forgets_all_keys_when_cleared),
        cmocka_unit_test(is_unchanged_when_memory_runs_out),
        cmocka_unit_test(chosen_keys_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
