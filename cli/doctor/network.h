/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network: tells public addresses from those of this machine and its neighbours.
 *
 * Pure; any thread.
 */
#ifndef FP_CLI_DOCTOR_NETWORK_H
#define FP_CLI_DOCTOR_NETWORK_H

#include "collector/base/base.h"

#include <sys/socket.h>

enum fp_network {
    FP_NETWORK_PUBLIC,
    FP_NETWORK_LOOPBACK, /* this machine */
    FP_NETWORK_LINK_LOCAL,
    FP_NETWORK_PRIVATE,  /* RFC 1918, RFC 4193, a carrier's or cloud's own */
    FP_NETWORK_RESERVED, /* multicast, tunnels, nobody's */
};

/* Returns where an address leads. An IPv6 address that stands for an IPv4 address leads where that
 * one does. Another family: FP_NETWORK_LOOPBACK. */
enum fp_network fp_network_of(const struct sockaddr *address);

/* The same of an address as text, with or without a scope. Another text: FP_NETWORK_RESERVED. */
enum fp_network fp_network_of_text(const char *text);

/* True if only this machine and its neighbours reach it. */
bool fp_network_is_inside(enum fp_network network);

/* Returns the word for messages, such as "link-local". */
const char *fp_network_name(enum fp_network network);

#endif
