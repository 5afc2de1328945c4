/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Session content: reads a kept upload from the database and unpacks it.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_SESSION_CONTENT_H
#define FP_CLI_ASK_SESSION_CONTENT_H

#include "cli/kit/query.h"

/*
 * Returns the upload, which the caller frees; its length is in *len. Prints an error and returns
 * NULL if it is not kept, or damaged.
 */
char *fp_session_content_read(PGconn *connection, const char *session_id,
                              size_t *len) FP_MUST_CHECK;

#endif
