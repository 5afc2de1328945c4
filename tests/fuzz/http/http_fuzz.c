/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: whatever a client or an operator may write where we read HTTP. The first byte chooses:
 *
 *   r  the bytes of a connection; each byte behind the next, `o` to `z`, is one append's fate
 *   m  a Content-Type, a line feed, a body: as a form
 *   a  an address to listen on
 *
 * A connection is served by the public listener's own code on the real libmicrohttpd; only the
 * spool behind it is not there. Each reply must be one of the manual's, no 204 is sent without a
 * record, and nothing is held after the connection has ended.
 */
#include "collector/config/config.h"
#include "collector/http/content_type.h"
#include "collector/ingest/multipart.h"
#include "collector/rollup/record.h"
#include "tests/fuzz/check.h"
#include "tests/unit/http/still.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>
#include <sys/mman.h>
#include <yyjson.h>

enum {
    BODY_MEMORY = 64 * 1024,
    REPLIES_MAX = 256 * 1024,
    ROUNDS_MAX = 400, /* of the event loop, enough for any connection here to end */
    PARTS_MAX = 64,
    FORM_MAX = 64 * 1024,
};

/* ---- a spool that does as the input says ---- */

static struct {
    const uint8_t *fates; /* one an append, `z`: committed */
    size_t fate_count;
    size_t appended;
    size_t committed;
    fp_spool_done_fn *done; /* of the one that waits */
    void *context;
} fake;

static enum fp_spool_error next_fate(void)
{
    static const enum fp_spool_error fates[] = {FP_SPOOL_OK, FP_SPOOL_FULL, FP_SPOOL_IO,
                                                FP_SPOOL_STOPPING, FP_SPOOL_TOO_LONG};
    size_t at = fake.appended++;
    return at < fake.fate_count ? fates[fake.fates[at] % 5] : FP_SPOOL_OK;
}

const char *fp_spool_trouble(struct fp_spool *spool)
{
    (void)spool;
    return fake.appended > 8 ? "it is full" : NULL;
}

const char *fp_spool_check(struct fp_spool *spool, enum fp_spool_error *error)
{
    const char *trouble = fp_spool_trouble(spool);
    *error = trouble != NULL ? FP_SPOOL_FULL : FP_SPOOL_OK;
    return trouble;
}

enum fp_spool_error fp_spool_check_record(struct fp_spool *spool, size_t len)
{
    enum fp_spool_error error;
    (void)len;
    (void)fp_spool_check(spool, &error);
    return error;
}

uint64_t fp_spool_position(struct fp_spool *spool)
{
    (void)spool;
    return 0;
}

uint64_t fp_spool_tail(struct fp_spool *spool)
{
    (void)spool;
    return 0;
}

uint64_t fp_spool_max_bytes(const struct fp_spool *spool)
{
    (void)spool;
    return UINT64_MAX;
}

const char *fp_spool_error_text(enum fp_spool_error error)
{
    return error == FP_SPOOL_FULL ? "full" : "broken";
}

enum fp_spool_error fp_spool_append(struct fp_spool *spool, const void *record, size_t len,
                                    fp_spool_done_fn *done, void *context)
{
    (void)spool;
    struct fp_arena arena;
    struct fp_record uploads;
    fp_arena_init(&arena, 16 << 20);
    check(fp_record_decode(record, len, &arena, &uploads) == FP_DELTA_OK);
    fp_arena_release(&arena);
    check(fake.done == NULL); /* one connection has one upload at a time */
    fake.done = done;
    fake.context = context;
    return FP_SPOOL_OK;
}

static void commit(void)
{
    fp_spool_done_fn *done = fake.done;
    if (done == NULL)
        return;
    enum fp_spool_error fate = next_fate();
    fake.committed += fate == FP_SPOOL_OK;
    fake.done = NULL;
    done(fake.context, fate);
}

/* ---- the listener ---- */

