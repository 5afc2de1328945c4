/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Upload: makes the fields of a request, and reads the problem in the answer.
 */
#include "cli/feed/upload.h"

#include "cli/kit/client.h"
#include "cli/kit/memory.h"
#include "cli/kit/message.h"
#include "collector/base/buf.h"
#include "collector/base/uuid.h"

#include <yyjson.h>

enum { MAX_TRIES = 5, MAX_WAIT_S = 60, TIMEOUT_MS = 120 * 1000, FIELDS_MAX = 8 };

#define MAX_REPLY_LEN ((size_t)64 * 1024)

struct fp_uploader {
    const struct fp_upload_target *target;
    struct fp_client *client;
};

struct fp_uploader *fp_uploader_create(const struct fp_upload_target *target)
{
    /* The collector is the user's own: proxies of the environment are for the outside world. */
    const struct fp_client_settings settings = {.is_direct = true};
    struct fp_uploader *uploader = fp_memory_need(calloc(1, sizeof(*uploader)));
    uploader->target = target;
    uploader->client = fp_client_create(&settings);
    return uploader;
}

void fp_uploader_free(struct fp_uploader *uploader)
{
    fp_client_free(uploader->client);
    free(uploader);
}

static void copy_member(yyjson_val *problem, const char *name, char *to, size_t size)
{
    const char *text = yyjson_get_str(yyjson_obj_get(problem, name));
    if (text != NULL)
        (void)snprintf(to, size, "%s", text);
}

/* Reads a problem document (RFC 9457). Another answer, such as a proxy's page, leaves the reply as
 * it is. */
