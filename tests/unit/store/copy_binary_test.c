/*
 * COPY BINARY: the bytes of each kind of column, as PostgreSQL's manual describes them.
 */
#include "tests/unit/unit.h"

#include "collector/store/copy_binary.c"

/* Encodes one row of a target and gives what follows the field count. */
static struct fp_buf encode(enum fp_target_id id, const void *row)
{
    struct fp_buf out;
    fp_buf_init(&out, 4096);
    fp_copy_row(fp_target(id), row, &out);
    assert_false(out.failed);
    assert_int_equal(out.data[0] << 8 | out.data[1], fp_target(id)->column_count);
    memmove(out.data, out.data + 2, out.len - 2);
    out.len -= 2;
    return out;
}

static void assert_bytes(struct fp_buf *out, const char *expected, size_t len)
{
    assert_int_equal(out->len, len);
    assert_memory_equal(out->data, expected, len);
    fp_buf_release(out);
}

#define ASSERT_BYTES(out, literal) assert_bytes(&(out), literal, sizeof(literal) - 1)

static void frames_the_rows(void **state)
{
    (void)state;
    struct fp_buf out;
    fp_buf_init(&out, 100);
    fp_copy_begin(&out);
    fp_copy_end(&out);
    ASSERT_BYTES(out, "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0\377\377");
}

static void writes_names_numbers_and_nulls(void **state)
{
    (void)state;
    const struct fp_frame_row named = {
        .frame_id = -2,
        .resource_id = 0x0102030405060708,
        .function = FP_STR("go"),
        .line = 258,
        .column = 0,
        .kind = FP_FRAME_FUNCTION,
    };
    struct fp_buf out = encode(FP_TARGET_FRAME, &named);
    ASSERT_BYTES(out, "\0\0\0\10\377\377\377\377\377\377\377\376"
                      "\0\0\0\2go"
                      "\0\0\0\10\1\2\3\4\5\6\7\10"
                      "\0\0\0\4\0\0\1\2"
                      "\0\0\0\4\0\0\0\0"
                      "\0\0\0\10function");
    const struct fp_frame_row bare = {
        .frame_id = 1,
        .function = FP_STR(""),
        .line = FP_POSITION_NONE,
        .column = FP_POSITION_NONE,
        .kind = FP_FRAME_BUILTIN,
    };
    out = encode(FP_TARGET_FRAME, &bare);
    ASSERT_BYTES(out, "\0\0\0\10\0\0\0\0\0\0\0\1"
                      "\0\0\0\0"
                      "\377\377\377\377"
                      "\377\377\377\377"
                      "\377\377\377\377"
                      "\0\0\0\7builtin");
}

static void writes_times_from_the_year_2000_and_markers_by_name(void **state)
{
    (void)state;
    const struct fp_marker_fact fact = {
        .key = {.segment_id = 1, .bucket_us = INT64_C(946684800000001), .part = FP_MARKER_LAYOUT},
        .samples = 2,
        .self_us = 3,
    };
    struct fp_buf out = encode(FP_TARGET_MARKER_FACT, &fact);
    ASSERT_BYTES(out, "\0\0\0\10\0\0\0\0\0\0\0\1"
                      "\0\0\0\10\0\0\0\0\0\0\0\1"
                      "\0\0\0\6layout"
                      "\0\0\0\10\0\0\0\0\0\0\0\2"
                      "\0\0\0\10\0\0\0\0\0\0\0\3");
}

static void writes_smallints(void **state)
{
    (void)state;
    const struct fp_timing_bin_fact fact = {
        .key = {.bucket_us = INT64_C(946684800000000), .part = 1601}, .count = 1};
    struct fp_buf out = encode(FP_TARGET_TIMING_BIN_FACT, &fact);
    ASSERT_BYTES(out, "\0\0\0\10\0\0\0\0\0\0\0\0"
                      "\0\0\0\10\0\0\0\0\0\0\0\0"
                      "\0\0\0\10\0\0\0\0\0\0\0\0"
                      "\0\0\0\2\6\101"
                      "\0\0\0\10\0\0\0\0\0\0\0\1");
}

static void writes_doubles(void **state)
{
    (void)state;
    const struct fp_timing_fact fact = {.key = {.bucket_us = INT64_C(946684800000000)},
                                        .sum_us = -1.5};
    struct fp_buf out = encode(FP_TARGET_TIMING_FACT, &fact);
    /* segment_id, bucket, timing_id, uploads, count, negative; then sum_us */
    assert_memory_equal(out.data + 6 * 12, "\0\0\0\10\277\370\0\0\0\0\0\0", 12);
    fp_buf_release(&out);
}

static void writes_uuids_and_booleans_and_leaves_an_absent_load_out(void **state)
{
    (void)state;
    struct fp_upload_row upload = {
        .id = {{1, 2, 3}},
        .load = {{9}},
        .has_load = true,
        .bucket_us = INT64_C(946684800000000),
        .received_us = INT64_C(946684800000000),
        .truncated = true,
    };
    /* segment_id, bucket, upload_id, received; then load_id and seven columns to truncated */
    struct fp_buf out = encode(FP_TARGET_UPLOAD, &upload);
    assert_memory_equal(out.data + 24, "\0\0\0\20\1\2\3\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    assert_memory_equal(out.data + 56, "\0\0\0\20\11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    assert_memory_equal(out.data + 76 + 8, "\0\0\0\14self-profile\0\0\0\0\0\0\0\1\1", 25);
    fp_buf_release(&out);
    upload.has_load = false;
    out = encode(FP_TARGET_UPLOAD, &upload);
    assert_memory_equal(out.data + 56, "\377\377\377\377\0\0\0\4", 8);
    fp_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_the_rows),
        cmocka_unit_test(writes_names_numbers_and_nulls),
        cmocka_unit_test(writes_times_from_the_year_2000_and_markers_by_name),
        cmocka_unit_test(writes_smallints),
        cmocka_unit_test(writes_doubles),
        cmocka_unit_test(writes_uuids_and_booleans_and_leaves_an_absent_load_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
