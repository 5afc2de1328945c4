/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constants that the writer and the reader of delta bytes share. docs/internals/delta.md describes
 * the layout.
 */
#ifndef FP_ROLLUP_DELTA_BYTES_H
#define FP_ROLLUP_DELTA_BYTES_H

#define FP_DELTA_BYTES_VERSION 10 /* earlier ones can be read */

enum fp_delta_flag {
    FP_DELTA_HAS_LOAD = 1,
    FP_DELTA_TRUNCATED = 2,
    FP_DELTA_HAS_SESSION = 4, /* from version 2 on */
    FP_DELTA_FLAGS = 7
};

#endif
