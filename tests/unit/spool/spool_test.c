/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spool's interface: appended records come back, in order, once, until they are trimmed.
 */
#include "test.h"

#include "collector/spool/internal.c"

static void gives_back_what_was_appended_in_order(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    assert_int_equal(fp_spool_tail(fixture->spool), 0);
    append_range(fixture->spool, 1, 1000);
    assert_int_equal(fp_spool_tail(fixture->spool), 1000);
    expect_range(fixture->spool, 0, 1, 1000);
    expect_range(fixture->spool, 400, 401, 1000);
    expect_range(fixture->spool, 1000, 1, 0);
    assert_true(count_files(fixture, "", ".seg") > 5);
}

static void still_has_everything_after_a_restart(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    struct fp_uuid id = fp_spool_id(fixture->spool);
    for (uint64_t n = 1; n <= 500; n += 100) {
        append_range(fixture->spool, n, n + 99);
        reopen_spool(fixture);
        expect_range(fixture->spool, 0, 1, n + 99);
        assert_int_equal(fp_spool_tail(fixture->spool), n + 99);
    }
    struct fp_uuid same = fp_spool_id(fixture->spool);
    assert_true(fp_uuid_equal(&id, &same));
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES), 0);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_ERRORS), 0);
}

static void reads_at_most_what_was_asked_for_but_never_nothing(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 100);
    struct fp_spool_batch batch;
    assert_int_equal(fp_spool_read(fixture->spool, 0, SIZE_MAX, 7, &batch), FP_SPOOL_OK);
    assert_int_equal(batch.count, 7);
    assert_int_equal(fp_spool_read(fixture->spool, 7, 1, 7, &batch), FP_SPOOL_OK);
    assert_int_equal(batch.count, 1);
    assert_int_equal(batch.records[0].sequence, 8);
    assert_int_equal(fp_spool_read(fixture->spool, 8, 3000, 100, &batch), FP_SPOOL_OK);
    size_t len = 0;
    for (size_t i = 0; i < batch.count; i++)
        len += batch.records[i].len;
    assert_in_range(len, 2000, 3000);
}

static void reads_the_same_batch_again(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 300);
    uint64_t after = 0;
    struct fp_spool_batch batch;
    while (after < 300) {
        size_t first_count = 0;
        for (int time = 0; time < 3; time++) {
            assert_int_equal(fp_spool_read(fixture->spool, after, 20000, 1000, &batch),
                             FP_SPOOL_OK);
            assert_true(batch.count > 0);
            for (size_t i = 0; i < batch.count; i++)
                assert_int_equal(record_number(&batch.records[i]), after + 1 + i);
            if (time == 0)
                first_count = batch.count;
            assert_int_equal(batch.count, first_count);
        }
        after += batch.count;
    }
}

static void sees_records_committed_since_the_last_read(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    for (uint64_t n = 1; n <= 300; n += 3) {
        append_range(fixture->spool, n, n + 2);
        expect_range(fixture->spool, n - 1, n, n + 2);
    }
}

static void takes_records_of_no_bytes_and_of_a_whole_segment(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.segment_bytes = 1 << 20;
    open_spool(fixture);
    size_t longest = (1 << 20) - FP_SPOOL_SEGMENT_HEADER_LEN - FP_SPOOL_FRAME_HEADER_LEN - 4;
    uint8_t *bytes = malloc(longest + 9);
    memset(bytes, 0xa5, longest + 9);
    struct waiter waiter = WAITER_INIT;
    assert_int_equal(fp_spool_append(fixture->spool, bytes, longest + 9, tell_waiter, &waiter),
                     FP_SPOOL_TOO_LONG);
    assert_int_equal(fp_spool_append(fixture->spool, NULL, 0, tell_waiter, &waiter), FP_SPOOL_OK);
    assert_int_equal(fp_spool_append(fixture->spool, bytes, longest, tell_waiter, &waiter),
                     FP_SPOOL_OK);
    assert_int_equal(fp_spool_append(fixture->spool, NULL, 0, tell_waiter, &waiter), FP_SPOOL_OK);
    wait_until_told(&waiter, 3);
    assert_int_equal(waiter.committed, 3);
    reopen_spool(fixture);
    struct fp_spool_batch batch;
    assert_int_equal(fp_spool_read(fixture->spool, 0, 10, 10, &batch), FP_SPOOL_OK);
    assert_int_equal(batch.count, 1);
    assert_int_equal(batch.records[0].len, 0);
    assert_int_equal(fp_spool_read(fixture->spool, 1, 10, 10, &batch), FP_SPOOL_OK);
    assert_int_equal(batch.count, 1);
    assert_int_equal(batch.records[0].len, longest);
    assert_memory_equal(batch.records[0].bytes, bytes, longest);
    assert_int_equal(fp_spool_read(fixture->spool, 2, 10, 10, &batch), FP_SPOOL_OK);
    assert_int_equal(batch.count, 1);
    free(bytes);
}

