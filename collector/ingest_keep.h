/*
 * Keep: which uploads are kept whole, and how what is kept is packed.
 */
#ifndef FP_INGEST_KEEP_H
#define FP_INGEST_KEEP_H

#include "collector/base/arena.h"
#include "collector/rollup/delta.h"

/* Draws whether a trace is kept; ppm: the share of them, parts per million. Any thread. */
bool fp_keep_draw(uint32_t ppm);

/*
 * Packs the content of the delta's session (none: nothing to do) with zstd. raw: the body to keep
 * instead of the scrubbed content, but for the values of cookies and authorization; ptr NULL: none.
 * False when the arena is full.
 */
bool fp_keep_pack(struct fp_delta *delta, struct fp_str raw, struct fp_arena *arena) FP_MUST_CHECK;

#endif
