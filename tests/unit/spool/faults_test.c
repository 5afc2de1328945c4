/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A failing disk: acknowledged records stay, refused ones never count, and the spool recovers by
 * itself.
 */
#include "faults.h"
#include "files.h"

#include <limits.h>

static struct faults faults;

static int set_up_faults(void **state)
{
    set_up(state);
    init_faults(&faults);
    struct fixture *fixture = *state;
    fixture->ops = &faults.ops;
    return 0;
}

static void set_fault(enum op op, int error)
{
    atomic_store(&faults.error[op], error);
}

/* Appends until the spool accepts a record again. */
static void wait_for_recovery(struct fixture *fixture, uint64_t n)
{
    int64_t until_us = fp_clock_monotonic_us() + PATIENCE_US;
    while (fp_spool_trouble(fixture->spool) != NULL) {
        assert_true(fp_clock_monotonic_us() < until_us);
        sched_yield();
    }
    assert_int_equal(append_record(fixture->spool, n), FP_SPOOL_OK);
}

/* Closes, with the files as a killed process would leave them at this moment. */
static void crash_and_reopen(struct fixture *fixture)
{
    struct snapshot snapshot;
    take_snapshot(fixture, &snapshot);
    close_spool(fixture);
    init_faults(&faults);
    restore_snapshot(fixture, &snapshot);
    free_snapshot(&snapshot);
    open_spool(fixture);
}

/*
 * Fails the sync only: the records were written, and the file holds them, valid. With
 * `keeping_tail` truncating also fails, so only the successor's header says where the segment ends.
 */
static void refuse_by_sync(struct fixture *fixture, bool keeping_tail)
{
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    if (keeping_tail)
        set_fault(OP_TRUNCATE, EIO);
    /* One sync fails; those of the next segment work. */
    atomic_store(&faults.call_error, EIO);
    atomic_store(&faults.failing_call, atomic_load(&faults.calls) + 2); /* write, then sync */
    assert_int_equal(append_record(fixture->spool, 666), FP_SPOOL_IO);
    assert_int_equal(fp_spool_tail(fixture->spool), 10);
    expect_range(fixture->spool, 0, 1, 10);
    assert_int_equal(append_record(fixture->spool, 11), FP_SPOOL_OK);
    expect_range(fixture->spool, 0, 1, 11);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_ERRORS), 1);
}

static void never_replays_a_record_whose_sync_failed(void **state)
{
    struct fixture *fixture = *state;
    for (int keeping_tail = 0; keeping_tail < 2; keeping_tail++) {
        refuse_by_sync(fixture, keeping_tail);
        crash_and_reopen(fixture);
        expect_range(fixture->spool, 0, 1, 11);
        close_spool(fixture);
        assert_int_equal(tear_down(state) + set_up_faults(state), 0);
        fixture = *state;
    }
}

/* The fence is on disk before the waiter learns of the failure: a kill at that moment changes
 * nothing. */
static void never_replays_it_after_a_kill_right_at_the_refusal(void **state)
{
    struct fixture *fixture = *state;
    for (int keeping_tail = 0; keeping_tail < 2; keeping_tail++) {
        open_spool(fixture);
        append_range(fixture->spool, 1, 10);
        if (keeping_tail)
            set_fault(OP_TRUNCATE, EIO);
        atomic_store(&faults.call_error, EIO);
        atomic_store(&faults.failing_call, atomic_load(&faults.calls) + 2);
        assert_int_equal(append_record(fixture->spool, 666), FP_SPOOL_IO);
        crash_and_reopen(fixture);
        expect_range(fixture->spool, 0, 1, 10);
        assert_int_equal(append_record(fixture->spool, 11), FP_SPOOL_OK);
        assert_int_equal(fp_spool_tail(fixture->spool),
                         12); /* the number of the refused one is used up */
        expect_range(fixture->spool, 0, 1, 11);
        assert_int_equal(tear_down(state) + set_up_faults(state), 0);
        fixture = *state;
    }
}

