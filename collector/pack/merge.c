/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge: decides first which entries go together, then merges column by column.
 *
 * Entries of one key stay apart where a sum would not fit its column. That is rare, so the first
 * try does not look for it: the columns tell when it has happened, and a second try is careful.
 */
#include "collector/pack/pack.h"

#include "collector/base/assert.h"

#include <float.h>
#include <stdlib.h>

/* The entries that make one entry of the result. An absent one has the number after the last. */
struct pair {
    uint32_t left;
    uint32_t right;
};

struct plan {
    struct pair *pairs;
    size_t count;
};

static inline int64_t key_word(const struct fp_pack *pack, size_t column, size_t at)
{
    return pack->shape->columns[column].type == FP_PACK_KEY_ID
               ? ((const int64_t *)pack->columns[column])[at]
               : ((const int16_t *)pack->columns[column])[at];
}

/* Returns how the keys of two entries compare: below, at or above 0. */
static inline int compare(const struct fp_pack *left, size_t i, const struct fp_pack *right,
                          size_t j)
{
    for (size_t column = 0; column < left->shape->key_count; column++) {
        int64_t a = key_word(left, column, i);
        int64_t b = key_word(right, column, j);
        if (a != b)
            return a < b ? -1 : 1;
    }
    return 0;
}

/* True if the sums of two entries fit their columns. */
static bool fits(const struct fp_pack *left, size_t i, const struct fp_pack *right, size_t j)
{
    int64_t sum;
    for (size_t column = left->shape->key_count; column < left->shape->column_count; column++) {
        const void *a = left->columns[column];
        const void *b = right->columns[column];
        enum fp_pack_type type = left->shape->columns[column].type;
        if (type == FP_PACK_COUNT &&
            (int64_t)((const int32_t *)a)[i] + ((const int32_t *)b)[j] > INT32_MAX)
            return false;
        if (type == FP_PACK_SUM &&
            __builtin_add_overflow(((const int64_t *)a)[i], ((const int64_t *)b)[j], &sum))
            return false;
    }
    return true;
}

/*
 * Fills the pairs from the end of `pairs`, which has room for all entries of both. So the last
 * entries of a key merge, and full ones before them are left alone.
 */
static struct plan make_plan(const struct fp_pack *left, const struct fp_pack *right, bool careful,
                             struct pair *pairs)
{
    size_t i = left->count;
    size_t j = right->count;
    struct pair *end = pairs + i + j;
    struct pair *at = end;
    while (i > 0 && j > 0) {
        int order = compare(left, i - 1, right, j - 1);
        bool takes_right = order <= 0;
        bool takes_left =
            order > 0 || (order == 0 && (!careful || fits(left, i - 1, right, j - 1)));
        *--at = (struct pair){(uint32_t)(takes_left ? i - 1 : left->count),
                              (uint32_t)(takes_right ? j - 1 : right->count)};
        i -= takes_left;
        j -= takes_right;
    }
    for (; i > 0; i--)
        *--at = (struct pair){(uint32_t)(i - 1), (uint32_t)right->count};
    for (; j > 0; j--)
        *--at = (struct pair){(uint32_t)left->count, (uint32_t)(j - 1)};
    return (struct plan){at, (size_t)(end - at)};
}

/* Puts what stands for an absent entry behind the last one: merging it changes nothing. */
static void put_absent(const struct fp_pack *pack)
{
    for (size_t i = 0; i < pack->shape->column_count; i++) {
        void *column = pack->columns[i];
        switch (pack->shape->columns[i].type) {
        case FP_PACK_KEY_ID:
        case FP_PACK_GREATEST:
            ((int64_t *)column)[pack->count] = INT64_MIN;
            break;
        case FP_PACK_KEY_NUMBER:
            ((int16_t *)column)[pack->count] = INT16_MIN;
            break;
        case FP_PACK_COUNT:
            ((int32_t *)column)[pack->count] = 0;
            break;
        case FP_PACK_SUM:
            ((int64_t *)column)[pack->count] = 0;
            break;
        case FP_PACK_SQUARES:
            ((float *)column)[pack->count] = 0;
            break;
        case FP_PACK_DOUBLE:
            ((double *)column)[pack->count] = 0;
            break;
        case FP_PACK_LEAST:
            ((int64_t *)column)[pack->count] = INT64_MAX;
            break;
        case FP_PACK_TYPE_COUNT:
            break;
        }
    }
}

