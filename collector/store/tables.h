/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables: maps members of a rollup's rows to columns of the database, and builds the statements
 * from that. One description per table; everything else is derived.
 */
#ifndef FP_STORE_TABLES_H
#define FP_STORE_TABLES_H

#include "collector/base/buf.h"
#include "collector/rollup/rollup.h"

/* How a row's member is converted to a column's value. */
enum fp_column_kind {
    FP_COLUMN_BIGINT,
    FP_COLUMN_BIGINT_OR_NULL, /* 0 is null */
    FP_COLUMN_INTEGER,
    FP_COLUMN_INTEGER_OR_NULL, /* negative is null */
    FP_COLUMN_TIME,            /* microseconds since 1970 */
    FP_COLUMN_BOOLEAN,
    FP_COLUMN_TEXT,
    FP_COLUMN_DOMAIN,  /* of the host of a URL, as text */
    FP_COLUMN_BIGINTS, /* from a fp_str, as are the next two: an array's text, `{1,-2}` */
    FP_COLUMN_BYTES,
    FP_COLUMN_JSON,
    FP_COLUMN_UUID,
    FP_COLUMN_FRAME_KIND, /* these six as names */
    FP_COLUMN_TIMING_KIND,
    FP_COLUMN_FORMAT,
    FP_COLUMN_COVERAGE,
    FP_COLUMN_REDUCE_MODE,
    FP_COLUMN_RECORD_REFUSAL,
    FP_COLUMN_KIND_COUNT
};

struct fp_store_column {
    const char *name;
    enum fp_column_kind kind;
    bool is_key;
    bool keeps_least;    /* of a dictionary: a known row takes a lesser value */
    size_t offset;       /* the member's offset in the row */
    size_t given_offset; /* offset of a bool that is true if there is a value; 0: always */
};

enum fp_store_table_style {
    FP_STORE_TABLE_DICTIONARY,  /* keeps a known row and touches its last_seen once per day */
    FP_STORE_TABLE_BOOK,        /* keeps a known row; returns the keys of new ones */
    FP_STORE_TABLE_LAST_VALUES, /* replaces a known row by a later one; returns what was replaced */
    FP_STORE_TABLE_SESSIONS,    /* keeps a known row */
    FP_STORE_TABLE_REFUSALS,    /* adds to a known row */
    FP_STORE_TABLE_LOG          /* has no key: rows are copied straight into it */
};

/* The database's tables without those of facts, in the order in which a flush writes them. */
enum fp_store_table_id {
    FP_STORE_TABLE_SEGMENT,
    FP_STORE_TABLE_RESOURCE,
    FP_STORE_TABLE_FRAME,
    FP_STORE_TABLE_STACK,
    FP_STORE_TABLE_TIMING,
    FP_STORE_TABLE_UPLOAD_ID,
    FP_STORE_TABLE_LOAD_ID,
    FP_STORE_TABLE_VITAL,
    FP_STORE_TABLE_SESSION,
    FP_STORE_TABLE_TIMELINE,
    FP_STORE_TABLE_EVENT,
    FP_STORE_TABLE_REFUSAL,
    FP_STORE_TABLE_UPLOAD,
    FP_STORE_TABLE_COUNT
};

struct fp_store_table {
    const char *name; /* in schema fleetprof_data */
    enum fp_store_table_style style;
    enum fp_rollup_table source;
    const struct fp_store_column *columns;
    size_t column_count;
    /* True if a row of the source belongs in this table; NULL: all do. */
    bool (*wants)(const struct fp_rollup *rollup, const void *row);
};

const struct fp_store_table *fp_store_table(enum fp_store_table_id id);

/* How a column's values are sent. */
struct fp_column_type {
    const char *name;
    uint32_t number;
    const char *cast; /* the column's own type, if that is another; else NULL */
};

const struct fp_column_type *fp_store_column_type(enum fp_column_kind kind);

/* True if the target's rows note the time: the parameter behind those of a merge's columns. */
bool fp_store_table_is_dated(const struct fp_store_table *target);

/* Each appends a statement: one copies rows straight into a log, one merges rows into any other
 * table, from an array for each column ($1, $2, …). */
void fp_store_table_copy_sql(const struct fp_store_table *target, struct fp_buf *out);
void fp_store_table_merge_sql(const struct fp_store_table *target, struct fp_buf *out);

#endif
