/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes: byte search, 16 at a time: compares a vector and returns the matches as a bit mask, first
 * byte in the lowest bit. Compilers use vector instructions where the processor has them. Pure; any
 * thread.
 */
#ifndef FP_BASE_BYTES_H
#define FP_BASE_BYTES_H

#include "collector/base/base.h"

#ifdef __SSE2__
#include <emmintrin.h>
#else
#include <endian.h>
#endif

typedef uint8_t fp_bytes16 __attribute__((vector_size(16)));

/* Loads sixteen bytes from any address. */
static inline fp_bytes16 fp_bytes16_load(const char *bytes)
{
    fp_bytes16 loaded;
    memcpy(&loaded, bytes, sizeof(loaded));
    return loaded;
}

/* Returns one bit per byte of a comparison's result, whose bytes are 0 or 0xFF. */
static inline uint64_t fp_bytes16_bits(fp_bytes16 found)
{
#ifdef __SSE2__
    return (uint32_t)_mm_movemask_epi8((__m128i)found);
#else
    uint64_t halves[2];
    uint64_t bits = 0;
    memcpy(halves, &found, sizeof(halves));
    for (size_t i = 0; i < 2; i++) {
        const uint64_t each = le64toh(halves[i]) & UINT64_C(0x0101010101010101);
        bits |= (each * UINT64_C(0x0102040810204080)) >> 56 << (8 * i);
    }
    return bits;
#endif
}

#endif
