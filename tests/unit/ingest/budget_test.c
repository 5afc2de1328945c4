/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budget: the long run is exact, a burst is no larger than configured, and a refusal says when to
 * retry.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/budget.c"

#define S FP_US_PER_S

static struct fp_budget *budget;
static struct fp_budget_shortage shortage;

static int make(void **state)
{
    (void)state;
    budget = fp_budget_create();
    return budget == NULL;
}

static int drop(void **state)
{
    (void)state;
    fp_budget_unref(budget);
    return 0;
}

static const struct fp_budget_limits three_a_second = {{3, 0}, 2 * S};

static bool ask(const struct fp_budget_limits *limits, uint64_t requests, uint64_t bytes,
                int64_t now_us)
{
    return fp_budget_spend(budget, limits, &(struct fp_budget_cost){.of = {requests, bytes}},
                           now_us, &shortage);
}

static void a_burst_is_granted_and_no_request_more(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        assert_true(ask(&three_a_second, 1, 0, 100 * S));
    assert_false(ask(&three_a_second, 1, 0, 100 * S));
    assert_int_equal(shortage.kind, FP_BUDGET_REQUESTS);
    assert_int_equal(shortage.retry_s, 1);
}

static void a_third_of_a_second_is_neither_rounded_up_nor_down(void **state)
{
    (void)state;
    const int64_t start_us = 100 * S;
    for (int i = 0; i < 6; i++)
        assert_true(ask(&three_a_second, 1, 0, start_us));
    /* Request n is due after n/3 s, or n × 333,333.3 µs: the fraction must not get lost. */
    for (int64_t n = 1; n <= 30000; n++) {
        int64_t due_us = (n * S + 2) / 3;
        assert_false(ask(&three_a_second, 1, 0, start_us + due_us - 1));
        assert_true(ask(&three_a_second, 1, 0, start_us + due_us));
    }
}

static bool try_dry(uint64_t requests, int64_t now_us)
{
    const struct fp_budget_cost cost = {.of = {requests}, .is_dry_run = true};
    return fp_budget_spend(budget, &three_a_second, &cost, now_us, &shortage);
}

static void dry_runs_take_nothing_from_uploads_and_are_bounded(void **state)
{
    (void)state;
    assert_true(try_dry(6, S));
    assert_false(try_dry(1, S));
    assert_true(ask(&three_a_second, 6, 0, S));
    assert_false(try_dry(1, S + 333333));
    assert_true(try_dry(1, S + 333334));
    fp_budget_return(budget, &(struct fp_budget_cost){.of = {6}, .is_dry_run = true});
    assert_true(ask(&three_a_second, 1, 0, S + 333334));
    assert_false(ask(&three_a_second, 1, 0, S + 333334));
    assert_false(try_dry(1, S + 333334)); /* an upload would also be refused */
}

static void asking_in_vain_costs_nothing(void **state)
{
    (void)state;
    assert_true(ask(&three_a_second, 6, 0, S));
    for (int i = 0; i < 1000; i++)
        assert_false(ask(&three_a_second, 1, 0, S + 1));
    assert_true(ask(&three_a_second, 1, 0, S + 333334));
}

static void a_quiet_year_saves_no_more_than_a_burst(void **state)
{
    (void)state;
    const struct fp_budget_limits most = {{FP_BUDGET_RATE_MAX, FP_BUDGET_RATE_MAX},
                                          FP_BUDGET_BURST_MAX_US};
    const int64_t year_us = 365 * FP_US_PER_DAY;
    assert_true(ask(&most, 1, FP_BUDGET_RATE_MAX, S));
    assert_true(ask(&three_a_second, 6, 0, year_us));
    assert_false(ask(&three_a_second, 1, 0, year_us));
    assert_true(ask(&three_a_second, 6, 0, 100 * year_us));
    assert_false(ask(&three_a_second, 1, 0, 100 * year_us));
}

static void both_are_spent_or_neither(void **state)
{
    (void)state;
    const struct fp_budget_limits limits = {{1, 100}, 10 * S};
    assert_true(ask(&limits, 1, 1000, S));
    for (int i = 0; i < 100; i++) {
        assert_false(ask(&limits, 1, 1, S));
        assert_int_equal(shortage.kind, FP_BUDGET_BYTES);
    }
    assert_true(ask(&limits, 9, 0, S));
}

static void an_upload_above_the_bucket_waits_until_full_and_leaves_a_debt(void **state)
{
    (void)state;
    const struct fp_budget_limits limits = {{0, 100}, 10 * S};
    assert_true(ask(&limits, 1, 1, S));
    assert_false(ask(&limits, 1, 5000, S));
    assert_int_equal(shortage.retry_s, 1);
    assert_true(ask(&limits, 1, 5000, 2 * S));
    assert_false(ask(&limits, 1, 1, 2 * S));
    assert_int_equal(shortage.retry_s, 41); /* 4,000 of debt, and the byte itself */
    assert_false(ask(&limits, 1, 1, 42 * S));
    assert_true(ask(&limits, 1, 1, 42 * S + 10000));
}

static void reports_the_longer_of_two_shortages(void **state)
{
    (void)state;
    const struct fp_budget_limits limits = {{1, 100}, 10 * S};
    assert_true(ask(&limits, 10, 1000, S));
    assert_false(ask(&limits, 1, 700, S));
    assert_int_equal(shortage.kind, FP_BUDGET_BYTES);
    assert_int_equal(shortage.retry_s, 7);
    assert_false(ask(&limits, 3, 200, S));
    assert_int_equal(shortage.kind, FP_BUDGET_REQUESTS);
    assert_int_equal(shortage.retry_s, 3);
}

