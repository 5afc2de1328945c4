/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strict: refuses requests that another HTTP server could read in another way.
 *
 * If the proxy in front and the collector disagree about where a request ends, a client can hide a
 * second request in the first one's body (request smuggling). RFC 9110 and 9112 say which requests
 * are malformed. Such a request gets 400, and its connection ends with that reply, so that nothing
 * after it is read.
 *
 * libmicrohttpd 1.0 checks the lines of a header by itself, older ones accept nearly everything and
 * hand out parsed fields. There, the places of these fields in the library's memory of the header
 * say what was between them.
 */
#ifndef FP_HTTP_STRICT_H
#define FP_HTTP_STRICT_H

#include "collector/http/connections.h"

#include <microhttpd.h>

/* Returns the value for MHD_OPTION_STRICT_FOR_CLIENT: strict where the library then sends a reply
 * for what it refuses. */
int fp_strict_library_level(void);

/* Reads a request target as it came, for MHD_OPTION_URI_LOG_CALLBACK. The listener's socket context
 * is its struct fp_http_connection. Returns NULL. */
void *fp_strict_read_target(void *cls, const char *text, struct MHD_Connection *connection);

/*
 * Returns what is wrong with a request, NULL if nothing: a constant sentence. Call it from the
 * first call of MHD's access handler, with the handler's method and version.
 */
const char *fp_strict_trouble(struct MHD_Connection *connection, const char *method,
                              const char *version) FP_MUST_CHECK;

/* True if the request's body comes in chunks. The connection then has to end with the reply: older
 * libraries take a bare line feed for the end of a chunk's line, and do not say so. */
bool fp_strict_is_chunked(struct MHD_Connection *connection);

#endif