static void remembers_the_position_over_a_restart(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 50);
    assert_int_equal(fp_spool_position(fixture->spool), 0);
    assert_int_equal(fp_spool_trim(fixture->spool, 20), FP_SPOOL_OK);
    assert_int_equal(fp_spool_trim(fixture->spool, 30), FP_SPOOL_OK);
    assert_int_equal(fp_spool_position(fixture->spool), 30);
    reopen_spool(fixture);
    assert_int_equal(fp_spool_position(fixture->spool), 30);
    assert_int_equal(fp_spool_trim(fixture->spool, 10), FP_SPOOL_OK);
    assert_int_equal(fp_spool_position(fixture->spool), 30);
    assert_int_equal(fp_spool_trim(fixture->spool, 1000), FP_SPOOL_OK);
    assert_int_equal(fp_spool_position(fixture->spool), 50);
}

static void keeps_trimmed_segments_for_a_while(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 500);
    size_t segments = count_files(fixture, "", ".seg");
    assert_int_equal(fp_spool_trim(fixture->spool, 500), FP_SPOOL_OK);
    append_range(fixture->spool, 501, 501);
    assert_int_equal(count_files(fixture, "", ".seg"), segments);
    expect_range(fixture->spool, 0, 1, 501); /* an older database can be fed again */
    reopen_spool(fixture);
    expect_range(fixture->spool, 0, 1, 501);
}

/* Returns how many segments have no records after a position. */
static size_t segments_before(struct fixture *fixture, uint64_t position)
{
    size_t count = 0;
    pthread_mutex_lock(&fixture->spool->lock);
    while (count < fixture->spool->table.count &&
           fixture->spool->table.segments[count].last_sequence <= position)
        count++;
    pthread_mutex_unlock(&fixture->spool->lock);
    return count;
}

static void goes_back_to_a_position_and_stays_there_over_a_restart(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 500);
    assert_int_equal(fp_spool_trim(fixture->spool, 500), FP_SPOOL_OK);
    assert_int_equal(fp_spool_rewind(fixture->spool, 120), 0);
    assert_int_equal(fp_spool_position(fixture->spool), 120);
    expect_range(fixture->spool, 120, 121, 500);
    assert_int_equal(fp_spool_rewind(fixture->spool, 300), 0); /* not before the last one */
    reopen_spool(fixture);
    assert_int_equal(fp_spool_position(fixture->spool), 120);
    /* Records of a rewind are kept until they are done again, however long ago that was first. */
    fixture->settings.keep_us = 0;
    reopen_spool(fixture);
    expect_range(fixture->spool, 120, 121, 500);
}

