/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URL: splits a text into the parts of an absolute URL, as slices of the text. Any thread.
 */
#ifndef FP_PROFILE_SCRUB_URL_H
#define FP_PROFILE_SCRUB_URL_H

#include "collector/base/base.h"

#include <strings.h>

struct fp_url {
    struct fp_str scheme; /* without the colon, as written; "" when there is none */
    struct fp_str host;   /* with its port, without credentials; "" without `//` */
    struct fp_str path;   /* after the host or the scheme, up to query and fragment */
    struct fp_str query;  /* with its question mark, without the fragment */
};

/* Splits a text into the parts of a URL. Never fails: absent parts are empty. */
struct fp_url fp_url_parse(struct fp_str text);

bool fp_url_is_http(const struct fp_url *url);

/* True if the scheme is this one, given in lower case; the URL's may have any case. Most differ in
 * their first letter. */
static inline bool fp_url_has_scheme(const struct fp_url *url, const char *scheme)
{
    const size_t len = strlen(scheme);
    return url->scheme.len == len && (url->scheme.ptr[0] | 0x20) == scheme[0] &&
           strncasecmp(url->scheme.ptr, scheme, len) == 0;
}

/* True if both are http(s) and have the same scheme, host and port, as browsers write them. */
bool fp_url_same_origin(const struct fp_url *a, const struct fp_url *b);

/* Removes `user:password@` after every `://`, and after a leading `//`, anywhere in a text. Changes
 * the bytes in place and returns their new length. */
size_t fp_url_drop_credentials(char *text, size_t len);

#endif
