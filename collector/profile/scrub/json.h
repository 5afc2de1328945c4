/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, JSON: scrubs whole documents: details of events, and sessions as they were received.
 */
#ifndef FP_PROFILE_SCRUB_JSON_H
#define FP_PROFILE_SCRUB_JSON_H

#include "collector/base/buf.h"
#include "collector/profile/scrub/scrub.h"

/*
 * Appends the scrubbed JSON to out if scrubbing changes it; else appends nothing. Look at
 * out->failed; false: the arena is full. Scrubs URLs in strings and names as fp_scrub_resource
 * does, and the text around them as fp_scrub_text does. Replaces the values of members that carry
 * secrets, such as Cookie, password and requestFormData, by "(removed)". json is one text or
 * several, as yyjson writes them: only quotes, backslashes and control characters are escaped.
 * Linear time. Any thread.
 */
bool fp_scrub_json(const struct fp_scrub_rules *rules, struct fp_str json, struct fp_arena *arena,
                   struct fp_buf *out) FP_MUST_CHECK;

/* Appends any JSON to out, without the values of the headers Cookie, Set-Cookie and
 * Authorization. */
void fp_scrub_json_secrets(struct fp_str json, struct fp_buf *out);

#endif
