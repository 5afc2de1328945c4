/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery: whatever happened to the files, the spool starts and reads every valid record.
 */
#include "files.h"

#include "collector/spool/recover.c"
#include "collector/spool/state.h"

/* Writes records 1..count to one closed file, and takes a snapshot. */
static void make_files(struct fixture *fixture, uint64_t count, struct snapshot *snapshot)
{
    fixture->settings.segment_bytes = 1 << 20;
    open_spool(fixture);
    append_range(fixture->spool, 1, count);
    close_spool(fixture);
    take_snapshot(fixture, snapshot);
}

/* Appends one more record, and checks that it and the earlier ones survive. */
static void expect_life_goes_on(struct fixture *fixture, uint64_t last)
{
    assert_int_equal(append_record(fixture->spool, last + 1), FP_SPOOL_OK);
    reopen_spool(fixture);
    expect_range(fixture->spool, 0, 1, last + 1);
}

/* Record 28 is short. */
static void cuts_a_torn_tail_at_every_byte(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    make_files(fixture, 28, &snapshot);
    struct file_copy *segment = segment_of(&snapshot, 0);
    size_t whole = segment->len;
    size_t start = offset_of(1, 28);
    assert_int_equal(whole - start, 72);
    uint8_t *original = malloc(whole);
    memcpy(original, segment->bytes, whole);
    for (size_t cut = start; cut < whole; cut++) {
        /* Cut short, followed by zeros, followed by anything. */
        for (int tail = 0; tail < 3; tail++) {
            memcpy(segment->bytes, original, whole);
            segment->len = tail == 0 ? cut : whole;
            for (size_t at = cut; tail > 0 && at < whole; at++)
                segment->bytes[at] = tail == 1 ? 0 : (uint8_t)(original[at] ^ 0x5a);
            restore_snapshot(fixture, &snapshot);
            open_spool(fixture);
            assert_int_equal(fp_spool_tail(fixture->spool), 27);
            expect_range(fixture->spool, 0, 1, 27);
            close_spool(fixture);
        }
    }
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES), 0);
    open_spool(fixture);
    expect_life_goes_on(fixture, 27);
    free(original);
    free_snapshot(&snapshot);
}

static void sets_aside_one_flipped_byte_and_keeps_all_other_records(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    make_files(fixture, 40, &snapshot);
    struct file_copy *segment = segment_of(&snapshot, 0);
    size_t start = offset_of(1, 28);
    size_t end = offset_of(1, 29);
    for (size_t at = start; at < end; at++) {
        segment->bytes[at] ^= 0x10;
        restore_snapshot(fixture, &snapshot);
        int64_t damaged = metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES);
        for (int time = 0; time < 2; time++) {
            open_spool(fixture);
            uint64_t numbers[40];
            assert_int_equal(read_numbers(fixture->spool, 0, numbers, 40), 39);
            assert_int_equal(numbers[26], 27);
            assert_int_equal(numbers[27], 29);
            close_spool(fixture);
            /* Quarantined and counted once, although recovery and reader find it at each start. */
            assert_int_equal(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES) - damaged, end - start);
        }
        char path[512];
        assert_int_equal(count_files(fixture, "damaged-", ""), 1);
        assert_true(find_file(fixture, "damaged-", "", 0, path));
        struct file_copy aside = load_file(path);
        assert_int_equal(aside.len, end - start);
        assert_memory_equal(aside.bytes, segment->bytes + start, end - start);
        free(aside.bytes);
        segment->bytes[at] ^= 0x10;
    }
    free_snapshot(&snapshot);
}

static void keeps_the_records_between_two_damaged_ranges(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    make_files(fixture, 40, &snapshot);
    uint8_t *bytes = segment_of(&snapshot, 0)->bytes;
    memset(bytes + offset_of(1, 3) + 5, 0xff, offset_of(1, 6) - offset_of(1, 3));
    memset(bytes + offset_of(1, 20), 0, offset_of(1, 21) - offset_of(1, 20));
    restore_snapshot(fixture, &snapshot);
    open_spool(fixture);
    uint64_t numbers[40];
    assert_int_equal(read_numbers(fixture->spool, 0, numbers, 40), 35);
    assert_int_equal(numbers[1], 2);
    assert_int_equal(numbers[2], 7);
    assert_int_equal(numbers[14], 19);
    assert_int_equal(numbers[15], 21);
    assert_int_equal(count_files(fixture, "damaged-", ""), 2);
    assert_int_equal(fp_spool_tail(fixture->spool), 40);
    free_snapshot(&snapshot);
}

