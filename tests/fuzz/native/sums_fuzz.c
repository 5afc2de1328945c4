/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: the core of fleetprof_native. The first byte says how many columns there are, and which
 * of them are 32 bits wide; the second one how keys are spread, where rows end, and how much memory
 * there is. Sums of two halves, merged, are those of a search in a list, or an overflow, or
 * refused. The same bytes as written sums are refused, or are written again as they were.
 */
#include "native/core.h"
#include "tests/fuzz/check.h"

#include <string.h>

enum { ENTRIES_MAX = 2048, COLUMNS_MAX = 4, MEMORY = 1 << 20, MEMORY_SMALL = 1 << 16 };

static int blocks;

static void *allocate(void *context, size_t size)
{
    (void)context;
    blocks++;
    return malloc(size);
}

static void release(void *context, void *block)
{
    (void)context;
    blocks--;
    free(block);
}

/* The entries that the bytes stand for. */
struct input {
    unsigned columns;
    bool is_count[COLUMNS_MAX];
    size_t row; /* entries of one call */
    size_t count;
    int64_t keys[ENTRIES_MAX];
    int32_t counts[COLUMNS_MAX][ENTRIES_MAX];
    int64_t numbers[COLUMNS_MAX][ENTRIES_MAX];
};

/* The sums of a search in a list: of the first half, of the second one, and of both. */
struct oracle {
    size_t count;
    bool overflows; /* also on the way */
    int64_t keys[ENTRIES_MAX];
    __int128 halves[2][COLUMNS_MAX][ENTRIES_MAX];
    __int128 sums[COLUMNS_MAX][ENTRIES_MAX];
};

static struct input input;
static struct oracle oracle;

/* An entry is a byte of the key, and a byte and a shift for each column: few keys, large sums. */
static void read_input(const uint8_t *bytes, size_t len)
{
    input.columns = 1 + bytes[0] % COLUMNS_MAX;
    for (unsigned i = 0; i < input.columns; i++)
        input.is_count[i] = (bytes[0] >> (4 + i) & 1) != 0;
    input.row = 1 + (bytes[1] >> 2) * 16U;
    const size_t entry = 2 + 2 * (size_t)input.columns;
    input.count = 0;
    for (const uint8_t *at = bytes + 2; at + entry <= bytes + len && input.count < ENTRIES_MAX;
         at += entry) {
        const size_t i = input.count++;
        const uint64_t key = (uint64_t)at[0] << 8 | at[1];
        input.keys[i] = (int64_t)((bytes[1] & 1) != 0 ? key << 48 : key);
        for (unsigned column = 0; column < input.columns; column++) {
            const int64_t value = (int8_t)at[2 + 2 * column];
            const unsigned shift = at[3 + 2 * column] % 57;
            input.numbers[column][i] = (int64_t)((uint64_t)value << shift);
            input.counts[column][i] = (int32_t)((uint32_t)value << shift % 25);
        }
    }
}

static bool is_outside(__int128 sum)
{
    return sum > INT64_MAX || sum < INT64_MIN;
}

static void ask_oracle(void)
{
    memset(&oracle, 0, sizeof(oracle));
    for (size_t i = 0; i < input.count; i++) {
        size_t place = 0;
        while (place < oracle.count && oracle.keys[place] != input.keys[i])
            place++;
        oracle.count += place == oracle.count;
        oracle.keys[place] = input.keys[i];
        for (unsigned column = 0; column < input.columns; column++) {
            __int128 *sum = &oracle.halves[i >= input.count / 2][column][place];
            *sum += input.is_count[column] ? input.counts[column][i] : input.numbers[column][i];
            oracle.overflows |= is_outside(*sum);
        }
    }
    for (unsigned column = 0; column < input.columns; column++)
        for (size_t i = 0; i < oracle.count; i++) {
            oracle.sums[column][i] = oracle.halves[0][column][i] + oracle.halves[1][column][i];
            oracle.overflows |= is_outside(oracle.sums[column][i]);
        }
}

/* Adds the entries from the first to the last, in rows. */
static enum fp_sums_result add(struct fp_sums *sums, size_t first, size_t last)
{
    enum fp_sums_result result = FP_SUMS_OK;
    while (result == FP_SUMS_OK && first < last) {
        struct fp_sums_column columns[COLUMNS_MAX] = {{0}};
        const size_t rest = last - first;
        const size_t count = rest < input.row ? rest : input.row;
        for (unsigned i = 0; i < input.columns; i++) {
            columns[i].counts = input.is_count[i] ? input.counts[i] + first : NULL;
            columns[i].numbers = input.is_count[i] ? NULL : input.numbers[i] + first;
        }
        result = fp_sums_add(sums, input.keys + first, columns, count);
        first += count;
    }
    return result;
}

static void check_sums(const struct fp_sums *sums)
{
    static int64_t keys[ENTRIES_MAX];
    static int64_t values[ENTRIES_MAX];
    check(sums->count == oracle.count);
    fp_sums_column(sums, 0, keys);
    for (unsigned column = 0; column < input.columns; column++) {
        fp_sums_column(sums, column + 1, values);
        for (size_t i = 0; i < oracle.count; i++)
            check(keys[i] == oracle.keys[i] && values[i] == oracle.sums[column][i]);
    }
}

/* As two workers and their leader do it; the second one's sums travel as bytes. */
static void check_adding(const struct fp_sums_memory *memory)
{
    struct fp_sums first;
    struct fp_sums second;
    struct fp_sums read;
    uint32_t at = 0;
    fp_sums_init(&first, memory, input.columns);
    fp_sums_init(&second, memory, input.columns);
    fp_sums_init(&read, memory, input.columns);
    enum fp_sums_result result = add(&first, 0, input.count / 2);
    if (result == FP_SUMS_OK)
        result = add(&second, input.count / 2, input.count);
    if (result == FP_SUMS_OK) {
        const size_t size = fp_sums_size(&second);
        void *bytes = malloc(size);
        fp_sums_write(&second, bytes);
        result = fp_sums_read(&read, memory, bytes, size);
        free(bytes);
        check(result != FP_SUMS_INVALID);
    }
    while (result == FP_SUMS_OK && at < read.count)
        result = fp_sums_merge(&first, &read, &at);
    check(result != FP_SUMS_FULL || memory->most == MEMORY_SMALL);
    check(result == FP_SUMS_FULL || (result == FP_SUMS_OVERFLOW) == oracle.overflows);
    if (result == FP_SUMS_OK)
        check_sums(&first);
    fp_sums_release(&first);
    fp_sums_release(&second);
    fp_sums_release(&read);
}

static void check_reading(const struct fp_sums_memory *memory, const uint8_t *bytes, size_t len)
{
    struct fp_sums sums;
    if (fp_sums_read(&sums, memory, bytes, len) == FP_SUMS_OK) {
        void *again = malloc(len);
        check(fp_sums_size(&sums) == len);
        fp_sums_write(&sums, again);
        check(memcmp(again, bytes, len) == 0);
        free(again);
    }
    fp_sums_release(&sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2)
        return 0;
    const struct fp_sums_memory memory = {allocate, release, NULL,
                                          (bytes[1] & 2) != 0 ? MEMORY_SMALL : MEMORY};
    read_input(bytes, len);
    ask_oracle();
    check_adding(&memory);
    check_reading(&memory, bytes, len);
    check(blocks == 0);
    return 0;
}
