/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vital: names and thresholds, as in web-vitals.
 */
#include "collector/rollup/vital.h"

#include "collector/base/assert.h"
#include "collector/base/clock.h"

#define ROW(id, name, good, poor, is_score)                                                        \
    {name, (good) * FP_US_PER_MS, (poor) * FP_US_PER_MS, is_score}

static const struct {
    const char *name;
    int64_t good_us; /* good up to and including this */
    int64_t poor_us; /* poor above this */
    bool is_score;
} vitals[FP_VITAL_COUNT] = {FP_VITALS(ROW)};

#define PART(id, number, name, member) [FP_VITAL_##id][number] = {name, member}

static const struct fp_vital_part parts_of[FP_VITAL_COUNT][FP_VITAL_PARTS_MAX] = {
    FP_VITAL_PARTS(PART)};

#define ELEMENT(id, member) [FP_VITAL_##id] = (member)

static const char *const element_members[FP_VITAL_COUNT] = {FP_VITAL_ELEMENTS(ELEMENT)};

const char *fp_vital_name(enum fp_vital vital)
{
    return vitals[vital].name;
}

bool fp_vital_is_score(enum fp_vital vital)
{
    return vitals[vital].is_score;
}

enum fp_vital fp_vital_find(struct fp_str name)
{
    enum fp_vital vital = 0;
    while (vital < FP_VITAL_COUNT && !fp_str_equal(name, fp_str_of(vitals[vital].name)))
        vital++;
    return vital;
}

enum fp_vital_rating fp_vital_rate(enum fp_vital vital, int64_t value_us)
{
    if (vital == FP_VITAL_INP && value_us >= FP_INTERACTION_FLAGGED_US)
        return FP_VITAL_FLAGGED;
    if (value_us <= vitals[vital].good_us)
        return FP_VITAL_GOOD;
    return value_us > vitals[vital].poor_us ? FP_VITAL_POOR : FP_VITAL_NEEDS_IMPROVEMENT;
}

const char *fp_vital_element_member(enum fp_vital vital)
{
    return element_members[vital];
}

size_t fp_vital_part_count(enum fp_vital vital)
{
    size_t count = 0;
    while (count < FP_VITAL_PARTS_MAX && parts_of[vital][count].name != NULL)
        count++;
    return count;
}

const struct fp_vital_part *fp_vital_part_of(enum fp_vital vital, size_t number)
{
    FP_ASSERT(number < fp_vital_part_count(vital));
    return &parts_of[vital][number];
}

int64_t fp_vital_part_us(enum fp_vital vital, size_t number, const struct fp_vital_parts *parts,
                         int64_t value_us)
{
    const size_t last = fp_vital_part_count(vital) - 1;
    FP_ASSERT(number <= last);
    if (number < last)
        return parts->us[number];
    for (size_t i = 0; i < last; i++)
        value_us -= parts->us[i];
    return value_us;
}
