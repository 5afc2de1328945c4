/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the tests of encoded deltas: memory, and a growing buffer.
 */
#ifndef FP_TESTS_ROLLUP_BYTES_TEST_H
#define FP_TESTS_ROLLUP_BYTES_TEST_H

#include "tests/unit/unit.h"

#include "collector/base/arena.h"
#include "collector/base/buf.h"

#include "tests/tools/random_delta.h"

#define ARENA_MAX (16 * 1024 * 1024)

struct room {
    struct fp_arena arena;
    struct fp_buf bytes;
};

static inline int set_up(void **state)
{
    struct room *room = malloc(sizeof(*room));
    fp_arena_init(&room->arena, ARENA_MAX);
    fp_buf_init(&room->bytes, ARENA_MAX);
    *state = room;
    return 0;
}

static inline int tear_down(void **state)
{
    struct room *room = *state;
    fp_arena_release(&room->arena);
    fp_buf_release(&room->bytes);
    free(room);
    return 0;
}

#endif
