/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interval: Wilson's score interval. Unlike the normal approximation it also holds for 0 hits.
 */
#include "cli/doctor/interval.h"

#include <math.h>

#define Z 1.959963984540054 /* of the normal distribution, for 95 % */

struct fp_interval fp_interval_of(unsigned hits, unsigned trials)
{
    if (trials == 0)
        return (struct fp_interval){0, 1};
    const double n = trials, share = hits / n, scale = 1 + Z * Z / n;
    const double middle = (share + Z * Z / (2 * n)) / scale;
    const double reach = Z * sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / scale;
    return (struct fp_interval){hits == 0 ? 0 : middle - reach,
                                hits == trials ? 1 : middle + reach};
}
