/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COPY BINARY, and arrays: each value is a 32-bit length and its bytes, numbers big-endian.
 */
#include "collector/store/copy_binary.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"
#include "collector/base/domain.h"

#include <endian.h>

static void put16(struct fp_buf *out, int16_t value)
{
    uint16_t big = htobe16((uint16_t)value);
    fp_buf_add(out, &big, sizeof(big));
}

static void put32(struct fp_buf *out, int32_t value)
{
    uint32_t big = htobe32((uint32_t)value);
    fp_buf_add(out, &big, sizeof(big));
}

static void put_null(struct fp_buf *out)
{
    put32(out, -1);
}

static void put_bytes(struct fp_buf *out, const void *bytes, size_t len)
{
    FP_ASSERT(len <= INT32_MAX);
    put32(out, (int32_t)len);
    fp_buf_add(out, bytes, len);
}

void fp_copy_fields(size_t count, struct fp_buf *out)
{
    FP_ASSERT(count <= INT16_MAX);
    put16(out, (int16_t)count);
}

void fp_copy_bigint(int64_t value, struct fp_buf *out)
{
    uint64_t big = htobe64((uint64_t)value);
    put_bytes(out, &big, sizeof(big));
}

void fp_copy_integer(int32_t value, struct fp_buf *out)
{
    put32(out, sizeof(value));
    put32(out, value);
}

void fp_copy_smallint(int16_t value, struct fp_buf *out)
{
    put32(out, sizeof(value));
    put16(out, value);
}

void fp_copy_time(int64_t moment_us, struct fp_buf *out)
{
    fp_copy_bigint(moment_us - FP_STORE_EPOCH_US, out);
}

void fp_copy_text(struct fp_str text, struct fp_buf *out)
{
    put_bytes(out, text.ptr, text.len);
}

void fp_copy_uuid(const struct fp_uuid *id, struct fp_buf *out)
{
    put_bytes(out, id->bytes, sizeof(id->bytes));
}

/* Appends a version byte, then the text. */
static void put_json(struct fp_buf *out, struct fp_str text)
{
    FP_ASSERT(text.len < INT32_MAX);
    put32(out, (int32_t)text.len + 1);
    fp_buf_add(out, "\1", 1);
    fp_buf_add(out, text.ptr, text.len);
}

static void put_name(struct fp_buf *out, const char *name)
{
    put_bytes(out, name, strlen(name));
}

static int64_t read_int64(const void *member)
{
    int64_t value;
    memcpy(&value, member, sizeof(value));
    return value;
}

static int32_t read_int32(const void *member)
{
    int32_t value;
    memcpy(&value, member, sizeof(value));
    return value;
}

static void put_number(enum fp_column_kind kind, const void *member, struct fp_buf *out)
{
    if (kind == FP_COLUMN_INTEGER || kind == FP_COLUMN_INTEGER_OR_NULL) {
        int32_t value = read_int32(member);
        if (kind == FP_COLUMN_INTEGER_OR_NULL && value < 0)
            put_null(out);
        else
            fp_copy_integer(value, out);
        return;
    }
    int64_t value = read_int64(member);
    if (kind == FP_COLUMN_BIGINT_OR_NULL && value == 0)
        put_null(out);
    else if (kind == FP_COLUMN_TIME)
        fp_copy_time(value, out);
    else
        fp_copy_bigint(value, out);
}

