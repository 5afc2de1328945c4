/*
 * Table: rows of text cells, printed for people (aligned, cut to the terminal) or as JSON (whole,
 * numbers as numbers).
 *
 * One thread.
 */
#ifndef FP_CLI_TABLE_H
#define FP_CLI_TABLE_H

#include "collector/base/base.h"

enum fp_cell {
    FP_CELL_TEXT,
    FP_CELL_WORD,    /* a text that is no use when it is cut: an id, a time */
    FP_CELL_PATH,    /* a text whose end says most: cut at its start when the terminal is narrow */
    FP_CELL_INTEGER, /* in SQL's and JSON's notation, as are the next three */
    FP_CELL_MS,      /* shown with one decimal */
    FP_CELL_SHARE,   /* 0…1, shown in percent */
    FP_CELL_BOOLEAN,
    FP_CELL_JSON, /* a value's text, for JSON alone */
};

struct fp_column {
    const char *name;    /* the member in JSON; NULL: only for people */
    const char *heading; /* NULL: only in JSON */
    enum fp_cell cell;
};

struct fp_table {
    const struct fp_column *columns; /* the caller's */
    size_t column_count;
    char **cells; /* owned, row by row; NULL is SQL's null */
    size_t cell_count;
    size_t cell_capacity;
    bool failed; /* memory ran out: nothing is printed */
};

void fp_table_init(struct fp_table *table, const struct fp_column *columns, size_t column_count);
void fp_table_release(struct fp_table *table);

/* Adds the next cell, from left to right and row by row; a copy is taken. NULL: no value. */
void fp_table_add(struct fp_table *table, const char *value);
void fp_table_add_integer(struct fp_table *table, int64_t value);

/* How many whole rows there are. */
size_t fp_table_rows(const struct fp_table *table);

/*
 * Prints to standard output: for people, nothing when there are no rows; as JSON, always an array.
 * False after having said that memory ran out.
 */
bool fp_table_print(const struct fp_table *table, bool json) FP_MUST_CHECK;

#endif
