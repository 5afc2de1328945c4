/*
 * Inflate, inside: the output that grows in the arena, and the two streaming codecs.
 */
#ifndef FP_FORMAT_INFLATE_H
#define FP_FORMAT_INFLATE_H

#include "collector/format/format.h"

/* Output of a codec; grows by doubling up to max bytes. */
struct fp_inflated {
    struct fp_arena *arena;
    struct fp_format_error *error;
    uint8_t *data;
    size_t len;
    size_t cap;
    size_t max;
};

/* Makes room for at least one more byte. Fails with 413 at the maximum, 503 when memory is out. */
enum fp_format_verdict fp_inflated_grow(struct fp_inflated *out) FP_MUST_CHECK;

/* Decompress a whole body, appending to out. A second zstd frame may follow the first. */
enum fp_format_verdict fp_inflate_brotli(struct fp_str body, struct fp_inflated *out) FP_MUST_CHECK;
enum fp_format_verdict fp_inflate_zstd(struct fp_str body, struct fp_inflated *out) FP_MUST_CHECK;

#endif
