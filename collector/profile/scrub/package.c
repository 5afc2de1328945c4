/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Package: names in paths, by the rules of url_package.
 */
#include "collector/profile/scrub/package.h"
#include "collector/base/ascii.h"

static const struct fp_str none = {"", 0};

/* Returns how many bytes from the start are not one of these. */
static size_t span_without(struct fp_str text, const char *bytes)
{
    size_t len = 0;
    while (len < text.len && strchr(bytes, text.ptr[len]) == NULL)
        len++;
    return len;
}

static struct fp_str first(struct fp_str text, size_t len)
{
    return (struct fp_str){text.ptr, len};
}

static bool skip_prefix(struct fp_str *text, const char *prefix)
{
    const struct fp_str wanted = fp_str_of(prefix);
    if (!fp_str_has_prefix(*text, wanted))
        return false;
    *text = fp_str_skip(*text, wanted.len);
    return true;
}

static bool has_suffix(struct fp_str text, const char *suffix)
{
    const struct fp_str wanted = fp_str_of(suffix);
    return text.len >= wanted.len && fp_str_equal(fp_str_skip(text, text.len - wanted.len), wanted);
}

/* Returns the name at the start of a text, with its scope, "" if none is there. ends: what is not
 * in a name. */
static struct fp_str take_name(struct fp_str text, const char *ends)
{
    size_t scope = 0;
    if (text.len > 0 && text.ptr[0] == '@') {
        const size_t len = span_without(fp_str_skip(text, 1), ends);
        scope = 1 + len + 1;
        if (len == 0 || scope > text.len || text.ptr[scope - 1] != '/')
            return none;
    }
    const size_t len = span_without(fp_str_skip(text, scope), ends);
    return len > 0 ? first(text, scope + len) : none;
}

/* After a node_modules directory: a directory of its own, not a hidden one. */
static struct fp_str after_node_modules(struct fp_str rest)
{
    const struct fp_str name = take_name(rest, "/@");
    const struct fp_str scope =
        first(rest, name.len > 0 && rest.ptr[0] == '@' ? span_without(rest, "/") + 1 : 0);
    if (name.len == 0 || name.len == rest.len || rest.ptr[name.len] != '/' ||
        rest.ptr[scope.len] == '.')
        return none;
    return name;
}

/* After /ajax/libs/: a name, and a directory of a version. */
static struct fp_str after_libs(struct fp_str rest)
{
    const struct fp_str name = first(rest, span_without(rest, "/"));
    struct fp_str version = fp_str_skip(rest, name.len);
    if (name.len == 0 || !skip_prefix(&version, "/"))
        return none;
    version = first(version, span_without(version, "/") + 1);
    if (version.ptr + version.len > rest.ptr + rest.len)
        return none;
    (void)skip_prefix(&version, "v");
    return version.len > 1 && fp_is_digit(version.ptr[0]) ? name : none;
}

/* Returns what the last directory of this kind says that says something. */
static struct fp_str find_last(struct fp_str path, const char *directory,
                               struct fp_str (*after)(struct fp_str rest))
{
    for (size_t at = path.len; at-- > 0;) {
        struct fp_str rest = fp_str_skip(path, at);
        if (!skip_prefix(&rest, directory))
            continue;
        const struct fp_str name = after(rest);
        if (name.len > 0)
            return name;
    }
    return none;
}

/* True for 1, v1, 1.2.3, latest and next; main@1.4.2.js is a file. */
static bool is_version(struct fp_str text)
{
    if (has_suffix(text, ".js") || has_suffix(text, ".mjs") || has_suffix(text, ".cjs"))
        return false;
    if (fp_str_equal(text, FP_STR("latest")) || fp_str_equal(text, FP_STR("next")))
        return true;
    (void)skip_prefix(&text, "v");
    size_t digits = 0;
    while (digits < text.len && fp_is_digit(text.ptr[digits]))
        digits++;
    return digits > 0 && (digits == text.len || text.ptr[digits] == '.');
}

/* Finds the first name@version. */
static struct fp_str find_versioned(struct fp_str path)
{
    static const char *const others[] = {"https://cdn.jsdelivr.net/gh/",
                                         "https://cdn.jsdelivr.net/combine/", "https://esm.sh/gh/"};
    for (size_t i = 0; i < FP_COUNT(others); i++)
        if (fp_str_has_prefix(path, fp_str_of(others[i])))
            return none;
    for (size_t at = 0; at < path.len; at++) {
        struct fp_str rest = fp_str_skip(path, at + 1);
        if (path.ptr[at] != '/' && path.ptr[at] != ':')
            continue;
        (void)skip_prefix(&rest, "*");
        const struct fp_str name = take_name(rest, "/@:*");
        struct fp_str version = fp_str_skip(rest, name.len);
        if (name.len > 0 && skip_prefix(&version, "@") &&
            is_version(first(version, span_without(version, "/"))))
            return name;
    }
    return none;
}

/* After a network's host: a name, and perhaps a version of any form. */
static struct fp_str after_network(struct fp_str rest)
{
    (void)skip_prefix(&rest, "*");
    const struct fp_str name = take_name(rest, "/@*");
    const struct fp_str end = fp_str_skip(rest, name.len);
    return end.len == 0 || end.ptr[0] == '/' || end.ptr[0] == '@' ? name : none;
}

static struct fp_str find_in_network(struct fp_str path)
{
    static const char *const networks[] = {"https://cdn.jsdelivr.net/npm/", "https://unpkg.com/",
                                           "https://cdn.skypack.dev/"};
    struct fp_str rest = path;
    for (size_t i = 0; i < FP_COUNT(networks); i++)
        if (skip_prefix(&rest, networks[i]))
            return after_network(rest);
    if (!skip_prefix(&rest, "https://esm.sh/"))
        return none;
    const struct fp_str build = first(rest, span_without(rest, "/"));
    const bool is_build = build.len > 1 && build.len < rest.len && build.ptr[0] == 'v' &&
                          span_without(fp_str_skip(build, 1), "0123456789") == 0 &&
                          is_version(build) && span_without(build, ".") == build.len;
    if (is_build)
        rest = fp_str_skip(rest, build.len + 1);
    return fp_str_has_prefix(rest, FP_STR("gh/")) ? none : after_network(rest);
}

struct fp_str fp_package_of_url(struct fp_str url)
{
    const struct fp_str path = first(url, span_without(url, "?#"));
    struct fp_str name = find_last(path, "/node_modules/", after_node_modules);
    if (name.len == 0)
        name = find_last(path, "/ajax/libs/", after_libs);
    if (name.len == 0)
        name = find_versioned(path);
    return name.len > 0 ? name : find_in_network(path);
}
