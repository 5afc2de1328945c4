/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cell: PostgreSQL's values as JSON. Any thread.
 */
#ifndef FP_CLI_SERVE_CELL_H
#define FP_CLI_SERVE_CELL_H

#include <libpq-fe.h>
#include <yyjson.h>

/* Returns the name of a type, as PostgreSQL's format_type has it; "text" for one that is not known
 * here. */
const char *fp_cell_type(Oid type);

/*
 * Returns a column of the row that the result is. Numbers are numbers, but a bigint that a double
 * cannot hold is a string; times are ISO 8601 in UTC; a range of times is an array of its two
 * bounds; a bytea, which is a kept upload, is its unpacked text, or null if it is not UTF-8. Other
 * texts stay in the result, which must outlive the value. NULL when out of memory.
 */
yyjson_mut_val *fp_cell_value(yyjson_mut_doc *doc, const PGresult *row, int column);

#endif
