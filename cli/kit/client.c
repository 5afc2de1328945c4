/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client: sets libcurl up, and copies a reply's fields.
 */
#include "cli/kit/client.h"

#include "cli/kit/memory.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <strings.h>

enum {
    CONNECT_TIMEOUT_MS = 10 * 1000,
    FIELDS_MAX = 200, /* of one reply; libcurl limits their bytes */
};

struct fp_client {
    CURL *curl;
    struct fp_client_settings settings;
    char error[CURL_ERROR_SIZE];
    char refusal[100]; /* why no connection was made; "": none was refused */
};

/* libcurl refuses our options only when it has no memory for them. */
static void need(CURLcode code)
{
    if (code != CURLE_OK)
        fp_memory_end();
}

/* Opens the socket of a connection, when the address is resolved and no name can change it. */
static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct fp_client *client = context;
    (void)purpose;
    if (!client->settings.admits(client->settings.context, &address->addr, client->refusal,
                                 sizeof(client->refusal)))
        return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

struct fp_client *fp_client_create(const struct fp_client_settings *settings)
{
    struct fp_client *client = fp_memory_need(calloc(1, sizeof(*client)));
    client->settings = *settings;
    client->curl = fp_memory_need(curl_easy_init());
    CURL *curl = client->curl;
    need(curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https"));
    need(curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L));
    need(curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS));
    need(curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS));
    need(curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->error));
    if (settings->is_direct)
        need(curl_easy_setopt(curl, CURLOPT_PROXY, ""));
    if (settings->is_decoded)
        need(curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "")); /* all that libcurl knows */
    if (settings->ca_file != NULL)
        need(curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca_file));
    if (settings->admits != NULL) {
        need(curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket));
        need(curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, client));
    }
    return client;
}

void fp_client_free(struct fp_client *client)
{
    curl_easy_cleanup(client->curl);
    free(client);
}

/* ---- the request ---- */

static void set_method(CURL *curl, const struct fp_client_request *request)
{
    const bool is_post = strcmp(request->method, "POST") == 0;
    const bool is_get = strcmp(request->method, "GET") == 0;
    need(curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L)); /* forgets what was set before */
    need(curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, is_post || is_get ? NULL : request->method));
    if (!is_post)
        return;
    need(curl_easy_setopt(curl, CURLOPT_POST, 1L));
    need(curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len));
    need(
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.len > 0 ? request->body.ptr : ""));
}

static struct curl_slist *append(struct curl_slist *list, const char *line)
{
    return fp_memory_need(curl_slist_append(list, line));
}

/* A line without a value keeps libcurl from sending a field of its own. */
static struct curl_slist *make_fields(const struct fp_client_request *request)
{
    struct curl_slist *list = append(NULL, "Expect:"); /* no round trip before a large body */
    if (strcmp(request->method, "POST") == 0)
        list = append(list, "Content-Type:");
    for (size_t i = 0; request->fields != NULL && request->fields[i] != NULL; i++)
        list = append(list, request->fields[i]);
    return list;
}

static struct curl_slist *make_direction(const struct fp_client_request *request)
{
    if (request->connect_to == NULL)
        return NULL;
    char *entry = fp_memory_print("::%s", request->connect_to);
    struct curl_slist *direction = append(NULL, entry);
    free(entry);
    return direction;
}

/* ---- the reply ---- */

/* Takes what fits, and ends the transfer at the first byte that does not. */
static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct fp_client_reply *reply = context;
    const size_t len = size * count, room = reply->body.max - reply->body.len;
    fp_buf_add(&reply->body, bytes, len < room ? len : room);
    if (reply->body.failed)
        fp_memory_end();
    if (len <= room)
        return len;
    reply->is_cut = true;
    return 0; /* ends the transfer */
}

static void copy_fields(CURL *curl, struct fp_client_reply *reply)
{
    reply->fields = fp_memory_need(calloc(FIELDS_MAX, sizeof(*reply->fields)));
    struct curl_header *field = NULL;
    while (reply->field_count < FIELDS_MAX &&
           (field = curl_easy_nextheader(curl, CURLH_HEADER, -1, field)) != NULL)
        reply->fields[reply->field_count++] =
            (struct fp_client_field){fp_memory_copy(field->name), fp_memory_copy(field->value)};
}

static void copy_facts(CURL *curl, struct fp_client_reply *reply)
{
    char *address = NULL;
    curl_off_t retry_after_s = 0;
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    (void)curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &reply->version);
    (void)curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after_s);
    reply->retry_after_s = retry_after_s;
    if (curl_easy_getinfo(curl, CURLINFO_PRIMARY_IP, &address) == CURLE_OK && address != NULL)
        (void)snprintf(reply->address, sizeof(reply->address), "%s", address);
}

static void fail(const struct fp_client *client, CURLcode result, struct fp_client_reply *reply)
{
    const char *error = client->error[0] != '\0' ? client->error : curl_easy_strerror(result);
    reply->status = 0;
    reply->is_not_tls = result == CURLE_SSL_CONNECT_ERROR;
    reply->is_not_reached = result == CURLE_COULDNT_CONNECT;
    (void)snprintf(reply->error, sizeof(reply->error), "%s",
                   client->refusal[0] != '\0' ? client->refusal : error);
}

void fp_client_send(struct fp_client *client, const struct fp_client_request *request,
                    struct fp_client_reply *reply)
{
    CURL *curl = client->curl;
    *reply = (struct fp_client_reply){0};
    fp_buf_init(&reply->body, request->body_max);
    client->error[0] = client->refusal[0] = '\0';
    struct curl_slist *fields = make_fields(request);
    struct curl_slist *direction = make_direction(request);
    set_method(curl, request);
    need(curl_easy_setopt(curl, CURLOPT_URL, request->url));
    need(curl_easy_setopt(curl, CURLOPT_USERNAME, request->user));
    need(curl_easy_setopt(curl, CURLOPT_PASSWORD, request->password));
    need(curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, request->unix_socket));
    need(curl_easy_setopt(curl, CURLOPT_CONNECT_TO, direction));
    need(curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields));
    need(curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms));
    need(curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body));
    need(curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply));
    const CURLcode result = curl_easy_perform(curl);
    if (result == CURLE_OUT_OF_MEMORY)
        fp_memory_end();
    copy_facts(curl, reply);
    copy_fields(curl, reply);
    if (result != CURLE_OK && !reply->is_cut)
        fail(client, result, reply);
    need(curl_easy_setopt(curl, CURLOPT_CONNECT_TO, NULL));
    curl_slist_free_all(fields);
    curl_slist_free_all(direction);
}

void fp_client_release(struct fp_client_reply *reply)
{
    for (size_t i = 0; i < reply->field_count; i++) {
        free(reply->fields[i].name);
        free(reply->fields[i].value);
    }
    free(reply->fields);
    fp_buf_release(&reply->body);
    *reply = (struct fp_client_reply){0};
}

const char *fp_client_nth(const struct fp_client_reply *reply, const char *name, size_t nth)
{
    for (size_t i = 0; i < reply->field_count; i++)
        if (strcasecmp(reply->fields[i].name, name) == 0 && nth-- == 0)
            return reply->fields[i].value;
    return NULL;
}

const char *fp_client_field(const struct fp_client_reply *reply, const char *name)
{
    const char *value = fp_client_nth(reply, name, 0);
    return value != NULL ? value : "";
}
