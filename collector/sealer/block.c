/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a block from the blocks of the next shorter span, in bounded transactions. Nobody reads
 * the new rows before the last transaction puts the block in place of the shorter ones. A try that
 * was interrupted leaves rows; the next one replaces them. Another collector's turn in between ends
 * a try: it may have added to blocks that were read before.
 */
#include "collector/sealer/internal.h"

#include <stdlib.h>

/* The rows from which a block's rows are made. */
struct source {
    enum fp_span span;
    const char *groups; /* query of the groups; $1 is the site */
};

/* Groups that are built at once. */
struct batch {
    const struct fp_plan_item *items;
    size_t count;
};

static const char segments_sql[] = "select segment_id from fleetprof_data.segment where site = $1";
static const char cohorts_sql[] = "select group_id from fleetprof_data.cohort where site = $1";

/* Appends the condition for rows of a span within a block. */
static void add_span(struct fp_buf *sql, enum fp_span span, const struct fp_block *block)
{
    fp_buf_addf(sql, " span = %d and bucket >= ", (int)span);
    fp_sql_time(sql, block->bucket_us);
    fp_buf_addf(sql, " and bucket < ");
    fp_sql_time(sql, block->bucket_us + fp_span_us(block->span));
}

/* Begins a transaction. Busy, if another collector had a turn since the block was begun. */
static enum fp_store_result begin_kept(struct fp_sealing *sealing)
{
    bool is_kept;
    enum fp_store_result result = fp_store_begin_turn(sealing->store, false, &is_kept);
    return result == FP_STORE_OK && !is_kept ? FP_STORE_BUSY : result;
}

static enum fp_store_result plan_source(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                        const struct source *source, enum fp_pack_kind kind,
                                        struct fp_plan *plan)
{
    const char *const values[] = {unit->site};
    const struct fp_pack_shape *shape = fp_pack_shape(kind);
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql,
                "select %d, group_id, count(*), sum(cardinality(%s)) from fleetprof_data.%s_%s"
                " where group_id in (%s) and",
                (int)kind, shape->columns[0].name, shape->name, fp_span_place(source->span),
                source->groups);
    add_span(sql, source->span, &unit->block);
    fp_buf_addf(sql, " group by group_id order by group_id");
    *plan = (struct fp_plan){0};
    enum fp_store_result result = begin_kept(sealing);
    if (result == FP_STORE_OK)
        result = fp_plan_read(sealing, values, 1, plan);
    return result == FP_STORE_OK ? fp_store_end(sealing->store) : result;
}

/* Deletes what an interrupted try wrote for these groups. */
static enum fp_store_result delete_rest(struct fp_sealing *sealing, const struct fp_block *block,
                                        const struct batch *batch)
{
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "delete from fleetprof_data.%s_%s where span = %d and bucket = ",
                fp_pack_shape(batch->items[0].kind)->name, fp_span_place(block->span),
                (int)block->span);
    fp_sql_time(sql, block->bucket_us);
    fp_buf_addf(sql, " and group_id = any (");
    fp_sql_ids(sql, batch->items, batch->count);
    fp_buf_addf(sql, ")");
    PGresult *answer;
    enum fp_store_result result = fp_seal_query(sealing, NULL, 0, &answer);
    PQclear(answer);
    return result;
}

static enum fp_store_result read_batch(struct fp_sealing *sealing, const struct fp_block *block,
                                       enum fp_span from, const struct batch *batch,
                                       struct fp_groups *groups)
{
    const struct fp_pack_shape *shape = fp_pack_shape(batch->items[0].kind);
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "copy (select group_id");
    fp_sql_columns(sql, shape);
    fp_buf_addf(sql, " from fleetprof_data.%s_%s where", shape->name, fp_span_place(from));
    add_span(sql, from, block);
    fp_buf_addf(sql, " and group_id = any (");
    fp_sql_ids(sql, batch->items, batch->count);
    fp_buf_addf(sql, ") order by group_id) to stdout (format binary)");
    return fp_groups_read(sealing, batch->items, batch->count, groups);
}

static enum fp_store_result write_batch(struct fp_sealing *sealing, const struct fp_block *block,
                                        const struct fp_groups *groups,
                                        struct fp_seal_report *report)
{
    struct fp_group_ref *refs = calloc(groups->count, sizeof(*refs));
    if (refs == NULL)
        return FP_STORE_MEMORY;
    for (size_t i = 0; i < groups->count; i++) {
        refs[i] = (struct fp_group_ref){groups->items[i].id, &groups->items[i].pack};
        report->entries_written += groups->items[i].pack.count;
    }
    enum fp_store_result result = fp_groups_write(sealing, block, refs, groups->count);
    free(refs);
    return result;
}

