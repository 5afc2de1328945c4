/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: blocks of rows that never move, and an open-addressing index of row numbers.
 */
#include "collector/rollup/rows.h"

#include "collector/base/assert.h"

#include <sys/random.h>

enum { BLOCK_ROWS = 256, SLOTS_MIN = 256, CACHE_LINE = 64 };

void fp_rows_init(struct fp_rows *rows, size_t row_len, size_t key_words, size_t *budget)
{
    *rows = (struct fp_rows){.row_len = row_len, .key_words = key_words, .budget = budget};
    if (getrandom(&rows->seed, sizeof(rows->seed), GRND_NONBLOCK) != (ssize_t)sizeof(rows->seed))
        rows->seed = UINT64_C(0x9e3779b97f4a7c15); /* early boot: still spreads */
}

void *fp_rows_at(const struct fp_rows *rows, size_t index)
{
    return rows->blocks[index / BLOCK_ROWS] + (index % BLOCK_ROWS) * rows->row_len;
}

static bool take_budget(struct fp_rows *rows, size_t len)
{
    if (len > *rows->budget) {
        rows->is_over = true;
        return false;
    }
    *rows->budget -= len;
    return true;
}

/* Reallocates an array of the table and charges the budget. NULL: nothing changed. */
static void *resize(struct fp_rows *rows, void *array, size_t old_len, size_t new_len)
{
    if (!take_budget(rows, new_len - old_len))
        return NULL;
    void *moved = realloc(array, new_len);
    if (moved == NULL)
        *rows->budget += new_len - old_len;
    return moved;
}

