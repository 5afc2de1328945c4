/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core: sums of parallel arrays by a 64-bit key, without a header of PostgreSQL.
 *
 * Sums are exact. Memory is bounded: what needs more is refused, and the caller answers otherwise.
 * One thread.
 */
#ifndef FP_NATIVE_CORE_H
#define FP_NATIVE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FP_SUMS_COLUMNS_MAX = 8,
    FP_SUMS_BATCH_MAX = 4096, /* entries that one fp_sums_add() takes */
};

enum fp_sums_result {
    FP_SUMS_OK = 0,
    FP_SUMS_OVERFLOW, /* a sum does not fit into 64 bits; no sum is right any more */
    FP_SUMS_FULL,     /* the memory that it may use does not suffice; nothing is lost */
    FP_SUMS_INVALID,  /* bytes that fp_sums_write() did not write */
};

/* Where memory comes from. allocate returns NULL if there is none. */
struct fp_sums_memory {
    void *(*allocate)(void *context, size_t size);
    void (*release)(void *context, void *block);
    void *context;
    size_t most; /* bytes that sums, and a copy of them, may take */
};

/* Values of a column: one of both is set. */
struct fp_sums_column {
    const int32_t *counts;
    const int64_t *numbers;
};

/* Entry i has its key at entries[i * stride], followed by its sums. slots find entries by key: open
 * addressing, each holds the number of an entry plus 1, 0 is free. Ids are hashes of content, and
 * rows are sorted by id. So a key's high bits choose its slot: each row walks through slots and
 * entries from front to back. Where keys are not spread evenly, a mixed key chooses the slot. */
struct fp_sums {
    struct fp_sums_memory memory;
    int64_t *entries; /* owned */
    uint32_t *slots;  /* owned; twice as many as entries at least */
    uint32_t stride;
    uint32_t count;
    uint32_t capacity;
    int slot_bits;
    bool is_mixed;
    uint32_t places[FP_SUMS_BATCH_MAX];
};

/* Makes empty sums of 1 to FP_SUMS_COLUMNS_MAX columns; allocates nothing. */
void fp_sums_init(struct fp_sums *sums, const struct fp_sums_memory *memory, unsigned columns);
void fp_sums_release(struct fp_sums *sums);

/* Adds count entries, FP_SUMS_BATCH_MAX at most. columns: as many as fp_sums_init() got, each with
 * count values. */
enum fp_sums_result fp_sums_add(struct fp_sums *sums, const int64_t *keys,
                                const struct fp_sums_column *columns, size_t count)
    __attribute__((warn_unused_result));

/* Adds at most FP_SUMS_BATCH_MAX entries of other sums with as many columns, from entry *at on, and
 * moves *at behind them. */
enum fp_sums_result fp_sums_merge(struct fp_sums *into, const struct fp_sums *from, uint32_t *at)
    __attribute__((warn_unused_result));

/* Returns how many bytes fp_sums_write() writes. */
size_t fp_sums_size(const struct fp_sums *sums);

/* Writes the sums for fp_sums_read(): for another process of the same server. */
void fp_sums_write(const struct fp_sums *sums, void *bytes);

/* Makes sums of what fp_sums_write() wrote. The caller releases them, on failure too. */
enum fp_sums_result fp_sums_read(struct fp_sums *sums, const struct fp_sums_memory *memory,
                                 const void *bytes, size_t size)
    __attribute__((warn_unused_result));

/* Copies a column of all entries, in their order. 0: the keys. */
void fp_sums_column(const struct fp_sums *sums, unsigned column, int64_t *values);

#endif
