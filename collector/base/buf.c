/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffer: one malloc'd run of bytes that doubles until its maximum.
 */
#include "collector/base/buf.h"

#include "collector/base/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CAP_MIN = 64 };

void fp_buf_init(struct fp_buf *buf, size_t max)
{
    *buf = (struct fp_buf){.max = max};
}

static bool is_within_bounds(const struct fp_buf *buf)
{
    return buf->len <= buf->cap && buf->cap <= buf->max;
}

uint8_t *fp_buf_grow(struct fp_buf *buf, size_t len)
{
    FP_ASSERT(is_within_bounds(buf));
    if (buf->failed)
        return NULL;
    if (buf->data != NULL && buf->cap - buf->len >= len)
        return buf->data + buf->len;
    if (len > buf->max - buf->len) {
        buf->failed = true;
        return NULL;
    }
    size_t needed = buf->len + len;
    size_t cap = buf->cap > buf->max / 2 ? buf->max : buf->cap * 2;
    if (cap < CAP_MIN)
        cap = CAP_MIN < buf->max ? CAP_MIN : buf->max;
    if (cap < needed)
        cap = needed;
    uint8_t *data = realloc(buf->data, cap > 0 ? cap : 1);
    if (data == NULL) {
        buf->failed = true;
        buf->starved = true;
        return NULL;
    }
    buf->data = data;
    buf->cap = cap;
    FP_ASSERT(is_within_bounds(buf) && buf->cap - buf->len >= len);
    return buf->data + buf->len;
}

void fp_buf_addf(struct fp_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    /* One byte more than the text: vsnprintf needs room for its NUL. */
    char small[256];
    if (len < 0) {
        buf->failed = true;
    } else if ((size_t)len < sizeof(small)) {
        vsnprintf(small, sizeof(small), format, again);
        fp_buf_add(buf, small, (size_t)len);
    } else {
        char *large = malloc((size_t)len + 1);
        if (large == NULL) {
            buf->failed = true;
            buf->starved = true;
        } else {
            vsnprintf(large, (size_t)len + 1, format, again);
            fp_buf_add(buf, large, (size_t)len);
            free(large);
        }
    }
    va_end(again);
}

void fp_buf_clear(struct fp_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    buf->starved = false;
}

bool fp_buf_give(struct fp_buf *buf, struct fp_arena *arena, struct fp_str *text)
{
    FP_ASSERT(is_within_bounds(buf));
    /* Unused room is freed. */
    uint8_t *data = buf->len > 0 ? realloc(buf->data, buf->len) : NULL;
    if (data != NULL) {
        buf->data = data;
        buf->cap = buf->len;
    }
    const struct fp_str held = {(const char *)buf->data, buf->len};
    *text = held;
    if (fp_arena_adopt(arena, buf->data, buf->cap)) {
        fp_buf_init(buf, buf->max);
        return true;
    }
    /* The arena's current block may have room. */
    if (!fp_arena_copy(arena, held, text))
        return false;
    fp_buf_release(buf);
    return true;
}

void fp_buf_release(struct fp_buf *buf)
{
    free(buf->data);
    fp_buf_init(buf, buf->max);
}