static void says_how_many_records_it_can_no_longer_go_back_to(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.keep_us = 0;
    open_spool(fixture);
    append_range(fixture->spool, 1, 500);
    size_t left = count_files(fixture, "", ".seg") - segments_before(fixture, 250);
    assert_int_equal(fp_spool_trim(fixture->spool, 250), FP_SPOOL_OK);
    wait_for_segments(fixture, left);
    uint64_t first = fixture->spool->table.segments[0].first_sequence;
    assert_int_equal(fp_spool_rewind(fixture->spool, 100), first - 1 - 100);
    expect_range(fixture->spool, 100, first, 500);
    assert_int_equal(fp_spool_trim(fixture->spool, 500), FP_SPOOL_OK);
    wait_for_segments(fixture, 1);
    reopen_spool(fixture); /* the newest segment is empty from now on */
    wait_for_segments(fixture, 1);
    assert_int_equal(fp_spool_rewind(fixture->spool, 480), 20);
    assert_int_equal(fp_spool_rewind(fixture->spool, 480), 0);
}

static void deletes_trimmed_segments_and_no_other_when_their_time_is_over(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.keep_us = 0;
    open_spool(fixture);
    append_range(fixture->spool, 1, 500);
    size_t left = count_files(fixture, "", ".seg") - segments_before(fixture, 250);
    assert_int_equal(fp_spool_trim(fixture->spool, 250), FP_SPOOL_OK);
    wait_for_segments(fixture, left);
    expect_range(fixture->spool, 250, 251, 500);
    assert_int_equal(fp_spool_trim(fixture->spool, 500), FP_SPOOL_OK);
    wait_for_segments(fixture, 1);
    append_range(fixture->spool, 501, 510);
    expect_range(fixture->spool, 500, 501, 510);
}

static void never_repeats_a_sequence_number_even_when_all_is_trimmed(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.keep_us = 0;
    open_spool(fixture);
    append_range(fixture->spool, 1, 500);
    assert_int_equal(fp_spool_trim(fixture->spool, 500), FP_SPOOL_OK);
    for (int i = 0; i < 5; i++) {
        reopen_spool(fixture);
        wait_for_segments(fixture, 1);
        assert_int_equal(fp_spool_tail(fixture->spool), 500);
        assert_false(fp_spool_wait(fixture->spool, 0, 0));
    }
    append_range(fixture->spool, 501, 501);
    assert_int_equal(fp_spool_tail(fixture->spool), 501);
}

static void never_repeats_a_sequence_number_even_when_the_files_are_gone(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 100);
    assert_int_equal(fp_spool_trim(fixture->spool, 100), FP_SPOOL_OK);
    close_spool(fixture);
    char path[512];
    while (find_file(fixture, "", ".seg", 0, path))
        assert_int_equal(unlink(path), 0);
    open_spool(fixture);
    append_range(fixture->spool, 101, 101);
    assert_int_equal(fp_spool_tail(fixture->spool), 101);
    /* The reverse: the state is missing, the files are there. */
    struct fp_uuid id = fp_spool_id(fixture->spool);
    close_spool(fixture);
    snprintf(path, sizeof(path), "%s/state", fixture->path);
    assert_int_equal(unlink(path), 0);
    open_spool(fixture);
    struct fp_uuid same = fp_spool_id(fixture->spool);
    assert_true(fp_uuid_equal(&id, &same));
    append_range(fixture->spool, 102, 102);
    assert_int_equal(fp_spool_tail(fixture->spool), 102);
    expect_range(fixture->spool, 0, 101, 102);
}

static void is_full_at_max_bytes_and_recovers_by_a_trim(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.max_bytes = 4 * fixture->settings.segment_bytes;
    open_spool(fixture);
    uint64_t last = 0;
    for (int time = 0; time < 5; time++) {
        enum fp_spool_error error;
        while ((error = append_record(fixture->spool, last + 1)) == FP_SPOOL_OK)
            last++;
        assert_int_equal(error, FP_SPOOL_FULL);
        assert_string_equal(fp_spool_trouble(fixture->spool),
                            "the spool has reached its max_bytes");
        assert_true(metric(fixture, FP_METRIC_SPOOL_BYTES) <= (int64_t)fixture->settings.max_bytes);
        assert_int_equal(fp_spool_tail(fixture->spool), last);
        assert_int_equal(fp_spool_trim(fixture->spool, last), FP_SPOOL_OK);
        int64_t until_us = fp_clock_monotonic_us() + PATIENCE_US;
        while (fp_spool_trouble(fixture->spool) != NULL)
            assert_true(fp_clock_monotonic_us() < until_us);
    }
    assert_true(last > 500);
    reopen_spool(fixture);
    assert_int_equal(fp_spool_tail(fixture->spool), last);
}

