/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns: puts what people see before what programs get.
 */
#include "cli/ask/columns.h"

#include "collector/base/assert.h"

static void add(struct fp_columns *columns, struct fp_grid_column column, const char *sql)
{
    FP_ASSERT(columns->count < FP_COLUMNS_MAX);
    columns->columns[columns->count] = column;
    columns->sql[columns->count++] = sql;
}

static const struct fp_grid_column *find(const struct fp_grid_column *all, size_t all_count,
                                         const char *name)
{
    for (size_t i = 0; i < all_count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    return NULL;
}

void fp_columns_init(struct fp_columns *columns, const struct fp_shown *shown, size_t shown_count,
                     const struct fp_grid_column *all, size_t all_count)
{
    columns->count = 0;
    for (size_t i = 0; i < shown_count; i++) {
        struct fp_grid_column own = {NULL, shown[i].heading, shown[i].cell};
        if (shown[i].name != NULL) {
            const struct fp_grid_column *column = find(all, all_count, shown[i].name);
            FP_ASSERT(column != NULL); /* the catalogue has it */
            own.heading = column->heading;
            own.cell = shown[i].sql != NULL ? shown[i].cell : column->cell;
        }
        add(columns, own, shown[i].sql != NULL ? shown[i].sql : shown[i].name);
    }
    for (size_t i = 0; i < all_count; i++)
        add(columns, (struct fp_grid_column){all[i].name, NULL, all[i].cell}, all[i].name);
}

void fp_columns_select(const struct fp_columns *columns, struct fp_sql_query *query)
{
    for (size_t i = 0; i < columns->count; i++) {
        const bool is_time = columns->columns[i].cell == FP_CELL_TIME;
        fp_sql_add(query, i > 0 ? ", " : "");
        fp_sql_add(query, is_time ? "to_char(" : "");
        fp_sql_add(query, columns->sql[i]);
        fp_sql_add(query, is_time ? " at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')" : "");
    }
}
