/*
 * COPY BINARY: rows in PostgreSQL's binary copy format (its manual, "COPY", File Formats). Pure
 * functions; any thread.
 */
#ifndef FP_STORE_COPY_BINARY_H
#define FP_STORE_COPY_BINARY_H

#include "collector/store/tables.h"

/* Appends the header, before the first row. */
void fp_copy_begin(struct fp_buf *out);

/* Appends one row: the values of the target's columns. */
void fp_copy_row(const struct fp_store_table *target, const void *row, struct fp_buf *out);

/* Appends the trailer, after the last row. */
void fp_copy_end(struct fp_buf *out);

#endif
