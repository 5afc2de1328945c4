/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at any moment: every acknowledged record is there afterwards, once and in order.
 */
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

/* Called in the child, by the committer: sends the number to the parent as soon as it is
 * durable. */
struct told {
    int pipe;
    uint64_t n;
};

static void tell_parent(void *context, enum fp_spool_error result)
{
    struct told *told = context;
    if (result == FP_SPOOL_OK && write(told->pipe, &told->n, sizeof(told->n)) < 0)
        _exit(3);
    free(told);
}

/* Appends numbers from `first` on until it is killed. */
static void run_child(const struct fixture *fixture, int pipe, uint64_t first)
{
    struct fp_spool *spool;
    if (fp_spool_open(&fixture->settings, fixture->metrics, &spool, NULL) != FP_SPOOL_OK)
        _exit(1);
    for (uint64_t n = first;;) {
        uint8_t bytes[RECORD_MAX_LEN];
        struct told *told = malloc(sizeof(*told));
        *told = (struct told){pipe, n};
        if (fp_spool_append(spool, bytes, make_record(n, bytes), tell_parent, told) == FP_SPOOL_OK)
            n++;
        else
            free(told);
    }
}

/* Starts a child, kills it after a number of acknowledgements, and notes them all. */
static uint64_t kill_after(const struct fixture *fixture, uint64_t first, uint64_t wanted)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        run_child(fixture, ends[1], first);
    }
    close(ends[1]);
    uint64_t last = first - 1;
    bool killed = false;
    uint64_t n;
    ssize_t got;
    struct pollfd ready = {ends[0], POLLIN, 0};
    while (poll(&ready, 1, 20000) == 1 && (got = read(ends[0], &n, sizeof(n))) > 0) {
        assert_int_equal(got, sizeof(n));
        assert_int_equal(n, last + 1);
        last = n;
        if (!killed && last + 1 - first >= wanted)
            killed = kill(child, SIGKILL) == 0;
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    close(ends[0]);
    return last;
}

static void kill_minus_nine_loses_nothing_that_was_acknowledged(void **state)
{
    struct fixture *fixture = *state;
    uint64_t next = 1;
    uint64_t position = 0;
    static uint64_t numbers[200000];
    for (uint64_t round = 0; round < 12; round++) {
        uint64_t last = kill_after(fixture, next, 1 + round * round * 20);
        open_spool(fixture);
        size_t count = read_numbers(fixture->spool, position, numbers, 200000);
        /* All acknowledged records, then possibly some whose acknowledgement was cut off. */
        assert_true(next + count > last);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(numbers[i], next + i);
        next += count;
        if (round % 3 ==
            0) { /* sometimes the reader has read everything, sometimes it starts over */
            position = fp_spool_tail(fixture->spool);
            assert_int_equal(fp_spool_trim(fixture->spool, position), FP_SPOOL_OK);
        } else {
            next -= count;
            uint64_t after = position;
            struct fp_spool_batch batch;
            assert_int_equal(fp_spool_read(fixture->spool, after, 1, 1, &batch), FP_SPOOL_OK);
            assert_int_equal(record_number(&batch.records[0]), next);
            position = fp_spool_tail(fixture->spool);
            next += count;
        }
        close_spool(fixture);
    }
    assert_true(next > 1000);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kill_minus_nine_loses_nothing_that_was_acknowledged, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
