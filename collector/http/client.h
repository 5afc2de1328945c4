/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client: the address of the browser that a request comes from, behind proxies. Private to
 * collector/http.
 */
#ifndef FP_HTTP_CLIENT_H
#define FP_HTTP_CLIENT_H

#include "collector/base/base.h"

#include <microhttpd.h>

enum { FP_CLIENT_ADDRESS_LEN = 16 };

/*
 * Writes the address: of IPv6 the network (/64), of IPv4 all of it. Behind `proxies` proxies it is
 * what the outermost of them added to X-Forwarded-For; without that header it is the connection's.
 * Returns the bytes, empty if the address is not known: only a proxy connects from this machine.
 * Thread of the connection.
 */
struct fp_str fp_client_address(struct MHD_Connection *connection, unsigned proxies,
                                uint8_t address[FP_CLIENT_ADDRESS_LEN]);

#endif