/* In a file with a successor even the last bytes were committed: nothing is cut silently. */
static void sets_aside_damage_at_the_end_of_an_older_segment(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    reopen_spool(fixture);
    append_range(fixture->spool, 11, 20);
    close_spool(fixture);
    take_snapshot(fixture, &snapshot);
    struct file_copy *older = segment_of(&snapshot, 0);
    size_t damage = older->len - offset_of(1, 9);
    memset(older->bytes + offset_of(1, 9), 0, damage);
    restore_snapshot(fixture, &snapshot);
    open_spool(fixture);
    uint64_t numbers[20];
    assert_int_equal(read_numbers(fixture->spool, 0, numbers, 20), 18);
    assert_int_equal(numbers[7], 8);
    assert_int_equal(numbers[8], 11);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES), damage);
    close_spool(fixture);

    older->len = offset_of(1, 5); /* cut off instead */
    restore_snapshot(fixture, &snapshot);
    open_spool(fixture);
    assert_int_equal(read_numbers(fixture->spool, 0, numbers, 20), 14);
    assert_true(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES) > (int64_t)damage);
    free_snapshot(&snapshot);
}

static void never_replays_stale_bytes_of_a_reused_file(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    open_spool(fixture);
    append_range(fixture->spool, 1, 30);
    reopen_spool(fixture);
    append_range(fixture->spool, 31, 35);
    close_spool(fixture);
    take_snapshot(fixture, &snapshot);
    struct file_copy *old = segment_of(&snapshot, 0);
    struct file_copy *newest = segment_of(&snapshot, 1);
    /* The new file is in the same place on disk: after its own end come the old file's records. */
    size_t len = newest->len;
    uint8_t *reused = malloc(old->len + 4096);
    memcpy(reused, old->bytes, old->len);
    memcpy(reused, newest->bytes, len);
    /* And, at the very end, one of its own records again. */
    size_t again = offset_of(31, 32) - offset_of(31, 31);
    memcpy(reused + old->len, newest->bytes + offset_of(31, 31), again);
    free(newest->bytes);
    newest->bytes = reused;
    newest->len = old->len + again;
    restore_snapshot(fixture, &snapshot);
    open_spool(fixture);
    expect_range(fixture->spool, 0, 1, 35);
    expect_life_goes_on(fixture, 35);
    free_snapshot(&snapshot);
}

static void keeps_and_skips_a_segment_of_an_unknown_version(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    reopen_spool(fixture);
    append_range(fixture->spool, 11, 20);
    close_spool(fixture);
    take_snapshot(fixture, &snapshot);
    struct file_copy *segment = segment_of(&snapshot, 0);
    segment->bytes[8] = 99;
    segment->bytes[FP_SPOOL_SEGMENT_HEADER_LEN / 2 + 8] = 99;
    restore_snapshot(fixture, &snapshot);
    fixture->settings.keep_us = 0;
    open_spool(fixture);
    expect_range(fixture->spool, 0, 11, 20);
    append_range(fixture->spool, 21, 21);
    assert_int_equal(fp_spool_trim(fixture->spool, fp_spool_tail(fixture->spool)), FP_SPOOL_OK);
    reopen_spool(fixture);
    struct file_copy kept = load_file(segment->path);
    assert_int_equal(kept.len, segment->len);
    assert_memory_equal(kept.bytes, segment->bytes, kept.len);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES), 0);
    free(kept.bytes);
    free_snapshot(&snapshot);
}

