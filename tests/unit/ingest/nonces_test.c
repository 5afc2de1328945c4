/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nonces: no token gets more uses than allowed, however small the table is.
 */
#include "tests/unit/unit.h"

#include "collector/ingest/nonces.c"

enum { USES_MAX = 3 };

/* The nth nonce. */
static const char *nonce_of(unsigned n, char nonce[FP_NONCE_LEN + 1])
{
    snprintf(nonce, FP_NONCE_LEN + 1, "nonce-%010u", n);
    return nonce;
}

static enum fp_nonce_verdict use_nth(struct fp_nonce_table *table, unsigned n, int64_t expires_s)
{
    char nonce[FP_NONCE_LEN + 1];
    return fp_nonce_table_use(table, nonce_of(n, nonce), expires_s, USES_MAX);
}

/* A table of one set. */
static int make_small(void **state)
{
    *state = fp_nonce_table_create(1);
    return *state == NULL;
}

static int drop(void **state)
{
    fp_nonce_table_unref(*state);
    return 0;
}

static void each_nonce_is_counted_by_itself(void **state)
{
    (void)state;
    struct fp_nonce_table *table = fp_nonce_table_create(2 * 1024 * 1024);
    assert_non_null(table);
    for (unsigned round = 0; round < USES_MAX; round++) {
        for (unsigned n = 0; n < 10000; n++)
            assert_int_equal(use_nth(table, n, 1000), FP_NONCE_FINE);
    }
    for (unsigned n = 0; n < 10000; n++)
        assert_int_equal(use_nth(table, n, 1000), FP_NONCE_USED_UP);
    fp_nonce_table_unref(table);
}

static void a_peek_answers_as_a_use_would_and_changes_nothing(void **state)
{
    struct fp_nonce_table *table = *state;
    char nonce[FP_NONCE_LEN + 1];
    nonce_of(1, nonce);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(fp_nonce_table_peek(table, nonce, 10, 2, 0), FP_NONCE_FINE);
    assert_int_equal(fp_nonce_table_peek(table, nonce, 10, 2, 1), FP_NONCE_FINE);
    assert_int_equal(fp_nonce_table_peek(table, nonce, 10, 2, 2), FP_NONCE_USED_UP);
    assert_int_equal(fp_nonce_table_use(table, nonce, 10, 2), FP_NONCE_FINE);
    assert_int_equal(fp_nonce_table_peek(table, nonce, 10, 2, 1), FP_NONCE_USED_UP);
    assert_int_equal(fp_nonce_table_use(table, nonce, 10, 2), FP_NONCE_FINE);
    assert_int_equal(fp_nonce_table_peek(table, nonce, 10, 2, 0), FP_NONCE_USED_UP);
}

static void a_peek_knows_which_nonces_are_forgotten(void **state)
{
    struct fp_nonce_table *table = *state;
    char nonce[FP_NONCE_LEN + 1];
    for (unsigned n = 0; n < SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 100), FP_NONCE_FINE);
    nonce_of(SET_PLACES, nonce);
    assert_int_equal(fp_nonce_table_peek(table, nonce, 100, 1, 0), FP_NONCE_FORGOTTEN);
    assert_int_equal(fp_nonce_table_peek(table, nonce, 101, 1, 0), FP_NONCE_FINE);
    nonce_of(0, nonce);
    assert_int_equal(fp_nonce_table_peek(table, nonce, 100, USES_MAX, 0), FP_NONCE_FINE);
}

static void the_greatest_number_of_uses_may_change(void **state)
{
    struct fp_nonce_table *table = *state;
    char nonce[FP_NONCE_LEN + 1];
    nonce_of(1, nonce);
    assert_int_equal(fp_nonce_table_use(table, nonce, 10, 2), FP_NONCE_FINE);
    assert_int_equal(fp_nonce_table_use(table, nonce, 10, 1), FP_NONCE_USED_UP);
    assert_int_equal(fp_nonce_table_use(table, nonce, 10, 2), FP_NONCE_FINE);
    assert_int_equal(fp_nonce_table_use(table, nonce, 10, 2), FP_NONCE_USED_UP);
    assert_int_equal(fp_nonce_table_use(table, nonce, 10, UINT32_MAX), FP_NONCE_FINE);
}

static void a_full_set_forgets_what_expires_first(void **state)
{
    struct fp_nonce_table *table = *state;
    for (unsigned n = 0; n < SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 100 + n), FP_NONCE_FINE);
    /* Number 0 is evicted, and its token is refused from then on. */
    assert_int_equal(use_nth(table, 50, 200), FP_NONCE_FINE);
    assert_int_equal(use_nth(table, 0, 100), FP_NONCE_FORGOTTEN);
    /* So is an unseen one that expires no later: whether it was used is unknown. */
    assert_int_equal(use_nth(table, 51, 99), FP_NONCE_FORGOTTEN);
    assert_int_equal(use_nth(table, 52, 100), FP_NONCE_FORGOTTEN);
    /* The others are known as before. */
    for (unsigned n = 1; n < SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 100 + n), FP_NONCE_FINE);
}

static void a_newcomer_that_expires_first_does_not_push_others_out(void **state)
{
    struct fp_nonce_table *table = *state;
    for (unsigned n = 0; n < SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 100), FP_NONCE_FINE);
    assert_int_equal(use_nth(table, 50, 100), FP_NONCE_FORGOTTEN);
    for (unsigned n = 0; n < SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 100), FP_NONCE_FINE);
}

static void expired_tokens_leave_their_places_without_a_trace(void **state)
{
    struct fp_nonce_table *table = *state;
    /* One every 10 s that expires a minute later: evicted ones have expired by then. */
    for (unsigned now = 1000; now < 3000; now += 10)
        assert_int_equal(use_nth(table, now, now + 60), FP_NONCE_FINE);
    assert_int_equal(use_nth(table, 1, 2990 - 60), FP_NONCE_FINE);
}

