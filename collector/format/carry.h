/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carry: what one part of a long session leaves to the next one, in the form of its format.
 *
 * A carry does not change once it is made, and is shared by counting references: a part that is
 * sent again finds what its first try found. Any thread may read it.
 */
#ifndef FP_FORMAT_CARRY_H
#define FP_FORMAT_CARRY_H

#include "collector/base/arena.h"
#include "collector/base/base.h"
#include "collector/base/words.h"

#include <stdatomic.h>

#define FP_CARRY_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct fp_carry {
    atomic_uint references;
    struct fp_arena arena; /* all memory of the state */
    enum fp_upload_format format;
    const void *state; /* the format's own */
};

/* How a part continues its session. */
struct fp_continuation {
    struct fp_carry *before; /* of the nearest part before it; NULL: none is known */
    bool is_next;            /* true for the first part, and if that is the part just before */
    struct fp_carry
        *after; /* set by the decoder: the caller's; NULL: nothing to leave, or no memory */
};

/* Makes a carry with one reference, an empty arena of FP_CARRY_BYTES_MAX and no state. NULL when
 * out of memory. */
struct fp_carry *fp_carry_create(enum fp_upload_format format) FP_MUST_CHECK;

/* Add and drop a reference; dropping the last one frees. NULL is fine. */
struct fp_carry *fp_carry_ref(struct fp_carry *carry);
void fp_carry_unref(struct fp_carry *carry);

#endif
