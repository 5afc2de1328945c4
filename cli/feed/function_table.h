/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Function table: reads the files that fleetprof-function-table writes. One thread.
 *
 * A file has a line of JSON per script, {"fleetprof_function_table": 1, "script": PATH,
 * "functions": N}, and after it N lines [line, column, name or null, source, line in it, column in
 * it, package, whether it is ignored], by place.
 */
#ifndef FP_CLI_FEED_FUNCTION_TABLE_H
#define FP_CLI_FEED_FUNCTION_TABLE_H

#include "collector/base/buf.h"

/* The most functions of a script, as the tool has it, and the longest array of them. */
#define FP_FUNCTION_TABLE_MAX 500000
#define FP_FUNCTION_TABLE_BYTES_MAX ((size_t)192 << 20)

struct fp_function_table {
    char *script;                 /* path below the URL prefix; owned */
    int64_t functions;            /* as the table's first line says */
    struct fp_buf functions_json; /* an array, with a NUL */
};

/* Callback for each table of a file; false ends the reading. */
struct fp_function_table_taker {
    bool (*take)(void *context, const struct fp_function_table *table);
    void *context;
};

/* Reads a file ("-": standard input) and hands out each table once it is whole. Prints
 * FILE:LINE and what is wrong with the first invalid line. Returns false on failure. */
bool fp_function_table_read(const char *file,
                            const struct fp_function_table_taker *taker) FP_MUST_CHECK;

#endif
