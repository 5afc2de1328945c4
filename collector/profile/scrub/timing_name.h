/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing names: templates that keep names of marks and measures few. Pure functions; any thread.
 *
 * In a template `:name` matches one or more characters, `*` at its end any rest, even an empty one:
 * "fetch-:id" replaces "fetch-1234".
 */
#ifndef FP_PROFILE_SCRUB_TIMING_NAME_H
#define FP_PROFILE_SCRUB_TIMING_NAME_H

#include "collector/profile/scrub/scrub.h"

#include <stdbool.h>

/* Checks a template from the configuration. Returns NULL if it is valid, else what is wrong with
 * it. */
const char *fp_timing_name_check(struct fp_str name_template);

/* True if User Timing recommends the name for a mark: the drafts of 2011 and 2012, and Level 3. The
 * column well_known of SQL's timing_hourly has the same list. */
bool fp_timing_name_is_recommended(struct fp_str name);

/* Returns the first template that the name matches, else the name itself. Takes time linear in the
 * name's length, per template. */
struct fp_str fp_timing_name_find(const struct fp_scrub_rules *rules, struct fp_str name);

#endif