static void put_value(enum fp_column_kind kind, const void *member, struct fp_buf *out)
{
    switch (kind) {
    case FP_COLUMN_BIGINT:
    case FP_COLUMN_BIGINT_OR_NULL:
    case FP_COLUMN_INTEGER:
    case FP_COLUMN_INTEGER_OR_NULL:
    case FP_COLUMN_TIME:
        put_number(kind, member, out);
        break;
    case FP_COLUMN_BOOLEAN:
        put_bytes(out, *(const bool *)member ? "\1" : "\0", 1);
        break;
    case FP_COLUMN_TEXT:
    case FP_COLUMN_BIGINTS:
    case FP_COLUMN_BYTES:
        fp_copy_text(*(const struct fp_str *)member, out);
        break;
    case FP_COLUMN_DOMAIN:
        fp_copy_text(fp_domain_of_url(*(const struct fp_str *)member), out);
        break;
    case FP_COLUMN_JSON:
        put_json(out, *(const struct fp_str *)member);
        break;
    case FP_COLUMN_UUID:
        fp_copy_uuid(member, out);
        break;
    case FP_COLUMN_FRAME_KIND:
        put_name(out, fp_frame_kind_name(*(const enum fp_frame_kind *)member));
        break;
    case FP_COLUMN_TIMING_KIND:
        put_name(out, fp_timing_kind_name(*(const enum fp_timing_kind *)member));
        break;
    case FP_COLUMN_FORMAT:
        put_name(out, fp_upload_format_name(*(const enum fp_upload_format *)member));
        break;
    case FP_COLUMN_COVERAGE:
        put_name(out, fp_coverage_name(*(const enum fp_coverage *)member));
        break;
    case FP_COLUMN_REDUCE_MODE:
        put_name(out, fp_reduce_mode_name(*(const enum fp_reduce_mode *)member));
        break;
    case FP_COLUMN_RECORD_REFUSAL:
        put_name(out, fp_record_refusal_name(*(const enum fp_record_refusal *)member));
        break;
    case FP_COLUMN_KIND_COUNT:
        break;
    }
}

void fp_copy_begin(struct fp_buf *out)
{
    static const char signature[] = "PGCOPY\n\377\r\n";
    fp_buf_add(out, signature, sizeof(signature)); /* the signature includes its NUL */
    put32(out, 0);                                 /* flags */
    put32(out, 0);                                 /* length of the header's extension */
}

/* Appends a column's value. */
static void put_column(const struct fp_store_column *column, const char *row, struct fp_buf *out)
{
    bool is_given = column->given_offset == 0 || *(const bool *)(row + column->given_offset);
    if (is_given)
        put_value(column->kind, row + column->offset, out);
    else
        put_null(out);
}

void fp_copy_row(const struct fp_store_table *target, const void *row, struct fp_buf *out)
{
    fp_copy_fields(target->column_count, out);
    for (size_t i = 0; i < target->column_count; i++)
        put_column(&target->columns[i], row, out);
}

void fp_copy_end(struct fp_buf *out)
{
    put16(out, -1);
}

/* The header of an array of one dimension: dimensions, a flag, the elements' type, their count, the
 * first index. */
enum { ARRAY_HEAD_BYTES = 20, ARRAY_COUNT_AT = 12 };

void fp_array_begin(const struct fp_store_table *target, struct fp_buf *columns)
{
    for (size_t i = 0; i < target->column_count; i++) {
        fp_buf_clear(&columns[i]);
        put32(&columns[i], 1);
        put32(&columns[i], 1); /* there may be nulls */
        put32(&columns[i], (int32_t)fp_store_column_type(target->columns[i].kind)->number);
        put32(&columns[i], 0);
        put32(&columns[i], 1);
        FP_ASSERT(columns[i].failed || columns[i].len == ARRAY_HEAD_BYTES);
    }
}

void fp_array_row(const struct fp_store_table *target, const void *row, struct fp_buf *columns)
{
    for (size_t i = 0; i < target->column_count; i++)
        put_column(&target->columns[i], row, &columns[i]);
}

/* Counts the elements of a column's array. */
static size_t count_elements(const struct fp_buf *column)
{
    size_t count = 0;
    for (size_t at = ARRAY_HEAD_BYTES; at < column->len; count++) {
        uint32_t big;
        memcpy(&big, column->data + at, sizeof(big));
        const int32_t len = (int32_t)be32toh(big);
        at += sizeof(big) + (size_t)(len > 0 ? len : 0);
    }
    return count;
}

void fp_array_end(const struct fp_store_table *target, size_t count, struct fp_buf *columns)
{
    FP_ASSERT(count <= INT32_MAX);
    uint32_t big = htobe32((uint32_t)count);
    for (size_t i = 0; i < target->column_count; i++) {
        FP_ASSERT_COSTLY(columns[i].failed || count_elements(&columns[i]) == count);
        if (columns[i].len >= ARRAY_HEAD_BYTES)
            memcpy(columns[i].data + ARRAY_COUNT_AT, &big, sizeof(big));
    }
}
