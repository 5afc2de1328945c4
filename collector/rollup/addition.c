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
    struct fp_fact_key key = {add->segment_id, add->bucket_us, (int64_t)id, part};
    return fp_rows_put(&add->rollup->tables[table], &key.segment_id, added);
}

void *fp_addition_fact(const struct fp_addition *add, enum fp_rollup_table table, uint64_t id,
                       int64_t part)
{
    bool added;
    return fp_addition_put(add, table, id, part, &added);
}
