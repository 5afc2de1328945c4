/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of header_policy: text from literals, and a seeded generator. */
#ifndef FLEETPROF_TEST_HEADER_POLICY_H
#define FLEETPROF_TEST_HEADER_POLICY_H

#include "header_policy/slice.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static inline struct fleetprof_slice text(const char *literal)
{
    return (struct fleetprof_slice){literal, literal == NULL ? 0 : strlen(literal)};
}

#define assert_text(slice, expected)                                                               \
    do {                                                                                           \
        struct fleetprof_slice got_ = (slice);                                                     \
        assert_int_equal(got_.len, strlen(expected));                                              \
        assert_memory_equal(got_.data, expected, got_.len);                                        \
    } while (0)

/* xorshift64: reproducible everywhere, which rand() is not. */
static inline unsigned pick(uint64_t *state, unsigned below)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)((*state >> 33) % below);
}

#endif
