/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COPY BINARY: the bytes of each kind of column, as PostgreSQL's manual describes them.
 */
#include "tests/unit/unit.h"

#include "collector/store/copy_binary.c"

/* Encodes one row of a table and returns the bytes after the field count. */
static struct fp_buf encode(enum fp_store_table_id id, const void *row)
{
    struct fp_buf out;
    fp_buf_init(&out, 4096);
    fp_copy_row(fp_store_table(id), row, &out);
    assert_false(out.failed);
    assert_int_equal(out.data[0] << 8 | out.data[1], fp_store_table(id)->column_count);
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
    struct fp_buf out = encode(FP_STORE_TABLE_FRAME, &named);
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
    out = encode(FP_STORE_TABLE_FRAME, &bare);
    ASSERT_BYTES(out, "\0\0\0\10\0\0\0\0\0\0\0\1"
                      "\0\0\0\0"
                      "\377\377\377\377"
                      "\377\377\377\377"
                      "\377\377\377\377"
                      "\0\0\0\7builtin");
}

static void writes_fields_of_packed_rows(void **state)
{
    (void)state;
    struct fp_buf out;
    const struct fp_uuid id = {{1, 2, 3}};
    fp_buf_init(&out, 1000);
    fp_copy_fields(5, &out);
    fp_copy_bigint(-2, &out);
    fp_copy_time(INT64_C(946684800000001), &out); /* PostgreSQL counts from the year 2000 */
    fp_copy_uuid(&id, &out);
    fp_copy_integer(258, &out);
    fp_copy_text(FP_STR("shop"), &out);
    ASSERT_BYTES(out, "\0\5"
                      "\0\0\0\10\377\377\377\377\377\377\377\376"
                      "\0\0\0\10\0\0\0\0\0\0\0\1"
                      "\0\0\0\20\1\2\3\0\0\0\0\0\0\0\0\0\0\0\0\0"
                      "\0\0\0\4\0\0\1\2"
                      "\0\0\0\4shop");
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
    /* bucket, upload_id, segment_id; then load_id, received, part, and three columns to truncated
     */
    struct fp_buf out = encode(FP_STORE_TABLE_UPLOAD, &upload);
    assert_memory_equal(out.data + 12, "\0\0\0\20\1\2\3\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    assert_memory_equal(out.data + 56, "\0\0\0\20\11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
    assert_memory_equal(out.data + 76 + 8, "\0\0\0\14self-profile\0\0\0\0\0\0\0\1\1", 25);
    fp_buf_release(&out);
    upload.has_load = false;
    out = encode(FP_STORE_TABLE_UPLOAD, &upload);
    assert_memory_equal(out.data + 56, "\377\377\377\377\0\0\0\4", 8);
    fp_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_the_rows),
        cmocka_unit_test(writes_names_numbers_and_nulls),
        cmocka_unit_test(writes_fields_of_packed_rows),
        cmocka_unit_test(writes_uuids_and_booleans_and_leaves_an_absent_load_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
