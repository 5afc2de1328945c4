/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The median that weights use, compared with sorting, for any numbers.
 */
#include "tests/unit/profile/test.h"

#include "collector/profile/fold/weights.c"

enum { ROUNDS = 500, COUNT_MAX = 65 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 20;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void finds_what_sorting_finds(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (size_t round = 0; round < ROUNDS; round++) {
        uint64_t numbers[COUNT_MAX];
        uint64_t sorted[COUNT_MAX];
        size_t count = 1 + next_random(&random) % COUNT_MAX;
        unsigned bits = (unsigned)(next_random(&random) % 44);
        for (size_t i = 0; i < count; i++)
            numbers[i] = next_random(&random) >> bits;
        memcpy(sorted, numbers, sizeof(sorted));
        qsort(sorted, count, sizeof(*sorted), compare_numbers);
        assert_true(lower_median(numbers, count) == sorted[(count - 1) / 2]);
    }
}

static void takes_the_lower_of_the_two_in_the_middle(void **state)
{
    (void)state;
    uint64_t numbers[] = {UINT64_MAX, 5, 0, 7};
    assert_true(lower_median(numbers, 4) == 5);
    uint64_t equal[] = {3, 3, 3};
    assert_true(lower_median(equal, 3) == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_sorting_finds),
        cmocka_unit_test(takes_the_lower_of_the_two_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
