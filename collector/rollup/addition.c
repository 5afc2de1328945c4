/*
 * Addition: the rows of a delta that is being added.
 */
#include "collector/rollup/addition.h"

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
    return fp_rows_put_hashed(batch->rows, &batch->keys[index].segment_id, batch->hashes[index],
                              added);
}

void *fp_addition_fact(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                       int64_t part)
{
    bool added;
    return fp_addition_put(add, table, id, part, &added);
}