static const char key[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

static const char settings[] =
    "listen: 127.0.0.1:8600\n"
    "database: dbname=x\n"
    "spool: {path: /s}\n"
    "privacy: {honour_gpc: true}\n"
    "limits: {max_body: 8KiB, max_inflated: 1MiB, upload_memory: 8MiB, body_memory: 64KiB,\n"
    "         samples: 100, stacks: 100, frames: 100, resources: 100, entries: 100}\n"
    "sites:\n"
    "  - {name: shop, key: pk, formats: [web, speed-tracer, opera-scope], origins: "
    "[\"https://a.example\", \"null\"], routes: "
    "[/product/:id]}\n"
    "  - {name: bank, key: pt, require_token: true, token_keys: [/proc/self/fd/%d]}\n";

static int make_memory_file(const char *text, size_t len)
{
    int file = memfd_create("http_fuzz", 0);
    check(file >= 0 && write(file, text, len) == (ssize_t)len);
    return file;
}

static struct fp_config *load_config(void)
{
    char text[sizeof(settings) + 16];
    char name[32];
    struct fp_buf errors;
    int len = snprintf(text, sizeof(text), settings, make_memory_file(key, sizeof(key) - 1));
    snprintf(name, sizeof(name), "/proc/self/fd/%d", make_memory_file(text, (size_t)len));
    fp_buf_init(&errors, 4096);
    struct fp_config *config = fp_config_load(name, &errors);
    if (config == NULL)
        fprintf(stderr, "%.*s", (int)errors.len, (const char *)errors.data);
    check(config != NULL);
    fp_buf_release(&errors);
    return config;
}

static struct fp_http *public_listener(void)
{
    static struct fp_http http;
    if (http.ingest == NULL) {
        static struct fp_metrics *metrics; /* static: the sets do not point to it */
        metrics = fp_metrics_create();
        check(metrics != NULL);
        http.metrics = fp_metrics_join(metrics, &fp_http_metrics);
        check(http.metrics != NULL);
        http.connections = fp_connections_start(1, FP_US_PER_HOUR, http.metrics);
        http.captures = fp_captures_create();
        http.turns = fp_turns_create(1);
        http.waiting_max = 2;
        check(http.connections != NULL && http.captures != NULL && http.turns != NULL);
        struct fp_config *config = load_config();
        http.ingest = fp_ingest_create(NULL, metrics, config->rules, 1);
        check(http.ingest != NULL);
        fp_config_free(config);
    }
    return &http;
}

/* ---- replies ---- */

static bool is_known(unsigned status)
{
    static const unsigned known[] = {100, 201, 204, 400, 403, 404, 405, 411, 413, 415, 422, 503};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i] == status)
            return true;
    return false;
}

/* The value of a header in a reply's head, which ends with a NUL; NULL when it is not there. */
static const char *find_header(const char *head, const char *name, char value[256])
{
    size_t name_len = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line != NULL; line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
            continue;
        const char *text = line + name_len + 1 + strspn(line + name_len + 1, " ");
        snprintf(value, 256, "%.*s", (int)strcspn(text, "\r"), text);
        return value;
    }
    return NULL;
}

static void check_problem(const char *body, size_t len, unsigned status)
{
    yyjson_doc *doc = yyjson_read(body, len, YYJSON_READ_NOFLAG);
    yyjson_val *root = yyjson_doc_get_root(doc);
    check(yyjson_get_uint(yyjson_obj_get(root, "status")) == status);
    check(yyjson_get_len(yyjson_obj_get(root, "detail")) > 0);
    yyjson_doc_free(doc);
}

static void check_head(const char *head, unsigned status)
{
    char value[256];
    if (find_header(head, "Access-Control-Allow-Origin", value) != NULL)
        check(strcmp(value, "https://a.example") == 0 || strcmp(value, "null") == 0);
    if (status == 503)
        check(find_header(head, "Retry-After", value) != NULL);
    if (status == 405)
        check(find_header(head, "Allow", value) != NULL);
}

/* Takes one reply off the front and returns its length. Our replies have Vary; one by libmicrohttpd
 * itself is the last, and 0.9.75 may send its head twice. */