static bool ask_for_more(const struct fp_budget_limits *limits, uint64_t paid, uint64_t more)
{
    const struct fp_budget_cost cost = {.of = {0, more}, .paid = {0, paid}};
    return fp_budget_spend(budget, limits, &cost, S, &shortage);
}

static void a_full_bucket_takes_a_larger_upload_in_pieces(void **state)
{
    (void)state;
    const struct fp_budget_limits limits = {{0, 100}, 10 * S};
    for (uint64_t paid = 0; paid < 3000; paid += 600)
        assert_true(ask_for_more(&limits, paid, 600));
    assert_false(ask(&limits, 1, 1, S));
    assert_int_equal(shortage.retry_s, 21);
    fp_budget_return(budget, &(struct fp_budget_cost){.of = {0, 3000}});
    assert_true(ask(&limits, 1, 1, S));
    assert_true(ask_for_more(&limits, 0, 600));
    assert_false(ask_for_more(&limits, 600, 600));
}

static void a_refund_is_there_for_the_next_one(void **state)
{
    (void)state;
    const struct fp_budget_limits limits = {{0, 100}, 10 * S};
    assert_true(ask(&limits, 1, 1000, S));
    fp_budget_return(budget, &(struct fp_budget_cost){.of = {0, 400}});
    assert_false(ask(&limits, 1, 401, S));
    assert_true(ask(&limits, 1, 400, S));
    fp_budget_return(budget, &(struct fp_budget_cost){.of = {0, 5000}});
    assert_true(ask(&limits, 1, 1000, S));
    assert_false(ask(&limits, 1, 1, S));
}

static void new_limits_keep_the_level_of_the_bucket(void **state)
{
    (void)state;
    const struct fp_budget_limits wide = {{1000, 0}, 10 * S};
    assert_true(ask(&wide, 4, 0, S));
    assert_true(ask(&three_a_second, 2, 0, S));
    assert_false(ask(&three_a_second, 1, 0, S));
    assert_true(ask(&wide, 9000, 0, S));
    assert_false(ask(&three_a_second, 1, 0, S));
    assert_int_equal(shortage.retry_s, 1); /* empty, but no debt of 9,000 */
}

static void a_clock_that_seems_to_go_back_brings_nothing(void **state)
{
    (void)state;
    assert_true(ask(&three_a_second, 6, 0, 10 * S));
    for (int i = 0; i < 100; i++)
        assert_false(ask(&three_a_second, 1, 0, 9 * S));
    assert_false(ask(&three_a_second, 1, 0, 10 * S));
}

static void bodies_hold_no_more_than_the_share(void **state)
{
    (void)state;
    assert_true(fp_budget_hold(budget, 600, 1000));
    assert_false(fp_budget_hold(budget, 401, 1000));
    assert_true(fp_budget_hold(budget, 400, 1000));
    assert_false(fp_budget_hold(budget, 1, 1000));
    fp_budget_let_go(budget, 600);
    assert_true(fp_budget_hold(budget, 600, 1000));
    fp_budget_let_go(budget, 1000);
}

enum { ASKERS = 4, ASKED = 50000 };

static void *ask_often(void *context)
{
    const struct fp_budget_limits limits = {{100000, 0}, S};
    struct fp_budget_shortage none;
    unsigned *granted = context;
    for (int i = 0; i < ASKED; i++)
        *granted +=
            fp_budget_spend(budget, &limits, &(struct fp_budget_cost){.of = {1, 0}}, S, &none);
    return NULL;
}

static void threads_together_get_what_one_would(void **state)
{
    (void)state;
    pthread_t threads[ASKERS];
    unsigned granted[ASKERS] = {0};
    unsigned sum = 0;
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &granted[i]), 0);
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        sum += granted[i];
    }
    assert_int_equal(sum, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_burst_is_granted_and_no_request_more, make, drop),
        cmocka_unit_test_setup_teardown(a_third_of_a_second_is_neither_rounded_up_nor_down, make,
                                        drop),
        cmocka_unit_test_setup_teardown(dry_runs_take_nothing_from_uploads_and_are_bounded, make,
                                        drop),
        cmocka_unit_test_setup_teardown(asking_in_vain_costs_nothing, make, drop),
        cmocka_unit_test_setup_teardown(a_quiet_year_saves_no_more_than_a_burst, make, drop),
        cmocka_unit_test_setup_teardown(both_are_spent_or_neither, make, drop),
        cmocka_unit_test_setup_teardown(
            an_upload_above_the_bucket_waits_until_full_and_leaves_a_debt, make, drop),
        cmocka_unit_test_setup_teardown(a_full_bucket_takes_a_larger_upload_in_pieces, make, drop),
        cmocka_unit_test_setup_teardown(reports_the_longer_of_two_shortages, make, drop),
        cmocka_unit_test_setup_teardown(a_refund_is_there_for_the_next_one, make, drop),
        cmocka_unit_test_setup_teardown(new_limits_keep_the_level_of_the_bucket, make, drop),
        cmocka_unit_test_setup_teardown(a_clock_that_seems_to_go_back_brings_nothing, make, drop),
        cmocka_unit_test_setup_teardown(bodies_hold_no_more_than_the_share, make, drop),
        cmocka_unit_test_setup_teardown(threads_together_get_what_one_would, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
