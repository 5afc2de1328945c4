/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fold, inside: memory for the steps.
 */
#include "collector/profile/fold/internal.h"

void *fp_fold_array(struct fp_fold *fold, size_t count, size_t size)
{
    size_t len;
    return __builtin_mul_overflow(count, size, &len) ? NULL : fp_arena_alloc(fold->arena, len);
}

uint32_t *fp_fold_indexes(struct fp_fold *fold, size_t count)
{
    uint32_t *indexes = fp_fold_array(fold, count, sizeof(*indexes));
    if (indexes != NULL)
        memset(indexes, 0xFF, count * sizeof(*indexes)); /* FP_INDEX_NONE */
    return indexes;
}