static void refuses_at_once_while_the_disk_is_dead_and_recovers_by_itself(void **state)
{
    struct fixture *fixture = *state;
    static const enum op ops[] = {OP_WRITE_AT, OP_SYNC_DATA};
    uint64_t last = 10;
    open_spool(fixture);
    append_range(fixture->spool, 1, last);
    for (size_t i = 0; i < FP_COUNT(ops); i++) {
        set_fault(ops[i], EIO);
        assert_int_equal(append_record(fixture->spool, 666), FP_SPOOL_IO);
        for (int again = 0; again < 100; again++) /* nothing is queued any more */
            assert_int_equal(fp_spool_append(fixture->spool, "x", 1, tell_waiter, NULL),
                             FP_SPOOL_IO);
        assert_string_equal(fp_spool_trouble(fixture->spool), "the spool cannot be written");
        expect_range(fixture->spool, 0, 1, last);
        set_fault(ops[i], 0);
        wait_for_recovery(fixture, ++last);
        expect_range(fixture->spool, 0, 1, last);
        assert_int_equal(fp_spool_tail(fixture->spool), 12 + 2 * i); /* no number comes twice */
    }
    reopen_spool(fixture);
    expect_range(fixture->spool, 0, 1, last);
}

static void a_full_disk_is_full_at_once_and_takes_records_when_room_is_back(void **state)
{
    struct fixture *fixture = *state;
    static const enum op ops[] = {OP_WRITE_AT, OP_SYNC_DATA};
    uint64_t last = 10;
    open_spool(fixture);
    append_range(fixture->spool, 1, last);
    for (size_t i = 0; i < FP_COUNT(ops); i++) {
        set_fault(OP_ALLOCATE, ENOSPC);
        set_fault(ops[i], i == 0 ? ENOSPC : EDQUOT);
        assert_int_equal(append_record(fixture->spool, 666), FP_SPOOL_FULL);
        assert_int_equal(append_record(fixture->spool, 667), FP_SPOOL_FULL);
        assert_string_equal(fp_spool_trouble(fixture->spool), "the spool's disk is full");
        set_fault(OP_ALLOCATE, 0);
        set_fault(ops[i], 0);
        wait_for_recovery(fixture, ++last);
    }
    reopen_spool(fixture);
    expect_range(fixture->spool, 0, 1, last);
}

static void gives_up_trimmed_segments_early_when_the_disk_is_full(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 500);
    assert_int_equal(fp_spool_trim(fixture->spool, 200), FP_SPOOL_OK);
    size_t segments = count_files(fixture, "", ".seg");
    set_fault(OP_ALLOCATE, ENOSPC);
    uint64_t last = 500;
    while (append_record(fixture->spool, last + 1) == FP_SPOOL_OK)
        last++;
    assert_string_equal(fp_spool_trouble(fixture->spool), "the spool's disk is full");
    assert_true(count_files(fixture, "", ".seg") < segments);
    set_fault(OP_ALLOCATE, 0);
    wait_for_recovery(fixture, ++last);
    expect_range(fixture->spool, 200, 201, last);
}

static void starts_and_can_be_read_while_the_disk_is_full_or_read_only(void **state)
{
    struct fixture *fixture = *state;
    static const int errors[] = {ENOSPC, EROFS};
    open_spool(fixture);
    append_range(fixture->spool, 1, 100);
    close_spool(fixture);
    for (size_t i = 0; i < 2; i++) {
        set_fault(OP_WRITE_AT, errors[i]);
        set_fault(OP_ALLOCATE, errors[i]);
        set_fault(OP_TRUNCATE, errors[i]);
        set_fault(OP_SYNC_DATA, errors[i]);
        open_spool(fixture);
        expect_range(fixture->spool, 0, 1, 100);
        assert_non_null(fp_spool_trouble(fixture->spool));
        fp_spool_error_text(fp_spool_trim(fixture->spool, 50));
        expect_range(fixture->spool, 50, 51, 100);
        close_spool(fixture);
        init_faults(&faults);
    }
    open_spool(fixture);
    wait_for_recovery(fixture, 101);
    expect_range(fixture->spool, 0, 1, 101);
}

static void survives_short_and_interrupted_writes(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    atomic_store(&faults.short_writes, true);
    append_range(fixture->spool, 1, 100);
    reopen_spool(fixture);
    append_range(fixture->spool, 101, 120);
    crash_and_reopen(fixture);
    expect_range(fixture->spool, 0, 1, 120);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_ERRORS), 0);
}

static void a_position_that_cannot_be_written_is_reported_and_harmless(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    fixture->spool->reader.state_written_us = 0;
    set_fault(OP_RENAME, EIO);
    assert_int_equal(fp_spool_trim(fixture->spool, 5), FP_SPOOL_IO);
    set_fault(OP_RENAME, 0);
    append_range(fixture->spool, 11, 12);
    crash_and_reopen(fixture);
    assert_int_equal(fp_spool_position(fixture->spool), 0);
    expect_range(fixture->spool, 0, 1, 12);
}

