/*
 * Fetch: sets libcurl up, and copies a reply's fields.
 */
#include "cli/doctor/fetch.h"

#include "cli/doctor/web_address.h"
#include "cli/memory.h"
#include "collector/base/clock.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <strings.h>

enum {
    CONNECT_TIMEOUT_MS = 10 * 1000,
    REQUEST_TIMEOUT_MS = 30 * 1000,
    FIELDS_MAX = 200, /* of one reply; libcurl limits their bytes */
};

struct fp_fetcher {
    CURL *curl;
    struct fp_fetch_settings settings;
    struct fp_web_address first; /* has the credentials */
    char *first_origin;
    struct curl_slist *direct;
    char error[CURL_ERROR_SIZE];
};

/* libcurl refuses our options only when it has no memory for them. */
static void need(CURLcode code)
{
    if (code != CURLE_OK)
        fp_memory_end();
}

void fp_fetcher_direct(struct fp_fetcher *fetcher, const char *direct)
{
    curl_slist_free_all(fetcher->direct);
    fetcher->direct = NULL;
    if (direct != NULL) {
        char *entry = fp_memory_print("::%s", direct);
        fetcher->direct = fp_memory_need(curl_slist_append(NULL, entry));
        free(entry);
    }
    need(curl_easy_setopt(fetcher->curl, CURLOPT_CONNECT_TO, fetcher->direct));
}

struct fp_fetcher *fp_fetcher_create(const struct fp_fetch_settings *settings)
{
    struct fp_fetcher *fetcher = fp_memory_need(calloc(1, sizeof(*fetcher)));
    fetcher->settings = *settings;
    fetcher->curl = fp_memory_need(curl_easy_init());
    fetcher->first_origin = fp_web_origin(settings->url);
    if (!fp_web_address_parse(settings->url, &fetcher->first))
        fetcher->first = (struct fp_web_address){0};
    CURL *curl = fetcher->curl;
    need(curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https"));
    need(curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L));
    need(curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "")); /* all that libcurl can decode */
    need(curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS));
    need(curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS));
    need(curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, fetcher->error));
    if (settings->ca_file != NULL)
        need(curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca_file));
    return fetcher;
}

void fp_fetcher_free(struct fp_fetcher *fetcher)
{
    curl_easy_cleanup(fetcher->curl);
    curl_slist_free_all(fetcher->direct);
    fp_web_address_release(&fetcher->first);
    free(fetcher->first_origin);
    free(fetcher);
}

bool fp_fetcher_is_late(const struct fp_fetcher *fetcher)
{
    return fp_clock_monotonic_us() >= fetcher->settings.deadline_us;
}

/* ---- one request ---- */

/* Takes what fits, and ends the transfer at the first byte that does not. */
static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct fp_fetch_reply *reply = context;
    const size_t len = size * count, room = reply->body.max - reply->body.len;
    fp_buf_add(&reply->body, bytes, len < room ? len : room);
    if (reply->body.failed)
        fp_memory_end();
    if (len <= room)
        return len;
    reply->is_cut = true;
    return 0; /* ends the transfer */
}

/* Sends the first URL's credentials to its origin, and to no other. */
static void set_credentials(struct fp_fetcher *fetcher, const char *url)
{
    const struct fp_web_address *first = &fetcher->first;
    char *origin = fp_web_origin(url);
    const bool is_own = origin != NULL && fetcher->first_origin != NULL &&
                        strcmp(origin, fetcher->first_origin) == 0;
    need(curl_easy_setopt(fetcher->curl, CURLOPT_USERNAME, is_own ? first->user : NULL));
    need(curl_easy_setopt(fetcher->curl, CURLOPT_PASSWORD, is_own ? first->password : NULL));
    free(origin);
}

static void set_method(CURL *curl, const struct fp_fetch_request *request)
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

static struct curl_slist *make_fields(const struct fp_fetch_request *request)
{
    struct curl_slist *list = fp_memory_need(curl_slist_append(NULL, "Expect:"));
    if (strcmp(request->method, "POST") == 0)
        list = fp_memory_need(curl_slist_append(list, "Content-Type:"));
    for (size_t i = 0; request->fields != NULL && request->fields[i] != NULL; i++)
        list = fp_memory_need(curl_slist_append(list, request->fields[i]));
    return list;
}

