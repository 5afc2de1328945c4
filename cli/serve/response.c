/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Response: headers, entity tags and compression.
 */
#include "cli/serve/response.h"

#include "collector/base/ascii.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PACK_FROM = 1024, /* below, packing saves no packet */
    PACK_LEVEL = 4,
};

/* Names of functions and pages are chosen by anybody on the internet: nothing that they contain may
 * run, load or be framed. */
#define POLICY                                                                                     \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char page_policy[] =
    POLICY "; require-trusted-types-for 'script'; trusted-types 'none'";

/* The manual has no text of others, and its search loads a script of its own. */
static const char manual_policy[] = POLICY;

static const struct {
    const char *name;
    const char *value;
} fixed_headers[] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Vary", "Accept-Encoding"},
};

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

/* Queues and releases the response. The policy of its content is on it already. */
static enum MHD_Result queue(struct MHD_Connection *connection, struct MHD_Response *response,
                             unsigned status, const char *cache_control)
{
    bool good = add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, cache_control);
    for (size_t i = 0; i < FP_COUNT(fixed_headers); i++)
        good = good && add_header(response, fixed_headers[i].name, fixed_headers[i].value);
    enum MHD_Result queued = good ? MHD_queue_response(connection, status, response) : MHD_NO;
    MHD_destroy_response(response);
    return queued;
}

