/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inflated: output that grows in the arena.
 */
#include "collector/inflate/inflated.h"

#include "collector/base/assert.h"

#include <string.h>

enum fp_verdict fp_inflated_fail_too_large(const struct fp_inflated *out)
{
    return fp_upload_fail(out->error, FP_VERDICT_TOO_LARGE,
                          "the body is larger than %zu bytes when inflated (limits.max_inflated)",
                          out->max);
}

enum fp_verdict fp_inflated_grow_to(struct fp_inflated *out, size_t cap)
{
    FP_ASSERT(cap >= out->len && cap <= out->max);
    uint8_t *data = fp_arena_alloc(out->arena, cap);
    if (data == NULL)
        return fp_upload_fail_memory(out->error);
    if (out->len > 0)
        memcpy(data, out->data, out->len);
    out->data = data;
    out->cap = cap;
    return FP_VERDICT_OK;
}

enum fp_verdict fp_inflated_grow(struct fp_inflated *out)
{
    if (out->cap >= out->max)
        return fp_inflated_fail_too_large(out);
    size_t cap = out->cap < out->max / 2 ? out->cap * 2 : out->max;
    FP_ASSERT(cap > out->cap); /* else its caller would not come to an end */
    return fp_inflated_grow_to(out, cap);
}
