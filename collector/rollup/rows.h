/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows: rows of one fixed length, found by the key they begin with and returned sorted by it.
 *
 * A key is one to five signed 64-bit words, compared word by word as numbers: the database's order
 * of bigint columns. Rows keep their address until the table is cleared. Not thread-safe.
 */
#ifndef FP_ROLLUP_ROWS_H
#define FP_ROLLUP_ROWS_H

#include "collector/base/base.h"

struct fp_rows_slot {
    uint32_t row; /* number + 1; 0: the slot is free */
    uint32_t tag; /* of the key's hash: avoids most comparisons */
};

struct fp_rows {
    size_t row_len;
    size_t key_words;
    size_t *budget; /* bytes that may still be allocated, shared by several tables */
    size_t count;
    uint64_t seed;    /* random: nobody outside can choose keys that collide */
    uint8_t **blocks; /* owned, as are slots and order */
    size_t block_count;
    struct fp_rows_slot *slots;
    size_t slot_count;
    uint32_t *order; /* row numbers by key, after fp_rows_sort */
    size_t order_cap;
    bool is_over; /* the budget has refused something since the last clear */
};

/* Makes an empty table. Allocates nothing yet. */
void fp_rows_init(struct fp_rows *rows, size_t row_len, size_t key_words, size_t *budget);

/* Returns the row with this key, NULL if none. */
void *fp_rows_find(const struct fp_rows *rows, const int64_t *key);

/*
 * Returns the row with this key. A new one is zero after its key, and *added is true. NULL if
 * memory or the budget is out; the table is then unchanged.
 */
void *fp_rows_put(struct fp_rows *rows, const int64_t *key, bool *added) FP_MUST_CHECK;

/*
 * fp_rows_put in steps, for many keys: hash them all, prefetch their slots, prefetch their rows,
 * then put them. Each step finds in the processor's cache what the step before it asked for.
 */
uint64_t fp_rows_hash(const struct fp_rows *rows, const int64_t *key);
void fp_rows_prefetch_slot(const struct fp_rows *rows, uint64_t hash);
void fp_rows_prefetch_row(const struct fp_rows *rows, uint64_t hash);
void *fp_rows_put_hashed(struct fp_rows *rows, const int64_t *key, uint64_t hash,
                         bool *added) FP_MUST_CHECK;

/* Returns row number `index` in the order of insertion. */
void *fp_rows_at(const struct fp_rows *rows, size_t index);

/* Sorts the rows for fp_rows_sorted, until the next put. False if memory is out. */
bool fp_rows_sort(struct fp_rows *rows) FP_MUST_CHECK;

/* Returns row number `index` in the order of the keys. */
void *fp_rows_sorted(const struct fp_rows *rows, size_t index);

/* Returns the bytes that the rows use, including the index. */
size_t fp_rows_used_bytes(const struct fp_rows *rows);

/* Drops all rows and keeps the memory. */
void fp_rows_clear(struct fp_rows *rows);

/* Frees the memory and returns it to the budget. */
void fp_rows_release(struct fp_rows *rows);

#endif
