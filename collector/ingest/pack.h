/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keep: compresses the content that is kept of an upload.
 */
#ifndef FP_INGEST_PACK_H
#define FP_INGEST_PACK_H

#include "collector/base/arena.h"
#include "collector/rollup/delta.h"

/*
 * Compresses the content of the delta's session with zstd; does nothing without a session. raw: the
 * body to keep instead of the scrubbed content, except the values of cookies and authorization; ptr
 * NULL: none. False if the arena is full.
 */
bool fp_keep_pack(struct fp_delta *delta, struct fp_str raw, struct fp_arena *arena) FP_MUST_CHECK;

#endif
