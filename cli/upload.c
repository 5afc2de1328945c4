/*
 * Upload: libcurl posts, yyjson reads the problem in the answer.
 */
#include "cli/upload.h"

#include "cli/memory.h"
#include "cli/message.h"
#include "collector/base/buf.h"
#include "collector/base/uuid.h"

#include <curl/curl.h>
#include <yyjson.h>

enum { MAX_TRIES = 5, MAX_WAIT_S = 60, CONNECT_TIMEOUT_S = 10, TIMEOUT_S = 120 };

#define MAX_REPLY_LEN ((size_t)64 * 1024)

struct fp_uploader {
    CURL *curl;
    const char *unix_socket; /* the target's */
    struct fp_buf reply;
    char error[CURL_ERROR_SIZE];
};

static size_t take_reply(char *bytes, size_t size, size_t count, void *context)
{
    struct fp_buf *reply = context;
    fp_buf_add(reply, bytes, size * count);
    return size * count;
}

/* libcurl refuses our options only when it has no memory for them. */
static void need(CURLcode code)
{
    if (code != CURLE_OK)
        fp_memory_end();
}

static void set_options(struct fp_uploader *uploader, const struct fp_upload_target *target)
{
    CURL *curl = uploader->curl;
    need(curl_easy_setopt(curl, CURLOPT_URL, target->url));
    /* The collector is the user's own: proxies of the environment are for the outside world. */
    need(curl_easy_setopt(curl, CURLOPT_PROXY, ""));
    need(curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https"));
    need(curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, target->unix_socket));
    need(curl_easy_setopt(curl, CURLOPT_REFERER, target->page));
    need(curl_easy_setopt(curl, CURLOPT_USERAGENT, target->user_agent));
    need(curl_easy_setopt(curl, CURLOPT_POST, 1L));
    need(curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S));
    need(curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S));
    need(curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, uploader->error));
    need(curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_reply));
    need(curl_easy_setopt(curl, CURLOPT_WRITEDATA, &uploader->reply));
}

struct fp_uploader *fp_uploader_create(const struct fp_upload_target *target)
{
    struct fp_uploader *uploader = fp_memory_need(calloc(1, sizeof(*uploader)));
    fp_buf_init(&uploader->reply, MAX_REPLY_LEN);
    uploader->unix_socket = target->unix_socket;
    uploader->curl = fp_memory_need(curl_easy_init());
    set_options(uploader, target);
    return uploader;
}

void fp_uploader_free(struct fp_uploader *uploader)
{
    curl_easy_cleanup(uploader->curl);
    fp_buf_release(&uploader->reply);
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
    if (body->starved)
        fp_memory_end();
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

static void add_header(struct curl_slist **headers, const char *line)
{
    *headers = fp_memory_need(curl_slist_append(*headers, line));
}

/* Adds a header. One without a value also keeps libcurl from sending its own. */
static void add_value(struct curl_slist **headers, const char *name, struct fp_str value)
{
    char *line = fp_memory_print("%s:%s%.*s", name, value.len > 0 ? " " : "", FP_STR_ARG(value));
    add_header(headers, line);
    free(line);
}

/* Sets the headers of one request. Returns them; the caller frees them. */
static struct curl_slist *set_headers(CURL *curl, const struct fp_upload_content *content)
{
    struct curl_slist *headers = NULL;
    char key[FP_UUID_TEXT_LEN + 1];
    fp_uuid_format(&content->key, key);
    add_value(&headers, "Content-Type", content->type);
    add_value(&headers, "Content-Encoding", content->encoding);
    add_value(&headers, "Fleetprof-Token", content->token);
    add_value(&headers, "Idempotency-Key", fp_str_of(key));
    add_header(&headers, "Expect:"); /* no round trip before a large body */
    if (content->is_replay)
        add_header(&headers, "Fleetprof-Replay: 1");
    need(curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers));
    return headers;
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

static void post(struct fp_uploader *uploader, struct fp_upload_reply *reply)
{
    *reply = (struct fp_upload_reply){.offset = -1};
    fp_buf_clear(&uploader->reply);
    uploader->error[0] = '\0';
    CURLcode result = curl_easy_perform(uploader->curl);
    if (result == CURLE_OK) {
        (void)curl_easy_getinfo(uploader->curl, CURLINFO_RESPONSE_CODE, &reply->status);
        read_problem(&uploader->reply, reply);
        explain_silence(reply);
    } else {
        reply->is_tls = result == CURLE_SSL_CONNECT_ERROR;
        const char *why = uploader->error[0] != '\0' ? uploader->error : curl_easy_strerror(result);
        /* libcurl would name the URL's host and port, which a socket does not have. */
        bool is_socket = uploader->unix_socket != NULL && result == CURLE_COULDNT_CONNECT;
        (void)snprintf(reply->detail, sizeof(reply->detail), "%s%s",
                       is_socket ? "nobody listens on the socket " : why,
                       is_socket ? uploader->unix_socket : "");
    }
}

static bool is_busy(const struct fp_upload_reply *reply)
{
    return reply->status == 429 || reply->status == 503;
}

/* Waits as long as Retry-After says, otherwise 1, 2, 4, 8 s. */
static void wait_after(struct fp_uploader *uploader, const struct fp_upload_reply *reply, int tries)
{
    curl_off_t wait_s = 0;
    (void)curl_easy_getinfo(uploader->curl, CURLINFO_RETRY_AFTER, &wait_s);
    if (wait_s <= 0)
        wait_s = (curl_off_t)1 << (tries - 1);
    struct timespec wait = {.tv_sec = wait_s < MAX_WAIT_S ? wait_s : MAX_WAIT_S};
    fp_message_notice("the collector is busy (%s); trying again in %ld s", reply->detail,
                      (long)wait.tv_sec);
    while (nanosleep(&wait, &wait) != 0)
        continue;
}

void fp_uploader_send(struct fp_uploader *uploader, const struct fp_upload_content *content,
                      struct fp_upload_reply *reply)
{
    CURL *curl = uploader->curl;
    struct fp_str body = content->body;
    struct curl_slist *headers = set_headers(curl, content);
    need(curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len));
    need(curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.len > 0 ? body.ptr : ""));
    post(uploader, reply);
    for (int tries = 1; is_busy(reply) && tries < MAX_TRIES; tries++) {
        wait_after(uploader, reply, tries);
        post(uploader, reply);
    }
    curl_slist_free_all(headers);
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
