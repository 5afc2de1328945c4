/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admin: the listener for operators and their tools. Serves /healthz, /readyz and /metrics.
 */
#ifndef FP_HTTP_ADMIN_H
#define FP_HTTP_ADMIN_H

#include "collector/base/buf.h"
#include "collector/http/listen.h"

/* File descriptors the listener opens at most: its connections, and those to wait for them. */
#define FP_ADMIN_DESCRIPTORS 264

struct fp_admin_settings {
    struct fp_address listen;
    int given_socket; /* use this listening socket, not the address; owned; -1: none */
    /* The admin thread calls both with the context. The first appends the text of /readyz and
     * returns true if uploads are accepted. The second appends the text of /metrics. */
    bool (*tell_readiness)(void *context, struct fp_buf *text);
    void (*render_metrics)(void *context, struct fp_buf *page);
    void *context;
};

struct fp_admin;

/* Listens and serves, in a thread of its own; a second thread ends slow clients. Returns NULL on
 * failure and writes a sentence into `detail`. What the settings point to must outlive the
 * listener. Main thread. */
struct fp_admin *fp_admin_start(const struct fp_admin_settings *settings,
                                struct fp_buf *detail) FP_MUST_CHECK;

/* Stops the listener and frees it; NULL is fine. Main thread. */
void fp_admin_stop(struct fp_admin *admin);

#endif
