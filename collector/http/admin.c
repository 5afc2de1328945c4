/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admin: three read-only pages.
 */
#include "collector/http/admin.h"

#include "collector/http/page_server.h"
#include "collector/http/reply.h"

#include <stdlib.h>

enum {
    CONNECTIONS = 240, /* a client that holds many does not block the service manager's probe */
    CONNECTION_MEMORY = 8 * 1024, /* for the headers of request and reply */
    ENDING_MAX = 16,              /* shut down, not yet closed */
    TIMEOUT_S = 10,
    READINESS_MAX = 4096,
    PAGE_MAX = 16 * 1024 * 1024, /* 1,000 sites with the longest names take 5 MiB */
};

_Static_assert(CONNECTIONS + ENDING_MAX < FP_ADMIN_DESCRIPTORS, "each may have a descriptor");

struct fp_admin {
    struct fp_admin_settings settings;
    struct fp_page_server *server;
};

static const char plain_text[] = "text/plain; charset=utf-8";

static enum MHD_Result send_health(const struct fp_admin *admin, struct MHD_Connection *connection)
{
    (void)admin;
    return fp_reply_text(connection, MHD_HTTP_OK, plain_text, FP_STR("alive\n"));
}

static enum MHD_Result send_buf(struct MHD_Connection *connection, unsigned status,
                                const char *type, const struct fp_buf *text)
{
    if (text->failed)
        return MHD_NO;
    return fp_reply_text(connection, status, type,
                         (struct fp_str){(const char *)text->data, text->len});
}

static enum MHD_Result send_readiness(const struct fp_admin *admin,
                                      struct MHD_Connection *connection)
{
    struct fp_buf text;
    fp_buf_init(&text, READINESS_MAX);
    bool is_ready = admin->settings.tell_readiness(admin->settings.context, &text);
    unsigned status = is_ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    enum MHD_Result queued = send_buf(connection, status, plain_text, &text);
    fp_buf_release(&text);
    return queued;
}

static enum MHD_Result send_metrics(const struct fp_admin *admin, struct MHD_Connection *connection)
{
    struct fp_buf page;
    fp_buf_init(&page, PAGE_MAX);
    admin->settings.render_metrics(admin->settings.context, &page);
    enum MHD_Result queued =
        send_buf(connection, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", &page);
    fp_buf_release(&page);
    return queued;
}

static const struct {
    const char *path;
    enum MHD_Result (*send)(const struct fp_admin *admin, struct MHD_Connection *connection);
} pages[] = {
    {"/healthz", send_health},
    {"/readyz", send_readiness},
    {"/metrics", send_metrics},
};

static enum MHD_Result answer(void *context, struct MHD_Connection *connection,
                              const struct fp_page_request *request)
{
    const struct fp_admin *admin = context;
    const char *method = request->method;
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strcmp(pages[i].path, request->path) != 0)
            continue;
        if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
            return fp_reply_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, plain_text,
                                 FP_STR("Method not allowed; use GET or HEAD.\n"));
        return pages[i].send(admin, connection);
    }
    return fp_reply_text(connection, MHD_HTTP_NOT_FOUND, plain_text,
                         FP_STR("Not found; the paths are /healthz, /readyz and /metrics.\n"));
}

struct fp_admin *fp_admin_start(const struct fp_admin_settings *settings, struct fp_buf *detail)
{
    struct fp_admin *admin = calloc(1, sizeof(*admin));
    if (admin == NULL) {
        fp_buf_addf(detail, "out of memory");
        return NULL;
    }
    admin->settings = *settings;
    const struct fp_page_server_settings server = {
        .mode = MHD_USE_EPOLL_INTERNAL_THREAD,
        .connections = CONNECTIONS,
        .ending = ENDING_MAX,
        .memory = CONNECTION_MEMORY,
        .idle_s = TIMEOUT_S,
        .request_s = TIMEOUT_S,
        .answer = answer,
        .context = admin,
    };
    struct fp_listener listener;
    bool is_open = true;
    if (settings->given_socket >= 0)
        fp_listener_take(settings->given_socket, &listener);
    else
        is_open = fp_listener_open(&settings->listen, &listener, detail);
    if (is_open)
        admin->server = fp_page_server_start(&server, &listener, detail);
    if (admin->server == NULL) {
        free(admin);
        return NULL;
    }
    return admin;
}

void fp_admin_stop(struct fp_admin *admin)
{
    if (admin == NULL)
        return;
    fp_page_server_stop(admin->server);
    free(admin);
}
