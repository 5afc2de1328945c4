/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answer: an inquiry's answer as JSON, asked from the database. Any thread.
 */
#ifndef FP_CLI_SERVE_ANSWER_H
#define FP_CLI_SERVE_ANSWER_H

#include "cli/serve/question.h"
#include "cli/serve/reader.h"

struct fp_answer {
    struct fp_buf body;
    uint64_t tag; /* hash of the body without the time that it took */
    size_t rows;  /* in the body; 0 for a tree */
};

/*
 * Asks and writes the answer: function, sql, command, columns and rows (or tree), truncated if rows
 * were left out, took_ms. client_fd as in struct fp_reader_query. On failure *trouble is filled,
 * unless nobody waits any more. fp_answer_release frees the answer, also on failure.
 */
enum fp_reader_result fp_answer_ask(struct fp_answer *answer, const struct fp_inquiry *inquiry,
                                    struct fp_readers *readers, int client_fd,
                                    struct fp_trouble *trouble) FP_MUST_CHECK;
/* Writes what this program is, which functions the API has, and whether the database is fit: "ok",
 * or a sentence. FP_READER_GONE: nobody waits any more. */
enum fp_reader_result fp_answer_version(struct fp_answer *answer, struct fp_readers *readers,
                                        int client_fd) FP_MUST_CHECK;
void fp_answer_release(struct fp_answer *answer);

#endif
