/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address: where to listen or to connect to, as the configuration writes it.
 */
#ifndef FP_BASE_ADDRESS_H
#define FP_BASE_ADDRESS_H

#include "collector/base/base.h"
#include "collector/base/buf.h"

#include <sys/socket.h>

/* Where to listen. All zero: nowhere. */
struct fp_address {
    struct sockaddr_storage sa;
    socklen_t len;
};

/*
 * Reads `IPv4:port`, `[IPv6]:port`, `localhost:port` (127.0.0.1) or `unix:/absolute/path`. No name
 * but localhost is resolved. Returns NULL, or what is wrong, as a phrase for an error message; the
 * address is then unchanged. Any thread.
 */
const char *fp_address_parse(struct fp_str text, struct fp_address *address) FP_MUST_CHECK;

/* Returns the path of a unix socket, NULL for an IP address. It points into `address`. */
const char *fp_address_path(const struct fp_address *address);

/* Appends the address as fp_address_parse reads it. */
void fp_address_write(const struct fp_address *address, struct fp_buf *text);

#endif
