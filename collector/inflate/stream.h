/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream: the two codecs that inflate piece by piece.
 */
#ifndef FP_INFLATE_STREAM_H
#define FP_INFLATE_STREAM_H

#include "collector/inflate/inflated.h"

/* Inflate a whole body and append it to out. zstd accepts several frames in a row. */
enum fp_verdict fp_inflate_brotli(struct fp_str body, struct fp_inflated *out) FP_MUST_CHECK;
enum fp_verdict fp_inflate_zstd(struct fp_str body, struct fp_inflated *out) FP_MUST_CHECK;

#endif
