/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Webhook: posts findings to a URL, each one once.
 *
 * A file remembers what was posted. One thread.
 */
#ifndef FP_CLI_ASK_WEBHOOK_H
#define FP_CLI_ASK_WEBHOOK_H

#include "collector/base/base.h"

struct fp_webhook; /* what was posted to one URL */

/*
 * Reads a URL from the first line of a file, so that no list of processes shows it. Prints an error
 * and returns NULL if it is not an http or https URL; a notice if all users may read the file. The
 * caller frees the URL.
 */
char *fp_webhook_read_url(const char *file) FP_MUST_CHECK;

/*
 * Reads what was posted before in this format; "" is the oldest format. access: what bodies have of
 * the receiver beside the URL, such as a key; NULL: nothing. state_file: NULL for the usual one,
 * below $XDG_STATE_HOME or ~/.local/state. Prints an error and returns NULL on failure. The caller
 * calls fp_webhook_close.
 */
struct fp_webhook *fp_webhook_open(const char *url, const char *format, const char *access,
                                   const char *state_file) FP_MUST_CHECK;
void fp_webhook_close(struct fp_webhook *webhook);

/* True if a finding of this key was posted to this URL before, or was refused with this access. The
 * key is any text. */
bool fp_webhook_knows(const struct fp_webhook *webhook, const char *key);

/*
 * Notes a finding that the next post contains. scope: what tells its question apart from others;
 * NULL: it is never gone. resolution: a line that posts need once it is gone; NULL: none.
 */
void fp_webhook_note(struct fp_webhook *webhook, const char *key, const char *scope,
                     const char *resolution);

/* Gives a known finding another key. The next post, or fp_webhook_keep, makes it last. */
void fp_webhook_rename(struct fp_webhook *webhook, const char *old_key, const char *key);

/*
 * Forgets the first known finding of a scope that is none of these keys; the next post, or
 * fp_webhook_keep, makes it last. Returns its resolution, "" for none, or NULL if there is no such
 * finding. The caller frees it.
 */
char *fp_webhook_forget_gone(struct fp_webhook *webhook, const char *scope, const char *const *keys,
                             size_t key_count) FP_MUST_CHECK;

enum fp_webhook_result {
    FP_WEBHOOK_TAKEN,
    FP_WEBHOOK_REFUSED,          /* for good, which is remembered */
    FP_WEBHOOK_REFUSED_TOGETHER, /* one of several may be the reason: each is to be posted alone */
    FP_WEBHOOK_TROUBLE,          /* the next run may have more luck */
};

/*
 * Posts a JSON text, and remembers the noted findings once the server has answered 2xx. Prints an
 * error if it is refused or in trouble. In trouble the findings are not remembered; a refused one
 * is: the server would refuse it each time, as long as the access is this one. Several that are
 * refused together are not noted any more.
 */
enum fp_webhook_result fp_webhook_post(struct fp_webhook *webhook, const char *json) FP_MUST_CHECK;

/* Remembers the noted findings without a post. Prints an error and returns false on failure. */
bool fp_webhook_keep(const struct fp_webhook *webhook) FP_MUST_CHECK;

#endif