/* Out of file handles for a moment: the records wait; the reader does not skip them. */
static void a_segment_that_cannot_be_opened_is_not_skipped(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 300);
    struct fp_spool_batch batch;
    set_fault(OP_OPEN, EMFILE);
    assert_int_equal(fp_spool_read(fixture->spool, 0, 1000000, 1000, &batch), FP_SPOOL_IO);
    assert_int_equal(batch.count, 0);
    assert_true(fp_spool_wait(fixture->spool, 0, 0));
    set_fault(OP_OPEN, 0);
    assert_int_equal(fp_spool_read(fixture->spool, 0, 1, 1, &batch), FP_SPOOL_OK);
    set_fault(OP_OPEN, EMFILE);
    assert_int_equal(fp_spool_read(fixture->spool, 1, 1000000, 1000, &batch), FP_SPOOL_OK);
    uint64_t last = batch.records[batch.count - 1].sequence;
    assert_in_range(last, 2, 299);
    assert_int_equal(fp_spool_read(fixture->spool, last, 1000000, 1000, &batch), FP_SPOOL_IO);
    set_fault(OP_OPEN, 0);
    expect_range(fixture->spool, last, last + 1, 300);
}

/* Opens, and waits until the committer is idle. */
static void open_and_settle(struct fixture *fixture)
{
    open_spool(fixture);
    assert_int_equal(fp_spool_trim(fixture->spool, 0), FP_SPOOL_OK);
    close_spool(fixture);
    open_spool(fixture);
    append_range(fixture->spool, 901, 901);
    close_spool(fixture);
}

static void keeps_segments_that_it_cannot_read_at_the_start(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.keep_us = 0;
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    close_spool(fixture);
    char path[512];
    assert_true(find_file(fixture, "", ".seg", 0, path));
    const struct file_copy before = load_file(path);
    for (int part = 0; part < 2; part++) {
        if (part == 0)
            set_fault(OP_READ_AT, EIO); /* not even a header can be read */
        else                            /* the header can, the first sector of records cannot */
            atomic_store(&faults.bad_offset, FP_SPOOL_SEGMENT_HEADER_LEN);
        for (int start = 0; start < 3; start++)
            open_and_settle(fixture);
        init_faults(&faults);
        const struct file_copy after = load_file(path);
        assert_int_equal(before.len, after.len);
        assert_memory_equal(before.bytes, after.bytes, after.len);
        free(after.bytes);
    }
    open_spool(fixture);
    uint64_t numbers[30];
    assert_true(read_numbers(fixture->spool, 0, numbers, 30) > 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(numbers[i], i + 1);
    free(before.bytes);
}

static void a_newest_segment_with_a_bad_sector_is_kept_whole(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.keep_us = 0;
    open_spool(fixture);
    append_range(fixture->spool, 1, 100);
    char path[512];
    struct snapshot snapshot;
    take_snapshot(fixture, &snapshot);
    close_spool(fixture);
    restore_snapshot(fixture, &snapshot); /* as after a kill: not cut to its length */
    assert_true(find_file(fixture, "", ".seg", 0, path));
    atomic_store(&faults.bad_offset, offset_of(1, 95));
    for (int start = 0; start < 3; start++)
        open_and_settle(fixture);
    init_faults(&faults);
    const struct file_copy after = load_file(path);
    const struct file_copy *before = segment_of(&snapshot, 0);
    assert_int_equal(before->len, after.len);
    assert_memory_equal(before->bytes, after.bytes, after.len);
    free(after.bytes);
    free_snapshot(&snapshot);
    open_spool(fixture);
    uint64_t numbers[200];
    assert_true(read_numbers(fixture->spool, 0, numbers, 200) >= 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(numbers[i], i + 1);
}

/* A kill may have left records in memory only; they must be on disk before they are returned. */
static void syncs_what_it_found_at_the_start(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    close_spool(fixture);
    set_fault(OP_ALLOCATE, ENOSPC); /* so that no other file is synced */
    set_fault(OP_SYNC_DATA, EIO);
    open_spool(fixture);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_ERRORS), 1);
    expect_range(fixture->spool, 0, 1, 10);
}

/* A file whose name may be lost at the next power cut must not hold acknowledged records. */
static void uses_no_segment_whose_name_is_not_durable(void **state)
{
    struct fixture *fixture = *state;
    set_fault(OP_SYNC_DIR, EIO);
    open_spool(fixture);
    assert_int_equal(append_record(fixture->spool, 1), FP_SPOOL_IO);
    assert_int_equal(count_files(fixture, "", ".seg"), 0);
    set_fault(OP_SYNC_DIR, 0);
    wait_for_recovery(fixture, 1);
    expect_range(fixture->spool, 0, 1, 1);
}

