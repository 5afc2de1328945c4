/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Route: checks templates and matches paths, segment by segment.
 */
#include "collector/profile/scrub/route.h"

#include "collector/base/ascii.h"
#include "collector/profile/text.h"

/* Removes the first segment, with the slash before it, from *path. False if only trailing slashes
 * are left. */
static bool next_segment(struct fp_str *path, struct fp_str *segment)
{
    if (path->len == 0 || fp_str_equal(*path, FP_STR("/")))
        return false;
    size_t begin = path->ptr[0] == '/' ? 1 : 0;
    size_t end = begin;
    while (end < path->len && path->ptr[end] != '/')
        end++;
    *segment = (struct fp_str){path->ptr + begin, end - begin};
    *path = fp_str_skip(*path, end);
    return true;
}

static bool segment_fits(struct fp_str pattern, struct fp_str segment)
{
    if (pattern.len > 0 && pattern.ptr[0] == ':')
        return segment.len > 0;
    return fp_str_equal(pattern, segment);
}

static bool path_fits(struct fp_str route_template, struct fp_str path)
{
    struct fp_str pattern;
    struct fp_str segment;
    while (next_segment(&route_template, &pattern)) {
        if (fp_str_equal(pattern, FP_STR("*")))
            return true;
        if (!next_segment(&path, &segment) || !segment_fits(pattern, segment))
            return false;
    }
    return !next_segment(&path, &segment);
}

const struct fp_str *fp_route_find(const struct fp_scrub_rules *rules, struct fp_str path)
{
    for (size_t i = 0; i < rules->route_count; i++)
        if (path_fits(rules->routes[i], path))
            return &rules->routes[i];
    return NULL;
}

/* Checking. */

static bool is_name(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!fp_is_alnum(text.ptr[i]) && text.ptr[i] != '_')
            return false;
    return text.len > 0;
}

static const char *check_segment(struct fp_str segment, bool last)
{
    if (segment.len == 0)
        return "a route template has no empty segments";
    if (segment.ptr[0] == ':' && !is_name(fp_str_skip(segment, 1)))
        return "after : a route template has a name of letters, digits and _";
    if (memchr(segment.ptr, '*', segment.len) != NULL && (segment.len > 1 || !last))
        return "* may only be the whole last segment of a route template";
    return NULL;
}

const char *fp_route_check(struct fp_str route_template)
{
    if (route_template.len == 0 || route_template.ptr[0] != '/')
        return "a route template begins with /";
    if (fp_text_cut(route_template, FP_TEXT_DIMENSION_MAX).len < route_template.len)
        return "a route template has at most 200 characters";
    for (size_t i = 0; i < route_template.len; i++) {
        unsigned char c = (unsigned char)route_template.ptr[i];
        if (c <= ' ' || c == 0x7F || c == '?' || c == '#')
            return "a route template has no query, fragment, white space or control character";
    }
    struct fp_str rest = route_template;
    struct fp_str segment;
    while (next_segment(&rest, &segment)) {
        const char *wrong = check_segment(segment, rest.len <= 1);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}
