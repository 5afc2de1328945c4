/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealing: reads the rows of groups by COPY BINARY, merges those of each group, and writes rows.
 */
#include "collector/sealer/internal.h"

#include "collector/base/assert.h"
#include "collector/store/copy_binary.h"

#include <endian.h>
#include <stdlib.h>

enum { PUT_BYTES = 64 * 1024, ROW_HEAD_FIELDS = 3 };

/* ---- plans ---- */

enum fp_store_result fp_plan_read(struct fp_sealing *sealing, const char *const *values, int count,
                                  struct fp_plan *plan)
{
    PGresult *rows;
    *plan = (struct fp_plan){0};
    enum fp_store_result result = fp_seal_query(sealing, values, count, &rows);
    if (result != FP_STORE_OK)
        return result;
    size_t found = (size_t)PQntuples(rows);
    plan->items = calloc(found + 1, sizeof(*plan->items));
    for (size_t i = 0; plan->items != NULL && i < found; i++)
        plan->items[plan->count++] = (struct fp_plan_item){
            .kind = (enum fp_pack_kind)fp_seal_number(rows, (int)i, 0),
            .group_id = fp_seal_number(rows, (int)i, 1),
            .rows = (size_t)fp_seal_number(rows, (int)i, 2),
            .entries = (size_t)fp_seal_number(rows, (int)i, 3),
        };
    PQclear(rows);
    return plan->items != NULL ? FP_STORE_OK : FP_STORE_MEMORY;
}

void fp_plan_release(struct fp_plan *plan)
{
    free(plan->items);
    *plan = (struct fp_plan){0};
}

size_t fp_seal_entry_bytes(const struct fp_pack_shape *shape)
{
    size_t bytes = 0;
    for (size_t i = 0; i < shape->column_count; i++)
        bytes += fp_pack_type_size(shape->columns[i].type);
    FP_ASSERT(bytes > 0);
    return bytes;
}

size_t fp_plan_batch(const struct fp_plan_item *items, size_t count)
{
    FP_ASSERT(count > 0);
    size_t most = FP_SEAL_BATCH_BYTES / fp_seal_entry_bytes(fp_pack_shape(items[0].kind));
    size_t entries = items[0].entries;
    size_t end = 1;
    while (end < count && end < FP_SEAL_GROUPS_MAX && items[end].kind == items[0].kind &&
           entries + items[end].entries <= most)
        entries += items[end++].entries;
    FP_ASSERT(end <= count && end <= FP_SEAL_GROUPS_MAX);
    return end;
}

/* ---- reading ---- */

void fp_groups_release(struct fp_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        fp_pack_release(&groups->items[i].pack);
    free(groups->items);
    *groups = (struct fp_groups){0};
}

bool fp_groups_add(struct fp_groups *groups, int64_t id, struct fp_pack *pack)
{
    if (groups->count == groups->cap) {
        size_t cap = groups->cap > 0 ? groups->cap * 2 : 16;
        struct fp_group *items = realloc(groups->items, cap * sizeof(*items));
        if (items == NULL)
            return false;
        groups->items = items;
        groups->cap = cap;
    }
    FP_ASSERT(groups->count < groups->cap);
    groups->items[groups->count++] = (struct fp_group){id, *pack};
    fp_pack_init(pack, pack->shape);
    return true;
}

/* The rows of a COPY as they come in. */
struct intake {
    const struct fp_pack_shape *shape;
    struct fp_groups *groups;
    struct fp_ladder ladder; /* of the group that is being read */
    int64_t group_id;
    bool has_begun; /* the header was read */
    bool has_ended;
};

static uint32_t read32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return be32toh(value);
}

/* Moves *bytes behind the header. */
static bool skip_header(const uint8_t **bytes, const uint8_t *end)
{
    static const char signature[11] = "PGCOPY\n\377\r\n";
    const size_t head = sizeof(signature) + 2 * sizeof(uint32_t);
    if ((size_t)(end - *bytes) < head || memcmp(*bytes, signature, sizeof(signature)) != 0)
        return false;
    size_t extension = read32(*bytes + head - sizeof(uint32_t));
    *bytes += head;
    if ((size_t)(end - *bytes) < extension)
        return false;
    *bytes += extension;
    return true;
}

