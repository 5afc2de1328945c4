/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ladder: like the digits of a binary counter, packs of similar size merge into one of the next.
 */
#include "collector/sealer/ladder.h"

#include "collector/base/assert.h"

#include <stdlib.h>

enum { CAP_MIN = 4 };

void fp_ladder_release(struct fp_ladder *ladder)
{
    for (size_t i = 0; i < ladder->count; i++)
        fp_pack_release(&ladder->steps[i]);
    free(ladder->steps);
    *ladder = (struct fp_ladder){0};
}

static bool make_room(struct fp_ladder *ladder)
{
    if (ladder->count < ladder->cap)
        return true;
    size_t cap = ladder->cap > 0 ? ladder->cap * 2 : CAP_MIN;
    struct fp_pack *steps = realloc(ladder->steps, cap * sizeof(*steps));
    if (steps == NULL)
        return false;
    ladder->steps = steps;
    ladder->cap = cap;
    return true;
}

/* Merges the last two steps into one. */
static bool merge_last(struct fp_ladder *ladder)
{
    FP_ASSERT(ladder->count > 1);
    struct fp_pack *left = &ladder->steps[ladder->count - 2];
    struct fp_pack *right = &ladder->steps[ladder->count - 1];
    struct fp_pack merged;
    fp_pack_init(&merged, left->shape);
    if (!fp_pack_merge(left, right, &merged)) {
        fp_pack_release(&merged);
        return false;
    }
    FP_ASSERT(merged.count <= left->count + right->count);
    ladder->entries += merged.count - left->count - right->count;
    fp_pack_release(left);
    fp_pack_release(right);
    *left = merged;
    ladder->count--;
    return true;
}

bool fp_ladder_push(struct fp_ladder *ladder, struct fp_pack *pack)
{
    if (!make_room(ladder))
        return false;
    ladder->entries += pack->count;
    ladder->steps[ladder->count++] = *pack;
    fp_pack_init(pack, pack->shape);
    while (ladder->count > 1 &&
           ladder->steps[ladder->count - 2].count <= ladder->steps[ladder->count - 1].count * 2)
        if (!merge_last(ladder))
            return false;
    return true;
}

bool fp_ladder_finish(struct fp_ladder *ladder, struct fp_pack *pack)
{
    FP_ASSERT(ladder->count > 0);
    while (ladder->count > 1)
        if (!merge_last(ladder))
            return false;
    FP_ASSERT(ladder->entries == ladder->steps[0].count);
    *pack = ladder->steps[0];
    ladder->count = 0;
    fp_ladder_release(ladder);
    return true;
}
