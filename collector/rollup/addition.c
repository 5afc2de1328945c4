/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addition: the rows of a delta that is being added.
 */
#include "collector/rollup/addition.h"

#include "collector/base/assert.h"

bool fp_addition_text(const struct fp_addition *add, struct fp_str text, struct fp_str *copy)
{
    return fp_arena_copy(&add->rollup->texts, text, copy);
}

void *fp_addition_put(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                      int64_t part, bool *added)
{
    struct fp_fact_key key = fp_addition_key(add, id, part);
    return fp_rows_put(&add->rollup->tables[table], &key.segment_id, added);
}

struct fp_fact_key fp_addition_key(const struct fp_addition *add, uint64_t id, int64_t part)
{
    return (struct fp_fact_key){add->segment_id, add->bucket_us, (int64_t)id, part};
}

void fp_addition_begin_batch(struct fp_addition_batch *batch, uint32_t left)
{
    batch->count = left < FP_ADDITION_BATCH ? left : FP_ADDITION_BATCH;
}

void fp_addition_prefetch(const struct fp_addition *add, enum fp_rollup_table table,
                          struct fp_addition_batch *batch)
{
    FP_ASSERT(batch->count <= FP_ADDITION_BATCH);
    batch->rows = &add->rollup->tables[table];
    for (uint32_t i = 0; i < batch->count; i++) {
        batch->hashes[i] = fp_rows_hash(batch->rows, &batch->keys[i].segment_id);
        fp_rows_prefetch_slot(batch->rows, batch->hashes[i]);
    }
    for (uint32_t i = 0; i < batch->count; i++)
        fp_rows_prefetch_row(batch->rows, batch->hashes[i]);
}

void *fp_addition_put_batched(struct fp_addition_batch *batch, uint32_t index, bool *added)
{
    FP_ASSERT(index < batch->count);
    return fp_rows_put_hashed(batch->rows, &batch->keys[index].segment_id, batch->hashes[index],
                              added);
}

void *fp_addition_fact(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                       int64_t part)
{
    bool added;
    return fp_addition_put(add, table, id, part, &added);
}

/* True if the id's dictionary row can be left out. */
static bool is_known(const struct fp_addition *add, uint64_t id)
{
    const struct fp_map *known = add->rollup->known;
    return known != NULL && fp_map_get(known, id) != FP_MAP_NONE;
}

bool fp_addition_knows_segment(const struct fp_addition *add)
{
    const struct fp_map *known = add->rollup->known;
    if (known == NULL)
        return false;
    const uint32_t second = fp_map_get(known, (uint64_t)add->segment_id);
    return second != FP_MAP_NONE && second < fp_segment_second(add->counted_us);
}

bool fp_addition_name(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                      void **row)
{
    int64_t key = (int64_t)id;
    bool added = false;
    *row = NULL;
    if (is_known(add, id))
        return true;
    void *put = fp_rows_put(&add->rollup->tables[table], &key, &added);
    if (added)
        *row = put;
    return put != NULL;
}

bool fp_addition_timing_name(const struct fp_addition *add, const struct fp_delta_timing *timing)
{
    void *added;
    if (!fp_addition_name(add, FP_ROLLUP_TABLE_TIMING, timing->id, &added))
        return false;
    struct fp_timing_row *row = added;
    if (row == NULL)
        return true;
    row->kind = timing->kind;
    row->navigation = fp_str_of(fp_navigation_name(timing->navigation));
    return fp_addition_text(add, timing->name, &row->name) &&
           fp_addition_text(add, timing->source, &row->source) &&
           fp_addition_text(add, timing->function, &row->function);
}

/* Returns eight bytes of a uuid as a signed number that sorts as the bytes do. */
static int64_t uuid_word(const uint8_t *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
    return (int64_t)(be64toh(word) ^ (UINT64_C(1) << 63));
}

struct fp_claim_key fp_claim_key(const struct fp_uuid *id, int64_t site_id)
{
    return (struct fp_claim_key){uuid_word(id->bytes), uuid_word(id->bytes + 8), site_id};
}
