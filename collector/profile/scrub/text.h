/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub, text: scrubs free text, such as a log message or a selector. Pure functions; any thread.
 */
#ifndef FP_PROFILE_SCRUB_TEXT_H
#define FP_PROFILE_SCRUB_TEXT_H

#include "collector/base/buf.h"
#include "collector/profile/scrub/scrub.h"

#define FP_SCRUB_REMOVED "(removed)"

/* True for characters that may separate a name, its colon and its value: spaces, quotes, the
 * backslashes of escaped quotes, and the `&` of `&quot;`, a quote in saved HTML. */
static inline bool fp_scrub_is_edge(char c)
{
    return c == ' ' || c == '\'' || c == '"' || c == '\\' || c == '&';
}

/* True if the colon between the two characters may end a label or a header's name: if a separator
 * follows, or if the name may be Cookie, Set-Cookie, Cookie2, Set-Cookie2 or Authorization. */
static inline bool fp_scrub_is_label(char last, char next)
{
    return fp_scrub_is_edge(next) || (last | 0x20) == 'e' || (last | 0x20) == 'n' || last == '2';
}

/* True for what follows the @ of `icon@2x.png` and `library@1.2.js`: a digit first, a file's ending
 * last. */
bool fp_scrub_is_file(struct fp_str domain);

/*
 * Returns the first trigger at or after `at`, a character at which fp_scrub_text may find something
 * to remove, or the end. Ignores U+0000 and the colons of labels.
 */
size_t fp_scrub_find_trigger(struct fp_str text, size_t at);

/*
 * Appends `before` and the scrubbed text to out if scrubbing changes the text; else appends nothing
 * and returns false. "(removed)" replaces e-mail addresses, bearer tokens, JSON web tokens, and the
 * values in `name=value` and `name: value` (to the end of the line) of secret names. Query strings
 * are removed unless the rules keep them; so are the fragment and the parameters of a path. Does
 * not look for whole URLs. text is the inside of a JSON string as yyjson writes it, and so is the
 * result; an escaped U+0000 becomes U+FFFD. Linear time.
 */
bool fp_scrub_text(const struct fp_scrub_rules *rules, struct fp_str text, struct fp_str before,
                   struct fp_buf *out);

#endif