static void pick_ids(const struct plan *plan, const int64_t *left, const int64_t *right,
                     int64_t *out)
{
    for (size_t i = 0; i < plan->count; i++) {
        int64_t a = left[plan->pairs[i].left];
        int64_t b = right[plan->pairs[i].right];
        out[i] = a > b ? a : b;
    }
}

static void pick_numbers(const struct plan *plan, const int16_t *left, const int16_t *right,
                         int16_t *out)
{
    for (size_t i = 0; i < plan->count; i++) {
        int16_t a = left[plan->pairs[i].left];
        int16_t b = right[plan->pairs[i].right];
        out[i] = b;
        if (a > b)
            out[i] = a;
    }
}

static void pick_least(const struct plan *plan, const int64_t *left, const int64_t *right,
                       int64_t *out)
{
    for (size_t i = 0; i < plan->count; i++) {
        int64_t a = left[plan->pairs[i].left];
        int64_t b = right[plan->pairs[i].right];
        out[i] = a < b ? a : b;
    }
}

/* Adds counts. False: a sum did not fit. */
static bool add_counts(const struct plan *plan, const int32_t *left, const int32_t *right,
                       int32_t *out)
{
    bool fit = true;
    for (size_t i = 0; i < plan->count; i++) {
        int64_t sum = (int64_t)left[plan->pairs[i].left] + right[plan->pairs[i].right];
        fit &= sum <= INT32_MAX;
        out[i] = (int32_t)sum;
    }
    return fit;
}

/* Adds sums. False: one did not fit. */
static bool add_sums(const struct plan *plan, const int64_t *left, const int64_t *right,
                     int64_t *out)
{
    bool fit = true;
    for (size_t i = 0; i < plan->count; i++)
        fit &= !__builtin_add_overflow(left[plan->pairs[i].left], right[plan->pairs[i].right],
                                       &out[i]);
    return fit;
}

static void add_squares(const struct plan *plan, const float *left, const float *right, float *out)
{
    for (size_t i = 0; i < plan->count; i++) {
        float sum = left[plan->pairs[i].left] + right[plan->pairs[i].right];
        out[i] = sum < FLT_MAX ? sum : FLT_MAX;
    }
}

static void add_doubles(const struct plan *plan, const double *left, const double *right,
                        double *out)
{
    for (size_t i = 0; i < plan->count; i++)
        out[i] = left[plan->pairs[i].left] + right[plan->pairs[i].right];
}

/* Merges a column. False: a sum did not fit. */
static bool merge_column(const struct plan *plan, enum fp_pack_type type, const void *left,
                         const void *right, void *out)
{
    switch (type) {
    case FP_PACK_KEY_ID:
    case FP_PACK_GREATEST:
        pick_ids(plan, left, right, out);
        break;
    case FP_PACK_KEY_NUMBER:
        pick_numbers(plan, left, right, out);
        break;
    case FP_PACK_COUNT:
        return add_counts(plan, left, right, out);
    case FP_PACK_SUM:
        return add_sums(plan, left, right, out);
    case FP_PACK_SQUARES:
        add_squares(plan, left, right, out);
        break;
    case FP_PACK_DOUBLE:
        add_doubles(plan, left, right, out);
        break;
    case FP_PACK_LEAST:
        pick_least(plan, left, right, out);
        break;
    case FP_PACK_TYPE_COUNT:
        break;
    }
    return true;
}

