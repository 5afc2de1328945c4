/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without: bytes, and bins.
 */
#include "collector/rollup/without.h"

#include "collector/rollup/bins.h"
#include "collector/rollup/ids.h"

#include <endian.h>

/* The changes of one timing. */
struct moved_timing {
    uint64_t timing_id;
    uint16_t gone;
    uint16_t half;
};

enum { FORMAT = 1, ENTRY_LEN = 12, GONE_AT = 8, HALF_AT = 10 };

static void write_entry(uint8_t *at, const struct moved_timing *entry)
{
    const uint64_t timing_id = htobe64(entry->timing_id);
    const uint16_t gone = htobe16(entry->gone);
    const uint16_t half = htobe16(entry->half);
    memcpy(at, &timing_id, sizeof(timing_id));
    memcpy(at + GONE_AT, &gone, sizeof(gone));
    memcpy(at + HALF_AT, &half, sizeof(half));
}

static struct moved_timing read_entry(const uint8_t *at)
{
    uint64_t timing_id;
    uint16_t gone;
    uint16_t half;
    memcpy(&timing_id, at, sizeof(timing_id));
    memcpy(&gone, at + GONE_AT, sizeof(gone));
    memcpy(&half, at + HALF_AT, sizeof(half));
    return (struct moved_timing){be64toh(timing_id), be16toh(gone), be16toh(half)};
}

bool fp_without_bytes(const struct fp_delta *delta, const struct fp_delta_vital *vital,
                      struct fp_arena *arena, struct fp_str *bytes)
{
    *bytes = FP_STR("");
    if (!vital->is_profiled)
        return true;
    const size_t len = 1 + (size_t)vital->without_count * ENTRY_LEN;
    uint8_t *to = fp_arena_alloc(arena, len);
    if (to == NULL)
        return false;
    to[0] = FORMAT;
    for (uint32_t i = 0; i < vital->without_count; i++) {
        const struct fp_delta_without *from = &delta->withouts[vital->first_without + i];
        const struct moved_timing entry = {delta->timings[from->timing].id, from->gone, from->half};
        write_entry(to + 1 + (size_t)i * ENTRY_LEN, &entry);
    }
    *bytes = (struct fp_str){(const char *)to, len};
    return true;
}

static bool add_bin(struct fp_rollup *rollup, struct fp_fact_key key,
                    enum fp_without_histogram histogram, uint16_t bin, int direction)
{
    bool added;
    key.part = (int64_t)histogram * FP_WITHOUT_BINS + bin;
    struct fp_timing_bin_fact *fact =
        fp_rows_put(&rollup->tables[FP_ROLLUP_TABLE_TIMING_BIN_FACT], &key.segment_id, &added);
    if (fact != NULL)
        fact->count += direction;
    return fact != NULL;
}

/* Adds one value to the bins of a timing: as it is, without what the timing names, and with half of
 * that. */
static bool add_three(struct fp_rollup *rollup, struct fp_fact_key key, uint16_t now,
                      const struct moved_timing *entry, int direction)
{
    key.id = (int64_t)entry->timing_id;
    return add_bin(rollup, key, FP_WITHOUT_NOW, now, direction) &&
           add_bin(rollup, key, FP_WITHOUT_GONE, entry->gone, direction) &&
           add_bin(rollup, key, FP_WITHOUT_HALF, entry->half, direction);
}

bool fp_without_add_profiled(const struct fp_addition *add)
{
    const struct fp_delta *delta = add->delta;
    for (uint32_t i = 0; i < delta->profiled_count; i++) {
        const struct fp_delta_profiled *profiled = &delta->profiled[i];
        const struct fp_fact_key key =
            fp_addition_key(add, delta->timings[profiled->timing].id, FP_WITHOUT_NOW);
        if (!add_bin(add->rollup, key, FP_WITHOUT_NOW, profiled->now, 1))
            return false;
        for (uint32_t k = 0; k < profiled->without_count; k++) {
            const struct fp_delta_without *from = &delta->withouts[profiled->first_without + k];
            const struct moved_timing entry = {delta->timings[from->timing].id, from->gone,
                                               from->half};
            if (!add_three(add->rollup, key, profiled->now, &entry, 1))
                return false;
        }
    }
    return true;
}

bool fp_without_add(struct fp_rollup *rollup, const struct fp_vital_row *row,
                    const struct fp_vital_count *count, int direction)
{
    const uint8_t *bytes = (const uint8_t *)count->without.ptr;
    const size_t len = count->without.len;
    if (len == 0 || bytes[0] != FORMAT || (len - 1) % ENTRY_LEN != 0)
        return true;
    const struct fp_timing_key profiled = {
        .kind = FP_TIMING_VITAL_PROFILED,
        .name = fp_str_of(fp_vital_name(row->vital)),
        .navigation = (enum fp_navigation)count->navigation,
    };
    const uint16_t now = fp_bin_of(count->value_us);
    struct fp_fact_key key = {count->segment_id, count->bucket_us,
                              (int64_t)fp_timing_id((uint64_t)row->site_id, &profiled), 0};
    if (!add_bin(rollup, key, FP_WITHOUT_NOW, now, direction))
        return false;
    for (size_t at = 1; at < len; at += ENTRY_LEN) {
        const struct moved_timing entry = read_entry(bytes + at);
        if (!add_three(rollup, key, now, &entry, direction))
            return false;
    }
    return true;
}
