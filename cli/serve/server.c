/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server: admits a request and hands it to the page or the API.
 */
#include "cli/serve/server.h"

#include "cli/serve/manual.h"
#include "cli/serve/mcp_message.h"
#include "cli/serve/metrics.h"
#include "cli/serve/response.h"
#include "collector/http/page_server.h"

#include <stdlib.h>
#include <strings.h>

enum {
    CONNECTIONS = 128,
    ENDING_MAX = 32,               /* shut down, not yet closed */
    CONNECTION_MEMORY = 32 * 1024, /* for the headers of request and response */
    STACK_SIZE = 1024 * 1024,
    IDLE_TIMEOUT_S = 60,
    REQUEST_TIMEOUT_S = 15,
};

struct fp_server {
    struct fp_server_settings settings;
    struct fp_page_server *pages;
};

/* ---- the API ---- */

struct reading {
    struct fp_inquiry *inquiry;
    struct fp_trouble *trouble;
    bool failed;
};

// NOLINTNEXTLINE(readability-function-size): the parameters are MHD's
static enum MHD_Result read_parameter(void *cls, enum MHD_ValueKind kind, const char *key,
                                      size_t key_size, const char *value, size_t value_size)
{
    struct reading *reading = cls;
    (void)kind;
    struct fp_str text = {value != NULL ? value : "", value != NULL ? value_size : 0};
    reading->failed =
        !fp_inquiry_add(reading->inquiry, (struct fp_str){key, key_size}, text, reading->trouble);
    return reading->failed ? MHD_NO : MHD_YES;
}

static bool read_inquiry(struct MHD_Connection *connection, struct fp_inquiry *inquiry,
                         struct fp_trouble *trouble)
{
    struct reading reading = {.inquiry = inquiry, .trouble = trouble};
    (void)MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, read_parameter, &reading);
    return !reading.failed && fp_inquiry_is_whole(inquiry, trouble);
}

static void refuse_route(const char *name, struct fp_trouble *trouble)
{
    fp_trouble_set(trouble, MHD_HTTP_NOT_FOUND, "The API has nothing named \"%.80s\".", name);
    fp_trouble_hint(trouble, "It has /api/v1/version and one path per function: "
                             "/api/v1/hotspots, /api/v1/sites and others, see docs/report.md.");
}

static int client_of(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

/* Sends what came of asking, and releases the answer. */
static enum MHD_Result finish(struct MHD_Connection *connection, enum fp_reader_result result,
                              struct fp_answer *answer, const struct fp_trouble *trouble)
{
    enum MHD_Result queued = MHD_NO;
    if (result == FP_READER_FINE)
        queued = fp_response_answer(connection, answer);
    else if (result == FP_READER_TROUBLE)
        queued = fp_response_trouble(connection, trouble);
    fp_answer_release(answer);
    return queued;
}

static enum MHD_Result answer_version(const struct fp_server *server,
                                      struct MHD_Connection *connection)
{
    struct fp_answer answer;
    enum fp_reader_result result =
        fp_answer_version(&answer, server->settings.readers, client_of(connection));
    return finish(connection, result, &answer, NULL);
}

static enum MHD_Result answer_inquiry(const struct fp_server *server,
                                      struct MHD_Connection *connection,
                                      const struct fp_inquiry *inquiry)
{
    struct fp_trouble trouble = {0};
    struct fp_answer answer;
    enum fp_reader_result result =
        fp_answer_ask(&answer, inquiry, server->settings.readers, client_of(connection), &trouble);
    return finish(connection, result, &answer, &trouble);
}

static enum MHD_Result answer_api(const struct fp_server *server, struct MHD_Connection *connection,
                                  const char *name)
{
    struct fp_trouble trouble = {0};
    if (strcmp(name, "version") == 0)
        return answer_version(server, connection);
    const struct fp_question *question = fp_question_find(name);
    if (question == NULL) {
        refuse_route(name, &trouble);
        return fp_response_trouble(connection, &trouble);
    }
    struct fp_inquiry inquiry;
    fp_inquiry_init(&inquiry, question);
    enum MHD_Result queued = read_inquiry(connection, &inquiry, &trouble)
                                 ? answer_inquiry(server, connection, &inquiry)
                                 : fp_response_trouble(connection, &trouble);
    fp_inquiry_release(&inquiry);
    return queued;
}

/* ---- the Model Context Protocol ---- */

static const char mcp_path[] = "/mcp";

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Whether the media type is application/json, with or without parameters. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (type == NULL || strncasecmp(type, json, sizeof(json) - 1) != 0)
        return false;
    const char *rest = type + sizeof(json) - 1;
    rest += strspn(rest, " \t");
    return *rest == '\0' || *rest == ';';
}

