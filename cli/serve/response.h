/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Response: what the report's server sends, with the headers that each response carries. Any
 * thread.
 */
#ifndef FP_CLI_SERVE_RESPONSE_H
#define FP_CLI_SERVE_RESPONSE_H

#include "cli/serve/answer.h"
#include "cli/serve/page.h"

#include <microhttpd.h>

/* Each queues a response; MHD_NO: close the connection. */

/* Sends a file of the page, or 304. */
enum MHD_Result fp_response_file(struct MHD_Connection *connection,
                                 const struct fp_page_file *file) FP_MUST_CHECK;

/* Sends an answer of the API, or 304. */
enum MHD_Result fp_response_answer(struct MHD_Connection *connection,
                                   const struct fp_answer *answer) FP_MUST_CHECK;

/* Sends a reply of the Model Context Protocol; 202 without one. */
enum MHD_Result fp_response_message(struct MHD_Connection *connection,
                                    const struct fp_buf *body) FP_MUST_CHECK;

/* Sends metrics in Prometheus' text format. */
enum MHD_Result fp_response_metrics(struct MHD_Connection *connection,
                                    const struct fp_buf *body) FP_MUST_CHECK;

/* Sends a file of the manual, of so many bytes; closes it. */
enum MHD_Result fp_response_manual(struct MHD_Connection *connection, int fd, size_t len,
                                   const char *content_type) FP_MUST_CHECK;

/* Sends 204. */
enum MHD_Result fp_response_nothing(struct MHD_Connection *connection) FP_MUST_CHECK;

/* Sends a problem. */
enum MHD_Result fp_response_trouble(struct MHD_Connection *connection,
                                    const struct fp_trouble *trouble) FP_MUST_CHECK;

#endif
