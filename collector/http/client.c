/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client: reads X-Forwarded-For from its end. Entries before those of the known proxies are the
 * sender's own words.
 */
#include "collector/http/client.h"

#include "collector/base/ascii.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum {
    NETWORK_LEN = 8, /* of an IPv6 address: a household or a machine */
    LINES_MAX = 16,
};

/* ---- addresses ---- */

static void write_ipv4(const void *bytes, uint8_t address[FP_CLIENT_ADDRESS_LEN])
{
    static const uint8_t prefix[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    memcpy(address, prefix, sizeof(prefix));
    memcpy(address + sizeof(prefix), bytes, FP_CLIENT_ADDRESS_LEN - sizeof(prefix));
}

static void write_ipv6(const struct in6_addr *ip, uint8_t address[FP_CLIENT_ADDRESS_LEN])
{
    memcpy(address, ip->s6_addr, FP_CLIENT_ADDRESS_LEN);
    if (!IN6_IS_ADDR_V4MAPPED(ip))
        memset(address + NETWORK_LEN, 0, FP_CLIENT_ADDRESS_LEN - NETWORK_LEN);
}

/* Writes a connection's address. False for this machine's own. */
static bool write_peer(const struct sockaddr *peer, uint8_t address[FP_CLIENT_ADDRESS_LEN])
{
    enum { LOOPBACK_NET = 127 };
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;
    switch (peer->sa_family) {
    case AF_INET:
        memcpy(&ipv4, peer, sizeof(ipv4));
        write_ipv4(&ipv4.sin_addr, address);
        break;
    case AF_INET6:
        memcpy(&ipv6, peer, sizeof(ipv6));
        write_ipv6(&ipv6.sin6_addr, address);
        if (IN6_IS_ADDR_LOOPBACK(&ipv6.sin6_addr))
            return false;
        if (!IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr))
            return true;
        break;
    default:
        return false;
    }
    return address[FP_CLIENT_ADDRESS_LEN - sizeof(ipv4.sin_addr)] != LOOPBACK_NET;
}

/* Removes the port of `192.0.2.1:80` and `[2001:db8::1]:80`, and the brackets. */
static struct fp_str without_port(struct fp_str entry)
{
    if (entry.len > 0 && entry.ptr[0] == '[') {
        const char *end = memchr(entry.ptr, ']', entry.len);
        return (struct fp_str){entry.ptr + 1, end != NULL ? (size_t)(end - entry.ptr) - 1 : 0};
    }
    const char *colon = memchr(entry.ptr, ':', entry.len);
    const char *end = entry.ptr + entry.len;
    if (colon != NULL && memchr(colon + 1, ':', (size_t)(end - colon) - 1) == NULL)
        entry.len = (size_t)(colon - entry.ptr);
    return entry;
}

/* Writes the address that an entry names. False if it names none. */
static bool write_entry(struct fp_str entry, uint8_t address[FP_CLIENT_ADDRESS_LEN])
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr ipv4;
    struct in6_addr ipv6;
    entry = without_port(entry);
    if (entry.len >= sizeof(text))
        return false;
    memcpy(text, entry.ptr, entry.len);
    text[entry.len] = '\0';
    if (inet_pton(AF_INET, text, &ipv4) == 1) {
        write_ipv4(&ipv4, address);
        return true;
    }
    if (inet_pton(AF_INET6, text, &ipv6) != 1)
        return false;
    write_ipv6(&ipv6, address);
    return true;
}

/* ---- X-Forwarded-For ---- */

/* The values of the header, in their order: each proxy may add one of its own. */
struct forwarded {
    struct fp_str lines[LINES_MAX];
    size_t count; /* the last LINES_MAX */
};

static void add_line(struct forwarded *forwarded, struct fp_str line)
{
    if (forwarded->count == LINES_MAX) {
        forwarded->count--;
        memmove(forwarded->lines, forwarded->lines + 1,
                forwarded->count * sizeof(*forwarded->lines));
    }
    forwarded->lines[forwarded->count++] = line;
}

static enum MHD_Result collect(void *cls, enum MHD_ValueKind kind, const char *name,
                               const char *value)
{
    (void)kind;
    if (value != NULL && strcasecmp(name, "X-Forwarded-For") == 0)
        add_line(cls, fp_str_of(value));
    return MHD_YES;
}

/* Cuts the last entry off a line. */
static struct fp_str cut_last(struct fp_str *line)
{
    const char *comma = memrchr(line->ptr, ',', line->len);
    const size_t begin = comma != NULL ? (size_t)(comma - line->ptr) + 1 : 0;
    const struct fp_str entry = {line->ptr + begin, line->len - begin};
    line->len = comma != NULL ? begin - 1 : 0;
    return fp_str_trim(entry);
}

/* Returns the nth entry from the end, or the first one if there are fewer; empty if there is none.
 */
static struct fp_str nth_from_end(struct forwarded *forwarded, unsigned n)
{
    struct fp_str found = FP_STR("");
    while (n > 0 && forwarded->count > 0) {
        struct fp_str *line = &forwarded->lines[forwarded->count - 1];
        const struct fp_str entry = cut_last(line);
        if (entry.len > 0) {
            found = entry;
            n--;
        }
        forwarded->count -= line->len == 0;
    }
    return found;
}

static bool write_client(struct forwarded *forwarded, unsigned proxies, const struct sockaddr *peer,
                         uint8_t address[FP_CLIENT_ADDRESS_LEN])
{
    const struct fp_str entry = nth_from_end(forwarded, proxies);
    if (entry.len > 0)
        return write_entry(entry, address);
    return peer != NULL && write_peer(peer, address);
}

struct fp_str fp_client_address(struct MHD_Connection *connection, unsigned proxies,
                                uint8_t address[FP_CLIENT_ADDRESS_LEN])
{
    struct forwarded forwarded = {.count = 0};
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (proxies > 0)
        (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, collect, &forwarded);
    const struct sockaddr *peer = info != NULL ? info->client_addr : NULL;
    const bool is_known = write_client(&forwarded, proxies, peer, address);
    return (struct fp_str){(const char *)address, is_known ? FP_CLIENT_ADDRESS_LEN : 0};
}
