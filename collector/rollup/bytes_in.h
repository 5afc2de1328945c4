/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in: reads the kinds of values that delta bytes consist of (docs/internals/delta.md).
 *
 * After an error the reader returns zeros, so a run of fields needs no check after each; loops and
 * allocations check `error` first.
 */
#ifndef FP_ROLLUP_BYTES_IN_H
#define FP_ROLLUP_BYTES_IN_H

#include "collector/base/clock.h"
#include "collector/rollup/delta.h"
#include "collector/rollup/delta_bytes.h"

#include <endian.h>

struct fp_in {
    const uint8_t *at;
    const uint8_t *end;
    struct fp_arena *arena;
    enum fp_delta_error error;
    unsigned version; /* of the bytes */
};

static inline bool fp_in_ok(const struct fp_in *in)
{
    return in->error == FP_DELTA_OK;
}

static inline void fp_in_refuse(struct fp_in *in, enum fp_delta_error error)
{
    if (fp_in_ok(in))
        in->error = error;
    in->at = in->end;
}

/* Returns the next len bytes, NULL if there are fewer. */
static inline const uint8_t *fp_in_bytes(struct fp_in *in, uint64_t len)
{
    if (!fp_in_ok(in) || len > (uint64_t)(in->end - in->at)) {
        fp_in_refuse(in, FP_DELTA_DAMAGED);
        return NULL;
    }
    const uint8_t *bytes = in->at;
    in->at += len;
    return bytes;
}

/* Reads a byte below `limit`. */
static inline unsigned fp_in_byte(struct fp_in *in, unsigned limit)
{
    const uint8_t *byte = fp_in_bytes(in, 1);
    if (byte != NULL && *byte < limit)
        return *byte;
    fp_in_refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

static inline uint64_t fp_in_fixed64(struct fp_in *in)
{
    const uint8_t *bytes = fp_in_bytes(in, 8);
    uint64_t little = 0;
    if (bytes != NULL)
        memcpy(&little, bytes, sizeof(little));
    return le64toh(little);
}

/* Reads a number of at most `max`; its encoding need not be the shortest. */
static inline uint64_t fp_in_varint(struct fp_in *in, uint64_t max)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = fp_in_bytes(in, 1);
        if (byte == NULL)
            return 0;
        uint64_t bits = *byte & 0x7fu;
        if (shift == 63 && bits > 1)
            break;
        value |= bits << shift;
        if (*byte < 0x80) {
            if (value <= max)
                return value;
            break;
        }
    }
    fp_in_refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

static inline uint32_t fp_in_count(struct fp_in *in)
{
    return (uint32_t)fp_in_varint(in, UINT32_MAX);
}

static inline int64_t fp_in_signed(struct fp_in *in)
{
    uint64_t folded = fp_in_varint(in, UINT64_MAX);
    return (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

/* Reads a duration. Version 1 had no negative ones. */
static inline int64_t fp_in_time(struct fp_in *in)
{
    if (in->version == 1)
        return (int64_t)fp_in_varint(in, FP_DELTA_TIME_MAX_US);
    int64_t value = fp_in_signed(in);
    if (value >= -FP_DELTA_TIME_MAX_US && value <= FP_DELTA_TIME_MAX_US)
        return value;
    fp_in_refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

/* Reads a timing's value, within the range of the contract. */
static inline int64_t fp_in_value(struct fp_in *in)
{
    int64_t value = fp_in_signed(in);
    if (value >= -FP_TIME_MAX_US && value <= FP_TIME_MAX_US)
        return value;
    fp_in_refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

/* Reads an index below count. */
static inline uint32_t fp_in_index(struct fp_in *in, uint32_t count)
{
    if (count == 0) {
        fp_in_refuse(in, FP_DELTA_DAMAGED);
        return 0;
    }
    return (uint32_t)fp_in_varint(in, count - 1);
}

/* Reads an index below count or FP_INDEX_NONE. */
static inline uint32_t fp_in_optional_index(struct fp_in *in, uint32_t count)
{
    uint64_t shifted = fp_in_varint(in, count);
    return shifted == 0 ? FP_INDEX_NONE : (uint32_t)shifted - 1;
}

static inline int32_t fp_in_position(struct fp_in *in)
{
    return (int32_t)((int64_t)fp_in_varint(in, (uint64_t)INT32_MAX + 1) - 1);
}

static inline struct fp_str fp_in_text(struct fp_in *in)
{
    uint64_t len = fp_in_varint(in, UINT32_MAX);
    const uint8_t *bytes = fp_in_bytes(in, len);
    return bytes != NULL ? (struct fp_str){(const char *)bytes, (size_t)len} : FP_STR("");
}

static inline struct fp_uuid fp_in_uuid(struct fp_in *in)
{
    struct fp_uuid uuid = {{0}};
    const uint8_t *bytes = fp_in_bytes(in, sizeof(uuid.bytes));
    if (bytes != NULL)
        memcpy(uuid.bytes, bytes, sizeof(uuid.bytes));
    return uuid;
}

/*
 * Reads *count and allocates an array of that many elements. An element takes at least min_len
 * bytes, so a count without the bytes for it costs no memory.
 */
static inline void *fp_in_array(struct fp_in *in, uint32_t *count, size_t size, size_t min_len)
{
    *count = fp_in_count(in);
    if (*count > (size_t)(in->end - in->at) / min_len)
        fp_in_refuse(in, FP_DELTA_DAMAGED);
    void *array = fp_in_ok(in) ? fp_arena_array(in->arena, *count, size) : NULL;
    if (array == NULL) {
        fp_in_refuse(in, FP_DELTA_MEMORY);
        *count = 0;
    }
    return array;
}

#endif
