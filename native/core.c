/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core: sums of parallel arrays by a 64-bit key, without a header of PostgreSQL.
 */
#include "core.h"

#include <string.h>

enum {
    CAPACITY_FIRST = 1024,
    PROBES_MAX = 64, /* more say that keys are not spread evenly */
};

/* In front of the entries of fp_sums_write(). */
struct sums_header {
    uint32_t stride;
    uint32_t count;
};

void fp_sums_init(struct fp_sums *sums, const struct fp_sums_memory *memory, unsigned columns)
{
    sums->memory = *memory;
    sums->entries = NULL;
    sums->slots = NULL;
    sums->stride = columns + 1;
    sums->count = 0;
    sums->capacity = 0;
    sums->slot_bits = 0;
    sums->is_mixed = false;
}

void fp_sums_release(struct fp_sums *sums)
{
    if (sums->entries != NULL)
        sums->memory.release(sums->memory.context, sums->entries);
    if (sums->slots != NULL)
        sums->memory.release(sums->memory.context, sums->slots);
    fp_sums_init(sums, &sums->memory, sums->stride - 1);
}

/* The finalizer of MurmurHash3. */
static uint64_t mix(uint64_t bits)
{
    bits ^= bits >> 33;
    bits *= UINT64_C(0xff51afd7ed558ccd);
    bits ^= bits >> 33;
    bits *= UINT64_C(0xc4ceb9fe1a85ec53);
    return bits ^ bits >> 33;
}

/* Ids are signed: the sign is turned, so that slots have their order. */
static uint64_t first_slot(const struct fp_sums *sums, int64_t key)
{
    uint64_t bits = (uint64_t)key ^ UINT64_C(1) << 63;
    return (sums->is_mixed ? mix(bits) : bits) >> (64 - sums->slot_bits);
}

/* Finds the slot of a key, or the free one for it. Sets the number of slots that were tried. */
static uint32_t *find_slot(const struct fp_sums *sums, int64_t key, unsigned *probes)
{
    const uint64_t mask = (UINT64_C(1) << sums->slot_bits) - 1;
    uint64_t slot = first_slot(sums, key);
    *probes = 0;
    while (sums->slots[slot] != 0 &&
           sums->entries[(size_t)(sums->slots[slot] - 1) * sums->stride] != key) {
        slot = (slot + 1) & mask;
        ++*probes;
    }
    return &sums->slots[slot];
}

/* Writes all slots again. */
static void fill_slots(struct fp_sums *sums)
{
    unsigned probes;
    memset(sums->slots, 0, sizeof(*sums->slots) << sums->slot_bits);
    for (uint32_t i = 0; i < sums->count; i++)
        *find_slot(sums, sums->entries[(size_t)i * sums->stride], &probes) = i + 1;
}

/* Doubles the room for entries. On failure nothing has changed. */
static enum fp_sums_result grow(struct fp_sums *sums)
{
    const struct fp_sums_memory *memory = &sums->memory;
    const size_t capacity = sums->capacity == 0 ? CAPACITY_FIRST : (size_t)sums->capacity * 2;
    const size_t entry_size = sums->stride * sizeof(*sums->entries);
    /* Twice the entries: the caller makes a copy, and here the old ones stay until they moved. */
    const size_t bytes_each = 2 * entry_size + 2 * sizeof(*sums->slots);
    if (capacity > UINT32_MAX / 4 || capacity > memory->most / bytes_each)
        return FP_SUMS_FULL;
    int64_t *entries = memory->allocate(memory->context, capacity * entry_size);
    uint32_t *slots = memory->allocate(memory->context, capacity * 2 * sizeof(*slots));
    if (entries == NULL || slots == NULL) {
        if (entries != NULL)
            memory->release(memory->context, entries);
        if (slots != NULL)
            memory->release(memory->context, slots);
        return FP_SUMS_FULL;
    }
    if (sums->entries != NULL) {
        memcpy(entries, sums->entries, sums->count * entry_size);
        memory->release(memory->context, sums->entries);
        memory->release(memory->context, sums->slots);
    }
    sums->entries = entries;
    sums->slots = slots;
    sums->capacity = (uint32_t)capacity;
    sums->slot_bits = 1 + __builtin_ctzll(capacity);
    fill_slots(sums);
    return FP_SUMS_OK;
}

/* Finds the entry of a key, which is made if it is new. There is room for it. */
static uint32_t find_entry(struct fp_sums *sums, int64_t key)
{
    unsigned probes;
    uint32_t *slot = find_slot(sums, key, &probes);
    if (*slot != 0)
        return *slot - 1;
    int64_t *entry = sums->entries + (size_t)sums->count * sums->stride;
    memset(entry, 0, sums->stride * sizeof(*entry));
    entry[0] = key;
    *slot = ++sums->count;
    if (probes > PROBES_MAX && !sums->is_mixed) {
        sums->is_mixed = true;
        fill_slots(sums);
    }
    return sums->count - 1;
}

