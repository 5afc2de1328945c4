/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers for tests: the same in every run.
 */
#ifndef FP_TESTS_PROFILE_CHANCE_H
#define FP_TESTS_PROFILE_CHANCE_H

#include <stdint.h>

static uint64_t random_state; /* set it before the first use */

static inline uint32_t below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % limit;
}

#endif
