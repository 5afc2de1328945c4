/*
 * What the writer and the reader of delta bytes agree upon. docs/delta.md describes the layout.
 */
#ifndef FP_ROLLUP_DELTA_BYTES_H
#define FP_ROLLUP_DELTA_BYTES_H

#include <stdint.h>

#define FP_DELTA_BYTES_VERSION 2 /* version 1 is read, too */

enum fp_delta_flag {
    FP_DELTA_HAS_LOAD = 1,
    FP_DELTA_TRUNCATED = 2,
    FP_DELTA_HAS_SESSION = 4, /* from version 2 on */
    FP_DELTA_FLAGS = 7
};

/* Bounds that keep a window's sums within 64 bits: 20,000 uploads and a record's more, times 2^48,
 * are below 2^63. */
#define FP_DELTA_TIME_MAX_US (INT64_C(1) << 48)
#define FP_DELTA_VALUE_MAX_US (INT64_C(1) << 53)

#endif
