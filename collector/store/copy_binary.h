/*
 * COPY BINARY: rows in PostgreSQL's binary copy format (its manual, "COPY", File Formats). Pure
 * functions; any thread.
 */
#ifndef FP_STORE_COPY_BINARY_H
#define FP_STORE_COPY_BINARY_H

#include "collector/store/tables.h"

/* Appends what stands before the first row. */
void fp_copy_begin(struct fp_buf *out);

/* Appends a row: the target's columns. */
void fp_copy_row(const struct fp_store_table *target, const void *row, struct fp_buf *out);

/* Appends what stands after the last row. */
void fp_copy_end(struct fp_buf *out);

#endif