/* Moves *bytes behind the count of fields and the group's id. */
static bool read_group_id(const struct intake *intake, const uint8_t **bytes, const uint8_t *end,
                          int64_t *id)
{
    uint16_t fields;
    uint64_t big;
    if ((size_t)(end - *bytes) < sizeof(fields) + sizeof(uint32_t) + sizeof(big))
        return false;
    memcpy(&fields, *bytes, sizeof(fields));
    *bytes += sizeof(fields);
    if (be16toh(fields) != intake->shape->column_count + 1 || read32(*bytes) != sizeof(big))
        return false;
    *bytes += sizeof(uint32_t);
    memcpy(&big, *bytes, sizeof(big));
    *bytes += sizeof(big);
    *id = (int64_t)be64toh(big);
    return true;
}

/* Ends the group that is being read. */
static bool end_group(struct intake *intake)
{
    struct fp_pack pack;
    if (intake->ladder.count == 0)
        return true;
    if (!fp_ladder_finish(&intake->ladder, &pack))
        return false;
    bool added = fp_groups_add(intake->groups, intake->group_id, &pack);
    if (!added)
        fp_pack_release(&pack);
    return added;
}

/* Takes one message of a COPY. *is_ours: it has the form that we asked for. False: it has not, or
 * no memory. */
static bool take_row(struct intake *intake, const uint8_t *bytes, size_t len, bool *is_ours)
{
    static const uint8_t trailer[] = {0xff, 0xff};
    const uint8_t *end = bytes + len;
    int64_t id;
    *is_ours = intake->has_begun || skip_header(&bytes, end);
    intake->has_begun = true;
    intake->has_ended =
        (size_t)(end - bytes) == sizeof(trailer) && memcmp(bytes, trailer, sizeof(trailer)) == 0;
    if (intake->has_ended || !*is_ours)
        return *is_ours && end_group(intake);
    *is_ours = read_group_id(intake, &bytes, end, &id);
    if (!*is_ours || (id != intake->group_id && !end_group(intake)))
        return false;
    intake->group_id = id;
    struct fp_pack pack;
    fp_pack_init(&pack, intake->shape);
    *is_ours = fp_pack_decode(&pack, &bytes, end);
    bool taken = *is_ours && fp_ladder_push(&intake->ladder, &pack);
    fp_pack_release(&pack);
    intake->groups->rows++;
    return taken;
}

static enum fp_store_result take_rows(struct fp_sealing *sealing, struct intake *intake)
{
    for (;;) {
        const uint8_t *row;
        size_t len;
        bool is_ours;
        enum fp_store_result result = fp_pg_get(sealing->pg, &row, &len);
        if (result != FP_STORE_OK || row == NULL)
            return result;
        if (take_row(intake, row, len, &is_ours))
            continue;
        if (!is_ours)
            return fp_pg_reject(sealing->pg,
                                "packed rows of kind %s are not readable, or memory is short",
                                intake->shape->name);
        fp_pg_close(sealing->pg); /* in the middle of a copy */
        return FP_STORE_MEMORY;
    }
}

/* True if the rows that were read are those of the plan: as many, and of the same groups. */
static bool is_planned(const struct intake *intake, const struct fp_plan_item *items, size_t count,
                       size_t rows)
{
    if (!intake->has_ended || intake->groups->count != count || intake->groups->rows != rows)
        return false;
    for (size_t i = 0; i < count; i++)
        if (intake->groups->items[i].id != items[i].group_id)
            return false;
    return true;
}

/* Refuses rows that are not those of the plan. */
static enum fp_store_result check_groups(struct fp_sealing *sealing,
                                         const struct fp_plan_item *items, size_t count,
                                         const struct intake *intake)
{
    size_t rows = 0;
    for (size_t i = 0; i < count; i++)
        rows += items[i].rows;
    if (is_planned(intake, items, count, rows))
        return FP_STORE_OK;
    return fp_pg_reject(sealing->pg,
                        "kind %s: %zu rows of %zu groups were read, not the planned %zu rows of "
                        "%zu groups",
                        intake->shape->name, intake->groups->rows, intake->groups->count, rows,
                        count);
}

