/*
 * Admin: the listener for operators and their tools: /healthz, /readyz, /metrics.
 */
#ifndef FP_HTTP_ADMIN_H
#define FP_HTTP_ADMIN_H

#include "collector/base/buf.h"
#include "collector/http/listen.h"

/* What it opens at most: connections, and what it waits for them with. */
#define FP_ADMIN_DESCRIPTORS 264

struct fp_admin_settings {
    struct fp_address listen;
    int given_socket; /* listens already, and is used instead of the address; owned; -1: none */
    /* Both are called from the admin thread, with the context. The first appends the text of
     * /readyz, and is true when uploads are taken; the second appends that of /metrics. */
    bool (*tell_readiness)(void *context, struct fp_buf *text);
    void (*render_metrics)(void *context, struct fp_buf *page);
    void *context;
};

struct fp_admin;

/* Listens and serves, in one thread of its own, and one that ends slow clients. NULL on failure;
 * `detail` then gets a sentence. What the settings point to must outlive it. Main thread. */
struct fp_admin *fp_admin_start(const struct fp_admin_settings *settings,
                                struct fp_buf *detail) FP_MUST_CHECK;

/* Ends it and frees; NULL is fine. Main thread. */
void fp_admin_stop(struct fp_admin *admin);

#endif
