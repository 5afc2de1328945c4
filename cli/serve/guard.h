/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guard: which requests get in. Pure; any thread.
 *
 * A page of another site can make a browser send requests to a server on loopback (DNS rebinding,
 * or plain cross-site requests). `Host` and `Sec-Fetch-Site` tell them apart.
 */
#ifndef FP_CLI_SERVE_GUARD_H
#define FP_CLI_SERVE_GUARD_H

#include "collector/base/address.h"

enum { FP_GUARD_MAX_NAMES = 16 };

struct fp_guard {
    const char *names[FP_GUARD_MAX_NAMES]; /* --allow-host, without ports */
    size_t name_count;
    bool is_loopback; /* listens on loopback: its literal names are also allowed */
    bool any_host;    /* a unix socket without --allow-host: who reaches it checked already */
};

/* True for an address of this machine only: 127.0.0.0/8, ::1 or a unix socket. */
bool fp_guard_is_local(const struct fp_address *address);

/* True for a name that --allow-host may have: a host name, an IPv4 address or an IPv6 address in
 * brackets; no port. */
bool fp_guard_is_host_name(const char *name);

/* True if a request with this `Host` (NULL: none) may be answered. */
bool fp_guard_admits_host(const struct fp_guard *guard, const char *host);

/* True if a request with this `Sec-Fetch-Site` (NULL: none) may have an answer of the API. */
bool fp_guard_admits_fetch(const char *sec_fetch_site);

/* True if a request with this `Origin` (NULL: none) comes from a page of the host it asks. */
bool fp_guard_admits_origin(const char *origin, const char *host);

#endif
