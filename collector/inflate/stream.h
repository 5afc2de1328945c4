/*
 * Stream: the two codecs that decompress piece by piece.
 */
#ifndef FP_INFLATE_STREAM_H
#define FP_INFLATE_STREAM_H

#include "collector/inflate/inflated.h"

/* Decompress a whole body, appending to out. A second zstd frame may follow the first. */
enum fp_verdict fp_inflate_brotli(struct fp_str body, struct fp_inflated *out) FP_MUST_CHECK;
enum fp_verdict fp_inflate_zstd(struct fp_str body, struct fp_inflated *out) FP_MUST_CHECK;

#endif