static size_t check_reply(char *reply, size_t len, size_t *acks)
{
    unsigned status = 0;
    char value[256];
    char *end = memmem(reply, len, "\r\n\r\n", 4);
    check(end != NULL && sscanf(reply, "HTTP/1.%*1[01] %3u ", &status) == 1);
    end[2] = '\0';
    size_t head_len = (size_t)(end - reply) + 4;
    if (status == 100)
        return head_len;
    if (find_header(reply, "Vary", value) == NULL)
        return len;
    size_t body_len = 0;
    if (find_header(reply, "Content-Length", value) != NULL)
        body_len = strtoul(value, NULL, 10);
    check(body_len <= len - head_len);
    check(is_known(status));
    check_head(reply, status);
    if (status == 204)
        *acks += find_header(reply, "Allow", value) == NULL;
    else if (status == 201)
        check(find_header(reply, "Location", value) != NULL);
    else
        check_problem(reply + head_len, body_len, status);
    return head_len + body_len;
}

/* ---- a connection ---- */

struct connection {
    int client;
    char *replies; /* what was sent to the client */
    size_t len;
};

static bool receive(struct connection *connection)
{
    return still_receive(connection->client, connection->replies, REPLIES_MAX, &connection->len);
}

static void serve(struct fp_http *http, struct connection *connection)
{
    for (int round = 0; round < ROUNDS_MAX && receive(connection); round++) {
        MHD_run(http->daemon);
        (void)fp_turns_take(http->turns);
        commit();
    }
    (void)fp_turns_take(http->turns);
    commit();
    MHD_stop_daemon(http->daemon);
    (void)receive(connection);
}

static void check_replies(struct connection *connection)
{
    size_t acks = 0;
    for (size_t at = 0; at < connection->len;)
        at += check_reply(connection->replies + at, connection->len - at, &acks);
    check(acks <= fake.committed);
}

/* All that the bodies in flight held is free again. */
static bool holds_nothing(struct fp_http *http)
{
    struct fp_rules *rules = fp_ingest_rules(http->ingest);
    bool is_free = true;
    for (size_t i = 0; i < rules->site_count; i++)
        is_free = is_free && fp_ingest_hold(http->ingest, rules, &rules->sites[i], BODY_MEMORY / 2);
    check(is_free);
    for (size_t i = 0; i < rules->site_count; i++)
        fp_ingest_let_go(http->ingest, &rules->sites[i], BODY_MEMORY / 2);
    fp_rules_unref(rules);
    return is_free && atomic_load(&http->in_flight) == 0 && fp_ingest_committing(http->ingest) == 0;
}

static void fuzz_connection(const char *bytes, size_t len)
{
    static char replies[REPLIES_MAX + 1];
    struct fp_http *http = public_listener();
    http->daemon = still_start(http);
    check(http->daemon != NULL);
    struct connection connection = {.replies = replies};
    connection.client = still_connect(http->daemon, bytes, len);
    check(connection.client >= 0);
    serve(http, &connection);
    close(connection.client);
    check(holds_nothing(http));
    /* A reply to HEAD announces a body that is not there. */
    if (memmem(bytes, len, "HEAD", 4) == NULL)
        check_replies(&connection);
}

static void fuzz_requests(const uint8_t *bytes, size_t len)
{
    size_t fates = 0;
    while (fates < len && bytes[fates] >= 'o' && bytes[fates] <= 'z')
        fates++;
    fake.fates = bytes;
    fake.fate_count = fates;
    fake.appended = 0;
    fake.committed = 0;
    fake.done = NULL;
    fuzz_connection((const char *)bytes + fates, len - fates);
}

/* ---- a form ---- */

