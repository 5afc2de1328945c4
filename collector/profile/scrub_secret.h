/*
 * Scrub, secrets: the names, of headers and of members, whose value is nobody's business. Pure
 * functions; any thread.
 */
#ifndef FP_PROFILE_SCRUB_SECRET_H
#define FP_PROFILE_SCRUB_SECRET_H

#include "collector/base/base.h"

enum { FP_SCRUB_SECRET_LEN_MAX = 19 };

/* The letters that secrets' names of each length begin with, a bit for each; few names do. */
extern const uint32_t fp_scrub_secret_letters[FP_SCRUB_SECRET_LEN_MAX + 1];

/* Of a name that is as long as some of them. */
bool fp_scrub_is_known_secret(struct fp_str name, bool are_scrubbed);

/* Whether a name is a secret's, in whatever case; some always are, the others when texts are
 * scrubbed. */
static inline bool fp_scrub_is_secret(struct fp_str name, bool are_scrubbed)
{
    return name.len > 0 && name.len <= FP_SCRUB_SECRET_LEN_MAX &&
           (fp_scrub_secret_letters[name.len] >> (name.ptr[0] & 31) & 1) != 0 &&
           fp_scrub_is_known_secret(name, are_scrubbed);
}

#endif
