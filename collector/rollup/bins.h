/*
 * Bins: log-linear histogram bins of whole microseconds, 32 an octave, relative error at most
 * 1.6 %.
 *
 * Values below 64 have a bin each; from there an octave [2^k, 2^(k+1)) has 32 bins of equal width.
 * Adding the counts of two histograms is exact. SQL's fleetprof_data.bin_middle_us is the same
 * function.
 */
#ifndef FP_ROLLUP_BINS_H
#define FP_ROLLUP_BINS_H

#include <stdint.h>

/* The bin of a value in microseconds, 0 <= value_us <= 2^53. */
uint16_t fp_bin_of(int64_t value_us);

/* The middle of a bin in microseconds, (its lowest + its highest value) / 2: what a value in it is
 * taken for. */
double fp_bin_middle_us(uint16_t bin);

#endif