static void wakes_the_reader_when_a_record_is_committed(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    assert_false(fp_spool_wait(fixture->spool, 0, 0));
    assert_false(fp_spool_wait(fixture->spool, 0, 1000));
    uint8_t bytes[RECORD_MAX_LEN];
    struct waiter waiter = WAITER_INIT;
    assert_int_equal(
        fp_spool_append(fixture->spool, bytes, make_record(1, bytes), tell_waiter, &waiter),
        FP_SPOOL_OK);
    assert_true(fp_spool_wait(fixture->spool, 0, PATIENCE_US));
    assert_false(fp_spool_wait(fixture->spool, 1, 0));
    fp_spool_wake(fixture->spool);
    int64_t start_us = fp_clock_monotonic_us();
    assert_false(fp_spool_wait(fixture->spool, 1, INT64_MAX));
    assert_true(fp_clock_monotonic_us() - start_us < PATIENCE_US);
    wait_until_told(&waiter, 1);
}

static void commits_what_is_queued_when_it_is_closed(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    struct waiter waiter = WAITER_INIT;
    for (uint64_t n = 1; n <= 500; n++) {
        uint8_t bytes[RECORD_MAX_LEN];
        assert_int_equal(
            fp_spool_append(fixture->spool, bytes, make_record(n, bytes), tell_waiter, &waiter),
            FP_SPOOL_OK);
    }
    fp_spool_stop_appends(fixture->spool);
    assert_non_null(fp_spool_trouble(fixture->spool));
    assert_int_equal(fp_spool_append(fixture->spool, "x", 1, tell_waiter, &waiter),
                     FP_SPOOL_STOPPING);
    close_spool(fixture);
    assert_int_equal(waiter.told, 500);
    assert_int_equal(waiter.committed, 500);
    open_spool(fixture);
    expect_range(fixture->spool, 0, 1, 500);
}

static void two_processes_never_share_a_spool(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    struct fp_spool *second = fixture->spool;
    struct fp_buf detail;
    fp_buf_init(&detail, 1000);
    assert_int_equal(fp_spool_open(&fixture->settings, fixture->metrics, &second, &detail),
                     FP_SPOOL_LOCKED);
    assert_null(second);
    assert_true(detail.len > 10);
    fp_buf_release(&detail);
    append_range(fixture->spool, 1, 3);
    reopen_spool(fixture);
    expect_range(fixture->spool, 0, 1, 3);
}

static void says_why_a_directory_cannot_be_used(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.path = "/nonexistent/spool";
    struct fp_buf detail;
    fp_buf_init(&detail, 1000);
    assert_int_equal(fp_spool_open(&fixture->settings, fixture->metrics, &fixture->spool, &detail),
                     FP_SPOOL_NO_PATH);
    fp_buf_add(&detail, "", 1);
    assert_string_equal(
        (const char *)detail.data,
        "/nonexistent/spool: the spool's directory cannot be used: No such file or directory");
    fp_buf_release(&detail);
}

static void makes_its_directory(void **state)
{
    struct fixture *fixture = *state;
    char path[128];
    snprintf(path, sizeof(path), "%s/new", fixture->path);
    fixture->settings.path = path;
    open_spool(fixture);
    append_range(fixture->spool, 1, 1);
    reopen_spool(fixture);
    expect_range(fixture->spool, 0, 1, 1);
}

static void a_renewed_id_stays(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 5);
    reopen_spool(fixture);
    struct fp_uuid old = fp_spool_id(fixture->spool);
    assert_int_equal(fp_spool_renew_id(fixture->spool), FP_SPOOL_OK);
    struct fp_uuid renewed = fp_spool_id(fixture->spool);
    assert_false(fp_uuid_equal(&old, &renewed));
    reopen_spool(fixture);
    struct fp_uuid after_restart = fp_spool_id(fixture->spool);
    assert_true(fp_uuid_equal(&renewed, &after_restart));
    expect_range(fixture->spool, 0, 1, 5);
    append_range(fixture->spool, 6, 6);
    assert_int_equal(fp_spool_tail(fixture->spool), 6);
}

