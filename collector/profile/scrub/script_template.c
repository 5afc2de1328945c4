/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Script template: checks templates and patterns from their first character to their last.
 */
#include "collector/profile/scrub/script_template.h"

#include "collector/base/ascii.h"
#include "collector/profile/text.h"

enum { STARS_MAX = 8 }; /* the database numbers what they stand for, in one digit */

static bool is_letter(char c)
{
    return fp_is_alnum(c) && !(c >= '0' && c <= '9');
}

/* True for a path, or a URL with a host. */
static bool has_valid_start(struct fp_str text)
{
    size_t at = 0;
    while (at < text.len && (fp_is_alnum(text.ptr[at]) || strchr("+.-", text.ptr[at]) != NULL))
        at++;
    return text.len > 0 &&
           (text.ptr[0] == '/' ||
            (is_letter(text.ptr[0]) && fp_str_has_prefix(fp_str_skip(text, at), FP_STR("://"))));
}

static const char *check_characters(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c == 0x7F || strchr("?#\"\\", c) != NULL)
            return "a template of scripts has no query, fragment, quote, backslash, white space or "
                   "control character";
    }
    return NULL;
}

/* Returns the length of the wildcard that the text begins with, 0 if it begins with none. */
static size_t wildcard_len(struct fp_str text)
{
    if (text.len > 0 && text.ptr[0] == '*')
        return 1;
    if (text.len < 2 || text.ptr[0] != ':' || !is_letter(text.ptr[1]))
        return 0;
    size_t len = 2;
    while (len < text.len && (fp_is_alnum(text.ptr[len]) || text.ptr[len] == '_'))
        len++;
    return len;
}

const char *fp_script_template_check(struct fp_str script_template)
{
    if (!has_valid_start(script_template))
        return "a template of scripts begins with / or scheme://host";
    if (fp_text_cut(script_template, FP_TEXT_DIMENSION_MAX).len < script_template.len)
        return "a template of scripts has at most 200 characters";
    const char *wrong = check_characters(script_template);
    if (wrong != NULL)
        return wrong;
    int stars = 0;
    int names = 0;
    bool was_wildcard = false;
    for (struct fp_str rest = script_template; rest.len > 0;) {
        size_t len = wildcard_len(rest);
        if (len > 0 && was_wildcard)
            return "two wildcards of a template of scripts need a character between them";
        stars += len > 0 && rest.ptr[0] == '*';
        names += len > 0 && rest.ptr[0] == ':';
        was_wildcard = len > 0;
        rest = fp_str_skip(rest, len > 0 ? len : 1);
    }
    if (stars > STARS_MAX)
        return "a template of scripts has at most 8 *";
    return names > 0 ? NULL : "a template of scripts has a :name for what changes with each build";
}

/* True if a part of a path is a :name, which only templates have. */
static bool has_name(struct fp_str text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.ptr[i] == '/' && wildcard_len(fp_str_skip(text, i + 1)) > 1)
            return true;
    return false;
}

static const char *check_ignored_characters(struct fp_str text)
{
    size_t stars = 0;
    size_t letters = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        letters += fp_is_alnum((char)c) || c >= 0x80;
        if (c < ' ' || c == 0x7F || strchr("?#\"\\", c) != NULL)
            return "a pattern of ignored code has no query, fragment, quote, backslash or control "
                   "character; * stands for any text";
        stars += c == '*';
        if (c == '*' && i > 0 && text.ptr[i - 1] == '*')
            return "two * of a pattern of ignored code need a character between them";
    }
    if (stars > STARS_MAX)
        return "a pattern of ignored code has at most 8 *";
    return letters > 0 ? NULL : "a pattern of ignored code has a letter or a digit";
}

const char *fp_ignored_code_check(struct fp_str pattern)
{
    if (fp_text_cut(pattern, FP_TEXT_DIMENSION_MAX).len < pattern.len)
        return "a pattern of ignored code has at most 200 characters";
    if (has_name(pattern))
        return "a pattern of ignored code has no :name; write * for any text";
    return check_ignored_characters(pattern);
}
