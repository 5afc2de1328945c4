/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffer: growing bytes with a maximum from the start.
 *
 * An append that fails sets `failed` and changes nothing; later appends do nothing, so that a
 * writer of many fields may check once at the end. Not thread-safe.
 */
#ifndef FP_BASE_BUF_H
#define FP_BASE_BUF_H

#include "collector/base/arena.h"
#include "collector/base/base.h"

struct fp_buf {
    uint8_t *data; /* owned; NULL while nothing was appended */
    size_t len;
    size_t cap;
    size_t max;
    bool failed;  /* an append did not fit or memory ran out */
    bool starved; /* it was memory */
};

/* Initialises an empty buffer that never grows past max bytes. */
void fp_buf_init(struct fp_buf *buf, size_t max);

/* Makes room for len more bytes and returns where to write them, NULL on failure; the caller adds
 * to `len`. The slow way of fp_buf_reserve. */
uint8_t *fp_buf_grow(struct fp_buf *buf, size_t len);

/* As fp_buf_grow, without a call if there is room already. */
static inline uint8_t *fp_buf_reserve(struct fp_buf *buf, size_t len)
{
    if (buf->data == NULL || buf->failed || buf->cap - buf->len < len)
        return fp_buf_grow(buf, len);
    return buf->data + buf->len;
}

/* Appends len bytes. */
static inline void fp_buf_add(struct fp_buf *buf, const void *bytes, size_t len)
{
    uint8_t *to = len > 0 ? fp_buf_reserve(buf, len) : NULL;
    if (to == NULL)
        return;
    memcpy(to, bytes, len);
    buf->len += len;
}

/* Appends text formatted by printf's rules. */
void fp_buf_addf(struct fp_buf *buf, const char *format, ...) FP_PRINTF(2, 3);

/* Empties the buffer and clears `failed` and `starved`, keeping its memory. */
void fp_buf_clear(struct fp_buf *buf);

/* Moves the contents into an arena, without a copy if possible, and empties the buffer. False if
 * the arena is full: the contents are then unchanged. */
bool fp_buf_give(struct fp_buf *buf, struct fp_arena *arena, struct fp_str *text) FP_MUST_CHECK;

/* Frees the memory. The buffer may be used again. */
void fp_buf_release(struct fp_buf *buf);

#endif