enum fp_store_result fp_groups_read(struct fp_sealing *sealing, const struct fp_plan_item *items,
                                    size_t count, struct fp_groups *groups)
{
    struct intake intake = {.shape = fp_pack_shape(items[0].kind), .groups = groups};
    groups->kind = items[0].kind;
    fp_buf_add(&sealing->sql, "", 1);
    if (sealing->sql.failed)
        return FP_STORE_MEMORY;
    enum fp_store_result result = fp_pg_copy_out(sealing->pg, (const char *)sealing->sql.data);
    if (result == FP_STORE_OK)
        result = take_rows(sealing, &intake);
    if (result == FP_STORE_OK)
        result = check_groups(sealing, items, count, &intake);
    fp_ladder_release(&intake.ladder);
    return result;
}

/* ---- writing ---- */

/* Sends what is in the buffer, once it is worth it. A connection in the middle of a copy is good
 * for nothing else. */
static enum fp_store_result send(struct fp_sealing *sealing, size_t worth)
{
    struct fp_buf *bytes = &sealing->bytes;
    if (bytes->failed) {
        fp_pg_close(sealing->pg);
        return FP_STORE_MEMORY;
    }
    if (bytes->len < worth)
        return FP_STORE_OK;
    enum fp_store_result result = FP_STORE_OK;
    for (size_t at = 0; result == FP_STORE_OK && at < bytes->len; at += PUT_BYTES) {
        size_t left = bytes->len - at;
        result = fp_pg_put(sealing->pg, bytes->data + at, left < PUT_BYTES ? left : PUT_BYTES);
    }
    fp_buf_clear(bytes);
    return result;
}

/* Sends a row, column by column: one of a large group is long. */
static enum fp_store_result send_row(struct fp_sealing *sealing, const struct fp_block *block,
                                     const struct fp_group_ref *group)
{
    const struct fp_pack_shape *shape = group->pack->shape;
    fp_copy_fields(ROW_HEAD_FIELDS + shape->column_count, &sealing->bytes);
    fp_copy_bigint(group->id, &sealing->bytes);
    fp_copy_time(block->bucket_us, &sealing->bytes);
    fp_copy_smallint((int16_t)block->span, &sealing->bytes);
    enum fp_store_result result = FP_STORE_OK;
    for (size_t i = 0; result == FP_STORE_OK && i < shape->column_count; i++) {
        fp_pack_encode_column(group->pack, i, &sealing->bytes);
        result = send(sealing, PUT_BYTES);
    }
    return result;
}

enum fp_store_result fp_groups_write(struct fp_sealing *sealing, const struct fp_block *block,
                                     const struct fp_group_ref *groups, size_t count)
{
    const struct fp_pack_shape *shape = groups[0].pack->shape;
    struct fp_buf *sql = fp_seal_sql(sealing);
    fp_buf_addf(sql, "copy fleetprof_data.%s_%s (group_id, bucket, span", shape->name,
                fp_span_place(block->span));
    fp_sql_columns(sql, shape);
    fp_buf_addf(sql, ") from stdin (format binary)");
    fp_buf_add(sql, "", 1);
    if (sql->failed)
        return FP_STORE_MEMORY;
    enum fp_store_result result = fp_pg_copy(sealing->pg, (const char *)sql->data);
    fp_buf_clear(&sealing->bytes);
    fp_copy_begin(&sealing->bytes);
    for (size_t i = 0; result == FP_STORE_OK && i < count; i++)
        result = send_row(sealing, block, &groups[i]);
    if (result != FP_STORE_OK)
        return result;
    fp_copy_end(&sealing->bytes);
    result = send(sealing, 0);
    return result == FP_STORE_OK ? fp_pg_copy_end(sealing->pg) : result;
}