/* Builds the rows of a batch of groups in a transaction. */
static enum fp_store_result build_batch(struct fp_sealing *sealing, const struct fp_block *block,
                                        enum fp_span from, const struct batch *batch,
                                        struct fp_seal_report *report)
{
    struct fp_groups groups = {0};
    enum fp_store_result result = begin_kept(sealing);
    if (result == FP_STORE_OK)
        result = delete_rest(sealing, block, batch);
    if (result == FP_STORE_OK)
        result = read_batch(sealing, block, from, batch, &groups);
    if (result == FP_STORE_OK)
        result = write_batch(sealing, block, &groups, report);
    if (result == FP_STORE_OK)
        result = fp_store_end(sealing->store);
    fp_groups_release(&groups);
    return result;
}

static enum fp_store_result build_kind(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                       const struct source *source, enum fp_pack_kind kind,
                                       struct fp_seal_report *report)
{
    struct fp_plan plan;
    enum fp_store_result result = plan_source(sealing, unit, source, kind, &plan);
    size_t at = 0;
    while (result == FP_STORE_OK && at < plan.count) {
        struct batch batch = {.items = plan.items + at};
        batch.count = fp_plan_batch(batch.items, plan.count - at);
        for (size_t i = 0; i < batch.count; i++)
            report->entries_read += batch.items[i].entries;
        result = build_batch(sealing, &unit->block, source->span, &batch, report);
        at += batch.count;
    }
    fp_plan_release(&plan);
    return result;
}

static enum fp_store_result build(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                  const struct source *source, struct fp_seal_report *report)
{
    enum fp_store_result result = FP_STORE_OK;
    for (int kind = 0; result == FP_STORE_OK && kind < FP_PACK_KIND_COUNT; kind++)
        result = build_kind(sealing, unit, source, (enum fp_pack_kind)kind, report);
    return result;
}

/* Appends the condition for the site's blocks within this one. */
static void add_tiles(struct fp_buf *sql, const struct fp_block *block)
{
    fp_buf_addf(sql, " from fleetprof_data.sealed where site = $1 and bucket >= ");
    fp_sql_time(sql, block->bucket_us);
    fp_buf_addf(sql, " and bucket < ");
    fp_sql_time(sql, block->bucket_us + fp_span_us(block->span));
}

/* Counts the shorter blocks; 0 unless all are of the next shorter span. */
static enum fp_store_result count_tiles(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                        size_t *count)
{
    const char *const values[] = {unit->site};
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "select case when bool_and(span = %d) then count(*) else 0 end",
                (int)unit->block.span - 1);
    add_tiles(sql, &unit->block);
    PGresult *rows;
    enum fp_store_result result = fp_seal_query(sealing, values, 1, &rows);
    if (result == FP_STORE_OK)
        *count = (size_t)fp_seal_number(rows, 0, 0);
    PQclear(rows);
    return result;
}

/* Begins the block with a turn. */
static enum fp_store_result begin_block(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                        size_t *tiles)
{
    bool is_kept;
    enum fp_store_result result = fp_store_begin_turn(sealing->store, false, &is_kept);
    if (result == FP_STORE_OK)
        result = count_tiles(sealing, unit, tiles);
    return result == FP_STORE_OK ? fp_store_end(sealing->store) : result;
}

/* Puts the block in place of the shorter ones. */
static enum fp_store_result swap_tiles(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                       size_t count)
{
    const char *const values[] = {unit->site};
    enum fp_store_result result = begin_kept(sealing);
    if (result != FP_STORE_OK)
        return result;
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "delete");
    add_tiles(sql, &unit->block);
    result = fp_seal_change(sealing, values, 1, count);
    if (result != FP_STORE_OK)
        return result;
    sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "insert into fleetprof_data.sealed (site, bucket, span) values ($1, ");
    fp_sql_time(sql, unit->block.bucket_us);
    fp_buf_addf(sql, ", %d)", (int)unit->block.span);
    result = fp_seal_change(sealing, values, 1, 1);
    return result == FP_STORE_OK ? fp_store_end(sealing->store) : result;
}

enum fp_store_result fp_seal_block(struct fp_sealing *sealing, const struct fp_seal_unit *unit,
                                   struct fp_seal_report *report)
{
    const struct source cohorts = {(enum fp_span)(unit->block.span - 1), cohorts_sql};
    const struct source segments = {FP_SPAN_HOUR, segments_sql};
    size_t tiles = 0;
    enum fp_store_result result = begin_block(sealing, unit, &tiles);
    if (result != FP_STORE_OK || tiles == 0)
        return result;
    report->did = FP_SEAL_BLOCK;
    result = fp_store_make_day(sealing->store, unit->block.bucket_us);
    if (result == FP_STORE_OK)
        result = build(sealing, unit, &cohorts, report);
    if (result == FP_STORE_OK && unit->block.span == FP_SPAN_DAY)
        result = build(sealing, unit, &segments, report);
    return result == FP_STORE_OK ? swap_tiles(sealing, unit, tiles) : result;
}