static void starts_with_foreign_files_among_its_own(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 5);
    close_spool(fixture);
    static const char *const names[] = {
        "0000000000000000.seg",
        "00000000000000ff.seg",
        "0000000000000005.SEG",
        "fffffffffffffffe.seg",
        "notes.txt",
        "1.seg",
    };
    static const uint8_t nonsense[10000] = "not a segment";
    char path[512];
    for (size_t i = 0; i < FP_COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", fixture->path, names[i]);
        store_bytes(path, nonsense, i % 2 == 0 ? sizeof(nonsense) : i);
    }
    snprintf(path, sizeof(path), "%s/%s", fixture->path, "0000000000000100.seg");
    assert_int_equal(mkdir(path, 0700), 0);
    static const char *const pipes[] = {"0000000000000101.seg", "refused-0000000000000001"};
    for (size_t i = 0; i < FP_COUNT(pipes); i++) {
        snprintf(path, sizeof(path), "%s/%s", fixture->path, pipes[i]);
        assert_int_equal(mkfifo(path, 0600), 0);
    }
    open_spool(fixture);
    expect_range(fixture->spool, 0, 1, 5);
    for (size_t i = 0; i < FP_COUNT(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", fixture->path, names[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
}

static void goes_on_behind_a_newest_segment_that_cannot_be_read(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    open_spool(fixture);
    append_range(fixture->spool, 1, 5);
    reopen_spool(fixture);
    append_range(fixture->spool, 6, 10);
    close_spool(fixture);
    take_snapshot(fixture, &snapshot);
    struct file_copy *newest = segment_of(&snapshot, 1);
    memset(newest->bytes, 0, FP_SPOOL_SEGMENT_HEADER_LEN);
    for (size_t i = 0; i < snapshot.count; i++) /* nor is there a state */
        if (strstr(snapshot.files[i].path, "state") != NULL)
            snapshot.files[i].len = 0;
    restore_snapshot(fixture, &snapshot);
    open_spool(fixture);
    expect_range(fixture->spool, 0, 1, 5);
    assert_int_equal(append_record(fixture->spool, 6), FP_SPOOL_OK);
    assert_true(fp_spool_tail(fixture->spool) > 10); /* its numbers are not used again */
    expect_range(fixture->spool, 0, 1, 6);
    assert_int_equal(metric(fixture, FP_METRIC_SPOOL_DAMAGED_BYTES), newest->len);
    free_snapshot(&snapshot);
}

static void reads_the_second_copy_of_a_damaged_header(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    make_files(fixture, 10, &snapshot);
    for (size_t copy = 0; copy < 2; copy++) {
        uint8_t *bytes = segment_of(&snapshot, 0)->bytes;
        bytes[copy * FP_SPOOL_SEGMENT_HEADER_LEN / 2 + 40] ^= 1;
        restore_snapshot(fixture, &snapshot);
        open_spool(fixture);
        expect_range(fixture->spool, 0, 1, 10);
        close_spool(fixture);
        bytes[copy * FP_SPOOL_SEGMENT_HEADER_LEN / 2 + 40] ^= 1;
    }
    free_snapshot(&snapshot);
}

static void does_not_replay_a_copy_under_another_name(void **state)
{
    struct fixture *fixture = *state;
    struct snapshot snapshot;
    make_files(fixture, 10, &snapshot);
    const struct file_copy *segment = segment_of(&snapshot, 0);
    char path[512];
    snprintf(path, sizeof(path), "%s/0000000000000009.seg", fixture->path);
    store_bytes(path, segment->bytes, segment->len);
    open_spool(fixture);
    expect_range(fixture->spool, 0, 1, 10);
    expect_life_goes_on(fixture, 10);
    free_snapshot(&snapshot);
}

static void removes_unfinished_files(void **state)
{
    struct fixture *fixture = *state;
    char path[512];
    snprintf(path, sizeof(path), "%s/0000000000000001.seg.tmp", fixture->path);
    store_bytes(path, (const uint8_t *)"half", 4);
    open_spool(fixture);
    assert_int_equal(access(path, F_OK), -1);
    append_range(fixture->spool, 1, 2);
}

static void starts_without_a_usable_state_and_keeps_its_id(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    assert_int_equal(fp_spool_trim(fixture->spool, 5), FP_SPOOL_OK);
    struct fp_uuid id = fp_spool_id(fixture->spool);
    close_spool(fixture);
    char path[512];
    snprintf(path, sizeof(path), "%s/state", fixture->path);
    struct file_copy copy = load_file(path);
    for (size_t at = 0; at < copy.len; at++) {
        copy.bytes[at] ^= 0x40;
        store_bytes(path, copy.bytes, copy.len);
        copy.bytes[at] ^= 0x40;
        open_spool(fixture);
        struct fp_uuid same = fp_spool_id(fixture->spool);
        bool is_padding = at >= 12 && at < 16;
        assert_true(is_padding || fp_spool_position(fixture->spool) == 0);
        assert_true(fp_uuid_equal(&id, &same));
        close_spool(fixture);
    }
    assert_int_equal(count_files(fixture, "damaged-state", ""), 1);
    open_spool(fixture);
    expect_range(fixture->spool, 0, 1, 10);
    free(copy.bytes);
}

/* The checksum is correct: somebody wrote it. */
static void does_not_believe_a_state_whose_numbers_are_impossible(void **state)
{
    struct fixture *fixture = *state;
    static const struct fp_spool_state impossible[] = {
        {.position = 100, .tail = 10, .next_sequence = 11},
        {.position = 5, .tail = 10, .next_sequence = 10},
        {.position = 5, .tail = 10, .next_sequence = 0},
        {.position = 5, .tail = UINT64_MAX - 1, .next_sequence = UINT64_MAX},
    };
    const struct fp_file_ops *ops = fp_file_ops_real();
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    close_spool(fixture);
    for (size_t i = 0; i < FP_COUNT(impossible); i++) {
        int dir = ops->open_dir(ops->context, fixture->path);
        assert_true(fp_spool_state_write(ops, dir, &impossible[i]));
        ops->close(ops->context, dir);
        open_spool(fixture);
        assert_int_equal(fp_spool_position(fixture->spool), 0);
        assert_int_equal(fp_spool_tail(fixture->spool), 10 + i);
        append_range(fixture->spool, 11 + i, 11 + i);
        expect_range(fixture->spool, 0, 1, 11 + i);
        close_spool(fixture);
    }
    open_spool(fixture);
}

/* The reader is the first to meet damage that occurs after the commit. */
static void the_reader_passes_damage_that_came_after_the_start(void **state)
{
    struct fixture *fixture = *state;
    open_spool(fixture);
    append_range(fixture->spool, 1, 10);
    reopen_spool(fixture);
    char path[512];
    assert_true(find_file(fixture, "", ".seg", 0, path));
    struct file_copy copy = load_file(path);
    memset(copy.bytes + offset_of(1, 4), 0xee, 100);
    memset(copy.bytes + offset_of(1, 10), 0xee, 100);
    store_bytes(path, copy.bytes, copy.len);
    uint64_t numbers[10];
    assert_int_equal(read_numbers(fixture->spool, 0, numbers, 10), 8);
    assert_int_equal(numbers[3], 5);
    assert_int_equal(numbers[7], 9);
    assert_int_equal(count_files(fixture, "damaged-", ""), 2);
    assert_false(fp_spool_wait(fixture->spool, 9, 0)); /* no use in waiting for what is lost */
    append_range(fixture->spool, 11, 11);
    assert_true(fp_spool_wait(fixture->spool, 9, 0));
    expect_range(fixture->spool, 9, 11, 11);
    free(copy.bytes);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Damages a few random ranges of the records. hit[n]: record n was touched. */
static void damage_at_random(struct file_copy *segment, uint64_t count, uint64_t *seed, bool *hit)
{
    for (uint64_t i = next_random(seed) % 6; i > 0; i--) {
        size_t area = segment->len - FP_SPOOL_SEGMENT_HEADER_LEN;
        size_t start = FP_SPOOL_SEGMENT_HEADER_LEN + (size_t)(next_random(seed) % area);
        size_t len = 1 + (size_t)(next_random(seed) % 3000);
        len = len < segment->len - start ? len : segment->len - start;
        for (size_t at = start; at < start + len; at++)
            segment->bytes[at] = (uint8_t)(next_random(seed) % 4 == 0 ? 0 : next_random(seed));
        for (uint64_t n = 1; n <= count; n++)
            if (start < offset_of(1, n + 1) && start + len > offset_of(1, n))
                hit[n] = true;
    }
}

static void every_record_that_was_not_touched_survives_any_damage(void **state)
{
    struct fixture *fixture = *state;
    enum { COUNT = 100 };
    struct snapshot snapshot;
    make_files(fixture, COUNT, &snapshot);
    struct file_copy *segment = segment_of(&snapshot, 0);
    uint8_t *original = malloc(segment->len);
    memcpy(original, segment->bytes, segment->len);
    for (uint64_t round = 1; round <= 100; round++) {
        uint64_t seed = round * UINT64_C(0x9e3779b97f4a7c15);
        bool hit[COUNT + 1] = {false};
        damage_at_random(segment, COUNT, &seed, hit);
        restore_snapshot(fixture, &snapshot);
        open_spool(fixture);
        uint64_t numbers[COUNT];
        size_t count = read_numbers(fixture->spool, 0, numbers, COUNT);
        size_t at = 0;
        for (uint64_t n = 1; n <= COUNT; n++) {
            bool read = at < count && numbers[at] == n;
            at += read;
            assert_true(read || hit[n]);
        }
        assert_int_equal(at, count);
        close_spool(fixture);
        memcpy(segment->bytes, original, segment->len);
    }
    free(original);
    free_snapshot(&snapshot);
}

/* No "buffer full" after a crash because of counters that drifted: ours are computed from the
 * files. */
static void many_restarts_do_not_fill_the_spool(void **state)
{
    struct fixture *fixture = *state;
    fixture->settings.segment_bytes = 1 << 20;
    fixture->settings.max_bytes = 4 << 20;
    for (uint64_t n = 1; n <= 50; n++) {
        open_spool(fixture);
        assert_int_equal(append_record(fixture->spool, n), FP_SPOOL_OK);
        close_spool(fixture);
        open_spool(fixture); /* and one start for nothing */
        close_spool(fixture);
    }
    open_spool(fixture);
    expect_range(fixture->spool, 0, 1, 50);
    wait_for_segments(fixture, 51); /* empty ones are deleted, except the newest */
}

static void a_segment_ends_where_its_successor_says(void **state)
{
    (void)state;
    static const struct {
        uint64_t first_sequence, tail, previous_end, last_sequence, end;
    } cases[] = {
        {5, 7, 8192, 7, 8192},
        {5, 5, 8192, 5, 8192},
        {5, 4, 4096, 0, 4096},
        {5, 7, 9999, 7, 9000},
    };
    for (size_t i = 0; i < FP_COUNT(cases); i++) {
        struct fp_spool_table_segment segment = {.first_sequence = cases[i].first_sequence,
                                                 .end = 9000};
        const struct fp_spool_segment_header successor = {.tail = cases[i].tail,
                                                          .previous_end = cases[i].previous_end};
        end_at_successor(&segment, &successor);
        assert_int_equal(segment.last_sequence, cases[i].last_sequence);
        assert_int_equal(segment.end, cases[i].end);
    }
}

#define SPOOL_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SPOOL_TEST(cuts_a_torn_tail_at_every_byte),
        SPOOL_TEST(sets_aside_one_flipped_byte_and_keeps_all_other_records),
        SPOOL_TEST(keeps_the_records_between_two_damaged_ranges),
        SPOOL_TEST(sets_aside_damage_at_the_end_of_an_older_segment),
        SPOOL_TEST(never_replays_stale_bytes_of_a_reused_file),
        SPOOL_TEST(keeps_and_skips_a_segment_of_an_unknown_version),
        SPOOL_TEST(starts_with_foreign_files_among_its_own),
        SPOOL_TEST(goes_on_behind_a_newest_segment_that_cannot_be_read),
        SPOOL_TEST(reads_the_second_copy_of_a_damaged_header),
        SPOOL_TEST(does_not_replay_a_copy_under_another_name),
        SPOOL_TEST(removes_unfinished_files),
        SPOOL_TEST(starts_without_a_usable_state_and_keeps_its_id),
        SPOOL_TEST(does_not_believe_a_state_whose_numbers_are_impossible),
        SPOOL_TEST(the_reader_passes_damage_that_came_after_the_start),
        SPOOL_TEST(every_record_that_was_not_touched_survives_any_damage),
        SPOOL_TEST(a_segment_ends_where_its_successor_says),
        SPOOL_TEST(many_restarts_do_not_fill_the_spool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
