/*
 * Bytes in: reads the kinds of values that delta bytes are made of (docs/delta.md).
 *
 * A reader that has met an error gives zeros from then on, so that a run of fields is read without
 * a check after each; loops and allocations look at `error` first.
 */
#ifndef FP_ROLLUP_BYTES_IN_H
#define FP_ROLLUP_BYTES_IN_H

#include "collector/rollup/delta.h"
#include "collector/rollup/delta_bytes.h"

#include <endian.h>

struct reader {
    const uint8_t *at;
    const uint8_t *end;
    struct fp_arena *arena;
    enum fp_delta_error error;
    unsigned version; /* of the bytes */
};

static inline bool fine(const struct reader *in)
{
    return in->error == FP_DELTA_OK;
}

static inline void refuse(struct reader *in, enum fp_delta_error error)
{
    if (fine(in))
        in->error = error;
    in->at = in->end;
}

/* The next len bytes, NULL when there are not so many. */
static inline const uint8_t *take(struct reader *in, uint64_t len)
{
    if (!fine(in) || len > (uint64_t)(in->end - in->at)) {
        refuse(in, FP_DELTA_DAMAGED);
        return NULL;
    }
    const uint8_t *bytes = in->at;
    in->at += len;
    return bytes;
}

/* A byte below `limit`. */
static inline unsigned take_byte(struct reader *in, unsigned limit)
{
    const uint8_t *byte = take(in, 1);
    if (byte != NULL && *byte < limit)
        return *byte;
    refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

static inline uint64_t take_fixed64(struct reader *in)
{
    const uint8_t *bytes = take(in, 8);
    uint64_t little = 0;
    if (bytes != NULL)
        memcpy(&little, bytes, sizeof(little));
    return le64toh(little);
}

/* A number of at most `max`, in its shortest form or not. */
static inline uint64_t take_varint(struct reader *in, uint64_t max)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *byte = take(in, 1);
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
    refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

static inline uint32_t take_count(struct reader *in)
{
    return (uint32_t)take_varint(in, UINT32_MAX);
}

static inline int64_t take_signed(struct reader *in)
{
    uint64_t folded = take_varint(in, UINT64_MAX);
    return (int64_t)(folded >> 1) ^ -(int64_t)(folded & 1);
}

/* Time that was spent; version 1 knew none below zero. */
static inline int64_t take_time(struct reader *in)
{
    if (in->version == 1)
        return (int64_t)take_varint(in, FP_DELTA_TIME_MAX_US);
    int64_t value = take_signed(in);
    if (value >= -FP_DELTA_TIME_MAX_US && value <= FP_DELTA_TIME_MAX_US)
        return value;
    refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

/* A timing's value, within the range of the contract. */
static inline int64_t take_value(struct reader *in)
{
    int64_t value = take_signed(in);
    if (value >= -FP_DELTA_VALUE_MAX_US && value <= FP_DELTA_VALUE_MAX_US)
        return value;
    refuse(in, FP_DELTA_DAMAGED);
    return 0;
}

/* An index below count. */
static inline uint32_t take_index(struct reader *in, uint32_t count)
{
    if (count == 0) {
        refuse(in, FP_DELTA_DAMAGED);
        return 0;
    }
    return (uint32_t)take_varint(in, count - 1);
}

/* The same, or FP_INDEX_NONE. */
static inline uint32_t take_optional_index(struct reader *in, uint32_t count)
{
    uint64_t shifted = take_varint(in, count);
    return shifted == 0 ? FP_INDEX_NONE : (uint32_t)shifted - 1;
}

static inline int32_t take_position(struct reader *in)
{
    return (int32_t)((int64_t)take_varint(in, (uint64_t)INT32_MAX + 1) - 1);
}

static inline struct fp_str take_text(struct reader *in)
{
    uint64_t len = take_varint(in, UINT32_MAX);
    const uint8_t *bytes = take(in, len);
    return bytes != NULL ? (struct fp_str){(const char *)bytes, (size_t)len} : FP_STR("");
}

static inline struct fp_uuid take_uuid(struct reader *in)
{
    struct fp_uuid uuid = {{0}};
    const uint8_t *bytes = take(in, sizeof(uuid.bytes));
    if (bytes != NULL)
        memcpy(uuid.bytes, bytes, sizeof(uuid.bytes));
    return uuid;
}

/*
 * An array of *count elements, where *count comes from the bytes. An element takes at least min_len
 * bytes, so that a count without the bytes for it does not cost memory.
 */
static inline void *take_array(struct reader *in, uint32_t *count, size_t size, size_t min_len)
{
    *count = take_count(in);
    if (*count > (size_t)(in->end - in->at) / min_len)
        refuse(in, FP_DELTA_DAMAGED);
    void *array = fine(in) ? fp_arena_array(in->arena, *count, size) : NULL;
    if (array == NULL) {
        refuse(in, FP_DELTA_MEMORY);
        *count = 0;
    }
    return array;
}

#endif