uint64_t fp_rows_hash(const struct fp_rows *rows, const int64_t *key)
{
    uint64_t hash = rows->seed;
    for (size_t i = 0; i < rows->key_words; i++) {
        hash = (hash ^ (uint64_t)key[i]) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    return hash;
}

static bool has_key(const struct fp_rows *rows, uint32_t index, const int64_t *key)
{
    const int64_t *words = fp_rows_at(rows, index);
    for (size_t i = 0; i < rows->key_words; i++)
        if (words[i] != key[i])
            return false;
    return true;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

/* Returns the slot that holds key, or the free slot where it belongs. hash: the key's. */
static struct fp_rows_slot *find_slot(const struct fp_rows *rows, const int64_t *key, uint64_t hash)
{
    FP_ASSERT(rows->slot_count > 0 && (rows->slot_count & (rows->slot_count - 1)) == 0);
    size_t at = (size_t)hash & (rows->slot_count - 1);
    while (rows->slots[at].row != 0 &&
           (rows->slots[at].tag != tag_of(hash) || !has_key(rows, rows->slots[at].row - 1, key)))
        at = (at + 1) & (rows->slot_count - 1);
    return &rows->slots[at];
}

/* Adds row number `index`, which is not in the index yet. */
static void enter_slot(struct fp_rows *rows, size_t index)
{
    const int64_t *key = fp_rows_at(rows, index);
    uint64_t hash = fp_rows_hash(rows, key);
    struct fp_rows_slot *slot = find_slot(rows, key, hash);
    FP_ASSERT(slot->row == 0);
    *slot = (struct fp_rows_slot){(uint32_t)index + 1, tag_of(hash)};
}

void *fp_rows_find(const struct fp_rows *rows, const int64_t *key)
{
    if (rows->slot_count == 0)
        return NULL;
    uint32_t row = find_slot(rows, key, fp_rows_hash(rows, key))->row;
    return row != 0 ? fp_rows_at(rows, row - 1) : NULL;
}

/* Doubles the index when it is three quarters full. */
static bool ensure_slot(struct fp_rows *rows)
{
    if (rows->count < rows->slot_count / 4 * 3)
        return true;
    size_t bigger = rows->slot_count > 0 ? rows->slot_count * 2 : SLOTS_MIN;
    if (rows->count >= UINT32_MAX / 2)
        return false;
    size_t slot_len = sizeof(*rows->slots);
    struct fp_rows_slot *slots =
        resize(rows, rows->slots, rows->slot_count * slot_len, bigger * slot_len);
    if (slots == NULL)
        return false;
    rows->slots = slots;
    rows->slot_count = bigger;
    memset(slots, 0, bigger * slot_len);
    for (size_t i = 0; i < rows->count; i++)
        enter_slot(rows, i);
    return true;
}

/* Ensures a place for row number `count`. */
static bool ensure_block(struct fp_rows *rows)
{
    size_t needed = rows->count / BLOCK_ROWS + 1;
    if (needed <= rows->block_count)
        return true;
    size_t pointer_len = sizeof(*rows->blocks);
    uint8_t **blocks =
        resize(rows, rows->blocks, rows->block_count * pointer_len, needed * pointer_len);
    if (blocks == NULL)
        return false;
    rows->blocks = blocks;
    /* The larger array of pointers stays if the block cannot be allocated. */
    blocks[needed - 1] = resize(rows, NULL, 0, BLOCK_ROWS * rows->row_len);
    if (blocks[needed - 1] == NULL) {
        *rows->budget += pointer_len;
        return false;
    }
    rows->block_count = needed;
    return true;
}

void fp_rows_prefetch_slot(const struct fp_rows *rows, uint64_t hash)
{
    if (rows->slot_count > 0)
        __builtin_prefetch(&rows->slots[(size_t)hash & (rows->slot_count - 1)]);
}

void fp_rows_prefetch_row(const struct fp_rows *rows, uint64_t hash)
{
    if (rows->slot_count == 0)
        return;
    /* Most rows are in their home slot; the others are fetched when they are needed. */
    const struct fp_rows_slot *slot = &rows->slots[(size_t)hash & (rows->slot_count - 1)];
    if (slot->row == 0 || slot->tag != tag_of(hash))
        return;
    const uint8_t *row = fp_rows_at(rows, slot->row - 1);
    for (size_t at = 0; at < rows->row_len; at += CACHE_LINE)
        __builtin_prefetch(row + at, 1);
}

void *fp_rows_put(struct fp_rows *rows, const int64_t *key, bool *added)
{
    return fp_rows_put_hashed(rows, key, fp_rows_hash(rows, key), added);
}

void *fp_rows_put_hashed(struct fp_rows *rows, const int64_t *key, uint64_t hash, bool *added)
{
    uint32_t found = rows->slot_count > 0 ? find_slot(rows, key, hash)->row : 0;
    *added = false;
    if (found != 0)
        return fp_rows_at(rows, found - 1);
    if (!ensure_slot(rows) || !ensure_block(rows))
        return NULL;
    void *row = fp_rows_at(rows, rows->count);
    memset(row, 0, rows->row_len);
    memcpy(row, key, rows->key_words * sizeof(*key));
    enter_slot(rows, rows->count++);
    FP_ASSERT(rows->count <= rows->slot_count / 4 * 3);
    *added = true;
    return row;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct fp_rows *rows = context;
    const int64_t *left = fp_rows_at(rows, *(const uint32_t *)a);
    const int64_t *right = fp_rows_at(rows, *(const uint32_t *)b);
    for (size_t i = 0; i < rows->key_words; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

/* True if each row's key is greater than the one before it. */
static bool is_sorted(struct fp_rows *rows)
{
    for (size_t i = 1; i < rows->count; i++)
        if (compare_rows(&rows->order[i - 1], &rows->order[i], rows) >= 0)
            return false;
    return true;
}

bool fp_rows_sort(struct fp_rows *rows)
{
    if (rows->count > rows->order_cap) {
        size_t cap = rows->block_count * BLOCK_ROWS;
        size_t index_len = sizeof(*rows->order);
        uint32_t *order = resize(rows, rows->order, rows->order_cap * index_len, cap * index_len);
        if (order == NULL)
            return false;
        rows->order = order;
        rows->order_cap = cap;
    }
    for (size_t i = 0; i < rows->count; i++)
        rows->order[i] = (uint32_t)i;
    if (rows->count > 1)
        qsort_r(rows->order, rows->count, sizeof(*rows->order), compare_rows, rows);
    FP_ASSERT_COSTLY(is_sorted(rows));
    return true;
}

void *fp_rows_sorted(const struct fp_rows *rows, size_t index)
{
    return fp_rows_at(rows, rows->order[index]);
}

size_t fp_rows_used_bytes(const struct fp_rows *rows)
{
    size_t index_len = sizeof(*rows->slots) * 2 + sizeof(*rows->order);
    return rows->count * (rows->row_len + index_len);
}

void fp_rows_clear(struct fp_rows *rows)
{
    if (rows->count > 0)
        memset(rows->slots, 0, rows->slot_count * sizeof(*rows->slots));
    rows->count = 0;
    rows->is_over = false;
}

void fp_rows_release(struct fp_rows *rows)
{
    for (size_t i = 0; i < rows->block_count; i++)
        free(rows->blocks[i]);
    *rows->budget += rows->block_count * (BLOCK_ROWS * rows->row_len + sizeof(*rows->blocks)) +
                     rows->slot_count * sizeof(*rows->slots) +
                     rows->order_cap * sizeof(*rows->order);
    free(rows->blocks);
    free(rows->slots);
    free(rows->order);
    size_t *budget = rows->budget;
    fp_rows_init(rows, rows->row_len, rows->key_words, budget);
}
