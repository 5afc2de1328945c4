/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record: shared by the fuzzers of formats; an upload comes back from the spool.
 */
#ifndef FP_TESTS_FUZZ_RECORD_H
#define FP_TESTS_FUZZ_RECORD_H

#include "collector/base/buf.h"
#include "collector/rollup/delta.h"
#include "tests/fuzz/check.h"

/* Checks that an acknowledged upload can be read from the spool. max_len: of its record. */
static inline void check_record(const struct fp_delta *delta, size_t max_len,
                                struct fp_arena *arena)
{
    struct fp_buf bytes;
    struct fp_delta decoded;
    fp_buf_init(&bytes, max_len);
    fp_delta_encode(delta, &bytes);
    enum fp_delta_error error =
        bytes.failed ? FP_DELTA_MEMORY : fp_delta_decode(bytes.data, bytes.len, arena, &decoded);
    check(error == FP_DELTA_OK || error == FP_DELTA_MEMORY);
    fp_buf_release(&bytes);
}

#endif