/* However a flood and the uses of its nonces interleave. */
static void a_flood_lets_nobody_start_again(void **state)
{
    struct fp_nonce_table *table = *state;
    enum { NONCES = 200, TRIES = 100000 };
    unsigned fine[NONCES] = {0};
    uint32_t random = 1;
    unsigned all = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        random = random * 1664525 + 1013904223;
        unsigned n = (random >> 16) % NONCES;
        if (use_nth(table, n, 1000 + n % 50) == FP_NONCE_FINE)
            fine[n]++;
    }
    for (unsigned n = 0; n < NONCES; n++) {
        assert_in_range(fine[n], 0, USES_MAX);
        all += fine[n];
    }
    assert_in_range(all, SET_PLACES * USES_MAX, NONCES * USES_MAX);
}

/* ---- resizing ---- */

enum { SET_BYTES = sizeof(struct set) };

static void a_resized_table_knows_the_uses_of_its_nonces(void **state)
{
    (void)state;
    struct fp_nonce_table *table = fp_nonce_table_create(64 * SET_BYTES);
    assert_non_null(table);
    for (unsigned n = 0; n < 400; n++)
        for (unsigned round = 0; round < USES_MAX - 1; round++)
            assert_int_equal(use_nth(table, n, 1000), FP_NONCE_FINE);
    assert_true(fp_nonce_table_resize(table, 256 * SET_BYTES));
    for (unsigned n = 0; n < 400; n++)
        assert_int_equal(use_nth(table, n, 1000), FP_NONCE_FINE);
    assert_true(fp_nonce_table_resize(table, 64 * SET_BYTES));
    for (unsigned n = 0; n < 400; n++)
        assert_int_equal(use_nth(table, n, 1000), FP_NONCE_USED_UP);
    fp_nonce_table_unref(table);
}

static void a_table_that_shrinks_keeps_what_expires_last(void **state)
{
    (void)state;
    struct fp_nonce_table *table = fp_nonce_table_create(64 * SET_BYTES);
    assert_non_null(table);
    for (unsigned n = 0; n < 100; n++)
        assert_int_equal(use_nth(table, n, 1000 + n), FP_NONCE_FINE);
    assert_true(fp_nonce_table_resize(table, 1));
    for (unsigned n = 0; n < 100 - SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 1000 + n), FP_NONCE_FORGOTTEN);
    for (unsigned n = 100 - SET_PLACES; n < 100; n++)
        assert_int_equal(use_nth(table, n, 1000 + n), FP_NONCE_FINE);
    fp_nonce_table_unref(table);
}

static void refuses_nonces_evicted_before_the_table_grew(void **state)
{
    struct fp_nonce_table *table = *state;
    for (unsigned n = 0; n <= SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 100 + n), FP_NONCE_FINE);
    assert_true(fp_nonce_table_resize(table, 64 * SET_BYTES));
    char nonce[FP_NONCE_LEN + 1];
    assert_int_equal(fp_nonce_table_peek(table, nonce_of(0, nonce), 100, 9, 0), FP_NONCE_FORGOTTEN);
    assert_int_equal(use_nth(table, 0, 100), FP_NONCE_FORGOTTEN);
    for (unsigned n = 1; n <= SET_PLACES; n++)
        assert_int_equal(use_nth(table, n, 100 + n), FP_NONCE_FINE);
    assert_int_equal(use_nth(table, 77, 102), FP_NONCE_FINE);
}

/* ---- threads ---- */

enum { THREADS = 4, SHARED = 500 };

struct worker {
    pthread_t thread;
    struct fp_nonce_table *table;
    unsigned fine[SHARED];
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (unsigned round = 0; round < USES_MAX; round++) {
        for (unsigned n = 0; n < SHARED; n++)
            worker->fine[n] += use_nth(worker->table, n, 1000) == FP_NONCE_FINE;
    }
    return NULL;
}

static void threads_share_the_uses(void **state)
{
    (void)state;
    struct worker workers[THREADS] = {{0}};
    struct fp_nonce_table *table = fp_nonce_table_create(2 * 1024 * 1024);
    assert_non_null(table);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].table = table;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (unsigned n = 0; n < SHARED; n++) {
        unsigned fine = 0;
        for (size_t i = 0; i < THREADS; i++)
            fine += workers[i].fine[n];
        assert_int_equal(fine, USES_MAX);
    }
    fp_nonce_table_unref(table);
}

int main(void)
{
#define WITH_SMALL(test) cmocka_unit_test_setup_teardown(test, make_small, drop)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_nonce_is_counted_by_itself),
        WITH_SMALL(a_peek_answers_as_a_use_would_and_changes_nothing),
        WITH_SMALL(a_peek_knows_which_nonces_are_forgotten),
        WITH_SMALL(the_greatest_number_of_uses_may_change),
        WITH_SMALL(a_full_set_forgets_what_expires_first),
        WITH_SMALL(a_newcomer_that_expires_first_does_not_push_others_out),
        WITH_SMALL(expired_tokens_leave_their_places_without_a_trace),
        WITH_SMALL(a_flood_lets_nobody_start_again),
        cmocka_unit_test(a_resized_table_knows_the_uses_of_its_nonces),
        cmocka_unit_test(a_table_that_shrinks_keeps_what_expires_last),
        WITH_SMALL(refuses_nonces_evicted_before_the_table_grew),
        cmocka_unit_test(threads_share_the_uses),
    };
    return cmocka_run_group_tests_name("nonce_table", tests, NULL, NULL);
}
