/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dimension: what tells segments apart, beside their verified sample rate. Adding one is a member
 * of struct fp_segment, a row here and one of schema/filters (CONTRIBUTING.md). Any thread.
 */
#ifndef FP_ROLLUP_DIMENSION_H
#define FP_ROLLUP_DIMENSION_H

#include "collector/rollup/delta.h"

enum { FP_DIMENSION_COUNT = 16 };

struct fp_dimension {
    const char *name;   /* the column, and the filter of SQL */
    const char *absent; /* what the column has for an empty text; unless it is one, every cohort
                           has one value of the dimension, whatever its level keeps */
    size_t place;       /* of the text in struct fp_segment */
    unsigned version;   /* of the first delta that has it */
};

/* In the order in which ids hash them; the site is the first one. */
extern const struct fp_dimension fp_dimensions[FP_DIMENSION_COUNT];

/* Returns the place of a dimension's text in a segment. */
struct fp_str *fp_dimension_text(struct fp_segment *segment, size_t dimension);

/* Returns a dimension's text in a segment, empty if it is absent. */
struct fp_str fp_dimension_of(const struct fp_segment *segment, size_t dimension);

/* True if every cohort has one value of the dimension. */
bool fp_dimension_is_kept(size_t dimension);

#endif
