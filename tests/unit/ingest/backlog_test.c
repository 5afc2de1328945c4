/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backlog: a site is full at its share, and no longer when the database has taken what it sent.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/backlog.c"

enum { SHARE = 1600, RECORD = 100 };

static struct fp_backlog *backlog;
static struct fp_backlog_place place;

static int set_up(void **state)
{
    (void)state;
    place = (struct fp_backlog_place){0};
    backlog = fp_backlog_create();
    return backlog == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    fp_backlog_unref(backlog);
    return 0;
}

static bool is_full(void)
{
    return fp_backlog_is_full(backlog, &place, SHARE);
}

/* Appends records, each durable at once, until the site is full. Returns how many. */
static size_t fill(void)
{
    size_t count = 0;
    for (; !is_full(); count++) {
        fp_backlog_add(backlog, &place, SHARE, RECORD);
        place.tail++;
    }
    return count;
}

static void takes_a_share_while_the_database_is_away(void **state)
{
    (void)state;
    assert_int_equal(fill(), SHARE / RECORD);
    assert_true(is_full());
}

static void takes_as_much_as_the_database_has_taken(void **state)
{
    (void)state;
    (void)fill();
    place.position = place.tail / 2;
    const size_t taken = fill();
    assert_in_range(taken, SHARE / RECORD / 2 - 1, SHARE / RECORD / 2);
    place.position = place.tail;
    assert_in_range(fill(), SHARE / RECORD - 1, SHARE / RECORD);
}

static void is_never_full_if_the_database_keeps_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < 100 * SHARE / RECORD; i++) {
        assert_false(is_full());
        fp_backlog_add(backlog, &place, SHARE, RECORD);
        place.tail += 3; /* and records of other sites */
        place.position = place.tail - 1;
    }
}

static void is_free_again_however_the_records_came(void **state)
{
    (void)state;
    /* Many at once pass the check before one of them is added. */
    place.tail = 1;
    for (size_t i = 0; i < 4 * MARKS; i++)
        fp_backlog_add(backlog, &place, SHARE, SHARE);
    assert_true(is_full());
    place.tail = 4 * MARKS;
    assert_true(is_full());
    place.position = place.tail;
    (void)is_full();
    assert_false(is_full());
}

static void takes_back_records_that_the_spool_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        fp_backlog_add(backlog, &place, SHARE, SHARE - 1);
        fp_backlog_return(backlog, SHARE - 1);
    }
    assert_false(is_full());
    fp_backlog_return(backlog, SHARE);
    assert_int_equal(fill(), SHARE / RECORD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(takes_a_share_while_the_database_is_away, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(takes_as_much_as_the_database_has_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(is_never_full_if_the_database_keeps_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(is_free_again_however_the_records_came, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_back_records_that_the_spool_refused, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