/* Finds the entries of a batch. Those that were made before it is refused have sums of 0. */
static enum fp_sums_result find_entries(struct fp_sums *sums, const int64_t *keys, size_t stride,
                                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sums->count == sums->capacity) {
            enum fp_sums_result result = grow(sums);
            if (result != FP_SUMS_OK)
                return result;
        }
        sums->places[i] = find_entry(sums, keys[i * stride]);
    }
    return FP_SUMS_OK;
}

static bool add_counts(struct fp_sums *sums, unsigned column, const int32_t *counts, size_t count)
{
    bool overflows = false;
    for (size_t i = 0; i < count; i++) {
        int64_t *sum = &sums->entries[(size_t)sums->places[i] * sums->stride + column];
        overflows |= __builtin_add_overflow(*sum, counts[i], sum);
    }
    return overflows;
}

static bool add_numbers(struct fp_sums *sums, unsigned column, const int64_t *numbers,
                        size_t stride, size_t count)
{
    bool overflows = false;
    for (size_t i = 0; i < count; i++) {
        int64_t *sum = &sums->entries[(size_t)sums->places[i] * sums->stride + column];
        overflows |= __builtin_add_overflow(*sum, numbers[i * stride], sum);
    }
    return overflows;
}

enum fp_sums_result fp_sums_add(struct fp_sums *sums, const int64_t *keys,
                                const struct fp_sums_column *columns, size_t count)
{
    enum fp_sums_result result = find_entries(sums, keys, 1, count);
    if (result != FP_SUMS_OK)
        return result;
    bool overflows = false;
    for (unsigned i = 0; i + 1 < sums->stride; i++)
        overflows |= columns[i].counts != NULL
                         ? add_counts(sums, i + 1, columns[i].counts, count)
                         : add_numbers(sums, i + 1, columns[i].numbers, 1, count);
    return overflows ? FP_SUMS_OVERFLOW : FP_SUMS_OK;
}

enum fp_sums_result fp_sums_merge(struct fp_sums *into, const struct fp_sums *from, uint32_t *at)
{
    const int64_t *entries = from->entries + (size_t)*at * from->stride;
    const size_t rest = from->count - *at;
    const size_t count = rest < FP_SUMS_BATCH_MAX ? rest : FP_SUMS_BATCH_MAX;
    if (count == 0)
        return FP_SUMS_OK;
    enum fp_sums_result result = find_entries(into, entries, from->stride, count);
    if (result != FP_SUMS_OK)
        return result;
    bool overflows = false;
    for (unsigned i = 1; i < into->stride; i++)
        overflows |= add_numbers(into, i, entries + i, from->stride, count);
    *at += (uint32_t)count;
    return overflows ? FP_SUMS_OVERFLOW : FP_SUMS_OK;
}

size_t fp_sums_size(const struct fp_sums *sums)
{
    return sizeof(struct sums_header) + (size_t)sums->count * sums->stride * sizeof(*sums->entries);
}

void fp_sums_write(const struct fp_sums *sums, void *bytes)
{
    const struct sums_header header = {sums->stride, sums->count};
    memcpy(bytes, &header, sizeof(header));
    if (sums->count > 0)
        memcpy((char *)bytes + sizeof(header), sums->entries, fp_sums_size(sums) - sizeof(header));
}

/* Adds one written entry, whose key must be a new one. */
static enum fp_sums_result read_entry(struct fp_sums *sums, const char *bytes)
{
    int64_t key;
    memcpy(&key, bytes, sizeof(key));
    const uint32_t count = sums->count;
    enum fp_sums_result result = find_entries(sums, &key, 1, 1);
    if (result != FP_SUMS_OK)
        return result;
    if (sums->count == count)
        return FP_SUMS_INVALID;
    memcpy(sums->entries + (size_t)count * sums->stride, bytes, sums->stride * sizeof(key));
    return FP_SUMS_OK;
}

enum fp_sums_result fp_sums_read(struct fp_sums *sums, const struct fp_sums_memory *memory,
                                 const void *bytes, size_t size)
{
    struct sums_header header;
    fp_sums_init(sums, memory, 1);
    if (size < sizeof(header))
        return FP_SUMS_INVALID;
    memcpy(&header, bytes, sizeof(header));
    if (header.stride < 2 || header.stride > FP_SUMS_COLUMNS_MAX + 1)
        return FP_SUMS_INVALID;
    const size_t entry_size = header.stride * sizeof(int64_t);
    if ((size - sizeof(header)) % entry_size != 0 ||
        (size - sizeof(header)) / entry_size != header.count)
        return FP_SUMS_INVALID;
    fp_sums_init(sums, memory, header.stride - 1);
    enum fp_sums_result result = FP_SUMS_OK;
    const char *entry = (const char *)bytes + sizeof(header);
    for (uint32_t i = 0; result == FP_SUMS_OK && i < header.count; i++)
        result = read_entry(sums, entry + i * entry_size);
    return result;
}

void fp_sums_column(const struct fp_sums *sums, unsigned column, int64_t *values)
{
    for (uint32_t i = 0; i < sums->count; i++)
        values[i] = sums->entries[(size_t)i * sums->stride + column];
}
