/*
 * Scrub, names: what of a name may be kept that a page made up of anything, such as a log message.
 * Any thread.
 */
#ifndef FP_PROFILE_SCRUB_NAME_H
#define FP_PROFILE_SCRUB_NAME_H

#include "collector/profile/scrub.h"

/*
 * The name as fp_scrub_json leaves a string: without what is in URLs, e-mail addresses, tokens and
 * values of secrets. *scrubbed is the name itself, or lives in the arena. False: the arena is full.
 */
bool fp_scrub_name(const struct fp_scrub_rules *rules, struct fp_str name, struct fp_arena *arena,
                   struct fp_str *scrubbed) FP_MUST_CHECK;

#endif
