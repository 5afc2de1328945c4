/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carry: its memory.
 */
#include "collector/format/carry.h"

#include <stdlib.h>

struct fp_carry *fp_carry_create(enum fp_upload_format format)
{
    struct fp_carry *carry = calloc(1, sizeof(*carry));
    if (carry == NULL)
        return NULL;
    atomic_init(&carry->references, 1);
    carry->format = format;
    fp_arena_init(&carry->arena, FP_CARRY_BYTES_MAX);
    return carry;
}

struct fp_carry *fp_carry_ref(struct fp_carry *carry)
{
    if (carry != NULL)
        atomic_fetch_add_explicit(&carry->references, 1, memory_order_relaxed);
    return carry;
}

void fp_carry_unref(struct fp_carry *carry)
{
    if (carry == NULL || atomic_fetch_sub_explicit(&carry->references, 1, memory_order_acq_rel) > 1)
        return;
    fp_arena_release(&carry->arena);
    free(carry);
}
