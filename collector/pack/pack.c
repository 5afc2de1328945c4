/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pack: its memory, and appending rows of a rollup.
 */
#include "collector/pack/pack.h"

#include "collector/base/assert.h"

#include <float.h>
#include <stdlib.h>

enum { CAP_MIN = 64 };

void fp_pack_init(struct fp_pack *pack, const struct fp_pack_shape *shape)
{
    *pack = (struct fp_pack){.shape = shape};
}

void fp_pack_release(struct fp_pack *pack)
{
    for (size_t i = 0; i < pack->shape->column_count; i++)
        free(pack->columns[i]);
    fp_pack_init(pack, pack->shape);
}

void fp_pack_clear(struct fp_pack *pack)
{
    pack->count = 0;
}

bool fp_pack_reserve(struct fp_pack *pack, size_t more)
{
    FP_ASSERT(pack->count <= pack->cap && pack->cap <= FP_PACK_ENTRIES_MAX);
    if (more <= pack->cap - pack->count)
        return true;
    if (more > FP_PACK_ENTRIES_MAX - pack->count)
        return false;
    size_t needed = pack->count + more;
    size_t cap = pack->cap > CAP_MIN / 2 ? pack->cap * 2 : CAP_MIN;
    if (cap > FP_PACK_ENTRIES_MAX)
        cap = FP_PACK_ENTRIES_MAX;
    if (cap < needed)
        cap = needed;
    for (size_t i = 0; i < pack->shape->column_count; i++) {
        size_t size = fp_pack_type_size(pack->shape->columns[i].type);
        void *column = realloc(pack->columns[i], (cap + 1) * size);
        if (column == NULL)
            return false; /* columns before this stay longer than cap */
        pack->columns[i] = column;
    }
    pack->cap = cap;
    return true;
}

static int64_t read_int64(const uint8_t *member)
{
    int64_t value;
    memcpy(&value, member, sizeof(value));
    return value;
}

static double read_double(const uint8_t *member)
{
    double value;
    memcpy(&value, member, sizeof(value));
    return value;
}

/* Returns the number of entries that a row's counts need. */
static size_t entries_of(const struct fp_pack_shape *shape, const uint8_t *row)
{
    size_t entries = 1;
    for (size_t i = shape->key_count; i < shape->column_count; i++) {
        if (shape->columns[i].type != FP_PACK_COUNT)
            continue;
        int64_t count = read_int64(row + shape->columns[i].offset);
        FP_ASSERT(count >= INT32_MIN);
        if (count > INT32_MAX && entries < (uint64_t)count / INT32_MAX + 1)
            entries = (size_t)count / INT32_MAX + 1;
    }
    return entries;
}

/* Returns what entry number `part` of a row holds of a count. One below zero takes back what an
 * earlier row counts. */
static int32_t part_of_count(int64_t count, size_t part)
{
    if (count < 0)
        return part == 0 ? (int32_t)count : 0;
    int64_t before = (int64_t)part * INT32_MAX;
    if (count <= before)
        return 0;
    return count - before < INT32_MAX ? (int32_t)(count - before) : INT32_MAX;
}

/* Writes a row's member as element `at` of a column. Entries after the row's first, part 0, add
 * nothing but counts. */
static void write_member(void *column, size_t at, enum fp_pack_type type, const uint8_t *member,
                         size_t part)
{
    double value;
    switch (type) {
    case FP_PACK_KEY_ID:
    case FP_PACK_LEAST:
    case FP_PACK_GREATEST:
        ((int64_t *)column)[at] = read_int64(member);
        break;
    case FP_PACK_KEY_NUMBER:
        ((int16_t *)column)[at] = (int16_t)read_int64(member);
        break;
    case FP_PACK_COUNT:
        ((int32_t *)column)[at] = part_of_count(read_int64(member), part);
        break;
    case FP_PACK_SUM:
        ((int64_t *)column)[at] = part == 0 ? read_int64(member) : 0;
        break;
    case FP_PACK_SQUARES:
        value = part == 0 ? read_double(member) : 0;
        ((float *)column)[at] = (float)(value < (double)FLT_MAX ? value : (double)FLT_MAX);
        break;
    case FP_PACK_DOUBLE:
        ((double *)column)[at] = part == 0 ? read_double(member) : 0;
        break;
    case FP_PACK_TYPE_COUNT:
        break;
    }
}

bool fp_pack_append(struct fp_pack *pack, const void *row)
{
    const struct fp_pack_shape *shape = pack->shape;
    const uint8_t *members = row;
    size_t entries = entries_of(shape, row);
    if (!fp_pack_reserve(pack, entries))
        return false;
    for (size_t part = 0; part < entries; part++, pack->count++)
        for (size_t i = 0; i < shape->column_count; i++)
            write_member(pack->columns[i], pack->count, shape->columns[i].type,
                         members + shape->columns[i].offset, part);
    return true;
}

uint64_t fp_pack_sum(const struct fp_pack *pack, size_t column)
{
    const enum fp_pack_type type = pack->shape->columns[column].type;
    uint64_t sum = 0;
    for (size_t i = 0; i < pack->count; i++) {
        if (type == FP_PACK_COUNT)
            sum += (uint64_t)((const int32_t *)pack->columns[column])[i];
        else if (type == FP_PACK_SUM)
            sum += (uint64_t)((const int64_t *)pack->columns[column])[i];
    }
    return sum;
}
