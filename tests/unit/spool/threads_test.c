/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads append while one reads and trims: each record is reported once and read once.
 */
#include "test.h"

#include <stdatomic.h>

enum { THREADS = 6, PER_THREAD = 400 };

struct appender {
    struct fp_spool *spool;
    struct waiter *waiter;
    uint64_t first;
};

static void *append_many(void *context)
{
    const struct appender *appender = context;
    for (uint64_t n = appender->first; n < appender->first + PER_THREAD;) {
        uint8_t bytes[RECORD_MAX_LEN];
        enum fp_spool_error error = fp_spool_append(appender->spool, bytes, make_record(n, bytes),
                                                    tell_waiter, appender->waiter);
        if (error == FP_SPOOL_OK)
            n++;
        else if (error == FP_SPOOL_FULL)
            sched_yield(); /* the reader makes room */
        else
            break;
    }
    return NULL;
}

/* Reads until it has every record except the refused ones. */
static unsigned read_all(struct fp_spool *spool, struct waiter *waiter, unsigned *met)
{
    unsigned count = 0;
    uint64_t after = 0;
    int64_t until_us = fp_clock_monotonic_us() + PATIENCE_US;
    for (;;) {
        pthread_mutex_lock(&waiter->lock);
        bool all_told = waiter->told == THREADS * PER_THREAD;
        unsigned committed = waiter->committed;
        pthread_mutex_unlock(&waiter->lock);
        if (all_told && count == committed)
            return count;
        assert_true(fp_clock_monotonic_us() < until_us);
        struct fp_spool_batch batch;
        if (!fp_spool_wait(spool, after, 10000))
            continue;
        assert_int_equal(fp_spool_read(spool, after, 50000, 100, &batch), FP_SPOOL_OK);
        for (size_t i = 0; i < batch.count; i++) {
            met[record_number(&batch.records[i])]++;
            after = batch.records[i].sequence;
            count++;
        }
        assert_int_equal(fp_spool_trim(spool, after), FP_SPOOL_OK);
    }
}

static void run(struct fixture *fixture)
{
    static unsigned met[THREADS * PER_THREAD];
    memset(met, 0, sizeof(met));
    open_spool(fixture);
    struct waiter waiter = WAITER_INIT;
    pthread_t threads[THREADS];
    struct appender appenders[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        appenders[i] = (struct appender){fixture->spool, &waiter, i * PER_THREAD};
        assert_int_equal(pthread_create(&threads[i], NULL, append_many, &appenders[i]), 0);
    }
    unsigned count = read_all(fixture->spool, &waiter, met);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < THREADS * PER_THREAD; i++) {
        assert_true(met[i] <= 1);
        count -= met[i];
    }
    assert_int_equal(count, 0);
    assert_int_equal(fp_spool_position(fixture->spool), fp_spool_tail(fixture->spool));
}

static void each_of_many_threads_records_is_read_once(void **state)
{
    struct fixture *fixture = *state;
    run(fixture);
    /* Commits are shared: far fewer syncs than records. */
    assert_true(metric(fixture, FP_METRIC_SPOOL_COMMITS) < THREADS * PER_THREAD / 2);
}

static void so_it_is_while_segments_are_deleted_and_the_spool_is_often_full(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.keep_us = 0;
    fixture->settings.max_bytes = 3 * fixture->settings.segment_bytes;
    run(fixture);
}

/* A record appended in the callback of the one before. */
struct chain {
    struct fp_spool *spool;
    struct waiter *waiter;
    unsigned left;
};

static void append_next(void *context, enum fp_spool_error result)
{
    struct chain *chain = context;
    if (result == FP_SPOOL_OK && --chain->left > 0)
        result = fp_spool_append(chain->spool, "again", 5, append_next, chain);
    if (result != FP_SPOOL_OK || chain->left == 0)
        tell_waiter(chain->waiter, result);
}

static void a_waiter_may_append_again(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    struct waiter waiter = WAITER_INIT;
    struct chain chain = {fixture->spool, &waiter, 50};
    assert_int_equal(fp_spool_append(fixture->spool, "first", 5, append_next, &chain), FP_SPOOL_OK);
    wait_until_told(&waiter, 1);
    assert_int_equal(waiter.last, FP_SPOOL_OK);
    assert_int_equal(fp_spool_tail(fixture->spool), 50);
}

/* Records that the disk is too slow for are refused, not kept in memory. */
static _Atomic bool disk_stands;

static int slow_sync(void *context, int file)
{
    (void)context;
    while (atomic_load(&disk_stands))
        sched_yield();
    return fp_file_ops_real()->sync_data(NULL, file);
}

static void refuses_more_than_the_queue_may_hold_while_the_disk_stands(void **state)
{
    struct fixture *fixture = *state;
    struct fp_file_ops ops = *fp_file_ops_real();
    ops.sync_data = slow_sync;
    fixture->ops = &ops;
    fixture->settings.segment_bytes = 64 << 20;
    fixture->settings.max_bytes = 256 << 20;
    open_spool(fixture);
    static uint8_t megabyte[1 << 20];
    struct waiter waiter = WAITER_INIT;
    atomic_store(&disk_stands, true);
    unsigned count = 0;
    enum fp_spool_error error;
    while ((error = fp_spool_append(fixture->spool, megabyte, sizeof(megabyte), tell_waiter,
                                    &waiter)) == FP_SPOOL_OK)
        count++;
    assert_int_equal(error, FP_SPOOL_FULL);
    assert_in_range(count, 20, 32);
    atomic_store(&disk_stands, false);
    wait_until_told(&waiter, count);
    assert_int_equal(waiter.committed, count);
    assert_null(fp_spool_trouble(fixture->spool));
    close_spool(fixture);
}

#define SPOOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPOOL_TEST(each_of_many_threads_records_is_read_once),
        SPOOL_TEST(so_it_is_while_segments_are_deleted_and_the_spool_is_often_full),
        SPOOL_TEST(a_waiter_may_append_again),
        SPOOL_TEST(refuses_more_than_the_queue_may_hold_while_the_disk_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
