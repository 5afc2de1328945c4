/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scrub: reduces URLs to what may be stored.
 *
 * A query, a fragment and credentials may hold a visitor's secrets; the identifiers of blobs and
 * extensions and the text of data: URLs would make each page load create a new name.
 */
#include "collector/profile/scrub/scrub.h"

#include "collector/base/ascii.h"
#include "collector/base/assert.h"
#include "collector/base/hash.h"
#include "collector/profile/scrub/path.h"
#include "collector/profile/scrub/route.h"
#include "collector/profile/scrub/url.h"
#include "collector/profile/text.h"

#include <strings.h>

/* Joins texts in the arena. */
static bool join(struct fp_arena *arena, const struct fp_str *parts, size_t part_count,
                 struct fp_str *joined)
{
    size_t len = 0;
    for (size_t i = 0; i < part_count; i++)
        if (__builtin_add_overflow(len, parts[i].len, &len))
            return false;
    char *bytes = fp_arena_alloc(arena, len);
    if (bytes == NULL)
        return false;
    size_t at = 0;
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].len > 0)
            memcpy(bytes + at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    FP_ASSERT(at == len);
    *joined = (struct fp_str){bytes, len};
    return true;
}

/* Routes. */

/* Finds the template that a page's path matches, else what may be kept of the path. */
static bool route_of(const struct fp_scrub_rules *rules, struct fp_str path, struct fp_arena *arena,
                     struct fp_str *route)
{
    struct fp_str plain;
    if (!fp_scrub_path_parameters(rules, path, arena, &plain))
        return false;
    const struct fp_str *found = fp_route_find(rules, plain);
    if (found == NULL)
        return fp_scrub_path(rules, plain, arena, route);
    *route = *found;
    return true;
}

bool fp_scrub_route(const struct fp_scrub_rules *rules, struct fp_str page_url,
                    struct fp_arena *arena, struct fp_str *route)
{
    *route = FP_STR("");
    const struct fp_url url = fp_url_parse(page_url);
    /* White space in the host ends it: what follows is not a path. */
    if (!fp_url_is_http(&url) || url.path.len == 0 || (unsigned char)url.path.ptr[0] <= ' ')
        return true;
    struct fp_str path;
    if (!route_of(rules, url.path, arena, &path))
        return false;
    return fp_arena_copy(arena, fp_text_cut(path, FP_TEXT_DIMENSION_MAX), route);
}

/* Resources. */

static bool ends_with(struct fp_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && strncasecmp(text.ptr + text.len - len, end, len) == 0;
}

/* Only a page's own URL, which its inline scripts carry, becomes a route: `/:name` must not merge
 * /a.js and /b.js, and the hash in app.4f3a2b1c.js finds its function table. */
static bool is_script_file(struct fp_str path)
{
    static const char *const endings[] = {".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".wasm"};
    for (size_t i = 0; i < FP_COUNT(endings); i++)
        if (ends_with(path, endings[i]))
            return true;
    return false;
}

static bool is_page(const struct fp_url *url, struct fp_str path, struct fp_str page_url)
{
    if (page_url.len == 0)
        return false;
    const struct fp_url page = fp_url_parse(page_url);
    return fp_url_same_origin(url, &page) && !is_script_file(path);
}

static bool is_media_type(struct fp_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!fp_is_alnum(c) && (c == '\0' || strchr("/.+-_", c) == NULL))
            return false;
    }
    return text.len > 0;
}

static const char hash_name[] = ";xxh3=";

enum { HASH_NAME_LEN = sizeof(hash_name) - 1, HASH_DIGITS = 16 };

/* True if the text after a media type is a hash that scrub_data wrote. */
static bool is_hash(struct fp_str text)
{
    if (text.len != HASH_NAME_LEN + HASH_DIGITS || memcmp(text.ptr, hash_name, HASH_NAME_LEN) != 0)
        return false;
    for (size_t i = HASH_NAME_LEN; i < text.len; i++)
        if (fp_hex_value(text.ptr[i]) < 0 || fp_is_upper(text.ptr[i]))
            return false;
    return true;
}

