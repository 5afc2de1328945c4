/*
 * Admin: three read-only pages.
 */
#include "collector/http/admin.h"

#include "collector/base/clock.h"
#include "collector/http/connections.h"
#include "collector/http/reply.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
    CONNECTIONS = 240,
    CONNECTION_MEMORY = 8 * 1024, /* for the headers of request and reply */
    ENDING_MAX = 16,              /* shut down, not yet closed */
    TIMEOUT_S = 10,
    READINESS_MAX = 4096,
    PAGE_MAX = 16 * 1024 * 1024, /* 1,000 sites with the longest names take 5 MiB */
};

_Static_assert(CONNECTIONS + ENDING_MAX < FP_ADMIN_DESCRIPTORS, "each may have a descriptor");

struct fp_admin {
    struct fp_admin_settings settings;
    struct fp_listener listener;
    struct fp_connections *connections;
    struct MHD_Daemon *daemon;
};

static const char plain_text[] = "text/plain; charset=utf-8";

static enum MHD_Result send_health(struct fp_admin *admin, struct MHD_Connection *connection)
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

static enum MHD_Result send_readiness(struct fp_admin *admin, struct MHD_Connection *connection)
{
    struct fp_buf text;
    fp_buf_init(&text, READINESS_MAX);
    bool is_ready = admin->settings.tell_readiness(admin->settings.context, &text);
    unsigned status = is_ready ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
    enum MHD_Result queued = send_buf(connection, status, plain_text, &text);
    fp_buf_release(&text);
    return queued;
}

static enum MHD_Result send_metrics(struct fp_admin *admin, struct MHD_Connection *connection)
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
    enum MHD_Result (*send)(struct fp_admin *admin, struct MHD_Connection *connection);
} pages[] = {
    {"/healthz", send_health},
    {"/readyz", send_readiness},
    {"/metrics", send_metrics},
};

static enum MHD_Result answer(struct fp_admin *admin, struct MHD_Connection *connection,
                              const char *path, const char *method)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strcmp(pages[i].path, path) != 0)
            continue;
        if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
            return fp_reply_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, plain_text,
                                 FP_STR("Method not allowed; use GET or HEAD.\n"));
        return pages[i].send(admin, connection);
    }
    return fp_reply_text(connection, MHD_HTTP_NOT_FOUND, plain_text,
                         FP_STR("Not found; the paths are /healthz, /readyz and /metrics.\n"));
}

static void move(const struct fp_admin *admin, struct MHD_Connection *connection,
                 enum fp_connection_state state)
{
    struct fp_http_connection *watched =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (watched != NULL)
        fp_connections_move(admin->connections, watched, state);
}

/* MHD's access handler: called after the headers, for each piece of the body (which is dropped),
 * and at the end of the request. */
// NOLINTNEXTLINE(readability-function-size): the parameters are MHD's
static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_data_size, void **request_cls)
{
    (void)version;
    (void)upload_data;
    if (*request_cls == NULL) {
        *request_cls = cls; /* not NULL: the headers have arrived */
        move(cls, connection, FP_CONNECTION_RECEIVING);
        return MHD_YES;
    }
    if (*upload_data_size > 0) {
        *upload_data_size = 0;
        return MHD_YES;
    }
    move(cls, connection, FP_CONNECTION_ANSWERED);
    return answer(cls, connection, url, method);
}

static void complete(void *cls, struct MHD_Connection *connection, void **request_cls,
                     enum MHD_RequestTerminationCode why)
{
    (void)request_cls;
    (void)why;
    move(cls, connection, FP_CONNECTION_WAITING);
}

/* Watches each connection, so that a client which holds many cannot block the service manager's
 * probe. */
static void watch_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                             enum MHD_ConnectionNotificationCode what)
{
    struct fp_admin *admin = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        *socket_context = fp_connections_add(admin->connections, fd);
        if (*socket_context == NULL)
            (void)shutdown(fd, SHUT_RDWR);
    } else if (*socket_context != NULL) {
        fp_connections_remove(admin->connections, *socket_context);
    }
}

static struct MHD_Daemon *start_daemon(struct fp_admin *admin)
{
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, handle,
                            admin, MHD_OPTION_LISTEN_SOCKET, admin->listener.fd,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)(CONNECTIONS + ENDING_MAX),
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
                            MHD_OPTION_NOTIFY_COMPLETED, complete, admin,
                            MHD_OPTION_NOTIFY_CONNECTION, watch_connection, admin, MHD_OPTION_END);
}

struct fp_admin *fp_admin_start(const struct fp_admin_settings *settings, struct fp_buf *detail)
{
    struct fp_admin *admin = calloc(1, sizeof(*admin));
    if (admin == NULL) {
        fp_buf_addf(detail, "out of memory");
        return NULL;
    }
    admin->settings = *settings;
    if (settings->given_socket >= 0) {
        fp_listener_take(settings->given_socket, &admin->listener);
    } else if (!fp_listener_open(&settings->listen, &admin->listener, detail)) {
        free(admin);
        return NULL;
    }
    admin->connections = fp_connections_start(CONNECTIONS, TIMEOUT_S * FP_US_PER_S, NULL);
    if (admin->connections != NULL)
        admin->daemon = start_daemon(admin);
    if (admin->daemon == NULL) {
        fp_buf_addf(detail, "cannot start a thread: %s", strerror(errno));
        fp_connections_stop(admin->connections);
        fp_listener_close(&admin->listener);
        free(admin);
        return NULL;
    }
    return admin;
}

void fp_admin_stop(struct fp_admin *admin)
{
    if (admin == NULL)
        return;
    (void)MHD_quiesce_daemon(admin->daemon);
    fp_listener_close(&admin->listener);
    MHD_stop_daemon(admin->daemon);
    fp_connections_stop(admin->connections);
    free(admin);
}
