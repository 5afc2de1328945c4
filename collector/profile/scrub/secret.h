/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, secrets: the names of headers and members whose values must not be stored. Pure functions;
 * any thread.
 */
#ifndef FP_PROFILE_SCRUB_SECRET_H
#define FP_PROFILE_SCRUB_SECRET_H

#include "collector/base/base.h"

enum { FP_SCRUB_SECRET_LEN_MAX = 19 };

/* True if a name is that of a secret, in any case. Some always are, the others when texts are
 * scrubbed. */
bool fp_scrub_is_secret(struct fp_str name, bool are_scrubbed);

#endif
