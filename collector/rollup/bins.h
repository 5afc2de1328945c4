/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bins: log-linear histogram bins of whole microseconds, 32 per octave, relative error at most 1.6
 * %.
 *
 * Values below 64 have one bin each; above, an octave [2^k, 2^(k+1)) has 32 bins of equal width.
 * Adding the counts of two histograms is exact. SQL's fleetprof_data.bin_middle_us is the same
 * function.
 */
#ifndef FP_ROLLUP_BINS_H
#define FP_ROLLUP_BINS_H

#include <stdint.h>

/* Returns the bin of a value in microseconds, 0 <= value_us <= 2^53. */
uint16_t fp_bin_of(int64_t value_us);

/* Returns the middle of a bin in microseconds, (lowest + highest value) / 2. It stands for the
 * values of the bin. */
double fp_bin_middle_us(uint16_t bin);

#endif
