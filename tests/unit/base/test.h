/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the unit tests of the base: cmocka's headers in its order, and allocations that fail on
 * demand.
 */
#ifndef FP_TESTS_BASE_TEST_H
#define FP_TESTS_BASE_TEST_H

#include "tests/unit/unit.h"

/* Number of allocations that succeed before all others fail; negative: all succeed. */
static int allocations_left = -1;

static inline bool may_allocate(void)
{
    if (allocations_left < 0)
        return true;
    if (allocations_left == 0)
        return false;
    allocations_left--;
    return true;
}

static inline void *limited_malloc(size_t len)
{
    return may_allocate() ? malloc(len) : NULL;
}

static inline void *limited_realloc(void *old, size_t len)
{
    return may_allocate() ? realloc(old, len) : NULL;
}

#endif
