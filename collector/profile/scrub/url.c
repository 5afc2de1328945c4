/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URL: splits texts as the WHATWG URL parser would, where that matters for privacy.
 *
 * Many of the texts are not URLs (`//# sourceURL=` may contain anything), so nothing is assumed. A
 * backslash counts as a slash, as it does in a browser.
 */
#include "collector/profile/scrub/url.h"

#include "collector/base/ascii.h"

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool is_scheme_char(char c, bool first)
{
    if (fp_is_alpha(c))
        return true;
    return !first && (fp_is_digit(c) || c == '+' || c == '-' || c == '.');
}

/* Returns the length of the scheme, 0 if none. */
static size_t scheme_len(struct fp_str text)
{
    size_t len = 0;
    while (len < text.len && is_scheme_char(text.ptr[len], len == 0))
        len++;
    return len < text.len && text.ptr[len] == ':' ? len : 0;
}

/* Returns the length of the text before its first slash, question mark, number sign or white
 * space. */
static size_t authority_len(struct fp_str text)
{
    static const bool ends[256] = {['/'] = true, ['\\'] = true, ['?'] = true, ['#'] = true};
    size_t len = 0;
    while (len < text.len && !ends[(unsigned char)text.ptr[len]] &&
           (unsigned char)text.ptr[len] > ' ')
        len++;
    return len;
}

/* Returns the length of an authority's credentials, including the at sign. */
static size_t credentials_len(struct fp_str authority)
{
    const char *at = authority.len > 0 ? memrchr(authority.ptr, '@', authority.len) : NULL;
    return at != NULL ? (size_t)(at - authority.ptr) + 1 : 0;
}

static size_t find_byte(struct fp_str text, char byte)
{
    const char *found = text.len > 0 ? memchr(text.ptr, byte, text.len) : NULL;
    return found != NULL ? (size_t)(found - text.ptr) : text.len;
}

struct fp_url fp_url_parse(struct fp_str text)
{
    if (text.ptr == NULL)
        text = FP_STR("");
    struct fp_url url = {.scheme = {text.ptr, scheme_len(text)}};
    if (url.scheme.len > 0)
        text = fp_str_skip(text, url.scheme.len + 1);
    if (text.len >= 2 && is_slash(text.ptr[0]) && is_slash(text.ptr[1])) {
        text = fp_str_skip(text, 2);
        const struct fp_str authority = {text.ptr, authority_len(text)};
        url.host = fp_str_skip(authority, credentials_len(authority));
        text = fp_str_skip(text, authority.len);
    }
    text.len = find_byte(text, '#');
    url.path = (struct fp_str){text.ptr, find_byte(text, '?')};
    url.query = fp_str_skip(text, url.path.len);
    return url;
}

/* A browser never writes a colon without a port. An agent that joins location.origin and
 * location.pathname of a blob does: https://shop.examplehttps://shop.example/0f0f. */
static bool is_host(struct fp_str host)
{
    return host.len > 0 && host.ptr[host.len - 1] != ':';
}

bool fp_url_is_http(const struct fp_url *url)
{
    return is_host(url->host) &&
           (fp_url_has_scheme(url, "http") || fp_url_has_scheme(url, "https"));
}

bool fp_url_same_origin(const struct fp_url *a, const struct fp_url *b)
{
    return fp_url_is_http(a) && fp_url_is_http(b) && fp_str_equal_nocase(a->scheme, b->scheme) &&
           fp_str_equal_nocase(a->host, b->host);
}

/* True if an authority begins at text[at]: two slashes at the beginning, or after a colon, precede
 * it. */
static bool begins_authority(const char *text, size_t at)
{
    return at >= 2 && is_slash(text[at - 1]) && is_slash(text[at - 2]) &&
           (at == 2 || text[at - 3] == ':');
}

size_t fp_url_drop_credentials(char *text, size_t len)
{
    size_t kept = 0;
    if (find_byte((struct fp_str){text, len}, '@') == len)
        return len;
    for (size_t i = 0; i < len;) {
        if (begins_authority(text, kept)) {
            const struct fp_str rest = {text + i, len - i};
            i += credentials_len((struct fp_str){rest.ptr, authority_len(rest)});
        }
        if (i < len)
            text[kept++] = text[i++];
    }
    return kept;
}
