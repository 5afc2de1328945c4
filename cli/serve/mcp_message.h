/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MCP message: one message of the Model Context Protocol (JSON-RPC 2.0), and its reply.
 */
#ifndef FP_CLI_SERVE_MCP_MESSAGE_H
#define FP_CLI_SERVE_MCP_MESSAGE_H

#include "cli/serve/reader.h"
#include "collector/base/buf.h"

/* Bytes. */
enum { FP_MCP_MESSAGE_MAX = 256 * 1024, FP_MCP_REPLY_MAX = 1024 * 1024 };

/* The one version of the protocol with batches: messages in a list. */
#define FP_MCP_BATCH_VERSION "2025-03-26"

/* The agreement of a client and the server. One thread. */
struct fp_mcp_session {
    bool has_batches;
};

/*
 * Appends the reply, one line of JSON without its end, to `reply`; nothing for a notification and
 * for a response. An error of the protocol is a reply. client_fd: see reader.h. False: there is no
 * reply, because the client went away or memory ran out. Any thread.
 */
bool fp_mcp_answer(struct fp_mcp_session *session, struct fp_str message,
                   struct fp_readers *readers, int client_fd, struct fp_buf *reply) FP_MUST_CHECK;

/* Appends the reply to a message of more than FP_MCP_MESSAGE_MAX bytes. */
void fp_mcp_refuse_size(struct fp_buf *reply);

#endif