static size_t read_parts(struct fp_str body, struct fp_str boundary, struct fp_str parts[PARTS_MAX])
{
    struct fp_multipart form = {.body = body, .boundary = boundary};
    size_t count = 0;
    size_t before = 0;
    while (count < PARTS_MAX && fp_multipart_next(&form, &parts[count]) == FP_MULTIPART_PART) {
        check(form.at > before && form.at <= body.len);
        const char *behind = parts[count].ptr + parts[count].len;
        check(parts[count].ptr >= body.ptr + before && behind <= body.ptr + form.at);
        before = form.at;
        count++;
    }
    check(form.at <= body.len);
    return count;
}

/* Writes the same parts with our headers, and reads them again. */
static void check_parts(const struct fp_str *parts, size_t count, struct fp_str boundary)
{
    struct fp_str again[PARTS_MAX];
    struct fp_buf form;
    fp_buf_init(&form, FORM_MAX);
    for (size_t i = 0; i < count; i++) {
        fp_buf_addf(&form, "\r\n--%.*s\r\nContent-Type: text/plain\r\n\r\n", FP_STR_ARG(boundary));
        fp_buf_add(&form, parts[i].ptr, parts[i].len);
    }
    fp_buf_addf(&form, "\r\n--%.*s--", FP_STR_ARG(boundary));
    if (!form.failed) {
        const struct fp_str body = {(const char *)form.data, form.len};
        check(read_parts(body, boundary, again) == count);
        for (size_t i = 0; i < count; i++)
            check(fp_str_equal(parts[i], again[i]));
    }
    fp_buf_release(&form);
}

static void fuzz_form(const char *text, size_t len)
{
    struct fp_str parts[PARTS_MAX];
    struct fp_str boundary;
    const char *end = len > 0 ? memchr(text, '\n', len) : NULL;
    if (end == NULL)
        return;
    const struct fp_str type = {text, (size_t)(end - text)};
    const struct fp_str body = {end + 1, len - type.len - 1};
    if (fp_content_type_read(type, &boundary) != FP_CONTENT_MULTIPART)
        return;
    check(boundary.ptr >= text && boundary.ptr + boundary.len <= end);
    check(boundary.len >= 1 && boundary.len <= 70);
    size_t count = read_parts(body, boundary, parts);
    if (count < PARTS_MAX)
        check_parts(parts, count, boundary);
}

/* ---- an address ---- */

static void check_ip(const struct fp_address *address)
{
    char host[INET6_ADDRSTRLEN];
    char text[INET6_ADDRSTRLEN + 16];
    struct fp_address again;
    const struct sockaddr_in *v4 = (const void *)&address->sa;
    const struct sockaddr_in6 *v6 = (const void *)&address->sa;
    bool is_v6 = address->sa.ss_family == AF_INET6;
    check(is_v6 || address->sa.ss_family == AF_INET);
    const void *ip = is_v6 ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr;
    unsigned port = ntohs(is_v6 ? v6->sin6_port : v4->sin_port);
    check(port > 0 && inet_ntop(address->sa.ss_family, ip, host, sizeof(host)) != NULL);
    snprintf(text, sizeof(text), is_v6 ? "[%s]:%u" : "%s:%u", host, port);
    check(fp_address_parse(fp_str_of(text), &again) == NULL);
    check(again.len == address->len && memcmp(&again.sa, &address->sa, again.len) == 0);
}

static void fuzz_address(struct fp_str text)
{
    struct fp_address address;
    if (fp_address_parse(text, &address) != NULL)
        return;
    if (address.sa.ss_family != AF_UNIX) {
        check_ip(&address);
        return;
    }
    const struct sockaddr_un *sun = (const void *)&address.sa;
    const struct fp_str path = {sun->sun_path, strnlen(sun->sun_path, sizeof(sun->sun_path))};
    check(path.ptr[0] == '/' && path.len < sizeof(sun->sun_path));
    check(path.len + 5 == text.len && memcmp(path.ptr, text.ptr + 5, path.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2)
        return 0;
    const char *text = (const char *)bytes + 1;
    if (bytes[0] == 'r')
        fuzz_requests(bytes + 1, len - 1);
    else if (bytes[0] == 'm')
        fuzz_form(text, len - 1);
    else
        fuzz_address((struct fp_str){text, len - 1});
    return 0;
}
