/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffer: grows to its maximum, and after a failure stays as it was.
 */
#include "test.h"

#define malloc limited_malloc
#define realloc limited_realloc
#include "collector/base/buf.c"
#undef malloc
#undef realloc

static void collects_what_is_added(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_buf_init(&buf, 1 << 20);
    for (unsigned i = 0; i < 1000; i++)
        fp_buf_addf(&buf, "%u,", i);
    fp_buf_add(&buf, "end", 3);
    fp_buf_add(&buf, NULL, 0);
    assert_false(buf.failed);
    assert_int_equal(buf.len, 10 * 2 + 90 * 3 + 900 * 4 + 3);
    assert_memory_equal(buf.data, "0,1,2,3,", 8);
    assert_memory_equal(buf.data + buf.len - 7, "999,end", 7);
    fp_buf_release(&buf);
}

static void formats_text_of_any_length(void **state)
{
    (void)state;
    for (int len = 250; len < 260; len++) {
        struct fp_buf buf;
        fp_buf_init(&buf, 1000);
        fp_buf_addf(&buf, "%*d", len, 7);
        assert_int_equal(buf.len, len);
        assert_int_equal(buf.data[len - 1], '7');
        fp_buf_release(&buf);
    }
}

static void fills_to_its_maximum_and_not_a_byte_further(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_buf_init(&buf, 100);
    for (int i = 0; i < 100; i++)
        fp_buf_add(&buf, "x", 1);
    assert_false(buf.failed);
    assert_int_equal(buf.len, 100);
    fp_buf_add(&buf, "y", 1);
    assert_true(buf.failed);
    assert_int_equal(buf.len, 100);
    assert_int_equal(buf.data[99], 'x');
    fp_buf_release(&buf);
}

static void ignores_what_follows_a_failure(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_buf_init(&buf, 10);
    fp_buf_add(&buf, "12345678901", 11);
    assert_true(buf.failed);
    fp_buf_add(&buf, "1", 1);
    fp_buf_addf(&buf, "%d", 1);
    assert_null(fp_buf_reserve(&buf, 1));
    assert_int_equal(buf.len, 0);
    fp_buf_clear(&buf);
    fp_buf_add(&buf, "1", 1);
    assert_false(buf.failed);
    assert_int_equal(buf.len, 1);
    fp_buf_release(&buf);
}

static void reports_memory_that_ran_out(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 3; allowed++) {
        struct fp_buf buf;
        fp_buf_init(&buf, SIZE_MAX);
        allocations_left = allowed;
        fp_buf_addf(&buf, "%d", 1);
        fp_buf_addf(&buf, "%1000d", 1);
        assert_true(buf.failed);
        assert_int_equal(buf.len, allowed > 0 ? 1 : 0);
        allocations_left = -1;
        fp_buf_release(&buf);
    }
}

static void refuses_lengths_that_overflow(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_buf_init(&buf, SIZE_MAX);
    fp_buf_add(&buf, "1", 1);
    assert_null(fp_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    fp_buf_release(&buf);
}

static void reserves_room_to_write_into(void **state)
{
    (void)state;
    struct fp_buf buf;
    fp_buf_init(&buf, 1000);
    assert_non_null(fp_buf_reserve(&buf, 0));
    uint8_t *room = fp_buf_reserve(&buf, 1000);
    assert_non_null(room);
    memset(room, 'z', 1000);
    assert_int_equal(buf.len, 0);
    buf.len += 1000;
    assert_null(fp_buf_reserve(&buf, 1));
    fp_buf_release(&buf);
}

static void gives_what_it_holds_to_an_arena(void **state)
{
    (void)state;
    struct fp_arena arena;
    struct fp_buf buf;
    struct fp_str text;
    fp_arena_init(&arena, 10 * 1000);
    fp_buf_init(&buf, 1 << 20);
    fp_buf_add(&buf, "abc", 3);
    assert_true(fp_buf_give(&buf, &arena, &text));
    assert_int_equal(text.len, 3);
    assert_memory_equal(text.ptr, "abc", 3);
    assert_null(buf.data);
    assert_int_equal(buf.cap, 0);
    assert_non_null(fp_buf_reserve(&buf, 20 * 1000));
    buf.len = 20 * 1000;
    assert_false(fp_buf_give(&buf, &arena, &text));
    assert_int_equal(buf.len, 20 * 1000);
    fp_buf_clear(&buf);
    fp_buf_add(&buf, "abc", 3); /* room that is left over is not charged */
    assert_true(fp_buf_give(&buf, &arena, &text));
    fp_buf_add(&buf, "def", 3);
    const size_t max_bytes = arena.max_bytes;
    arena.max_bytes = arena.used_bytes; /* but its block has room */
    assert_true(fp_buf_give(&buf, &arena, &text));
    assert_memory_equal(text.ptr, "def", 3);
    assert_null(buf.data);
    arena.max_bytes = max_bytes;
    fp_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collects_what_is_added),
        cmocka_unit_test(formats_text_of_any_length),
        cmocka_unit_test(fills_to_its_maximum_and_not_a_byte_further),
        cmocka_unit_test(ignores_what_follows_a_failure),
        cmocka_unit_test(reports_memory_that_ran_out),
        cmocka_unit_test(refuses_lengths_that_overflow),
        cmocka_unit_test(gives_what_it_holds_to_an_arena),
        cmocka_unit_test(reserves_room_to_write_into),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
