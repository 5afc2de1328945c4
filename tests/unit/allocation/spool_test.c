/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool without memory: whichever allocation fails, it starts or reports the lack of memory, no
 * acknowledged record is lost, and damage is skipped even if it could not be copied.
 */
#include "failing.h"

#include "tests/unit/spool/files.h"

enum { RECORDS = 12, IN_FIRST = 6, DAMAGED = 3, APPENDS = 4, NUMBERS_MAX = 64 };

static struct fixture *fixture;
static struct snapshot snapshot;

/* A directory with two segments, the first one damaged. */
static int make_directory(void **state)
{
    set_up(state);
    fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, IN_FIRST);
    reopen_spool(fixture);
    append_range(fixture->spool, IN_FIRST + 1, RECORDS);
    close_spool(fixture);
    take_snapshot(fixture, &snapshot);
    segment_of(&snapshot, 0)->bytes[offset_of(1, DAMAGED) + FP_SPOOL_FRAME_HEADER_LEN] ^= 1;
    return 0;
}

static int remove_directory(void **state)
{
    free_snapshot(&snapshot);
    return tear_down(state);
}

static void restore(void *context)
{
    (void)context;
    restore_snapshot(fixture, &snapshot);
}

/* Reads all records: they are in order, and the damaged one is not among them. */
static bool read_back(uint64_t *numbers, size_t *count)
{
    struct fp_spool_batch batch;
    uint64_t after = 0;
    *count = 0;
    do {
        enum fp_spool_error error = fp_spool_read(fixture->spool, after, 4000, 5, &batch);
        if (error != FP_SPOOL_OK) {
            assert_int_equal(error, FP_SPOOL_MEMORY);
            return false;
        }
        for (size_t i = 0; i < batch.count; i++) {
            after = batch.records[i].sequence;
            numbers[(*count)++] = record_number(&batch.records[i]);
            assert_true(*count < NUMBERS_MAX && numbers[*count - 1] != DAMAGED);
            assert_true(*count == 1 || numbers[*count - 1] > numbers[*count - 2]);
        }
    } while (batch.count > 0);
    return true;
}

/* Appends records. acknowledged[i]: the i-th was acknowledged. False if one was refused. */
static bool append_some(bool acknowledged[APPENDS])
{
    bool all = true;
    for (uint64_t i = 0; i < APPENDS; i++) {
        enum fp_spool_error error = append_record(fixture->spool, RECORDS + 1 + i);
        acknowledged[i] = error == FP_SPOOL_OK;
        all = all && acknowledged[i];
    }
    return all;
}

/* Quarantines and trims records. */
static bool use_reader(void)
{
    struct fp_spool_batch batch;
    if (fp_spool_read(fixture->spool, 0, 4000, 1, &batch) != FP_SPOOL_OK)
        return false;
    assert_int_equal(batch.count, 1);
    enum fp_spool_error error =
        fp_spool_quarantine(fixture->spool, &batch.records[0], "a test says so");
    assert_true(error == FP_SPOOL_OK || error == FP_SPOOL_IO || error == FP_SPOOL_MEMORY);
    bool renewed = fp_spool_renew_id(fixture->spool) == FP_SPOOL_OK;
    return renewed && error == FP_SPOOL_OK;
}

static bool open_armed(void)
{
    enum fp_spool_error error = try_open(fixture);
    /* Without memory a directory cannot be listed: the system's own error text says so. */
    assert_true(error == FP_SPOOL_OK || error == FP_SPOOL_MEMORY || error == FP_SPOOL_NO_PATH);
    return error == FP_SPOOL_OK;
}

/* Checks what an undisturbed process finds afterwards. */
static void check_left(const bool acknowledged[APPENDS])
{
    uint64_t numbers[NUMBERS_MAX];
    size_t count;
    open_spool(fixture);
    assert_true(read_back(numbers, &count));
    close_spool(fixture);
    bool found[RECORDS + APPENDS + 1] = {false};
    for (size_t i = 0; i < count; i++)
        found[numbers[i]] = true;
    for (uint64_t n = 1; n <= RECORDS + APPENDS; n++) {
        bool must = n <= RECORDS ? n != DAMAGED : acknowledged[n - RECORDS - 1];
        if (must != found[n])
            fail_msg("record %d is %s", (int)n, must ? "lost" : "there, though it was refused");
    }
}

static enum outcome live(void *context)
{
    (void)context;
    uint64_t numbers[NUMBERS_MAX];
    size_t count;
    bool acknowledged[APPENDS] = {false};
    bool done = open_armed();
    if (done) {
        bool appended = append_some(acknowledged);
        bool read = read_back(numbers, &count);
        bool used = use_reader();
        done = appended && read && used;
        close_spool(fixture);
    }
    failing_pause();
    check_left(acknowledged);
    return done ? DONE : REFUSED;
}

static void keeps_acknowledged_records(void **state)
{
    (void)state;
    failing_each(&(struct scenario){
        .name = "spool", .run = live, .prepare = restore, .allocations_min = 15});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keeps_acknowledged_records, make_directory,
                                        remove_directory),
    };
    return cmocka_run_group_tests_name("allocation_spool", tests, NULL, NULL);
}
