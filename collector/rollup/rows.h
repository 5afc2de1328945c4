/*
 * Rows: rows of one fixed length, found by the key they begin with, and given out sorted by it.
 *
 * A key is one to five signed 64-bit words, compared word by word as numbers: the database's order
 * of bigint columns. Rows keep their address until the table is cleared. Not thread-safe.
 */
#ifndef FP_ROLLUP_ROWS_H
#define FP_ROLLUP_ROWS_H

#include "collector/base/base.h"

struct fp_rows_slot {
    uint32_t row; /* number + 1; 0: the slot is free */
    uint32_t tag; /* of the key's hash: few rows are looked at in vain */
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
};

/* Makes an empty table. Allocates nothing yet. */
void fp_rows_init(struct fp_rows *rows, size_t row_len, size_t key_words, size_t *budget);

/* The row with this key, NULL when there is none. */
void *fp_rows_find(const struct fp_rows *rows, const int64_t *key);

/*
 * The row with this key; a new one is all zero behind its key, and *added is true. NULL when memory
 * or the budget is out; the table is then unchanged.
 */
void *fp_rows_put(struct fp_rows *rows, const int64_t *key, bool *added) FP_MUST_CHECK;

/* Row number `index` in the order of arrival. */
void *fp_rows_at(const struct fp_rows *rows, size_t index);

/* Sorts, so that fp_rows_sorted may be asked until the next put. False when memory is out. */
bool fp_rows_sort(struct fp_rows *rows) FP_MUST_CHECK;

/* Row number `index` in the order of the keys. */
void *fp_rows_sorted(const struct fp_rows *rows, size_t index);

/* Bytes that the rows in use stand for, the index included. */
size_t fp_rows_used_bytes(const struct fp_rows *rows);

/* Forgets all rows, keeping the memory. */
void fp_rows_clear(struct fp_rows *rows);

/* Gives the memory back to the system and the budget. */
void fp_rows_release(struct fp_rows *rows);

#endif
