/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom dimensions: which names a site may give them, and which values a page. Pure functions; any
 * thread.
 */
#ifndef FP_PROFILE_SCRUB_CUSTOM_H
#define FP_PROFILE_SCRUB_CUSTOM_H

#include "collector/base/base.h"

#include <stdbool.h>

enum { FP_CUSTOM_DIMENSIONS_MAX = 3, FP_CUSTOM_VALUE_MAX = 64 /* code points */ };

/* Checks a name from the configuration. Returns NULL if it is valid, else what is wrong with it. */
const char *fp_custom_name_check(struct fp_str name);

/* True if a value, which is valid UTF-8, can be stored: it has no sign with which filters tell
 * values apart, and is not too long. */
bool fp_custom_value_is_valid(struct fp_str value);

#endif
