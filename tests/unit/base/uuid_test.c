/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UUIDs: parsed in either case, rejected if anything is wrong, drawn as version 4, made as version
 * 7, derived as version 8.
 */
#include "test.h"

#include "collector/base/uuid.c"

#include <sched.h>

static void reads_and_writes_the_text_form(void **state)
{
    (void)state;
    struct fp_uuid uuid;
    assert_true(fp_uuid_parse(FP_STR("F81D4FAE-7dec-11d0-A765-00a0c91e6bf6"), &uuid));
    assert_int_equal(uuid.bytes[0], 0xf8);
    assert_int_equal(uuid.bytes[15], 0xf6);
    char text[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(&uuid, text);
    assert_string_equal(text, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
}

static void refuses_what_is_not_a_uuid(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bf60",
        "f81d4fae7-dec-11d0-a765-00a0c91e6bf6",
        "f81d4fae-7dec-11d0-a765-00a0c91e6bg6",
        "f81d4fae-7dec-11d0-a765+00a0c91e6bf6",
        "{81d4fae-7dec-11d0-a765-00a0c91e6bf}",
        "f81d4fae-7dec-11d0-a765-00a0c91e6b 6",
    };
    for (size_t i = 0; i < FP_COUNT(wrong); i++) {
        struct fp_uuid uuid = {{42}};
        assert_false(fp_uuid_parse(fp_str_of(wrong[i]), &uuid));
        assert_int_equal(uuid.bytes[0], 42);
    }
}

static void draws_different_ones_of_version_4(void **state)
{
    (void)state;
    struct fp_uuid first = {{0}};
    struct fp_uuid second;
    assert_true(fp_uuid_random(&first));
    assert_true(fp_uuid_random(&second));
    assert_false(fp_uuid_equal(&first, &second));
    assert_int_equal(first.bytes[6] >> 4, 4);
    assert_int_equal(first.bytes[8] >> 6, 2);
}

static void makes_different_ones_of_version_7_in_the_order_of_time(void **state)
{
    (void)state;
    struct fp_uuid first;
    struct fp_uuid second;
    int64_t before_ms = fp_clock_real_us() / FP_US_PER_MS;
    assert_true(fp_uuid_timed(&first));
    while (fp_clock_real_us() / FP_US_PER_MS <= before_ms + 1)
        sched_yield();
    assert_true(fp_uuid_timed(&second));
    int64_t after_ms = fp_clock_real_us() / FP_US_PER_MS;
    int64_t made_ms = 0;
    for (size_t i = 0; i < 6; i++)
        made_ms = made_ms << 8 | first.bytes[i];
    assert_in_range(made_ms, before_ms, after_ms);
    assert_true(memcmp(first.bytes, second.bytes, 6) < 0);
    assert_memory_not_equal(first.bytes + 6, second.bytes + 6, 10);
    assert_int_equal(first.bytes[6] >> 4, 7);
    assert_int_equal(first.bytes[8] >> 6, 2);
}

/* Counted uploads are recognized by such an id for days: it must not change. */
static void the_same_bytes_always_have_the_same_one(void **state)
{
    (void)state;
    char text[FP_UUID_TEXT_LEN + 1];
    struct fp_uuid of_bytes = fp_uuid_of_bytes("bytes", 5);
    fp_uuid_format(&of_bytes, text);
    assert_string_equal(text, "95f64cad-147d-83ee-9838-71c230125b12");
    struct fp_uuid of_part = fp_uuid_of_part(&of_bytes, 258);
    fp_uuid_format(&of_part, text);
    assert_string_equal(text, "d12a6c61-b7b2-8f43-80ea-1891e1585851");
}

static void other_bytes_and_other_parts_have_others(void **state)
{
    (void)state;
    const struct fp_uuid uuids[] = {
        fp_uuid_of_bytes("", 0),
        fp_uuid_of_bytes("\0", 1),
        fp_uuid_of_bytes("a", 1),
        fp_uuid_of_part(&(struct fp_uuid){{0}}, 0),
        fp_uuid_of_part(&(struct fp_uuid){{0}}, 1),
        fp_uuid_of_part(&(struct fp_uuid){{1}}, 1),
    };
    size_t count = FP_COUNT(uuids);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(uuids[i].bytes[6] >> 4, 8);
        assert_int_equal(uuids[i].bytes[8] >> 6, 2);
        for (size_t k = 0; k < i; k++)
            assert_false(fp_uuid_equal(&uuids[i], &uuids[k]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_the_text_form),
        cmocka_unit_test(refuses_what_is_not_a_uuid),
        cmocka_unit_test(draws_different_ones_of_version_4),
        cmocka_unit_test(makes_different_ones_of_version_7_in_the_order_of_time),
        cmocka_unit_test(the_same_bytes_always_have_the_same_one),
        cmocka_unit_test(other_bytes_and_other_parts_have_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
