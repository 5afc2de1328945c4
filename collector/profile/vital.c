/*
 * Vital: names and thresholds, as in web-vitals.
 */
#include "collector/profile/vital.h"

static const struct {
    const char *name;
    int64_t good_us; /* good up to and including this */
    int64_t poor_us; /* poor above this */
} vitals[FP_VITAL_COUNT] = {
    [FP_VITAL_LCP] = {"LCP", 2500000, 4000000},  [FP_VITAL_INP] = {"INP", 200000, 500000},
    [FP_VITAL_CLS] = {"CLS", 100000, 250000},    [FP_VITAL_FCP] = {"FCP", 1800000, 3000000},
    [FP_VITAL_TTFB] = {"TTFB", 800000, 1800000},
};

const char *fp_vital_name(enum fp_vital vital)
{
    return vitals[vital].name;
}

enum fp_vital fp_vital_find(struct fp_str name)
{
    enum fp_vital vital = FP_VITAL_LCP;
    while (vital < FP_VITAL_COUNT && !fp_str_equal(name, fp_str_of(vitals[vital].name)))
        vital++;
    return vital;
}

enum fp_vital_rating fp_vital_rate(enum fp_vital vital, int64_t value_us)
{
    if (value_us <= vitals[vital].good_us)
        return FP_VITAL_GOOD;
    return value_us > vitals[vital].poor_us ? FP_VITAL_POOR : FP_VITAL_NEEDS_IMPROVEMENT;
}
