/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of the rollup: a rollup, and deltas of few segments over three hours.
 */
#ifndef FP_TESTS_ROLLUP_ROLLUP_TEST_H
#define FP_TESTS_ROLLUP_ROLLUP_TEST_H

#include "tests/unit/unit.h"

#include "collector/base/clock.h"
#include "collector/rollup/bins.h"
#include "collector/rollup/ids.h"
#include "collector/rollup/rollup.c"
#include "collector/rollup/rows.c"

#include "tests/tools/random_delta.h"

#define DELTAS 120
#define NOW_US (INT64_C(490000) * FP_US_PER_HOUR + 1)
#define MEBIBYTE ((size_t)1024 * 1024)

struct room {
    struct fp_arena arena;
    struct fp_rollup rollup;
    struct fp_delta deltas[DELTAS];
};

static const struct fp_rollup_clock now_clock = {.now_us = NOW_US};

static inline int set_up(void **state)
{
    struct room *room = malloc(sizeof(*room));
    fp_arena_init(&room->arena, 64 * MEBIBYTE);
    fp_rollup_init(&room->rollup, 16 * MEBIBYTE, 64 * MEBIBYTE);
    fp_rollup_clear(&room->rollup, &now_clock);
    *state = room;
    return 0;
}

static inline int tear_down(void **state)
{
    struct room *room = *state;
    fp_rollup_release(&room->rollup);
    assert_int_equal(room->rollup.budget, 64 * MEBIBYTE);
    fp_arena_release(&room->arena);
    free(room);
    return 0;
}

/* Deltas of few segments over three hours. */
static inline void draw_all(struct room *room, uint64_t seed)
{
    for (uint64_t i = 0; i < DELTAS; i++) {
        const struct random_delta_settings settings = {
            .seed = seed * DELTAS + i,
            .received_us = NOW_US - (int64_t)(i % 3) * FP_US_PER_HOUR - (int64_t)i,
            .max_samples = 40,
            .functions = 10,
            .routes = 2,
            .left_out = true,
            .observed = true,
        };
        random_delta(&settings, &room->arena, &room->deltas[i]);
    }
}

static inline void add_all(struct room *room)
{
    for (size_t i = 0; i < DELTAS; i++)
        assert_int_equal(fp_rollup_add(&room->rollup, &room->deltas[i]), FP_ROLLUP_COUNTED);
}

static inline void *row_at(struct room *room, enum fp_rollup_table table, size_t index)
{
    return fp_rows_at(&room->rollup.tables[table], index);
}

static inline size_t row_count(const struct room *room, enum fp_rollup_table table)
{
    return room->rollup.tables[table].count;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