/* `data:text/javascript;xxh3=0123456789abcdef`: the hash is of the whole URL. */
static bool scrub_data(struct fp_str text, const struct fp_url *url, struct fp_arena *arena,
                       struct fp_str *scrubbed)
{
    struct fp_str type = {url->path.ptr, 0};
    while (type.len < url->path.len && type.ptr[type.len] != ';' && type.ptr[type.len] != ',')
        type.len++;
    const char *rest = type.ptr + type.len;
    bool is_type = is_media_type(type);
    /* A scrubbed URL may be uploaded again: it stays as it is. */
    if (is_type && is_hash((struct fp_str){rest, text.len - (size_t)(rest - text.ptr)}))
        return fp_arena_copy(arena, text, scrubbed);
    if (!is_type)
        type = FP_STR("text/plain"); /* the default of RFC 2397 */
    type = fp_text_cut(type, FP_TEXT_DIMENSION_MAX);
    char hash[HASH_NAME_LEN + HASH_DIGITS + 1];
    int len = snprintf(hash, sizeof(hash), "%s%0*llx", hash_name, HASH_DIGITS,
                       (unsigned long long)fp_hash64(text.ptr, text.len));
    FP_ASSERT(is_hash((struct fp_str){hash, (size_t)len})); /* the next time it stays as it is */
    const struct fp_str parts[] = {FP_STR("data:"), type, {hash, (size_t)len}};
    return join(arena, parts, FP_COUNT(parts), scrubbed);
}

/* `blob:https://shop.example`, `blob:null`. */
static bool scrub_blob(const struct fp_url *url, struct fp_arena *arena, struct fp_str *scrubbed)
{
    const struct fp_url inner = fp_url_parse(url->path);
    if (!fp_url_is_http(&inner)) {
        *scrubbed = FP_STR("blob:null");
        return true;
    }
    const struct fp_str parts[] = {FP_STR("blob:"), inner.scheme, FP_STR("://"), inner.host};
    return join(arena, parts, FP_COUNT(parts), scrubbed);
}

/* Drops the folders of a local file, which may name its owner. */
static bool scrub_file(const struct fp_url *url, struct fp_arena *arena, struct fp_str *scrubbed)
{
    struct fp_str name = url->path;
    for (size_t i = 0; i < url->path.len; i++)
        if (url->path.ptr[i] == '/' || url->path.ptr[i] == '\\')
            name = (struct fp_str){url->path.ptr + i + 1, url->path.len - i - 1};
    const struct fp_str parts[] = {FP_STR("file:"), name};
    return join(arena, parts, FP_COUNT(parts), scrubbed);
}

static bool scrub_page(const struct fp_scrub_rules *rules, const struct fp_url *url,
                       struct fp_str path, struct fp_arena *arena, struct fp_str *scrubbed)
{
    struct fp_str route;
    if (!route_of(rules, path, arena, &route))
        return false;
    const struct fp_str parts[] = {url->scheme, FP_STR("://"), url->host, route,
                                   rules->keep_query ? url->query : FP_STR("")};
    return join(arena, parts, FP_COUNT(parts), scrubbed);
}

/* Everything else, URL or not: drops the query and credentials. path: the URL's, without its
 * parameters. */
static bool scrub_text(const struct fp_scrub_rules *rules, struct fp_str text,
                       const struct fp_url *url, struct fp_str path, struct fp_arena *arena,
                       struct fp_str *scrubbed)
{
    const size_t query_len = rules->keep_query ? url->query.len : 0;
    size_t len = text.len > 0 ? (size_t)(url->query.ptr - text.ptr) + query_len : 0;
    if (path.ptr != url->path.ptr) {
        const struct fp_str parts[] = {
            {text.ptr, (size_t)(url->path.ptr - text.ptr)}, path, {url->query.ptr, query_len}};
        if (!join(arena, parts, FP_COUNT(parts), &text))
            return false;
        len = text.len;
    }
    FP_ASSERT(len <= text.len);
    *scrubbed = (struct fp_str){text.ptr, len};
    if (len == 0 || memchr(text.ptr, '@', len) == NULL)
        return true;
    char *bytes = fp_arena_alloc(arena, len);
    if (bytes == NULL)
        return false;
    memcpy(bytes, text.ptr, len);
    *scrubbed = (struct fp_str){bytes, fp_url_drop_credentials(bytes, len)};
    return true;
}

bool fp_scrub_resource(const struct fp_scrub_rules *rules, struct fp_str url_text,
                       struct fp_str page_url, struct fp_arena *arena, struct fp_str *scrubbed)
{
    const struct fp_url url = fp_url_parse(url_text);
    if (fp_url_has_scheme(&url, "data"))
        return scrub_data(url_text, &url, arena, scrubbed);
    if (fp_url_has_scheme(&url, "blob"))
        return scrub_blob(&url, arena, scrubbed);
    if (fp_url_has_scheme(&url, "file"))
        return scrub_file(&url, arena, scrubbed);
    if (fp_url_has_scheme(&url, "javascript") || ends_with(url.scheme, "extension"))
        return fp_arena_copy(arena, (struct fp_str){url_text.ptr, url.scheme.len + 1}, scrubbed);

    struct fp_str path;
    if (!fp_scrub_path_parameters(rules, url.path, arena, &path))
        return false;
    if (is_page(&url, path, page_url))
        return scrub_page(rules, &url, path, arena, scrubbed);
    return scrub_text(rules, url_text, &url, path, arena, scrubbed);
}
