/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, secrets: looks names up in the perfect hash that gperf makes of secret_names.gperf.
 */
#include "collector/profile/scrub/secret.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wnull-dereference"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
/* gperf defines it without `static`. */
struct secret_name;
static const struct secret_name *find_secret_name(const char *str, size_t len);
#include "secret_names.h"
#pragma GCC diagnostic pop

_Static_assert((int)MAX_WORD_LENGTH == (int)FP_SCRUB_SECRET_LEN_MAX,
               "the longest name in secret_names.gperf");

bool fp_scrub_is_secret(struct fp_str name, bool are_scrubbed)
{
    const struct secret_name *found = find_secret_name(name.ptr, name.len);
    return found != NULL && (found->always || are_scrubbed);
}
