/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: all encoded deltas come out, or none does.
 */
#include "bytes_test.h"

#include "collector/rollup/record.c"

static void add(struct room *room, uint64_t seed)
{
    const struct random_delta_settings settings = {
        .seed = seed,
        .received_us = INT64_C(1760000000000000) + (int64_t)seed,
        .max_samples = 20,
        .functions = 6,
        .routes = 2,
        .vitals = true,
        .left_out = true,
    };
    struct fp_delta delta;
    random_delta(&settings, &room->arena, &delta);
    fp_record_add(&room->bytes, &delta);
    assert_false(room->bytes.failed);
}

/* Decodes from a block of exactly len bytes, so that a sanitizer sees reads past the end. */
static enum fp_delta_error decode_exactly(struct room *room, const uint8_t *bytes, size_t len)
{
    uint8_t *exact = calloc(1, len > 0 ? len : 1);
    if (len > 0)
        memcpy(exact, bytes, len);
    struct fp_record record;
    enum fp_delta_error error = fp_record_decode(exact, len, &room->arena, &record);
    free(exact);
    return error;
}

static void gives_its_deltas_back_in_order(void **state)
{
    struct room *room = *state;
    for (size_t count = 1; count <= FP_RECORD_DELTAS_MAX; count++) {
        struct fp_record record;
        fp_arena_clear(&room->arena);
        fp_buf_clear(&room->bytes);
        for (size_t i = 0; i < count; i++)
            add(room, i + 1);
        assert_int_equal(fp_record_count(room->bytes.data, room->bytes.len), count);
        assert_int_equal(fp_record_decode(room->bytes.data, room->bytes.len, &room->arena, &record),
                         FP_DELTA_OK);
        assert_int_equal(record.count, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(record.deltas[i].received_us, 1760000000000000 + (int64_t)i + 1);
    }
}

/* Existing spools hold these bytes: the length of what follows, and a delta's version. */
static void a_delta_stands_behind_its_length(void **state)
{
    struct room *room = *state;
    add(room, 1);
    uint32_t len = (uint32_t)room->bytes.len - 4;
    const uint8_t expected[] = {(uint8_t)len, (uint8_t)(len >> 8), 0, 0, 10};
    assert_memory_equal(room->bytes.data, expected, sizeof(expected));
    add(room, 1);
    assert_int_equal(room->bytes.len, 2 * (len + 4));
    assert_memory_equal(room->bytes.data, room->bytes.data + len + 4, 5);
}

static void refuses_no_delta_and_too_many(void **state)
{
    struct room *room = *state;
    assert_int_equal(decode_exactly(room, NULL, 0), FP_DELTA_DAMAGED);
    for (size_t i = 0; i <= FP_RECORD_DELTAS_MAX; i++)
        add(room, i);
    assert_int_equal(fp_record_count(room->bytes.data, room->bytes.len), 0);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
}

static void refuses_every_shorter_or_longer_form(void **state)
{
    struct room *room = *state;
    add(room, 1);
    size_t first = room->bytes.len;
    add(room, 2);
    for (size_t len = 0; len < room->bytes.len; len++) {
        enum fp_delta_error error = decode_exactly(room, room->bytes.data, len);
        assert_int_equal(error, len == first ? FP_DELTA_OK : FP_DELTA_DAMAGED);
        fp_arena_clear(&room->arena);
    }
    fp_buf_add(&room->bytes, "\0\0\0\0", 4);
    assert_int_equal(fp_record_count(room->bytes.data, room->bytes.len), 3);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_DAMAGED);
}

static void one_bad_delta_spoils_the_record(void **state)
{
    struct room *room = *state;
    add(room, 1);
    size_t second = room->bytes.len + 4;
    add(room, 2);
    room->bytes.data[second] = 77;
    assert_int_equal(fp_record_count(room->bytes.data, room->bytes.len), 2);
    assert_int_equal(decode_exactly(room, room->bytes.data, room->bytes.len), FP_DELTA_VERSION);
}

static void a_length_past_the_end_is_damage(void **state)
{
    struct room *room = *state;
    static const uint8_t longest[] = {0xff, 0xff, 0xff, 0xff, 1};
    assert_int_equal(decode_exactly(room, longest, sizeof(longest)), FP_DELTA_DAMAGED);
    assert_int_equal(fp_record_count(longest, sizeof(longest)), 0);
}

static void says_when_memory_is_out(void **state)
{
    struct room *room = *state;
    add(room, 1);
    add(room, 2);
    for (size_t max = 0; max < 8192; max += 64) {
        struct fp_arena small;
        struct fp_record record;
        fp_arena_init(&small, max);
        enum fp_delta_error error =
            fp_record_decode(room->bytes.data, room->bytes.len, &small, &record);
        assert_true(error == FP_DELTA_MEMORY || (error == FP_DELTA_OK && max > 0));
        fp_arena_release(&small);
    }
}

static void a_full_buffer_is_told(void **state)
{
    struct room *room = *state;
    add(room, 1);
    struct fp_delta delta = {0};
    room->bytes.max = room->bytes.cap = room->bytes.len;
    fp_record_add(&room->bytes, &delta);
    assert_true(room->bytes.failed);
}

int main(void)
{
#define WITH_ROOM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_ROOM(gives_its_deltas_back_in_order),  WITH_ROOM(a_delta_stands_behind_its_length),
        WITH_ROOM(refuses_no_delta_and_too_many),   WITH_ROOM(refuses_every_shorter_or_longer_form),
        WITH_ROOM(one_bad_delta_spoils_the_record), WITH_ROOM(a_length_past_the_end_is_damage),
        WITH_ROOM(says_when_memory_is_out),         WITH_ROOM(a_full_buffer_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