static void sets_a_refused_record_aside_below_a_ceiling(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.max_bytes = 1 << 20; /* the ceiling is 128 KiB */
    open_spool(fixture);
    append_range(fixture->spool, 1, 3);
    struct fp_spool_batch batch;
    assert_int_equal(fp_spool_read(fixture->spool, 1, 1, 1, &batch), FP_SPOOL_OK);
    assert_int_equal(fp_spool_quarantine(fixture->spool, &batch.records[0], "why"), FP_SPOOL_OK);
    char path[512];
    assert_true(find_file(fixture, "refused-", "0002", 0, path));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, batch.records[0].len);
    reopen_spool(fixture); /* what is there still counts */
    static const uint8_t large[128 << 10];
    const struct fp_spool_record too_much = {77, large, sizeof(large)};
    assert_int_equal(fp_spool_quarantine(fixture->spool, &too_much, "why"), FP_SPOOL_FULL);
    assert_int_equal(count_files(fixture, "refused-", ""), 2);
    assert_int_equal(count_files(fixture, "refused-", "0002.reason"), 1);
}

static void every_error_has_its_words(void **state)
{
    (void)state;
    /* By error: words that say what the operator has to look at. */
    static const char *const words[] = {
        [FP_SPOOL_OK] = "no error",
        [FP_SPOOL_FULL] = "is full",
        [FP_SPOOL_IO] = "cannot be written",
        [FP_SPOOL_STOPPING] = "is closing",
        [FP_SPOOL_TOO_LONG] = "record is too long",
        [FP_SPOOL_LOCKED] = "another process",
        [FP_SPOOL_NO_PATH] = "directory cannot be used",
        [FP_SPOOL_MEMORY] = "out of memory",
    };
    assert_int_equal(FP_COUNT(error_texts), FP_COUNT(words));
    for (enum fp_spool_error error = FP_SPOOL_OK; error < FP_COUNT(words); error++)
        assert_non_null(strstr(fp_spool_error_text(error), words[error]));
}

#define SPOOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPOOL_TEST(gives_back_what_was_appended_in_order),
        SPOOL_TEST(still_has_everything_after_a_restart),
        SPOOL_TEST(reads_at_most_what_was_asked_for_but_never_nothing),
        SPOOL_TEST(reads_the_same_batch_again),
        SPOOL_TEST(sees_records_committed_since_the_last_read),
        SPOOL_TEST(takes_records_of_no_bytes_and_of_a_whole_segment),
        SPOOL_TEST(remembers_the_position_over_a_restart),
        SPOOL_TEST(keeps_trimmed_segments_for_a_while),
        SPOOL_TEST(goes_back_to_a_position_and_stays_there_over_a_restart),
        SPOOL_TEST(says_how_many_records_it_can_no_longer_go_back_to),
        SPOOL_TEST(deletes_trimmed_segments_and_no_other_when_their_time_is_over),
        SPOOL_TEST(never_repeats_a_sequence_number_even_when_all_is_trimmed),
        SPOOL_TEST(never_repeats_a_sequence_number_even_when_the_files_are_gone),
        SPOOL_TEST(is_full_at_max_bytes_and_recovers_by_a_trim),
        SPOOL_TEST(wakes_the_reader_when_a_record_is_committed),
        SPOOL_TEST(commits_what_is_queued_when_it_is_closed),
        SPOOL_TEST(two_processes_never_share_a_spool),
        SPOOL_TEST(says_why_a_directory_cannot_be_used),
        SPOOL_TEST(makes_its_directory),
        SPOOL_TEST(a_renewed_id_stays),
        SPOOL_TEST(sets_a_refused_record_aside_below_a_ceiling),
        cmocka_unit_test(every_error_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
