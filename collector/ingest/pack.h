/*
 * Keep: how what is kept of an upload is packed.
 */
#ifndef FP_INGEST_PACK_H
#define FP_INGEST_PACK_H

#include "collector/base/arena.h"
#include "collector/rollup/delta.h"

/*
 * Packs the content of the delta's session (none: nothing to do) with zstd. raw: the body to keep
 * instead of the scrubbed content, but for the values of cookies and authorization; ptr NULL: none.
 * False when the arena is full.
 */
bool fp_keep_pack(struct fp_delta *delta, struct fp_str raw, struct fp_arena *arena) FP_MUST_CHECK;

#endif
