/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notification text: what the writers of notifications share: strangers' texts, titles, JSON.
 *
 * One thread.
 */
#ifndef FP_CLI_ASK_NOTIFICATION_TEXT_H
#define FP_CLI_ASK_NOTIFICATION_TEXT_H

#include "cli/ask/notification.h"

#include <yyjson.h>

/* A stranger's text without control characters, cut to what a message has room for. */
struct fp_notification_text {
    char text[208];
};
struct fp_notification_text fp_notification_cut(const char *text);

/* Joins suspects to one such text. Each commit is cut to its share, so that none is left out. */
struct fp_notification_text fp_notification_suspects(const char *suspects);

/* Appends the title, which says how many; each of the strangers' texts as put says. */
void fp_notification_title(const struct fp_notification *notification, struct fp_buf *out,
                           void (*put)(struct fp_buf *out, const char *text));

/* Appends a stranger's text as it is. */
void fp_notification_put(struct fp_buf *out, const char *text);

/* True if a text of a finding is known. */
bool fp_notification_has(const char *text);

/* Appends name and fact of a finding, its owner, and who is suspected, as one text. */
void fp_notification_sentence(const struct fp_notification_finding *finding, struct fp_buf *out);

/* Adds a copy of a text, unless there is none. */
void fp_notification_add(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                         const char *text);

/* Adds a stranger's text, cut, unless there is none. */
void fp_notification_add_cut(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name,
                             const char *text);

/* Appends a text as JSON. */
void fp_notification_quote(struct fp_buf *out, const char *text);

/* Return what resolves a finding, as fp_notification_resolution. */
char *fp_notification_alert_resolution(const struct fp_notification *notification,
                                       const struct fp_notification_finding *finding) FP_MUST_CHECK;
char *fp_notification_event_resolution(const struct fp_notification_finding *finding) FP_MUST_CHECK;

/* Starts a document; ends the process when memory runs out. */
yyjson_mut_doc *fp_notification_begin(void);

/* Appends the document as one line, and frees it. */
void fp_notification_end(yyjson_mut_doc *doc, yyjson_mut_val *root, struct fp_buf *out);

#endif