/* A page of another site may send a POST, but not as JSON, and not without its origin. */
static bool admits_message(struct MHD_Connection *connection, const struct fp_page_request *request,
                           struct fp_trouble *trouble)
{
    const char *type = header_of(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    if (strcmp(request->method, "POST") != 0) {
        fp_trouble_set(trouble, MHD_HTTP_METHOD_NOT_ALLOWED, "Messages come by POST.");
        trouble->allow = "POST";
    } else if (!fp_guard_admits_fetch(header_of(connection, "Sec-Fetch-Site")) ||
               !fp_guard_admits_origin(header_of(connection, MHD_HTTP_HEADER_ORIGIN),
                                       header_of(connection, MHD_HTTP_HEADER_HOST))) {
        fp_trouble_set(trouble, MHD_HTTP_FORBIDDEN, "Pages of other sites get no answers.");
    } else if (!is_json(type)) {
        fp_trouble_set(trouble, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "A message is application/json.");
    } else if (request->is_body_too_long) {
        fp_trouble_set(trouble, MHD_HTTP_CONTENT_TOO_LARGE, "A message has at most %d bytes.",
                       FP_MCP_MESSAGE_MAX);
    } else {
        return true;
    }
    return false;
}

static enum MHD_Result answer_message(const struct fp_server *server,
                                      struct MHD_Connection *connection,
                                      const struct fp_page_request *request)
{
    struct fp_trouble trouble = {0};
    if (!admits_message(connection, request, &trouble))
        return fp_response_trouble(connection, &trouble);
    struct fp_buf reply;
    fp_buf_init(&reply, FP_MCP_REPLY_MAX);
    /* A client that does not say its version has this one (2025-11-25, Streamable HTTP). */
    const char *version = header_of(connection, "MCP-Protocol-Version");
    struct fp_mcp_session session = {
        .has_batches = version == NULL || strcmp(version, FP_MCP_BATCH_VERSION) == 0,
    };
    const bool fine = fp_mcp_answer(&session, request->body, server->settings.readers,
                                    client_of(connection), &reply);
    const enum MHD_Result queued = fine ? fp_response_message(connection, &reply) : MHD_NO;
    fp_buf_release(&reply);
    return queued;
}

/* ---- metrics ---- */

static const char metrics_path[] = "/metrics";

static enum MHD_Result answer_metrics(const struct fp_server *server,
                                      struct MHD_Connection *connection)
{
    struct fp_trouble trouble = {0};
    struct fp_buf body;
    fp_buf_init(&body, FP_METRICS_MAX);
    const enum fp_reader_result result =
        fp_metrics_write(server->settings.readers, client_of(connection), &body, &trouble);
    enum MHD_Result queued = MHD_NO;
    if (result == FP_READER_FINE)
        queued = fp_response_metrics(connection, &body);
    else if (result == FP_READER_TROUBLE)
        queued = fp_response_trouble(connection, &trouble);
    fp_buf_release(&body);
    return queued;
}

/* ---- requests ---- */

static bool admits_host(const struct fp_server *server, struct MHD_Connection *connection,
                        struct fp_trouble *trouble)
{
    if (fp_guard_admits_host(&server->settings.guard, header_of(connection, MHD_HTTP_HEADER_HOST)))
        return true;
    fp_trouble_set(trouble, MHD_HTTP_FORBIDDEN,
                   "This server does not answer for the host of this address.");
    fp_trouble_hint(trouble, "Start `fleetprof serve' with --allow-host NAME if the name is "
                             "yours.");
    return false;
}

static bool admits(struct MHD_Connection *connection, const struct fp_page_request *request,
                   struct fp_trouble *trouble)
{
    const char *method = request->method;
    bool is_api = strncmp(request->path, "/api/", strlen("/api/")) == 0 ||
                  strcmp(request->path, metrics_path) == 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        fp_trouble_set(trouble, MHD_HTTP_METHOD_NOT_ALLOWED,
                       "The report is for reading: use GET or HEAD.");
    } else if (is_api && !fp_guard_admits_fetch(header_of(connection, "Sec-Fetch-Site"))) {
        fp_trouble_set(trouble, MHD_HTTP_FORBIDDEN,
                       "The API does not answer requests from pages of other sites.");
    } else {
        return true;
    }
    return false;
}

