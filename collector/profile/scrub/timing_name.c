/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timing names: recognizes recommended names, checks templates and matches names.
 */
#include "collector/profile/scrub/timing_name.h"

#include "collector/base/ascii.h"
#include "collector/profile/text.h"

static const char *const recommended[] = {
    /* 2011 */
    "fullyLoaded",
    "fullyVisible",
    "aboveTheFold",
    "timeToUserAction",
    /* 2012 */
    "mark_fully_loaded",
    "mark_fully_visible",
    "mark_above_the_fold",
    "mark_time_to_user_action",
    /* Level 3 */
    "mark_interactive",
    "mark_feature_usage",
};

bool fp_timing_name_is_recommended(struct fp_str name)
{
    for (size_t i = 0; i < FP_COUNT(recommended); i++)
        if (fp_str_equal(name, fp_str_of(recommended[i])))
            return true;
    return false;
}

/* The text between two wildcards, and the wildcard after it. */
struct name_piece {
    struct fp_str text;
    bool has_wildcard; /* false for the last piece */
    size_t least;      /* characters that the wildcard needs */
};

static bool is_word(char c)
{
    return fp_is_alnum(c) || c == '_';
}

/* Removes the first piece from the template. */
static struct name_piece next_piece(struct fp_str *rest)
{
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != '*' &&
           !(rest->ptr[len] == ':' && len + 1 < rest->len && is_word(rest->ptr[len + 1])))
        len++;
    struct name_piece piece = {.text = {rest->ptr, len}, .has_wildcard = len < rest->len};
    if (piece.has_wildcard) {
        piece.least = rest->ptr[len] == ':' ? 1 : 0;
        len++;
        while (piece.least > 0 && len < rest->len && is_word(rest->ptr[len]))
            len++;
    }
    *rest = fp_str_skip(*rest, len);
    return piece;
}

/* Returns the first occurrence of text at or after `begin`, name.len + 1 if none. */
static size_t find(struct fp_str name, size_t begin, struct fp_str text)
{
    if (begin > name.len || name.len - begin < text.len)
        return name.len + 1;
    if (text.len == 0)
        return begin;
    const char *at = memmem(name.ptr + begin, name.len - begin, text.ptr, text.len);
    return at != NULL ? (size_t)(at - name.ptr) : name.len + 1;
}

/* Matches each piece at its first occurrence: if the name matches at all, it matches that way. */
static bool name_fits(struct fp_str rest, struct fp_str name)
{
    struct name_piece piece = next_piece(&rest);
    if (!fp_str_has_prefix(name, piece.text))
        return false;
    size_t at = piece.text.len;
    while (piece.has_wildcard) {
        size_t begin = at + piece.least;
        if (rest.len == 0)
            return begin <= name.len;
        piece = next_piece(&rest);
        if (piece.has_wildcard)
            at = find(name, begin, piece.text) + piece.text.len;
        else
            return name.len >= begin + piece.text.len &&
                   fp_str_equal(fp_str_skip(name, name.len - piece.text.len), piece.text);
        if (at > name.len)
            return false;
    }
    return at == name.len;
}

struct fp_str fp_timing_name_find(const struct fp_scrub_rules *rules, struct fp_str name)
{
    for (size_t i = 0; i < rules->timing_name_count; i++)
        if (name_fits(rules->timing_names[i], name))
            return rules->timing_names[i];
    return name;
}

const char *fp_timing_name_check(struct fp_str name_template)
{
    struct fp_str rest = name_template;
    struct name_piece piece = next_piece(&rest);
    if (!piece.has_wildcard)
        return "a template of names has a :name or ends in *";
    if (fp_text_cut(name_template, FP_TEXT_DIMENSION_MAX).len < name_template.len)
        return "a template of names has at most 200 characters";
    while (rest.len > 0) {
        if (piece.least == 0)
            return "* may only be the end of a template of names";
        piece = next_piece(&rest);
        if (piece.text.len == 0)
            return "two :names of a template need a character between them";
    }
    return NULL;
}
