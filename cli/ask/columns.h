/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: of a table in which people see some columns of a question, in an order of their own.
 * Programs get all of them, in the order of the question.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_COLUMNS_H
#define FP_CLI_ASK_COLUMNS_H

#include "cli/kit/grid.h"
#include "cli/kit/query.h"

/* A column for people: one of the question, or one that only people see. */
struct fp_shown {
    const char *name; /* of the question's column, whose heading it has; NULL: heading is given */
    const char *heading;
    const char *sql; /* NULL: the column itself, in its cell */
    enum fp_cell cell;
};

/* Where a function begins, as one text. */
#define FP_SHOWN_PLACE                                                                             \
    {                                                                                              \
        .heading = "WHERE",                                                                        \
        .cell = FP_CELL_PATH,                                                                      \
        .sql = "coalesce(resource, '') || coalesce(':' || line, '') || "                           \
               "coalesce(':' || column_number, '')",                                               \
    }

enum { FP_COLUMNS_MAX = 48 };

struct fp_columns {
    struct fp_grid_column columns[FP_COLUMNS_MAX];
    const char *sql[FP_COLUMNS_MAX];
    size_t count;
};

/* Lists the columns for people, then those of the question. The caller keeps both lists. */
void fp_columns_init(struct fp_columns *columns, const struct fp_shown *shown, size_t shown_count,
                     const struct fp_grid_column *all, size_t all_count);

/* Appends them to a query: "function, line, ...". Times are written in UTC, as in ISO 8601. */
void fp_columns_select(const struct fp_columns *columns, struct fp_sql_query *query);

#endif
