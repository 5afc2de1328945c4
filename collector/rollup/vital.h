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

/* A part of a vital's value: its name in the database, and the attribution's member in web-vitals.
 */
struct fp_vital_part {
    const char *name;
    const char *member;
};

/* The parts of a value but the last one: that takes the rest. Microseconds from 0 on, in the
 * order of fp_vital_part_of; their sum is at most the value. */
struct fp_vital_parts {
    int64_t known; /* how many are: fp_vital_part_count - 1, or 0 */
    int64_t us[FP_VITAL_PARTS_MAX - 1];
};

/* In the database as numbers. Flagged: too long to be a wait for the page. */
enum fp_vital_rating { FP_VITAL_GOOD, FP_VITAL_NEEDS_IMPROVEMENT, FP_VITAL_POOR, FP_VITAL_FLAGGED };

/* An interaction that takes so long is flagged, and so is its INP: the machine slept, or a dialog
 * was open. docs/numbers.md says why. */
#define FP_INTERACTION_FLAGGED_US (INT64_C(60) * 1000000)

/* "LCP", "INP", … */
const char *fp_vital_name(enum fp_vital vital);

/* True if its values are scores, stored as if they were seconds, and not times. */
bool fp_vital_is_score(enum fp_vital vital);

/* Returns the vital of this name, else FP_VITAL_COUNT. */
enum fp_vital fp_vital_find(struct fp_str name);

/* Returns the member that names the element in the attribution of web-vitals; NULL: none does. */
const char *fp_vital_element_member(enum fp_vital vital);

/* Returns how many parts a value of the vital has: 0, or at least two. */
size_t fp_vital_part_count(enum fp_vital vital);

/* Returns a part by its number, below that count. */
const struct fp_vital_part *fp_vital_part_of(enum fp_vital vital, size_t number);

/* Returns the time of a part; the last one is what the others leave of the value. */
int64_t fp_vital_part_us(enum fp_vital vital, size_t number, const struct fp_vital_parts *parts,
                         int64_t value_us);

/* Rates a value by the thresholds of Google's web-vitals, or flags it. Microseconds; the score of
 * CLS times 1,000,000. */
enum fp_vital_rating fp_vital_rate(enum fp_vital vital, int64_t value_us);

#endif
