/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, names: scrubs a name that a page made up, such as a log message. Any thread.
 */
#ifndef FP_PROFILE_SCRUB_NAME_H
#define FP_PROFILE_SCRUB_NAME_H

#include "collector/profile/scrub/scrub.h"

/*
 * Scrubs a name as fp_scrub_json scrubs a string: removes query strings, e-mail addresses, tokens
 * and the values of secrets. *scrubbed is the name itself, or lives in the arena. False: the arena
 * is full.
 */
bool fp_scrub_name(const struct fp_scrub_rules *rules, struct fp_str name, struct fp_arena *arena,
                   struct fp_str *scrubbed) FP_MUST_CHECK;

#endif
