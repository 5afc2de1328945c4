/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guard: compares whole names and parsed addresses, never prefixes: 127.0.0.1.evil.example is not
 * loopback.
 */
#include "cli/serve/guard.h"

#include "collector/base/ascii.h"

#include <arpa/inet.h>
#include <netinet/in.h>

static bool is_loopback_v4(struct in_addr address)
{
    return ntohl(address.s_addr) >> 24 == 127;
}

bool fp_guard_is_local(const struct fp_address *address)
{
    const struct sockaddr_in *sin = (const void *)&address->sa;
    const struct sockaddr_in6 *sin6 = (const void *)&address->sa;
    switch (address->sa.ss_family) {
    case AF_UNIX:
        return true;
    case AF_INET:
        return is_loopback_v4(sin->sin_addr);
    case AF_INET6:
        return IN6_IS_ADDR_LOOPBACK(&sin6->sin6_addr);
    default:
        return false;
    }
}

/* Takes the name before the port; empty if what follows the name is not a port. */
static struct fp_str name_of(const char *host)
{
    const struct fp_str none = FP_STR("");
    const char *end = host[0] == '[' ? strchr(host, ']') : host + strcspn(host, ":");
    if (end == NULL)
        return none;
    end += *end == ']';
    const char *port = *end == ':' ? end + 1 : end;
    bool is_port = port[strspn(port, "0123456789")] == '\0' && strlen(port) <= 5;
    return is_port && (port > end || *port == '\0') ? (struct fp_str){host, (size_t)(end - host)}
                                                    : none;
}

/* True for localhost and for addresses of loopback in their usual notation. */
static bool is_loopback_name(struct fp_str name)
{
    char text[INET6_ADDRSTRLEN + 2] = "";
    if (fp_str_equal_nocase(name, FP_STR("localhost")))
        return true;
    if (name.len >= sizeof(text))
        return false;
    memcpy(text, name.ptr, name.len);
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, text, &v4) == 1)
        return is_loopback_v4(v4);
    if (name.len < 2 || text[0] != '[' || text[name.len - 1] != ']')
        return false;
    text[name.len - 1] = '\0';
    return inet_pton(AF_INET6, text + 1, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool fp_guard_is_host_name(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len > 255)
        return false;
    if (name[0] == '[')
        return name[len - 1] == ']' && strspn(name + 1, "0123456789abcdefABCDEF:.") == len - 2;
    for (const char *c = name; *c != '\0'; c++) {
        if (!fp_is_alnum(*c) && strchr("-._", *c) == NULL)
            return false;
    }
    return true;
}

bool fp_guard_admits_host(const struct fp_guard *guard, const char *host)
{
    if (guard->any_host)
        return true;
    struct fp_str name = host != NULL ? name_of(host) : FP_STR("");
    if (name.len == 0)
        return false;
    for (size_t i = 0; i < guard->name_count; i++) {
        if (fp_str_equal_nocase(name, fp_str_of(guard->names[i])))
            return true;
    }
    return guard->is_loopback && is_loopback_name(name);
}

bool fp_guard_admits_fetch(const char *sec_fetch_site)
{
    return sec_fetch_site == NULL || strcmp(sec_fetch_site, "same-origin") == 0 ||
           strcmp(sec_fetch_site, "none") == 0;
}

bool fp_guard_admits_origin(const char *origin, const char *host)
{
    const char *at = origin != NULL ? strstr(origin, "://") : NULL;
    return origin == NULL || (at != NULL && host != NULL && strcmp(at + strlen("://"), host) == 0);
}
