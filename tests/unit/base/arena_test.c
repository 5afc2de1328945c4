/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arena: aligned, bounded, unchanged by a failure.
 */
#include "test.h"

#define malloc limited_malloc
#include "collector/base/arena.c"
#undef malloc

static void hands_out_aligned_memory_that_does_not_overlap(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 1 << 20);
    uint8_t *pieces[200];
    for (size_t i = 0; i < 200; i++) {
        pieces[i] = fp_arena_alloc(&arena, i);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)i, i);
    }
    for (size_t i = 0; i < 200; i++)
        for (size_t at = 0; at < i; at++)
            assert_int_equal(pieces[i][at], i);
    assert_ptr_not_equal(fp_arena_alloc(&arena, 0), fp_arena_alloc(&arena, 0));
    fp_arena_release(&arena);
}

#ifdef HAS_ADDRESS_SANITIZER
static void a_sanitizer_sees_who_touches_what_was_not_handed_out(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 1 << 20);
    const char *first = fp_arena_alloc(&arena, 9);
    const char *second = fp_arena_alloc(&arena, 32);
    assert_false(__asan_address_is_poisoned(first + 8));
    assert_true(__asan_address_is_poisoned(first + 9));
    assert_true(__asan_address_is_poisoned(second - 1));
    assert_false(__asan_address_is_poisoned(second + 31));
    assert_true(__asan_address_is_poisoned(second + 32));
    fp_arena_clear(&arena);
    assert_true(__asan_address_is_poisoned(first));
    fp_arena_release(&arena);
}
#endif

static void never_holds_more_than_its_maximum(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 100 * 1000);
    size_t total = 0;
    while (fp_arena_alloc(&arena, 1000) != NULL)
        total += 1000;
    assert_in_range(arena.used_bytes, 1, 100 * 1000);
    assert_in_range(total, 80 * 1000, 100 * 1000);
    fp_arena_release(&arena);
    assert_int_equal(arena.used_bytes, 0);
}

static void refuses_lengths_that_overflow(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, SIZE_MAX);
    assert_null(fp_arena_alloc(&arena, SIZE_MAX));
    assert_null(fp_arena_alloc(&arena, SIZE_MAX - 15));
    assert_null(fp_arena_array(&arena, SIZE_MAX / 2, 3));
    struct fp_str copy = FP_STR("before");
    assert_false(fp_arena_copy(&arena, (struct fp_str){"", SIZE_MAX}, &copy));
    assert_string_equal(copy.ptr, "before");
    assert_int_equal(arena.used_bytes, 0);
    fp_arena_release(&arena);
}

static void is_unchanged_when_memory_runs_out(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 1 << 20);
    assert_non_null(fp_arena_alloc(&arena, 100));
    size_t used_bytes = arena.used_bytes;
    allocations_left = 0;
    assert_null(fp_arena_alloc(&arena, 100 * 1000));
    assert_int_equal(arena.used_bytes, used_bytes);
    assert_non_null(fp_arena_alloc(&arena, 100)); /* still fits the first block */
    allocations_left = -1;
    fp_arena_release(&arena);
}

static void clears_arrays(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 1 << 20);
    memset(fp_arena_alloc(&arena, 4096), 0xff, 4096);
    fp_arena_clear(&arena);
    const uint64_t *numbers = fp_arena_array(&arena, 100, sizeof(*numbers));
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(numbers[i], 0);
    fp_arena_release(&arena);
}

static void copies_text_with_a_nul_behind_it(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 1 << 20);
    struct fp_str copy;
    assert_true(fp_arena_copy(&arena, (struct fp_str){"render", 4}, &copy));
    assert_int_equal(copy.len, 4);
    assert_string_equal(copy.ptr, "rend");
    assert_true(fp_arena_copy(&arena, (struct fp_str){NULL, 0}, &copy));
    assert_string_equal(copy.ptr, "");
    fp_arena_release(&arena);
}

static void keeps_one_block_of_moderate_size_when_cleared(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 64 << 20);
    for (int i = 0; i < 100; i++)
        assert_non_null(fp_arena_alloc(&arena, 1000));
    assert_non_null(fp_arena_alloc(&arena, 8 << 20));
    fp_arena_clear(&arena);
    assert_in_range(arena.used_bytes, 1, BLOCK_MAX + 4096);
    allocations_left = 0;
    assert_non_null(fp_arena_alloc(&arena, 4000)); /* without a new allocation */
    allocations_left = -1;
    fp_arena_release(&arena);
}

static void adopts_what_was_allocated_elsewhere(void **state)
{
    (void)state;
    struct fp_arena arena;
    fp_arena_init(&arena, 100 * 1000);
    for (int i = 0; i < 2; i++) { /* a leak is for the sanitizer to see */
        assert_true(fp_arena_adopt(&arena, malloc(40 * 1000), 40 * 1000));
        assert_true(fp_arena_adopt(&arena, malloc(40 * 1000), 40 * 1000));
        assert_in_range(arena.used_bytes, 80 * 1000, 100 * 1000);
        void *more = malloc(40 * 1000);
        assert_false(fp_arena_adopt(&arena, more, 40 * 1000));
        assert_true(arena.full);
        free(more);
        fp_arena_clear(&arena);
        assert_in_range(arena.used_bytes, 0, 10 * 1000);
    }
    assert_true(fp_arena_adopt(&arena, malloc(1), 1));
    fp_arena_release(&arena);
    allocations_left = 0;
    assert_false(fp_arena_adopt(&arena, NULL, 0));
    allocations_left = -1;
    assert_int_equal(arena.used_bytes, 0);
}

static void rewinds_to_a_mark(void **state)
{
    (void)state;
    for (size_t before = 0; before < 10000; before += 1000) {
        struct fp_arena arena;
        fp_arena_init(&arena, 1 << 20);
        char *kept = before > 0 ? fp_arena_alloc(&arena, before) : NULL;
        if (before > 0)
            memset(kept, 'k', before);
        const struct fp_arena_mark mark = fp_arena_mark(&arena);
        const size_t used_bytes = arena.used_bytes;
        for (int i = 0; i < 50; i++)
            assert_non_null(fp_arena_alloc(&arena, 3000));
        assert_true(fp_arena_adopt(&arena, malloc(5000), 5000));
        assert_null(fp_arena_alloc(&arena, 1 << 20));
        assert_true(arena.full);
        fp_arena_rewind(&arena, &mark);
        assert_false(arena.full);
        assert_int_equal(arena.used_bytes, used_bytes);
        char *again = fp_arena_alloc(&arena, 100);
        assert_non_null(again);
        memset(again, 'a', 100);
        for (size_t i = 0; i < before; i++)
            assert_int_equal(kept[i], 'k');
        fp_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_out_aligned_memory_that_does_not_overlap),
#ifdef HAS_ADDRESS_SANITIZER
        cmocka_unit_test(a_sanitizer_sees_who_touches_what_was_not_handed_out),
#endif
        cmocka_unit_test(never_holds_more_than_its_maximum),
        cmocka_unit_test(refuses_lengths_that_overflow),
        cmocka_unit_test(is_unchanged_when_memory_runs_out),
        cmocka_unit_test(clears_arrays),
        cmocka_unit_test(copies_text_with_a_nul_behind_it),
        cmocka_unit_test(adopts_what_was_allocated_elsewhere),
        cmocka_unit_test(rewinds_to_a_mark),
        cmocka_unit_test(keeps_one_block_of_moderate_size_when_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
