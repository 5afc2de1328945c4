/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums by key: order, overflow, keys that are not spread, memory that ends, and damaged bytes.
 */
#include "tests/unit/unit.h"

#include "native/core.c"

enum { MANY = 100000, MEMORY = 64 * 1024 * 1024 };

static int blocks;      /* allocated now */
static int blocks_left; /* that may be allocated; below 0: all */

static void *allocate(void *context, size_t size)
{
    (void)context;
    if (blocks_left == 0)
        return NULL;
    blocks_left--;
    blocks++;
    return malloc(size);
}

static void release(void *context, void *block)
{
    (void)context;
    blocks--;
    free(block);
}

static struct fp_sums_memory memory_of(size_t most)
{
    return (struct fp_sums_memory){allocate, release, NULL, most};
}

static int set_up(void **state)
{
    (void)state;
    blocks = 0;
    blocks_left = -1;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(blocks, 0);
    return 0;
}

static void init(struct fp_sums *sums, unsigned columns)
{
    struct fp_sums_memory memory = memory_of(MEMORY);
    fp_sums_init(sums, &memory, columns);
}

/* Adds one entry of one column. */
static enum fp_sums_result add_one(struct fp_sums *sums, int64_t key, int64_t number)
{
    struct fp_sums_column column = {.numbers = &number};
    return fp_sums_add(sums, &key, &column, 1);
}

static void adds_both_types_by_key_in_the_order_of_keys_seen(void **state)
{
    (void)state;
    static const int64_t keys[] = {7, -3, 7, INT64_MIN, -3};
    static const int32_t counts[] = {1, 2, 3, INT32_MAX, INT32_MIN};
    static const int64_t numbers[] = {10, 20, -30, 40, 50};
    static const struct fp_sums_column columns[] = {{.counts = counts}, {.numbers = numbers}};
    struct fp_sums sums;
    init(&sums, 2);
    assert_int_equal(fp_sums_add(&sums, keys, columns, 5), FP_SUMS_OK);
    assert_int_equal(sums.count, 3);
    int64_t found[3];
    fp_sums_column(&sums, 0, found);
    assert_memory_equal(found, ((int64_t[]){7, -3, INT64_MIN}), sizeof(found));
    fp_sums_column(&sums, 1, found);
    assert_memory_equal(found, ((int64_t[]){4, (int64_t)2 + INT32_MIN, INT32_MAX}), sizeof(found));
    fp_sums_column(&sums, 2, found);
    assert_memory_equal(found, ((int64_t[]){-20, 70, 40}), sizeof(found));
    fp_sums_release(&sums);
}

static void tells_an_overflow_in_both_directions(void **state)
{
    (void)state;
    struct fp_sums sums;
    init(&sums, 1);
    assert_int_equal(add_one(&sums, 1, INT64_MAX), FP_SUMS_OK);
    assert_int_equal(add_one(&sums, 1, 0), FP_SUMS_OK);
    assert_int_equal(add_one(&sums, 1, 1), FP_SUMS_OVERFLOW);
    assert_int_equal(add_one(&sums, 2, INT64_MIN), FP_SUMS_OK);
    assert_int_equal(add_one(&sums, 2, -1), FP_SUMS_OVERFLOW);
    fp_sums_release(&sums);
}

static void tells_an_overflow_of_merged_sums(void **state)
{
    (void)state;
    struct fp_sums into, from;
    uint32_t at = 0;
    init(&into, 1);
    init(&from, 1);
    assert_int_equal(add_one(&into, 1, INT64_MAX), FP_SUMS_OK);
    assert_int_equal(add_one(&from, 1, 1), FP_SUMS_OK);
    assert_int_equal(fp_sums_merge(&into, &from, &at), FP_SUMS_OVERFLOW);
    fp_sums_release(&into);
    fp_sums_release(&from);
}

static int64_t dense(int64_t number)
{
    return number;
}

static int64_t multiples(int64_t number)
{
    return number << 40;
}

static int64_t spread(int64_t number)
{
    return (int64_t)mix((uint64_t)number);
}

/* All have the same high bits until they are mixed. */
static int64_t hostile(int64_t number)
{
    return INT64_MAX - number;
}

static void finds_all_keys_however_they_are_spread(void **state)
{
    (void)state;
    static int64_t (*const spreads[])(int64_t) = {dense, multiples, spread, hostile};
    for (size_t i = 0; i < sizeof(spreads) / sizeof(spreads[0]); i++) {
        struct fp_sums sums;
        init(&sums, 1);
        for (int round = 0; round < 2; round++)
            for (int64_t number = 0; number < MANY; number++)
                assert_int_equal(add_one(&sums, spreads[i](number), number), FP_SUMS_OK);
        assert_int_equal(sums.count, MANY);
        assert_int_equal(sums.is_mixed, spreads[i] != spread);
        for (int64_t number = 0; number < MANY; number++) {
            assert_int_equal(sums.entries[2 * number], spreads[i](number));
            assert_int_equal(sums.entries[2 * number + 1], 2 * number);
        }
        fp_sums_release(&sums);
    }
}

