/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan: finds every valid record of a file, and nothing else, in bounded memory and time.
 */
#include "test.h"

#include "collector/spool/bytes.h"
#include "collector/spool/scan.c"

/* A file in memory. */
struct memory_file {
    const uint8_t *bytes;
    size_t len;
    size_t bad_sector; /* reads that touch it fail; SIZE_MAX: none */
    size_t read_bytes;
};

static ssize_t read_memory(void *context, int file, void *bytes, size_t len, uint64_t offset)
{
    struct memory_file *memory = context;
    (void)file;
    if (offset >= memory->len)
        return 0;
    if (len > memory->len - offset)
        len = (size_t)(memory->len - offset);
    if (offset / SECTOR_LEN <= memory->bad_sector &&
        (offset + len - 1) / SECTOR_LEN >= memory->bad_sector) {
        errno = EIO;
        return -1;
    }
    memcpy(bytes, memory->bytes + offset, len);
    memory->read_bytes += len;
    return (ssize_t)len;
}

static const struct fp_uuid segment_id = {{9, 9, 9}};

/* Writes a record at an offset. Returns the next one's offset. */
static size_t put_record(uint8_t *file, size_t offset, uint64_t sequence, size_t len)
{
    memset(file + offset + FP_SPOOL_FRAME_HEADER_LEN, (int)sequence, len);
    fp_spool_frame_finish(file + offset, len, sequence, &segment_id);
    return offset + (size_t)fp_spool_frame_len(len);
}

static struct fp_spool_scan begin(struct fp_file_ops *ops, struct memory_file *memory)
{
    *ops = (struct fp_file_ops){.context = memory, .read_at = read_memory};
    struct fp_spool_scan scan = {.ops = ops};
    fp_spool_scan_begin(&scan, 0, &segment_id, 0, 0);
    scan.end = memory->len;
    return scan;
}

static void expect_record(struct fp_spool_scan *scan, uint64_t sequence, size_t len)
{
    struct fp_spool_scan_item item;
    assert_int_equal(fp_spool_scan_next(scan, &item), FP_SPOOL_SCAN_RECORD);
    assert_int_equal(item.sequence, sequence);
    assert_int_equal(item.bytes_len, len);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(item.bytes[i], (uint8_t)sequence);
}

static void finds_records_of_any_length_across_its_windows(void **state)
{
    (void)state;
    size_t file_len = 8 << 20;
    uint8_t *file = calloc(1, file_len);
    struct memory_file memory = {file, file_len, SIZE_MAX, 0};
    struct fp_file_ops ops;
    static const size_t lengths[] = {0, 1, 100, 300000, 20, 2000000, 4, 262144, 65536};
    enum { COUNT = FP_COUNT(lengths) };
    size_t offset = 0;
    for (size_t i = 0; i < COUNT; i++)
        offset = put_record(file, offset, i + 1, lengths[i]);
    struct fp_spool_scan scan = begin(&ops, &memory);
    for (size_t i = 0; i < COUNT; i++)
        expect_record(&scan, i + 1, lengths[i]);
    struct fp_spool_scan_item item;
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_END);
    assert_int_equal(item.offset, offset);
    assert_int_equal(item.garbage_len, 0);
    assert_true(scan.window_cap < 2 * WINDOW_LEN); /* what the long one took is given back */
    fp_spool_scan_release(&scan);
    free(file);
}

static void looks_no_further_than_its_end(void **state)
{
    (void)state;
    uint8_t file[4096] = {0};
    struct memory_file memory = {file, sizeof(file), SIZE_MAX, 0};
    struct fp_file_ops ops;
    size_t second = put_record(file, 0, 1, 10);
    size_t third = put_record(file, second, 2, 10);
    struct fp_spool_scan scan = begin(&ops, &memory);
    scan.end = third - 1;
    expect_record(&scan, 1, 10);
    struct fp_spool_scan_item item;
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_END);
    assert_int_equal(item.offset, second);
    scan.end = third; /* it was committed meanwhile */
    scan.window_len = 0;
    expect_record(&scan, 2, 10);
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_END);
    assert_int_equal(item.len, 0);
    scan.end = 0; /* a file that became shorter than it was */
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_END);
    assert_int_equal(item.len, 0);
    fp_spool_scan_release(&scan);
}

