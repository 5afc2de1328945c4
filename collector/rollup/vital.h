/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vital: the Web Vitals, and what counts as good and poor. Pure functions; any thread.
 */
#ifndef FP_ROLLUP_VITAL_H
#define FP_ROLLUP_VITAL_H

#include "collector/base/base.h"
#include "collector/rollup/vital_rows.h"

#define FP_VITAL_ID(id, ...) FP_VITAL_##id

/* The rows of schema/vitals: FP_VITAL_LCP, … */
enum fp_vital {
    FP_VITALS(FP_VITAL_ID),
    FP_VITAL_COUNT /* also: a name that is none of them */
};

enum fp_vital_rating { FP_VITAL_GOOD, FP_VITAL_NEEDS_IMPROVEMENT, FP_VITAL_POOR };

/* "LCP", "INP", … */
const char *fp_vital_name(enum fp_vital vital);

/* True if its values are scores, stored as if they were seconds, and not times. */
bool fp_vital_is_score(enum fp_vital vital);

/* Returns the vital of this name, else FP_VITAL_COUNT. */
enum fp_vital fp_vital_find(struct fp_str name);

/* Rates a value by the thresholds of Google's web-vitals. Microseconds; the score of CLS times
 * 1,000,000. */
enum fp_vital_rating fp_vital_rate(enum fp_vital vital, int64_t value_us);

#endif
