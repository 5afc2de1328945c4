/* SPDX-License-Identifier: Apache-2.0 */
/*
 * COPY BINARY: rows in PostgreSQL's binary copy format (its manual, "COPY", File Formats), and
 * columns as binary arrays, whose elements have the same form. Pure functions; any thread.
 */
#ifndef FP_STORE_COPY_BINARY_H
#define FP_STORE_COPY_BINARY_H

#include "collector/base/clock.h"
#include "collector/store/tables.h"

/* Where PostgreSQL's binary times begin: 2000-01-01, microseconds since 1970. */
#define FP_STORE_EPOCH_US (INT64_C(10957) * FP_US_PER_DAY)

/* Appends the header, before the first row. */
void fp_copy_begin(struct fp_buf *out);

/* Begins a row of this many fields; as many of the functions below follow. Packs also
 * write fields. */
void fp_copy_fields(size_t count, struct fp_buf *out);

/* Append one field each. A time is in microseconds since 1970. */
void fp_copy_bigint(int64_t value, struct fp_buf *out);
void fp_copy_integer(int32_t value, struct fp_buf *out);
void fp_copy_smallint(int16_t value, struct fp_buf *out);
void fp_copy_time(int64_t moment_us, struct fp_buf *out);
void fp_copy_text(struct fp_str text, struct fp_buf *out);
void fp_copy_uuid(const struct fp_uuid *id, struct fp_buf *out);

/* Appends one row: the values of the target's columns. */
void fp_copy_row(const struct fp_store_table *target, const void *row, struct fp_buf *out);

/* Appends the trailer, after the last row. */
void fp_copy_end(struct fp_buf *out);

/* Columns as arrays, one buffer for each of the target's columns: begin, append rows, end. */
void fp_array_begin(const struct fp_store_table *target, struct fp_buf *columns);
void fp_array_row(const struct fp_store_table *target, const void *row, struct fp_buf *columns);
void fp_array_end(const struct fp_store_table *target, size_t count, struct fp_buf *columns);

#endif
