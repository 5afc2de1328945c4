/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source link: checks a template from its scheme to its last placeholder.
 */
#include "collector/config/source_link.h"

#include "collector/base/ascii.h"

enum { LENGTH_MAX = 1000 };

/* Returns what follows the scheme of a web page or an editor; empty for anything else. */
static struct fp_str skip_scheme(struct fp_str text)
{
    static const struct fp_str schemes[] = {
        {"https://", 8}, {"http://", 7}, {"vscode://", 9}, {"idea://", 7}};
    for (size_t i = 0; i < FP_COUNT(schemes); i++)
        if (fp_str_has_prefix(text, schemes[i]))
            return fp_str_skip(text, schemes[i].len);
    return FP_STR("");
}

/* Returns the length of host and port, 0 if they are not valid. */
static size_t host_len(struct fp_str text)
{
    size_t len = 0;
    while (len < text.len && strchr("/?", text.ptr[len]) == NULL) {
        if (!fp_is_alnum(text.ptr[len]) && strchr(".-:[]", text.ptr[len]) == NULL)
            return 0;
        len++;
    }
    return len < text.len ? len : 0;
}

/* Returns the length of the placeholder that the text begins with, 0 if it begins with none. */
static size_t placeholder_len(struct fp_str text)
{
    static const struct fp_str known[] = {
        {"{file}", 6}, {"{release}", 9}, {"{line}", 6}, {"{column}", 8}};
    for (size_t i = 0; i < FP_COUNT(known); i++)
        if (fp_str_has_prefix(text, known[i]))
            return known[i].len;
    return 0;
}

static const char *check_rest(struct fp_str text)
{
    bool has_file = false;
    for (struct fp_str rest = text; rest.len > 0;) {
        size_t len = placeholder_len(rest);
        char c = rest.ptr[0];
        if (len == 0 && (c == '{' || c == '}'))
            return "a source link has {file}, {release}, {line}, {column}, and no other braces";
        if (c <= ' ' || c > '~' || strchr("\"'\\<>`", c) != NULL)
            return "a source link has no quote, backslash, <, >, white space, control character or "
                   "letter outside of ASCII; write it percent-encoded";
        has_file = has_file || fp_str_has_prefix(rest, FP_STR("{file}"));
        rest = fp_str_skip(rest, len > 0 ? len : 1);
    }
    return has_file ? NULL : "a source link needs {file}, which stands for the path of the source";
}

const char *fp_source_link_check(struct fp_str source_link)
{
    struct fp_str rest = skip_scheme(source_link);
    if (rest.len == 0)
        return "a source link begins with https://, http://, vscode:// or idea://";
    if (source_link.len > LENGTH_MAX)
        return "a source link has at most 1,000 characters";
    size_t len = host_len(rest);
    if (len == 0)
        return "a source link has a host, without user name or placeholder, and a / or ? after it";
    return check_rest(fp_str_skip(rest, len));
}
