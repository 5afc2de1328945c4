/* SPDX-License-Identifier: Apache-2.0 */
/* Random packs, and the slow way to add one up. */
#ifndef FP_TESTS_PACK_RANDOM_PACK_H
#define FP_TESTS_PACK_RANDOM_PACK_H

#include "collector/base/buf.h"
#include "collector/pack/pack.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>

enum { KEYS = 3, ROW_MAX = 256, BYTES_MAX = 4 * 1024 * 1024 };

static inline uint64_t draw(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = *seed;
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

static inline void set_int(uint8_t *row, const struct fp_pack_column *column, int64_t value)
{
    memcpy(row + column->offset, &value, sizeof(value));
}

static inline void set_double(uint8_t *row, const struct fp_pack_column *column, double value)
{
    memcpy(row + column->offset, &value, sizeof(value));
}

/* Draws the values of a row. They are whole, and floats hold their sums exactly. */
static inline void draw_values(const struct fp_pack_shape *shape, uint64_t *seed, uint8_t *row)
{
    for (size_t i = shape->key_count; i < shape->column_count; i++) {
        const struct fp_pack_column *column = &shape->columns[i];
        if (column->type == FP_PACK_SQUARES || column->type == FP_PACK_DOUBLE)
            set_double(row, column, (double)(draw(seed) % 1000));
        else if (column->type == FP_PACK_LEAST || column->type == FP_PACK_GREATEST)
            set_int(row, column, (int64_t)draw(seed));
        else
            set_int(row, column, (int64_t)(draw(seed) % 100000));
    }
}

/* Appends a row whose key words are `keys`, as far as the kind has them. */
static inline void append_row(struct fp_pack *pack, const int64_t keys[KEYS], uint8_t *row)
{
    for (size_t i = 0; i < pack->shape->key_count; i++)
        set_int(row, &pack->shape->columns[i], keys[i]);
    assert_true(fp_pack_append(pack, row));
}

/* Fills a pack with random rows: each possible key is in it with a chance of one in `rarity`. */
static inline void fill(struct fp_pack *pack, enum fp_pack_kind kind, uint64_t rarity,
                        uint64_t *seed)
{
    static const size_t spread[] = {40, 5, 4};
    const struct fp_pack_shape *shape = fp_pack_shape(kind);
    size_t possible[KEYS];
    fp_pack_init(pack, shape);
    for (size_t i = 0; i < KEYS; i++)
        possible[i] = i < shape->key_count ? spread[i] : 1;
    for (size_t i = 0; i < possible[0] * possible[1] * possible[2]; i++) {
        if (draw(seed) % rarity != 0)
            continue;
        uint8_t row[ROW_MAX] = {0};
        const int64_t keys[KEYS] = {
            (int64_t)(i / possible[2] / possible[1]) - 20,
            (int64_t)(i / possible[2] % possible[1]) - 1,
            (int64_t)(i % possible[2]) * (INT64_MAX / 4) - INT64_MAX / 2,
        };
        draw_values(shape, seed, row);
        append_row(pack, keys, row);
    }
}

/* Returns an element as a number that holds every sum of a test. */
static inline long double element(const struct fp_pack *pack, size_t column, size_t at)
{
    const void *elements = pack->columns[column];
    enum fp_pack_type type = pack->shape->columns[column].type;
    if (type == FP_PACK_KEY_NUMBER)
        return ((const int16_t *)elements)[at];
    if (type == FP_PACK_COUNT)
        return ((const int32_t *)elements)[at];
    if (type == FP_PACK_SQUARES)
        return (long double)((const float *)elements)[at];
    if (type == FP_PACK_DOUBLE)
        return (long double)((const double *)elements)[at];
    return ((const int64_t *)elements)[at];
}

static inline int compare_entries(const struct fp_pack *a, size_t i, const struct fp_pack *b,
                                  size_t j)
{
    for (size_t column = 0; column < a->shape->key_count; column++) {
        long double left = element(a, column, i);
        long double right = element(b, column, j);
        if (left < right || left > right)
            return left < right ? -1 : 1;
    }
    return 0;
}

/* Joins all entries of `pack` with the key of entry `at` of `keys`. */
static inline long double join(const struct fp_pack *pack, size_t column,
                               const struct fp_pack *keys, size_t at)
{
    enum fp_pack_type type = pack->shape->columns[column].type;
    long double all = type == FP_PACK_LEAST      ? (long double)INT64_MAX
                      : type == FP_PACK_GREATEST ? (long double)INT64_MIN
                                                 : 0;
    for (size_t i = 0; i < pack->count; i++) {
        if (compare_entries(pack, i, keys, at) != 0)
            continue;
        long double value = element(pack, column, i);
        if (type == FP_PACK_LEAST)
            all = fminl(all, value);
        else if (type == FP_PACK_GREATEST)
            all = fmaxl(all, value);
        else
            all += value;
    }
    return all;
}

static inline void assert_same(const struct fp_pack *a, const struct fp_pack *b)
{
    assert_ptr_equal(a->shape, b->shape);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->shape->column_count && a->count > 0; i++)
        assert_memory_equal(a->columns[i], b->columns[i],
                            a->count * fp_pack_type_size(a->shape->columns[i].type));
}

#endif
