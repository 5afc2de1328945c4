/*
 * Scrub, JSON: what of a whole document may be kept: details of events, and sessions as they came.
 */
#ifndef FP_PROFILE_SCRUB_JSON_H
#define FP_PROFILE_SCRUB_JSON_H

#include "collector/base/buf.h"
#include "collector/profile/scrub.h"

/*
 * When there is something in the JSON texts that may not be kept, appends what may be kept of them
 * to out (look at out->failed; false: the arena is full); else appends nothing. URLs in strings and
 * names are scrubbed as fp_scrub_resource does, wherever they stand, and what is around them as
 * fp_scrub_text does; the values of members that carry secrets, such as Cookie, password and
 * requestFormData, become "(removed)". json is one text or several, as yyjson writes them: of
 * strings, only quotes, backslashes and control characters are escaped. Linear time. Any thread.
 */
bool fp_scrub_json(const struct fp_scrub_rules *rules, struct fp_str json, struct fp_arena *arena,
                   struct fp_buf *out) FP_MUST_CHECK;

/* Appends any JSON to out without the values of the headers Cookie, Set-Cookie and Authorization.
 */
void fp_scrub_json_secrets(struct fp_str json, struct fp_buf *out);

#endif
