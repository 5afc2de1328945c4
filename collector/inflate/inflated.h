/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflated: the output of a codec, in the arena.
 */
#ifndef FP_INFLATE_INFLATED_H
#define FP_INFLATE_INFLATED_H

#include "collector/base/arena.h"
#include "collector/base/upload_error.h"

/* Output of a codec; grows by doubling up to max bytes. */
struct fp_inflated {
    struct fp_arena *arena;
    struct fp_upload_error *error;
    uint8_t *data;
    size_t len;
    size_t cap;
    size_t max;
};

/* Makes room for at least one more byte. Fails at the maximum (413) or when memory is out (503). */
enum fp_verdict fp_inflated_grow(struct fp_inflated *out) FP_MUST_CHECK;

/* Makes room for cap bytes and keeps the output so far. Fails when memory is out (503). */
enum fp_verdict fp_inflated_grow_to(struct fp_inflated *out, size_t cap) FP_MUST_CHECK;

/* Fills the error for an output over its maximum (413). Returns its verdict. */
enum fp_verdict fp_inflated_fail_too_large(const struct fp_inflated *out);

#endif
