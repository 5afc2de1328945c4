/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: adds entries to rows that may exist already.
 */
#include "collector/base/assert.h"
#include "collector/sealer/internal.h"

#include <stdlib.h>

/* A part of the groups that is added at once. */
struct part {
    const struct fp_group *groups; /* what to add */
    size_t count;
    const struct fp_plan_item *rows; /* of these groups, the rows that exist */
    size_t row_count;
};

/* Appends the condition for the rows of some groups in a block. */
static void add_condition(struct fp_buf *sql, const struct fp_block *block,
                          const struct fp_plan_item *items, size_t count)
{
    fp_buf_addf(sql, " where span = %d and bucket = ", (int)block->span);
    fp_sql_time(sql, block->bucket_us);
    fp_buf_addf(sql, " and group_id = any (");
    fp_sql_ids(sql, items, count);
    fp_buf_addf(sql, ")");
}

/* Reads the part's rows and deletes them. */
static enum fp_store_result take_rows(struct fp_sealing *sealing, const struct fp_block *block,
                                      const struct part *part, struct fp_groups *rows)
{
    if (part->row_count == 0)
        return FP_STORE_OK;
    const struct fp_pack_shape *shape = fp_pack_shape(part->rows[0].kind);
    const char *place = fp_span_place(block->span);
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "copy (select group_id");
    fp_sql_columns(sql, shape);
    fp_buf_addf(sql, " from fleetprof_data.%s_%s", shape->name, place);
    add_condition(sql, block, part->rows, part->row_count);
    fp_buf_addf(sql, " order by group_id) to stdout (format binary)");
    enum fp_store_result result = fp_groups_read(sealing, part->rows, part->row_count, rows);
    if (result != FP_STORE_OK)
        return result;
    sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "delete from fleetprof_data.%s_%s", shape->name, place);
    add_condition(sql, block, part->rows, part->row_count);
    return fp_seal_change(sealing, NULL, 0, part->row_count);
}

/* Merges the part's entries into their rows. Afterwards refs name a pack for each of the part's
 * groups: a sum, or what was to be added. False: no memory. */
static bool add_up(const struct part *part, struct fp_groups *rows, struct fp_group_ref *refs)
{
    size_t row = 0;
    for (size_t i = 0; i < part->count; i++) {
        const struct fp_group *group = &part->groups[i];
        refs[i] = (struct fp_group_ref){group->id, &group->pack};
        if (row == rows->count || rows->items[row].id != group->id)
            continue;
        struct fp_pack *sum = &rows->items[row++].pack;
        struct fp_pack merged;
        fp_pack_init(&merged, sum->shape);
        bool is_merged = fp_pack_merge(sum, &group->pack, &merged);
        fp_pack_release(is_merged ? sum : &merged);
        if (!is_merged)
            return false;
        *sum = merged;
        refs[i].pack = sum;
    }
    FP_ASSERT(row == rows->count); /* each is of a group of the part: next_part, check_groups */
    return true;
}

static enum fp_store_result add_part(struct fp_sealing *sealing, const struct fp_block *block,
                                     const struct part *part, struct fp_seal_report *report)
{
    struct fp_groups rows = {0};
    struct fp_group_ref *refs = calloc(part->count, sizeof(*refs));
    enum fp_store_result result =
        refs != NULL ? take_rows(sealing, block, part, &rows) : FP_STORE_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        report->entries_read += rows.items[i].pack.count;
    if (result == FP_STORE_OK && !add_up(part, &rows, refs))
        result = FP_STORE_MEMORY;
    if (result == FP_STORE_OK)
        result = fp_groups_write(sealing, block, refs, part->count);
    for (size_t i = 0; result == FP_STORE_OK && i < part->count; i++)
        report->entries_written += refs[i].pack->count;
    fp_groups_release(&rows);
    free(refs);
    return result;
}

/* Plans the rows of the groups that exist in the block. */
static enum fp_store_result plan_rows(struct fp_sealing *sealing, const struct fp_block *block,
                                      const struct fp_groups *groups, struct fp_plan *plan)
{
    const struct fp_pack_shape *shape = fp_pack_shape(groups->kind);
    struct fp_plan_item *wanted = calloc(groups->count, sizeof(*wanted));
    if (wanted == NULL)
        return FP_STORE_MEMORY;
    for (size_t i = 0; i < groups->count; i++)
        wanted[i].group_id = groups->items[i].id;
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "select %d, group_id, 1, cardinality(%s) from fleetprof_data.%s_%s",
                (int)groups->kind, shape->columns[0].name, shape->name, fp_span_place(block->span));
    add_condition(sql, block, wanted, groups->count);
    fp_buf_addf(sql, " order by group_id");
    free(wanted);
    return fp_plan_read(sealing, NULL, 0, plan);
}

/* Returns the next part: as many groups as a batch takes, their rows included. */
static struct part next_part(const struct fp_groups *groups, size_t from,
                             const struct fp_plan *plan, size_t from_row)
{
    struct part part = {.groups = groups->items + from, .rows = plan->items + from_row};
    size_t most = FP_SEAL_BATCH_BYTES / fp_seal_entry_bytes(groups->items[0].pack.shape);
    size_t entries = 0;
    while (from + part.count < groups->count && part.count < FP_SEAL_GROUPS_MAX) {
        const struct fp_group *group = &part.groups[part.count];
        bool has_row = from_row + part.row_count < plan->count &&
                       part.rows[part.row_count].group_id == group->id;
        size_t more = group->pack.count + (has_row ? part.rows[part.row_count].entries : 0);
        if (part.count > 0 && entries + more > most)
            break;
        entries += more;
        part.count++;
        part.row_count += has_row;
    }
    FP_ASSERT(part.count > 0 && part.row_count <= part.count);
    return part;
}

enum fp_store_result fp_groups_add_to(struct fp_sealing *sealing, const struct fp_block *block,
                                      const struct fp_groups *groups, struct fp_seal_report *report)
{
    struct fp_plan plan = {0};
    size_t at = 0;
    size_t row = 0;
    enum fp_store_result result =
        groups->count > 0 ? plan_rows(sealing, block, groups, &plan) : FP_STORE_OK;
    while (result == FP_STORE_OK && at < groups->count) {
        struct part part = next_part(groups, at, &plan, row);
        result = add_part(sealing, block, &part, report);
        at += part.count;
        row += part.row_count;
    }
    if (result == FP_STORE_OK && row < plan.count)
        result =
            fp_pg_reject(sealing->pg, "kind %s: %zu rows are of groups that were not asked for",
                         fp_pack_shape(groups->kind)->name, plan.count - row);
    fp_plan_release(&plan);
    return result;
}
