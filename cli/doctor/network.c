/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network: two tables of prefixes (IANA's special-purpose registries).
 */
#include "cli/doctor/network.h"

#include <arpa/inet.h>
#include <netinet/in.h>

struct prefix {
    const char *text;
    unsigned bits;
    enum fp_network network;
};

/* The first that fits holds. */
static const struct prefix prefixes4[] = {
    {"0.0.0.0", 8, FP_NETWORK_LOOPBACK}, /* Linux connects 0.0.0.0 to itself */
    {"10.0.0.0", 8, FP_NETWORK_PRIVATE},
    {"100.64.0.0", 10, FP_NETWORK_PRIVATE},
    {"127.0.0.0", 8, FP_NETWORK_LOOPBACK},
    {"169.254.0.0", 16, FP_NETWORK_LINK_LOCAL},
    {"172.16.0.0", 12, FP_NETWORK_PRIVATE},
    {"192.0.0.0", 24, FP_NETWORK_PRIVATE}, /* of protocols, and a cloud's metadata */
    {"192.168.0.0", 16, FP_NETWORK_PRIVATE},
    {"198.18.0.0", 15, FP_NETWORK_PRIVATE}, /* of benchmarks */
    {"224.0.0.0", 3, FP_NETWORK_RESERVED},  /* multicast, reserved, broadcast */
    {"0.0.0.0", 0, FP_NETWORK_PUBLIC},
};

static const struct prefix prefixes6[] = {
    {"64:ff9b:1::", 48, FP_NETWORK_PRIVATE}, {"2001::", 32, FP_NETWORK_RESERVED}, /* Teredo */
    {"2000::", 3, FP_NETWORK_PUBLIC},        {"fc00::", 7, FP_NETWORK_PRIVATE},
    {"fe80::", 10, FP_NETWORK_LINK_LOCAL},   {"fec0::", 10, FP_NETWORK_PRIVATE},
    {"::", 0, FP_NETWORK_RESERVED},
};

/* Where an IPv4 address stands in an IPv6 address. */
static const struct {
    const char *text;
    unsigned bits;
    size_t at;
} embeddings[] = {
    {"::ffff:0:0", 96, 12},   /* mapped */
    {"::ffff:0:0:0", 96, 12}, /* translated */
    {"64:ff9b::", 96, 12},    /* NAT64 */
    {"2002::", 16, 2},        /* 6to4 */
    {"::", 96, 12},           /* compatible; :: and ::1 are not */
};

static bool has_prefix(const unsigned char *address, int family, const char *text, unsigned bits)
{
    unsigned char prefix[16];
    if (inet_pton(family, text, prefix) != 1)
        return false;
    const size_t whole = bits / 8;
    const unsigned mask = 0xFF00U >> bits % 8 & 0xFF;
    return memcmp(address, prefix, whole) == 0 &&
           (bits % 8 == 0 || ((address[whole] ^ prefix[whole]) & mask) == 0);
}

static enum fp_network find(const unsigned char *address, int family, const struct prefix *prefixes)
{
    while (!has_prefix(address, family, prefixes->text, prefixes->bits))
        prefixes++; /* the last one fits all */
    return prefixes->network;
}

static enum fp_network network_of6(const unsigned char address[16])
{
    if (has_prefix(address, AF_INET6, "::", 127))
        return FP_NETWORK_LOOPBACK;
    for (size_t i = 0; i < FP_COUNT(embeddings); i++)
        if (has_prefix(address, AF_INET6, embeddings[i].text, embeddings[i].bits))
            return find(address + embeddings[i].at, AF_INET, prefixes4);
    return find(address, AF_INET6, prefixes6);
}

enum fp_network fp_network_of(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in sa;
        memcpy(&sa, address, sizeof(sa));
        unsigned char bytes[4];
        memcpy(bytes, &sa.sin_addr, sizeof(bytes));
        return find(bytes, AF_INET, prefixes4);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 sa;
        memcpy(&sa, address, sizeof(sa));
        return network_of6(sa.sin6_addr.s6_addr);
    }
    return FP_NETWORK_LOOPBACK;
}

enum fp_network fp_network_of_text(const char *text)
{
    char plain[INET6_ADDRSTRLEN];
    unsigned char bytes[16];
    (void)snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(text, "%"), text);
    if (inet_pton(AF_INET, plain, bytes) == 1)
        return find(bytes, AF_INET, prefixes4);
    if (inet_pton(AF_INET6, plain, bytes) == 1)
        return network_of6(bytes);
    return FP_NETWORK_RESERVED;
}

bool fp_network_is_inside(enum fp_network network)
{
    return network == FP_NETWORK_LOOPBACK || network == FP_NETWORK_LINK_LOCAL ||
           network == FP_NETWORK_PRIVATE;
}

const char *fp_network_name(enum fp_network network)
{
    static const char *const names[] = {
        [FP_NETWORK_PUBLIC] = "public",         [FP_NETWORK_LOOPBACK] = "loopback",
        [FP_NETWORK_LINK_LOCAL] = "link-local", [FP_NETWORK_PRIVATE] = "private",
        [FP_NETWORK_RESERVED] = "reserved",
    };
    return names[network];
}
