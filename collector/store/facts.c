/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts: a rollup's facts as packed rows, appended to the tables KIND_recent: one row for each
 * segment and hour. The primary keys of these tables name the flush, so none is written twice.
 */
#include "collector/base/assert.h"
#include "collector/pack/pack.h"
#include "collector/store/copy_binary.h"
#include "collector/store/store_internal.h"

enum {
    KEY_FIELDS = 4,              /* group_id, bucket, spool_id, position */
    KEPT_BYTES = 4 * 1024 * 1024 /* of the copy buffer, after a flush */
};

/* Returns the key of a fact. Rows of all kinds begin with it. */
static const struct fp_fact_key *key_at(const struct fp_rows *rows, size_t index)
{
    return fp_rows_sorted(rows, index);
}

/* Returns the end of the rows with the segment and hour of row `first`. */
static size_t end_of_run(const struct fp_rows *rows, size_t first)
{
    const struct fp_fact_key *key = key_at(rows, first);
    size_t end = first + 1;
    while (end < rows->count && key_at(rows, end)->segment_id == key->segment_id &&
           key_at(rows, end)->bucket_us == key->bucket_us)
        end++;
    return end;
}

/* Adds to the entries of the hour of a segment's site. */
static void count_entries(struct fp_rollup *rollup, const struct fp_fact_key *key, size_t entries)
{
    const struct fp_fact_key total_key = {key->segment_id, key->bucket_us, 0,
                                          FP_TOTAL_UNATTRIBUTED};
    const struct fp_total_fact *total =
        fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_TOTAL_FACT], &total_key.segment_id);
    FP_ASSERT(total != NULL);
    const struct fp_hour_key hour_key = {total->site_id, key->bucket_us};
    struct fp_hour_row *hour =
        fp_rows_find(&rollup->tables[FP_ROLLUP_TABLE_HOUR], &hour_key.site_id);
    FP_ASSERT(hour != NULL);
    hour->entries += (int64_t)entries;
    FP_ASSERT(hour->entries > 0);
}

/* Sends a packed row, column by column: one of a large upload is long. */
static enum fp_store_result send_row(struct fp_store *store, const struct fp_fact_key *key,
                                     const struct fp_pack *pack)
{
    fp_copy_fields(KEY_FIELDS + pack->shape->column_count, &store->rows);
    fp_copy_bigint(key->segment_id, &store->rows);
    fp_copy_time(key->bucket_us, &store->rows);
    fp_copy_uuid(&store->flush_spool_id, &store->rows);
    fp_copy_bigint((int64_t)store->flush_position, &store->rows);
    enum fp_store_result result = FP_STORE_OK;
    for (size_t i = 0; result == FP_STORE_OK && i < pack->shape->column_count; i++) {
        fp_pack_encode_column(pack, i, &store->rows);
        result = fp_store_copy_more(store);
    }
    return result;
}

/* Packs the rows from `first` up to, but not including, `end`. */
static bool pack_rows(const struct fp_rows *rows, size_t first, size_t end, struct fp_pack *pack)
{
    fp_pack_clear(pack);
    bool is_packed = fp_pack_reserve(pack, end - first);
    for (size_t i = first; is_packed && i < end; i++)
        is_packed = fp_pack_append(pack, fp_rows_sorted(rows, i));
    return is_packed;
}

/* True if a pack says what the rows from `first` up to `end` do. */
static bool packs_all(const struct fp_rows *rows, size_t first, size_t end,
                      const struct fp_pack *pack)
{
    for (size_t column = pack->shape->key_count; column < pack->shape->column_count; column++) {
        const struct fp_pack_column *of = &pack->shape->columns[column];
        uint64_t sum = 0;
        if (of->type != FP_PACK_COUNT && of->type != FP_PACK_SUM)
            continue;
        for (size_t i = first; i < end; i++) {
            uint64_t value;
            memcpy(&value, (const uint8_t *)fp_rows_sorted(rows, i) + of->offset, sizeof(value));
            sum += value;
        }
        if (sum != fp_pack_sum(pack, column))
            return false;
    }
    return true;
}

