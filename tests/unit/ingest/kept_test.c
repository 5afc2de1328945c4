/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept: a level holds what its ceiling allows in an hour, counts what other collectors have kept,
 * and is empty in the next hour.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/kept.c"

enum { HOUR = 490000, MOST = 1000 };

static struct fp_kept_ceiling ceiling;

static int set_up(void **state)
{
    (void)state;
    ceiling = (struct fp_kept_ceiling){fp_kept_create(), MOST, FP_STR("shop"), "sites[].kept"};
    return ceiling.kept == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    fp_kept_unref(ceiling.kept);
    return 0;
}

static void takes_up_to_the_ceiling_and_no_more(void **state)
{
    (void)state;
    assert_true(fp_kept_take(&ceiling, HOUR, 600));
    assert_false(fp_kept_take(&ceiling, HOUR, 401));
    assert_false(fp_kept_is_full(&ceiling, HOUR));
    assert_true(fp_kept_take(&ceiling, HOUR, 400));
    assert_true(fp_kept_is_full(&ceiling, HOUR));
    assert_false(fp_kept_take(&ceiling, HOUR, 1));
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR), MOST);
}

static void a_ceiling_of_zero_keeps_nothing(void **state)
{
    (void)state;
    ceiling.most = 0;
    assert_true(fp_kept_is_full(&ceiling, HOUR));
    assert_false(fp_kept_take(&ceiling, HOUR, 1));
}

static void another_hour_begins_empty_whichever_way_the_clock_moved(void **state)
{
    (void)state;
    assert_true(fp_kept_take(&ceiling, HOUR + 8760, MOST));
    assert_true(fp_kept_take(&ceiling, HOUR, MOST));
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR), MOST);
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR + 1), 0);
    assert_true(fp_kept_take(&ceiling, HOUR + 1, MOST));
}

static void takes_back_bytes_that_were_not_stored(void **state)
{
    (void)state;
    assert_true(fp_kept_take(&ceiling, HOUR, MOST));
    fp_kept_return(ceiling.kept, HOUR, 300);
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR), 700);
    fp_kept_return(ceiling.kept, HOUR - 1, 300); /* of an hour that is over */
    fp_kept_return(ceiling.kept, HOUR, 800);
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR), 0);
    struct fp_kept_charge charge = {ceiling.kept, ceiling.kept, HOUR, 0};
    fp_kept_refund(&charge);
    assert_true(fp_kept_take(&ceiling, HOUR, MOST));
    charge.bytes = 100; /* one level stands for both here */
    fp_kept_refund(&charge);
    fp_kept_refund(&charge);
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR), MOST - 200);
}

static void a_restarted_collector_learns_its_own_share_and_that_of_others(void **state)
{
    (void)state;
    assert_true(fp_kept_take(&ceiling, HOUR, 100));
    fp_kept_learn(ceiling.kept, HOUR, 500, 300);
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR), 500);
    assert_false(fp_kept_take(&ceiling, HOUR, 201));
    assert_true(fp_kept_take(&ceiling, HOUR, 200));
    fp_kept_learn(ceiling.kept, HOUR, 500, 0); /* the database lags behind */
    assert_int_equal(fp_kept_own(ceiling.kept, HOUR), 700);
    assert_true(fp_kept_take(&ceiling, HOUR, 300));
}

static void a_session_costs_its_content_events_and_texts(void **state)
{
    (void)state;
    struct fp_str resources[] = {FP_STR("https://shop.example/app.js")};
    struct fp_session_event events[] = {{.resource = FP_INDEX_NONE, .detail = FP_STR("{}")},
                                        {.resource = 0}};
    struct fp_session session = {.content = FP_STR("0123456789"),
                                 .events = events,
                                 .event_count = 2,
                                 .resources = resources};
    struct fp_delta delta = {.session = &session};
    assert_int_equal(fp_kept_size(&delta), SESSION_BYTES + 2 * EVENT_BYTES + 10 + 2 + 27);

    struct fp_delta_frame frames[] = {{.id = 1, .self_us = 5, .total_us = 5},
                                      {.id = 2, .total_us = 5}};
    enum { ENTRY_BYTES = 24, FRAME_BYTES = 8 };
    const uint64_t without_vector = fp_kept_size(&delta);
    delta.frames = frames;
    delta.frame_count = 2;
    assert_int_equal(fp_kept_size(&delta), without_vector + ENTRY_BYTES + 2 * FRAME_BYTES);
}

int main(void)
{
#define WITH_LEVEL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_LEVEL(takes_up_to_the_ceiling_and_no_more),
        WITH_LEVEL(a_ceiling_of_zero_keeps_nothing),
        WITH_LEVEL(another_hour_begins_empty_whichever_way_the_clock_moved),
        WITH_LEVEL(takes_back_bytes_that_were_not_stored),
        WITH_LEVEL(a_restarted_collector_learns_its_own_share_and_that_of_others),
        cmocka_unit_test(a_session_costs_its_content_events_and_texts),
    };
    return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}
