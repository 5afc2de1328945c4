/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bins: the index of a value and the middle of a bin.
 *
 * From 64 on, a value's five bits below its highest one choose the bin within its octave.
 */
#include "collector/rollup/bins.h"

#include "collector/base/assert.h"

enum {
    EXACT_BINS = 64, /* values that have a bin each */
    EXACT_BITS = 6,
    BINS_PER_OCTAVE = 32,
    BIN_BITS = 5,
};

uint16_t fp_bin_of(int64_t value_us)
{
    FP_ASSERT(value_us >= 0);
    uint64_t value = (uint64_t)value_us;
    if (value < EXACT_BINS)
        return (uint16_t)value;
    unsigned octave = 63 - (unsigned)__builtin_clzll(value);
    uint64_t within = (value >> (octave - BIN_BITS)) - BINS_PER_OCTAVE;
    return (uint16_t)(EXACT_BINS + (octave - EXACT_BITS) * BINS_PER_OCTAVE + within);
}

double fp_bin_middle_us(uint16_t bin)
{
    if (bin < EXACT_BINS)
        return (double)bin;
    unsigned octave = EXACT_BITS + (unsigned)(bin - EXACT_BINS) / BINS_PER_OCTAVE;
    unsigned within = (unsigned)(bin - EXACT_BINS) % BINS_PER_OCTAVE;
    double width = (double)(UINT64_C(1) << (octave - BIN_BITS));
    double lowest = (double)(BINS_PER_OCTAVE + within) * width;
    return lowest + (width - 1) / 2;
}
