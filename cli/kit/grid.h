/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grid: rows of text cells, printed for people (aligned and cut to the terminal; in a pipe whole,
 * with tabs between cells), as JSON (whole, numbers as numbers) or as CSV (whole).
 *
 * One thread.
 */
#ifndef FP_CLI_KIT_GRID_H
#define FP_CLI_KIT_GRID_H

#include "collector/base/base.h"

enum fp_cell {
    FP_CELL_TEXT,
    FP_CELL_SENTENCE, /* a text that is wrapped on a narrow terminal, not cut */
    FP_CELL_WORD,     /* a text that is useless when cut: an id */
    FP_CELL_TIME,     /* the same: a time */
    FP_CELL_PATH,     /* a text whose end matters most: it loses its start on a narrow terminal */
    FP_CELL_INTEGER,  /* in the notation of SQL and JSON, as are the next three */
    FP_CELL_MS,       /* shown with one decimal */
    FP_CELL_SHARE,    /* 0 to 1, shown in percent */
    FP_CELL_BOOLEAN,
    FP_CELL_JSON, /* the text of a value; only for JSON */
};

struct fp_grid_column {
    const char *name;    /* in JSON and CSV; NULL: only for people */
    const char *heading; /* NULL: only in JSON and CSV */
    enum fp_cell cell;
};

/* A column of a table of facts, such as the catalogue of questions. */
#define FP_GRID_COLUMN(name, heading, cell) {name, heading, FP_CELL_##cell}

/* A grid has at most one column of paths. */
struct fp_grid {
    const struct fp_grid_column *columns; /* the caller's */
    size_t column_count;
    size_t extra_from; /* columns from here on are the first to be left out on a narrow terminal */
    char **cells;      /* owned, row by row; NULL is SQL's null */
    size_t cell_count;
    size_t cell_capacity;
};

/* Starts an empty grid, without extra columns. */
void fp_grid_init(struct fp_grid *grid, const struct fp_grid_column *columns, size_t column_count);
void fp_grid_release(struct fp_grid *grid);

/* Appends a copy of the next cell, from left to right and row by row. NULL: no value. */
void fp_grid_add(struct fp_grid *grid, const char *value);
void fp_grid_add_integer(struct fp_grid *grid, int64_t value);

/* Appends a text or a number that may be absent: "" and what is not there become no value. */
void fp_grid_add_text(struct fp_grid *grid, const char *text);
void fp_grid_add_optional(struct fp_grid *grid, bool is_there, int64_t value);

/* Appends cells without a value. */
void fp_grid_add_nothing(struct fp_grid *grid, size_t cells);

/* Returns the number of whole rows. */
size_t fp_grid_rows(const struct fp_grid *grid);

enum fp_form {
    FP_FORM_PEOPLE,
    FP_FORM_JSON,
    FP_FORM_CSV,
};

/* Prints to standard output: for people, nothing if there are no rows; as JSON, always an array; as
 * CSV, always a line of names. */
void fp_grid_print(const struct fp_grid *grid, enum fp_form form);

#endif
