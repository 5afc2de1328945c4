/*
 * Scrub, text: what of free text may be kept, such as a log message or a selector. Pure functions;
 * any thread.
 */
#ifndef FP_PROFILE_SCRUB_TEXT_H
#define FP_PROFILE_SCRUB_TEXT_H

#include "collector/base/buf.h"
#include "collector/profile/scrub.h"

#define FP_SCRUB_REMOVED "(removed)"

/* What may stand between a name, its colon and its value: spaces, quotes, escaped ones, and the
 * begin of `&quot;`, which is one in a saved page. */
static inline bool fp_scrub_is_edge(char c)
{
    return c == ' ' || c == '\'' || c == '"' || c == '\\' || c == '&';
}

/* Whether the colon between the two characters may be that of a header or a label: one with an edge
 * behind it, or of Cookie, Set-Cookie, their successors or Authorization. */
static inline bool fp_scrub_is_label(char last, char next)
{
    return fp_scrub_is_edge(next) || (last | 0x20) == 'e' || (last | 0x20) == 'n' || last == '2';
}

/*
 * Where the first character from `at` on stands that fp_scrub_text may find something around, or
 * the end. Not counted: U+0000, and colons of labels.
 */
size_t fp_scrub_find_telling(struct fp_str text, size_t at);

/*
 * When there is something in the text that may not be kept, appends `before` and what may be kept
 * of the text to out; else appends nothing and is false. "(removed)" stands for e-mail addresses,
 * bearer and JSON web tokens, and the values in `name=value` and `name: value` (to the end of the
 * line) whose name is a secret's; query strings are left out unless rules keep them. Whole URLs are
 * not looked for. text stands between the quotes of a JSON string as yyjson writes it, and so does
 * the result; an escaped U+0000 becomes U+FFFD. Linear time.
 */
bool fp_scrub_text(const struct fp_scrub_rules *rules, struct fp_str text, struct fp_str before,
                   struct fp_buf *out);

#endif
