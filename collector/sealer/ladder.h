/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ladder: merges many packs of one kind into one, each entry a logarithmic number of times.
 *
 * Belongs to one thread.
 */
#ifndef FP_SEALER_LADDER_H
#define FP_SEALER_LADDER_H

#include "collector/pack/pack.h"

/* Packs of falling size: each has more than twice the entries of the next. */
struct fp_ladder {
    struct fp_pack *steps; /* owned, as are the packs */
    size_t count;
    size_t cap;
    size_t entries; /* of all steps */
};

/* A zeroed ladder is an empty one. Releases all its packs. */
void fp_ladder_release(struct fp_ladder *ladder);

/* Takes the pack over and leaves an empty one. False: no memory or too many entries; `pack` is then
 * unchanged or empty, and the ladder is only good for releasing. */
bool fp_ladder_push(struct fp_ladder *ladder, struct fp_pack *pack) FP_MUST_CHECK;

/* Merges all steps into *pack, which the caller owns then, and empties the ladder. The ladder has a
 * step. False: as above. */
bool fp_ladder_finish(struct fp_ladder *ladder, struct fp_pack *pack) FP_MUST_CHECK;

#endif
