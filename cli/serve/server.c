/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server: admits a request and hands it to the page or the API.
 */
#include "cli/serve/server.h"

#include "cli/serve/response.h"
#include "collector/http/page_server.h"

#include <stdlib.h>

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

/* ---- requests ---- */

static bool admits(const struct fp_server *server, struct MHD_Connection *connection,
                   const char *path, const char *method, struct fp_trouble *trouble)
{
    const char *host =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    const char *fetch = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    bool is_api = strncmp(path, "/api/", strlen("/api/")) == 0;
    if (!fp_guard_admits_host(&server->settings.guard, host)) {
        fp_trouble_set(trouble, MHD_HTTP_FORBIDDEN,
                       "This server does not answer for the host of this address.");
        fp_trouble_hint(trouble, "Start `fleetprof serve' with --allow-host NAME if the name is "
                                 "yours.");
    } else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        fp_trouble_set(trouble, MHD_HTTP_METHOD_NOT_ALLOWED,
                       "The report is for reading: use GET or HEAD.");
    } else if (is_api && !fp_guard_admits_fetch(fetch)) {
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

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method)
{
    const struct fp_server *server = context;
    struct fp_trouble trouble = {0};
    return admits(server, connection, path, method, &trouble)
               ? answer_path(server, connection, path)
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