/* Queues and releases a response of the page or the API. */
static enum MHD_Result send_response(struct MHD_Connection *connection,
                                     struct MHD_Response *response, unsigned status,
                                     const char *cache_control)
{
    if (response == NULL)
        return MHD_NO;
    if (!add_header(response, "Content-Security-Policy", page_policy)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return queue(connection, response, status, cache_control);
}

static struct fp_str header_of(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return fp_str_of(value != NULL ? value : "");
}

/* Takes the text before the first comma and advances the list past it. */
static struct fp_str next_item(struct fp_str *list)
{
    const char *comma = memchr(list->ptr, ',', list->len);
    size_t len = comma != NULL ? (size_t)(comma - list->ptr) : list->len;
    struct fp_str item = {list->ptr, len};
    *list = fp_str_skip(*list, comma != NULL ? len + 1 : len);
    return fp_str_trim(item);
}

/* True if the client takes gzip (RFC 9110 §12.5.3); `gzip;q=0` says no. */
static bool takes_gzip(struct MHD_Connection *connection)
{
    struct fp_str list = header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    while (list.len > 0) {
        struct fp_str item = next_item(&list);
        const char *semicolon = memchr(item.ptr, ';', item.len);
        size_t name_len = semicolon != NULL ? (size_t)(semicolon - item.ptr) : item.len;
        struct fp_str name = fp_str_trim((struct fp_str){item.ptr, name_len});
        struct fp_str rest = fp_str_trim(fp_str_skip(item, name_len));
        if (fp_str_equal_nocase(name, FP_STR("gzip")))
            return !fp_str_equal(rest, FP_STR(";q=0")) && !fp_str_equal(rest, FP_STR("; q=0"));
    }
    return false;
}

/* True if If-None-Match has this entity tag (RFC 9110 §13.1.2, weak comparison). */
static bool has_tag(struct MHD_Connection *connection, const char *tag)
{
    struct fp_str list = header_of(connection, MHD_HTTP_HEADER_IF_NONE_MATCH);
    struct fp_str wanted = fp_str_skip(fp_str_of(tag), strlen("W/"));
    while (list.len > 0) {
        struct fp_str item = next_item(&list);
        if (fp_str_has_prefix(item, FP_STR("W/")))
            item = fp_str_skip(item, strlen("W/"));
        if (fp_str_equal(item, wanted) || fp_str_equal(item, FP_STR("*")))
            return true;
    }
    return false;
}

static enum MHD_Result send_unchanged(struct MHD_Connection *connection, const char *tag)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (response == NULL || !add_header(response, MHD_HTTP_HEADER_ETAG, tag)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(connection, response, MHD_HTTP_NOT_MODIFIED, "private, no-cache");
}

static bool describe(struct MHD_Response *response, const char *content_type, const char *tag,
                     bool is_packed)
{
    return response != NULL && add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type) &&
           add_header(response, MHD_HTTP_HEADER_ETAG, tag) &&
           (!is_packed || add_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip"));
}

enum MHD_Result fp_response_file(struct MHD_Connection *connection, const struct fp_page_file *file)
{
    char tag[64];
    (void)snprintf(tag, sizeof(tag), "W/\"%s\"", file->tag);
    if (has_tag(connection, tag))
        return send_unchanged(connection, tag);
    bool is_packed = takes_gzip(connection);
    struct fp_str content = is_packed ? file->packed : file->content;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        content.len, (void *)(uintptr_t)content.ptr, MHD_RESPMEM_PERSISTENT);
    if (!describe(response, file->content_type, tag, is_packed)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(connection, response, MHD_HTTP_OK, "private, no-cache");
}

enum MHD_Result fp_response_manual(struct MHD_Connection *connection, int fd, size_t len,
                                   const char *content_type)
{
    struct MHD_Response *response = MHD_create_response_from_fd(len, fd);
    if (response == NULL) {
        close(fd);
        return MHD_NO;
    }
    if (!add_header(response, "Content-Security-Policy", manual_policy) ||
        !add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return queue(connection, response, MHD_HTTP_OK, "private, max-age=3600");
}

enum MHD_Result fp_response_nothing(struct MHD_Connection *connection)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    return send_response(connection, response, MHD_HTTP_NO_CONTENT, "no-store");
}

/* Returns the body by gzip, malloc'd; NULL when out of memory or not worth it. */
static void *pack(const struct fp_buf *body, size_t *len)
{
    if (body->len < PACK_FROM)
        return NULL;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(PACK_LEVEL);
    void *packed = compressor != NULL ? malloc(body->len) : NULL;
    *len = packed != NULL
               ? libdeflate_gzip_compress(compressor, body->data, body->len, packed, body->len)
               : 0;
    libdeflate_free_compressor(compressor);
    if (*len > 0)
        return packed;
    free(packed);
    return NULL;
}

enum MHD_Result fp_response_answer(struct MHD_Connection *connection,
                                   const struct fp_answer *answer)
{
    char tag[32];
    (void)snprintf(tag, sizeof(tag), "W/\"%016" PRIx64 "\"", answer->tag);
    if (has_tag(connection, tag))
        return send_unchanged(connection, tag);
    size_t len = 0;
    void *packed = takes_gzip(connection) ? pack(&answer->body, &len) : NULL;
    struct MHD_Response *response =
        packed != NULL ? MHD_create_response_from_buffer_with_free_callback(len, packed, free)
                       : MHD_create_response_from_buffer(answer->body.len, answer->body.data,
                                                         MHD_RESPMEM_MUST_COPY);
    if (response == NULL)
        free(packed);
    if (!describe(response, "application/json", tag, packed != NULL)) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(connection, response, MHD_HTTP_OK, "private, no-cache");
}

enum MHD_Result fp_response_message(struct MHD_Connection *connection, const struct fp_buf *body)
{
    const unsigned status = body->len > 0 ? MHD_HTTP_OK : MHD_HTTP_ACCEPTED;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY);
    if (response == NULL || (body->len > 0 && !add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                                          "application/json"))) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(connection, response, status, "no-store");
}

enum MHD_Result fp_response_metrics(struct MHD_Connection *connection, const struct fp_buf *body)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY);
    if (response == NULL || !add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                        "text/plain; version=0.0.4; charset=utf-8")) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(connection, response, MHD_HTTP_OK, "no-store");
}

enum MHD_Result fp_response_trouble(struct MHD_Connection *connection,
                                    const struct fp_trouble *trouble)
{
    size_t len = 0;
    char *text = fp_trouble_json(trouble, &len);
    struct MHD_Response *response =
        text != NULL ? MHD_create_response_from_buffer_with_free_callback(len, text, free) : NULL;
    if (response == NULL) {
        free(text);
        return MHD_NO;
    }
    char retry[16];
    (void)snprintf(retry, sizeof(retry), "%u", trouble->retry_s);
    bool good = add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/problem+json");
    if (trouble->retry_s > 0)
        good = good && add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, retry);
    if (trouble->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        good = good && add_header(response, MHD_HTTP_HEADER_ALLOW,
                                  trouble->allow != NULL ? trouble->allow : "GET, HEAD");
    if (!good) {
        MHD_destroy_response(response);
        return MHD_NO;
    }
    return send_response(connection, response, trouble->status, "no-store");
}
