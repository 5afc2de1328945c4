/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as tuples of packed rows, the first byte being the kind. What decodes encodes
 * to the same bytes, except for nulls of earlier versions, and merging loses nothing, whatever the
 * order of the keys.
 */
#include "collector/base/buf.h"
#include "collector/pack/pack.h"
#include "tests/fuzz/check.h"

enum { BYTES_MAX = 16 * 1024 * 1024 };

/* Adds up a whole column. Floating point columns count as 0. */
static __int128 total(const struct fp_pack *pack, size_t column)
{
    enum fp_pack_type type = pack->shape->columns[column].type;
    __int128 sum = 0;
    for (size_t i = 0; i < pack->count; i++)
        if (type == FP_PACK_COUNT)
            sum += ((const int32_t *)pack->columns[column])[i];
        else if (type == FP_PACK_SUM)
            sum += ((const int64_t *)pack->columns[column])[i];
    return sum;
}

static bool has_negative_count(const struct fp_pack *pack)
{
    for (size_t column = 0; column < pack->shape->column_count; column++)
        for (size_t i = 0; i < pack->count; i++)
            if (pack->shape->columns[column].type == FP_PACK_COUNT &&
                ((const int32_t *)pack->columns[column])[i] < 0)
                return true;
    return false;
}

/* True if an earlier version may have written null for a column. */
static bool has_later_column(const struct fp_pack_shape *shape)
{
    for (size_t i = 0; i < shape->column_count; i++)
        if (shape->columns[i].like != NULL)
            return true;
    return false;
}

static void check_encoding(const struct fp_pack *pack, const uint8_t *bytes, size_t len)
{
    struct fp_buf again;
    struct fp_buf once_more;
    struct fp_pack decoded;
    fp_buf_init(&again, BYTES_MAX);
    fp_buf_init(&once_more, BYTES_MAX);
    fp_pack_init(&decoded, pack->shape);
    fp_pack_encode(pack, &again);
    bool is_same = again.len == len && memcmp(again.data, bytes, len) == 0;
    /* A null becomes the values that stand for it, which are longer. */
    check(!again.failed && (is_same || (has_later_column(pack->shape) && again.len > len)));
    const uint8_t *at = (const uint8_t *)again.data;
    check(fp_pack_decode(&decoded, &at, (const uint8_t *)again.data + again.len));
    fp_pack_encode(&decoded, &once_more);
    check(once_more.len == again.len && memcmp(once_more.data, again.data, again.len) == 0);
    fp_pack_release(&decoded);
    fp_buf_release(&once_more);
    fp_buf_release(&again);
}

/* True if merging loses nothing of a column: an entry whose counts are all 0 vanishes with its
 * other values. */
static bool stays(const struct fp_pack_shape *shape, size_t column)
{
    return !shape->may_vanish || shape->columns[column].type == FP_PACK_COUNT;
}

static void check_merge(const struct fp_pack *left, const struct fp_pack *right)
{
    struct fp_pack out;
    fp_pack_init(&out, left->shape);
    check(fp_pack_merge(left, right, &out));
    check(out.count <= left->count + right->count);
    bool adds = !has_negative_count(left) && !has_negative_count(right);
    for (size_t i = 0; adds && i < left->shape->column_count; i++)
        if (stays(left->shape, i))
            check(total(&out, i) == total(left, i) + total(right, i));
    fp_pack_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return 0;
    const struct fp_pack_shape *shape = fp_pack_shape(bytes[0] % FP_PACK_KIND_COUNT);
    const uint8_t *at = bytes + 1;
    struct fp_pack left;
    struct fp_pack right;
    fp_pack_init(&left, shape);
    fp_pack_init(&right, shape);
    if (fp_pack_decode(&left, &at, bytes + len)) {
        check_encoding(&left, bytes + 1, (size_t)(at - bytes) - 1);
        check_merge(&left, &left);
        if (fp_pack_decode(&right, &at, bytes + len))
            check_merge(&left, &right);
    } else {
        check(left.count == 0 && at == bytes + 1);
    }
    fp_pack_release(&left);
    fp_pack_release(&right);
    return 0;
}
