/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Domain: asks libpsl, which has the Public Suffix List built in.
 */
#include "collector/base/domain.h"

#include <libpsl.h>

enum { HOST_MAX = 253 }; /* of the domain name system */

/* Returns what lies between "://" and the path, without credentials and port. */
static struct fp_str host_of(struct fp_str url)
{
    const char *end = url.ptr + url.len;
    const char *begin = memmem(url.ptr, url.len, "://", 3);
    if (begin == NULL)
        return FP_STR("");
    begin += 3;
    for (const char *c = begin; c < end && strchr("/?#", *c) == NULL; c++) {
        if (*c == '@')
            begin = c + 1;
    }
    const char *at = begin;
    if (at < end && *at == '[')
        at = memchr(at, ']', (size_t)(end - at));
    while (at != NULL && at < end && strchr(":/?#", *at) == NULL)
        at++;
    return at != NULL ? (struct fp_str){begin, (size_t)(at - begin)} : FP_STR("");
}

/* True for an IPv6 address in brackets, and for what ends in a number: no domain does. */
static bool is_address(struct fp_str host)
{
    return host.len > 0 &&
           (host.ptr[0] == '[' || (host.ptr[host.len - 1] >= '0' && host.ptr[host.len - 1] <= '9'));
}

struct fp_str fp_domain_of_url(struct fp_str url)
{
    struct fp_str host = host_of(url);
    char name[HOST_MAX + 1];
    if (host.len == 0 || host.len > HOST_MAX || is_address(host))
        return host;
    memcpy(name, host.ptr, host.len);
    name[host.len] = '\0';
    const char *domain = psl_registrable_domain(psl_builtin(), name);
    return domain != NULL ? fp_str_skip(host, (size_t)(domain - name)) : host;
}
