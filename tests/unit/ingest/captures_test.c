/*
 * Captures: one a window, stopped by word or by silence, never more than there is room for.
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

static void what_does_not_run_takes_no_parts_and_is_not_stopped(void **state)
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

static void those_that_run_are_listed(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        CAPTURES_TEST(a_window_has_one_session_at_a_time),
        CAPTURES_TEST(what_does_not_run_takes_no_parts_and_is_not_stopped),
        CAPTURES_TEST(an_hour_without_a_part_stops_it),
        CAPTURES_TEST(there_is_room_for_so_many_until_one_is_stopped),
        CAPTURES_TEST(a_site_leaves_room_for_the_others),
        CAPTURES_TEST(those_that_run_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