static void read_problem(struct fp_buf *body, struct fp_upload_reply *reply)
{
    if (body->len == 0)
        return;
    yyjson_read_err error;
    yyjson_doc *doc =
        yyjson_read_opts((char *)body->data, body->len, YYJSON_READ_NOFLAG, NULL, &error);
    if (doc == NULL && error.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        fp_memory_end();
    if (doc == NULL)
        return;
    yyjson_val *problem = yyjson_doc_get_root(doc);
    copy_member(problem, "title", reply->detail, sizeof(reply->detail));
    copy_member(problem, "detail", reply->detail, sizeof(reply->detail));
    copy_member(problem, "pointer", reply->pointer, sizeof(reply->pointer));
    yyjson_val *offset = yyjson_obj_get(problem, "offset");
    if (yyjson_is_int(offset))
        reply->offset = yyjson_get_sint(offset);
    yyjson_doc_free(doc);
}

/* Explains a refusal without a reason: it comes from a web server in front of the collector. */
static void explain_silence(struct fp_upload_reply *reply)
{
    const long status = reply->status;
    if (reply->detail[0] == '\0' &&
        (status == 400 || status == 413 || status == 415 || status == 422))
        (void)snprintf(reply->detail, sizeof(reply->detail),
                       "HTTP status %ld without a reason, so not from the collector but from a web "
                       "server in front of it%s",
                       status, status == 413 ? " (nginx: client_max_body_size)" : "");
}

/* Says why there is no answer. */
static void explain_failure(const struct fp_upload_target *target,
                            const struct fp_client_reply *answer, struct fp_upload_reply *reply)
{
    /* libcurl would name the URL's host and port, which a socket does not have. */
    const bool is_socket = target->unix_socket != NULL && answer->is_not_reached;
    reply->is_tls = answer->is_not_tls;
    (void)snprintf(reply->detail, sizeof(reply->detail), "%s%s",
                   is_socket ? "nobody listens on the socket " : answer->error,
                   is_socket ? target->unix_socket : "");
}

/* Posts once. Returns how many seconds the collector asks to wait. */
static int64_t post(struct fp_uploader *uploader, const struct fp_client_request *request,
                    struct fp_upload_reply *reply)
{
    struct fp_client_reply answer;
    *reply = (struct fp_upload_reply){.offset = -1};
    fp_client_send(uploader->client, request, &answer);
    reply->status = answer.status;
    if (answer.status != 0) {
        reply->not_kept = strtol(fp_client_field(&answer, "Fleetprof-Not-Kept"), NULL, 10);
        read_problem(&answer.body, reply);
        explain_silence(reply);
    } else {
        explain_failure(uploader->target, &answer, reply);
    }
    const int64_t retry_after_s = answer.retry_after_s;
    fp_client_release(&answer);
    return retry_after_s;
}

static bool is_busy(const struct fp_upload_reply *reply)
{
    return reply->status == 429 || reply->status == 503;
}

/* Waits as long as Retry-After says, otherwise 1, 2, 4, 8 s. */
static void wait_after(const struct fp_upload_reply *reply, int64_t wait_s, int tries)
{
    if (wait_s <= 0)
        wait_s = INT64_C(1) << (tries - 1);
    struct timespec wait = {.tv_sec = wait_s < MAX_WAIT_S ? wait_s : MAX_WAIT_S};
    fp_message_notice("the collector is busy (%s); trying again in %ld s", reply->detail,
                      (long)wait.tv_sec);
    while (nanosleep(&wait, &wait) != 0)
        continue;
}

/* The fields of a request, owned. */
struct fields {
    char *lines[FIELDS_MAX + 1]; /* up to a NULL */
    size_t count;
};

/* Adds a field. One without a value keeps the client from sending its own. */
static void add(struct fields *fields, const char *name, struct fp_str value)
{
    fields->lines[fields->count++] =
        fp_memory_print("%s:%s%.*s", name, value.len > 0 ? " " : "", FP_STR_ARG(value));
}

static struct fields make_fields(const struct fp_upload_target *target,
                                 const struct fp_upload_content *content)
{
    struct fields fields = {.count = 0};
    char key[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(&content->key, key);
    add(&fields, "Content-Type", content->type);
    add(&fields, "Content-Encoding", content->encoding);
    add(&fields, "Fleetprof-Token", content->token);
    add(&fields, "Idempotency-Key", fp_str_of(key));
    if (target->page != NULL)
        add(&fields, "Referer", fp_str_of(target->page));
    if (target->user_agent != NULL)
        add(&fields, "User-Agent", fp_str_of(target->user_agent));
    if (content->is_replay)
        add(&fields, "Fleetprof-Replay", FP_STR("1"));
    return fields;
}

void fp_uploader_send(struct fp_uploader *uploader, const struct fp_upload_content *content,
                      struct fp_upload_reply *reply)
{
    const struct fp_upload_target *target = uploader->target;
    struct fields fields = make_fields(target, content);
    const struct fp_client_request request = {
        .method = "POST",
        .url = target->url,
        .fields = (const char *const *)fields.lines,
        .body = content->body,
        .body_max = MAX_REPLY_LEN,
        .unix_socket = target->unix_socket,
        .timeout_ms = TIMEOUT_MS,
    };
    int64_t wait_s = post(uploader, &request, reply);
    for (int tries = 1; is_busy(reply) && tries < MAX_TRIES; tries++) {
        wait_after(reply, wait_s, tries);
        wait_s = post(uploader, &request, reply);
    }
    for (size_t i = 0; i < fields.count; i++)
        free(fields.lines[i]);
}

void fp_upload_complain(const char *what, const struct fp_upload_reply *reply)
{
    if (reply->status == 0)
        fp_message_error("could not upload %s", what);
    else
        fp_message_error("%s was not accepted (HTTP status %ld)", what, reply->status);
    if (reply->detail[0] != '\0')
        fp_message_detail("%s", reply->detail);
    if (reply->status == 404 || reply->status == 405)
        fp_message_hint("The URL must end in /v1/ingest/KEY, with the key of a site.");
    else if (reply->is_tls)
        fp_message_hint("The collector itself speaks plain HTTP: http://…");
}
