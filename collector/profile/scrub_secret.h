/*
 * Scrub, secrets: the names of headers and members whose values must not be stored. Pure functions;
 * any thread.
 */
#ifndef FP_PROFILE_SCRUB_SECRET_H
#define FP_PROFILE_SCRUB_SECRET_H

#include "collector/base/base.h"

enum { FP_SCRUB_SECRET_LEN_MAX = 19 };

/* Per length, one bit for each letter that the name of a secret begins with. Few names match. */
extern const uint32_t fp_scrub_secret_letters[FP_SCRUB_SECRET_LEN_MAX + 1];

/* As fp_scrub_is_secret, for a name whose length and first letter match. */
bool fp_scrub_is_known_secret(struct fp_str name, bool are_scrubbed);

/* True if a name is that of a secret, in any case. Some always are, the others when texts are
 * scrubbed. */
static inline bool fp_scrub_is_secret(struct fp_str name, bool are_scrubbed)
{
    return name.len > 0 && name.len <= FP_SCRUB_SECRET_LEN_MAX &&
           (fp_scrub_secret_letters[name.len] >> (name.ptr[0] & 31) & 1) != 0 &&
           fp_scrub_is_known_secret(name, are_scrubbed);
}

#endif