static void copy_fields(CURL *curl, struct fp_fetch_reply *reply)
{
    reply->fields = fp_memory_need(calloc(FIELDS_MAX, sizeof(*reply->fields)));
    struct curl_header *field = NULL;
    while (reply->field_count < FIELDS_MAX &&
           (field = curl_easy_nextheader(curl, CURLH_HEADER, -1, field)) != NULL)
        reply->fields[reply->field_count++] =
            (struct fp_fetch_field){fp_memory_copy(field->name), fp_memory_copy(field->value)};
}

static long timeout_ms(const struct fp_fetcher *fetcher)
{
    int64_t left_ms = (fetcher->settings.deadline_us - fp_clock_monotonic_us()) / 1000;
    if (left_ms < 1)
        left_ms = 1;
    return (long)(left_ms < REQUEST_TIMEOUT_MS ? left_ms : REQUEST_TIMEOUT_MS);
}

void fp_fetch(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
              struct fp_fetch_reply *reply)
{
    CURL *curl = fetcher->curl;
    *reply = (struct fp_fetch_reply){0};
    fp_buf_init(&reply->body, request->body_max);
    fetcher->error[0] = '\0';
    struct curl_slist *fields = make_fields(request);
    set_method(curl, request);
    set_credentials(fetcher, request->url);
    need(curl_easy_setopt(curl, CURLOPT_URL, request->url));
    need(curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, request->unix_socket));
    need(curl_easy_setopt(curl, CURLOPT_HTTPHEADER, fields));
    need(curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms(fetcher)));
    need(curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body));
    need(curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply));
    CURLcode result = curl_easy_perform(curl);
    if (result == CURLE_OUT_OF_MEMORY)
        fp_memory_end();
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    (void)curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &reply->version);
    copy_fields(curl, reply);
    if (result != CURLE_OK && !reply->is_cut) {
        reply->status = 0;
        (void)snprintf(reply->error, sizeof(reply->error), "%s",
                       fetcher->error[0] != '\0' ? fetcher->error : curl_easy_strerror(result));
    }
    curl_slist_free_all(fields);
}

void fp_fetch_release(struct fp_fetch_reply *reply)
{
    for (size_t i = 0; i < reply->field_count; i++) {
        free(reply->fields[i].name);
        free(reply->fields[i].value);
    }
    free(reply->fields);
    fp_buf_release(&reply->body);
    *reply = (struct fp_fetch_reply){0};
}

/* ---- fields ---- */

const char *fp_fetch_nth(const struct fp_fetch_reply *reply, const char *name, size_t nth)
{
    for (size_t i = 0; i < reply->field_count; i++)
        if (strcasecmp(reply->fields[i].name, name) == 0 && nth-- == 0)
            return reply->fields[i].value;
    return NULL;
}

const char *fp_fetch_field(const struct fp_fetch_reply *reply, const char *name)
{
    const char *value = fp_fetch_nth(reply, name, 0);
    return value != NULL ? value : "";
}

char *fp_fetch_joined(const struct fp_fetch_reply *reply, const char *name)
{
    const char *value = fp_fetch_nth(reply, name, 0);
    char *joined = value != NULL ? fp_memory_copy(value) : NULL;
    for (size_t nth = 1; (value = fp_fetch_nth(reply, name, nth)) != NULL; nth++) {
        char *longer = fp_memory_print("%s, %s", joined, value);
        free(joined);
        joined = longer;
    }
    return joined;
}

/* ---- redirects ---- */

static bool is_redirect(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

char *fp_fetch_following(struct fp_fetcher *fetcher, const struct fp_fetch_request *request,
                         struct fp_fetch_reply *reply,
                         void (*hop)(void *context, const char *url,
                                     const struct fp_fetch_reply *reply),
                         void *context)
{
    char *url = fp_memory_copy(request->url);
    for (int hops = 0;; hops++) {
        struct fp_fetch_request next = *request;
        next.url = url;
        fp_fetch(fetcher, &next, reply);
        const char *location = fp_fetch_field(reply, "Location");
        char *target = is_redirect(reply->status) && location[0] != '\0' && hops < FP_FETCH_HOPS_MAX
                           ? fp_web_resolve(url, location)
                           : NULL;
        if (target == NULL)
            return url;
        if (hop != NULL)
            hop(context, url, reply);
        fp_fetch_release(reply);
        free(url);
        url = target;
    }
}
