/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page server: runs libmicrohttpd for clients that only read.
 */
#include "collector/http/page_server.h"

#include "collector/base/clock.h"
#include "collector/http/connections.h"
#include "collector/http/reply.h"
#include "collector/http/strict.h"

#include <errno.h>
#include <stdlib.h>

struct fp_page_server {
    struct fp_page_server_settings settings;
    struct fp_listener listener;
    struct fp_connections *connections;
    struct MHD_Daemon *daemon;
};

/* A request whose headers have arrived. */
struct request {
    struct fp_buf body;
};

static void move(const struct fp_page_server *server, struct MHD_Connection *connection,
                 enum fp_connection_state state)
{
    struct fp_http_connection *watched =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    if (watched != NULL)
        fp_connections_move(server->connections, watched, state);
}

/* Refuses a request before its body, with which its connection ends. */
static enum MHD_Result refuse(struct MHD_Connection *connection, const char *trouble)
{
    char text[128];
    const int len = snprintf(text, sizeof(text), "Bad request: %s.\n", trouble);
    return fp_reply_bad_request(connection, (struct fp_str){text, (size_t)len});
}

/* Begins a request. False when out of memory. */
static bool begin_request(const struct fp_page_server *server, void **request_cls)
{
    struct request *request = calloc(1, sizeof(*request));
    if (request != NULL)
        fp_buf_init(&request->body, server->settings.body_max);
    *request_cls = request;
    return request != NULL;
}

static enum MHD_Result answer_request(const struct fp_page_server *server,
                                      struct MHD_Connection *connection, const char *url,
                                      const char *method, const struct request *request)
{
    const struct fp_buf *body = &request->body;
    const struct fp_page_request whole = {
        .path = url,
        .method = method,
        .body = {body->len > 0 ? (const char *)body->data : "", body->failed ? 0 : body->len},
        .is_body_too_long = body->failed,
    };
    return server->settings.answer(server->settings.context, connection, &whole);
}

/* MHD's access handler: called after the headers, for each piece of the body, and at the end of
 * the request. */
// NOLINTNEXTLINE(readability-function-size): the parameters are MHD's
static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_data_size, void **request_cls)
{
    struct fp_page_server *server = cls;
    if (*request_cls == NULL) {
        const char *trouble = fp_strict_trouble(connection, method, version);
        move(server, connection, FP_CONNECTION_RECEIVING);
        if (trouble == NULL && fp_strict_is_chunked(connection))
            trouble = "a request for a page has no body in chunks";
        if (!begin_request(server, request_cls))
            return MHD_NO;
        return trouble != NULL ? refuse(connection, trouble) : MHD_YES;
    }
    struct request *request = *request_cls;
    if (*upload_data_size > 0) {
        if (server->settings.body_max > 0)
            fp_buf_add(&request->body, upload_data, *upload_data_size);
        *upload_data_size = 0;
        return MHD_YES;
    }
    move(server, connection, FP_CONNECTION_ANSWERED);
    return answer_request(server, connection, url, method, request);
}

static void complete(void *cls, struct MHD_Connection *connection, void **request_cls,
                     enum MHD_RequestTerminationCode why)
{
    struct request *request = *request_cls;
    (void)why;
    if (request != NULL)
        fp_buf_release(&request->body);
    free(request);
    *request_cls = NULL;
    move(cls, connection, FP_CONNECTION_WAITING);
}

static void watch_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
                             enum MHD_ConnectionNotificationCode what)
{
    struct fp_page_server *server = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *socket_context = fp_connections_add(
            server->connections,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    else if (*socket_context != NULL)
        fp_connections_remove(server->connections, *socket_context);
}

static struct MHD_Daemon *start_daemon(struct fp_page_server *server)
{
    const struct fp_page_server_settings *settings = &server->settings;
    return MHD_start_daemon(
        settings->mode | MHD_USE_ITC, 0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET,
        server->listener.fd, MHD_OPTION_CONNECTION_LIMIT, settings->connections + settings->ending,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->memory, MHD_OPTION_THREAD_STACK_SIZE,
        settings->stack_size, MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_s,
        MHD_OPTION_NOTIFY_COMPLETED, complete, server, MHD_OPTION_NOTIFY_CONNECTION,
        watch_connection, server, MHD_OPTION_URI_LOG_CALLBACK, fp_strict_read_target, NULL,
        MHD_OPTION_STRICT_FOR_CLIENT, fp_strict_library_level(), MHD_OPTION_END);
}

struct fp_page_server *fp_page_server_start(const struct fp_page_server_settings *settings,
                                            struct fp_listener *listener, struct fp_buf *detail)
{
    struct fp_page_server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        fp_buf_addf(detail, "out of memory");
        fp_listener_close(listener);
        return NULL;
    }
    server->settings = *settings;
    server->listener = *listener;
    server->connections =
        fp_connections_start(settings->connections, settings->request_s * FP_US_PER_S, NULL);
    if (server->connections != NULL)
        server->daemon = start_daemon(server);
    if (server->daemon == NULL) {
        fp_buf_addf(detail, "cannot start a thread: %s", strerror(errno));
        fp_connections_stop(server->connections);
        fp_listener_close(&server->listener);
        free(server);
        return NULL;
    }
    return server;
}

void fp_page_server_stop(struct fp_page_server *server)
{
    if (server == NULL)
        return;
    /* Makes MHD release the socket; its threads use it until they end. */
    (void)MHD_quiesce_daemon(server->daemon);
    MHD_stop_daemon(server->daemon);
    fp_listener_close(&server->listener);
    fp_connections_stop(server->connections);
    free(server);
}
