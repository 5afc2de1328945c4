/* SPDX-License-Identifier: Apache-2.0 */
/* Variants: proven arms first, then the page's own words. */
#include "collector/ingest/variant.h"

#include "collector/base/assert.h"
#include "collector/profile/text.h"

#include <string.h>

bool fp_variant_join(struct fp_str arms, struct fp_str own, struct fp_arena *arena,
                     struct fp_str *variant)
{
    FP_ASSERT(arms.len < FP_TEXT_DIMENSION_MAX);
    if (own.len == 0) {
        *variant = arms;
        return true;
    }
    const size_t begin = arms.len > 0 ? arms.len + 1 : 0;
    own = fp_text_cut(own, FP_TEXT_DIMENSION_MAX - begin);
    char *text = fp_arena_alloc(arena, begin + own.len);
    if (text == NULL)
        return false;
    if (begin > 0) {
        memcpy(text, arms.ptr, arms.len);
        text[arms.len] = ',';
    }
    memcpy(text + begin, own.ptr, own.len);
    for (size_t i = begin; i < begin + own.len; i++)
        if (text[i] == '=')
            text[i] = ':';
    *variant = (struct fp_str){text, begin + own.len};
    return true;
}
