/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address: reads addresses by hand. No resolver: nothing is looked up before the collector runs.
 */
#include "collector/base/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

static const char unix_prefix[] = "unix:";

static const char *parse_unix(struct fp_str path, struct fp_address *address)
{
    struct sockaddr_un sun = {.sun_family = AF_UNIX};
    if (path.len == 0 || path.ptr[0] != '/')
        return "has no absolute path; write unix:/path";
    if (path.len >= sizeof(sun.sun_path))
        return "has a path longer than the 107 bytes of a unix socket";
    if (memchr(path.ptr, '\0', path.len) != NULL)
        return "has a U+0000 in its path";
    memcpy(sun.sun_path, path.ptr, path.len);
    *address = (struct fp_address){.len = sizeof(sun)};
    memcpy(&address->sa, &sun, sizeof(sun));
    return NULL;
}

static bool parse_port(struct fp_str text, in_port_t *port)
{
    unsigned value = 0;
    if (text.len == 0 || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        value = value * 10 + (unsigned)(text.ptr[i] - '0');
    }
    *port = htons((in_port_t)value);
    return value > 0 && value <= UINT16_MAX;
}

/* host: with the brackets of IPv6 already taken off. */
static bool parse_ip(const char *host, bool is_v6, in_port_t port, struct fp_address *address)
{
    if (is_v6) {
        struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6, .sin6_port = port};
        if (inet_pton(AF_INET6, host, &sin6.sin6_addr) != 1)
            return false;
        *address = (struct fp_address){.len = sizeof(sin6)};
        memcpy(&address->sa, &sin6, sizeof(sin6));
        return true;
    }
    struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = port};
    if (inet_pton(AF_INET, host, &sin.sin_addr) != 1)
        return false;
    *address = (struct fp_address){.len = sizeof(sin)};
    memcpy(&address->sa, &sin, sizeof(sin));
    return true;
}

const char *fp_address_parse(struct fp_str text, struct fp_address *address)
{
    size_t prefix_len = sizeof(unix_prefix) - 1;
    if (text.len >= prefix_len && memcmp(text.ptr, unix_prefix, prefix_len) == 0)
        return parse_unix((struct fp_str){text.ptr + prefix_len, text.len - prefix_len}, address);

    const char *colon = text.len > 0 ? memrchr(text.ptr, ':', text.len) : NULL;
    if (colon == NULL)
        return "is not an address; write host:port, [IPv6]:port or unix:/path";
    size_t host_len = (size_t)(colon - text.ptr);
    in_port_t port;
    if (!parse_port((struct fp_str){colon + 1, text.len - host_len - 1}, &port))
        return "has a port that is not a number from 1 to 65535";

    bool is_v6 = host_len >= 2 && text.ptr[0] == '[' && colon[-1] == ']';
    struct fp_str host = {text.ptr + is_v6, host_len - (is_v6 ? 2 : 0)};
    if (!is_v6 && fp_str_equal(host, FP_STR("localhost")))
        host = FP_STR("127.0.0.1");
    char host_text[INET6_ADDRSTRLEN] = "";
    if (host.len < sizeof(host_text))
        memcpy(host_text, host.ptr, host.len);
    if (!parse_ip(host_text, is_v6, port, address))
        return "has a host that is not an IPv4 address, an IPv6 address in brackets or localhost";
    return NULL;
}

const char *fp_address_path(const struct fp_address *address)
{
    const struct sockaddr_un *sun = (const void *)&address->sa;
    return address->sa.ss_family == AF_UNIX ? sun->sun_path : NULL;
}

void fp_address_write(const struct fp_address *address, struct fp_buf *text)
{
    const bool is_v6 = address->sa.ss_family == AF_INET6;
    char host[INET6_ADDRSTRLEN];
    char port[8];
    if (fp_address_path(address) != NULL)
        fp_buf_addf(text, "%s%s", unix_prefix, fp_address_path(address));
    else if (getnameinfo((const void *)&address->sa, address->len, host, sizeof(host), port,
                         sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        fp_buf_addf(text, "%s%s%s:%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}
