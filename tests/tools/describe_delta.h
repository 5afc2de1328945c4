/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a delta as one line of JSON, for tests that compute expected numbers themselves.
 */
#ifndef FP_TESTS_DESCRIBE_DELTA_H
#define FP_TESTS_DESCRIBE_DELTA_H

#include "collector/rollup/delta.h"

/* Prints the delta to standard output; tests/behaviour/store_tool.mjs has the type. Ids are texts.
 * Names of random deltas need no escaping. */
void describe_delta(const struct fp_delta *delta);

#endif
