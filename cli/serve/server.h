/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server: the report's HTTP listener: the page, its files and the API.
 *
 * Each connection has a thread of its own, which waits for the database. Connections are few and
 * bounded; fp_connections ends slow and idle ones.
 */
#ifndef FP_CLI_SERVE_SERVER_H
#define FP_CLI_SERVE_SERVER_H

#include "cli/serve/guard.h"
#include "cli/serve/reader.h"

struct fp_server_settings {
    struct fp_address listen;
    struct fp_guard guard;      /* its names outlive the server */
    struct fp_readers *readers; /* outlive the server */
    const char *manual;         /* its folder, which outlives the server; NULL: none */
    bool has_mcp;               /* answers POST /mcp */
};

struct fp_server;

/* Listens and serves. Returns NULL on failure and writes a sentence into `detail`. Main thread. */
struct fp_server *fp_server_start(const struct fp_server_settings *settings,
                                  struct fp_buf *detail) FP_MUST_CHECK;

/* Closes all connections and frees the server; NULL is fine. The readers' stop_fd must be
 * readable. Main thread. */
void fp_server_stop(struct fp_server *server);

#endif