static enum MHD_Result answer_path(const struct fp_server *server,
                                   struct MHD_Connection *connection, const char *path)
{
    static const char api[] = "/api/v1/";
    if (strncmp(path, api, sizeof(api) - 1) == 0)
        return answer_api(server, connection, path + sizeof(api) - 1);
    if (strcmp(path, metrics_path) == 0)
        return answer_metrics(server, connection);
    if (fp_manual_owns(path))
        return fp_manual_answer(connection, server->settings.manual, path);
    const struct fp_page_file *page = NULL;
    bool is_page = strncmp(path, "/assets/", strlen("/assets/")) != 0 &&
                   strncmp(path, "/api/", strlen("/api/")) != 0;
    for (size_t i = 0; i < fp_page_file_count; i++) {
        if (strcmp(fp_page_files[i].path, is_page ? "/" : path) == 0)
            page = &fp_page_files[i];
    }
    if (page != NULL)
        return fp_response_file(connection, page);
    struct fp_trouble trouble = {0};
    fp_trouble_set(&trouble, MHD_HTTP_NOT_FOUND, "There is nothing at this path.");
    return fp_response_trouble(connection, &trouble);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection,
                              const struct fp_page_request *request)
{
    const struct fp_server *server = context;
    struct fp_trouble trouble = {0};
    if (!admits_host(server, connection, &trouble))
        return fp_response_trouble(connection, &trouble);
    if (server->settings.has_mcp && strcmp(request->path, mcp_path) == 0)
        return answer_message(server, connection, request);
    return admits(connection, request, &trouble) ? answer_path(server, connection, request->path)
                                                 : fp_response_trouble(connection, &trouble);
}

struct fp_server *fp_server_start(const struct fp_server_settings *settings, struct fp_buf *detail)
{
    struct fp_server *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        fp_buf_addf(detail, "out of memory");
        return NULL;
    }
    server->settings = *settings;
    const struct fp_page_server_settings pages = {
        .mode = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL,
        .stack_size = STACK_SIZE,
        .connections = CONNECTIONS,
        .ending = ENDING_MAX,
        .memory = CONNECTION_MEMORY,
        .body_max = settings->has_mcp ? FP_MCP_MESSAGE_MAX : 0,
        .idle_s = IDLE_TIMEOUT_S,
        .request_s = REQUEST_TIMEOUT_S,
        .answer = answer,
        .context = server,
    };
    struct fp_listener listener;
    if (fp_listener_open(&settings->listen, &listener, detail))
        server->pages = fp_page_server_start(&pages, &listener, detail);
    if (server->pages == NULL) {
        free(server);
        return NULL;
    }
    return server;
}

void fp_server_stop(struct fp_server *server)
{
    if (server == NULL)
        return;
    fp_page_server_stop(server->pages);
    free(server);
}
