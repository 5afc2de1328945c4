/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: any bytes as a record of the spool. A record that decodes encodes and decodes to the
 * same, and merges into a rollup.
 */
#include "collector/rollup/record.h"
#include "collector/rollup/rollup.h"
#include "tests/fuzz/check.h"

enum { ARENA_MAX = 16 * 1024 * 1024, BYTES_MAX = 4 * 1024 * 1024, ROLLUP_MAX = 64 * 1024 * 1024 };

static void encode(const struct fp_record *record, struct fp_buf *bytes)
{
    fp_buf_init(bytes, BYTES_MAX);
    for (size_t i = 0; i < record->count; i++)
        fp_record_add(bytes, &record->deltas[i]);
    check(!bytes->failed);
    check(fp_record_count(bytes->data, bytes->len) == record->count);
}

/* The input may be longer than the encoding: numbers have several spellings. */
static void check_round_trip(const struct fp_record *record, struct fp_arena *arena)
{
    struct fp_buf once;
    struct fp_buf twice;
    struct fp_record again;
    encode(record, &once);
    check(fp_record_decode(once.data, once.len, arena, &again) == FP_DELTA_OK);
    encode(&again, &twice);
    check(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);
    fp_buf_release(&once);
    fp_buf_release(&twice);
}

static void merge(const struct fp_record *record)
{
    const struct fp_rollup_clock clock = {.now_us = INT64_C(1760000000000000)};
    struct fp_rollup rollup;
    fp_rollup_init(&rollup, ROLLUP_MAX / 2, ROLLUP_MAX);
    fp_rollup_clear(&rollup, &clock);
    for (size_t i = 0; i < record->count; i++)
        if (fp_rollup_add(&rollup, &record->deltas[i]) != FP_ROLLUP_NO_ROOM)
            check(fp_rollup_add(&rollup, &record->deltas[i]) == FP_ROLLUP_DUPLICATE);
    fp_rollup_recount(&rollup);
    fp_rollup_release(&rollup);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct fp_arena arena;
    struct fp_record record;
    fp_arena_init(&arena, ARENA_MAX);
    if (fp_record_decode(bytes, len, &arena, &record) == FP_DELTA_OK) {
        check(record.count >= 1 && record.count <= FP_RECORD_DELTAS_MAX);
        check(fp_record_count(bytes, len) == record.count);
        check_round_trip(&record, &arena);
        merge(&record);
    }
    fp_arena_release(&arena);
    return 0;
}
