/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflate: decompresses a body.
 */
#ifndef FP_INFLATE_INFLATE_H
#define FP_INFLATE_INFLATE_H

#include "collector/base/arena.h"
#include "collector/base/upload_error.h"

/* `Content-Encoding`, "" for none; gzip and zlib magic is recognised without it. */
struct fp_inflate_input {
    struct fp_str body;
    struct fp_str encoding;
    size_t max_inflated;
};

/*
 * Inflates gzip, deflate (zlib or raw), br and zstd, up to max_inflated bytes. Trailing garbage,
 * truncation and bad checksums are errors. *inflated is in the arena, or is the body itself if that
 * is not compressed. Any thread.
 */
enum fp_verdict fp_inflate(const struct fp_inflate_input *input, struct fp_arena *arena,
                           struct fp_str *inflated, struct fp_upload_error *error) FP_MUST_CHECK;

#endif
