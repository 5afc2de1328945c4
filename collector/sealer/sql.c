/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: pieces of statements, spans and blocks.
 */
#include "collector/sealer/internal.h"

#include <inttypes.h>
#include <stdlib.h>

static const int64_t span_us[FP_SPAN_COUNT] = {
    FP_US_PER_HOUR,
    4 * FP_US_PER_HOUR,
    FP_US_PER_DAY,
    8 * FP_US_PER_DAY,
};

int64_t fp_span_us(enum fp_span span)
{
    return span_us[span];
}

struct fp_block fp_block_of(enum fp_span span, int64_t moment_us)
{
    int64_t into_us = moment_us % span_us[span];
    if (into_us < 0)
        into_us += span_us[span];
    return (struct fp_block){span, moment_us - into_us};
}

const char *fp_span_place(enum fp_span span)
{
    return span < FP_SPAN_DAY ? "hours" : "days";
}

struct fp_buf *fp_seal_sql(struct fp_sealing *sealing)
{
    fp_buf_clear(&sealing->sql);
    return &sealing->sql;
}

void fp_sql_columns(struct fp_buf *sql, const struct fp_pack_shape *shape)
{
    for (size_t i = 0; i < shape->column_count; i++)
        fp_buf_addf(sql, ", %s", shape->columns[i].name);
}

void fp_sql_time(struct fp_buf *sql, int64_t moment_us)
{
    time_t moment = (time_t)(moment_us / FP_US_PER_S);
    struct tm utc = {0};
    char text[32];
    gmtime_r(&moment, &utc);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &utc);
    fp_buf_addf(sql, "'%s+00'::timestamptz", text);
}

void fp_sql_ids(struct fp_buf *sql, const struct fp_plan_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fp_buf_addf(sql, "%s%" PRId64, i == 0 ? "'{" : ",", items[i].group_id);
    fp_buf_addf(sql, "}'::bigint[]");
}

enum fp_store_result fp_seal_query(struct fp_sealing *sealing, const char *const *values, int count,
                                   PGresult **rows)
{
    fp_buf_add(&sealing->sql, "", 1);
    if (sealing->sql.failed)
        return FP_STORE_MEMORY;
    const struct fp_pg_query query = {
        .statement = (const char *)sealing->sql.data, .values = values, .value_count = count};
    return fp_pg_query(sealing->pg, &query, rows);
}

enum fp_store_result fp_seal_change(struct fp_sealing *sealing, const char *const *values,
                                    int count, size_t expected)
{
    PGresult *answer;
    enum fp_store_result result = fp_seal_query(sealing, values, count, &answer);
    if (result != FP_STORE_OK)
        return result;
    size_t changed = strtoul(PQcmdTuples(answer), NULL, 10);
    PQclear(answer);
    if (changed == expected)
        return FP_STORE_OK;
    return fp_pg_reject(sealing->pg, "%zu rows changed where %zu were read: %.200s", changed,
                        expected, (const char *)sealing->sql.data);
}

int64_t fp_seal_number(const PGresult *rows, int row, int column)
{
    return strtoll(PQgetvalue(rows, row, column), NULL, 10);
}
