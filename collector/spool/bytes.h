/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes little-endian numbers of the spool's files.
 */
#ifndef FP_SPOOL_BYTES_H
#define FP_SPOOL_BYTES_H

#include "collector/base/base.h"

static inline void put_u32(uint8_t *at, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

static inline void put_u64(uint8_t *at, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

static inline uint32_t get_u32(const uint8_t *at)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < 4; i++)
        number |= (uint32_t)at[i] << (8 * i);
    return number;
}

static inline uint64_t get_u64(const uint8_t *at)
{
    return get_u32(at) | (uint64_t)get_u32(at + 4) << 32;
}

#endif