static void refuses_what_needs_more_memory_and_keeps_its_sums(void **state)
{
    (void)state;
    struct fp_sums sums;
    /* An entry has 16 bytes, and counts twice; its slots have 8. */
    struct fp_sums_memory memory = memory_of((size_t)4 * CAPACITY_FIRST * (2 * 16 + 8) - 1);
    fp_sums_init(&sums, &memory, 1);
    for (int64_t key = 0; key < 2 * CAPACITY_FIRST; key++)
        assert_int_equal(add_one(&sums, key, 1), FP_SUMS_OK);
    assert_int_equal(add_one(&sums, 2 * CAPACITY_FIRST, 1), FP_SUMS_FULL);
    assert_int_equal(add_one(&sums, 5, 1), FP_SUMS_FULL); /* it looks for room first */
    assert_int_equal(sums.count, 2 * CAPACITY_FIRST);
    fp_sums_release(&sums);
}

static void refuses_when_an_allocation_fails(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 4; allowed++) {
        struct fp_sums sums;
        init(&sums, 1);
        blocks_left = allowed;
        enum fp_sums_result result = FP_SUMS_OK;
        int64_t key = 0;
        while (result == FP_SUMS_OK)
            result = add_one(&sums, key++, 1);
        assert_int_equal(result, FP_SUMS_FULL);
        assert_int_equal(sums.count, allowed / 2 * CAPACITY_FIRST);
        fp_sums_release(&sums);
    }
}

static void reads_what_it_wrote(void **state)
{
    (void)state;
    struct fp_sums sums, again;
    init(&sums, 1);
    for (int64_t number = 0; number < MANY; number++)
        assert_int_equal(add_one(&sums, spread(number), -number), FP_SUMS_OK);
    size_t size = fp_sums_size(&sums);
    char *bytes = malloc(size);
    fp_sums_write(&sums, bytes);
    struct fp_sums_memory memory = memory_of(MEMORY);
    assert_int_equal(fp_sums_read(&again, &memory, bytes, size), FP_SUMS_OK);
    assert_int_equal(again.count, MANY);
    assert_memory_equal(again.entries, sums.entries, (size_t)MANY * 2 * sizeof(int64_t));
    fp_sums_release(&again);
    free(bytes);
    fp_sums_release(&sums);
}

static void refuses_damaged_bytes(void **state)
{
    (void)state;
    struct {
        struct sums_header header;
        int64_t values[4];
    } written = {{2, 2}, {1, 10, 2, 20}};
    struct fp_sums sums;
    struct fp_sums_memory memory = memory_of(MEMORY);
    const struct {
        uint32_t stride, count;
        size_t size;
        int64_t second;
        enum fp_sums_result result;
    } cases[] = {
        {2, 2, sizeof(written), 2, FP_SUMS_OK},
        {2, 2, sizeof(written), 1, FP_SUMS_INVALID}, /* a key twice */
        {2, 2, sizeof(written) - 1, 2, FP_SUMS_INVALID},
        {2, 1, sizeof(written), 2, FP_SUMS_INVALID},
        {2, UINT32_MAX, sizeof(written), 2, FP_SUMS_INVALID},
        {1, 4, sizeof(written), 2, FP_SUMS_INVALID},
        {0, 0, sizeof(struct sums_header), 2, FP_SUMS_INVALID},
        {FP_SUMS_COLUMNS_MAX + 2, 0, sizeof(struct sums_header), 2, FP_SUMS_INVALID},
        {2, 0, sizeof(struct sums_header), 2, FP_SUMS_OK},
        {2, 0, sizeof(struct sums_header) - 1, 2, FP_SUMS_INVALID},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        written.header = (struct sums_header){cases[i].stride, cases[i].count};
        written.values[2] = cases[i].second;
        assert_int_equal(fp_sums_read(&sums, &memory, &written, cases[i].size), cases[i].result);
        fp_sums_release(&sums);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(adds_both_types_by_key_in_the_order_of_keys_seen),
        TEST(tells_an_overflow_in_both_directions),
        TEST(tells_an_overflow_of_merged_sums),
        TEST(finds_all_keys_however_they_are_spread),
        TEST(refuses_what_needs_more_memory_and_keeps_its_sums),
        TEST(refuses_when_an_allocation_fails),
        TEST(reads_what_it_wrote),
        TEST(refuses_damaged_bytes),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