/* Sends a packed row for each segment and hour. */
static enum fp_store_result send_rows(struct fp_store *store, struct fp_rollup *rollup,
                                      struct fp_pack *pack, size_t *entries)
{
    const struct fp_rows *rows = &rollup->tables[pack->shape->source];
    enum fp_store_result result = FP_STORE_OK;
    size_t end;
    for (size_t first = 0; result == FP_STORE_OK && first < rows->count; first = end) {
        end = end_of_run(rows, first);
        FP_ASSERT(end > first);
        if (!pack_rows(rows, first, end, pack))
            return FP_STORE_MEMORY;
        FP_ASSERT(pack->count >= end - first);
        FP_ASSERT_COSTLY(packs_all(rows, first, end, pack));
        count_entries(rollup, key_at(rows, first), pack->count);
        *entries += pack->count;
        result = send_row(store, key_at(rows, first), pack);
    }
    return result;
}

static void write_copy_sql(const struct fp_pack_shape *shape, struct fp_buf *out)
{
    fp_buf_clear(out);
    fp_buf_addf(out, "copy fleetprof_data.%s_recent (group_id, bucket, spool_id, position",
                shape->name);
    for (size_t i = 0; i < shape->column_count; i++)
        fp_buf_addf(out, ", %s", shape->columns[i].name);
    fp_buf_addf(out, ") from stdin (format binary)");
}

static enum fp_store_result write_kind(struct fp_store *store, struct fp_rollup *rollup,
                                       const struct fp_pack_shape *shape, size_t *entries)
{
    struct fp_rows *rows = &rollup->tables[shape->source];
    struct fp_pack pack;
    if (rows->count == 0)
        return FP_STORE_OK;
    if (!fp_rows_sort(rows))
        return FP_STORE_MEMORY;
    write_copy_sql(shape, &store->sql);
    fp_pack_init(&pack, shape);
    enum fp_store_result result = fp_store_copy_begin(store);
    if (result == FP_STORE_OK)
        result = send_rows(store, rollup, &pack, entries);
    if (result == FP_STORE_OK)
        result = fp_store_copy_end(store);
    fp_pack_release(&pack);
    return result;
}

/* Tells the sealer, per site and hour, what this flush appended. */
static enum fp_store_result write_unsealed(struct fp_store *store, const struct fp_rollup *rollup)
{
    const struct fp_rows *hours = &rollup->tables[FP_ROLLUP_TABLE_HOUR];
    if (hours->count == 0)
        return FP_STORE_OK;
    fp_buf_clear(&store->sql);
    fp_buf_addf(&store->sql, "copy fleetprof_data.unsealed (site, bucket, spool_id, position, "
                             "entries) from stdin (format binary)");
    enum fp_store_result result = fp_store_copy_begin(store);
    for (size_t i = 0; result == FP_STORE_OK && i < hours->count; i++) {
        const struct fp_hour_row *hour = fp_rows_at(hours, i);
        fp_copy_fields(5, &store->rows);
        fp_copy_text(hour->site, &store->rows);
        fp_copy_time(hour->key.bucket_us, &store->rows);
        fp_copy_uuid(&store->flush_spool_id, &store->rows);
        fp_copy_bigint((int64_t)store->flush_position, &store->rows);
        fp_copy_integer(hour->entries < INT32_MAX ? (int32_t)hour->entries : INT32_MAX,
                        &store->rows);
        result = fp_store_copy_more(store);
    }
    return result == FP_STORE_OK ? fp_store_copy_end(store) : result;
}

enum fp_store_result fp_store_write_facts(struct fp_store *store, struct fp_rollup *rollup,
                                          size_t *entries)
{
    enum fp_store_result result = FP_STORE_OK;
    for (enum fp_pack_kind kind = 0; result == FP_STORE_OK && kind < FP_PACK_KIND_COUNT; kind++)
        result = write_kind(store, rollup, fp_pack_shape(kind), entries);
    if (result == FP_STORE_OK)
        result = write_unsealed(store, rollup);
    if (store->rows.cap > KEPT_BYTES)
        fp_buf_release(&store->rows);
    return result;
}
