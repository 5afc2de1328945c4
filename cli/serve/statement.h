/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statement: an inquiry as SQL for the server, as SQL for people, and as a command.
 *
 * Values go to the server as parameters, never as a part of its statement. Pure; any thread.
 */
#ifndef FP_CLI_SERVE_STATEMENT_H
#define FP_CLI_SERVE_STATEMENT_H

#include "cli/serve/question.h"

struct fp_statement {
    struct fp_buf sql; /* with $1, $2…; NUL-terminated */
    const char *values[FP_PARAMETERS_MAX];
    int value_count;
    struct fp_buf shown;   /* with literals and without a limit; NUL-terminated, without ';' */
    struct fp_buf command; /* NUL-terminated; empty if no command asks the same */
};

/* Writes all three. rows: the most to return, 0 for no limit. False when out of memory. The inquiry
 * must outlive the statement; fp_statement_release frees it, also on failure. */
bool fp_statement_init(struct fp_statement *statement, const struct fp_inquiry *inquiry,
                       unsigned rows) FP_MUST_CHECK;
void fp_statement_release(struct fp_statement *statement);

#endif
