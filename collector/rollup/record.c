/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record: deltas one after another, each preceded by its length.
 */
#include "collector/rollup/record.h"

#include <endian.h>

void fp_record_add(struct fp_buf *bytes, const struct fp_delta *delta)
{
    uint32_t little = 0; /* known once the delta is written */
    size_t start = bytes->len;
    fp_buf_add(bytes, &little, sizeof(little));
    fp_delta_encode(delta, bytes);
    if (bytes->failed)
        return;
    size_t delta_len = bytes->len - start - sizeof(little);
    if (delta_len > UINT32_MAX) {
        bytes->failed = true;
        return;
    }
    little = htole32((uint32_t)delta_len);
    memcpy(bytes->data + start, &little, sizeof(little));
}

/* Removes the first delta's bytes from the rest of a record. */
static bool take_delta(struct fp_str *left, struct fp_str *delta)
{
    uint32_t little;
    if (left->len < sizeof(little))
        return false;
    memcpy(&little, left->ptr, sizeof(little));
    *delta = (struct fp_str){left->ptr + sizeof(little), le32toh(little)};
    if (delta->len > left->len - sizeof(little))
        return false;
    left->ptr = delta->ptr + delta->len;
    left->len -= sizeof(little) + delta->len;
    return true;
}

size_t fp_record_count(const void *bytes, size_t len)
{
    struct fp_str left = {bytes, len};
    struct fp_str delta;
    size_t count = 0;
    while (left.len > 0) {
        if (count == FP_RECORD_DELTAS_MAX || !take_delta(&left, &delta))
            return 0;
        count++;
    }
    return count;
}

enum fp_delta_error fp_record_decode(const void *bytes, size_t len, struct fp_arena *arena,
                                     struct fp_record *record)
{
    struct fp_str left = {bytes, len};
    struct fp_str delta;
    size_t count = fp_record_count(bytes, len);
    if (count == 0)
        return FP_DELTA_DAMAGED;
    struct fp_delta *deltas = fp_arena_array(arena, count, sizeof(*deltas));
    if (deltas == NULL)
        return FP_DELTA_MEMORY;
    for (size_t i = 0; take_delta(&left, &delta); i++) {
        enum fp_delta_error error = fp_delta_decode(delta.ptr, delta.len, arena, &deltas[i]);
        if (error != FP_DELTA_OK)
            return error;
    }
    *record = (struct fp_record){deltas, count};
    return FP_DELTA_OK;
}
