/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures: one per window, stopped by a request or by silence, and bounded.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/captures.c"

enum { SITE = 7, OTHER_SITE = 8 };

static int set_up(void **state)
{
    *state = fp_captures_create();
    return *state == NULL;
}

static int tear_down(void **state)
{
    fp_captures_free(*state);
    return 0;
}

static void a_window_has_one_session_at_a_time(void **state)
{
    struct fp_uuid first;
    struct fp_uuid other;
    assert_int_equal(fp_captures_start(*state, SITE, 3, 0, &first), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_start(*state, SITE, 3, 0, &other), FP_CAPTURE_RUNS);
    assert_int_equal(fp_captures_start(*state, SITE, 4, 0, &other), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_start(*state, OTHER_SITE, 3, 0, &other), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_stop(*state, SITE, &first, 0), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_start(*state, SITE, 3, 0, &other), FP_CAPTURE_OK);
}

static void a_capture_that_does_not_run_takes_no_parts_nor_stop(void **state)
{
    struct fp_uuid id;
    assert_int_equal(fp_captures_start(*state, SITE, 3, 0, &id), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_touch(*state, SITE, &id, 0), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_touch(*state, OTHER_SITE, &id, 0), FP_CAPTURE_UNKNOWN);
    assert_int_equal(fp_captures_stop(*state, OTHER_SITE, &id, 0), FP_CAPTURE_UNKNOWN);
    assert_int_equal(fp_captures_stop(*state, SITE, &id, 0), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_stop(*state, SITE, &id, 0), FP_CAPTURE_UNKNOWN);
    assert_int_equal(fp_captures_touch(*state, SITE, &id, 0), FP_CAPTURE_UNKNOWN);
}

static void an_hour_without_a_part_stops_it(void **state)
{
    const int64_t hour_us = FP_CAPTURE_IDLE_S * FP_US_PER_S;
    struct fp_uuid id;
    struct fp_uuid next;
    assert_int_equal(fp_captures_start(*state, SITE, 3, 0, &id), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_touch(*state, SITE, &id, hour_us), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_touch(*state, SITE, &id, 2 * hour_us), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_touch(*state, SITE, &id, 3 * hour_us + 1), FP_CAPTURE_UNKNOWN);
    assert_int_equal(fp_captures_start(*state, SITE, 3, 3 * hour_us + 1, &next), FP_CAPTURE_OK);
}

static void there_is_room_for_so_many_until_one_is_stopped(void **state)
{
    struct fp_uuid id;
    struct fp_uuid refused;
    for (uint32_t i = 0; i < FP_CAPTURES_MAX; i++)
        assert_int_equal(fp_captures_start(*state, i / FP_CAPTURES_SITE_MAX, i, 0, &id),
                         FP_CAPTURE_OK);
    uint64_t last_site = (FP_CAPTURES_MAX - 1) / FP_CAPTURES_SITE_MAX;
    assert_int_equal(fp_captures_start(*state, last_site + 1, 1, 0, &refused), FP_CAPTURE_FULL);
    assert_int_equal(fp_captures_stop(*state, last_site, &id, 0), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_start(*state, last_site + 1, 1, 0, &refused), FP_CAPTURE_OK);
}

static void a_site_leaves_room_for_the_others(void **state)
{
    struct fp_uuid id;
    struct fp_uuid refused;
    for (uint32_t window = 0; window < FP_CAPTURES_SITE_MAX; window++)
        assert_int_equal(fp_captures_start(*state, SITE, window, 0, &id), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_start(*state, SITE, FP_CAPTURES_SITE_MAX, 0, &refused),
                     FP_CAPTURE_MANY);
    assert_int_equal(fp_captures_start(*state, OTHER_SITE, 1, 0, &id), FP_CAPTURE_OK);
}

static void lists_running_captures(void **state)
{
    const int64_t hour_us = FP_CAPTURE_IDLE_S * FP_US_PER_S;
    static struct fp_uuid listed[FP_CAPTURES_MAX];
    struct fp_uuid ids[3];
    assert_int_equal(fp_captures_list(*state, 0, listed), 0);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(fp_captures_start(*state, SITE, i, i, &ids[i]), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_list(*state, 3, listed), 3);
    assert_memory_equal(listed, ids, sizeof(ids));
    assert_int_equal(fp_captures_stop(*state, SITE, &ids[1], 3), FP_CAPTURE_OK);
    assert_int_equal(fp_captures_list(*state, hour_us + 1, listed), 1);
    assert_memory_equal(listed, &ids[2], sizeof(ids[2])); /* the first had no part for an hour */
    fp_captures_stop_all(*state);
    assert_int_equal(fp_captures_list(*state, 3, listed), 0);
}