static void reports_damage_and_then_the_record_behind_it(void **state)
{
    (void)state;
    uint8_t file[4096] = {0};
    struct memory_file memory = {file, sizeof(file), SIZE_MAX, 0};
    struct fp_file_ops ops;
    size_t second = put_record(file, 0, 1, 10);
    size_t third = put_record(file, second, 2, 100);
    size_t fourth = put_record(file, third, 3, 50);
    size_t end = put_record(file, fourth, 4, 10);
    file[second + 3] ^= 1;   /* a header */
    file[third + 40] ^= 1;   /* a payload */
    file[end + 1000] = 0xaa; /* behind the last record */
    struct fp_spool_scan scan = begin(&ops, &memory);
    expect_record(&scan, 1, 10);
    struct fp_spool_scan_item item;
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_DAMAGED);
    assert_int_equal(item.offset, second);
    assert_int_equal(item.len, fourth - second);
    expect_record(&scan, 4, 10);
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_END);
    assert_int_equal(item.offset, end);
    assert_int_equal(item.len, sizeof(file) - end);
    assert_int_equal(item.garbage_len, 1001);
    fp_spool_scan_release(&scan);
}

static void does_not_go_back_in_sequence(void **state)
{
    (void)state;
    uint8_t file[4096] = {0};
    struct memory_file memory = {file, sizeof(file), SIZE_MAX, 0};
    struct fp_file_ops ops;
    size_t offset = put_record(file, 0, 5, 10);
    offset = put_record(file, offset, 5, 10);
    offset = put_record(file, offset, 4, 10);
    put_record(file, offset, 6, 10);
    struct fp_spool_scan scan = begin(&ops, &memory);
    expect_record(&scan, 5, 10);
    struct fp_spool_scan_item item;
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_DAMAGED);
    expect_record(&scan, 6, 10);
    fp_spool_scan_release(&scan);
}

static void a_sector_that_cannot_be_read_costs_only_the_records_on_it(void **state)
{
    (void)state;
    enum { COUNT = 100 };
    size_t file_len = 1 << 20;
    uint8_t *file = calloc(1, file_len);
    struct memory_file memory = {file, file_len, 3, 0};
    struct fp_file_ops ops;
    size_t offset = 0;
    size_t first_bad = 0;
    size_t first_good = 0;
    for (size_t n = 1; n <= COUNT; n++) {
        size_t next = put_record(file, offset, n, 1000);
        if (first_bad == 0 && next > (size_t)3 * SECTOR_LEN)
            first_bad = n;
        if (first_good == 0 && offset >= (size_t)4 * SECTOR_LEN)
            first_good = n;
        offset = next;
    }
    struct fp_spool_scan scan = begin(&ops, &memory);
    for (size_t n = 1; n < first_bad; n++)
        expect_record(&scan, n, 1000);
    struct fp_spool_scan_item item;
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_DAMAGED);
    for (size_t n = first_good; n <= COUNT; n++)
        expect_record(&scan, n, 1000);
    assert_true(scan.unreadable_bytes >= SECTOR_LEN);
    fp_spool_scan_release(&scan);
    free(file);
}

/* A million headers that claim long payloads: none may cost a checksum over what it claims. */
static void garbage_that_looks_like_headers_takes_linear_time(void **state)
{
    (void)state;
    size_t file_len = 4 << 20;
    uint8_t *file = calloc(1, file_len);
    struct memory_file memory = {file, file_len, SIZE_MAX, 0};
    struct fp_file_ops ops;
    for (size_t at = 0; at + 24 <= file_len - 64; at += 24) {
        put_u32(file + at, 3 << 20);
        put_u64(file + at + 8, at + 1);
    }
    put_record(file, file_len - 32, 7, 5);
    struct fp_spool_scan scan = begin(&ops, &memory);
    struct fp_spool_scan_item item;
    assert_int_equal(fp_spool_scan_next(&scan, &item), FP_SPOOL_SCAN_DAMAGED);
    assert_int_equal(item.len, file_len - 32);
    expect_record(&scan, 7, 5);
    assert_true(memory.read_bytes < 3 * file_len);
    assert_int_equal(scan.window_cap, WINDOW_LEN);
    fp_spool_scan_release(&scan);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_records_of_any_length_across_its_windows),
        cmocka_unit_test(looks_no_further_than_its_end),
        cmocka_unit_test(reports_damage_and_then_the_record_behind_it),
        cmocka_unit_test(does_not_go_back_in_sequence),
        cmocka_unit_test(a_sector_that_cannot_be_read_costs_only_the_records_on_it),
        cmocka_unit_test(garbage_that_looks_like_headers_takes_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
