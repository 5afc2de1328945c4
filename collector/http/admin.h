/*
 * Admin: the listener for operators and their tools: /healthz, /readyz, /metrics.
 */
#ifndef FP_HTTP_ADMIN_H
#define FP_HTTP_ADMIN_H

#include "collector/base/metrics.h"
#include "collector/http/listen.h"

/* What it opens at most: connections, and what it waits for them with. */
#define FP_ADMIN_DESCRIPTORS 264

struct fp_admin_settings {
    struct fp_address listen;
    int given_socket; /* listens already, and is used instead of the address; owned; -1: none */
    struct fp_metrics *metrics;
    /* NULL when uploads are taken, else why not; called from the admin thread. */
    const char *(*trouble)(void *context);
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