#define CAPTURES_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static struct fp_carry *carry_of(size_t bytes)
{
    struct fp_carry *carry = fp_carry_create(FP_UPLOAD_SPEED_TRACER);
    assert_non_null(carry);
    assert_non_null(fp_arena_alloc(&carry->arena, bytes));
    return carry;
}

/* Returns what the part continues from, after its reference was dropped; for comparisons alone. */
static const struct fp_carry *before(struct fp_captures *captures, const struct fp_uuid *id,
                                     uint32_t part, bool is_next)
{
    struct fp_continuation continuation;
    fp_captures_continue(captures, SITE, id, part, &continuation);
    assert_int_equal(continuation.is_next, is_next);
    fp_carry_unref(continuation.before);
    return continuation.before;
}

static struct fp_uuid start_now(struct fp_captures *captures, uint32_t window)
{
    struct fp_uuid id;
    assert_int_equal(fp_captures_start(captures, SITE, window, fp_clock_monotonic_us(), &id),
                     FP_CAPTURE_OK);
    return id;
}

static void a_part_continues_from_the_one_before_it(void **state)
{
    const struct fp_uuid id = start_now(*state, 0);
    struct fp_carry *carries[] = {carry_of(1), carry_of(1), carry_of(1), carry_of(1)};
    assert_null(before(*state, &id, 0, true));
    assert_null(before(*state, &id, 1, false));
    fp_captures_keep(*state, SITE, &id, 0, carries[0]);
    fp_captures_keep(*state, SITE, &id, 1, carries[1]);
    fp_captures_keep(*state, SITE, &id, 1, carries[2]); /* sent again: the first one stays */
    assert_ptr_equal(before(*state, &id, 1, true), carries[0]);
    assert_ptr_equal(before(*state, &id, 2, true), carries[1]);
    assert_ptr_equal(before(*state, &id, 7, false), carries[1]);
    fp_captures_keep(*state, SITE, &id, 7, carries[3]);
    assert_ptr_equal(before(*state, &id, 8, true), carries[3]);
    assert_ptr_equal(before(*state, &id, 2, true), carries[1]);
    assert_null(before(*state, &id, 1, false));
    fp_captures_keep(*state, SITE, &id, 0, carry_of(1)); /* older than all that is kept */
    assert_null(before(*state, &id, 1, false));
    fp_captures_keep(*state, SITE, &id, 8, NULL);
    fp_captures_keep(*state, OTHER_SITE, &id, 8, carry_of(1));
    assert_null(before(*state, &id, 0, true));
}

static void carried_bytes_have_a_maximum_and_end_with_their_session(void **state)
{
    enum { BYTES = 3 * 1024 * 1024, COUNT = 30 };
    struct fp_captures *captures = *state;
    struct fp_uuid ids[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        ids[i] = start_now(captures, i);
        captures->running[i].used_us += i; /* the first one is idle for longest */
        fp_captures_keep(captures, SITE, &ids[i], 0, carry_of(BYTES));
        assert_true(captures->carried_bytes <= FP_CAPTURES_CARRIED_BYTES_MAX);
    }
    assert_null(before(captures, &ids[0], 1, false));
    assert_non_null(before(captures, &ids[COUNT - 1], 1, true));
    assert_true(captures->carried_bytes > FP_CAPTURES_CARRIED_BYTES_MAX / 2);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(fp_captures_stop(captures, SITE, &ids[i], fp_clock_monotonic_us()),
                         FP_CAPTURE_OK);
    assert_int_equal(captures->carried_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CAPTURES_TEST(a_window_has_one_session_at_a_time),
        CAPTURES_TEST(a_capture_that_does_not_run_takes_no_parts_nor_stop),
        CAPTURES_TEST(an_hour_without_a_part_stops_it),
        CAPTURES_TEST(there_is_room_for_so_many_until_one_is_stopped),
        CAPTURES_TEST(a_site_leaves_room_for_the_others),
        CAPTURES_TEST(lists_running_captures),
        CAPTURES_TEST(a_part_continues_from_the_one_before_it),
        CAPTURES_TEST(carried_bytes_have_a_maximum_and_end_with_their_session),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
