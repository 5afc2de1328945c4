/*
 * Vital: the Web Vitals, and what counts as good and poor. Pure functions; any thread.
 */
#ifndef FP_PROFILE_VITAL_H
#define FP_PROFILE_VITAL_H

#include "collector/base/base.h"

enum fp_vital {
    FP_VITAL_LCP,
    FP_VITAL_INP,
    FP_VITAL_CLS,
    FP_VITAL_FCP,
    FP_VITAL_TTFB,
    FP_VITAL_COUNT /* also: a name that is none of them */
};

enum fp_vital_rating { FP_VITAL_GOOD, FP_VITAL_NEEDS_IMPROVEMENT, FP_VITAL_POOR };

/* "LCP", "INP", … */
const char *fp_vital_name(enum fp_vital vital);

/* Returns the vital of this name, else FP_VITAL_COUNT. */
enum fp_vital fp_vital_find(struct fp_str name);

/* Rates a value by the thresholds of Google's web-vitals. Microseconds; the score of CLS times
 * 1,000,000. */
enum fp_vital_rating fp_vital_rate(enum fp_vital vital, int64_t value_us);

#endif
