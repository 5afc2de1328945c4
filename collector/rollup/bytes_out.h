/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes out: appends the kinds of values that delta bytes consist of (docs/internals/delta.md) to a
 * buffer. The buffer remembers failures.
 */
#ifndef FP_ROLLUP_BYTES_OUT_H
#define FP_ROLLUP_BYTES_OUT_H

#include "collector/base/buf.h"
#include "collector/rollup/delta.h"

#include <endian.h>

static inline void fp_out_byte(struct fp_buf *out, unsigned value)
{
    uint8_t byte = (uint8_t)value;
    fp_buf_add(out, &byte, 1);
}

static inline void fp_out_fixed64(struct fp_buf *out, uint64_t value)
{
    uint64_t little = htole64(value);
    fp_buf_add(out, &little, sizeof(little));
}

/* LEB128: seven bits per byte, the low ones first. */
static inline void fp_out_varint(struct fp_buf *out, uint64_t value)
{
    enum { LONGEST = 10 };
    uint8_t *to = fp_buf_reserve(out, LONGEST);
    if (to == NULL)
        return;
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    out->len = (size_t)(to - out->data);
}

/* Small negative numbers stay small. */
static inline void fp_out_signed(struct fp_buf *out, int64_t value)
{
    fp_out_varint(out, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

/* Appends a duration. */
static inline void fp_out_time(struct fp_buf *out, int64_t value_us)
{
    fp_out_signed(out, value_us);
}

/* An index or position that may be absent: absent is 0. */
static inline void fp_out_index(struct fp_buf *out, uint32_t index)
{
    fp_out_varint(out, index == FP_INDEX_NONE ? 0 : (uint64_t)index + 1);
}

static inline void fp_out_position(struct fp_buf *out, int32_t position)
{
    fp_out_varint(out, (uint64_t)((int64_t)position + 1));
}

static inline void fp_out_text(struct fp_buf *out, struct fp_str text)
{
    fp_out_varint(out, text.len);
    fp_buf_add(out, text.ptr, text.len);
}

#endif
