/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits that hold when a configuration names none.
 */
#ifndef FP_TESTS_DEFAULT_LIMITS_H
#define FP_TESTS_DEFAULT_LIMITS_H

#include "collector/format/format.h"

static const struct fp_format_limits default_limits = {
    .max_inflated = 64 * 1024 * 1024,
    .samples = 200000,
    .stacks = 500000,
    .frames = 100000,
    .resources = 10000,
    .entries = 50000,
    .stack_depth = 2000,
    .json_depth = 64,
    .max_span_us = INT64_C(3600) * 1000000,
};

#endif