/* Merges all columns. False: a sum did not fit. */
static bool merge_columns(const struct plan *plan, const struct fp_pack *left,
                          const struct fp_pack *right, struct fp_pack *out)
{
    const struct fp_pack_shape *shape = left->shape;
    bool fit = true;
    for (size_t i = 0; i < shape->column_count && fit; i++)
        fit = merge_column(plan, shape->columns[i].type, left->columns[i], right->columns[i],
                           out->columns[i]);
    out->count = plan->count;
    return fit;
}

/* True if an entry adds nothing to a column from which values can be taken back. */
static bool is_zero(enum fp_pack_type type, const void *column, size_t at)
{
    if (type == FP_PACK_COUNT)
        return ((const int32_t *)column)[at] == 0;
    if (type == FP_PACK_SUM)
        return ((const int64_t *)column)[at] == 0;
    return type != FP_PACK_DOUBLE || ((const double *)column)[at] == 0;
}

/* True if an entry adds nothing. A value that replaces another adds to the sum, not to the count.
 */
static bool is_empty(const struct fp_pack *pack, size_t at)
{
    for (size_t i = pack->shape->key_count; i < pack->shape->column_count; i++)
        if (!is_zero(pack->shape->columns[i].type, pack->columns[i], at))
            return false;
    return true;
}

static void move_entry(const struct fp_pack *pack, size_t from, size_t to)
{
    for (size_t i = 0; i < pack->shape->column_count; i++) {
        size_t size = fp_pack_type_size(pack->shape->columns[i].type);
        char *column = pack->columns[i];
        memmove(column + to * size, column + from * size, size);
    }
}

/* Drops entries of which everything was taken back. */
static void drop_empty(struct fp_pack *pack)
{
    size_t kept = 0;
    for (size_t i = 0; i < pack->count; i++) {
        if (is_empty(pack, i))
            continue;
        if (kept < i)
            move_entry(pack, i, kept);
        kept++;
    }
    pack->count = kept;
}

static bool copy_pack(const struct fp_pack *pack, struct fp_pack *out)
{
    if (!fp_pack_reserve(out, pack->count))
        return false;
    for (size_t i = 0; i < pack->shape->column_count && pack->count > 0; i++)
        memcpy(out->columns[i], pack->columns[i],
               pack->count * fp_pack_type_size(pack->shape->columns[i].type));
    out->count = pack->count;
    return true;
}

static bool keys_ascend(const struct fp_pack *pack)
{
    for (size_t i = 1; i < pack->count; i++)
        if (compare(pack, i - 1, pack, i) > 0)
            return false;
    return true;
}

bool fp_pack_merge(const struct fp_pack *left, const struct fp_pack *right, struct fp_pack *out)
{
    FP_ASSERT(left->shape == right->shape && left->shape == out->shape);
    FP_ASSERT(out != left && out != right);
    fp_pack_clear(out);
    if (left->count == 0 || right->count == 0)
        return copy_pack(left->count == 0 ? right : left, out);
    size_t entries = left->count + right->count;
    struct pair *pairs = malloc(entries * sizeof(*pairs));
    bool is_done = pairs != NULL;
    put_absent(left);
    put_absent(right);
    bool fit = false;
    for (int careful = 0; is_done && !fit && careful <= 1; careful++) {
        struct plan plan = make_plan(left, right, careful != 0, pairs);
        is_done = fp_pack_reserve(out, plan.count);
        fit = is_done && merge_columns(&plan, left, right, out);
        if (!fit)
            fp_pack_clear(out);
    }
    free(pairs);
    if (out->shape->may_vanish)
        drop_empty(out);
    FP_ASSERT(out->count <= entries);
    /* A pack is what a database gives: its keys may be in any order. */
    FP_ASSERT_COSTLY(!is_done || keys_ascend(out) || !keys_ascend(left) || !keys_ascend(right));
    return is_done;
}
