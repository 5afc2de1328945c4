/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Excerpt: an answer for a program that reads at most some 2,000 tokens, as language models do.
 *
 * One JSON object: `answer` (how many of how many rows), `columns`, `same_in_each_row`, `rows`,
 * `sql` and, where a command asks the same, `command`; first a `note`, since the texts in rows come
 * from web pages and from strangers' browsers. Rows that do not fit are left out from the end; long
 * texts are cut. Columns without a value are left out. Any thread.
 */
#ifndef FP_CLI_SERVE_EXCERPT_H
#define FP_CLI_SERVE_EXCERPT_H

#include "cli/serve/reader.h"
#include "cli/serve/tool.h"

/*
 * Asks, and appends the excerpt to the text. client_fd: see reader.h. FP_READER_TROUBLE: *trouble
 * says why there is none.
 */
enum fp_reader_result fp_excerpt_ask(struct fp_buf *text, const struct fp_tool *tool,
                                     const struct fp_inquiry *inquiry, struct fp_readers *readers,
                                     int client_fd, struct fp_trouble *trouble) FP_MUST_CHECK;

#endif
