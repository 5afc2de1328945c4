/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Posting: the options of commands that tell findings: in which form, and to which webhook.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_POSTING_H
#define FP_CLI_ASK_POSTING_H

#include "cli/ask/notification.h"

struct fp_posting {
    enum fp_notification_format format; /* on standard output; FP_NOTIFICATION_NONE: a table */
    const char *webhook;                /* NULL: none */
    const char *webhook_file;           /* its first line is the webhook; NULL: none */
    enum fp_notification_format webhook_format;
    const char *state;       /* NULL: the usual file */
    const char *report;      /* address of the web report; NULL: no links */
    const char *routing_key; /* of the environment */
    char *url;               /* owned: of webhook_file */
};

/* Reads the options into a struct fp_posting. */
extern const struct argp fp_posting_argp;

/* Reads the webhook's file, and what its format needs. Prints an error and returns false on
 * failure. The caller calls fp_posting_close in any case. */
bool fp_posting_open(struct fp_posting *posting) FP_MUST_CHECK;
void fp_posting_close(struct fp_posting *posting);

/* Returns the address of a view ("compare", "function") of the report with an item and parameters
 * ("" is none), NULL without a report. The caller frees it. */
char *fp_posting_link(const struct fp_posting *posting, const char *site, const char *view,
                      const char *item, const char *parameters) FP_MUST_CHECK;

/* Prints the findings if a format is given. Prints an error and returns false on failure. */
bool fp_posting_print(const struct fp_posting *posting,
                      struct fp_notification *notification) FP_MUST_CHECK;

/* Posts the findings that were not posted before, if there is a webhook. Prints an error and
 * returns false on failure. */
bool fp_posting_post(const struct fp_posting *posting,
                     struct fp_notification *notification) FP_MUST_CHECK;

/* Appends a text as a component of an address. */
void fp_posting_encode(struct fp_buf *out, const char *text);

#endif