/* The acknowledged and the refused records of one run of the workload. */
struct outcome {
    bool acknowledged[200];
    bool refused[200];
};

/* A bit of everything: appends over several segments, reads, trims, a restart. */
static void run_workload(struct fixture *fixture, struct outcome *outcome)
{
    uint64_t n = 1;
    for (int part = 0; part < 2; part++) {
        if (try_open(fixture) != FP_SPOOL_OK)
            return;
        for (uint64_t until = n + 10; n < until; n++) {
            enum fp_spool_error error = append_record(fixture->spool, n);
            outcome->acknowledged[n] = error == FP_SPOOL_OK;
            outcome->refused[n] = error != FP_SPOOL_OK;
        }
        fixture->spool->reader.state_written_us = 0;
        enum fp_spool_error trimmed = fp_spool_trim(fixture->spool, part == 0 ? 3 : 6);
        (void)trimmed;
        struct fp_spool_batch batch;
        enum fp_spool_error read = fp_spool_read(fixture->spool, 0, 100000, 1000, &batch);
        (void)read;
        close_spool(fixture);
    }
}

/* Opens on a healthy disk and compares: no refused record, every acknowledged one; those up to
 * `given_up` may have been deleted after the trim, to make room. */
static void check_outcome(struct fixture *fixture, const struct outcome *outcome, long call,
                          uint64_t given_up)
{
    open_spool(fixture);
    uint64_t numbers[200];
    size_t count = read_numbers(fixture->spool, 0, numbers, 200);
    size_t at = 0;
    for (uint64_t n = 1; n < 200; n++) {
        bool read = at < count && numbers[at] == n;
        at += read;
        if (read ? outcome->refused[n] : outcome->acknowledged[n] && n > given_up)
            fail_msg("call %ld fails: record %d is %s", call, (int)n,
                     read ? "refused and there" : "acknowledged and lost");
    }
    assert_int_equal(at, count);
    close_spool(fixture);
}

static void any_single_failing_operation_loses_and_replays_nothing(void **state)
{
    struct fixture *fixture = *state;
    static const int errors[] = {EIO, ENOSPC};
    for (size_t i = 0; i < 2; i++) {
        long calls = LONG_MAX;
        for (long call = 1; call <= calls; call++) {
            assert_int_equal(tear_down(state) + set_up_faults(state), 0);
            fixture = *state;
            fixture->settings.segment_bytes = FP_SPOOL_SEGMENT_HEADER_LEN + 8192;
            struct outcome outcome = {.acknowledged = {false}};
            atomic_store(&faults.call_error, errors[i]);
            atomic_store(&faults.failing_call, call);
            run_workload(fixture, &outcome);
            bool was_reached = atomic_load(&faults.calls) >= call;
            init_faults(&faults);
            check_outcome(fixture, &outcome, call, errors[i] == ENOSPC ? 6 : 0);
            if (!was_reached)
                calls = call;
        }
        assert_in_range(calls, 60, 1000);
    }
}

#define SPOOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_faults, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPOOL_TEST(never_replays_a_record_whose_sync_failed),
        SPOOL_TEST(never_replays_it_after_a_kill_right_at_the_refusal),
        SPOOL_TEST(refuses_at_once_while_the_disk_is_dead_and_recovers_by_itself),
        SPOOL_TEST(a_full_disk_is_full_at_once_and_takes_records_when_room_is_back),
        SPOOL_TEST(gives_up_trimmed_segments_early_when_the_disk_is_full),
        SPOOL_TEST(starts_and_can_be_read_while_the_disk_is_full_or_read_only),
        SPOOL_TEST(survives_short_and_interrupted_writes),
        SPOOL_TEST(a_position_that_cannot_be_written_is_reported_and_harmless),
        SPOOL_TEST(a_segment_that_cannot_be_opened_is_not_skipped),
        SPOOL_TEST(keeps_segments_that_it_cannot_read_at_the_start),
        SPOOL_TEST(a_newest_segment_with_a_bad_sector_is_kept_whole),
        SPOOL_TEST(syncs_what_it_found_at_the_start),
        SPOOL_TEST(uses_no_segment_whose_name_is_not_durable),
        SPOOL_TEST(any_single_failing_operation_loses_and_replays_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
